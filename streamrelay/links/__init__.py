"""Links: relays of two sessions with a budget, the registry of links, and the session that runs one."""
