"""What a look at a pane says of it: the same object where nothing has changed, by which it is told that nothing has."""

from dataclasses import replace

from streamrelay.panes.inventory import PaneInfo

INFO = PaneInfo(
    "%0", "$0", "@0", 0, 0, 80, 24, 41, False, False, False, True, False, True, "/dev/pts/1", "sh", "work", ""
)


def test_a_pane_whose_program_is_the_same_is_itself() -> None:
    assert INFO.running("sh", 41) is INFO
    assert INFO.running("sh", 0) is INFO


def test_another_name_or_process_is_another_program_in_the_same_pane() -> None:
    assert INFO.running("vi", 0) == replace(INFO, command="vi")
    assert INFO.running("sh", 42) == replace(INFO, pid=42)
    assert INFO.running("vi", 42) == replace(INFO, command="vi", pid=42)
    assert INFO.is_replaced_by(INFO.running("sh", 42))
    assert not INFO.is_replaced_by(INFO.running("vi", 0))
