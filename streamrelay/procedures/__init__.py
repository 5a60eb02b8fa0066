"""Procedures that an agent can be given to read."""

from importlib.resources import files
from typing import Literal

Procedure = Literal["direct-conversation", "gathering", "harvesting", "heartbeat"]


def procedure(name: Procedure) -> str:
    """Return the text of a procedure, as Markdown."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
