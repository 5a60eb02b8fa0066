"""The scorer: the events of one recording against the truth that was recorded with it.

Two views of the same text. As *words*, in order: what of the truth came out, and what came out besides. As *lines*:
which came out as one logical line each. A model's Markdown is compared without its markers, since agents render them,
and a line without the decoration that agents put before it.

Only the `text` events of origin `program` count as said; besides them `turn_ended`, for its time, and `gap`.
"""

import difflib
import re
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import msgspec

from benchmarks.lives.painted import painted_since_attach
from streamrelay.events import Event, Gap, Text, TurnEnded
from streamrelay.recordings import open_recording

MODEL_DRIVEN = frozenset({"claude", "codex", "gemini", "qwen", "opencode", "aider", "ink", "textual"})
"""The programs whose truth is what a model streamed, in Markdown, and which have turns to end."""

KEEP_RECORDS = frozenset({"claude", "codex", "gemini", "qwen", "opencode"})
"""The agents that write down what they answered."""

TOLERANCE = 0.05
"""Seconds by which the end of a turn may come before that of the answer: two processes wrote down the two times."""

GRAM = 5
"""Words in a row that make a leak or a duplicate: fewer are there by chance."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_FENCE = re.compile(r"^```.*$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]{5,}\|?\s*$", re.MULTILINE)
_MARKERS = re.compile(r"[*`]")
_DECORATION = re.compile(r"^[\s│┃┆╎|▌▏▎>❯›»*•●⏺✦◆▣○⎿└├╭╰─#-]+")
_NUMBER = re.compile(r"^\d+[.)]?\s+(?=\S)")
_BLANKS = re.compile(r"\s+")


class Answer(msgspec.Struct):
    """What the program said at one time, in seconds of the recording where they are known; no `t1`: it was aborted.

    `t0` is negative for an answer that was under way at the attach.
    """

    text: str | None = None
    t0: float | None = None
    t1: float | None = None
    tool_call: Any = None
    """What of a tool it calls, if it does: then the turn goes on behind it."""


class Injection(msgspec.Struct):
    """What was put into the program, and when."""

    text: str | None = None
    t: float = 0.0
    t_enter: float | None = None
    mode: str = ""


class Truth(msgspec.Struct):
    """The part of a recording's meta.json that says what there was to hear."""

    program: str
    truth: list[Answer]
    injected: list[Injection]
    unpainted: list[str] = []
    stood: dict[str, str] = {}
    """The lines that stood on the screen at the attach, whole or begun, and what of each was painted later."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read it from the folder of a recording."""
        truth = msgspec.json.decode((folder / "meta.json").read_bytes(), type=cls)
        under_way = [answer.text or "" for answer in truth.truth if (answer.t0 or 0) < 0 < (answer.t1 or 0)]
        if truth.model_driven and under_way:
            lines = [line for text in under_way for line in text.split("\n")]
            truth.stood = painted_since_attach(open_recording(folder), lines)
        return truth

    @property
    def model_driven(self) -> bool:
        """Whether a model said it."""
        return self._name in MODEL_DRIVEN

    @property
    def _name(self) -> str:
        """The program without its renderer and version: `claude` for `claude197_fullscreen`."""
        return self.program.partition("_")[0].rstrip("0123456789")

    @property
    def checkable(self) -> bool:
        """Whether anything is known of what was said."""
        return any(answer.text for answer in self.truth)

    @property
    def answers(self) -> list[Answer]:
        """The answers that are known, were not aborted, and were not over when the listening began, at 0."""
        return [
            answer
            for answer in self.truth
            if answer.text and not _is_broken_off(answer) and (answer.t1 is None or answer.t1 >= 0)
        ]

    @property
    def due_or_broken_off(self) -> list[Answer]:
        """The same, and the answers that their clients broke off, in their order."""
        due = self.answers
        return [answer for answer in self.truth if answer in due or _is_broken_off(answer)]

    @property
    def broken_off(self) -> bool:
        """Whether any answer was broken off."""
        return any(map(_is_broken_off, self.truth))

    @property
    def agent(self) -> str:
        """The name of the profile of an agent that keeps a record of its answers; empty for other programs."""
        return self._name if self._name in KEEP_RECORDS else ""


def _is_broken_off(answer: Answer) -> bool:
    return bool(answer.text and answer.t0 and not answer.t1)


class Score(msgspec.Struct, frozen=True):
    """The figures of one recording; those of nothing heard by default."""

    recall: float = 0.0
    """Share of the words of the truth that came out, in order."""
    noise: int = 0
    """Words that came out and are not truth, or are truth out of order or once more."""
    leak: float = 0.0
    """Share of the 5-grams of injected text that came out among the noise."""
    dup: int = 0
    """5-grams of the truth among the noise."""
    lines: float = 0.0
    """Share of the lines of the truth that came out as one line each."""
    source_lines: int = 0
    """Lines of an agent that keeps a record that came out as their source, Markdown included."""
    truth_lines: int = 0
    truth_words: int = 0
    output_words: int = 0
    gaps: int = 0
    end_lag: float | None = None
    """Seconds from the end of an answer to the next end of a turn, median; None where no answer has a time."""
    ends_missing: int = 0
    """Answers after which no turn ended."""
    early_ends: int = 0
    """Ends of turns while an answer was still coming."""
    gap_missing: bool = False
    """Whether a line of an answer that is due was never painted, and no gap says so."""


def score(truth: Truth, events: Sequence[Event]) -> Score:
    """Judge the events of one recording."""
    texts = [event for event in events if isinstance(event, Text) and event.origin == "program"]
    said = [event.text for event in texts]
    shown = _shown(texts)
    left_out = dict.fromkeys(truth.unpainted)
    due = _words("\n".join(_sources(truth, truth.answers, {**truth.stood, **left_out})))
    # What was broken off, never painted whole, or stood there at the attach, is not due, and is no noise.
    expected, output = _words("\n".join(_sources(truth, truth.due_or_broken_off))), _words("\n".join(shown))
    hits, stretches = _aligned(expected, output)
    if due != expected:
        hits, _ = _aligned(due, output)
    injected = _words("\n".join(injection.text or "" for injection in truth.injected))
    size = min(GRAM, max(1, len(injected)))
    # A stretch of noise is one between two places that matched: no gram reaches over such a place.
    noise_grams = Counter(gram for stretch in stretches for gram in _grams(stretch, size))
    injected_grams = Counter(_grams(injected, size))
    leaked = sum(count for gram, count in noise_grams.items() if gram in injected_grams)
    expected_grams = set(_grams(expected, size))
    gaps = sum(isinstance(event, Gap) for event in events)
    answers = truth.answers if truth.agent else []
    source = Counter(line.rstrip() for answer in answers for line in (answer.text or "").split("\n") if line.strip())
    end_lag, ends_missing, early_ends = _ends(truth, [event.t for event in events if isinstance(event, TurnEnded)])
    return Score(
        recall=hits / max(1, len(due)),
        noise=sum(map(len, stretches)),
        leak=leaked / max(1, injected_grams.total()),
        dup=sum(count for gram, count in noise_grams.items() if gram in expected_grams),
        lines=_exact_lines(_sources(truth, truth.answers, dict.fromkeys(truth.stood) | left_out), shown),
        source_lines=(source & Counter(line.rstrip() for text in said for line in text.split("\n"))).total(),
        truth_lines=source.total(),
        truth_words=len(due),
        output_words=len(output),
        gaps=gaps,
        end_lag=end_lag,
        ends_missing=ends_missing,
        early_ends=early_ends,
        gap_missing=not (gaps or {*truth.unpainted}.isdisjoint(_lines(truth.answers))),
    )


def _lines(answers: Iterable[Answer]) -> Iterator[str]:
    return (line for answer in answers for line in (answer.text or "").split("\n"))


def _sources(
    truth: Truth, answers: Iterable[Answer], due: Mapping[str, str | None] = MappingProxyType({})
) -> list[str]:
    """Return each answer without Markdown; `due` maps lines to what of them is due, None if nothing is."""
    lines = ([due.get(line, line) for line in _lines([answer])] for answer in answers)
    shown = ("\n".join(line for line in of_answer if line is not None) for of_answer in lines)
    return [_plain(text) for text in shown] if truth.model_driven else [*shown]


def _shown(texts: Iterable[Text]) -> list[str]:
    """Return the published texts; those that come from an agent's own record without their Markdown."""
    return [_plain(event.text) if {*event.witnesses} - {"screen"} else event.text for event in texts]


def _plain(markdown: str) -> str:
    """Take the markers out of Markdown: fences, rules of tables, emphasis, code, cell borders."""
    text = _TABLE_RULE.sub("", _FENCE.sub("", markdown))
    return _MARKERS.sub("", text).replace("|", " ")


def _words(text: str) -> list[str]:
    """Split into words; every Chinese, Japanese or Korean character is one."""
    return _WORD.findall(unicodedata.normalize("NFC", text))


def _grams(words: Sequence[str], size: int) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _aligned(expected: Sequence[str], output: Sequence[str]) -> tuple[int, list[list[str]]]:
    """Align both; return how many words match, and the stretches of output between the matches."""
    hits, end, stretches = 0, 0, []
    for match in difflib.SequenceMatcher(None, expected, output, autojunk=False).get_matching_blocks():
        hits += match.size
        stretches.append([*output[end : match.b]])
        end = match.b + match.size
    return hits, stretches


def _canonical(line: str) -> str:
    """Reduce a line to what it says: without decoration, Markdown, the number of a list item, doubled blanks."""
    plain = _MARKERS.sub("", _DECORATION.sub("", line))
    return _BLANKS.sub(" ", _NUMBER.sub("", plain)).strip()


def _exact_lines(sources: Iterable[str], said: Iterable[str]) -> float:
    expected = Counter(filter(None, (_canonical(line) for source in sources for line in source.split("\n"))))
    got = Counter(_canonical(line) for text in said for line in text.split("\n"))
    return (expected & got).total() / max(1, expected.total())


def _ends(truth: Truth, times: Iterable[float]) -> tuple[float | None, int, int]:
    """Return the median lag of the ends, how many are missing, how many came early."""
    ends = sorted(times)
    finished = [(answer.t0, answer.t1) for answer in truth.answers if answer.t1]
    after = [next((end for end in ends if end >= t1 - TOLERANCE), None) for _, t1 in finished]
    lags = [end - t1 for (_, t1), end in zip(finished, after, strict=True) if end is not None]
    lag = statistics.median(lags) if lags else None
    if not truth.model_driven:
        return lag, 0, 0
    early = sum(t0 < end < t1 - TOLERANCE for t0, t1 in finished if t0 for end in ends)
    return lag, len(finished) - len(lags), early
