"""What every recording says is what it said when that was last looked at and taken for right."""

from tests.golden.events import all_lines, changes, read

HINT = "python -m tests.golden --lines shows the difference; --write takes it for right, and the commit explains it"


def test_every_recording_says_what_it_said() -> None:
    assert not list(changes(read(), all_lines())), HINT
