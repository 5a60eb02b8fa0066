"""Hostile input for every reader of foreign bytes: `python -m tests.fuzz TARGET --megabytes 100 --seed 0`."""
