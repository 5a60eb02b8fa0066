"""The client for a member, by its vendor. An SDK is loaded when a member needs it."""

import os
from collections.abc import Mapping

from streamrelay.council.clients.contract import AIClient
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import key_of
from streamrelay.council.members import Member
from streamrelay.errors import UsageError
from streamrelay.installation import needs_extra
from streamrelay.panes.server import Server

XAI_URL = "https://api.x.ai/v1"


def make_client(
    member: Member, model: str, server: Server | None = None, *, environment: Mapping[str, str] = os.environ
) -> AIClient:
    """Return a client for one of a member's models; a pane's needs the tmux `server`, a model's key the `environment`.

    Raises AIKeyRefused without its key, and ExtraMissing without the packages of the `council` extra.
    """
    if member.vendor == "scripted":
        return ScriptedClient(member.script)
    if member.vendor == "pane":
        if server is None:
            raise UsageError(f"{member.name} is in a pane, and no tmux server is there", hint="start it: tmux new -d")
        from streamrelay.council.clients.pane import PaneClient  # tmux is not for all councils

        return PaneClient(server, model)
    key = key_of(member, environment)
    base_url = member.base_url or (XAI_URL if member.vendor == "xai" else "")
    with needs_extra("council", f"a member of {member.vendor}"):
        # Each SDK takes half a second to load.
        match member.vendor:
            case "anthropic":
                from streamrelay.council.clients.anthropic import AnthropicClient

                return AnthropicClient(member.name, model, key, base_url=base_url, max_tokens=member.max_tokens)
            case "google":
                from streamrelay.council.clients.google import GoogleClient

                return GoogleClient(member.name, model, key, base_url=base_url, max_tokens=member.max_tokens)
            case _:
                from streamrelay.council.clients.openai import OpenAIClient

                return OpenAIClient(member.name, model, key, base_url=base_url, max_tokens=member.max_tokens)
