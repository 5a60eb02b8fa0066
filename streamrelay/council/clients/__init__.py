"""Lines to whoever serves a member: models over the SDKs of their vendors, terminal agents, scripts."""
