"""Programs as they come: slow, deaf, loud, with children. None of them is waited for, and none is left behind."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from streamrelay.pulse.subprocesses import run
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until, wait_until_async

PATIENCE = 20.0


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


async def test_what_it_prints_errors_among_it_and_its_status() -> None:
    ran = await run(python("import sys; print('out', flush=True); print('error ü', file=sys.stderr); sys.exit(3)"))
    assert ran == (3, "out\nerror ü\n", False)
    assert (await run(("cat",), given=b"what it is given")).output == "what it is given"
    assert (await run(("cat",))).output == ""
    assert (await run(("env",), environment={"A": "b c"})).output == "A=b c\n"
    assert (await run(python("import os; os.kill(os.getpid(), 15)"))).status == -15
    with pytest.raises(FileNotFoundError):
        await run(("no-such-program-anywhere",))


async def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    words = ("printf", "%s", f"$(touch {tmp_path}/x); `id` > {tmp_path}/y && *")
    assert (await run(words)).output == words[2]
    assert list(tmp_path.iterdir()) == []


DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
open(sys.argv[1] if child else sys.argv[1] + "-child", "w").write(str(os.getpid()))
time.sleep(1000)
"""


@pytest.mark.requirement("GAT-06")
async def test_one_that_hangs_and_ignores_signals_is_gone_with_its_children_when_it_is_given_up(tmp_path: Path) -> None:
    files = [tmp_path / "pid", tmp_path / "pid-child"]
    running = asyncio.ensure_future(run((*python(DEAF), str(files[0]))))
    await wait_until_async(lambda: all(file.exists() and file.read_text() for file in files), PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    wait_until(lambda: not any(is_alive(int(file.read_text())) for file in files), PATIENCE)


async def test_one_whose_child_holds_its_output_is_not_waited_for(tmp_path: Path) -> None:
    # In a session of its own even the end of the group does not reach it.
    code = (
        "import os, sys, time\nprint('said', flush=True)\nif os.fork() == 0:\n os.setsid()\n"
        "  # noqa\n open(sys.argv[1], 'w').write(str(os.getpid()))\n time.sleep(1000)\n"
    ).replace("  # noqa\n", "")
    file = tmp_path / "pid"
    ran = await asyncio.wait_for(run((*python(code), str(file))), PATIENCE)
    assert ran == (0, "said\n", False)
    wait_until(lambda: file.exists() and bool(file.read_text()), PATIENCE)
    os.kill(int(file.read_text()), 9)


async def test_one_that_prints_without_end_is_ended_at_the_bound() -> None:
    ran = await asyncio.wait_for(run(("yes", "word"), most=1_000), PATIENCE)
    assert ran == (-9, ("word\n" * 200), True)


async def test_one_that_never_reads_what_it_is_given_ends_all_the_same() -> None:
    assert (await asyncio.wait_for(run(("true",), given=b"x" * 10**6), PATIENCE)).status == 0
