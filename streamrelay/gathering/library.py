"""Loads the rhythms and texts of gatherings: the shipped ones, overridden by the user's own.

The user's files are in the configuration folder: `gatherings/rhythms/NAME.md`, a procedure file for each rhythm, and
`gatherings/prompts/NAME.md` for each text. A procedure file begins with TOML between two lines of `+++`; the text after
it describes the rhythm. A file with the name of a shipped rhythm needs only the keys that it changes.
"""

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from streamrelay.config.files import user_folder as config_folder
from streamrelay.config.texts import texts_in
from streamrelay.errors import ConfigError, InvalidGathering, UsageError
from streamrelay.gathering.plan import Breath, Rhythm
from streamrelay.gathering.prompts import PromptTexts, check_template

FENCE = "+++"


def user_folder() -> Path:
    """Return the folder of the user's own rhythms and texts: `gatherings` in the configuration folder."""
    return config_folder() / "gatherings"


def load_texts(folder: Path | None = None) -> PromptTexts:
    """Read every text; one in `folder` (default: the user's) replaces the shipped one. Raises ConfigError."""
    own = (user_folder() if folder is None else folder) / "prompts"
    texts = {name: (source, text) for name, source, text in texts_in(_shipped("prompts"), ".md", is_users=False)}
    for name, source, text in texts_in(own, ".md", is_users=True):
        if name not in texts:
            known = ", ".join(sorted(texts))
            raise ConfigError(source, "", "unknown text", hint=f"the texts are {known}")
        try:
            check_template(name.replace("-", "_"), text)
        except UsageError as error:
            raise ConfigError(source, "", error.message, hint=error.hint) from error
        texts[name] = (source, text)
    return msgspec.convert({name.replace("-", "_"): text for name, (_, text) in texts.items()}, PromptTexts)


def load_rhythms(folder: Path | None = None) -> dict[str, Rhythm]:
    """Read every rhythm by its name, the user's (in `folder`) over the shipped ones. Raises ConfigError."""
    own = (user_folder() if folder is None else folder) / "rhythms"
    rhythms: dict[str, Rhythm] = {}
    for name, source, text in (
        *texts_in(_shipped("rhythms"), ".md", is_users=False),
        *texts_in(own, ".md", is_users=True),
    ):
        rhythms[name] = parse_rhythm(name, text, source=source, over=rhythms.get(name))
    return rhythms


def find_rhythm(name: str, folder: Path | None = None) -> Rhythm:
    """Return a rhythm by its name; raises InvalidGathering for an unknown name, and ConfigError as `load_rhythms`."""
    rhythms = load_rhythms(folder)
    if name not in rhythms:
        raise InvalidGathering(
            f"unknown rhythm: {name!r}",
            hint=f"the rhythms are {', '.join(rhythms)}; see docs/gatherings.md to add one",
            data={"fault": "rhythm", "rhythm": name},
        )
    return rhythms[name]


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    structure: str | None = None
    beats_per_turn: Annotated[int, Meta(ge=1)] | None = None
    beat_interval_seconds: Annotated[float, Meta(gt=0)] | None = None
    question: str | None = None
    keywords: tuple[str, ...] | None = None


def parse_rhythm(name: str, text: str, *, source: str, over: Rhythm | None = None) -> Rhythm:
    """Read a procedure file; `over` supplies omitted keys. Raises ConfigError."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != FENCE or FENCE not in (line.strip() for line in lines[1:]):
        raise ConfigError(source, "", f"it does not begin with TOML between two lines of {FENCE}")
    end = [line.strip() for line in lines].index(FENCE, 1)
    try:
        written = msgspec.convert(tomllib.loads("\n".join(lines[1:end])), _Written)
        breath = Breath.parse(written.structure) if written.structure is not None else None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(source, "", f"invalid TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise ConfigError(source, "", str(error)) from error
    except InvalidGathering as error:
        raise ConfigError(source, "structure", error.message, hint=error.hint) from error
    values = {
        "breath": breath,
        "beats_per_turn": written.beats_per_turn,
        "beat_interval_seconds": written.beat_interval_seconds,
        "question": written.question,
        "keywords": written.keywords,
        "about": " ".join("\n".join(lines[end + 1 :]).split()) or None,
    }
    said = {key: value for key, value in values.items() if value is not None}
    if over is not None:
        return msgspec.structs.replace(over, **said)
    missing = [key for key in ("breath", "beats_per_turn", "beat_interval_seconds", "question") if key not in said]
    if missing:
        names = ", ".join("structure" if key == "breath" else key for key in missing)
        raise ConfigError(source, "", f"missing: {names}", hint="add these keys; a new rhythm needs all of them")
    return Rhythm(name=name, **said)  # type: ignore[arg-type]  # msgspec has checked them


def _shipped(kind: str) -> Traversable:
    return resources.files("streamrelay.gathering") / kind
