import dataclasses
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.control import notifications as n
from streamrelay.control.notifications import Notification, parse

LINES: list[tuple[bytes, Notification]] = [
    (b"%session-changed $1 my session", n.SessionChanged("$1", "my session")),
    (b"%client-session-changed /dev/pts/3 $1 a b", n.ClientSessionChanged("/dev/pts/3", "$1", "a b")),
    (b"%client-session-changed client-99 $12 $3 x", n.ClientSessionChanged("client-99", "$12", "$3 x")),
    (b"%client-detached client-99", n.ClientDetached("client-99")),
    (b"%sessions-changed", n.SessionsChanged()),
    (b"%session-renamed $2 new  name ", n.SessionRenamed("$2", "new  name ")),
    (b"%session-window-changed $2 @7", n.SessionWindowChanged("$2", "@7")),
    (
        b"%layout-change @1 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *Z",
        n.LayoutChange("@1", "b25d,80x24,0,0,0", "b25d,80x24,0,0,0", "*Z"),
    ),
    (b"%layout-change @1 l v ", n.LayoutChange("@1", "l", "v", "")),
    (b"%window-add @1", n.WindowAdd("@1")),
    (b"%window-add @1 of-the-future", n.WindowAdd("@1")),
    (b"%window-close @2", n.WindowClose("@2")),
    (b"%window-renamed @1 ", n.WindowRenamed("@1", "")),
    (b"%window-renamed @1 a : b %output %1 x", n.WindowRenamed("@1", "a : b %output %1 x")),
    (b"%window-renamed @1 \xe4\xb8\xad\xff", n.WindowRenamed("@1", "中\ufffd")),
    (b"%unlinked-window-add @3", n.UnlinkedWindowAdd("@3")),
    (b"%unlinked-window-close @3", n.UnlinkedWindowClose("@3")),
    (b"%unlinked-window-renamed @3 x y", n.UnlinkedWindowRenamed("@3", "x y")),
    (b"%window-pane-changed @1 %5", n.WindowPaneChanged("@1", "%5")),
    (b"%pane-mode-changed %5", n.PaneModeChanged("%5")),
    (b"%pause %5", n.Pause("%5")),
    (b"%continue %5", n.Continue("%5")),
    (
        b"%subscription-changed dead $1 @2 0 %3 : 1:0: sh : x",
        n.SubscriptionChanged("dead", "$1", "@2", "0", "%3", "1:0: sh : x"),
    ),
    (b"%subscription-changed s $1 - - - : ", n.SubscriptionChanged("s", "$1", "-", "-", "-", "")),
    (b"%subscription-changed s $1 - - - new 7 : v", n.SubscriptionChanged("s", "$1", "-", "-", "-", "v")),
    (b"%paste-buffer-changed buffer0", n.PasteBufferChanged("buffer0")),
    (b"%paste-buffer-deleted my buffer", n.PasteBufferDeleted("my buffer")),
    (
        b"%config-error /etc/tmux.conf:1: unknown command: x",
        n.ConfigErrorMessage("/etc/tmux.conf:1: unknown command: x"),
    ),
    (b"%message hello there", n.ServerMessage("hello there")),
    (b"%exit", n.Exit("")),
    (b"%exit too far behind", n.Exit("too far behind")),
    (b"%from-the-future a b", n.Unknown("from-the-future", "a b")),
    (b"%window-add", n.Unknown("window-add", "")),
    (b"%window-add 7", n.Unknown("window-add", "7")),
    (b"%output", n.Unknown("output", "")),
    (b"%", n.Unknown("", "")),
    (b"", n.Stray(b"")),
    (b"no server running on /x", n.Stray(b"no server running on /x")),
]


@pytest.mark.requirement("ENG-02a")
@pytest.mark.parametrize(("line", "notification"), LINES, ids=[repr(line) for line, _ in LINES])
def test_each_notification(line: bytes, notification: Notification) -> None:
    assert parse(line) == notification


def test_every_type_has_an_example() -> None:
    assert {type(notification) for _, notification in LINES} == set(get_args(Notification))


@given(st.binary() | st.sampled_from([line for line, _ in LINES]).flatmap(lambda line: st.binary().map(line.__add__)))
def test_no_bytes_raise(line: bytes) -> None:
    assert isinstance(parse(line), get_args(Notification))


@pytest.mark.parametrize("kind", get_args(Notification), ids=lambda kind: kind.__name__)
def test_a_notification_cannot_be_changed(kind: type[Notification]) -> None:
    notification = next(notification for _, notification in LINES if type(notification) is kind)
    for field in dataclasses.fields(notification):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(notification, field.name, "changed")
    with pytest.raises((AttributeError, TypeError)):
        setattr(notification, "another", "added")  # noqa: B010
