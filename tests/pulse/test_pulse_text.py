"""A pulse as text: what it says, and that it never says more than there is room for."""

import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.pulse.model import (
    Disk,
    HistorySignals,
    MissingSignal,
    PipelineNow,
    Repository,
    SessionNow,
    SystemState,
)
from streamrelay.pulse.pulse import Pulse

NOW = 1_800_000_000.0
PULSE = Pulse(
    at=NOW,
    system=SystemState(
        load=1.25,
        processors=8,
        memory_free=4 * 10**9,
        memory_total=16 * 10**9,
        disks=[
            Disk(folder="/home/ann", free=80 * 10**9, total=500 * 10**9),
            Disk(folder="/data", free=0, total=10**12),
        ],
    ),
    sessions=[
        SessionNow(
            title="Sage", program="claude", state="busy", folder="/home/ann/parser", quiet=130, said="The end\nis near"
        ),
        SessionNow(title="Rex", program="codex", state="idle"),
        SessionNow(title="bash", program="bash", state="idle", quiet=3),
    ],
    repositories=[
        Repository(
            folder="/home/ann/parser",
            branch="talking-piece",
            commits=("Add the \x1b[31mlexer\n", "Begin"),
            newest=NOW - 7200,
        ),
        Repository(folder="/home/ann/empty", branch="main"),
    ],
    pipelines=[
        PipelineNow(name="ci", repository="parser", status=1, output="2 failed\n\n118 passed\n"),
        PipelineNow(name="deploy", output=""),
        PipelineNow(name="lint", status=-9),
    ],
    history=HistorySignals(
        found=7, summary="2026-11-20 claude: the lexer is slow\n* 2026-11-19 codex: the parser is done"
    ),
    keywords=("release", "lexer"),
    missing=[MissingSignal(part="history", why="3 transcripts not read")],
)  # fmt: skip
TEXT = """\
System: load 1.2 on 8 processors, 4.0 of 16.0 GB memory free, /home/ann 80 of 500 GB free
* /data 0 of 1000 GB free
Sessions: 1 busy, 2 idle
* Sage (claude) busy in /home/ann/parser spoke 2 min ago: The end is near
* Rex (codex) idle
* bash idle spoke just now
Repository: parser on talking-piece, last commit 2 h ago
* Add the [31mlexer
* Begin
Repository: empty on main, no commit yet
Pipeline ci of parser: failed (1)
* 2 failed
* 118 passed
Pipeline deploy: ok
Pipeline lint: ended by signal 9
History signals: 7 found for release, lexer
* 2026-11-20 claude: the lexer is slow
* 2026-11-19 codex: the parser is done
Left out:
* history: 3 transcripts not read"""


@pytest.mark.requirement("GAT-06")
def test_everything_is_said_in_one_line_each() -> None:
    assert PULSE.text() == TEXT
    assert PULSE.line() == (
        "load 1.2 on 8 processors, 4.0 of 16.0 GB memory free, /home/ann 80 of 500 GB free; 1 busy, 2 idle; "
        "parser on talking-piece, last commit 2 h ago; empty on main, no commit yet; ci of parser failed (1); "
        "deploy ok; lint ended by signal 9; history: 3 transcripts not read"
    )
    assert Pulse(at=NOW).text() == ""
    assert Pulse(at=NOW).line() == "none"


@pytest.mark.requirement("GAT-06")
def test_what_is_too_much_is_cut_where_there_is_most_and_no_part_vanishes() -> None:
    commits = tuple(f"Commit number {number} " + "which does a lot of things " * 20 for number in range(100))
    much = Pulse(
        at=NOW,
        sessions=PULSE.sessions,
        repositories=[Repository(folder="/x/big", branch="main", commits=commits)],
        history=PULSE.history,
        keywords=PULSE.keywords,
    )
    text = much.text(1_500)
    assert len(text) <= 1_500
    lines = text.splitlines()
    assert lines[:5] == [*TEXT.splitlines()[2:6], "Repository: big on main, no commit yet"]
    shown = sum(line.startswith("* Commit number") for line in lines)
    assert 0 < shown < 100
    assert f"* and {100 - shown} more" in lines
    assert "* 2026-11-20 claude: the lexer is slow" in lines
    assert all(len(line) <= 242 for line in lines)


def test_a_pulse_crosses_a_journal_as_it_is() -> None:
    again = msgspec.json.decode(msgspec.json.encode(PULSE), type=Pulse)
    assert again.text() == TEXT


ANY = st.text(max_size=400)
REPOSITORIES = st.builds(Repository, folder=ANY, branch=ANY, commits=st.lists(ANY, max_size=5), newest=st.just(NOW))
PIPELINES = st.builds(PipelineNow, name=ANY, repository=ANY, status=st.integers(-9, 255), output=ANY)
PULSES = st.builds(
    Pulse,
    at=st.just(NOW),
    sessions=st.lists(st.builds(SessionNow, title=ANY, program=ANY, state=ANY, folder=ANY, said=ANY), max_size=5),
    repositories=st.lists(REPOSITORIES, max_size=3),
    pipelines=st.lists(PIPELINES, max_size=3),
    history=st.none() | st.builds(HistorySignals, found=st.integers(0, 99), summary=ANY, by=st.just("model")),
    keywords=st.lists(ANY, max_size=5),
    missing=st.lists(st.builds(MissingSignal, part=st.just("system"), why=ANY), max_size=3),
)  # fmt: skip


@given(PULSES, st.integers(0, 3_000))
def test_whatever_others_said_stays_on_its_line_and_within_the_room(pulse: Pulse, longest: int) -> None:
    for said in (pulse.text(longest), pulse.line(longest)):
        assert len(said) <= longest
        assert not [one for one in said if one != "\n" and unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    assert "\n" not in pulse.line(longest)
    heads = ("System: ", "Sessions: ", "Repository: ", "Pipeline ", "History signals: ", "Left out:", "* ")
    assert all(line.startswith(heads) for line in pulse.text(100_000).splitlines())
