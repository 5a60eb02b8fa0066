"""What is typed to a real shell before our eyes, at a prompt that was shown when the watching began."""

import shutil

import pytest

from streamrelay.events import Text
from streamrelay.testing.waiting import wait_until_async

COLUMNS = 80


@pytest.mark.requirement("DEL-01")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize("width", [COLUMNS - 1, COLUMNS, COLUMNS + 1, 2 * COLUMNS])
async def test_a_command_that_fills_its_row_swallows_no_output(private_tmux, server, heard, width):
    """Readline writes a line feed behind it that the terminal takes for none: what follows is on the wrapped line."""
    bash = ["bash", "--noprofile", "--norc", "-i"]
    variables = {"PS1": "$ ", "HISTFILE": "/dev/null"}
    pane = private_tmux.new_session("work", bash, columns=COLUMNS, environment=variables)
    await wait_until_async(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).startswith("$"), 20)
    command = "seq 3 #".ljust(width - len("$ "), "x")
    async with server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-l", "-t", pane, command)
        private_tmux.run("send-keys", "-t", pane, "Enter")
        await says.until(lambda s: s.said[-1:] == ["3"])
        assert says.said == ["1", "2", "3"]
        assert [event.text for event in says.of(Text) if event.origin == "typed"] == [command]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    "shell", [["bash", "--noprofile", "--norc", "-i"], ["zsh", "-f", "-i"]], ids=lambda argv: argv[0]
)
async def test_a_job_in_the_background_prints_over_the_prompt(private_tmux, server, heard, tmp_path, shell):
    """The shell stands at its prompt, and knows nothing of it."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"there is no {shell[0]} here")
    gate, script = tmp_path / "gate", tmp_path / "job"
    # It prints a while later: the keys before have been read by then, and nothing else tells that.
    script.write_text(f"until [ -e {gate} ]; do sleep 0.05; done; sleep 0.5; echo over your prompt; echo twice\n")
    variables = {"PS1": "$ ", "HISTFILE": "/dev/null", "JOB": str(script)}
    pane = private_tmux.new_session("work", shell, columns=COLUMNS, environment=variables)

    def screen() -> str:
        return private_tmux.run("capture-pane", "-p", "-t", pane).rstrip()

    # zsh may print its mark for a line without an end above the first prompt.
    await wait_until_async(lambda: screen().endswith("$"), 20, "the first prompt")

    def types(text: str, *keys: str) -> None:
        private_tmux.run("send-keys", "-l", "-t", pane, text)
        for key in keys:
            private_tmux.run("send-keys", "-t", pane, key)

    async with server.watch(pane) as stream:
        says = heard(stream)
        types("echo first", "Enter")
        await says.until(lambda s: s.said[-1:] == ["first"])
        types("sh $JOB &", "Enter")
        await says.until(lambda s: any(line.startswith("[1] ") for line in s.said))
        await wait_until_async(lambda: screen().endswith("$"), 20, "the next prompt")
        types("echo sec")
        await wait_until_async(lambda: screen().endswith("sec"), 20, "what was typed")
        gate.touch()
        await says.until(lambda s: "twice" in s.said)
        types("ond", "Enter")
        await says.until(lambda s: "second" in s.said)
        assert [line for line in says.said if not line.startswith("[1]") and line] == [
            "first",
            "over your prompt",
            "twice",
            "second",
        ]
        assert [event.text for event in says.of(Text) if event.origin == "typed"] == [
            "echo first",
            "sh $JOB &",
            "echo second",
        ]
