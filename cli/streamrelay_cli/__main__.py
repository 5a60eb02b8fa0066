"""`python -m streamrelay_cli`: the command, where nothing is said of any PATH."""

from streamrelay_cli.entry import run

run()
