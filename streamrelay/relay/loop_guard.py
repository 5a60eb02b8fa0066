"""The loop guard of a conversation: an acknowledgement dampener and a hop count. Pure.

Two linked agents would thank each other for ever. So:

* A turn is an *acknowledgement* if it is short, asks nothing, and each of its sentences is a common closing phrase.
  It is a *repetition* if its speaker gave the same text in one of its last turns. Neither has new content.
  `acknowledgements` such turns in a row pass, counted over all participants. Further ones are withheld until a turn
  has new content or a user types.
* An agent's unprompted turn has hop 1. An answer has one hop more than the message it answers: the highest hop that
  was delivered to its speaker. A turn with more than `hops` hops is not delivered. User input resets a pane's hops.

Both rules apply to whole turns only, not to programs that print lines.
"""

import hashlib
import re

import msgspec

MAX_ACKNOWLEDGEMENT_LENGTH = 240
TURNS_REMEMBERED = 4

_PHRASES = (
    r"(?:many |thanks and )?thank(?:s| you)(?: (?:so|very) much| a lot| again)?(?: for .{1,80}| to you(?: too)?)?",
    r"(?:you(?:'re| are) )?(?:most |very )?welcome", r"(?:that's |sounds |all |very )?(?:great|perfect|wonderful|good)",
    r"ok(?:ay)?", r"got it", r"understood", r"acknowledged", r"noted", r"roger(?: that)?", r"will do",
    r"sure(?: thing)?", r"no problem(?: at all)?", r"no worries", r"my pleasure", r"any ?time", r"cheers",
    r"(?:i'm |i am )?(?:always )?(?:happy|glad) (?:to|i could|that|we|it) .{1,60}", r"let me know if .{1,100}",
    r"feel free to .{1,80}", r"good luck(?: with .{1,60})?", r"(?:good)?bye(?: for now)?", r"take care", r"likewise",
    r"have a (?:great|good|nice|wonderful|lovely) .{1,30}", r"same here", r"(?:and )?you too",
    r"(?:i'm |i am |i'll be )?(?:standing by|here if .{1,60}|ready when .{1,40})", r"looking forward to .{1,60}",
    r"(?:i'll |i will )?(?:talk|speak|see)(?: to)?(?: you)? (?:later|soon|then)",
    r"danke(?: schön| dir| sehr)?", r"gern(?: geschehen)?", r"bitte", r"merci(?: beaucoup)?", r"(?:muchas )?gracias",
    r"dank je(?: wel)?", r"graag gedaan",
)  # fmt: skip
_ACKNOWLEDGEMENT = re.compile("|".join(_PHRASES))
_SENTENCES = re.compile(r"[.!,;:\n]+|\s[-–—]\s")
_DECORATION = re.compile(r"[^\w\s'.!?,;:–—-]+")


class LoopGuard(msgspec.Struct):
    """The recent turns and hop counts of a conversation, as plain values."""

    in_a_row: int = 0
    """Turns since the last one with new content."""
    recent: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Digests of each pane's last turns."""
    hops: dict[str, int] = msgspec.field(default_factory=dict)
    """The highest hop delivered to each pane."""

    def begin_anew(self, pane: str | None = None) -> None:
        """Reset after user input: the next turn, in one pane or in all, has hop 1 again."""
        self.in_a_row = 0
        if pane is None:
            self.hops.clear()
        else:
            self.hops.pop(pane, None)

    def hop_of(self, pane: str) -> int:
        """Return the hop of a pane's next turn."""
        return self.hops.get(pane, 0) + 1

    def heard(self, pane: str, hop: int) -> None:
        """Record the hop of a message delivered to a pane."""
        self.hops[pane] = max(hop, self.hops.get(pane, 0))

    def judge(self, pane: str, text: str, phrases: tuple[str, ...] = ()) -> str:
        """Take a turn; return "acknowledgement" or "repetition", or an empty string if it has new content."""
        reduced = _reduced(text)
        said = self.recent.setdefault(pane, [])
        repeats = reduced in said
        said.append(reduced)
        del said[:-TURNS_REMEMBERED]
        acknowledges = is_acknowledgement(text, phrases)
        self.in_a_row = self.in_a_row + 1 if acknowledges or repeats else 0
        return "acknowledgement" if acknowledges else "repetition" if repeats else ""


def is_acknowledgement(text: str, phrases: tuple[str, ...] = ()) -> bool:
    """Tell whether a text consists of closing phrases only; `phrases` are literal additions to the built-in ones."""
    if len(text) > MAX_ACKNOWLEDGEMENT_LENGTH or "?" in text:
        return False
    # Spaces on both sides: a dash at either end divides sentences as one in the middle does.
    plain = _DECORATION.sub(" ", f" {text} ".replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold())
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCES.split(plain)]
    known = {" ".join(phrase.casefold().split()) for phrase in phrases}
    return all(not sentence or sentence in known or _ACKNOWLEDGEMENT.fullmatch(sentence) for sentence in sentences)


def _reduced(text: str) -> str:
    """Return the digest by which turns are compared; the text itself is not stored."""
    return hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=16).hexdigest()
