"""No file of the repository tells anybody to install another project: each install line names ours, or a path."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tracked_files import ROOT, tracked_files

OURS = "tmux-streamrelay"
_INSTALL = re.compile(
    r"\b(?:pip3? install|uv (?:tool|pip) install|uv add|uv tool run|uvx|pipx (?:install|inject|run))\b"
    r"(?P<rest>[^`\n#]*)"
)
_WITH_VALUE = {"--python", "-p", "--with", "--from", "--cert", "--target", "--reinstall-package"}
_PATH = re.compile(r"[.~/$]|[\w.+-]*/|\w+\+?\w*://")
# What a script runs for its own use and prints nowhere: into the checkout's folder .uv/.
RUN_ONLY = {
    ("scripts/setup.sh", '"$pip" -m pip install "$@" uv'),
    ("scripts/docs", '--python "$site/bin/python" \'zensical=='),
}
# Commands put together from variables: tests/library/test_installation.py reads what comes out.
BUILT = {"streamrelay/installation.py", "tests/library/test_installation.py", "tests/docs/test_install_lines.py"}


def foreign(text: str) -> Iterator[str]:
    """The projects that the install lines of a text name, without ours."""
    for found in _INSTALL.finditer(text):
        words = re.sub(r"[()]|\\$", " ", found["rest"]).split("&&")[0].split(" -- ")[0].split()
        skipped = False
        for place, word in enumerate(words):
            if skipped:
                skipped = False
            elif word in _WITH_VALUE and word != "--from":
                skipped = True
            elif not word.startswith("-"):
                name = re.split(r"[\[@<>=~!;,]", word.strip("'\".,:;"))[0].rstrip(".")
                if name and name != OURS and not _PATH.match(word.strip("'\"")):
                    yield name
                # The project is the first word behind the options; what follows is prose, or a command of it.
                break
            elif place == len(words) - 1:
                break


def tracked() -> list[Path]:
    names = (name for name in tracked_files() if not name.startswith("tests/corpus/"))
    return [ROOT / name for name in names if name not in {*BUILT, "uv.lock"}]


@pytest.mark.requirement("OPS-11b")
def test_every_install_line_names_this_project_or_a_path() -> None:
    wrong, lines = [], 0
    for path in tracked():
        if not path.is_file() or b"\0" in (data := path.read_bytes()):
            continue
        name = str(path.relative_to(ROOT))
        for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
            if any(file == name and words in line for file, words in RUN_ONLY):
                continue
            lines += bool(_INSTALL.search(line))
            wrong += [f"{name}:{number}: {project}" for project in foreign(line)]
            wrong += [
                f"{name}:{number}: an extra of the other project" for _ in re.findall(r"(?<!-)\bstreamrelay\[\w", line)
            ]
    assert not wrong, "\n".join(wrong)
    assert lines, "no install line was found at all"


@pytest.mark.parametrize(
    ("line", "projects"),
    [
        ("pip install 'streamrelay[daemon]'", ["streamrelay"]),
        ("hint: pip3 install streamrelay", ["streamrelay"]),
        ("uv tool install streamrelay", ["streamrelay"]),
        ("uvx --from streamrelay streamrelay ls", ["streamrelay"]),
        ("pipx install --python python3.12 streamrelay==0.3", ["streamrelay"]),
        ("uv add httpx", ["httpx"]),
        ("uv tool install .", []),
        ("`pipx install .`, or `python3 -m venv v && v/bin/pip install .`.", []),
        ("uv tool install '.[redis]'", []),
        ("pip install -e '/home/ann/clone[redis]'", []),
        ("uv tool install git+https://example.org/x", []),
        ("uv tool install tmux-streamrelay", []),
        ("python -m pip install 'tmux-streamrelay[redis]>=1' and more", []),
        ("`pip install -e` do), and from a wheel", []),
    ],
)
def test_the_check_finds(line: str, projects: list[str]) -> None:
    assert list(foreign(line)) == projects
