"""The git repositories that sessions work in: branch and recent subjects, asked of git.

A repository may be anybody's, so git is kept from running what its configuration names (monitors, signature programs,
pagers); that one of another user's is not read is git's own rule. git goes into the folder itself: a folder on a file
system that does not answer then keeps a process waiting, not this one.
"""

import os

from streamrelay.pulse.model import Repository
from streamrelay.pulse.subprocesses import Ran, run

MAX_COMMITS = 10
_HARMLESS = (
    "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false",
    "-c", "log.mailmap=false", "-c", "i18n.logOutputEncoding=UTF-8",
)  # fmt: skip
_FORMAT = "%ct%x09%s"


async def top_of(folder: str) -> str:
    """Return the top folder of a folder's repository; empty for none. Raises OSError without git."""
    ran = await _git(folder, "rev-parse", "--show-toplevel")
    return ran.output.rstrip("\n") if ran.status == 0 else ""


async def repository_at(top: str) -> Repository:
    """Return how the repository of that top folder is."""
    head = await _git(top, "symbolic-ref", "--quiet", "--short", "HEAD")
    if head.status:
        head = await _git(top, "rev-parse", "--short", "HEAD")
    log = await _git(top, "log", f"--max-count={MAX_COMMITS}", f"--format={_FORMAT}", "--no-color")
    # One without a commit has no log.
    commits = [line.partition("\t") for line in log.output.splitlines()] if log.status == 0 else []
    return Repository(
        folder=top,
        branch=head.output.strip(),
        commits=tuple(subject for _, _, subject in commits),
        newest=float(commits[0][0]) if commits and commits[0][0].isdecimal() else 0.0,
    )


async def _git(folder: str, *words: str) -> Ran:
    # What a caller's variables say of a repository is about another one.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return await run(("git", *_HARMLESS, "-C", folder, *words), environment={**own, "GIT_TERMINAL_PROMPT": "0"})
