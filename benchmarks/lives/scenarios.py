"""The scenarios: what is done with an agent in one life (tests/corpus/README.md names them)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.lives.agents import Agent, Wanted
from benchmarks.lives.life import Life

Act = Callable[[Life], Awaitable[None]]
_SLOW_BEGINS = 2.5
"""Seconds into a slow answer: some of it stands on the screen."""
_ANY = Wanted()


@dataclass(frozen=True)
class Scenario:
    """One scenario; `before` is an earlier session, `late` is what is done before the recording begins."""

    act: Act
    wanted: Wanted = _ANY
    before: Act | None = None
    late: Act | None = None
    fits: Callable[[Agent], bool] = lambda _: True
    waits: bool = True
    """Whether to wait for the agent to be ready first."""


async def _asks(life: Life, *topics: str) -> None:
    for topic in topics:
        await life.ask(topic)


async def _long400(life: Life) -> None:
    await _asks(life, "long400", "n1")


async def _para(life: Life) -> None:
    await _asks(life, "para", "n2")


async def _turns20(life: Life) -> None:
    await _asks(life, *(f"n{number}" for number in range(10, 30)))


async def _interrupt(life: Life) -> None:
    await life.ask("n3")
    begun = len(life.model.answers)
    await life.send("Now tell me more about topic:slow and take your time.")
    await life.answering(begun + 1)
    await _pause(life, _SLOW_BEGINS)
    await life.key(*[life.agent.interrupt] * life.agent.escapes)
    await life.until(lambda: life.model.answers[-1].broken_off, 10.0, "the answer is broken off")
    await life.quiet()
    await life.snapshot("interrupted")
    await _asks(life, "afterwards", "n4")


async def _queued(life: Life) -> None:
    await life.ask("n5")
    begun = len(life.model.answers)
    await life.send("Take your time with topic:busy please.")
    await life.answering(begun + 1)
    await _pause(life, 1.0)
    await life.type("Also tell me of topic:first when you can.")
    await _pause(life, 0.8)
    await life.type("And then of topic:second as a third thing.")
    await life.until(lambda: "topic:second" in _asked(life), 30.0, "the second queued message is asked")
    await life.answered(len(life.model.answers))
    await life.quiet(2.0)
    await _asks(life, "third", "n6")


async def _fed(life: Life) -> None:
    """Send a message whenever it answers another one, so that it is never idle."""
    await life.ask("n51")
    begun = len(life.model.answers)
    await life.send("Take your time with topic:busy please.")
    await life.answering(begun + 1)
    for topic in ("fed1", "fed2"):
        await _pause(life, 1.0)
        await life.send(f"Also tell me of topic:{topic} when you can.")
    for topic in ("fed3", "fed4"):
        await life.answering(len(life.model.answers) + 1)
        await life.send(f"And then tell me of topic:{topic} as well.")
    await life.until(lambda: "topic:fed4" in _asked(life), 60.0, "the last message is asked")
    await life.answered(len(life.model.answers))
    await life.quiet(2.0)
    await _asks(life, "n52")


async def _permission(life: Life) -> None:
    before = life.answered_so_far
    await life.send("Please do topic:toolyes for me.")
    if await life.dialog("permission", life.agent.permission, "Enter"):
        await life.answered(before + 1)
    await life.send("Please do topic:toolno for me.")
    if await life.dialog("permission", life.agent.permission, "Escape"):
        await life.quiet(2.0)
    await _asks(life, "n7")


async def _mcp(life: Life) -> None:
    if life.agent.server:
        await life.dialog("trust", "MCP server", *life.agent.server, seconds=60.0)
    await life.shows(life.agent.ready)
    await _pause(life, life.agent.boots + 1.0)
    await _allow(life, "served", "Allow .*lookup")
    await _asks(life, "n43")


async def _edit(life: Life) -> None:
    await _allow(life, "written", "Apply this change")
    await _asks(life, "n44")


async def _allow(life: Life, topic: str, question: str) -> None:
    """Let the agent use a tool, and allow it if the agent asks `question` (a pattern) or as it asks for any tool."""
    before = life.answered_so_far
    await life.send(f"Please do topic:{topic} for me.")
    if await life.dialog("permission", f"{life.agent.permission}|{question}", "Enter"):
        await life.answered(before + 1)


async def _modes(life: Life) -> None:
    """A command of the shell from within, and the modes that Shift-Tab goes through."""
    await life.ask("n45")
    await life.type("!echo the shell said this")
    await life.quiet(2.5, 12.0)
    await life.snapshot("shell")
    if life.agent.stays_in_shell:
        await life.key("Escape", rest=1.0)
    await life.ask("aftershell")
    for topic in ("n46", "n47", "n48"):
        await life.key("BTab", rest=1.0)
        await life.ask(topic)


async def _trust(life: Life) -> None:
    await life.dialog("trust", life.agent.trust, *life.agent.trusts, seconds=60.0)
    await life.shows(life.agent.ready)
    await _pause(life, life.agent.boots + 1.0)
    await _asks(life, "trusted", "n8")


async def _pickers(life: Life) -> None:
    await life.ask("n9")
    for command in life.agent.pickers:
        await life.picker(command)
    await life.ask("afterpick")
    await life.picker("/help", None)
    await life.ask("afterhelp")
    await life.type(life.agent.clear)
    await life.quiet(1.5)
    await _asks(life, "aftercleared", "n31")


async def _compact(life: Life) -> None:
    await _asks(life, "herons", "n32")
    await life.type(life.agent.compact)
    await life.quiet(3.0, 20.0)
    await life.snapshot("compacted")
    await _asks(life, "aftercompact", "n33")


async def _types(life: Life, *topics: str) -> None:
    """Type a message for each topic, as a person does, and wait for its answer."""
    for topic in topics:
        before = life.answered_so_far
        await life.type(f"Before that, tell me of topic:{topic} please.")
        await life.answered(before + 1)


async def _earlier(life: Life) -> None:
    await _types(life, "harbours", "long150")
    await life.quiet(3.0)


async def _resume(life: Life) -> None:
    await life.quiet(2.0)
    await _asks(life, "resumed", "n34")


async def _drafts(life: Life) -> None:
    await life.ask("n35")
    before = life.answered_so_far
    await life.type("Please tell me abuot topic:hand", enter=False)
    await life.key(*["Left"] * 13, rest=0.05)
    await life.key("BSpace", "BSpace", rest=0.1)
    await life.type("ou", enter=False)
    await life.key("End", rest=0.3)
    await life.type(" and no more.")
    await life.answered(before + 1)
    await life.type("a draft that is thrown away", enter=False)
    await _pause(life, 1.0)
    await life.key(*["BSpace"] * 27, rest=0.03)
    await _asks(life, "afterdraft", "n36")


async def _resizes(life: Life) -> None:
    columns, lines = life.size
    await _asks(life, "n37", "para")
    await life.resize(80, 24)
    await life.quiet()
    await life.ask("narrow")
    await life.resize(160, 50)
    await life.quiet()
    await life.ask("wide")
    begun = len(life.model.answers)
    await life.send("Now tell me more about topic:slow and take your time.")
    await life.answering(begun + 1)
    await _pause(life, _SLOW_BEGINS)
    await life.resize(90, 30)
    await _pause(life, 1.5)
    await life.resize(columns, lines)
    await life.answered(life.answered_so_far + 1)
    await life.ask("n38")


async def _switched(life: Life) -> None:
    there, back = life.agent.switch
    await life.ask("n39")
    await life.type(there)
    await life.quiet(2.5, 10.0)
    await _asks(life, "onalternate", "long150")
    await life.type(back)
    await life.quiet(2.5, 10.0)
    await _asks(life, "backonmain", "n40")


async def _late_idle_before(life: Life) -> None:
    await _types(life, "unheard", "long150")


async def _late_idle(life: Life) -> None:
    await _pause(life, 1.0)
    await _asks(life, "heard", "n41")


async def _late_mid_before(life: Life) -> None:
    await _types(life, "unheard")
    begun = len(life.model.answers)
    await life.type("And now at length of topic:slow please.")
    await life.answering(begun + 1)
    await _pause(life, _SLOW_BEGINS)


async def _late_mid(life: Life) -> None:
    await life.answered(life.answered_so_far + 1)
    await _asks(life, "heard", "n42")


async def _pause(life: Life, seconds: float) -> None:
    await life.pause(seconds)


def _asked(life: Life) -> str:
    return "\n".join("\n".join(asked.messages) for asked in life.model.asked[-2:])


SCENARIOS: Mapping[str, Scenario] = MappingProxyType({
    "long400": Scenario(_long400),
    "turns20": Scenario(_turns20),
    "interrupt": Scenario(_interrupt),
    "permission": Scenario(_permission, Wanted(allows=False), fits=lambda agent: bool(agent.permission)),
    "queued": Scenario(_queued),
    "fed": Scenario(_fed),
    "resizes": Scenario(_resizes),
    "compact": Scenario(_compact, fits=lambda agent: bool(agent.compact)),
    "pickers": Scenario(_pickers, fits=lambda agent: bool(agent.pickers)),
    "late_mid": Scenario(_late_mid, late=_late_mid_before),
    "late_idle": Scenario(_late_idle, late=_late_idle_before),
    "switched": Scenario(_switched, fits=lambda agent: bool(agent.switch[0])),
    "drafts": Scenario(_drafts),
    "para": Scenario(_para),
    "trust": Scenario(_trust, Wanted(trusts=False), fits=lambda agent: bool(agent.trust), waits=False),
    "mcp": Scenario(_mcp, Wanted(allows=False, has_server=True), fits=lambda one: bool(one.permission), waits=False),
    "edit": Scenario(_edit, Wanted(allows=False), fits=lambda agent: bool(agent.permission) and agent.writes),
    "modes": Scenario(_modes, fits=lambda agent: bool(agent.permission)),
    "resume": Scenario(_resume, Wanted(resumes=True), before=_earlier, fits=lambda agent: agent.resumes),
})  # fmt: skip
"""In the order in which they are recorded."""
