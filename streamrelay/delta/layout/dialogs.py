"""Which dialog stands on a screen: a question that only a person may answer.

Classic one-line questions (`[y/N]`, `Password:`) are prompt_detection's. Here are those that are painted: a list of
choices with a pointer before one of them, or a row that names the keys to go on with. An agent's answer can hold the
very same characters, so three conditions must hold at once. Each is about positions, not about words:

* the program *owns* the place: its cursor is hidden, or stands in the dialog (a program that merely printed a list
  leaves a visible cursor behind it);
* no text can be typed: the cursor does not stand behind a prompt, where a composer or a person's draft is;
* nothing follows: below the choices come only key hints, borders and remarks of the same box, to the end of the screen
  (below a transcript comes the composer).

Words decide only which kind it is; in a language that is not known, choices are still a picker. What a program paints
otherwise (choices told apart by colour alone, a window in mid-screen) its profile describes by patterns. A program that
hides its cursor, has no composer and stops in the midst of printing such a list is taken at its word.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex

from streamrelay.delta.layout.choices import Choices, find_choices
from streamrelay.delta.layout.dialog_screen import MAX_ROWS, DialogScreen, is_bullet, is_hint, is_typed_at, one_line
from streamrelay.delta.profiles import DialogKind, DialogSign


class DialogChoice(NamedTuple):
    """One choice of a dialog: its words, and the key that chooses it, as tmux names keys; empty where none is shown."""

    label: str
    key: str = ""


class Dialog(NamedTuple):
    """A dialog that stands: its kind, and the question it asks, as one line."""

    kind: DialogKind
    text: str
    choices: tuple[DialogChoice, ...] = ()
    """From top to bottom; empty where they cannot be read."""
    pointed: int | None = None
    """The place of the choice that Enter confirms; None where no pointer is seen."""
    context: tuple[str, ...] = ()
    """The rows above the choices that belong to the dialog, such as the command that waits for a permission."""


_GOING_ON = regex.compile(
    r"(?i)\b(?:press|hit)\s+(?:the\s+)?[\[<]?(?:enter|return|any)\b|\benter\s*(?:/\S+)?\s+(?:to\s+)?"
    r"(?:confirm|continue|select|choose|save|submit|accept|proceed|apply|open)\b|(?<![^\s\[(<])[⏎↵]"
)
"""A `⏎` directly behind text is no key: fish prints it where output ends without a line feed."""
_ARROW = regex.compile(r"[↑↓←→⇆⇅]\s*(?:/|to\b)")
_LEAVING = regex.compile(r"(?i)\besc(?:ape)?\s+(?:to\s+)?(?:cancel|close|exit|leave|quit|(?:go\s+)?back|clear)\b")
_MOVING = regex.compile(r"(?i)[↑↓←→⇆⇅]|\b(?:select|choose|navigate|filter|toggle|search)\b")

# A name of a file (trust.txt) is no word of a question.
_TRUST = regex.compile(r"(?i)\btrust(?:ed)?\b(?!\.\w)")
_LOGIN = regex.compile(
    r"(?i)\b(?:sign(?:ing)?[- ]?in|log(?:ging)?[- ]?in|API[- ]key|authenticat\w+|auth (?:method|code))\b(?!\.\w)"
)
_PERMISSION = regex.compile(
    r"(?i)\b(?:allow|approve|permit|permission|proceed|run|execute|make|create|edit|write|overwrite|delete|apply|fetch)\b"
)
_REQUIRED = regex.compile(
    r"(?i)\b(?:permission|approval)s?\s+(?:is\s+)?(?:required|needed)\b"
    r"|\b(?:requires?|needs?)\s+(?:your\s+)?(?:permission|approval)\b"
)
_NUMBER = regex.compile(r"^(\d{1,3})[.)]\s+(.*)$")
_YES = regex.compile(r"(?i)^(?:yes|allow|approve|accept|proceed|run|ok)\b")
_NO = regex.compile(r"(?i)^(?:no|deny|reject|cancel|decline|don['’]t)\b")


def find_dialog(
    rows: Sequence[str],
    cursor: tuple[int, int],
    *,
    cursor_visible: bool = True,
    signs: Iterable[DialogSign] = (),
) -> Dialog | None:
    """Return the dialog that stands on a screen at rest, if any.

    `rows` are the visible rows from top to bottom, `cursor` is (x, y) in cells, both from zero. `signs` are a
    profile's, and are asked first; a group `text` in a pattern is the question, else it is the row. Costs a pass over
    the rows of one screen; never raises.
    """
    for sign in signs:
        for row in rows:
            if found := sign.pattern.search(row):
                asked = one_line([found.groupdict().get("text") or row])
                screen = DialogScreen(rows, cursor, cursor_visible=cursor_visible)
                choices = find_choices(screen)
                return Dialog(sign.kind, asked) if choices is None else _with_choices(screen, choices, sign.kind, asked)
    if is_typed_at(rows, cursor):
        return None
    screen = DialogScreen(rows, cursor, cursor_visible=cursor_visible)
    if screen.last < 0:
        return None
    choices = find_choices(screen)
    return _of_hint(screen) if choices is None else _of_choices(screen, choices)


def _of_choices(screen: DialogScreen, choices: Choices) -> Dialog:
    asked = screen.question_above(choices.begin) or screen.paragraph_above(choices.begin)
    options = list(choices.options.values())
    return _with_choices(screen, choices, _kind(asked, options) or "picker", asked or options[0])


def _with_choices(screen: DialogScreen, choices: Choices, kind: DialogKind, asked: str) -> Dialog:
    rows = sorted(choices.options)
    return Dialog(
        kind,
        asked,
        tuple(_choice(choices.options[y]) for y in rows),
        rows.index(choices.pointed.y),
        tuple(row.strip() for row in screen.context_above(choices.begin)),
    )


def _choice(option: str) -> DialogChoice:
    """Read the words of a choice, and the digit that chooses it."""
    numbered = _NUMBER.match(option)
    if numbered is None:
        return DialogChoice(option)
    number, words = numbered.groups()
    return DialogChoice(words, number if len(number) == 1 else "")


def _of_hint(screen: DialogScreen) -> Dialog | None:
    """Read a screen that ends in the key to go on with: choices without a pointer, a form, a notice."""
    last = screen.last
    ending = screen.rows[max(0, last - 1) : last + 1]
    hints = [row for row in ending if is_hint(row, _GOING_ON) or (is_hint(row, _LEAVING) and _ARROW.search(row))]
    x, y = screen.cursor
    if not hints or (screen.cursor_visible and not (y == last and x >= len(screen.rows[last]))):
        return None
    asked = screen.question_above(last)
    kind = _kind(asked, ()) if asked else None
    for above in reversed(screen.rows[max(0, last - MAX_ROWS) : last]):
        if kind is not None or is_bullet(above):
            break
        if named := _LOGIN.search(above) or _REQUIRED.search(above):
            kind, asked = ("login" if named.re is _LOGIN else "permission"), one_line([above])
    if kind is None:
        kind = "picker" if any(_MOVING.search(hint) for hint in hints) else "confirmation"
    return Dialog(kind, asked or screen.head_above(last) or one_line(hints))


def _kind(asked: str, options: Sequence[str]) -> DialogKind | None:
    """Name a dialog by its question, then by its choices."""
    if _TRUST.search(asked) or any(map(_TRUST.search, (*options[:1], *options[-1:]))):
        return "trust"
    if _LOGIN.search(asked):
        return "login"
    words = [option.lstrip("0123456789.) ") for option in options]
    refusable = any(map(_YES.match, words)) and any(map(_NO.match, words))
    if refusable or ("?" in asked and _PERMISSION.search(asked)):
        return "permission"
    return "login" if options and _LOGIN.search(options[0]) else None
