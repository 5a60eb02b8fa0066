"""A service in memory, for what is HTTP's alone; the real one, on a real tmux, has tests of its own beside these."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest
import structlog

from streamrelay.council.context import Entry
from streamrelay.council.events import AnswerGrew, CouncilEvent, SessionEnded
from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.app import create_app
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import listening, only_daemon
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.server import HttpServer
from streamrelay.errors import StreamrelayError
from streamrelay.events import AnyEvent, Text
from streamrelay.history.results import FoundText, History, Output, SearchHistory
from streamrelay.links.link import Link, LinkPolicy, Party, participants
from streamrelay.pulse import Pulse, SessionNow
from streamrelay.pulse.model import MissingSignal
from streamrelay.relay.rules import RelayState, StoredRelay
from streamrelay.service import api
from streamrelay.testing.tmux import PrivateTmux

PATIENCE = 20.0


class MemoryService:
    """Remembers what it was asked, and has a journal that may forget its beginning."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.raises: Exception | None = None
        self.journal: list[AnyEvent] = []
        self.forgotten = 0
        self.made: list[Link] = []
        self.waits: asyncio.Event | None = None
        self._more = asyncio.Condition()

    async def publish(self, *texts: str) -> None:
        async with self._more:
            for text in texts:
                seq = self.forgotten + len(self.journal) + 1
                self.journal.append(Text(text=text, origin="program", pane="%1", seq=seq))
            self._more.notify_all()

    def forget(self, count: int) -> None:
        self.forgotten += count
        del self.journal[:count]

    async def _take(self, *asked: object) -> None:
        self.asked.append(asked[0] if len(asked) == 1 else asked)
        if self.waits is not None:
            await self.waits.wait()
        if self.raises is not None:
            raise self.raises

    @property
    def last(self) -> int:
        return self.forgotten + len(self.journal)

    async def status(self) -> api.Status:
        await self._take("status")
        return api.Status(
            version="1", pid=7, started_at=1.5, tmux="/tmp/tmux", seq=self.last, paused=False, sessions=2, watched=1,
            links=0, relays=0, deliveries={"queued": 3}, subscribers=0, problems=("one",),
        )  # fmt: skip

    async def sessions(self) -> list[api.Session]:
        await self._take("sessions")
        return [api.Session(session="%1", pane="%1", title="Änn", session_name="work", program="cat")]

    async def start_session(self, request: api.StartSession) -> api.Session:
        await self._take(request)
        return (await self.sessions())[0]

    async def end_session(self, session: str) -> None:
        await self._take(session)

    async def hear_hook(self, report: api.HookReport) -> bool:
        await self._take(report)
        return True

    async def send_message(self, request: api.SendMessage) -> api.SendResult:
        await self._take(request)
        delivery = api.Delivery(message_id="m/1", pane="%1", state="queued", removed={"ESC": 1})
        return api.SendResult(message_id="m/1", delivery=delivery, listening=True)

    async def get_delivery(self, message_id: str) -> list[api.Delivery]:
        await self._take(message_id)
        return [api.Delivery(message_id=message_id, pane="%1", state="answered")]

    async def list_deliveries(self, session: str = "", state: api.Listed = "waiting") -> list[api.Delivery]:
        await self._take("list_deliveries", session, state)
        return [api.Delivery(message_id="m/1", pane="%1", state="queued", reason="draft", text="\0x", queued_at=2.5)]

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[api.Delivery]:
        await self._take("cancel_delivery", message_id, by)
        return [api.Delivery(message_id=message_id, pane="%1", state="failed", reason="cancelled", sender=by)]

    async def dialogs(self, session: str = "") -> list[api.OpenDialog]:
        await self._take("dialogs", session)
        choices = ["1. Yes", "2. No ü"]
        return [
            api.OpenDialog(session="%1", pane="%1", dialog="d-1", kind="permission", question="Run?", choices=choices)
        ]

    async def answer_dialog(self, session: str, dialog: str, choice: int) -> None:
        await self._take("answer_dialog", session, dialog, choice)

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        await self._take("interrupt", session, message)
        return ["Escape"]

    async def links(self, session: str = "") -> list[Link]:
        await self._take("links", session)
        return self.made

    async def create_link(
        self,
        a: str,
        b: str,
        policy: LinkPolicy | None = None,
        names: tuple[str, str] = ("", ""),
        allow_shell: bool = False,
    ) -> Link:
        await self._take(a, b, policy, names, allow_shell)
        parties = Party(a, "%1", "Ann"), Party(b, "%2", "Bob")
        chosen = policy or LinkPolicy()
        stored = StoredRelay("link-1", participants(*parties), chosen.rules(), RelayState(budget=chosen.budget))
        self.made.append(Link(parties, chosen, 2.5, stored))
        return self.made[-1]

    async def extend_link(self, link: str, deliveries: int) -> Link:
        await self._take(link, deliveries)
        return self.made[-1]

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        await self._take(link, by, last_words)

    async def peers(self) -> list[api.Peer]:
        await self._take("peers")
        return [api.Peer(name="beta", state="away", waiting={"heard": 2}, lag=1.5, why="beta is away")]

    async def relays(self) -> list[api.Relay]:
        await self._take("relays")
        return [api.Relay(relay="relay-1", members=[], deliveries=4)]

    async def create_relay(self, request: api.CreateRelay) -> api.Relay:
        await self._take(request)
        return api.Relay(relay="relay-1", members=[], deliveries=0, budget=request.budget)

    async def stop_relay(self, relay: str) -> None:
        await self._take(relay)

    def held(self, gathering: str) -> api.Gathering:
        member = api.GatheringMember(number=1, name="Sägé", role="speaker", session="%1", asked="[Beat 1/2]")
        return api.Gathering(
            gathering=gathering, rhythm="daily", inhale_rounds=1, hold_rounds=1, exhale_rounds=1, beats_per_turn=2,
            beat_interval_seconds=60.0, listening="each", opening_question="?", state="running", phase="hold", round=1,
            rounds=1, speaker=1, next_beat_at=2.5, participants=[member],
        )  # fmt: skip

    async def start_gathering(self, request: api.StartGathering) -> api.Gathering:
        await self._take(request)
        return self.held("gathering-1")

    async def gatherings(self) -> list[api.Gathering]:
        await self._take("gatherings")
        return [self.held("gathering-1")]

    async def gathering(self, gathering: str) -> api.Gathering:
        await self._take(gathering)
        return self.held(gathering)

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> api.Gathering:
        await self._take(gathering, number, session)
        return self.held(gathering)

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> api.Gathering:
        await self._take(gathering, number, text)
        return self.held(gathering)

    async def pause_gathering(self, gathering: str, paused: bool) -> api.Gathering:
        await self._take(gathering, paused)
        return self.held(gathering)

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> api.Gathering:
        await self._take(gathering, end_sessions)
        return self.held(gathering)

    async def gathering_transcript(self, gathering: str) -> api.GatheringTranscript:
        await self._take("transcript", gathering)
        said = api.TranscriptEntry(at=1.5, kind="said", phase="hold", round=1, number=1, name="Sägé", text="a\nb")
        return api.GatheringTranscript(gathering=self.held(gathering), entries=[said], markdown="# x")

    def _council(self, council: str) -> api.Council:
        return api.Council(
            council=council, title="Ü?", created=1.5, members=["Ada"], person="You", messages=2, cost=0.5, is_open=True
        )

    async def open_council(self, request: api.OpenCouncil) -> api.Council:
        await self._take(request)
        return self._council("council-1")

    async def councils(self) -> list[api.Council]:
        await self._take("councils")
        return [self._council("council-1")]

    async def council_transcript(self, council: str) -> api.CouncilTranscript:
        await self._take("council_transcript", council)
        entry = Entry("t1", "Ada", "member", "a\nb", 1)
        return api.CouncilTranscript(council=self._council(council), entries=[entry])

    async def enter_council(self, council: str, text: str) -> api.CouncilReply:
        await self._take("enter_council", council, text)
        return api.CouncilReply(shown=text)

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        await self._take("rest_council", council, seconds)
        return True

    async def ask_council(self, request: api.AskCouncil) -> api.CouncilAnswers:
        await self._take(request)
        return api.CouncilAnswers(council="council-1", state="answered", missing=["Ada"])

    async def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        await self._take("follow_council", council)
        yield AnswerGrew("t1", "a\nü")
        yield SessionEnded(council)

    async def pause(self, paused: bool, of: str = "") -> None:
        await self._take("pause", paused, of)

    async def mute(self, session: str, muted: bool) -> None:
        await self._take("mute", session, muted)

    async def stop_all(self) -> int:
        await self._take("stop_all")
        return 5

    async def watch(self, session: str, watched: bool) -> None:
        await self._take("watch", session, watched)

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        return [event for event in self.journal if event.seq > seq and session in {"", event.pane}][:limit]

    async def latest(self, limit: int = 50) -> list[Output]:
        await self._take("latest", limit)
        return [Output(seq=2, at=1.5, until=2.5, session="%1", pane="%1", origin="program", text="a\nü")]

    async def pulse(self, request: api.TakePulse) -> Pulse:
        await self._take(request)
        session = SessionNow(title="Ann", quiet=1.5)
        return Pulse(at=2.5, sessions=(session,), missing=(MissingSignal(part="system", why="x"),))

    async def search_history(self, search: SearchHistory) -> History:
        await self._take(search)
        found = FoundText(1, 2, 3.5, "here", "s", "%1", 1, "cat", "program", None, "one two", "one two", ((0, 3),))
        return History(found=[found], left_out=("what was too much",))

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        place = self.last if after is None else after
        while True:
            async with self._more:
                await self._more.wait_for(lambda: place < self.last)  # noqa: B023
            for event in await self.read_since(place):
                place = event.seq
                yield event


class Served:
    """A service behind a real socket, and clients of it."""

    def __init__(
        self, address: DaemonAddress, service: MemoryService, broadcast: Broadcast, server: HttpServer
    ) -> None:
        self.address = address
        self.service = service
        self.broadcast = broadcast
        self.server = server
        self.log: list[structlog.typing.EventDict] = []

    @asynccontextmanager
    async def client(self) -> AsyncIterator[DaemonClient]:
        async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
            yield client


@pytest.fixture
def address() -> Iterator[DaemonAddress]:
    """In a folder with a short name: a socket's path may have some 100 bytes."""
    with PrivateTmux() as tmux:
        folder = tmux.directory
        yield DaemonAddress("t", tmux.socket_path, folder / "d.sock", folder / "d.lock", folder, folder / "d.log")


@pytest.fixture
def memory() -> MemoryService:
    return MemoryService()


@pytest.fixture
async def served(address: DaemonAddress, memory: MemoryService) -> AsyncIterator[Served]:
    async with serving(address, memory) as one:
        yield one


async def no_lines(session: str) -> AsyncGenerator[Sequence[str]]:
    """Return the screen of a session that shows no unfinished line."""

    async def shown() -> AsyncGenerator[Sequence[str]]:
        yield []

    return shown()


@asynccontextmanager
async def serving(
    address: DaemonAddress, service: MemoryService, *, most_events: int = 1000, grace: float = 1.0
) -> AsyncIterator[Served]:
    broadcast = Broadcast(service, most_events=most_events)
    await broadcast.start()
    with only_daemon(address), listening(address) as listener:
        captured = structlog.testing.CapturingLogger()
        log = structlog.wrap_logger(captured, wrapper_class=structlog.make_filtering_bound_logger("debug"))
        app = create_app(service, broadcast, log=log, counts=Metrics(), version="1.2.3", live=no_lines)
        server = HttpServer(app, grace=grace)
        tasks = [asyncio.ensure_future(server.run_on(listener)), asyncio.ensure_future(broadcast.run())]
        try:
            yield Served(address, service, broadcast, server)
        finally:
            tasks[1].cancel()
            broadcast.end()
            server.stop()
            await tasks[0]
            with contextlib.suppress(asyncio.CancelledError):
                await tasks[1]


def failure(error: StreamrelayError) -> tuple[type, str, str, str, dict[str, object]]:
    return type(error), error.code, error.message, error.hint, error.data
