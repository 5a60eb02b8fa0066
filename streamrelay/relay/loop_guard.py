"""Which turns say nothing new: the acknowledgement dampener and the hop count of a conversation. Pure.

Two agents who hear each other thank each other for ever. So:

* A turn is an *acknowledgement* if it is short, asks nothing, and each of its sentences is one of the phrases people
  close a conversation with. It is a *repetition* if its speaker said the same in one of its last turns. Either says
  nothing new. A few in a row are manners; `acknowledgements` of them pass, whoever says them, and the next do not,
  until somebody says something new or a person types.
* The first thing said of one's own accord has gone one hop; an answer has gone one more than what it answers: the
  farthest that was delivered to its speaker. A turn that has gone more than `hops` is not delivered. What a person
  types into a pane begins anew there.

Both hold for whole turns alone: a program that prints lines has no manners.
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
    """What a conversation has said lately, as plain values."""

    in_a_row: int = 0
    """Turns without news since the last one with some."""
    recent: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """What the last turns of each pane said, as digests."""
    hops: dict[str, int] = msgspec.field(default_factory=dict)
    """How far what each pane heard last had come."""

    def begin_anew(self, pane: str | None = None) -> None:
        """A person has a hand in it: what is said next, in one pane or all, is of one's own accord."""
        self.in_a_row = 0
        if pane is None:
            self.hops.clear()
        else:
            self.hops.pop(pane, None)

    def hop_of(self, pane: str) -> int:
        """Return how far what is said in a pane now has come."""
        return self.hops.get(pane, 0) + 1

    def heard(self, pane: str, hop: int) -> None:
        """Note what was delivered to a pane."""
        self.hops[pane] = max(hop, self.hops.get(pane, 0))

    def judge(self, pane: str, text: str, phrases: tuple[str, ...] = ()) -> str:
        """Take a turn; return what makes it say nothing new, empty if it does say something."""
        reduced = _reduced(text)
        said = self.recent.setdefault(pane, [])
        repeats = reduced in said
        said.append(reduced)
        del said[:-TURNS_REMEMBERED]
        acknowledges = is_acknowledgement(text, phrases)
        self.in_a_row = self.in_a_row + 1 if acknowledges or repeats else 0
        return "acknowledgement" if acknowledges else "repetition" if repeats else ""


def is_acknowledgement(text: str, phrases: tuple[str, ...] = ()) -> bool:
    """Tell whether a text is nothing but thanks and the like; `phrases` are more of them, as literal words."""
    if len(text) > MAX_ACKNOWLEDGEMENT_LENGTH or "?" in text:
        return False
    plain = _DECORATION.sub(" ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold())
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCES.split(plain)]
    known = {" ".join(phrase.casefold().split()) for phrase in phrases}
    return all(not sentence or sentence in known or _ACKNOWLEDGEMENT.fullmatch(sentence) for sentence in sentences)


def _reduced(text: str) -> str:
    """Return what of a text is compared: enough to tell it from any other, and no more than that is kept."""
    return hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=16).hexdigest()
