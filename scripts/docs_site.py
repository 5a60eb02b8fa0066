"""Prepare the documents for the site generator, and check the site that it builds; see scripts/docs.

    python scripts/docs_site.py prepare FOLDER     write zensical.toml and the pages to FOLDER
    python scripts/docs_site.py check FOLDER       print each link that leads nowhere; status 1 if there is one

The pages are those of docs/, and reference pages that are generated from the code: the command line, the errors, the
public library. A link to a file that is no page leads to the repository.
"""

import importlib
import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/streamrelay/streamrelay/blob/main"
GENERATED = ("command-line.md", "errors.md", "library.md")

NAVIGATION: dict[str, dict[str, str]] = {
    "Tutorial": {"Ten minutes": "tutorial.md"},
    "How to": {
        "Use it, task by task": "guide.md",
        "Start and watch agents": "agents.md",
        "Send messages": "delivery.md",
        "Link two programs": "links.md",
        "Hold a round table": "gatherings.md",
        "Talk with models and agents": "council.md",
        "Give tools to agents": "mcp.md",
        "Use panes from editors (ACP)": "acp.md",
        "Use the web page": "web.md",
        "Use it inside tmux": "tmux.md",
        "Use it with libtmux": "libtmux.md",
        "Run the daemon": "daemon.md",
        "Connect machines": "federation.md",
        "Links at scale": "scaling.md",
        "Search what was said": "history.md",
        "Record and replay": "recordings.md",
        "Find out why a line is missing": "explain.md",
        "Describe a program": "profiles.md",
        "Operate it": "operations.md",
        "Security": "security.md",
    },
    "Reference": {
        "Command line": "command-line.md",
        "Configuration": "configuration.md",
        "Events": "events.md",
        "Errors": "errors.md",
        "Library": "library.md",
        "Pulse": "pulse.md",
    },
    "Explanation": {
        "Architecture": "architecture.md",
        "Add one thing in one place": "contributing.md",
        "The terminal": "terminal.md",
        "Requirements": "requirements.md",
        "Benchmarks": "benchmarks.md",
        "Judge your own reader": "judge.md",
        "Comparison with other tools": "comparison.md",
    },
}


def prepare(folder: Path) -> None:
    """Write the configuration and the pages."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "docs"
    shutil.copytree(ROOT / "docs", pages)
    for page in pages.rglob("*.md"):
        source = ROOT / "docs" / page.relative_to(pages)
        page.write_text(_with_links_to_repository(page.read_text(), source))
    (pages / "README.md").rename(pages / "index.md")
    for page in pages.rglob("*.md"):
        page.write_text(re.sub(r"\]\(((?:\.\./)*)README\.md", r"](\1index.md", page.read_text()))
    (pages / "command-line.md").write_text("\n".join(_command_line()))
    (pages / "errors.md").write_text("\n".join(_errors()))
    (pages / "library.md").write_text("\n".join(_library()))
    (folder / "zensical.toml").write_text(_configuration(pages))


def _with_links_to_repository(text: str, source: Path) -> str:
    """Return a page whose links to files outside docs/ lead to the repository; raises SystemExit for a missing file."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        file = Path(os.path.normpath(source.parent / target))
        if not file.exists():
            raise SystemExit(f"{source.relative_to(ROOT)}: no file {target}")
        if file.is_relative_to(ROOT / "docs") and file.is_file():
            return match[0]
        return f"]({REPOSITORY}/{file.relative_to(ROOT)}{anchor})"

    return re.sub(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)", link, text)


def _configuration(pages: Path) -> str:
    decisions = {_title(page): f"decisions/{page.name}" for page in sorted((pages / "decisions").glob("*.md"))}
    sections = [f"  {{ {_text(name)} = [{_entries(entries)}] }}," for name, entries in NAVIGATION.items()]
    return "\n".join([
        "[project]",
        'site_name = "streamrelay"',
        'site_description = "What the programs in tmux say, as a clean stream, and a relay on it"',
        'repo_url = "https://github.com/streamrelay/streamrelay"',
        'docs_dir = "docs"',
        'site_dir = "site"',
        "nav = [",
        '  { "Overview" = "index.md" },',
        *sections,
        f'  {{ "Decisions" = [{_entries(decisions)}] }},',
        "]",
        "[project.theme]",
        'features = ["navigation.tabs", "navigation.footer", "content.code.copy", "search.highlight", "toc.follow"]',
        "",
    ])  # fmt: skip


def _entries(entries: dict[str, str]) -> str:
    return ", ".join(f"{{ {_text(title)} = {_text(page)} }}" for title, page in entries.items())


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _title(page: Path) -> str:
    heading = page.read_text().partition("\n")[0].lstrip("# ")
    return heading.replace("`", "")


def _command_line() -> Iterator[str]:
    """Yield a page with the help of every command."""
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    import typer
    from streamrelay_cli.main import app

    root = typer.main.get_command(app)
    yield "# Command line\n\nThis page is generated from the help of each command.\n"
    yield from _help(root, ["streamrelay"], None)


def _help(command: object, words: list[str], parent: object) -> Iterator[str]:
    context = command.make_context(words[-1], [], parent=parent, resilient_parsing=True)  # type: ignore[attr-defined]
    yield f"{'#' * min(len(words) + 1, 4)} {' '.join(words)}\n\n```text\n{command.get_help(context).strip()}\n```\n"  # type: ignore[attr-defined]
    for name in getattr(command, "list_commands", lambda _context: [])(context):
        found = command.get_command(context, name)  # type: ignore[attr-defined]
        if found is not None and not found.hidden:
            yield from _help(found, [*words, name], context)


def _errors() -> Iterator[str]:
    """Yield a page with every error: its code, exit status, meaning and hint."""
    from streamrelay import errors

    yield "# Errors\n\nThis page is generated from `streamrelay/errors.py`. Every error has a `code`, which stays the"
    yield "same, a `message`, a `hint`, and `data`. `--json` prints them; the exit status of the command is the last"
    yield "column. A class is an error of each class it is indented under.\n"
    yield "| class | code | meaning | hint | status |\n|---|---|---|---|---|"
    yield from _error_rows(errors.StreamrelayError, 0)


def _error_rows(error: type, depth: int) -> Iterator[str]:
    indent, meaning = "&nbsp;&nbsp;" * depth, (inspect.getdoc(error) or "").partition("\n\n")[0].replace("\n", " ")
    fields = [f"{indent}`{error.__name__}`", f"`{error.code}`", meaning, error.default_hint, str(error.exit_code)]  # type: ignore[attr-defined]
    yield "| " + " | ".join(field.replace("|", "\\|") for field in fields) + " |"
    for each in sorted(error.__subclasses__(), key=lambda each: each.__name__):
        if each.__module__ == error.__module__:
            yield from _error_rows(each, depth + 1)


def _library() -> Iterator[str]:
    """Yield a page with the public classes and functions, from their docstrings."""
    import streamrelay

    yield "# Library\n\nThis page is generated from the docstrings. Events have [a page of their own](events.md).\n"
    yield _docstring(streamrelay)
    for module in ("streamrelay", "streamrelay.blocking", "streamrelay.libtmux"):
        loaded = importlib.import_module(module)
        yield f"## {module}\n"
        for name in loaded.__all__:
            value = getattr(loaded, name)
            if inspect.isfunction(value):
                yield f"### {module}.{name}\n\n```python\n{name}{inspect.signature(value)}\n```\n\n{_docstring(value)}"
            elif inspect.isclass(value):
                yield f"### {module}.{name}\n\n{_docstring(value)}"
                yield from _members(value)


def _members(of: type) -> Iterator[str]:
    for name, value in vars(of).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            signature = "" if isinstance(value, property) else str(inspect.signature(value))
            yield f"#### {of.__name__}.{name}\n\n```python\n{name}{signature}\n```\n\n{_docstring(value)}"


def _docstring(of: object) -> str:
    """Return a docstring as Markdown: an example after the first paragraph becomes a block of code."""
    text = inspect.getdoc(of) or ""
    return re.sub(r"(?:^|\n\n)((?:    .*\n?)+)", lambda match: f"\n\n{match[1]}", text) + "\n"


class _Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element's id, and where it leads."""
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            elif value and name in {"href", "src"} and tag != "link":
                self.links.append(value)


def broken_links(site: Path) -> list[str]:
    """Return the links and anchors of a site that lead nowhere, as "page: link"."""
    pages: dict[Path, _Page] = {}
    for file in sorted(site.rglob("*.html")):
        pages[file] = _Page()
        pages[file].feed(file.read_text())
    found = []
    for file, page in pages.items():
        if file.name == "404.html":
            continue  # it is served for any path, so its links begin at the root of the site
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = file if not parts.path else Path(os.path.normpath(file.parent / unquote(parts.path)))
            if target.is_dir():
                target /= "index.html"
            anchors = pages[target].anchors if target in pages else set()
            if not target.exists() or (parts.fragment and target in pages and unquote(parts.fragment) not in anchors):
                found.append(f"{file.relative_to(site)}: {link}")
    return found


def main(action: str, folder: str) -> int:
    """Do what the command line says; return the exit status."""
    if action == "prepare":
        prepare(Path(folder))
        return 0
    broken = broken_links(Path(folder))
    print(*broken, f"{len(broken)} links lead nowhere", sep="\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
