"""The file council.toml: members, phases, shared documents and limits of a council."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from streamrelay.config.files import user_folder
from streamrelay.council.context import Pinned
from streamrelay.council.members import Member, Vendor, in_order
from streamrelay.errors import AIKeyRefused, ConfigError

FILE: Final = "council.toml"

PHASES: Final[Mapping[str, str]] = MappingProxyType({
    "Plan": "The council plans. Propose concrete steps, name what is unknown, and build on what was said before you.",
    "Critique": "The council criticises. Look for what is wrong, missing or risky in what was said; say why it matters "
    "and what would be better.",
    "Decide": "The council decides. Say which proposal you support and why, in a few sentences; name what you can't "
    "accept.",
    "Write": "The council writes the result. Give the text itself, complete, without remarks about it.",
})  # fmt: skip

KEY_VARIABLES: Final[Mapping[Vendor, tuple[str, ...]]] = MappingProxyType({
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "xai": ("XAI_API_KEY",),
})  # fmt: skip

_MODELS: Final[Mapping[Vendor, re.Pattern[str]]] = MappingProxyType({
    "anthropic": re.compile(r"claude\b"),
    "google": re.compile(r"(?:models/)?(?:gemini|gemma)\b"),
    "openai": re.compile(r"(?:gpt|chatgpt|codex|o\d)\b"),
    "xai": re.compile(r"grok\b"),
})  # fmt: skip
_MAX_PINNED_BYTES: Final = 1 << 20


class CouncilConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contents of council.toml."""

    member: Annotated[tuple[Member, ...], Meta(min_length=1)]
    person: Annotated[str, Meta(min_length=1, max_length=32)] = "You"
    """The person's name in the conversation."""
    phases: dict[str, str] = {}
    """Additional phases, or other prompts for the existing ones."""
    prompt: str = (
        "You are {name}, a member of a council with {others} and a person called {person}. Each speaks in turn. What "
        "others said is marked with their name in brackets. Speak for yourself only, briefly, and to the point."
    )
    """The beginning of each member's system prompt."""
    auto_load: tuple[str, ...] = ()
    """Files that every member gets, relative to this file."""
    history: Annotated[int, Meta(ge=1, le=1000)] = 20
    """How many of the latest messages a member gets."""
    context_tokens: Annotated[int, Meta(ge=1000)] = 30_000
    """The approximate maximum of tokens that a member gets."""
    blind_first: bool = False
    """Whether the first round of a session is blind: members do not see the other answers of the round."""
    cost_limit: Annotated[float, Meta(ge=0)] = 0.0
    """Dollars after which the person is asked before a member speaks again; 0 for no limit."""

    @property
    def members(self) -> list[Member]:
        """The members in speaking order."""
        return in_order(self.member)

    @property
    def all_phases(self) -> dict[str, str]:
        """Each phase and its prompt."""
        return {**PHASES, **self.phases}


def default_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the user's council.toml, which need not exist."""
    return user_folder(environment) / FILE


def read_config(path: Path) -> CouncilConfig:
    """Read a council.toml; raises ConfigError with the place, the fault and a hint."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        hint = "streamrelay council init writes one to begin with; --demo needs none"
        raise ConfigError(str(path), "", "no such file", hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), "", f"cannot be read: {error}") from error
    return parse_config(text, str(path))


def parse_config(text: str, file: str) -> CouncilConfig:
    """Parse the text of a council.toml; see `read_config`."""
    try:
        config = msgspec.toml.decode(text.encode(), type=CouncilConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(file, "", str(error), hint="docs/council.md#counciltoml has every key") from error
    except msgspec.DecodeError as error:
        raise ConfigError(file, "", f"invalid TOML: {error}") from error
    for key, wrong, hint in _faults(config):
        raise ConfigError(file, key, wrong, hint=hint)
    return config


def _faults(config: CouncilConfig) -> Iterator[tuple[str, str, str]]:
    names = [member.name for member in config.member]
    for name in names:
        if [other.casefold() for other in names].count(name.casefold()) > 1:
            yield "member.name", f"two members are called {name}", "give each a name of its own"
    if config.person.casefold() in {name.casefold() for name in names}:
        yield "person", f"a member is called {config.person}, too", "call the person otherwise"
    for member in config.member:
        where = f"member {member.name}"
        if member.vendor == "scripted" and not member.script:
            yield where, "a scripted member needs its script", 'script = ["what it says"]'
        if member.vendor != "scripted" and not member.model:
            what = "the tmux target of its pane" if member.vendor == "pane" else "the model's name"
            yield where, "`model` is missing", f"model = {what}"
        if member.vendor == "compatible" and not member.base_url:
            yield where, "`base_url` is missing", "the address of the server, as http://127.0.0.1:11434/v1"
        if member.fallback is not None and member.vendor in {"pane", "scripted"}:
            yield where, f"a {member.vendor} member has no fallback", "leave `fallback` out"
        if member.fallback is not None and member.fallback == member.model:
            yield where, "the fallback is the model itself", "name another model, or leave `fallback` out"
        expected = _MODELS.get(member.vendor)
        for key, model in (("model", member.model), ("fallback", member.fallback)):
            if expected is None or model is None or member.base_url or expected.match(model):
                continue
            owner = next((vendor for vendor, pattern in _MODELS.items() if pattern.match(model)), None)
            if owner is not None:
                yield (
                    where,
                    f"`{key}` {model} is a model of {owner}, not of {member.vendor}",
                    (f'a {member.vendor} model, or vendor = "{owner}"'),
                )


def read_pinned(config: CouncilConfig, folder: Path) -> list[Pinned]:
    """Read the documents that every member gets; raises ConfigError for an unreadable one."""
    pinned = []
    for name in config.auto_load:
        path = folder / name
        try:
            data = path.read_bytes()
            text = data.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            wrong = f"{path} cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8'}"
            raise ConfigError(
                str(folder / FILE), "auto_load", wrong, hint="correct the path, or take it out"
            ) from error
        if len(data) > _MAX_PINNED_BYTES:
            raise ConfigError(str(folder / FILE), "auto_load", f"{path} is larger than 1 MiB", hint="pin less of it")
        pinned.append(Pinned(name, text))
    return pinned


def key_of(member: Member, environment: Mapping[str, str] = os.environ) -> str:
    """Return a member's key from the environment, or from the system's keyring where the package is installed.

    Raises AIKeyRefused where there is none. A server of one's own may need none: then it is given a word for it.
    """
    variables = (member.key,) if member.key else KEY_VARIABLES.get(member.vendor, ())
    for variable in variables:
        if key := environment.get(variable, "").strip() or _from_keyring(variable):
            return key
    if not variables:
        return "none"
    named = " or ".join(variables)
    raise AIKeyRefused(
        f"{member.name}: no key in {named}",
        hint=f"export {variables[0]}=..., or keyring set streamrelay {variables[0]}",
        data={"member": member.name, "variables": list(variables)},
    )


def keys_in_environment(config: CouncilConfig, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the members' keys in this environment, by variable, to pass them to a daemon with another environment."""
    variables = [
        variable for member in config.member for variable in (member.key, *KEY_VARIABLES.get(member.vendor, ()))
    ]
    return {variable: environment[variable] for variable in variables if environment.get(variable)}


def _from_keyring(variable: str) -> str:
    try:
        import keyring  # it comes with the extra, and takes a tenth of a second to load
        from keyring.errors import KeyringError
    except ImportError:
        return ""
    try:
        return keyring.get_password("streamrelay", variable) or ""
    except KeyringError:
        return ""
