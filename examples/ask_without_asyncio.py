"""The same as ask.py, in a plain script."""

import sys

import streamrelay.blocking

with streamrelay.blocking.connect() as server:
    print(server.pane(sys.argv[1]).ask(sys.argv[2]))
