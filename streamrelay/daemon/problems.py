"""Errors on the socket: the client raises the same error that the service raised in the daemon."""

from typing import Any

import msgspec

from streamrelay import errors
from streamrelay.errors import StreamrelayError, error_with_code

DEFECT = "the daemon has a defect; its log says where"
_STATUS: tuple[tuple[type[StreamrelayError], int], ...] = (
    (errors.UsageError, 400),
    (errors.TargetNotFound, 404),
    (errors.PaneGone, 410),
    (errors.CommandTimeout, 504),
    (errors.AnswerTimeout, 504),
    (errors.NoServer, 503),
    (errors.ServerLost, 503),
    (errors.StorageError, 507),
    (errors.TmuxError, 502),
    (errors.RecordingError, 500),
)
_REFUSED = 409


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error as JSON: its `code` (docs/operations.md), message, hint and data."""

    code: str
    message: str
    hint: str = ""
    data: dict[str, Any] = {}


def problem_of(error: StreamrelayError) -> Problem:
    """Return an error as it is sent; data that JSON cannot hold becomes text."""
    data = {key: msgspec.to_builtins(value, enc_hook=str, str_keys=True) for key, value in error.data.items()}
    return Problem(code=error.code, message=error.message, hint=error.hint, data=data)


def error_of(problem: Problem) -> StreamrelayError:
    """Return the error that was sent; an unknown code becomes a StreamrelayError with the text."""
    return error_with_code(problem.code, problem.message, hint=problem.hint, data=problem.data)


def status_of(error: StreamrelayError) -> int:
    """Return the HTTP status of an error: 409 if a pane, session, link or configuration forbids the call."""
    if type(error) is StreamrelayError:
        return 500
    return next((status for kind, status in _STATUS if isinstance(error, kind)), _REFUSED)
