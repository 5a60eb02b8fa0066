"""The Agent Client Protocol (ACP): panes as agents for its clients."""
