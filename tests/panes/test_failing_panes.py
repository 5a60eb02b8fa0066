"""A defect that one pane's bytes bring to light, wherever it shows: its stream ends, says so, and no other one does."""

import pytest

from streamrelay.events import Gap, PaneClosed, PaneOpened

RUNNER = ["sh", "-c", "stty -echo; while read words; do $words; done"]


def types(tmux, pane, text):
    tmux.run("send-keys", "-t", pane, text, "Enter")


def runs_another_program(tmux, pane):
    types(tmux, pane, "seq 3")
    types(tmux, pane, "exec cat")


def is_paused(tmux, pane):
    client = tmux.run("list-clients", "-F", "#{client_name}").strip()
    tmux.run("refresh-client", "-t", client, "-A", f"{pane}:pause")


@pytest.mark.requirement("ENG-09b")
@pytest.mark.parametrize(
    ("step", "happens"),
    [
        pytest.param("update", runs_another_program, id="another program is looked up"),
        pytest.param("update", lambda tmux, pane: tmux.run("resize-pane", "-t", pane, "-x", "30"), id="it is resized"),
        pytest.param("paused", is_paused, id="tmux pauses it"),
        pytest.param("moved", lambda tmux, pane: tmux.run("break-pane", "-d", "-s", pane), id="it moves"),
        pytest.param("arrived", lambda tmux, pane: tmux.run("break-pane", "-d", "-s", pane), id="it has moved"),
        pytest.param("_let_pass", lambda tmux, pane: types(tmux, pane, "seq 3"), id="time passes"),
    ],
)
async def test_a_pane_ends_alone_at_whichever_step_it_fails(
    private_tmux, server, heard, monkeypatch, caplog, step, happens
):
    bad, good = private_tmux.new_session("bad", RUNNER), private_tmux.new_session("good", RUNNER)
    private_tmux.run("join-pane", "-d", "-h", "-s", bad, "-t", good)

    def fails(*_):
        raise ValueError("a defect")

    async with server.watch(bad) as broken, server.watch(good) as whole:
        says, others = heard(broken), heard(whole)
        await says.until(lambda s: s.of(PaneOpened))
        monkeypatch.setattr(server.pipeline(bad), step, fails)
        happens(private_tmux, bad)
        await says.until_end()
        assert [closed.reason for closed in says.of(PaneClosed)] == ["failed"]
        assert not server.is_watched(bad)
        types(private_tmux, good, "seq 4")
        await others.until(lambda s: s.said[-1:] == ["4"])
        assert others.of(Gap) == []
        assert server.is_watched(good)
    assert f"the pipeline of pane {bad} failed" in caplog.text
