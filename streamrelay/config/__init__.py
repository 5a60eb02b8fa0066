"""Configuration: the keys, their values and the sources of the values (docs/configuration.md)."""
