"""How messages got into the program: how long they were, how soon the Enter came, what came of one in mid-answer."""

from collections.abc import Iterator

from streamrelay.learning.findings import Finding, FoundValue, NoFinding
from streamrelay.learning.observation import Observation

DEFAULT_DELAY = 0.12
MIN_STEP = 0.02
"""Seconds between a delay that failed and one that did not, for that to be the reason."""


def sending(seen: Observation) -> Iterator[Finding]:
    """Yield the findings on delivery and dialogs, and the keys that no recording can show."""
    yield from _limit(seen)
    yield from _delay(seen)
    yield from _mid_turn(seen)
    for need in seen.needs[:1]:
        yield NoFinding(
            "dialogs", f"a {need.kind} dialog was open at {need.t:.3f} s, and is recognised without a pattern"
        )
    if not seen.needs:
        yield NoFinding("dialogs", "this recording shows none that is recognised; look for others yourself")
    yield NoFinding(
        "stop_hook", "no recording shows whether it can be made to tell that a turn is over: its manual may"
    )
    yield NoFinding("transcript", "no recording shows whether it writes its conversation down")


def _limit(seen: Observation) -> Iterator[Finding]:
    taken = [message for message in seen.messages if message.ended is not None]
    if not taken:
        yield NoFinding("delivery.paste_limit", "no message was answered")
        return
    longest = max(taken, key=lambda message: len(message.text))
    rows = longest.text.count("\n") + 1
    why = f"the longest message that was taken, at {longest.pasted:.3f} s; longer ones were not tried"
    if longest.text.isascii() and len(longest.text) >= 1000:
        yield FoundValue("delivery.paste_limit", len(longest.text), why)
    else:
        tried = f"the longest message had {len(longest.text)} characters in {rows} line{'s'[: rows - 1]}, and was taken"
        yield NoFinding("delivery.paste_limit", f"{tried}: no limit was met")


def _delay(seen: Observation) -> Iterator[Finding]:
    sent = [
        (m, m.submitted - m.pasted) for m in seen.messages if m.submitted is not None and not seen.at_work(m.pasted)
    ]
    worked = [delay for message, delay in sent if message.ended is not None]
    failed = [delay for message, delay in sent if message.ended is None]
    if not worked:
        yield NoFinding("delivery.submit_delay", "no message was answered")
        return
    answered = f"{len(worked)} message{'s'[: len(worked) - 1]} answered"
    tried = f"{answered}, their Enter {min(worked):.2f} to {max(worked):.2f} s after the paste"
    if failed and min(worked) > max(failed) + MIN_STEP:
        lost = f"{len(failed)} were not, with {max(failed):.2f} s at most"
        yield FoundValue("delivery.submit_delay", round(min(worked), 2), f"{tried}; {lost}")
    else:
        shorter = "" if min(worked) <= DEFAULT_DELAY else f"; {DEFAULT_DELAY} s, the default, was not tried"
        yield NoFinding("delivery.submit_delay", tried + shorter)


def _mid_turn(seen: Observation) -> Iterator[Finding]:
    for message in seen.messages:
        if not seen.at_work(message.pasted):
            continue
        if all(map(seen.was_answered, seen.messages[: seen.messages.index(message) + 1])):
            yield FoundValue(
                "delivery.mid_turn", "queue", f"the message at {message.pasted:.3f} s, during an answer, got its own"
            )
        else:
            why = f"with the message at {message.pasted:.3f} s, during an answer, not both were answered"
            yield FoundValue("delivery.mid_turn", "hold", why)
        return
    yield NoFinding("delivery.mid_turn", "no message came in mid-answer: hold, the default, is the careful one")
