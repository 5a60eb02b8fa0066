"""The prompts of a gathering: templates, and the values of their fields. Pure.

Each template is a Markdown file of its name (`streamrelay.gathering.library`), which a user can replace. Inserted
values are never read as templates.

| template | when, to whom | fields, besides the common ones |
|---|---|---|
| `seed` | at the beginning, to each | `part`, `circle`, `pulse`, `trail`, `about` |
| `speaker`, `harvester` | the `part` of a seed | none |
| `phase`, `close` | with each round, and at the close, to all | none |
| `turn` | with the piece, to the speaker | `since` |
| `beat` | at every beat but the last, to the speaker | `beat`, `signals` |
| `last_words` | at the last beat, to the speaker | none |
| `harvest` | at the close, to the harvester, before the whole conversation | none |
| `inhale`, `hold`, `exhale` | the `ask` of a phase | none |

`{phase}`, `{PHASE}`, `{round}`, `{rounds}` and `{ask}` belong to the current or beginning phase. The common fields are
`{gathering}`, `{previous}`, `{rhythm}`, `{structure}`, `{inhale}`, `{hold}`, `{exhale}` (rounds), `{ask_inhale}`,
`{ask_hold}`, `{ask_exhale}`, `{beats}`, `{interval}`, `{question}`, `{harvester}`, and the recipient's `{name}` and
`{number}`.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from streamrelay.gathering.members import Member, harvester, speakers
from streamrelay.gathering.plan import BREATH, Phase, Plan, counted
from streamrelay.relay.attribution import filled


class PromptTexts(msgspec.Struct, frozen=True, kw_only=True):
    """All templates."""

    seed: str
    speaker: str
    harvester: str
    phase: str
    close: str
    turn: str
    beat: str
    last_words: str
    harvest: str
    inhale: str
    hold: str
    exhale: str

    def check(self) -> None:
        """Raise UsageError for a template with an unknown field."""
        for name in self.__struct_fields__:
            check_template(name, getattr(self, name))


_OWN_FIELDS: Mapping[str, tuple[str, ...]] = {
    "seed": ("part", "circle", "pulse", "trail", "about", "name", "number"),
    "speaker": ("name", "number"),
    "harvester": ("name", "number"),
    "turn": ("since", "name", "number"),
    "beat": ("beat", "signals", "name", "number"),
    "last_words": ("name", "number"),
    "harvest": ("name", "number"),
}
_OF_A_PHASE = ("phase", "PHASE", "round", "rounds", "ask")
_OF_ALL = (
    "gathering", "previous", "rhythm", "structure", "inhale", "hold", "exhale", "ask_inhale", "ask_hold", "ask_exhale",
    "beats", "interval", "question", "harvester",
)  # fmt: skip
_ASKS = ("inhale", "hold", "exhale")


def check_template(name: str, template: str) -> None:
    """Raise UsageError if the template of that name has an unknown field."""
    fields = () if name in _ASKS else (*_OWN_FIELDS.get(name, ()), *_OF_A_PHASE, *_OF_ALL)
    filled(template, **dict.fromkeys(fields, ""))


class GatheringPrompts:
    """The prompts of one gathering."""

    def __init__(self, gathering: str, plan: Plan, members: Sequence[Member], texts: PromptTexts) -> None:
        """Take the texts; raises UsageError for a template with an unknown field."""
        texts.check()
        self._texts = texts
        self._members = members
        self._plan = plan
        breath = plan.breath
        self._common: dict[str, object] = {
            "gathering": gathering,
            "previous": plan.previous or "none of its kind",
            "rhythm": plan.rhythm,
            "structure": str(breath),
            **{phase: counted(breath.rounds(phase), "round") for phase in BREATH},
            **{f"ask_{phase}": self._ask(phase) for phase in BREATH},
            "beats": counted(plan.beats_per_turn, "beat"),
            "interval": f"{plan.beat_interval_seconds:g} seconds",
            "question": plan.question,
            "harvester": harvester(members).label,
        }

    def seed(self, member: Member, pulse: str) -> str:
        """Return the first prompt for a member."""
        text = self._fill(
            self._texts.seed, member,
            part=self._fill(getattr(self._texts, member.role), member),
            circle=self._circle(),
            about=self._plan.about,
            trail=self._plan.trail or "Nothing yet: this is the first one.",
            pulse=pulse.strip() or "Nothing was gathered.",
        )  # fmt: skip
        return re.sub(r"\n{3,}", "\n\n", text)

    def announcement(self, phase: Phase, number: int) -> str:
        """Return the announcement of a round to all members."""
        return self._fill(self._texts.close if phase == "close" else self._texts.phase, None, phase, number)

    def turn(self, member: Member, phase: Phase, number: int, since: str) -> str:
        """Return the prompt that gives a speaker the piece."""
        return self._fill(self._texts.turn, member, phase, number, since=since)

    def beat(self, member: Member, phase: Phase, number: int, beat: int, signals: str) -> str:
        """Return the prompt for a beat; `beats` is a number here."""
        return self._fill(
            self._texts.beat, member, phase, number, beat=beat, beats=self._plan.beats_per_turn, signals=signals
        )

    def last_words(self, member: Member, phase: Phase, number: int) -> str:
        """Return the prompt for the last beat."""
        return self._fill(self._texts.last_words, member, phase, number)

    def harvest(self, member: Member) -> str:
        """Return the harvester's prompt at the close; the whole conversation follows it."""
        return self._fill(self._texts.harvest, member, "close", 1)

    def _ask(self, phase: Phase) -> str:
        return "" if phase == "close" else str(getattr(self._texts, phase)).strip()

    def _fill(
        self, template: str, member: Member | None, phase: Phase = "inhale", number: int = 1, **own: object
    ) -> str:
        place: dict[str, object] = {
            "phase": phase,
            "PHASE": phase.upper(),
            "round": number,
            "rounds": self._plan.breath.rounds(phase),
            "ask": self._ask(phase),
        }
        who = {} if member is None else {"name": member.name, "number": member.number}
        return filled(template.strip("\n"), **{**self._common, **place, **who, **own})

    def _circle(self) -> str:
        order = speakers(self._members)
        lines = [f"{member.label}, speaker{_person(member)}" for member in order]
        last = harvester(self._members)
        return "\n".join([*lines, f"{last.label}, harvester{_person(last)}: holds no piece"])


def _person(member: Member) -> str:
    return ", a person" if member.is_human else ""
