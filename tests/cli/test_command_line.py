"""The command line before any command runs: what it loads, lists, suggests, and takes in front of a command."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from streamrelay_cli.command_group import COMMON, CommandGroup
from streamrelay_cli.commands import COMMANDS
from streamrelay_cli.main import app
from streamrelay_cli.suggestions import SUGGESTIONS
from typer.testing import CliRunner

from streamrelay.config.layers import read_toml
from streamrelay.config.settings import all_keys

ROOT = typer.main.get_command(app)
PANELS = ["Watch and record", "Talk", "Agents", "Control", "Set up", "Explore"]
LOADED = """
import sys
from streamrelay_cli.entry import run
sys.argv = ["streamrelay", *sys.argv[1:]]
try:
    run()
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sorted(sys.modules), file=sys.stderr)
"""
COLLECTED = """
import gc, json, sys
from streamrelay_cli.entry import run
sys.argv = ["streamrelay", "daemon", "-S", "/nonexistent/tmux"]
try:
    run()
except SystemExit as ended:
    assert ended.code, ended.code
print(json.dumps([gc.isenabled(), gc.get_stats()[0]["collections"], len(sys.modules)]), file=sys.stderr)
"""
INTERRUPTED = """
import os, signal, sys
from streamrelay_cli import entry

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

entry.open_closed = lambda: Dropped() and None
sys.argv = ["streamrelay", "--version"]
entry.run()
"""
HEAVY = {"httpx", "libtmux", "mcp", "msgspec", "pyte", "regex", "rich", "sqlite3", "starlette", "structlog", "uvicorn"}
COMPLETING = {"_STREAMRELAY_COMPLETE": "complete_bash", "COMP_WORDS": "streamrelay re", "COMP_CWORD": "1"}


def walk(table=COMMANDS, before=()):
    for name, entry in table.items():
        yield (*before, name), entry
        yield from walk(entry.commands, (*before, name))


def loaded(path):
    command = ROOT
    for name in path:
        command = command.commands[name]
    return command


def invoke(*words, code=0):
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done.stdout if code == 0 else done.stderr


@pytest.mark.requirement("OPS-12a")
@pytest.mark.parametrize(
    ("words", "environment"),
    [(("--version",), {}), (("--help",), {}), ((), COMPLETING), (("help",), {})],
    ids=["version", "help", "completion", "help command"],
)
def test_the_prompt_loads_no_engine(words, environment):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], env={**os.environ, **environment}, capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout
    modules = set(done.stderr.split())
    assert "streamrelay_cli.main" in modules
    assert not {name for name in modules if name.split(".")[0] in HEAVY}
    assert {name for name in modules if name.startswith("streamrelay.")} <= {
        "streamrelay.errors",
        "streamrelay.version",
    }


def test_imports_are_not_searched_for_garbage_and_what_a_command_makes_is():
    done = subprocess.run([sys.executable, "-c", COLLECTED], capture_output=True, text=True, check=True, timeout=60)
    collects, collections, modules = json.loads(done.stderr.splitlines()[-1])
    assert collects
    assert collections < 100 < modules, "it was 307, and is 48 without the imports"


def test_the_table_has_every_command_with_the_line_of_its_help():
    for path, entry in walk():
        command = loaded(path)
        first = " ".join((command.help or "").split("\n\n")[0].split())
        assert first == entry.help, path
        assert command.hidden == entry.hidden or entry.commands, path
        assert re.fullmatch(r"[A-Z][a-z]+ .*\.", first), path
        assert (entry.panel in PANELS) == (len(path) == 1), path


def test_every_module_of_a_command_is_in_the_table():
    targets = {entry.target.partition(":")[0] for _, entry in walk()}
    folder = Path(sys.modules["streamrelay_cli.main"].__file__).parent
    for file in folder.glob("*.py"):
        if file.stem not in targets | {"main"}:
            assert not re.search(r"typer\.Argument\(", file.read_text()), f"{file.name} looks like a command"


@pytest.mark.requirement("OPS-12b")
def test_the_bare_command_prints_the_groups_and_succeeds():
    shown = invoke()
    headings = re.findall(r"^(\w[^:\n]*):$", shown, re.MULTILINE)
    assert headings[: len(PANELS)] == PANELS
    for name, entry in COMMANDS.items():
        assert (re.search(rf"^  {name}  ", shown, re.MULTILINE) is None) == entry.hidden, name
    assert invoke("--help") == invoke("-h") == invoke("help") == shown
    assert invoke("gather") == invoke("gather", "--help") == invoke("help", "gather")


@pytest.mark.requirement("OPS-12c")
def test_help_and_version_answer_whichever_way_they_are_typed():
    assert invoke("help", "gather", "start") == invoke("gather", "start", "--help")
    assert invoke("help", "sned", code=2) == "error: no such command: sned\nhint: did you mean `streamrelay send`?\n"
    assert invoke("version") == invoke("-V") == invoke("--version")


@pytest.mark.requirement("OPS-12c")
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["list"], "ls"), (["run"], "start"), (["kill"], "end"), (["tail"], "watch"),
        (["LOGS"], "daemon logs"), (["wach"], "watch"), (["gather", "lst"], "gather list"),
        (["daemon", "stopp"], "daemon stop"),
    ],
)  # fmt: skip
def test_a_word_that_is_no_command_gets_a_suggestion(words, meant):
    error, hint = invoke(*words, code=2).splitlines()
    assert error == f"error: no such command: {words[-1]}"
    assert hint.startswith(f"hint: did you mean `streamrelay {meant}`")


def test_suggestions_are_commands_and_hide_none():
    known = {" ".join(path) for path, _ in walk()}
    assert set(SUGGESTIONS.values()) <= known
    assert not set(SUGGESTIONS) & set(COMMANDS)


@pytest.mark.requirement("OPS-02d")
def test_common_options_stand_in_front_of_a_command_or_behind_it():
    def socket(*words):
        return json.loads(invoke(*words))

    behind = socket("config", "show", "socket_name", "--json", "-L", "y")
    assert (behind["value"], behind["where"]) == ("y", "--socket-name")
    assert socket("-L", "y", "--json", "config", "show", "socket_name") == behind
    assert socket("config", "-L", "y", "show", "socket_name", "--json") == behind
    assert socket("-L", "x", "config", "--json", "show", "socket_name", "-L", "y") == behind
    assert socket("-L", "x", "config", "-L", "y", "show", "socket_name", "--json") == behind


def test_every_command_takes_the_common_options_it_has_in_front_too():
    for path, _ in walk():
        command = loaded(path)
        names = {parameter.name for parameter in command.params}
        if isinstance(command, CommandGroup):
            assert names >= {*COMMON}, path
    context = ROOT.make_context("streamrelay", ["-v", "-q", "ls", "-v"])
    _, lazy, rest = ROOT.resolve_command(context, ["ls", "-v"])
    inner = lazy.make_context("ls", rest, parent=context)
    assert (inner.params["verbose"], inner.params["quiet"]) == (2, True)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-L", "x", "render", "y"], "streamrelay render does not take -L"),
        (["--host", "x", "--json", "end", "y"], "streamrelay end does not take --host or --json"),
        (["-v", "profiles"], "streamrelay profiles does not take -v"),
        (["daemon", "--json", "stop"], "streamrelay daemon stop does not take --json"),
        (["--nonsense", "ls"], "no such option: --nonsense"),
        (["-v"], "missing command"),
        (["record"], "missing argument 'target'"),
        (["send", "a", "b", "--timeout", "x"], "invalid value for '--timeout': it should be a valid number"),
        (["record", "a", "b", "--for", "0"], "invalid value for '--for': it should be greater than or equal to 0.1"),
        (["record", "a", "b", "--for"], "option '--for' requires an argument"),
        (["watch", "--transport", "x"], "invalid value for '--transport': 'x' is not one of 'pipes', 'cc'"),
        (["daemon", "nonsense"], "no such command: nonsense"),
    ],
)
def test_usage_errors_have_the_form_of_all_errors(words, complaint):
    error, hint = invoke(*words, code=2).splitlines()
    assert error == f"error: {complaint}"
    assert hint.startswith("hint: `streamrelay")


def test_a_mistyped_option_gets_a_suggestion():
    assert invoke("ls", "--jsn", code=2).splitlines()[1] == "hint: did you mean --json or --ssh?"


def test_a_configuration_file_is_written_once_and_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "streamrelay" / "config.toml"
    before = invoke("config", "show")
    assert invoke("config", "init") == f"{file}\n"
    assert invoke("config", "show") == before
    text = file.read_text()
    values = "\n".join(line[1:] for line in text.splitlines() if re.match(r"#[a-z_.]+ = ", line))
    keys = all_keys()
    written = read_toml(values, file=str(file), kind="user").values
    assert written.keys() == {name for name, key in keys.items() if key.default is not None}
    assert all(f"\n#{name} =" in text for name in keys)
    assert "already exists" in invoke("config", "init", code=2)
    assert file.read_text() == text
    monkeypatch.chdir(tmp_path)
    assert invoke("config", "init", "--project").strip().endswith(".streamrelay.toml")
    assert "#host =" not in (tmp_path / ".streamrelay.toml").read_text()


def test_profiles_show_a_path_for_your_own_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    rows = invoke("profiles").splitlines()[1:]
    assert rows
    assert all(row.endswith("  built in") for row in rows)


@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_and_keeps_no_line_break_of_the_source(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    for path, _ in [((), None), *walk()]:
        ROOT.main([*path, "--help"], prog_name="streamrelay", standalone_mode=False)
        shown = capsys.readouterr().out
        names = {name for parameter in loaded(path).params if not getattr(parameter, "hidden", False)
                 for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("-")}  # fmt: skip
        shown_names = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", shown))
        assert names <= shown_names, path
        assert "…" not in shown, path
        lines = shown.splitlines()
        assert max(map(len, lines)) <= columns, path
        prose = shown.partition("\n\n")[2].partition("\n\nArguments:")[0].partition("\n\nOptions:")[0]
        for paragraph in prose.split("\n\n"):
            *full, _ = paragraph.splitlines()
            following = paragraph.splitlines()[1:]
            if re.match(r"\w[^:]*:$", paragraph.splitlines()[0]):
                continue
            # A line that had room for the first word of the next one was broken by the source.
            for line, below in zip(full, following, strict=True):
                assert len(line) + 1 + len(below.split()[0]) > columns - 2, (path, line)


def test_ctrl_c_before_a_command_runs_ends_the_process_wherever_the_interpreter_is() -> None:
    """Python drops the KeyboardInterrupt of a `__del__`: `streamrelay watch` went on for ever then."""
    # Tests that run in the background of a script have SIGINT ignored, and hand that on.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + INTERRUPTED
    ended = subprocess.run([sys.executable, "-c", heeding], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_stays_ignored_where_the_shell_ignores_it() -> None:
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", INTERRUPTED]
    ended = subprocess.run(ignoring, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("streamrelay ")
