"""The agents that are recorded: how each is set up on a model on loopback, and what a driver needs to know of it.

Each gets a home of its own, keys that are none, no updates and no telemetry. Programs are looked for in a folder of
`npm --prefix` installs (`claude-new`, `claude-code`, `codex`, `gemini`, `opencode-ai`, `qwen`) and in `venv-aider`
beside it.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

KEY = "no-key-0123456789abcdefghij"
_SERVER = (sys.executable, str(Path(__file__).parent / "tool_server.py"))


class Wanted(NamedTuple):
    """What a scenario asks of the set-up."""

    trusts: bool = True
    """Whether the folder is trusted already."""
    allows: bool = True
    """Whether tools run without a question."""
    resumes: bool = False
    has_server: bool = False
    """Whether it has a server with a tool (tool_server.py)."""


class Start(NamedTuple):
    """The words that start an agent, and its variables."""

    words: list[str]
    variables: dict[str, str]


@dataclass(frozen=True)
class Agent:
    """One renderer of one agent."""

    set_up: Callable[[Path, Path, str, Wanted], Start]
    """From the folder of programs, the home, the model's address and the scenario's wishes."""
    package: str
    """Where its package.json is in the folder of programs."""
    ready: str
    """What its screen shows when it takes messages (a regular expression)."""
    trust: str = ""
    """What its screen shows when it asks whether the folder is trusted; empty if it never asks."""
    permission: str = ""
    pickers: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    """Those of them that take one more Escape."""
    clear: str = "/clear"
    compact: str = "/compact"
    escapes: int = 1
    """How many Escapes close a picker or interrupt an answer."""
    interrupt: str = "Escape"
    without_tools: bool = False
    switch: tuple[str, str] = ("", "")
    """The commands that switch to another renderer and back."""
    resumes: bool = False
    greets: bool = False
    """Whether it prints lines before its first prompt, as any command does: it is recorded from there on."""
    trusts: tuple[str, ...] = ("Enter",)
    """The keys that say that the folder is trusted."""
    server: tuple[str, ...] = ()
    """The keys that allow a new server, where it asks about that when it starts."""
    writes: bool = True
    """Whether it has a tool that writes a file in its folder."""
    stays_in_shell: bool = False
    """Whether it goes on taking commands of the shell after the first, until an Escape."""
    boots: float = 1.0
    """Seconds of rest that it needs once it looks ready."""


def _write(path: Path, content: str | Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def _servers() -> dict[str, object]:
    return {"tiny": {"command": _SERVER[0], "args": [*_SERVER[1:]]}}


def _claude(package: str, tui: str) -> Callable[[Path, Path, str, Wanted], Start]:
    def set_up(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
        _write(home / ".claude.json", {
            "hasCompletedOnboarding": True, "numStartups": 5, "autoUpdates": False, "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(home / "work"): project} if wanted.trusts else {},
        })  # fmt: skip
        allowed = ["Bash(printf:*)", "Bash"] if wanted.allows else []
        _write(home / ".claude" / "settings.json", {"permissions": {"allow": allowed}, "tui": tui})
        if wanted.has_server:
            _write(home / "work" / ".mcp.json", {"mcpServers": _servers()})
        quiet = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND")
        variables = dict.fromkeys((*quiet, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1")
        variables |= {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": KEY}
        words = [str(programs / package / "node_modules/.bin/claude"), "--model", "claude-sonnet-4-5"]
        return Start([*words, *(["--continue"] if wanted.resumes else [])], variables)

    return set_up


def _codex(*more: str) -> Callable[[Path, Path, str, Wanted], Start]:
    def set_up(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
        policy = ("never", "danger-full-access") if wanted.allows else ("on-request", "read-only")
        server = f'[mcp_servers.tiny]\ncommand = "{_SERVER[0]}"\nargs = ["{_SERVER[1]}"]\n' if wanted.has_server else ""
        trust = f'[projects."{home / "work"}"]\ntrust_level = "trusted"\n' if wanted.trusts else ""
        _write(
            home / ".codex" / "config.toml",
            f"""model = "gpt-5"
model_provider = "loopback"
approval_policy = "{policy[0]}"
sandbox_mode = "{policy[1]}"
check_for_update_on_startup = false
[model_providers.loopback]
name = "loopback"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "NO_KEY"
[analytics]
enabled = false
{trust}{server}""",
        )
        program = str(programs / "codex/node_modules/.bin/codex")
        words = [program, *(["resume", "--last"] if wanted.resumes else []), "--no-daemon", *more]
        return Start(words, {"NO_KEY": KEY})

    return set_up


def _gemini(*, alternate: bool) -> Callable[[Path, Path, str, Wanted], Start]:
    def set_up(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
        _write(home / ".gemini" / "settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": not wanted.trusts}},
            "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "ui": {"useAlternateBuffer": alternate}, "mcpServers": _servers() if wanted.has_server else {},
        })  # fmt: skip
        words = [str(programs / "gemini/node_modules/.bin/gemini"), *(["--yolo"] if wanted.allows else [])]
        words += ["-m", "gemini-2.5-pro", *(["--resume", "latest"] if wanted.resumes else [])]
        return Start(words, {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": model, "NO_UPDATE_NOTIFIER": "1"})

    return set_up


def _qwen(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
    _write(home / ".qwen" / "settings.json", {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": not wanted.trusts}},
        "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "disableUpdateNag": True},
        "model": {"name": "loopback"}, "mcpServers": _servers() if wanted.has_server else {},
    })  # fmt: skip
    words = [str(programs / "qwen/node_modules/.bin/qwen"), *(["--yolo"] if wanted.allows else [])]
    words += ["--continue"] if wanted.resumes else []
    variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{model}/v1", "OPENAI_MODEL": "loopback"}
    return Start(words, {**variables, "NO_UPDATE_NOTIFIER": "1"})


def _opencode(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
    models = {"loopback": {"name": "Loopback", "tool_call": True, "limit": {"context": 200_000, "output": 8192}}}
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Loopback", "models": models,
        "options": {"baseURL": f"{model}/v1", "apiKey": KEY},
    }  # fmt: skip
    _write(home / ".config/opencode/opencode.json", {
        "autoupdate": False, "share": "disabled", "model": "lab/loopback", "small_model": "lab/loopback",
        "provider": {"lab": provider},
        "permission": {} if wanted.allows else dict.fromkeys(("bash", "edit", "tiny_lookup"), "ask"),
        "mcp": {"tiny": {"type": "local", "command": [*_SERVER]}} if wanted.has_server else {},
    })  # fmt: skip
    words = [str(programs / "opencode-ai/node_modules/opencode-linux-x64/bin/opencode")]
    words += ["--continue"] if wanted.resumes else []
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return Start(words, {f"OPENCODE_DISABLE_{name}": "1" for name in off})


def _aider(programs: Path, home: Path, model: str, wanted: Wanted) -> Start:
    quiet = (
        "--no-check-update", "--no-show-model-warnings", "--analytics-disable", "--no-show-release-notes",
        "--no-detect-urls", "--no-git",
    )  # fmt: skip
    words = [str(programs.parent / "venv-aider/bin/aider"), "--model", "openai/loopback", *quiet]
    words += ["--edit-format", "ask", "--map-tokens", "0", "--yes-always"]
    words += ["--restore-chat-history"] if wanted.resumes else []
    return Start(words, {
        "OPENAI_API_BASE": f"{model}/v1", "OPENAI_API_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "AIDER_ANALYTICS": "false",
    })  # fmt: skip


_ASKS = r"Do you want to|Would you like to run|Allow (?:execution|once)|Yes, (?:allow|proceed)|Permission required"
_TRUST = r"[Dd]o you trust|trust (?:the files|this folder)"
_CLAUDE_PACKAGE = "node_modules/@anthropic-ai/claude-code"


def _of_claude(package: str, tui: str, *server: str, trusts: tuple[str, ...] = ("Enter",)) -> Agent:
    return Agent(
        _claude(package, tui), f"{package}/{_CLAUDE_PACKAGE}", r"(?m)^\s*❯", _TRUST, _ASKS,
        pickers=("/model", "/theme", "/config"), nested=("/config",), switch=("/tui fullscreen", "/tui default"),
        resumes=True, trusts=trusts, server=server,
    )  # fmt: skip


def _of_codex(*more: str) -> Agent:
    return Agent(
        _codex(*more), "codex/node_modules/@openai/codex", r"(?m)^\s*› ", permission=_ASKS,
        pickers=("/model",), clear="/new", escapes=2, resumes=True, writes=False,
    )  # fmt: skip


def _of_gemini(*, alternate: bool) -> Agent:
    return Agent(
        _gemini(alternate=alternate), "gemini/node_modules/@google/gemini-cli", "Type your message", _TRUST, _ASKS,
        pickers=("/theme", "/settings"), compact="/compress", resumes=True, boots=3.0,
        stays_in_shell=True,
    )  # fmt: skip


AGENTS: Mapping[str, Agent] = MappingProxyType({
    "claude": _of_claude("claude-new", "default", "Up", "Up", "Enter", trusts=("Down", "Enter")),
    "claude_fullscreen": _of_claude("claude-new", "fullscreen", "Up", "Up", "Enter", trusts=("Down", "Enter")),
    "claude197": _of_claude("claude-code", "default", "Enter"),
    "claude197_fullscreen": _of_claude("claude-code", "fullscreen", "Enter"),
    "codex": _of_codex(),
    "codex_inline": _of_codex("--no-alt-screen"),
    "gemini": _of_gemini(alternate=False),
    "gemini_alternate": _of_gemini(alternate=True),
    "qwen": Agent(
        _qwen, "qwen/node_modules/@qwen-code/qwen-code", "Type your message", _TRUST, _ASKS,
        pickers=("/theme", "/approval-mode"), compact="/compress", resumes=True, boots=2.0,
        writes=False, stays_in_shell=True,
    ),
    "opencode": Agent(
        _opencode, "opencode-ai/node_modules/opencode-ai", "Ask anything", "", _ASKS,
        pickers=("/models", "/themes"), clear="/new", escapes=2, resumes=True, boots=4.0,
    ),
    "aider": Agent(
        _aider, "", r"(?m)^(?:ask)?> *$", interrupt="C-c", without_tools=True, compact="", resumes=True, greets=True,
    ),
})  # fmt: skip
"""By the names of the folders of their recordings."""


def version(name: str, programs: Path) -> str:
    """Return the version of an agent's program."""
    agent = AGENTS[name]
    if agent.package:
        found: str = json.loads((programs / agent.package / "package.json").read_text())["version"]
        return found
    words = [str(programs.parent / "venv-aider/bin/aider"), "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]
