"""The app's screens as text, compared with files in `screens/`; `RENEW_SCREENS=1 pytest tests/council/test_screens.py`
writes them anew, and the diff shows what a change does to them.
"""

import asyncio
import os
from pathlib import Path

import pytest

from streamrelay.council.clients.contract import AIClient
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.members import Member
from streamrelay.council.store import CouncilStore
from tests.council.test_app import Broken, Gated, Screen, config, on_screen

SCREENS = Path(__file__).parent / "screens"
PLAN = """## A plan

1. **Measure** first.
2. Then change `one` thing.

```mermaid
graph LR
 A[Measure] --> B[Change]
```"""
SIZES = {"wide": (80, 30), "small": (60, 20)}


def text_of(screen: Screen) -> str:
    """Return the screen without the thumb of the scroll bar, whose place depends on what was laid out before."""
    return "\n".join(line.rstrip(" ▁▂▃▄▅▆▇█") for line in screen.text.splitlines()).rstrip("\n")


async def check(screen: Screen, name: str) -> None:
    """Compare the screen with its file, as soon as nothing moves any more."""
    file = SCREENS / f"{name}.txt"
    if os.environ.get("RENEW_SCREENS"):
        await screen.pilot.pause(2.0)
        file.write_text(f"{text_of(screen)}\n")
    expected = file.read_text().rstrip("\n")
    await screen.until(lambda: text_of(screen) == expected)


@pytest.mark.requirement("COU-06")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", SIZES)
async def test_the_screens_of_a_session(store: CouncilStore, size: str) -> None:
    permits = asyncio.Semaphore(0)

    def clients(member: Member, _: str) -> AIClient:
        if member.name == "Ada":
            return Gated(member.script, permits)
        return (Broken if member.name == "Cy" else ScriptedClient)(member.script, pause=0.0)

    council = config(Ada=PLAN, Bob="I agree, but for the order.", Cy="-")
    async with on_screen(store, council, clients, size=SIZES[size]) as screen:
        await check(screen, f"{size}-begun")
        await screen.enter("What do we do first?")
        await screen.shows("Generating... Ada")
        for _ in range(6):
            permits.release()
        await screen.shows("Measure first.")
        await screen.enter("Keep it short.")
        await screen.until(lambda: screen.session.status.queued)
        await check(screen, f"{size}-queued")
        for _ in range(100):
            permits.release()
        await screen.until(lambda: screen.session.is_idle)
        await check(screen, f"{size}-asked")
        await screen.enter("/no")
        await screen.shows("Cy (off)")
        await screen.enter("/blind And what last?")
        await screen.until(lambda: screen.session.is_idle and screen.session.entries[-1].round == 2)
        await check(screen, f"{size}-blind")
