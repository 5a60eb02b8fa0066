"""How a person comes to the page: what the daemon's socket tells of it."""

import msgspec

PAGE = "/page"
"""On the socket."""


class OpenPage(msgspec.Struct, frozen=True, kw_only=True):
    """Serve the page, if it is not served yet."""

    listen: str = ""
    """`[HOST:]PORT`; empty for any port of the loopback interface."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Where the page is served, and what it wants to be shown; both empty where it is not served."""

    address: str = ""
    token: str = ""

    @property
    def link(self) -> str:
        """What a browser is given. What stands behind `#` is sent to nobody: the page's script reads it."""
        return f"{self.address}#token={self.token}"
