"""What people set: which keys there are, what they are set to, and where that was said (docs/configuration.md)."""
