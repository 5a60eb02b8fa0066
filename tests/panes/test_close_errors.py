"""What the error for the end of a pane tells of a server that ended with it."""

from streamrelay.control import ConnectionEnd, ServerInfo, Version, upgrade_hint
from streamrelay.errors import ServerLost
from streamrelay.events import PaneClosed
from streamrelay.panes.close_errors import closing_error

CLOSED = PaneClosed(reason="server_lost", session="work", pane="%1")
OLD, NEW = (ServerInfo(Version.parse(version), 7, "/tmp/socket", "box") for version in ("3.3a", "3.8"))


def test_a_lost_server_is_named_with_version_socket_and_its_last_words() -> None:
    error = closing_error(CLOSED, OLD, ConnectionEnd("server_lost", "server exited unexpectedly", abrupt=True))
    assert isinstance(error, ServerLost)
    assert error.message == ("tmux 3.3a at box:/tmp/socket ended while pane %1 was watched: server exited unexpectedly")
    assert error.data == {
        "pane": "%1", "session": "work", "version": "3.3a", "socket": "box:/tmp/socket",
        "reason": "server exited unexpectedly",
    }  # fmt: skip
    assert error.hint == upgrade_hint(OLD.version)


def test_only_an_abrupt_end_of_a_version_with_the_crash_gets_the_hint_to_upgrade() -> None:
    for server, end in (
        (OLD, ConnectionEnd("server_lost")),
        (OLD, None),
        (NEW, ConnectionEnd("server_lost", abrupt=True)),
    ):
        error = closing_error(CLOSED, server, end)
        assert error.hint == ServerLost.default_hint
        assert error.message.endswith("while pane %1 was watched")
    assert closing_error(CLOSED).data == {"pane": "%1", "session": "work"}
