"""The web page: its files, and the check of its requests. The daemon serves it (daemon/page.py)."""
