"""The web page: its files, and who is answered. The daemon serves it (daemon/page.py); what it asks are its calls."""
