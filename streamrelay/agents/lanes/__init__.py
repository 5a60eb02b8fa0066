"""Native lanes: documented ways into an agent that do not touch its composer (docs/delivery.md)."""
