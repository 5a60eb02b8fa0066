"""The council's app: a pilot plays sessions with scripted members, and the text of the screen is read."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from streamrelay.council import coordinator
from streamrelay.council.app.app import CouncilApp
from streamrelay.council.app.chat import MAX_SHOWN, ChatView, MessageView
from streamrelay.council.app.composer import Composer
from streamrelay.council.app.mermaid import MAX_SOURCE, with_diagrams
from streamrelay.council.clients.contract import AIClient
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import CouncilConfig
from streamrelay.council.console import Console
from streamrelay.council.context import Entry
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.errors import AIUnavailable

PATIENCE = 20.0


class Gated(ScriptedClient):
    """Says its text when the test lets it: word by word, one for each permit."""

    def __init__(self, script: tuple[str, ...], permits: asyncio.Semaphore) -> None:
        super().__init__(script, pause=0.0)
        self._permits = permits

    async def stream_response(self, messages, system_prompt):
        async for piece in super().stream_response(messages, system_prompt):
            await self._permits.acquire()
            yield piece


class Broken(ScriptedClient):
    """Is unavailable."""

    async def stream_response(self, messages, system_prompt):
        raise AIUnavailable("not now")
        yield ""


def config(**scripts: str) -> CouncilConfig:
    members = tuple(Member(name=name, vendor="scripted", script=(text,)) for name, text in scripts.items())
    return CouncilConfig(member=members)


def quick(member: Member, _: str) -> AIClient:
    return ScriptedClient(member.script, pause=0.0)


class Screen:
    """An app on a screen, and what it shows."""

    def __init__(self, app: CouncilApp, pilot: Pilot[None], session: CouncilSession) -> None:
        self.app, self.pilot, self.session = app, pilot, session

    @property
    def text(self) -> str:
        lines = [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]
        return "\n".join(lines)

    async def until(self, holds: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"never on the screen:\n{self.text}") from None

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text)

    async def enter(self, text: str) -> None:
        self.app.query_one(Composer).insert(text)
        await self.pilot.press("enter")


@asynccontextmanager
async def on_screen(
    store: CouncilStore,
    council: CouncilConfig,
    make_client: Callable[[Member, str], AIClient] = quick,
    *,
    size: tuple[int, int] = (80, 30),
    now: Callable[[], float] | None = None,
    resume: str = "",
    written: dict[Path, str] | None = None,
) -> AsyncIterator[Screen]:
    if resume:
        session = await CouncilSession.resume(store, resume, make_client, now=now)
    else:
        session = await CouncilSession.begin(store, council, make_client, now=now)
    console = Console(session, store, ({} if written is None else written).__setitem__)
    async with session.watch() as events, session:
        app = CouncilApp(console, session.joined, events)
        async with app.run_test(size=size) as pilot:
            yield Screen(app, pilot, session)


@pytest.mark.requirement("COU-06")
async def test_a_whole_session_streams_queues_and_ends_with_bye(store: CouncilStore) -> None:
    permits = asyncio.Semaphore(0)
    council = config(Ada="one two **three** four", Bob="I agree.")

    def gated(member: Member, _: str) -> AIClient:
        return Gated(member.script, permits) if member.name == "Ada" else ScriptedClient(member.script, pause=0.0)

    async with on_screen(store, council, gated) as screen:
        assert "Your turn" not in screen.text
        assert "🎯 Ada" in screen.text
        assert "✅ Bob" in screen.text
        await screen.enter("What do you think?")
        await screen.shows("Generating... Ada 🤔")
        permits.release()
        permits.release()
        await screen.shows("one two")
        assert "three" not in screen.text
        await screen.enter("Be quick.")
        await screen.shows("(Queued) You:")
        await screen.shows("Queued Messages: 1")
        queued = next(view for view in screen.app.query(MessageView) if view.has_class("queued"))
        assert queued.styles.text_style.dim
        for _ in range(4):
            permits.release()
        await screen.shows("I agree.")
        await screen.shows("Your turn")
        assert "(Queued)" not in screen.text
        assert "**" not in screen.text
        text = screen.text
        assert text.index("four") < text.index("Be quick.") < text.index("I agree.")
        await screen.enter("/bye")
        await screen.until(lambda: not screen.app.is_running)
    assert [entry.author for entry, _ in await store.entries(screen.session.id)] == ["You", "Ada", "You", "Bob"]


@pytest.mark.requirement("COU-06")
async def test_mermaid_is_drawn_and_markup_of_the_terminal_and_the_screen_is_text(store: CouncilStore) -> None:
    drawing = "Look:\n\n```mermaid\ngraph LR\n A[Here] --> B[There]\n```\n\nDone [bold]x[/bold] \x1b[31mred."
    async with on_screen(store, config(Ada=drawing), size=(80, 40)) as screen:
        await screen.enter("[red]Draw[/red] it")
        await screen.shows("Done")
        await screen.shows("│  Here  ├")
        assert "graph LR" not in screen.text
        assert "[bold]x[/bold] [31mred." in screen.text
        assert "[red]Draw[/red] it" in screen.text


@pytest.mark.parametrize(
    "source", ["nonsense\n", "", "graph LR\n A[", "x" * (MAX_SOURCE + 1) + "\n"], ids=["none", "empty", "half", "huge"]
)
def test_a_diagram_that_cannot_be_drawn_stays_source(source: str) -> None:
    markdown = f"a\n```mermaid\n{source}```\nb"
    assert with_diagrams(markdown) == markdown


def test_only_closed_fences_of_mermaid_are_drawn() -> None:
    assert with_diagrams("```python\ngraph LR\n A-->B\n```") == "```python\ngraph LR\n A-->B\n```"
    assert with_diagrams("```mermaid\ngraph LR\n A-->B\n") == "```mermaid\ngraph LR\n A-->B\n"
    assert "►" in with_diagrams("1\n~~~mermaid\ngraph LR\n A-->B\n~~~\n2")


@pytest.mark.requirement("COU-06", "COU-10")
async def test_blind_answers_appear_together(store: CouncilStore) -> None:
    permits = asyncio.Semaphore(0)
    council = config(Ada="alpha", Bob="beta")
    async with on_screen(store, council, lambda member, _: Gated(member.script, permits)) as screen:
        await screen.enter("/blind First thoughts?")
        await screen.shows("Ada is answering; the answers are shown together")
        permits.release()
        await screen.shows("Ada has answered")
        assert "alpha" not in screen.text
        permits.release()
        await screen.shows("beta")
        assert "alpha" in screen.text
        assert "has answered" not in screen.text


@pytest.mark.requirement("COU-06", "COU-07")
async def test_a_question_stands_in_the_status_until_it_is_answered(store: CouncilStore) -> None:
    def broken(member: Member, _: str) -> AIClient:
        return Broken(member.script) if member.name == "Bob" else ScriptedClient(member.script, pause=0.0)

    clock = [0.0]
    async with on_screen(store, config(Ada="Yes.", Bob="-"), broken, now=lambda: clock[0]) as screen:
        await screen.enter("Hello")
        await screen.shows("⚠️ Bob unavailable. Try it again? (/yes | /no)")
        clock[0] = 30.0
        screen.session.submit(coordinator.Pass())
        await screen.shows("💭 Still deciding?")
        await screen.enter("/no")
        await screen.shows("Bob (off)")
        await screen.enter("/phase Critique")
        await screen.shows("Phase: Critique")
        await screen.enter("/nonsense")
        await screen.shows("there is no /nonsense")


@pytest.mark.requirement("COU-06")
async def test_the_input_has_a_history_completion_and_lines(store: CouncilStore) -> None:
    async with on_screen(store, config(Claude="Hi.", Clara="Ho.")) as screen:
        composer, press = screen.app.query_one(Composer), screen.pilot.press
        await press(*"/ch", "tab")
        assert composer.text == "/chair "
        await press(*"c", "tab")
        assert composer.text == "/chair Cla"
        await screen.shows("/chair Claude   /chair Clara")
        await press("u", "tab")
        assert composer.text == "/chair Claude "
        composer.text = ""
        await press(*"one", "ctrl+j", *"two", "enter")
        await screen.shows("Ho.")
        assert next(entry.text for entry in screen.session.entries) == "one\ntwo"
        await press(*"dra", "up")
        assert composer.text == "one\ntwo"
        await press("down")
        assert composer.text == "dra"


@pytest.mark.requirement("COU-06")
async def test_it_works_at_sixty_columns_and_twenty_lines(store: CouncilStore) -> None:
    council = config(**{f"Member number {number}": "A sentence. " * 30 for number in range(4)})
    async with on_screen(store, council, size=(60, 20)) as screen:
        await screen.enter("A question that is longer than one line of such a narrow terminal is")
        await screen.shows("Your turn")
        chat = screen.app.query_one(ChatView)
        assert chat.size.height >= 8
        assert "Member number 3" in screen.text
        assert chat.is_vertical_scroll_end
        await screen.pilot.press("pageup", "pageup")
        await screen.until(lambda: not chat.is_vertical_scroll_end)
        await screen.pilot.press("x")
        assert screen.app.query_one(Composer).text == "x"
        await screen.pilot.press("ctrl+end")
        await screen.until(lambda: chat.is_vertical_scroll_end)


@pytest.mark.slow
@pytest.mark.requirement("COU-06", "COU-11")
async def test_ten_thousand_messages_stay_in_the_store_and_leave_the_screen(store: CouncilStore) -> None:
    council = config(Ada="The newest.")
    session = await CouncilSession.begin(store, council, quick)

    def fill(connection) -> None:
        rows = [(session.id, f"t{n}", 0.0, "Ada", "member", f"message {n}", n, "open", 0) for n in range(1, 10_001)]
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO messages (session, id, at, author, kind, text, round, round_kind, partial)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute("COMMIT")

    await store._database.do(fill)
    async with on_screen(store, council, resume=session.id) as screen:
        await screen.shows("message 10000")
        chat = screen.app.query_one(ChatView)
        assert len(chat.children) == MAX_SHOWN + 1
        for _ in range(12):
            await screen.enter("More?")
            await screen.until(lambda: screen.session.status.state == "paused_for_user")
        await screen.until(lambda: len(chat.children) <= MAX_SHOWN + 20)
        await screen.pilot.pause()
        chat.scroll_home(animate=False)
        await screen.shows("earlier messages are not shown")
    assert len(await store.entries(session.id)) == 10_024


async def test_an_export_and_a_mistake_are_told_in_the_chat(store: CouncilStore) -> None:
    written: dict[Path, str] = {}
    async with on_screen(store, config(Ada="Yes."), written=written) as screen:
        await screen.enter("Well?")
        await screen.shows("Yes.")
        await screen.enter("/export talk.md")
        await screen.shows("written: talk.md")
        await screen.enter("/chair")
        await screen.shows("/chair needs a member's name")
    assert "Well?" in written[Path("talk.md")]


async def test_ctrl_c_leaves_and_keeps_the_session(store: CouncilStore) -> None:
    async with on_screen(store, config(Ada="Yes.")) as screen:
        await screen.enter("Well?")
        await screen.shows("Yes.")
        await screen.pilot.press("ctrl+c")
        await screen.until(lambda: not screen.app.is_running)
    assert len(await store.entries(screen.session.id)) == 2
    assert Entry("t1", "Ada", "member", "Yes.", 1) in [entry for entry, _ in await store.entries(screen.session.id)]
