"""The daemon's log: one JSON object a line on standard error, without any text of a session.

The log writes only the fields named here, so no text, title, path or message of a program reaches it. For a defect it
writes the class of the error and the places in the code, because error messages quote their subject. Ids of sessions,
messages and links reveal nothing. Only the error that ends the daemon is written whole, for the user who starts it.
"""

import logging
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TextIO, cast

import structlog
import structlog.typing

from streamrelay.events import (
    AnyEvent,
    Gap,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    NeedsHuman,
    Receipt,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayOpened,
    RelayPaused,
    RelayWithheld,
    StopNotified,
)
from streamrelay.links.link import Link

Level = Literal["debug", "info", "warning", "error"]
Line = tuple[Level, str, dict[str, object]]


def open_log(level: Level, stream: TextIO | None = None) -> structlog.typing.FilteringBoundLogger:
    """Return a log for that level and the ones above, to `stream` or standard error."""
    log: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(cast(TextIO, _Expendable(stream or sys.stderr))),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    return log


class _Expendable:
    """A log whose reader or disk may be gone; failing writes are ignored."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


@contextmanager
def forwarding(log: structlog.typing.FilteringBoundLogger) -> Iterator[None]:
    """Forward the warnings of all libraries to the log inside the context."""
    handler = Forward(log)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


FIELDS = ("node", "peer", "problem", "refused", "count", "lost")
"""What records of streamrelay's own loggers may add (`extra`): names of nodes and reasons, never what anybody said."""


class Forward(logging.Handler):
    """Forwards the records of `logging` to the log: logger, level, the place of an error, and the `FIELDS` of our own.

    It drops the message, which may quote a request.
    """

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        error = record.exc_info[1] if record.exc_info else None
        told: dict[str, object] = {}
        if error is not None:
            told |= {"error": type(error).__name__, "where": where(error)}
        if record.name.startswith("streamrelay."):
            told |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        self._log.log(record.levelno, "library", logger=record.name, line=f"{record.module}:{record.lineno}", **told)


def where(error: BaseException) -> list[str]:
    """Return the places that an error passed through, outermost first, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename.rpartition('site-packages/')[2]}:{frame.lineno} {frame.name}" for frame in frames]


class EventLog:
    """Turns events into log lines; counts the deliveries of each link."""

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self._links = {link.link_id: [link.deliveries, link.relay.state.budget] for link in links}

    def line(self, event: AnyEvent) -> Line | None:
        """Return level, name and fields; None for an event that is not logged."""
        match event:
            case LinkCreated():
                self._links[event.link] = [0, event.budget]
                return "info", "link_created", {"link": event.link, "parties": event.parties, "budget": event.budget}
            case RelayDelivered():
                return "debug", "delivered", self._delivered(event)
            case LinkSpent():
                return "info", "link_spent", {"link": event.link, "deliveries": event.deliveries}
            case LinkExtended():
                self._links[event.link] = [event.deliveries, event.budget]
                return "info", "link_extended", {"link": event.link, "budget": event.budget}
            case LinkSuspended():
                return "info", "link_suspended", {"link": event.link, "by": event.by}
            case LinkClosed():
                self._links.pop(event.link, None)
                fields = {"link": event.link, "reason": event.reason, "by": event.by, "deliveries": event.deliveries}
                return "info", "link_closed", fields
            case StopNotified():
                return "info", "stop_told", {"caller": event.caller, "target": event.target, "reason": event.reason}
            case _:
                return _other(event)

    def _delivered(self, event: RelayDelivered) -> dict[str, object]:
        fields: dict[str, object] = {
            "relay": event.relay, "message_id": event.message_id, "listeners": len(event.listeners),
            "characters": len(event.text),
        }  # fmt: skip
        if (count := self._links.get(event.relay)) is not None:
            count[0] += 1
            fields |= {"deliveries": count[0], "remaining": count[1] - count[0] if count[1] else None}
        return fields


def _other(event: AnyEvent) -> Line | None:
    match event:
        case RelayOpened():
            return "info", "relay_opened", {"relay": event.relay, "participants": len(event.participants)}
        case RelayPaused():
            return "info", "relay_paused", {"relay": event.relay, "paused": event.paused, "waiting": event.waiting}
        case RelayLeft():
            return "info", "relay_left", {"relay": event.relay, "reason": event.reason, "remaining": event.remaining}
        case RelayClosed():
            fields: dict[str, Any] = {"relay": event.relay, "reason": event.reason, "deliveries": event.deliveries}
            return "info", "relay_closed", fields
        case RelayWithheld():
            return "debug", "withheld", {"relay": event.relay, "reason": event.reason, "count": event.count}
        case Receipt(state="failed" | "unconfirmed"):
            return "warning", "not_delivered", _receipt(event) | {"reason": event.reason}
        case Receipt():
            return "debug", "receipt", _receipt(event)
        case NeedsHuman():
            return "info", "needs_human", {"pane": event.pane, "kind": event.kind}
        case Gap():
            return "warning", "gap", {"pane": event.pane, "reason": event.reason, "lost_events": event.lost_events}
        case _:
            return None


def _receipt(event: Receipt) -> dict[str, object]:
    return {"message_id": event.message_id, "pane": event.pane, "state": event.state}
