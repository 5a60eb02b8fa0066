"""Runs a command in one event loop, which Ctrl-C, SIGTERM, SIGHUP or an error end cleanly."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from streamrelay.errors import StreamrelayError
from streamrelay.loops import new_event_loop
from streamrelay_cli.output import CommandOutput

ENDED_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_to_end(
    output: CommandOutput, main: Callable[[], Coroutine[Any, Any, int]], *, until_ctrl_c: bool = False
) -> None:
    """Run `main` and exit with the code it returns; every end closes all resources.

    With `until_ctrl_c`, Ctrl-C is the normal end of the command and no failure.
    """
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            code = runner.run(_until_signal(output, main))
        if until_ctrl_c and code == 128 + signal.SIGINT:
            code = 0
    except StreamrelayError as error:
        output.fail(error)
    sys.exit(code)


async def _until_signal(output: CommandOutput, main: Callable[[], Coroutine[Any, Any, int]]) -> int:
    loop = asyncio.get_running_loop()
    received: list[signal.Signals] = []
    task = asyncio.ensure_future(main())

    def end(number: signal.Signals) -> None:
        if number == signal.SIGINT and not received:
            output.interrupted()
        received.append(number)
        task.cancel()

    for number in ENDED_BY:
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]
    finally:
        for number in ENDED_BY:
            loop.remove_signal_handler(number)
