"""What is logged of events, and that nothing anybody said is."""

import json
import logging
import os
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from streamrelay.daemon.logs import EventLog, forwarding, open_log
from streamrelay.events import AnyEvent, LinkCreated, LinkExtended, Receipt, RelayDelivered

SAID = "swordfish"
FIELDS = {
    "text", "title", "titles", "command", "speaker", "listeners", "why", "participants", "participant", "traffic",
    "host", "file", "removed", "votes", "session",
}  # fmt: skip


def example(kind: type[Any]) -> Any:
    """An event that has what was said wherever anything that was said could be."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name not in FIELDS:
            if field.required:
                values[field.name] = {int: 1, bool: True}.get(field.type, "x")
            continue
        values[field.name] = {
            "titles": (SAID, SAID), "listeners": (SAID,), "participants": (SAID,), "traffic": {}, "removed": {},
            "votes": (),
        }.get(field.name, SAID)  # fmt: skip
    if kind is LinkCreated:
        values["parties"] = ("%1", "%2")
    return kind(**values)


@pytest.mark.requirement("HIS-03b")
@pytest.mark.parametrize("kind", get_args(AnyEvent), ids=lambda kind: kind.__name__)
def test_no_event_brings_what_was_said_into_the_log(kind: type[Any]) -> None:
    stream = StringIO()
    log = open_log("debug", stream)
    line = EventLog().line(example(kind))
    if line is not None:
        level, name, fields = line
        getattr(log, level)(name, **fields)
    assert SAID not in stream.getvalue()


@pytest.mark.requirement("LNK-01d")
def test_a_link_is_logged_at_info_and_its_deliveries_with_what_remains_at_debug() -> None:
    log = EventLog()
    made = LinkCreated(link="link-1", parties=("%1", "%2"), titles=("Ann", "Bob"), budget=2)
    assert log.line(made) == ("info", "link_created", {"link": "link-1", "parties": ("%1", "%2"), "budget": 2})
    said = RelayDelivered(relay="link-1", message_id="m", speaker="Ann", listeners=("Bob",), text="four")
    first, second = log.line(said), log.line(said)
    assert first is not None
    assert second is not None
    assert (first[0], first[2]["deliveries"], first[2]["remaining"], first[2]["characters"]) == ("debug", 1, 1, 4)
    assert (second[2]["deliveries"], second[2]["remaining"]) == (2, 0)
    log.line(LinkExtended(link="link-1", deliveries=2, budget=5))
    third = log.line(said)
    assert third is not None
    assert third[2]["remaining"] == 2


def test_a_log_is_of_its_level_and_one_json_object_a_line() -> None:
    stream = StringIO()
    log = open_log("info", stream)
    log.debug("hidden")
    log.info("shown", link="a\nb")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["link"] == "a\nb"
    failed = EventLog().line(Receipt(message_id="m", state="failed", reason="needs_human", pane="%1"))
    assert failed is not None
    assert failed[0] == "warning"


@pytest.mark.requirement("NET-04b", "HIS-03b")
@pytest.mark.parametrize("ours", [True, False])
def test_a_warning_of_ours_says_which_node_and_why_and_no_words(*, ours: bool) -> None:
    stream = StringIO()
    logger = logging.getLogger("streamrelay.service.federation" if ours else "elsewhere")
    with forwarding(open_log("info", stream)):
        extra = {"node": "alpha", "peer": "beta", "refused": "forged", "count": 4, "title": SAID}
        logger.warning("refused: %s", SAID, extra=extra)
    (line,) = stream.getvalue().splitlines()
    assert SAID not in line
    expected = {"node": "alpha", "peer": "beta", "refused": "forged", "count": 4} if ours else {}
    assert {name: value for name, value in json.loads(line).items() if name in extra} == expected


@pytest.mark.requirement("OPS-03")
def test_a_log_that_nobody_reads_any_more_ends_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", buffering=1) as stream:
        log = open_log("info", stream)
        log.info("one")
        log.info("another")
        with suppress(BrokenPipeError):
            stream.close()


@pytest.mark.requirement("OPS-03")
def test_a_log_on_a_full_disk_ends_nothing() -> None:
    with Path("/dev/full").open("w") as stream:
        log = open_log("info", stream)
        log.info("one")
        with suppress(OSError):
            stream.close()


def test_libraries_are_told_of_without_their_words() -> None:
    stream = StringIO()
    with forwarding(open_log("info", stream)):
        try:
            raise ValueError(SAID)
        except ValueError:
            logging.getLogger("some.library").exception("it said %s", SAID)
        logging.getLogger("some.library").info("nothing of this")
    (line,) = stream.getvalue().splitlines()
    told = json.loads(line)
    assert (told["logger"], told["error"]) == ("some.library", "ValueError")
    assert "test_daemon_logs.py" in told["where"][0]
    assert SAID not in line
