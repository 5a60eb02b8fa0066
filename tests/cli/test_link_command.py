"""`streamrelay link`, and the keys that `link` and `relay` hear on a terminal."""

import shlex
import sys
from pathlib import Path

import pytest

from streamrelay import errors
from streamrelay.testing.waiting import wait_until

COMMAND = Path(sys.executable).with_name("streamrelay")
PATIENCE = 30.0
SILENT_CAT = ["sh", "-c", "stty -echo; exec cat"]


@pytest.mark.requirement("OPS-02b", "LNK-03")
def test_a_link_nobody_attends_ends_when_its_budget_is_spent(private_tmux, cli):
    private_tmux.new_session("one", SILENT_CAT)
    two = private_tmux.new_session("two", SILENT_CAT)
    linking = cli.start("link", "--json", "--budget", "3", "Ann=one", f"Bob={two}")
    linking.until_ready()
    private_tmux.run("send-keys", "-t", "one", "hello", "Enter")
    assert linking.wait() == 0, linking.stderr
    assert [event["text"] for event in linking.events("relay_delivered")] == [
        "[From Ann] hello",
        "[From Bob] [From Ann] hello",
        "[From Ann] [From Bob] [From Ann] hello",
    ]
    assert [event["deliveries"] for event in linking.events("link_spent")] == [3]
    (closed,) = linking.events("link_closed")
    assert (closed["reason"], closed["by"], closed["deliveries"]) == ("spent", "", 3)
    assert closed["traffic"]["Ann (1)"]["sent"] == 2
    assert "Ann and Bob are linked, for 3 deliveries" in linking.stderr
    wait_until(
        lambda: all("is spent after 3" in private_tmux.run("capture-pane", "-p", "-t", name) for name in ("one", two)),
        PATIENCE,
        "both to be told",
    )


def test_a_side_that_ends_ends_the_link(private_tmux, cli):
    private_tmux.new_session("one", ["cat"])
    private_tmux.new_session("two", ["cat"])
    linking = cli.start("link", "one", "two")
    linking.until_ready()
    private_tmux.run("kill-session", "-t", "one")
    assert linking.wait() == errors.PaneGone.exit_code
    wait_until(lambda: "one has ended" in private_tmux.run("capture-pane", "-p", "-t", "two"), PATIENCE, "the notice")


def test_what_cannot_be_linked_is_said(private_tmux, cli):
    private_tmux.new_session("one", ["cat"])
    assert cli.run("link", "one", "one").returncode == errors.UsageError.exit_code
    assert cli.run("link", "one", "nobody").returncode == errors.TargetNotFound.exit_code
    private_tmux.new_session("two", ["cat"])
    for command in ("link", "relay"):
        done = cli.run(command, "Ann=one", "ann=two")
        assert (done.returncode, done.stdout) == (errors.UsageError.exit_code, "")
        assert done.stderr == (
            "error: two participants have the name ann\n"
            "hint: the name identifies a participant; give each a different one\n"
        )


class Viewed:
    """A command in a pane of its own, with a person at its keys."""

    def __init__(self, tmux, *words: str) -> None:
        self._tmux = tmux
        line = shlex.join([str(COMMAND), words[0], "-S", str(tmux.socket_path), *words[1:]])
        self._pane = tmux.new_session("view", ["sh", "-c", f"{line}; echo code $?; read end"], columns=160, lines=40)
        self.shows("hear each other" if words[0] == "relay" else "are linked")

    def shows(self, words: str) -> None:
        wait_until(lambda: words in self._tmux.run("capture-pane", "-p", "-t", self._pane), PATIENCE, words)

    def press(self, keys: str) -> None:
        self._tmux.run("send-keys", "-l", "-t", self._pane, keys)


@pytest.mark.requirement("REL-10a", "REL-10b")
def test_a_relay_is_paused_muted_and_stopped_by_single_keys(private_tmux):
    private_tmux.new_session("speaker", SILENT_CAT)
    private_tmux.new_session("one", ["sh", "-c", "stty -echo; exec cat >/dev/null"])
    view = Viewed(private_tmux, "relay", "Ann=speaker", "Bob=one")
    view.shows("keys: p pauses")
    view.press("m1")
    view.shows("Ann (1) is muted")
    private_tmux.run("send-keys", "-t", "speaker", "unheard", "Enter")
    view.shows("not passed on, Ann (1): its speaker is muted (muted, 1 so far)")
    view.press("m1")
    view.shows("Ann (1) is heard again")
    view.press("p")
    view.shows("paused; what is said waits")
    private_tmux.run("send-keys", "-t", "speaker", "hello", "Enter")
    view.press("p")
    view.shows("going on;")
    view.shows("hello")
    view.press("q")
    view.shows("stopped")
    view.shows("Ann (1): 1 sent (15 characters), 0 received")
    view.shows("code 0")


@pytest.mark.requirement("LNK-03")
def test_a_person_extends_a_link_that_is_spent_and_ends_it(private_tmux):
    for name in ("one", "two"):
        private_tmux.new_session(name, SILENT_CAT)
    view = Viewed(private_tmux, "link", "--budget", "1", "--no-notices", "Ann=one", "Bob=two")
    view.shows("e extends")
    private_tmux.run("send-keys", "-t", "one", "hello", "Enter")
    view.shows("the link is spent after 1 delivery")
    view.press("e")
    view.shows("the link is open for 1 more delivery")
    view.shows("the link is spent after 2 deliveries")
    view.press("q")
    view.shows("code 0")
