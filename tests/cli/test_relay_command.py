"""`streamrelay relay` between scripted participants: no echo, no loss, quotes kept, whatever the delay of painting."""

import sys

import pytest

from streamrelay import errors
from streamrelay.testing.participant import begin, read_log
from streamrelay.testing.waiting import wait_until


def participant(name, folder, *, rounds, paint, delay):
    return [
        sys.executable, "-m", "streamrelay.testing.participant", "--name", name, "--rounds", str(rounds), "--stay",
        "--quote-every", "5", "--input", paint, "--paint-delay", str(delay), "--log", str(folder / name),
    ]  # fmt: skip


def texts(folder, name, kind):
    return [record.text for record in read_log(folder / name) if record.kind == kind]


def converse(private_tmux, cli, folder, names, *, rounds, inputs, delay, options=()):
    for name, paint in zip(names, inputs, strict=True):
        private_tmux.new_session(name, participant(name, folder, rounds=rounds, paint=paint, delay=delay))
    relaying = cli.start("relay", "--json", "--budget", str(len(names) * rounds), *options, *names)
    relaying.until(lambda: relaying.events("relay_opened"), "the relay")
    begin(private_tmux, names[0], folder / names[0])
    painting = 2 * delay * rounds * len(names)  # what is said and what is heard
    assert relaying.wait(painting) == 0, relaying.stderr
    return relaying


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("REL-01", "REL-03a", "REL-04a", "REL-04b", "DEL-02b")
@pytest.mark.parametrize(
    ("rounds", "delay", "inputs"),
    [
        pytest.param(50, 0, ("raw", "cooked"), id="50 rounds, painted at once"),
        pytest.param(50, 0.2, ("raw", "raw"), id="50 rounds, painted 0.2 s late"),
        pytest.param(5, 2.5, ("raw", "raw"), id="5 rounds, painted 2.5 s late"),
        pytest.param(5, 2.5, ("cooked", "raw"), id="5 rounds, one cooked, 2.5 s late"),
    ],
)
@pytest.mark.requirement("OPS-02a")
def test_a_conversation_has_no_echo_no_loss_and_keeps_its_quotes(private_tmux, cli, tmp_path, rounds, delay, inputs):
    relaying = converse(private_tmux, cli, tmp_path, ("Ann", "Bob"), rounds=rounds, inputs=inputs, delay=delay)
    spoken = {name: texts(tmp_path, name, "said") for name in ("Ann", "Bob")}
    wait_until(lambda: texts(tmp_path, "Ann", "heard") == spoken["Bob"], 10 + 2 * delay, "Ann to hear the last word")

    assert texts(tmp_path, "Bob", "heard") == spoken["Ann"]
    assert texts(tmp_path, "Ann", "heard") == spoken["Bob"]
    for name, words in spoken.items():
        assert relaying.said(name) == words
        assert sum(word.startswith("You said: ") for word in words) == rounds // 5


@pytest.mark.requirement("REL-03a", "REL-04a")
def test_three_participants_hear_each_other(private_tmux, cli, tmp_path):
    for number, name in enumerate(("Ann", "Bob", "Cid")):
        private_tmux.new_session(
            name,
            participant(name, tmp_path, rounds=2, paint=("raw", "cooked", "raw")[number], delay=0),
        )
    relaying = cli.start("relay", "--json", "Ann", "Bob", "Cid")
    relaying.until(lambda: relaying.events("relay_opened"), "the relay")
    begin(private_tmux, "Ann", tmp_path / "Ann")
    relaying.until(lambda: len(relaying.events("relay_delivered")) >= 6, "six messages")
    relaying.until(
        lambda: all(
            sorted(texts(tmp_path, name, "heard"))
            == sorted(
                word for other in ("Ann", "Bob", "Cid") if other != name for word in texts(tmp_path, other, "said")
            )
            for name in ("Ann", "Bob", "Cid")
        ),
        "everybody to hear everybody else",
    )
    relaying.interrupt()


def test_names_can_be_given_and_the_text_form_is_what_listeners_see(private_tmux, cli):
    private_tmux.new_session("one", ["cat"])
    two = private_tmux.new_session("two", ["sh", "-c", "exec cat >/dev/null"])  # it answers nothing
    relaying = cli.start("relay", "Ann=one", f"Bob={two}")
    relaying.until_ready()
    assert "Ann (1) and Bob (2) hear each other" in relaying.stderr
    private_tmux.run("send-keys", "-t", "one", "hello there", "Enter")
    relaying.until(lambda: "Ann (1):\n\nhello there\n" in relaying.stdout, "the message")
    wait_until(lambda: "Ann (1):" in private_tmux.run("capture-pane", "-p", "-t", two), message="its delivery")
    relaying.interrupt()
    assert "Ann (1): 1 sent (" in relaying.stderr


@pytest.mark.requirement("REL-03c")
def test_a_burst_goes_out_under_one_header(private_tmux, cli):
    private_tmux.new_session("one", ["sh", "-c", "read go; printf 'a\\nb\\n\\nc\\n'; read more"])
    private_tmux.new_session("two", ["cat"])
    relaying = cli.start("relay", "--json", "--allow-shell", "one", "two")
    relaying.until(lambda: relaying.events("relay_opened"), "the relay")
    private_tmux.run("send-keys", "-t", "one", "Enter")
    relaying.until(lambda: relaying.events("relay_delivered"), "the burst")
    assert relaying.events("relay_delivered")[0]["text"] == "one (1):\n\na\nb\n\nc"
    relaying.interrupt()


def test_a_pane_takes_part_in_one_relay_at_a_time(private_tmux, cli):
    """Two relays on the same panes would take each other's deliveries for news, without end."""
    private_tmux.new_session("one", ["cat"])
    private_tmux.new_session("two", ["cat"])
    private_tmux.new_session("three", ["cat"])
    first = cli.start("relay", "one", "two")
    first.until_ready()
    refused = cli.run("relay", "two", "three")
    assert refused.returncode == errors.PaneTaken.exit_code
    assert f"error: a relay (pid {first.process.pid}) writes into pane %1 already\nhint: press Ctrl-C" in refused.stderr
    first.interrupt()
    again = cli.start("relay", "two", "three")
    again.until_ready()
    again.interrupt()
