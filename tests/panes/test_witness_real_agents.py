"""What a real agent says is the source that its model streamed: Claude Code in a pane, with a model on loopback.

It is taken from PATH, or from where $STREAMRELAY_CLAUDE says; who has none skips this.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from streamrelay.agents import shipped_profiles
from streamrelay.control import Tmux
from streamrelay.events import Event, Text, WitnessCompared
from streamrelay.panes.server import Server
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

KEY = "no-key-0123456789abcdefghij"
ANSWER = """## Plan

In **two** steps:

- Read `%output` lines.
- Stop at a gap.

```python
def done(rows):
    return [row for row in rows if row.age > 3]
```

| Program | Bytes |
|---|---|
| cat | 120 |
| ink | 9100 |

That is all."""
LIMIT = 60.0


def claude(program: str, home: Path, model: str) -> list[str]:
    settings = {
        "hasCompletedOnboarding": True, "numStartups": 5, "autoUpdates": False, "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(home / "work"): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }  # fmt: skip
    (home / ".claude.json").write_text(json.dumps(settings))
    quiet = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    variables = dict.fromkeys((*quiet, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1")
    variables |= {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": KEY}
    return [*(f"{name}={value}" for name, value in variables.items()), program]


def decide(_: ModelRequest) -> ModelReply:
    return ModelReply(ANSWER)


@pytest.mark.requirement("DEL-11", "AGT-02a")
async def test_an_answer_is_what_the_model_streamed(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    program = os.environ.get("STREAMRELAY_CLAUDE") or shutil.which("claude")
    if program is None:
        pytest.skip("no claude here; $STREAMRELAY_CLAUDE says where one is")
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    with LoopbackModel(decide) as model:
        words = claude(program, home, model.url)
        common = [f"HOME={home}", f"PATH={os.environ['PATH']}", "TERM=xterm-256color", "LANG=C.UTF-8"]
        start = ["sh", "-c", 'cd "$1/work"; shift; exec env -i "$@"', "sh", str(home), *common, *words]
        pane = private_tmux.new_session("claude", start, columns=120, lines=50)
        heard: list[Event] = []
        tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path)
        async with Server(tmux, profiles=shipped_profiles()) as server, server.watch(pane) as stream:

            def shown() -> str:
                return private_tmux.run("capture-pane", "-p", "-t", pane)

            await wait_until_async(lambda: "❯" in shown(), LIMIT, "the agent to be ready")
            private_tmux.run("send-keys", "-t", pane, "-l", "What is the plan?")
            await wait_until_async(lambda: "What is the plan?" in shown(), LIMIT, "the message to be painted")
            private_tmux.run("send-keys", "-t", pane, "Enter")
            async with asyncio.timeout(LIMIT):
                async for event in stream:
                    heard.append(event)
                    if isinstance(event, WitnessCompared):
                        break
        assert [event.text for event in heard if isinstance(event, Text) and event.origin == "program"] == ANSWER.split(
            "\n"
        )
        compared = heard[-1]
        assert isinstance(compared, WitnessCompared)
        assert (compared.outcome, compared.witnesses) == ("agrees", ("transcript",))
        assert model.errors == []
