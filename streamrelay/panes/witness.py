"""The agent's own record, read for one live pane when its stream waits for it, and when the pane ends in mid-answer.

The record is opened when the program in the pane is recognised. What was said before the pane was watched is passed
over. It is also read while the first answer is under way, since no record can be found once its process has ended, and
while messages wait. Of what it then has, the end is kept until a turn waits, or more follows.
Files are read in threads. What is read becomes an input of the stream, so a recording has it, and a replay needs no
file.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol

from streamrelay.agents.profile import AgentProfile
from streamrelay.agents.witnesses import AgentRecord, Reading, in_order, record_of
from streamrelay.delta.inputs import Input, WitnessOpened, WitnessPassage, WitnessPolicy, WitnessReported
from streamrelay.threads import in_thread

READ_EVERY: Final = 0.05
"""Seconds between two readings while a turn waits."""
SEARCH_EVERY: Final = 0.25
"""Seconds between two searches for a record that is not there: each looks through processes and folders."""
FIND_AFTER: Final = 1.0
"""Seconds for which an answer is under way before the record is looked for that was not found yet; twice as long each
time.
"""
MAX_READING: Final = 5.0
"""Seconds after which a reading is given up: the file system does not answer."""


class WitnessSource(NamedTuple):
    """What a server knows of records: profiles by name, and the policy; no record where its panes are elsewhere."""

    profile: Callable[[str], AgentProfile | None]
    policy: WitnessPolicy = "prefer"


class Watched(Protocol):
    """A pane's stream, as far as its witness is concerned."""

    @property
    def awaits_witness(self) -> bool:
        """Whether a turn waits for the record."""

    @property
    def needs_record(self) -> bool:
        """Whether the record is needed in mid-turn, because messages wait."""

    @property
    def answers(self) -> bool:
        """Whether an answer is under way."""

    @property
    def profile(self) -> str:
        """The name of the profile that the program was recognised by."""


class WitnessWatch:
    """Opens and reads the record of the agent in one pane; `enter` takes what the stream is told."""

    def __init__(self, source: WitnessSource, pane: str, enter: Callable[[Callable[[float], Input]], None]) -> None:
        self._source, self._pane, self._enter = source, pane, enter
        self._key: tuple[str, int] = ("", 0)
        """The profile and the pane's process that the record was opened for."""
        self._agent: AgentProfile | None = None
        self._record: AgentRecord | None = None
        self._task: asyncio.Task[None] | None = None
        self._since = time.time()
        self._over_at = 0.0
        """When the last turn was over that waited (Unix time)."""
        self._is_found = False
        """Whether the record was found so far."""
        self._find_after = FIND_AFTER
        """Seconds until it is looked for in mid-answer; for ever where the agent keeps none."""
        self._answers_since: float | None = None
        """When the answer under way was first seen, or its record was last read (monotonic time)."""
        self._kept: tuple[WitnessPassage, ...] = ()
        """What was read in mid-answer and is not told yet (see `_is_final`)."""

    def look(self, stream: Watched, pid: int) -> None:
        """See whether another program is there, or a turn waits; cheap where neither is so."""
        if self._task is not None:
            return
        if self._key != (stream.profile, pid):
            self._key = (stream.profile, pid)
            self._is_found, self._find_after, self._kept = False, FIND_AFTER, ()
            profile = self._source.profile(stream.profile)
            was_open, self._record = self._agent is not None, None
            self._agent = profile if profile is not None and profile.witness is not None and pid else None
            if self._agent is not None:
                self._start(self._open(self._agent, stream, pid))
            elif was_open:
                self._enter(lambda now: WitnessOpened(now, self._pane, "", "transcript", 0.0, "off"))
        elif stream.awaits_witness and self._record is not None:
            self._start(self._read(self._record, stream, pid))
        elif not stream.answers:
            self._answers_since = None
        elif self._record is not None and self._must_find(stream):
            self._start(self._find(self._record, stream))

    def _must_find(self, stream: Watched) -> bool:
        """Whether the record is to be looked for, or read, in mid-answer now."""
        if self._is_found and not stream.needs_record:
            return False
        now = time.monotonic()
        if self._answers_since is None:
            self._answers_since = now
        return now - self._answers_since >= (SEARCH_EVERY if self._is_found else self._find_after)

    async def hear_out(self, stream: Watched) -> None:
        """Read the record a last time: the pane is about to end, in mid-answer or while a turn waits.

        It reads until the record has the end of a turn, for `lag` seconds at most.
        """
        record, agent = self._record, self._agent
        if record is None or agent is None or agent.witness is None or not (stream.answers or stream.awaits_witness):
            return
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=agent.witness.lag)
        if self._task is None:
            task = self._task = asyncio.get_running_loop().create_task(self._read_out(record, agent.witness.lag))
            await asyncio.wait({task})

    async def _read_out(self, record: AgentRecord, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    reading = await in_thread(record.read, name="witness")
                    passages = tuple(in_order(self._kept + reading.passages))
                    self._kept = ()
                    if passages:
                        self._report(self._key[0], reading._replace(passages=passages))
                    if reading.reason or (passages and passages[-1].speaker == "end"):
                        return
                    await asyncio.sleep(READ_EVERY)
        except TimeoutError:
            # Nothing more was written in time.
            return
        finally:
            self._task = None

    def renew(self) -> None:
        """Open the record again: a stream begins anew that knows of none."""
        self._key = ("", 0)

    def close(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()
        self._source = WitnessSource(lambda _: None, "off")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work)

    async def _open(self, profile: AgentProfile, stream: Watched, pid: int) -> None:
        witness = profile.witness
        try:
            async with asyncio.timeout(MAX_READING):
                self._record = await in_thread(lambda: record_of(profile, pid, self._since), name="witness")
            if witness is not None and self._record is not None:
                opened, policy = witness, self._source.policy
                self._enter(
                    lambda now: WitnessOpened(
                        now, self._pane, profile.name, opened.name, opened.lag, policy, under_way=opened.under_way
                    )
                )
        except TimeoutError:
            self._record = None
        finally:
            self._task = None
        self.look(stream, pid)

    def _report(self, agent: str, reading: Reading) -> None:
        since = self._over_at
        self._enter(lambda now: WitnessReported(now, self._pane, agent, reading.passages, reading.reason, since))

    async def _find(self, record: AgentRecord, stream: Watched) -> None:
        """Look for the record while an answer is under way, and tell what it says so far."""
        if not self._is_found:
            self._find_after *= 2
        self._answers_since = None
        try:
            async with asyncio.timeout(MAX_READING):
                reading = await in_thread(record.read, name="witness")
            # A record that was found is there, even if one reading fails.
            self._is_found = self._is_found or not reading.reason
            if reading.reason == "keeps_none" and not self._is_found:
                self._find_after = math.inf
            passages = in_order(self._kept + reading.passages)
            told = max((n for n, passage in enumerate(passages, 1) if _is_final(passage, stream)), default=0)
            self._kept = tuple(passages[told:])
            if told:
                self._report(self._key[0], reading._replace(passages=tuple(passages[:told])))
        except TimeoutError:
            self._key = ("", 0)
        finally:
            self._task = None

    async def _read(self, record: AgentRecord, stream: Watched, pid: int) -> None:
        """Read until nothing waits any more; the stream itself ends the waiting.

        It is told of the first reading even if that has nothing new, and of a reason once.
        """
        agent = self._key[0]
        told: Reading | None = None
        try:
            while stream.awaits_witness:
                async with asyncio.timeout(MAX_READING):
                    reading = await in_thread(record.read, name="witness")
                passages = tuple(in_order(self._kept + reading.passages))
                reading, self._kept = reading._replace(passages=passages), ()
                self._is_found = self._is_found or not reading.reason
                if reading.passages or told is None or reading.reason != told.reason:
                    self._report(agent, reading)
                    told = reading
                if stream.awaits_witness:
                    await asyncio.sleep(SEARCH_EVERY if reading.reason else READ_EVERY)
        except TimeoutError:
            # The next turn opens it anew.
            self._key = ("", 0)
        finally:
            self._over_at = time.time()
            self._task = None
        self.look(stream, pid)


def _is_final(passage: WitnessPassage, stream: Watched) -> bool:
    """Tell whether nothing that the agent writes later belongs before a passage that was read in mid-answer.

    While messages wait, only a message is final: an agent may write a quick answer before its message. An end is not
    final, because an agent may write it before the call of a tool.
    """
    return passage.speaker == "person" or (passage.speaker == "agent" and not stream.needs_record)
