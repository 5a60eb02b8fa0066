"""`streamrelay learn`: propose a profile for a program, from a recording of it."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.agents import parse_profile
from streamrelay.errors import RecordingError, UsageError
from streamrelay.learning import Proof, prove
from streamrelay.learning import learn as learnt
from streamrelay.recordings import open_recording
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, Quiet
from streamrelay_cli.output import CommandOutput

PROOF = ".proof.json"


def learn(
    recording: Annotated[
        Path,
        typer.Argument(
            help="A folder of a recorded session, a control-mode recording (.jsonl, .jsonl.gz) or an asciicast."
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the profile here, and its proof beside it.", metavar="NAME.toml"),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What its makers call the program.")] = None,
    command: Annotated[
        str | None, typer.Option("--command", help="Its command in the foreground, where the recording tells none.")
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option("--prove", help="Propose nothing: hold this profile to its proof again.", metavar="NAME.toml"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Propose a profile for a program, from a recording of it.

    The profile describes how to recognise the program, its composer and its chrome, with the evidence.
    """
    output = CommandOutput(quiet=quiet, as_json=as_json)
    if proof is not None:
        _prove(output, recording, proof)
        return
    if file is not None and file.suffix != ".toml":
        raise UsageError(f"{file}: a profile is a .toml file", hint="its name is what the program is called here")
    name = file.stem if file is not None else _name(recording)
    source = "/".join(recording.absolute().parts[-2:]) if recording.is_dir() else recording.name
    proposal = learnt(open_recording(recording), name=name, source=source, title=title, command=command)
    if file is not None:
        write_private(file, proposal.text, force=force)
        proved = msgspec.json.format(msgspec.json.encode(proposal.proof)).decode() + "\n"
        write_private(file.with_suffix(PROOF), proved, force=force)
        output.note(f"{file} is a proposal: read it, then put it into the folder that `streamrelay profiles` names")
    elif as_json:
        output.json(msgspec.to_builtins(proposal.proof))
    else:
        output.lines(proposal.text.splitlines())


def _prove(output: CommandOutput, recording: Path, file: Path) -> None:
    try:
        profile = parse_profile(file.stem, file.read_text(encoding="utf-8"), source=str(file))
        proof = msgspec.json.decode(file.with_suffix(PROOF).read_bytes(), type=Proof)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"{file} and its {PROOF} cannot be read: {error}", hint="`streamrelay learn -o` writes both"
        ) from error
    missed = prove(profile, proof, open_recording(recording))
    output.lines(missed)
    if missed:
        raise RecordingError(f"{file} does not hold what it was learnt with")
    output.note(f"{file} holds: {len(proof.rows)} rows, and the replay of {proof.recording}")


def _name(recording: Path) -> str:
    name = recording.name.partition(".")[0] or "program"
    return "".join(character if character.isalnum() or character in "-_" else "-" for character in name)
