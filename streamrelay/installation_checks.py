"""The checks of `streamrelay doctor` on this copy: its versions, packages and extras, what clashes with it, the PATHs.

Each function returns what it found and changes nothing. The commands that they print come from `installation`.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distributions, version
from pathlib import Path

from streamrelay.check import Check
from streamrelay.installation import EXTRAS, Installation, find_installation, own_distribution
from streamrelay.version import DISTRIBUTION, VERSION

_OTHER_PROJECT = "streamrelay"
"""A distribution of another project on PyPI, with our import name and our command."""
_NAME = re.compile(r"[\w.-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def check_installation(path: str) -> Iterator[Check]:
    """Yield the checks of this copy; `path` is the PATH on which a shell looks for the command."""
    installation, distribution = find_installation(), own_distribution()
    yield check_copy(installation)
    yield check_packages(installation, distribution)
    yield from check_extras(installation)
    others = [one.version for one in distributions(name=_OTHER_PROJECT) if one.read_text("INSTALLER")]
    own = (Path(__file__).parent, Path(installation.source, "streamrelay"))
    yield check_clash(installation, others, find_shadows(own, _import_path()))
    yield check_command(installation.environment / "bin" / "streamrelay", path)


def check_copy(installation: Installation) -> Check:
    """Tell the version of this copy, and how it was installed."""
    if installation.method == "unknown":
        words = f"{VERSION}, runs from {Path(__file__).parent}; its installer left no record"
        return Check("streamrelay", "ok", words)
    source = f" from {installation.source}" if installation.source != DISTRIBUTION else ""
    editable = ", editable" if installation.editable else ""
    return Check(
        "streamrelay",
        "ok",
        f"{VERSION}, installed with {installation.method}{source} into {installation.environment}{editable}",
    )


def check_packages(installation: Installation, distribution: Distribution | None) -> Check:
    """Tell the versions of the packages that every command may need; a missing one fails the check."""
    found, missing = [], []
    for name in _required(distribution.requires or () if distribution else ()):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("packages", "failed", f"not installed: {', '.join(missing)}", installation.reinstall())
    return Check("packages", "ok", ", ".join(found) or "this copy has no metadata that names them")


def check_extras(installation: Installation) -> Iterator[Check]:
    """Yield for each extra whether its package is installed, else the command that adds it."""
    for name, extra in EXTRAS.items():
        if name in installation.extras:
            yield Check(f"extra {name}", "ok", f"installed, for {extra.purpose}")
        else:
            words = f"not installed; needed only for {extra.purpose}"
            yield Check(f"extra {name}", "ok", words, installation.add_extra(name))


def check_clash(installation: Installation, others: Sequence[str], shadows: Sequence[Path]) -> Check:
    """Tell what else has the import name `streamrelay`: another project's distribution, or a second package."""
    if others:
        remove, again = installation.remove(_OTHER_PROJECT), installation.reinstall()
        words = (
            f"the distribution streamrelay {', '.join(others)} is installed in {installation.environment}; it belongs "
            "to another project and replaces modules and the command of this one"
        )
        return Check("name clash", "failed", words, " && ".join(filter(None, (remove, again))))
    if shadows:
        words = f"another package streamrelay can be imported from {', '.join(map(str, shadows))}"
        return Check("name clash", "warning", words, "rename it, or take its folder off PYTHONPATH")
    return Check("name clash", "ok", "nothing else is called streamrelay")


def find_shadows(own: Iterable[Path], import_path: Iterable[Path]) -> list[Path]:
    """Return the other packages or modules named `streamrelay` on an import path.

    `own` are the folders of this package: the installed one, and the one in the clone from which it was installed.
    """
    known = {folder.resolve() for folder in own}
    found: dict[Path, None] = {}
    for folder in import_path:
        for candidate in (folder / "streamrelay" / "__init__.py", folder / "streamrelay.py"):
            if candidate.is_file() and candidate.resolve().parent not in known:
                found[candidate] = None
    return list(found)


def check_command(own: Path, path: str) -> Check:
    """Tell whether the command `streamrelay` on a PATH is the one of this copy, which is `own`."""
    found = shutil.which("streamrelay", path=path)
    if found is None:
        fix = f'export PATH={shlex.quote(str(own.parent))}:"$PATH"'
        return Check("command", "warning", "streamrelay is not on your PATH", fix if own.is_file() else "")
    if Path(found).resolve() == own.resolve():
        return Check("command", "ok", found)
    words = f"{found} is another copy than this one, {own}"
    return Check("command", "warning", words, f"remove one of them, or put {own.parent} first in PATH")


def check_tmux_path(path: str, tmux_path: str, programs: Iterable[str]) -> Check:
    """Compare the caller's PATH with the global PATH of a tmux server: which known programs are on only one of them."""
    if path == tmux_path:
        return Check("PATH of tmux", "ok", "the same as yours")
    known = sorted(set(programs))
    here = {name for name in known if shutil.which(name, path=path)}
    there = {name for name in known if shutil.which(name, path=tmux_path)}
    parts, fixes = [], []
    if only_here := sorted(here - there):
        parts.append(f"only yours finds {', '.join(only_here)}")
        fixes.append('tmux set-environment -g PATH "$PATH"')
    if only_there := sorted(there - here):
        parts.append(f"only tmux's finds {', '.join(only_there)}")
        fixes.append("start these by their absolute paths, or add their folders to your PATH")
    if not parts:
        return Check("PATH of tmux", "ok", "differs from yours; known programs are found on both or neither")
    words = f"{'; '.join(parts)} (tmux's: {_UNPRINTABLE.sub('?', tmux_path)})"
    return Check("PATH of tmux", "warning", words, "; ".join(fixes))


def _required(requires: Sequence[str]) -> list[str]:
    """Return the names of the packages in a distribution's `Requires-Dist` that no marker limits."""
    return [match[0] for one in requires if ";" not in one and (match := _NAME.match(one))]


def _import_path() -> list[Path]:
    """Return the folders that every Python of this user searches first: PYTHONPATH and the current one."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return [Path.cwd(), *map(Path, folders)]
