"""libtmux and streamrelay together: a `libtmux.Server` over a control connection, and objects of libtmux as targets.

from streamrelay.libtmux import ControlServer

server = ControlServer(socket_name="work")
print(server.sessions[0].active_pane.capture_pane())
"""

from streamrelay.libtmux.server import ControlServer

__all__ = ["ControlServer"]
