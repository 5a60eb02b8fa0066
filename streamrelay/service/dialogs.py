"""Dialogs of programs, read and answered for a person.

Nothing here decides for anybody: a key goes out only for the choice that a caller names, and only while the dialog
that the caller has seen stands. Each key is sent on a line of tmux that compares program and cursor first. Where a
dialog does not take the number of a choice, the pointer is moved, and Enter is sent when it points at the choice.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence

from streamrelay.delivery.commands import Seen, keys_line, read_refusal
from streamrelay.delivery.errors import refusal_error
from streamrelay.delivery.machine import PICTURE_REST
from streamrelay.delta.layout.dialogs import Dialog
from streamrelay.errors import DialogChanged, PaneGone, UsageError
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.service.api import OpenDialog
from streamrelay.service.core import Core
from streamrelay.sessions.model import Session

MAX_KEYS = 6
"""How many times a key is pressed before the dialog counts as one that takes none."""
KEY_TIMEOUT = 1.0
"""Seconds in which a dialog shows what a key has done."""
SETTLE = 0.1
"""Seconds without output after which the screen is read again."""


async def listed(core: Core, session: str = "") -> list[OpenDialog]:
    """Return the open dialogs of the watched sessions, or of one."""
    if session:
        found = await core.find(session)
        await core.admit(found, allow_shell=True)
        sessions = [found]
    else:
        sessions = [one for one in await core.sessions.all() if core.server.is_watched(one.pane)]
    dialogs = []
    for one in sessions:
        try:
            pipeline = core.server.pipeline(one.pane)
        except PaneGone:
            # It closed, or nothing needs it any more, while the others were read.
            if session:
                raise
            continue
        await _read_at_rest(pipeline)
        if (dialog := pipeline.dialog) is not None:
            dialogs.append(_open_dialog(one, dialog))
    return dialogs


async def answer(core: Core, session: str, dialog: str, choice: int) -> None:
    """Press the key of a choice in an open dialog; see `Service.answer_dialog`."""
    found = await core.find(session)
    await core.admit(found, allow_shell=True)
    pipeline = core.server.pipeline(found.pane)
    await _read_at_rest(pipeline)
    shown = _the_dialog(pipeline, found, dialog)
    if not 0 <= choice < len(shown.choices):
        raise UsageError(f"the dialog has no choice {choice}", hint="0 is the first one", data={"session": session})
    for attempt in range(MAX_KEYS):
        keys = dialog_keys(shown, choice, is_first=attempt == 0)
        before = pipeline.cursor
        await press(core, found, keys, Seen(cursor=before))
        await _until_changed(pipeline, shown)
        await _read_at_rest(pipeline)
        if pipeline.dialog is None or dialog_id(pipeline.dialog) != dialog:
            return
        shown = pipeline.dialog
    raise DialogChanged(
        f"the dialog in pane {found.pane} takes none of the keys that it shows",
        hint=f"answer it in the terminal: {found.attach}",
        data={"session": found.session, "dialog": dialog},
    )


def dialog_id(dialog: Dialog) -> str:
    """Return the id of a dialog: its text, independent of the selected choice."""
    text = "\0".join((dialog.kind, dialog.text, *dialog.context, *(choice.label for choice in dialog.choices)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def dialog_keys(dialog: Dialog, place: int, *, is_first: bool) -> tuple[str, ...]:
    """Return the keys to press next for a choice, as tmux names them.

    The number of the choice is tried first. Otherwise the pointer moves to the choice, and Enter confirms it.
    """
    choice = dialog.choices[place]
    if choice.key and (is_first or dialog.pointed is None):
        return (choice.key, "Enter") if dialog.pointed is None and len(choice.key) == 1 else (choice.key,)
    if dialog.pointed is None or dialog.pointed == place:
        return ("Enter",)
    return ("Down",) * (place - dialog.pointed) if place > dialog.pointed else ("Up",) * (dialog.pointed - place)


def _open_dialog(session: Session, dialog: Dialog) -> OpenDialog:
    return OpenDialog(
        session=session.session,
        pane=session.pane,
        dialog=dialog_id(dialog),
        kind=dialog.kind,
        question=dialog.text,
        context=dialog.context,
        choices=[choice.label for choice in dialog.choices],
    )


def _the_dialog(pipeline: PanePipeline, session: Session, dialog: str) -> Dialog:
    """Return the open dialog of a session if it has this id; raises DialogChanged otherwise."""
    shown = pipeline.dialog
    if shown is None or dialog_id(shown) != dialog:
        raise DialogChanged(
            f"the dialog in pane {session.pane} is gone, or another one is open",
            data={"session": session.session, "dialog": dialog},
        )
    return shown


async def press(core: Core, session: Session, keys: Sequence[str], seen: Seen) -> None:
    """Press keys in the pane of a session; raises DialogChanged, PaneGone or ProgramLeft if the pane has changed."""
    line = keys_line(session.pane, session.program, keys, seen=seen)
    result = await core.server.command(session.pane, line)
    refusal = next((read for block in result.blocks if (read := read_refusal(block.lines)) is not None), None)
    if refusal is None:
        return
    if (error := refusal_error(refusal, session.pane, session.program)) is not None:
        raise error
    raise DialogChanged(f"the screen of pane {session.pane} changed meanwhile", data={"session": session.session})


async def _read_at_rest(pipeline: PanePipeline) -> None:
    """Read the screen once it rests, at the latest after `KEY_TIMEOUT` seconds.

    A screen that is only half painted can show choices of a dialog that is gone, or a part of a dialog's text.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + KEY_TIMEOUT
    while True:
        pipeline.look()
        rests_at = min(until, (pipeline.last_output or 0.0) + PICTURE_REST)
        if (left := rests_at - loop.time()) <= 0:
            return
        await asyncio.sleep(left)


async def _until_changed(pipeline: PanePipeline, before: Dialog) -> None:
    """Wait until the screen has changed and rests, at most `KEY_TIMEOUT` seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + KEY_TIMEOUT
    while (left := until - loop.time()) > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(SETTLE, left)):
                await pipeline.changed()
            continue
        pipeline.look()
        if pipeline.dialog is None or pipeline.dialog != before:
            return
