"""GitHub runs the commands that the repository has, and pre-commit runs those of the tests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.requirement("OPS-13b")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_step_is_a_script_of_the_repository(workflow: Path) -> None:
    commands = re.findall(r"^ +- run: (.*)$", workflow.read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        script = command.removeprefix("bash ").split()[0]
        assert (ROOT / script).is_file(), command


def test_a_change_runs_what_ci_runs() -> None:
    assert "- run: bash .ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def test_pre_commit_runs_the_static_checks_of_the_tests() -> None:
    steps = re.findall(
        r'^step "\$bin/(ruff|mypy|lint-imports)"(.*)$', (ROOT / "scripts" / "test").read_text(), re.MULTILINE
    )
    hooks = re.findall(r"entry: \.venv/bin/(\S+)(.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    assert hooks == steps
