"""`python -m streamrelay_cli`: the command, where nothing is said of any PATH."""

from streamrelay_cli.main import run

run()
