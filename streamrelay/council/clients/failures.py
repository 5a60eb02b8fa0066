"""The AIError for an SDK's exception, without the vendor's text: that can quote the conversation or the key."""

from http import HTTPStatus

from streamrelay.errors import AIError, AIKeyRefused, AIRequestRefused, AIUnavailable

_LATER = frozenset({408, 409, 425, 429})


def error_for(member: str, status: int | None, kind: str = "") -> AIError:
    """Return the error for an HTTP status, or for a failure without one, named by `kind`."""
    data: dict[str, object] = {"member": member, "status": status}
    if status is None:
        return AIUnavailable(f"{member} cannot be reached ({kind})", data=data)
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "unknown status"
    message = f"{member}: its vendor answers {status} {phrase}"
    if status in {401, 403}:
        return AIKeyRefused(message, data=data)
    if status in _LATER or status >= 500:
        return AIUnavailable(message, data=data)
    return AIRequestRefused(message, data=data)
