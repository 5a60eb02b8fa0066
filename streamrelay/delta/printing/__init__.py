"""Programs that print: each line as it passes, and who wrote it."""
