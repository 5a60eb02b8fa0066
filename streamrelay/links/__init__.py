"""Links: two sessions hear each other, within a budget. A relay of two, a registry of them, and who runs it."""
