"""streamrelay: what the programs in tmux say, as a clean stream, and a relay on it.

    async with streamrelay.connect() as server:
        async with server.watch("work:0.1") as stream:
            async for event in stream:
                ...
        print(await (await server.pane("work:0.1")).ask("what did you change?"))

Read a flood batch by batch: `async for batch in stream.batches()`; `batch.texts()` has the texts of each.

| module | what is in it |
|---|---|
| `streamrelay` | servers, panes, streams, messages, recordings |
| `streamrelay.blocking` | the same without asyncio |
| `streamrelay.events` | what a stream reports |
| `streamrelay.errors` | what can go wrong, one tree |
| `streamrelay.libtmux` | libtmux over one control connection |
| `streamrelay.recordings` | record and replay |
| `streamrelay.vt` | the virtual terminal, `TmuxScreen` |

Each of them lists its public names in `__all__`; other names may change in any release.

`import streamrelay` loads no other module (PEP 562): each public name loads its module when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from libtmux import Server as LibtmuxServer

    from streamrelay import blocking as blocking
    from streamrelay import errors as errors
    from streamrelay import events as events
    from streamrelay import libtmux as libtmux
    from streamrelay import recordings as recordings
    from streamrelay import vt as vt
    from streamrelay.agents import AgentProfile, load_profiles
    from streamrelay.agents.profile import LaneChoice
    from streamrelay.batch import Batch
    from streamrelay.control import TransportName
    from streamrelay.delta.inputs import WitnessPolicy
    from streamrelay.errors import StreamrelayError
    from streamrelay.events import Event, Text
    from streamrelay.library import Message, Pane, Server, Stream
    from streamrelay.panes.inventory import PaneInfo
    from streamrelay.panes.subscription import Subscription
    from streamrelay.recordings.replay import open_recording, replay
    from streamrelay.relay.session import RelaySession
    from streamrelay.vt import TmuxScreen

    __version__: str

__all__ = [
    "AgentProfile",
    "Batch",
    "Event",
    "Message",
    "Pane",
    "PaneInfo",
    "RelaySession",
    "Server",
    "Stream",
    "StreamrelayError",
    "Subscription",
    "Text",
    "TmuxScreen",
    "__version__",
    "connect",
    "load_profiles",
    "open_recording",
    "replay",
]

_MODULE_OF = {
    "AgentProfile": "streamrelay.agents",
    "Batch": "streamrelay.batch",
    "Event": "streamrelay.events",
    "Message": "streamrelay.library",
    "Pane": "streamrelay.library",
    "PaneInfo": "streamrelay.panes.inventory",
    "RelaySession": "streamrelay.relay.session",
    "Server": "streamrelay.library",
    "Stream": "streamrelay.library",
    "StreamrelayError": "streamrelay.errors",
    "Subscription": "streamrelay.panes.subscription",
    "Text": "streamrelay.events",
    "TmuxScreen": "streamrelay.vt",
    "load_profiles": "streamrelay.agents",
    "open_recording": "streamrelay.recordings",
    "replay": "streamrelay.recordings",
}
_PUBLIC_MODULES = ("blocking", "errors", "events", "libtmux", "recordings", "vt")

if not TYPE_CHECKING:  # a type checker reads the imports above, and reports a name that does not exist

    def __getattr__(name: str) -> object:
        """Load a public name on first use; raise AttributeError for any other name."""
        if name in _PUBLIC_MODULES:
            return importlib.import_module(f"streamrelay.{name}")
        if name == "__version__":
            from streamrelay.version import VERSION

            value: object = VERSION
        elif name in _MODULE_OF:
            value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        else:
            raise AttributeError(f"module 'streamrelay' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the loaded names and those that load on access."""
    return sorted({*globals(), *__all__, *_PUBLIC_MODULES})


def connect(
    server: "LibtmuxServer | None" = None,
    *,
    socket_name: str | None = None,
    socket_path: str | None = None,
    tmux: str | None = None,
    host: str | None = None,
    ssh: str = "ssh",
    transport: "TransportName" = "pipes",
    self_check: float | None = None,
    profiles: "Sequence[AgentProfile] | None" = None,
    witness: "WitnessPolicy" = "prefer",
    lane: "LaneChoice" = "paste",
) -> "Server":
    """Return a running tmux server, to be entered with `async with`.

        async with streamrelay.connect(socket_name="work") as server:
            print(await server.panes())

    `server` is a server of libtmux: its socket and binary are taken. `socket_name` and `socket_path` name a server as
    tmux's `-L` and `-S` do; inside tmux the default is the server around. `tmux` is the binary (default:
    $STREAMRELAY_TMUX, else "tmux").

    With `host` ("user@machine") the server runs on that machine, and so do its socket and binary (default: "tmux");
    `ssh` is the command that reaches it, with your options ("ssh -p 2222"). `transport` is "pipes" (`tmux -C`) or "cc"
    (`tmux -CC` over a pseudo terminal).

    `self_check` is the number of seconds between comparisons of one resting pane with tmux (see `Server.check`; None:
    never). `profiles` describe single programs: by default those that `load_profiles` finds, () for none. `witness`
    says how an agent's own record of its answers is used: "prefer" its source to the lines of the screen, "verify" the
    lines by it, or "off". `lane` says how messages reach an agent that has an API of its own: "paste" types them,
    "native" uses the API, "auto" the API where it is open (docs/delivery.md).

    Raises UsageError for contradicting arguments and ConfigError for an invalid profile of the user's. Entering raises
    NoServer, TmuxMissing, TmuxTooOld or SshFailed.
    """
    from streamrelay import errors
    from streamrelay.agents import load_profiles
    from streamrelay.control import Ssh, Tmux
    from streamrelay.library import Server

    if server is not None:
        from streamrelay.libtmux.objects import address

        if socket_name or socket_path or tmux or host:
            raise errors.UsageError(
                "a server of libtmux names its socket and binary itself", hint="leave the other arguments out"
            )
        named = address(server)
        socket_name, socket_path, tmux = named["socket_name"], named["socket_path"], named["tmux"]
    reached = Ssh(host, ssh) if host else None
    chosen = Tmux(tmux or "", socket_name=socket_name, socket_path=socket_path, ssh=reached)
    known = load_profiles() if profiles is None else profiles
    return Server(
        chosen,
        transport=transport,
        self_check=self_check,
        profiles=known,
        witness=witness,
        lane=lane,
        libtmux_server=server,
    )
