"""The Council: models and terminal agents in one conversation with a person (docs/council.md)."""
