"""A program that shows its transcript through a window of its own on the main screen.

It paints the window below the prompt that it was started from, all of it each time, and its text scrolls inside: what
leaves the window at its top does not go into the history.
"""


class WindowProgram:
    """Returns the bytes of one screen after the other, for a window of `rows` rows of text above a composer."""

    def __init__(self, columns: int, rows: int, *, grows: bool = False, parked: int = 2) -> None:
        self._columns, self._rows, self._grows, self._parked = columns, rows, grows, parked
        self._transcript: list[str] = []
        self._cursor = 0

    def starts(self) -> bytes:
        """Ask for bracketed paste below what stands there, and show an empty composer."""
        return b"\x1b[?25l\r\n\x1b[?2004h" + self._screen(up=0)

    def drafts(self, text: str) -> bytes:
        """Show what was pasted, the cursor behind it."""
        return self._screen(text)

    def submits(self, text: str) -> bytes:
        """Show the message in the transcript."""
        self._transcript += [f"> {text}", ""]
        return self._screen()

    def says(self, *rows: str) -> bytes:
        """Add rows to the transcript."""
        self._transcript += rows
        return self._screen()

    def shows(self, *rows: str) -> bytes:
        """Show nothing but these rows."""
        self._transcript = list(rows)
        return self._screen()

    def half_of(self, screen: bytes) -> bytes:
        """Return a screen up to somewhere in its second row."""
        return screen[: screen.index(b"\r\n") + 2 + 3]

    def _screen(self, draft: str = "", up: int | None = None) -> bytes:
        shown = self._transcript[-self._rows :]
        height = len(shown) if self._grows else self._rows
        shown += [""] * (height - len(shown))
        inner = self._columns - 2
        box = ["▔" * self._columns, f"▊ {draft or 'ask away'}", "▁" * self._columns]
        rows = [*(row.ljust(inner) for row in shown), *box]
        behind = len(f"▊ {draft}") if draft else self._parked
        back = f"\x1b[{up}A" if (up := self._cursor if up is None else up) else ""
        self._cursor = height + 1 if draft else 1
        painted = back + "\r" + "\r\n".join(f"{row}\x1b[K" for row in rows) + "\x1b[J"
        return (painted + f"\x1b[{len(rows) - 1 - self._cursor}A\r\x1b[{behind}C").encode()
