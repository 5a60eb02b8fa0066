"""How this copy of streamrelay was installed, and the commands that change that installation.

Every hint that tells a user to install something comes from this module, because the right command depends on the
copy: pip cannot change a tool that uv installed, and a wrong name installs another project (on PyPI `streamrelay` is
one). Invariants: each command names our distribution, a folder or a URL of it, and changes only the environment that
this copy runs in.

    with needs_extra("redis", "a link between machines"):
        from redis.asyncio import Redis
"""

import contextlib
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from streamrelay.errors import ExtraMissing
from streamrelay.version import DISTRIBUTION

Method = Literal["uv tool", "uvx", "uv sync", "uv pip", "pipx", "pip", "unknown"]


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra: the module that shows whether it is installed, and the features that need it."""

    module: str
    purpose: str
    others: tuple[str, ...] = ()
    """Further modules that its packages bring."""


EXTRAS: Mapping[str, Extra] = {
    "acp": Extra("acp", "panes for clients of the Agent Client Protocol"),
    "council": Extra(
        "anthropic",
        "models as members of a council, and its app",
        ("google", "httpx2", "keyring", "openai", "stamina", "termaid", "textual"),
    ),
    "redis": Extra("redis", "links between machines", ("backports", "cryptography")),
    "uvloop": Extra("uvloop", "another event loop"),
    "native": Extra("avt", "a native terminal engine"),
}
"""The extras of pyproject.toml, by name."""

_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")


@dataclass(frozen=True, slots=True)
class Installation:
    """One installed copy: who installed it, from where, and for which Python."""

    method: Method
    python: str
    """The interpreter of the environment."""
    environment: Path
    """The folder of the environment (`sys.prefix`)."""
    source: str = DISTRIBUTION
    """Where it came from: the distribution's name for a package index, else a folder or a URL."""
    editable: bool = False
    requirements: Mapping[str, tuple[str, ...]] | None = None
    """The requirements of each extra, by its name."""
    extras: tuple[str, ...] = ()
    """The extras whose packages are installed."""
    uv: str = "uv"
    """The command that runs uv."""

    def add_extra(self, extra: str) -> str:
        """Return the command that adds an extra to the installed ones."""
        match self.method:
            case "uv tool":
                # uv makes the environment anew for other requirements, so the extras that are there are named as well.
                return f"{self._uv} tool install {self._requirement(sorted({*self.extras, extra}))}"
            case "uvx":
                return f"uvx --from {self._requirement([extra])} streamrelay"
            case "uv sync":
                return f"{self._uv} sync --inexact --project {shlex.quote(self.source)} --extra {extra}"
            case "uv pip":
                return f"{self._uv} pip install --python {shlex.quote(self.python)} {self._requirement([extra])}"
            case "pipx":
                return shlex.join(["pipx", "inject", self.environment.name, *self._packages(extra)])
            case "pip":
                return f"{shlex.quote(self.python)} -m pip install {self._requirement([extra])}"
        packages = ", ".join(self._packages(extra)) or f"the extra {extra} of {DISTRIBUTION}"
        return f"install {packages} for {self.python}, the way this copy of streamrelay was installed"

    def reinstall(self) -> str:
        """Return the command that puts every file of this copy back."""
        python, wanted = shlex.quote(self.python), self._requirement()
        match self.method:
            case "uv tool" | "uvx":
                return f"{self._uv} tool install --reinstall {self._requirement(self.extras)}"
            case "uv sync":
                project = shlex.quote(self.source)
                return f"{self._uv} sync --inexact --project {project} --reinstall-package {DISTRIBUTION}"
            case "uv pip":
                return f"{self._uv} pip install --python {python} --reinstall-package {DISTRIBUTION} {wanted}"
            case "pipx":
                return shlex.join(["pipx", "reinstall", self.environment.name])
            case "pip":
                return f"{python} -m pip install --force-reinstall --no-deps {wanted}"
        return f"install {DISTRIBUTION} again, the way it was installed"

    def remove(self, distribution: str = DISTRIBUTION) -> str:
        """Return the command that removes this copy, or another distribution from its environment; "" for none."""
        ours = distribution == DISTRIBUTION
        match self.method:
            case "uv tool":
                # What is not required any more goes when the tool is installed again.
                return f"{self._uv} tool uninstall {DISTRIBUTION}" if ours else ""
            case "pipx":
                name = self.environment.name
                return shlex.join(["pipx", "uninstall", name] if ours else ["pipx", "uninject", name, distribution])
            case "uv pip" | "uv sync":
                return f"{self._uv} pip uninstall --python {shlex.quote(self.python)} {distribution}"
            case "pip":
                return f"{shlex.quote(self.python)} -m pip uninstall {distribution}"
        return ""

    def _requirement(self, extras: Sequence[str] = ()) -> str:
        """Return what an installer takes for this source, quoted for a shell."""
        wanted = f"[{','.join(extras)}]" if extras else ""
        if self.source == DISTRIBUTION:
            return shlex.quote(f"{DISTRIBUTION}{wanted}")
        if "://" in self.source:
            return shlex.quote(f"{DISTRIBUTION}{wanted} @ {self.source}")
        return ("--editable " if self.editable else "") + shlex.quote(f"{self.source}{wanted}")

    @property
    def _uv(self) -> str:
        return shlex.quote(self.uv)

    def _packages(self, extra: str) -> tuple[str, ...]:
        return (self.requirements or {}).get(extra, ())


@contextlib.contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Translate a failed import into ExtraMissing: `what` names the feature that needs the package.

    Only packages of `extra` are translated. Another module that is missing is a defect, and keeps its own error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {EXTRAS[extra].module, *EXTRAS[extra].others}:
            raise
        raise ExtraMissing(
            f"{what} needs the package {package}, which is not installed",
            hint=find_installation().add_extra(extra),
            data={"extra": extra, "package": package},
        ) from error


def find_installation() -> Installation:
    """Look up how this copy was installed; method "unknown" where its metadata does not say."""
    return installation_of(own_distribution(), Path(sys.prefix), sys.executable)


def own_distribution() -> Distribution | None:
    """Return the metadata of our distribution; None for a source tree that was never installed."""
    found = list(distributions(name=DISTRIBUTION))
    # A checkout leaves a *.egg-info beside its sources, which no installer has signed.
    return next((one for one in found if one.read_text("INSTALLER")), next(iter(found), None))


def installation_of(distribution: Distribution | None, environment: Path, python: str) -> Installation:
    """Read the installation of a distribution from its metadata and from the marks that installers leave.

    `direct_url.json` is PEP 610, `INSTALLER` is PEP 376; uv writes `uv-receipt.toml` and pipx `pipx_metadata.json` into
    the environment of a tool.
    """
    if distribution is None:
        return Installation("unknown", python, environment)
    source, editable = _source(distribution.read_text("direct_url.json"))
    installer = (distribution.read_text("INSTALLER") or "").strip()
    return Installation(
        _method(environment, installer, source, editable=editable),
        python,
        environment,
        source,
        editable,
        extra_requirements(distribution.requires or ()),
        tuple(name for name, extra in EXTRAS.items() if find_spec(extra.module)),
        _uv_of(Path(source)) if editable else "uv",
    )


def extra_requirements(requires: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the requirements of each extra, as an installer takes them, from a distribution's `Requires-Dist`."""
    found: dict[str, list[str]] = {}
    for requirement in requires:
        needed, _, marker = requirement.partition(";")
        for extra in _EXTRA.findall(marker):
            found.setdefault(extra, []).append(needed.strip())
    return {extra: tuple(needed) for extra, needed in found.items()}


def _method(environment: Path, installer: str, source: str, *, editable: bool) -> Method:
    if (environment / "uv-receipt.toml").is_file():
        return "uv tool"
    if (environment / "pipx_metadata.json").is_file():
        return "pipx"
    if installer == "uv":
        if any(part.startswith(("archive-v", "environments-v")) for part in environment.parts):
            return "uvx"
        is_project = editable and Path(source, "uv.lock").is_file() and environment == Path(source, ".venv")
        return "uv sync" if is_project else "uv pip"
    return "pip" if installer == "pip" else "unknown"


def _source(direct_url: str | None) -> tuple[str, bool]:
    """Return the source that `direct_url.json` names, and whether it is editable."""
    try:
        written = json.loads(direct_url or "")
        url = str(written["url"])
    except (ValueError, KeyError, TypeError):
        return DISTRIBUTION, False
    if isinstance(folder := written.get("dir_info"), dict):
        return unquote(urlsplit(url).path), bool(folder.get("editable"))
    if isinstance(repository := written.get("vcs_info"), dict):
        revision = repository.get("requested_revision")
        return f"{repository.get('vcs', 'git')}+{url}{f'@{revision}' if revision else ''}", False
    return url, False


def _uv_of(checkout: Path) -> str:
    """Return the command that runs uv: the one on PATH, else the one that the checkout's scripts fetched."""
    fetched = checkout / ".uv" / "tool" / "bin" / "uv"
    return str(fetched) if shutil.which("uv") is None and fetched.is_file() else "uv"
