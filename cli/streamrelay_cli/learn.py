"""`streamrelay learn`: proposes a profile for a program, from a recording of it."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.agents import parse_profile
from streamrelay.errors import RecordingError, UsageError
from streamrelay.learning import Proof, prove
from streamrelay.learning import learn as propose
from streamrelay.recordings import open_recording
from streamrelay_cli.command_entry import AGENTS, command
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, Quiet
from streamrelay_cli.output import CommandOutput

PROOF_SUFFIX = ".proof.json"
"""The suffix of the file with the proof of a profile: NAME.proof.json beside NAME.toml."""


@command("learn", panel=AGENTS, place=50)
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
    title: Annotated[str | None, typer.Option("--title", help="The program's own name.")] = None,
    command: Annotated[
        str | None, typer.Option("--command", help="The program's foreground command, if the recording has none.")
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option("--prove", help="Propose nothing; check this profile against its proof.", metavar="NAME.toml"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
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
        raise UsageError(f"not a .toml file: {file}", hint="name it NAME.toml; NAME becomes the name of the profile")
    name = file.stem if file is not None else _name(recording)
    source = "/".join(recording.absolute().parts[-2:]) if recording.is_dir() else recording.name
    proposal = propose(open_recording(recording), name=name, source=source, title=title, command=command)
    if file is not None:
        write_private(file, proposal.text, force=force)
        proof_text = msgspec.json.format(msgspec.json.encode(proposal.proof)).decode() + "\n"
        write_private(file.with_suffix(PROOF_SUFFIX), proof_text, force=force)
        output.note(f"{file} is a proposal: read it, then put it into the folder that `streamrelay profiles` names")
    elif as_json:
        output.json(msgspec.to_builtins(proposal.proof))
    else:
        output.lines(proposal.text.splitlines())


def _prove(output: CommandOutput, recording: Path, file: Path) -> None:
    """Replay a recording with a profile, and print the rows that the profile no longer matches."""
    try:
        profile = parse_profile(file.stem, file.read_text(encoding="utf-8"), source=str(file))
        proof = msgspec.json.decode(file.with_suffix(PROOF_SUFFIX).read_bytes(), type=Proof)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"cannot read {file} and its {PROOF_SUFFIX}: {error}",
            hint=f"write both with: streamrelay learn RECORDING -o {file}",
        ) from error
    missed = prove(profile, proof, open_recording(recording))
    output.lines(missed)
    if missed:
        raise RecordingError(
            f"{file} fails its proof", hint="keep the profile as a beginning and correct it by hand: docs/profiles.md"
        )
    output.note(f"{file} passes its proof: {len(proof.rows)} rows, and the replay of {proof.recording}")


def _name(recording: Path) -> str:
    """Return a name for the profile: that of the recording, without characters that a file name should not have."""
    name = recording.name.partition(".")[0] or "program"
    return "".join(character if character.isalnum() or character in "-_" else "-" for character in name)
