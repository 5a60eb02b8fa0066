"""State files that earlier versions wrote, and what a daemon of today makes of them.

`python -m tests.upgrade.make COMMIT NAME` writes the state of one earlier version (make.py) into `states/`.
"""
