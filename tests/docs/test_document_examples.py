"""What documents show of data and code is data and code: events, TOML, Python, and what `explain` prints."""

import ast
import importlib
import re
import shlex
from pathlib import Path

import pytest
from streamrelay_cli.main import app

import streamrelay.events
from streamrelay.config.layers import read_toml

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.requirement("OPS-08b")
def test_the_document_of_events_has_every_event_with_its_fields() -> None:
    text = (ROOT / "docs" / "events.md").read_text()
    common = set(streamrelay.events.Event.__struct_fields__)
    documented = {
        name: set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        for name, section in re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    }
    events = {event.__struct_config__.tag: event for event in streamrelay.events.Event.__subclasses__()}
    assert documented == {tag: set(event.__struct_fields__) - common for tag, event in events.items()}
    head = text.partition("## What all events carry")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", head, re.MULTILINE)) == common | {"v"}


@pytest.mark.requirement("OPS-08b")
def test_the_example_of_a_configuration_is_one() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text().partition("For example:\n")[2].partition("`streamrelay")[0]
    example = "\n".join(line.strip() for line in text.splitlines())
    assert set(read_toml(example, file="docs/configuration.md", kind="project").values) == {
        "transport", "link.budget", "link.checkpoints", "link.texts.spent",
    }  # fmt: skip


@pytest.mark.requirement("OPS-08b")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_in_documents_compiles_and_names_what_is_there(document: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL):
        compile(block, document.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for name in re.findall(r"`(streamrelay(?:\.\w+)+)", document.read_text()):
        assert exists(name), name


def exists(name: str) -> bool:
    module, *rest = name.split(".")
    found = importlib.import_module(module)
    while rest:
        try:
            found = importlib.import_module(f"{module}.{rest[0]}")
            module = f"{module}.{rest[0]}"
        except ModuleNotFoundError:
            break
        rest = rest[1:]
    for part in rest:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.requirement("OPS-08b", "DEL-09b")
def test_what_the_document_shows_of_explain_is_what_it_prints(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "explain.md").read_text()
    examples = re.findall(r"^    \$ streamrelay (explain .*)\n((?:    .*\n|\n(?=    ))+)", text, re.MULTILINE)
    assert len(examples) == 2
    for command, shown in examples:
        app(shlex.split(command), standalone_mode=False)
        printed = [line.rstrip() for line in capsys.readouterr().out.strip("\n").splitlines()]
        assert printed == [line.removeprefix("    ").rstrip() for line in shown.strip("\n").splitlines()]


@pytest.mark.requirement("OPS-08b")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)", document.read_text()):
        file = (document.parent / target).resolve() if target else document
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor[1:] in slugs, f"{target}{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_documents_name_are_there(document: Path) -> None:
    for name in re.findall(r"`((?:streamrelay|tests|docs|examples|benchmarks|cli)/[\w./-]+)`", document.read_text()):
        assert (ROOT / name).exists() or list((ROOT / name).parent.glob(f"{Path(name).name}-*")), name
    for name in re.findall(r"\(?(docs/[\w-]+\.md)", document.read_text()):
        assert (ROOT / name).exists(), name
