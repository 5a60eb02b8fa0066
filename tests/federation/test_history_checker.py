"""The checker of histories finds each planted violation, and nothing in a good history. It knows no federation."""

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.history_checker import check, read_histories

CHECKER = Path(__file__).parents[1] / "history_checker"
Records = list[dict[str, str]]


def good() -> list[Records]:
    """Ann on alpha and Bob on beta each say ten things in one channel; Carl on beta listens."""
    alpha: Records = [{"event": "joined", "channel": "relay-1", "who": "Ann"}]
    beta: Records = [{"event": "joined", "channel": "relay-1", "who": name} for name in ("Bob", "Carl")]
    for number in range(10):
        for speaker in ("Ann", "Bob"):
            text = f"{speaker} {number}"
            (alpha if speaker == "Ann" else beta).append(
                {"event": "said", "channel": "relay-1", "who": speaker, "text": text}
            )
            for listener in {"Ann", "Bob", "Carl"} - {speaker}:
                heard = {"event": "heard", "channel": "relay-1", "who": listener, "from": speaker, "text": text}
                (alpha if listener == "Ann" else beta).append(heard)
    return [alpha, beta]


def heard_by_ann(records: Records) -> list[int]:
    return [place for place, record in enumerate(records) if record["event"] == "heard"]


def drop(records: Records) -> None:
    del records[heard_by_ann(records)[4]]


def double(records: Records) -> None:
    records.append(records[heard_by_ann(records)[4]])


def swap(records: Records) -> None:
    first, second = heard_by_ann(records)[4:6]
    records[first], records[second] = records[second], records[first]


def rename(records: Records) -> None:
    records[heard_by_ann(records)[4]]["from"] = "Carl"


def invent(records: Records) -> None:
    records.append({"event": "heard", "channel": "relay-1", "who": "Ann", "from": "Bob", "text": "never said"})


def echo(records: Records) -> None:
    records.append({"event": "heard", "channel": "relay-1", "who": "Ann", "from": "Ann", "text": "Ann 3"})


@pytest.mark.requirement("NET-07")
def test_a_good_history_is_good() -> None:
    verdict = check(good())
    assert (verdict.said, verdict.heard, verdict.findings) == (20, 40, [])
    assert str(verdict) == "20 said, 40 heard: nothing wrong"


@pytest.mark.requirement("NET-07")
@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (drop, "lost"),
        (double, "doubled"),
        (swap, "reordered"),
        (rename, "misattributed"),
        (invent, "invented"),
        (echo, "echoed"),
    ],
)
def test_each_planted_violation_is_found_and_nothing_else(plant: Callable[[Records], None], kind: str) -> None:
    histories = good()
    plant(histories[0])
    verdict = check(histories)
    assert verdict.counts == {kind: 1}
    assert verdict.findings[0].listener == "Ann"


@pytest.mark.requirement("NET-07")
def test_what_crosses_into_another_channel_is_misattributed() -> None:
    histories = good()
    place = heard_by_ann(histories[0])[4]
    histories[0][place]["channel"] = "relay-2"
    assert set(check(histories).counts) == {"misattributed", "lost"}


def test_a_text_on_its_way_at_the_end_may_be_unheard_but_not_doubled() -> None:
    history: Records = [{"event": "joined", "channel": "c", "who": name} for name in ("Ann", "Bob")]
    history.append({"event": "said", "channel": "c", "who": "Ann", "text": "bye", "due": "no"})
    heard = {"event": "heard", "channel": "c", "who": "Bob", "from": "Ann", "text": "bye"}
    assert not check([history]).findings
    assert check([[*history, heard, heard]]).counts == {"doubled": 1}


def test_a_text_that_is_said_twice_cannot_be_judged() -> None:
    histories = good()
    histories[0].append({"event": "said", "channel": "relay-1", "who": "Ann", "text": "Ann 0"})
    with pytest.raises(ValueError, match="said twice"):
        check(histories)


def test_histories_are_read_from_files(tmp_path: Path) -> None:
    for name, records in zip(("alpha", "beta"), good(), strict=True):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert read_histories(tmp_path) == good()


def test_the_checker_shares_no_code_with_what_it_judges() -> None:
    for path in CHECKER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("streamrelay")]
