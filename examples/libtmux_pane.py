"""Find a pane with libtmux, and ask the program in it: libtmux_pane.py SOCKET SESSION "what did you change?".

libtmux's commands travel over one connection (ControlServer); with a plain libtmux.Server it is the same code.
"""

import sys

import streamrelay.blocking
from streamrelay.libtmux import ControlServer

socket, name, question = sys.argv[1:4]
server = ControlServer(socket_path=socket)
session = server.sessions.get(session_name=name)
with streamrelay.blocking.connect(server) as connected:
    print(connected.pane(session.active_pane).ask(question))
print(*session.active_pane.capture_pane(), sep="\n")
