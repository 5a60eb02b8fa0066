"""A program that keeps a transcript, run as a real process: `python painted_agent.py`, for what is recorded live."""

import os
import re
import sys
import time
import tty

from streamrelay.testing.transcript_program import TranscriptProgram, UiStyle

START, STOP = b"\x1b[200~", b"\x1b[201~"


def main() -> None:
    tty.setraw(0)
    size = os.get_terminal_size()
    program = TranscriptProgram(UiStyle(columns=size.columns, lines=size.lines, witness="title"))

    def paint(*screens: bytes) -> None:
        for screen in screens:
            os.write(1, screen)
            time.sleep(0.02)

    paint(program.starts())
    draft, typed = "", b""
    while True:
        typed += os.read(0, 4096)
        while typed:
            if typed.startswith(START):
                pasted, end, rest = typed.removeprefix(START).partition(STOP)
                if not end:
                    break
                draft, typed = draft + pasted.decode(), rest
                paint(program.drafts(draft))
            elif typed.startswith(b"\r"):
                answer = f"You said {draft!r}.\nNothing else."
                paint(program.submits())
                paint(*(program.says(word) for word in re.split(r"(?= )", answer)), program.works(), program.rests())
                draft, typed = "", typed[1:]
            elif typed.startswith(b"q"):
                sys.exit()
            else:
                typed = typed[1:]


if __name__ == "__main__":
    main()
