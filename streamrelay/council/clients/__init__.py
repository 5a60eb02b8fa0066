"""One client for each kind of member: models over their vendors' SDKs, terminal agents, scripts."""
