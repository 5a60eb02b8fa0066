"""The site has every document once, generated reference pages, and a check of its links that can fail."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

from streamrelay.agents.profile import parse_profile

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("docs_site", ROOT / "scripts" / "docs_site.py")
assert spec is not None
assert spec.loader is not None
docs_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs_site)

pytestmark = pytest.mark.requirement("OPS-13b")


def test_each_document_is_in_the_navigation_once() -> None:
    listed = sorted(page for section in docs_site.NAVIGATION.values() for page in section.values())
    documents = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert listed == sorted(documents | {*docs_site.GENERATED})


def test_the_pages_are_prepared(tmp_path: Path) -> None:
    docs_site.prepare(tmp_path / "site")
    pages = tmp_path / "site" / "docs"
    assert "no_server" in (pages / "errors.md").read_text()
    assert "### streamrelay send" in (pages / "command-line.md").read_text()
    assert "#### Pane.ask" in (pages / "library.md").read_text()
    assert "](https://github.com/streamrelay/streamrelay/blob/main/README.md)" in (pages / "index.md").read_text()
    tomllib.loads((tmp_path / "site" / "zensical.toml").read_text())


def test_a_link_to_a_missing_file_ends_the_build() -> None:
    with pytest.raises(SystemExit, match=r"no file nowhere\.md"):
        docs_site._with_links_to_repository("[a](nowhere.md)", ROOT / "docs" / "guide.md")


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "index.html").write_text('<a href="one/#here">.</a><a href="two/">.</a><img src="https://a/b.png">')
    (tmp_path / "one" / "index.html").write_text('<h2 id="there">.</h2><a href="../">.</a><a href="#there">.</a>')
    assert docs_site.broken_links(tmp_path) == ["index.html: one/#here", "index.html: two/"]


def test_the_profile_of_the_worked_example_is_one() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text().partition("```toml\n")[2].partition("```")[0]
    profile = parse_profile("lynx", text, source="docs/contributing.md")
    assert "lynx" in profile.reading.commands
    assert all(pattern.seen and pattern.source for pattern in profile.patterns)
