"""Finds how to recognise a program: by its command, its terminal sequences, its title or its banner."""

from collections.abc import Iterator
from typing import Final

import regex

from streamrelay.learning.findings import Finding, FoundValue, NoFinding
from streamrelay.learning.observation import Observation, ObservedScreen
from streamrelay.learning.row_patterns import quoted

INTERPRETERS: Final = regex.compile(
    r"(?:node|nodejs|deno|bun|npx|python\d*(?:\.\d+)*|ruby|perl|php|java|uv|pipx)|-?(?:ba|z|fi|da|k|c|tc)?sh"
)
"""Interpreters and wrappers: their names identify no program."""

_APP = regex.compile(r"(?:^|[;:])app=(?P<name>[\w.-]+)")
_BANNER = regex.compile(r"(?P<before>[^\p{L}\p{N}]*)(?P<name>\p{Lu}[\w-]*(?: \p{Lu}[\w-]*)*) \(?v?\d+\.\d+(?:\.\d+)*\b")
_BRAILLE = regex.compile(r"^[\u2800-\u28ff]")
_NAME = regex.compile(r"\p{Lu}[\p{L} ]+")
_WORD = regex.compile(r"\p{L}{3,}")


def recognition(seen: Observation, *, command: str | None = None) -> Iterator[Finding]:
    """Yield the signs of the program; `command` is its command, if the user gave one."""
    yield from _commands(seen, command)
    signs = [*_app(seen), *_titles(seen), *_banner(seen)]
    yield from signs
    if not signs:
        yield NoFinding("recognise.signs", "the program showed no title, state or banner with a version of its own")


def name_of(seen: Observation) -> str | None:
    """Return the program's name from its banner, or from a title in plain words; None without either."""
    found = next(_banners(seen), None)
    if found is not None:
        return found[1]["name"]
    title = next(_titles(seen), None)
    return title.seen if title is not None and _NAME.fullmatch(title.seen or "") else None


def _commands(seen: Observation, command: str | None) -> Iterator[Finding]:
    known = [(0.0, command)] if command else [one for one in seen.commands if one[1]]
    first = seen.messages[0].pasted if seen.messages else seen.seconds
    before = [one for one in known if one[0] <= first]
    if not before:
        yield NoFinding("recognise.commands", "the recording does not contain the command; `streamrelay ls` shows it")
        return
    t, name = before[-1]
    if INTERPRETERS.fullmatch(name) and not command:
        why = f"{name} was in the foreground at {t:.3f} s, as for many programs, so the signs must identify this one"
        yield FoundValue("recognise.interpreters", name, why, t=t)
    else:
        yield FoundValue("recognise.commands", name, f"in the foreground at {t:.3f} s" if not command else "given", t=t)


def _app(seen: Observation) -> Iterator[FoundValue]:
    for report in seen.reports:
        if report.kind == "agent_state" and (app := _APP.search(report.text)) is not None:
            why = f"OSC 7501 names it, first at {report.t:.3f} s"
            yield FoundValue("recognise.signs", rf"\bapp={regex.escape(app['name'])}\b", why, report.text, report.t)
            return


def _titles(seen: Observation) -> Iterator[FoundValue]:
    """Yield a title from before the first message, unless it names a folder, a host or a user."""
    first = seen.messages[0].pasted if seen.messages else seen.seconds
    before = seen.screen_before(first)
    titles = [
        report
        for report in seen.reports
        if report.kind == "title" and report.t < first and not _BRAILLE.match(report.text)
    ]
    if not titles:
        return
    title = titles[-1].text.strip()
    head = regex.split(r"\s*[(\[|]", title)[0].rstrip()
    words = _WORD.findall(head)
    if not words or before is None or any(_is_place(word, before) for word in words):
        return
    if not any(word[0].isupper() for word in words):
        return
    why = f"the title from {titles[-1].t:.3f} s on, before the first message"
    end = "$" if head == title else r"\b" if head[-1].isalnum() else ""
    yield FoundValue("recognise.signs", f"^{quoted(head)}{end}", why, titles[-1].text.rstrip(), titles[-1].t)


def _is_place(word: str, screen: ObservedScreen) -> bool:
    place = regex.compile(rf"[/~\\@:]{regex.escape(word)}\b|\b{regex.escape(word)}@")
    return any(place.search(row) for row in screen.rows)


def _banners(seen: Observation) -> Iterator[tuple[ObservedScreen, regex.Match[str], str]]:
    first = seen.messages[0].pasted if seen.messages else seen.seconds
    before = seen.screen_before(first)
    for screen in [before] if before is not None else []:
        for row in screen.rows:
            found = _BANNER.match(row)
            if found is not None:
                yield screen, found, row


def _banner(seen: Observation) -> Iterator[FoundValue]:
    for screen, found, row in _banners(seen):
        head = row[: found.end("name")]
        version = regex.match(r" \(?v?", row[len(head) :])
        pattern = f"^{quoted(head)}{quoted(version[0]) if version else ''}\\d"
        yield FoundValue("recognise.signs", pattern, f"its banner, on the screen at {screen.t:.3f} s", row, screen.t)
        return
