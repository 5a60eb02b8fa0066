"""Tells which foreground commands are shells, which would run typed text."""

SHELLS = frozenset({
    "ash", "bash", "csh", "dash", "elvish", "fish", "ion", "ksh", "ksh93", "lksh", "mksh", "nu", "oksh",
    "osh", "pdksh", "posh", "powershell", "pwsh", "rbash", "rc", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh",
})  # fmt: skip


def is_shell(command: str) -> bool:
    """Return whether a pane's foreground command is a shell, a login shell (`-bash`) included."""
    return command.removeprefix("-").rpartition("/")[2] in SHELLS
