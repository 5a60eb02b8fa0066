"""Seeded faults against a live daemon; `python -m tests.faults --seed 7` replays the schedule of one seed."""
