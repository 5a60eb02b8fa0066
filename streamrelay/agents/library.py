"""Loads the profiles: the shipped ones, and the user's own, which take precedence."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from streamrelay.agents.profile import AgentProfile, parse_profile
from streamrelay.config.files import user_folder as config_folder
from streamrelay.config.texts import texts_in


def user_folder() -> Path:
    """Return the folder of the user's own profiles: `agents.d` in the configuration folder."""
    return config_folder() / "agents.d"


def load_profiles(folder: Path | None = None) -> tuple[AgentProfile, ...]:
    """Read every profile; one in `folder` (default: the user's) replaces the shipped one of the same name.

    The first matching profile recognises a program, so the user's own come before the shipped ones. Raises ConfigError
    for the first invalid file.
    """
    own = {profile.name: profile for profile in _read(user_folder() if folder is None else folder, is_users=True)}
    return (*own.values(), *(profile for profile in shipped_profiles() if profile.name not in own))


def shipped_profiles() -> tuple[AgentProfile, ...]:
    """Read the shipped profiles."""
    return tuple(_read(resources.files("streamrelay.agents") / "profiles", is_users=False))


def _read(folder: Path | Traversable, *, is_users: bool) -> Iterator[AgentProfile]:
    texts = texts_in(folder, ".toml", is_users=is_users)
    return (parse_profile(name, text, source=source) for name, source, text in texts)
