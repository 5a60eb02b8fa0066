"""What a command needs that the base installation does not have."""

import contextlib
from collections.abc import Iterator

from streamrelay.errors import UsageError


@contextlib.contextmanager
def needed_by(what: str, extras: str) -> Iterator[None]:
    """Say what to install where a package that is imported meanwhile is not there: `what` is who needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{what} needs the package {error.name}", hint=f"pip install 'streamrelay[{extras}]'"
        ) from error
