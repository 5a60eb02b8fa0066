"""One search over the journal and over the agents' own transcripts.

Transcripts may be gigabytes, of years. They are read the newest first and from their ends, in a thread, one search at a
time, and only as long as was asked for; what was not read then is said. A search that is given up ends its thread with
the next line. The thread lets go of the interpreter every millisecond, for others are to be heard meanwhile.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from streamrelay.agents.profile import AgentProfile
from streamrelay.agents.transcript_files import TranscriptFile, lines_from_the_end, transcript_files
from streamrelay.agents.transcripts import TranscriptPassage, conversation_of, read_passages
from streamrelay.errors import TargetNotFound
from streamrelay.history.journal import Journal
from streamrelay.history.matching import Matcher
from streamrelay.history.places import Place
from streamrelay.history.query import parse_query
from streamrelay.history.ranking import Ranking
from streamrelay.history.results import MAX_FOUND, MAX_SECONDS, FoundText, History, SearchHistory
from streamrelay.threads import in_thread

_ROOM = 4
"""How many times the requested number of results is kept: which words are rare is known only at the end."""
_GRACE = 0.5
"""Seconds for the line that is being read when the time is over."""
_AT_A_TIME, _REST = 0.001, 0.0001
"""Seconds of reading, and of rest; left to itself a thread keeps the others waiting for 5 ms each time."""


class HistorySearch:
    """Searches a journal, if there is one, and the transcripts of the programs of those profiles.

    `clock` measures the seconds of a search.
    """

    def __init__(
        self,
        journal: Journal | None,
        profiles: Callable[[], Sequence[AgentProfile]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._profiles = profiles
        self._clock = clock
        self._reading = asyncio.Lock()

    async def search(self, asked: SearchHistory, place: Place | None = None) -> History:
        """Return the results, best first, and the parts that were not searched; empty words find nothing.

        `place` is where the session that is asked for stands in the journal, if it is there. Raises TargetNotFound for
        a session of which neither journal nor transcripts know.
        """
        query = parse_query(asked.words, any_word=asked.any_word)
        limit = min(max(asked.limit, 0), MAX_FOUND)
        if not query or not limit:
            return History(found=[])
        matcher = Matcher(query)
        ranking = Ranking(time.time(), room=min(_ROOM * limit, MAX_FOUND))
        if self._journal is not None and (place is not None or not asked.session):
            for found in await self._journal.search(query, asked, place=place, limit=min(_ROOM * limit, MAX_FOUND)):
                ranking.take(found, matcher.match(found.text) or matcher.unplaced(found.text))
        left_out: tuple[str, ...] = ()
        if asked.transcripts and (place is None or not asked.session):
            left_out = await self._read(asked, matcher, ranking)
        return History(found=ranking.best(limit), left_out=left_out)

    async def _read(self, asked: SearchHistory, matcher: Matcher, ranking: Ranking) -> tuple[str, ...]:
        seconds = min(max(asked.seconds, 0.0), MAX_SECONDS)
        given_up = threading.Event()
        end = self._clock() + seconds
        rested = time.perf_counter()

        def is_over() -> bool:
            nonlocal rested
            if time.perf_counter() - rested >= _AT_A_TIME:
                time.sleep(_REST)
                rested = time.perf_counter()
            return given_up.is_set() or self._clock() >= end

        try:
            async with asyncio.timeout(seconds):
                await self._reading.acquire()
        except TimeoutError:
            return (f"transcripts: another search was reading them for {seconds:g} s",)
        reading = in_thread(partial(_scan, self._profiles(), asked, matcher, ranking, is_over), name="transcripts")
        # However long that one takes, the next one does not begin before.
        reading.add_done_callback(self._has_read)
        try:
            async with asyncio.timeout(max(0.0, end - self._clock()) + _GRACE):
                return await asyncio.shield(reading)
        except TimeoutError:
            return (f"transcripts: their files did not answer in {seconds:g} s",)
        finally:
            given_up.set()

    def _has_read(self, reading: "asyncio.Future[tuple[str, ...]]") -> None:
        self._reading.release()
        if not reading.cancelled():
            reading.exception()


class _Transcript(NamedTuple):
    file: TranscriptFile
    agent: str
    conversation: str


def _scan(
    profiles: Sequence[AgentProfile],
    asked: SearchHistory,
    matcher: Matcher,
    ranking: Ranking,
    is_over: Callable[[], bool],
) -> tuple[str, ...]:
    """Read transcripts until the time is up; describe the parts that were not read."""
    transcripts = [
        _Transcript(file, profile.name, conversation_of(file.path))
        for profile in profiles
        if asked.program in {"", profile.name}
        for file in transcript_files(profile)
    ]
    if asked.session:
        transcripts = [one for one in transcripts if _is_meant(asked.session, one.conversation)]
        if not transcripts:
            raise TargetNotFound(f"{asked.session!r} is no session, nor a conversation that an agent wrote down")
    transcripts = sorted((one for one in transcripts if one.file.at >= asked.since), reverse=True)
    for number, one in enumerate(transcripts):
        for line in lines_from_the_end(one.file.path):
            if is_over():
                return _unread(transcripts[number:], asked.seconds)
            if matcher.may_be_in(line):
                for passage in read_passages(line):
                    _take(one, passage, asked, matcher, ranking)
    return ()


def _take(
    of: _Transcript, passage: TranscriptPassage, asked: SearchHistory, matcher: Matcher, ranking: Ranking
) -> None:
    if passage.at < asked.since or (asked.until and passage.at > asked.until):
        return
    match = matcher.match(passage.text)
    if match is None:
        return
    origin = "program" if passage.speaker == "agent" else "typed"
    path = str(of.file.path)
    found = FoundText(0, 0, passage.at, "", of.conversation, "", 0, of.agent, origin, None, passage.text, "", (), path)
    ranking.take(found, match)


def _is_meant(session: str, conversation: str) -> bool:
    """Return whether an id is that of a conversation; a name of a file may hold its beginning alone."""
    return session == conversation or (len(conversation) >= 8 and session.startswith(conversation))


def _unread(transcripts: Sequence[_Transcript], seconds: float) -> tuple[str, ...]:
    size = sum(one.file.size for one in transcripts)
    last = datetime.fromtimestamp(transcripts[0].file.at, UTC).strftime("%Y-%m-%d")
    files = f"{len(transcripts)} transcript{'s' if len(transcripts) > 1 else ''} of {last} and before"
    return (f"{files} (up to {size / 1e6:.1f} MB) not read to the end in {seconds:g} s",)
