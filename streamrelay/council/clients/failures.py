"""What an SDK raised, as one of ours. No text of the vendor's goes in: it can quote the conversation, or the key."""

from http import HTTPStatus

from streamrelay.errors import AIError, AIKeyRefused, AIRequestRefused, AIUnavailable

_LATER = frozenset({408, 409, 425, 429})


def failure(member: str, status: int | None, kind: str = "") -> AIError:
    """Return the error for an HTTP status, or for what went wrong without one, of which `kind` is the name."""
    data: dict[str, object] = {"member": member, "status": status}
    if status is None:
        return AIUnavailable(f"{member} cannot be reached ({kind})", data=data)
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "unknown status"
    said = f"{member}: its vendor answers {status} {phrase}"
    if status in {401, 403}:
        return AIKeyRefused(said, data=data)
    if status in _LATER or status >= 500:
        return AIUnavailable(said, data=data)
    return AIRequestRefused(said, data=data)
