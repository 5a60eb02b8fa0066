"""`streamrelay gather`: a circle with a talking piece, held by the daemon."""

import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.counts import counted
from streamrelay.errors import TargetNotFound, UsageError
from streamrelay.service.api import Gathering, GatheringMember, Invited, StartGathering
from streamrelay.service.interface import Service
from streamrelay.sessions.programs import own_search_path
from streamrelay_cli.command_entry import TALK, command, group
from streamrelay_cli.command_group import TYPED
from streamrelay_cli.daemon_client import service_needed
from streamrelay_cli.files import write_private
from streamrelay_cli.gathering_view import GatheringView
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.output import CommandOutput, aligned
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import written_out

group("gather", "Hold a gathering: a moderated round table with a talking piece.", panel=TALK, place=40)

_PARTICIPANTS = ("speaker", "human", "harvester")
EXISTING = "@"
"""In front of a session that is there already."""


class Listening(StrEnum):
    """When the other members get a contribution."""

    each = "each"
    digest = "digest"


Which = Annotated[str, typer.Argument(help="The id of a gathering; by default the only one in progress.")]
Who = "NAME=AGENT"
Rounds = Annotated[int | None, typer.Option(min=1, help="How many times the talking piece goes around in that phase.")]


@command("gather start", place=10)
@takes_options
def start(
    context: typer.Context,
    options: ServerOptions,
    printing: PrintingOptions,
    question: Annotated[str, typer.Argument(help="The opening question; that of the rhythm by default.")] = "",
    rhythm: Annotated[str, typer.Option("--rhythm", help="daily, weekly, monthly, or a rhythm of your own.")] = "daily",
    structure: Annotated[
        str,
        typer.Option(
            "--structure", help="Rounds of inhale, hold and exhale; minimal, standard or extended.", metavar="2-2-2"
        ),
    ] = "",
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker",
            help="A speaker, in the order typed: an agent or command to start, or @TARGET for an existing session. A "
            "number in front (3:Sage=claude) gives another place.",
            metavar=Who,
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            help="A person who speaks: here and on the web page, or in a session that is there (You=@work:0.1), or "
            "on the page of another machine (You=@@beta).",
            metavar="NAME",
        ),
    ] = None,
    harvester: Annotated[
        str, typer.Option("--harvester", help="The scribe, who listens and writes the summary at the end.", metavar=Who)
    ] = "",
    inhale: Rounds = None,
    hold: Rounds = None,
    exhale: Rounds = None,
    beats: Annotated[
        int | None, typer.Option("--beats", min=1, help="Beats (time units) of one speaker's time.")
    ] = None,
    interval: Annotated[float | None, typer.Option("--interval", help="Seconds from one beat to the next.")] = None,
    last_words: Annotated[
        float | None, typer.Option("--last-words", help="Seconds to wait for a speaker's last words.")
    ] = None,
    harvest_timeout: Annotated[
        float | None, typer.Option("--harvest-timeout", help="Seconds to wait for the harvest.")
    ] = None,
    listening: Annotated[
        Listening | None,
        typer.Option(
            "--listening",
            help="each: members get every contribution at once. digest: all contributions with the piece.",
        ),
    ] = None,
    cwd: Annotated[
        Path | None, typer.Option("--cwd", help="The folder in which agents are started; the current one by default.")
    ] = None,
    end_sessions: Annotated[
        bool, typer.Option("--end-sessions", help="At the end, end the sessions that were started for it.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("-d", "--detach", help="Return at once instead of showing the gathering.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start a gathering and its sessions, and print its id.

    On a terminal it shows the gathering until it is over. Ctrl-C ends the display, not the gathering.
    """
    output = printing.output(as_json=as_json)

    async def ask(service: Service) -> None:
        typed = [name for name in context.meta.get(TYPED, ()) if name in _PARTICIPANTS]
        request = StartGathering(
            rhythm=rhythm,
            structure=structure,
            participants=invited(speaker or (), human or (), harvester, typed),
            inhale_rounds=inhale,
            hold_rounds=hold,
            exhale_rounds=exhale,
            beats_per_turn=beats,
            beat_interval_seconds=interval,
            last_words_seconds=last_words,
            harvest_seconds=harvest_timeout,
            opening_question=question,
            listening=None if listening is None else listening.value,
            cwd=str((cwd or Path()).absolute()),
            search_path=own_search_path(),
            end_sessions=end_sessions,
        )
        before = (await service.status()).seq
        held = await service.start_gathering(request)
        if as_json:
            output.json(msgspec.to_builtins(held))
            return
        output.line(held.gathering)
        if not detach and sys.stdout.isatty():
            await GatheringView(output, service, held).show(before)

    _ask(output, options, ask)


@command("gather watch", place=30)
@takes_options
def watch(options: ServerOptions, printing: PrintingOptions, gathering: Which = "") -> None:
    """Show a gathering until it is over: circle, piece, beats, words.

    On a terminal: s speaks for a person who holds the piece, n passes it, p pauses and resumes, q ends the display.
    """
    output = printing.output()

    async def ask(service: Service) -> None:
        held = await _which(service, gathering)
        await GatheringView(output, service, held).show((await service.status()).seq)

    _ask(output, options, ask)


@command("gather status", place=40)
@takes_options
def status(options: ServerOptions, printing: PrintingOptions, gathering: Which = "", as_json: AsJson = False) -> None:
    """Show open gatherings with their members, and the last closed ones; or one in full."""
    _print_state(options, printing.output(as_json=as_json), gathering, in_full=True)


@command("gather list", place=20)
@takes_options
def list_(options: ServerOptions, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """List the current gatherings, and the latest ones that ended, one line each."""
    _print_state(options, printing.output(as_json=as_json), "", in_full=False)


@command("gather pass", place=60)
@takes_options
def pass_(
    options: ServerOptions,
    printing: PrintingOptions,
    gathering: Which = "",
    number: Annotated[int | None, typer.Option("--number", help="Only if this participant holds the piece.")] = None,
) -> None:
    """Pass the talking piece on for the participant who holds it."""
    _change(options, printing, gathering, lambda service, one: service.pass_piece(one, number))


@command("gather pause", place=70)
@takes_options
def pause(options: ServerOptions, printing: PrintingOptions, gathering: Which = "") -> None:
    """Stop the time of a gathering; the piece stays where it is."""
    _change(options, printing, gathering, lambda service, one: service.pause_gathering(one, True))


@command("gather resume", place=80)
@takes_options
def resume(options: ServerOptions, printing: PrintingOptions, gathering: Which = "") -> None:
    """Resume a paused gathering with the time that was left."""
    _change(options, printing, gathering, lambda service, one: service.pause_gathering(one, False))


@command("gather close", place=90)
@takes_options
def close(
    options: ServerOptions,
    printing: PrintingOptions,
    gathering: Which = "",
    end_sessions: Annotated[
        bool, typer.Option("--end-sessions", help="Also end the sessions that were started for it.")
    ] = False,
) -> None:
    """Close a gathering before its last round, and harvest it.

    A second `close` ends it at once.
    """
    _change(options, printing, gathering, lambda service, one: service.close_gathering(one, end_sessions))


@command("gather say", place=50)
@takes_options
def say(
    options: ServerOptions,
    printing: PrintingOptions,
    text: Annotated[str, typer.Argument(help="The contribution; - for standard input.")],
    gathering: Annotated[str, typer.Option("--gathering", "-g", help="The id, if several are in progress.")] = "",
    number: Annotated[
        int | None,
        typer.Option("--number", help="The person's number, if several persons take part without a session."),
    ] = None,
) -> None:
    """Speak for a person who holds the talking piece."""
    words = sys.stdin.read().rstrip("\n") if text == "-" else text

    async def speak(service: Service, one: str) -> Gathering:
        who = number if number is not None else person_of(await service.gathering(one))
        return await service.say_in_gathering(one, who, words)

    _change(options, printing, gathering, speak)


@command("gather transcript", place=100)
@takes_options
def transcript(
    options: ServerOptions,
    printing: PrintingOptions,
    gathering: Which = "",
    file: Annotated[Path | None, typer.Option("-o", "--output", help="Write it into this file (mode 0600).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the contributions and the harvest of a gathering.

    The format is Markdown, or JSON with --json.
    """
    output = printing.output(as_json=as_json)

    async def ask(service: Service) -> None:
        known = await _which(service, gathering, past=True)
        told = await service.gathering_transcript(known.gathering)
        if file is not None:
            write_private(file, msgspec.json.encode(told).decode() if as_json else told.markdown, force=force)
            output.note(f"written to {file}")
        elif as_json:
            output.json(msgspec.to_builtins(told))
        else:
            output.lines(told.markdown.rstrip("\n").split("\n"))

    _ask(output, options, ask)


def invited(speakers: Sequence[str], humans: Sequence[str], harvester: str, order: Sequence[str] = ()) -> list[Invited]:
    """Return who is invited; participants without a number get one in the order in which they were typed.

    `order` names the option of each participant as they were typed; without it, speakers come first, then humans, and
    the harvester last. Raises UsageError.
    """
    given = {"speaker": list(speakers), "human": list(humans), "harvester": [harvester] if harvester else []}
    # An option that is typed twice and holds one value holds the last one.
    typed = [name for at, name in enumerate(order) if name != "harvester" or "harvester" not in order[at + 1 :]]
    said = [
        (given[name].pop(0), name == "human", name == "harvester")
        for name in (*typed, *(name for name, texts in given.items() for _ in texts))
        if given[name]
    ]
    named = [(*_numbered(text), is_human, harvests) for text, is_human, harvests in said]
    free = iter(n for n in range(1, 2 * len(named) + 1) if n not in {number for number, *_ in named})
    return [
        _one(rest, next(free) if number is None else number, is_human=is_human, harvests=harvests)
        for number, rest, is_human, harvests in named
    ]


def _numbered(text: str) -> tuple[int | None, str]:
    number, colon, rest = text.partition(":")
    return (int(number), rest) if colon and number.isdecimal() else (None, text)


def _one(text: str, number: int, *, is_human: bool, harvests: bool) -> Invited:
    name, _, what = text.partition("=")
    existing = what.startswith(EXISTING)
    try:
        words = shlex.split(what) if not existing else []
    except ValueError as error:
        raise UsageError(
            f"{what!r} is no command: {error}", hint="quote it as a shell does: NAME='program argument'"
        ) from error
    return Invited(
        name=name,
        number=number,
        role="harvester" if harvests else "speaker",
        is_human=is_human,
        session=written_out(what.removeprefix(EXISTING)) if existing else "",
        agent=words[0] if words else "",
        arguments=words[1:],
    )


def person_of(gathering: Gathering) -> int:
    """Return the number of the only person without a session; raises UsageError if there is none or several."""
    people = [one for one in gathering.participants if one.is_human and not one.pane and not one.node]
    holds = [one for one in people if one.number == gathering.speaker]
    if len(people) != 1 and not holds:
        if people:
            raise UsageError("several people speak by this command", hint="name one with: --number N")
        others = ", ".join(
            f"{one.name} {f'on the web page of {one.node}' if one.node else f'in {one.session or one.pane}'}"
            for one in gathering.participants
            if one.is_human
        )
        raise UsageError(
            "no person of this gathering speaks by this command" if others else "this gathering has no person",
            hint=f"each speaks in a place of their own: {others}"
            if others
            else "start one with a person: streamrelay gather start --human NAME ...",
        )
    return (holds or people)[0].number


def _print_state(options: ServerOptions, output: CommandOutput, gathering: str, *, in_full: bool) -> None:
    async def ask(service: Service) -> None:
        known = [await service.gathering(gathering)] if gathering else await service.gatherings()
        if output.as_json:
            for one in known:
                output.json(msgspec.to_builtins(one))
            return
        for one, line in zip(known, aligned(map(_summary, known)), strict=True):
            output.line(line)
            if in_full and (gathering or one.state != "closed"):
                output.lines(f"  {member}" for member in aligned(map(_member, one.participants)))

    _ask(output, options, ask)


async def _which(service: Service, gathering: str, *, past: bool = False) -> Gathering:
    """Return the gathering that is meant: the only one that is held, if none is named."""
    if gathering:
        return await service.gathering(gathering)
    known = await service.gatherings()
    held = [one for one in known if one.state != "closed"]
    if len(held) > 1:
        names = ", ".join(one.gathering for one in held)
        raise UsageError(f"several gatherings are held: {names}", hint="name one of them")
    if not held and not (past and known):
        raise TargetNotFound("no gathering is held", hint="`streamrelay gather start` holds one")
    return (held or known)[0]


def _change(
    options: ServerOptions,
    printing: PrintingOptions,
    gathering: str,
    change: Callable[[Service, str], Awaitable[Gathering]],
) -> None:
    output = printing.output()

    async def ask(service: Service) -> None:
        known = await _which(service, gathering)
        output.note("  ".join(_summary(await change(service, known.gathering))))

    _ask(output, options, ask)


def _ask(output: CommandOutput, options: ServerOptions, ask: Callable[[Service], Awaitable[None]]) -> None:
    async def main() -> int:
        async with service_needed(options.server()) as service:
            await ask(service)
        return 0

    run_to_end(output, main)


def _summary(one: Gathering) -> tuple[str, ...]:
    """Return the cells of a gathering's line."""
    began = datetime.fromtimestamp(one.started_at).astimezone().strftime("%Y-%m-%d %H:%M")
    names = {member.number: _label(member) for member in one.participants}
    piece = (
        "" if one.speaker is None else f", {names[one.speaker]} holds the piece, beat {one.beat}/{one.beats_per_turn}"
    )
    reason = f" ({one.reason})" if one.reason else ""
    place = f"{one.phase} {one.round}/{one.rounds}{piece}"
    return one.gathering, one.rhythm, f"{one.state}{reason}", place, f"since {began}"


def _member(member: GatheringMember) -> tuple[str, ...]:
    """Return the cells of a participant's line."""
    speaks = f"on the web page of {member.node}" if member.node else "by gather say or the web page"
    gone = f", gone ({member.gone})" if member.gone else ""
    counts = f"{counted(member.contributions, 'contribution')}, {counted(member.prompts, 'prompt')}{gone}"
    role = f"{member.role}{', a person' if member.is_human else ''}"
    return _label(member), role, member.session or speaks, counts


def _label(member: GatheringMember) -> str:
    return f"{member.name} ({member.number})"
