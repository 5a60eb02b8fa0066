"""The service as tools of the Model Context Protocol."""
