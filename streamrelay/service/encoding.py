"""Checks for text that cannot be encoded: half of a surrogate pair, from a split emoji or an argument in bad UTF-8.

Such text cannot be stored, so the service refuses it before it does anything else.
"""

import msgspec

from streamrelay.errors import UsageError


def check_encodes(*given: object) -> None:
    """Raise UsageError if a text, or any text inside a struct, contains half of a surrogate pair."""
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise UsageError(
            f"U+{half:04X} is not a character", hint="send whole characters, as UTF-8", data={"code_point": half}
        ) from error
