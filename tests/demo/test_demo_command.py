"""The demonstration: exit 0 only if the conversation took place as expected, and nothing left behind."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from streamrelay.demo import duet, stage
from streamrelay.demo.programs import LOG_LINES, build_lines
from streamrelay.demo.stage import Outcome
from streamrelay.events import Event, LinkClosed, LinkSpent, Receipt, RelayDelivered
from streamrelay.testing.agent import LogEntry
from streamrelay.testing.participant import ParticipantRecord

COMMAND = Path(sys.executable).with_name("streamrelay")


@pytest.mark.tmux
@pytest.mark.requirement("OPS-02a", "OPS-01a")
def test_it_runs_the_main_job_and_shows_what_it_counted(tmp_path):
    done = subprocess.run([COMMAND, "demo"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for line in build_lines():
        assert lines.count(f"shell │ {line}") == 1
    assert sum(line.startswith("  log │ ") for line in lines) == LOG_LINES
    assert sum("You said: " in line and line.endswith("(a quote, and kept)") for line in lines) >= 2
    assert lines[-1].startswith("As expected:")
    table = dict(line.split("  ", 1) for line in lines[lines.index("") + 1 : -2])
    assert int(table["echoed lines suppressed"]) > 10
    assert int(table["quotes kept"]) > 2
    assert int(table["deliveries of the link, each with its receipts"]) == duet.BUDGET
    linked = [line.removeprefix(" link │ ") for line in lines if line.startswith(" link │ ")]
    receipts = [line for line in linked if line.startswith("delivery ") and "pasted" in line]
    assert [line.split(":")[0] for line in receipts] == [
        f"delivery {number} of 4, to {'Cleo' if number % 2 == 0 else 'Dan'}" for number in range(1, 5)
    ]
    assert all(line.endswith("submitted > turn_started > answered") for line in receipts)
    assert linked.count("the budget is spent after 4 deliveries, and both get a notice") == 1
    for name, texts in duet.ANSWERS.items():
        for line in "\n".join(texts[:2]).split("\n"):
            assert not line or lines.count(f"{name:>5} │ {line}") == 1
    assert "median" in table["line printed -> stream"]
    assert "median" in table["line printed -> polling capture_pane (libtmux, 1 Hz)"]


class FakeStage:
    """What the judge looks at: the panes' names and the participants' own logs."""

    shell, log, ann, bob = "%0", "%1", "%2", "%3"

    def __init__(self, **logs):
        self._logs = logs

    def log_of(self, name):
        return [ParticipantRecord(0.0, kind, text) for kind, text in self._logs[name]]


def judged(*, lost=False, echoed=False, log_lines=LOG_LINES):
    ann = [f"message {n} from Ann" for n in range(1, 12, 2)]
    bob = [f"message {n} from Bob" for n in range(2, 13, 2)]
    bob.insert(0, "You said: message 1 from Ann")
    heard = ann[:-1] if lost else ann
    stage_ = FakeStage(
        Ann=[("said", t) for t in ann] + [("heard", t) for t in bob],
        Bob=[("said", t) for t in bob] + [("heard", t) for t in heard],
    )
    said = {
        "%0": build_lines(),
        "%1": [f"INFO request {n} served t={n}.000000" for n in range(1, log_lines + 1)],
        "%2": [*ann, "> Bob (2):"] if echoed else ann,
        "%3": bob,
    }
    outcome = Outcome()
    stage._judge(stage_, outcome, said)
    return outcome.failures


def test_the_judge_accepts_what_is_as_expected():
    assert judged() == []


@pytest.mark.parametrize("flaw", [{"lost": True}, {"echoed": True}, {"log_lines": LOG_LINES - 1}])
def test_the_judge_sees_every_kind_of_flaw(flaw):
    assert judged(**flaw)


class FakeTmux:
    """Gives panes their names, and runs nothing."""

    def new_session(self, name: str, _words: Sequence[str]) -> str:
        return f"%{name}"


def linked(folder: Path, *, lost: bool = False, missing: str = "", budget: int = duet.BUDGET) -> list[str]:
    """What the judge says of two agents whose logs and receipts are these."""
    judged_duet = duet.Duet(FakeTmux(), folder, lambda *_: None)
    got: dict[str, list[LogEntry]] = {name: [] for name in duet.ANSWERS}
    events: list[Event] = []
    for number in range(budget):
        speaker, listener = (duet.FIRST, duet.SECOND) if number % 2 == 0 else (duet.SECOND, duet.FIRST)
        text = duet.ANSWERS[speaker][number // 2]
        got[speaker].append(LogEntry("said", text))
        got[listener].append(
            LogEntry("message", f"[From {speaker}] {text}{' and more' if lost and number == 2 else ''}")
        )
        events.append(
            RelayDelivered(relay="l", message_id=f"l-{number}", speaker=speaker, listeners=(listener,), text=text)
        )
        events += [
            Receipt(message_id=f"l-{number}", pane=f"%{listener}", state=state)
            for state in duet.RECEIPTS
            if state != missing
        ]
    for name, records in got.items():
        notice = LogEntry("message", "[streamrelay] The link is spent")
        (folder / f"{name}.log").write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in [*records, notice]))
    events += [LinkSpent(link="l", deliveries=budget), LinkClosed(link="l", by="", reason="spent", deliveries=budget)]
    for event in events:
        judged_duet._hear(event)
    return judged_duet.judge()


def test_the_judge_accepts_a_link_that_went_as_expected(tmp_path: Path) -> None:
    assert linked(tmp_path) == []


@pytest.mark.parametrize("flaw", [{"lost": True}, {"missing": "answered"}, {"budget": 3}])
def test_the_judge_sees_every_flaw_of_a_link(tmp_path: Path, flaw: dict[str, object]) -> None:
    assert linked(tmp_path, **flaw)
