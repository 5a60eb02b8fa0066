"""Text that no encoding has: half of a surrogate pair, as in an emoji cut in two or an argument that is not UTF-8.

It cannot be written down, so it is refused where it comes in, before anything follows from it.
"""

import msgspec

from streamrelay.errors import UsageError


def check_encodes(*given: object) -> None:
    """Raise UsageError where any text in structs, or a text, holds half of a surrogate pair."""
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise UsageError(
            f"U+{half:04X} is no character", hint="send whole characters, as UTF-8", data={"code_point": half}
        ) from error
