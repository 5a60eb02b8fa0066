"""The page's address, as the daemon's socket reports it."""

import msgspec

PAGE = "/page"
"""On the socket."""


class OpenPage(msgspec.Struct, frozen=True, kw_only=True):
    """Serve the page, if it is not served yet."""

    listen: str = ""
    """`[HOST:]PORT`; empty for any port of the loopback interface."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The page's address and token; both empty if the page is not served."""

    address: str = ""
    token: str = ""

    @property
    def link(self) -> str:
        """The address for a browser. The token is after `#`, which browsers do not send; the page's script reads it."""
        return f"{self.address}#token={self.token}"
