"""`python -m streamrelay_cli`: runs the command without a PATH lookup."""

from streamrelay_cli.entry import run

run()
