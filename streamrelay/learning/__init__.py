"""Learn a profile from a recording of a program that has none.

    proposal = learn(open_recording(path), name="sprite", source="sprite/two")
    proposal.text       # the TOML of a profile, with its evidence
    proposal.proof      # what has to hold: the rows its patterns match, and what a replay with it says

A proposal reflects one recording; read it before using it. The engine works without a profile, so `learn` leaves out a
finding that makes anything worse on its own recording, and the profile says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from streamrelay.agents.patterns import PatternError, compile_pattern
from streamrelay.agents.profile import AgentProfile, parse_profile
from streamrelay.errors import RecordingError
from streamrelay.learning.busy_rows import fading
from streamrelay.learning.composer import composing
from streamrelay.learning.delivery import sending
from streamrelay.learning.findings import Finding, FoundValue, NoFinding
from streamrelay.learning.observation import Observation, observe
from streamrelay.learning.profile_writer import write_profile
from streamrelay.learning.proof import ReplayResult, hear
from streamrelay.learning.recognition import name_of, recognition
from streamrelay.learning.states import states
from streamrelay.recordings.model import Recording

__all__ = ["Proof", "Proposal", "learn", "prove"]


_READ: Final = ("state.", "screen.")
"""Keys that change the events of a replay."""


class Proof(msgspec.Struct, frozen=True):
    """The proof of a profile: its patterns match these rows, and a replay of the recording gives these events."""

    recording: str
    rows: dict[str, str]
    """By the place of a pattern in the profile, the row it was made from."""
    without: ReplayResult
    """What is heard without a profile."""
    with_profile: ReplayResult


@dataclass(frozen=True, slots=True)
class Proposal:
    """A profile that was learnt, the text of its file, and its proof."""

    profile: AgentProfile
    proof: Proof

    @property
    def text(self) -> str:
        """The TOML file."""
        return self.profile.text


def learn(
    recording: Recording, *, name: str, source: str, title: str | None = None, command: str | None = None
) -> Proposal:
    """Propose a profile called `name` from a recording, which its evidence calls `source`.

    `title` and `command` are the program's, if the user knows them. Raises RecordingError if the
    recording has no sign by which to recognise the program.
    """
    seen = observe(recording)
    findings = [_compiled(f) for f in (*recognition(seen, command=command), *states(seen), *fading(seen))]
    findings += [_compiled(f) for f in (*composing(seen), *sending(seen))]
    if not any(isinstance(f, FoundValue) and f.key in {"recognise.commands", "recognise.signs"} for f in findings):
        raise RecordingError(
            f"{source} has no sign of its program: no command, title, state or banner of its own",
            hint="name its command: --command NAME; or record it from its start, to catch its banner or title",
        )
    called = title or name_of(seen) or name

    def parsed(kept: list[Finding]) -> AgentProfile:
        text = write_profile(called, source, _about(seen), kept)
        return parse_profile(name, text, source=f"{name}.toml")

    without = hear(recording)
    kept = _harmless(findings, lambda kept: hear(recording, [parsed(kept).reading]).is_no_worse_than(without))
    profile = parsed(kept)
    rows = {pattern.key: pattern.seen for pattern in profile.patterns if pattern.seen is not None}
    return Proposal(profile, Proof(source, rows, without, hear(recording, [profile.reading])))


def prove(profile: AgentProfile, proof: Proof, recording: Recording) -> list[str]:
    """Return what of the proof does not hold any more: nothing, if all is well."""
    patterns = {pattern.key: pattern for pattern in profile.patterns}
    missed = [
        f"{key} does not match {row!r}"
        for key, row in proof.rows.items()
        if key in patterns and patterns[key].compiled.search(row) is None
    ]
    heard = hear(recording, [profile.reading])
    if not heard.is_no_worse_than(hear(recording)):
        missed.append(f"a replay of {proof.recording} is worse with the profile than without")
    elif not heard.is_no_worse_than(proof.with_profile):
        missed.append(f"a replay of {proof.recording} is worse than when the profile was learnt")
    return missed


def _compiled(finding: Finding) -> Finding:
    """Leave a pattern out that the library would refuse."""
    if isinstance(finding, FoundValue) and finding.is_pattern:
        try:
            compile_pattern(str(finding.value), seen=finding.seen)
        except PatternError as error:
            return NoFinding(finding.key, f"a pattern was left out: {error}")
    return finding


def _harmless(findings: list[Finding], is_harmless: Callable[[list[Finding]], bool]) -> list[Finding]:
    """Leave out what makes the replay worse: all together first, one by one where that fails."""
    if is_harmless(findings):
        return findings
    kept = [f for f in findings if isinstance(f, NoFinding) or not f.key.startswith(_READ)]
    for finding in (f for f in findings if isinstance(f, FoundValue) and f.key.startswith(_READ)):
        if is_harmless([*kept, finding]):
            kept.append(finding)
        else:
            kept.append(
                NoFinding(finding.key, f"{finding.value} ({finding.why}) was left out: the replay gets worse with it")
            )
    return kept


def _about(seen: Observation) -> str:
    messages = f"{len(seen.messages)} message{'' if len(seen.messages) == 1 else 's'}"
    return f"{seen.columns}x{seen.lines}, {seen.seconds:.1f} s, {messages}, {len(seen.works)} answered"
