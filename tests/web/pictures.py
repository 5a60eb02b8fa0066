"""Pictures of the page, made in a real browser from a real daemon, tmux server and scripted agents.

    python -m tests.web.pictures FOLDER

Writes NAME-WIDTH-SCHEME.png for each screen, at 1280x800 and 390x844, light and dark. Needs the development
dependencies and a Chromium (`STREAMRELAY_CHROMIUM` names it).
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from streamrelay.service.api import Gathering, Invited, SendMessage, StartGathering, StartSession
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.conftest import chromium
from tests.web.conftest import FLAGS, Household, prepare

PATIENCE = 60.0
SIZES = {1280: {"width": 1280, "height": 800}, 390: {"width": 390, "height": 844}}
QUIET = [
    "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
WORKERS = {
    "Planner": (
        """\
Three steps are open:

1. make the parser incremental
2. one tmux server for the slow tests
3. a page of the guide for profiles

I suggest 2 first: everything else gets faster by it.""",
        "Agreed. Builder takes step 2, Reviewer looks at the parser meanwhile.",
    ),
    "Builder": ("The slow tests share one server now: 18 of 31 files are moved, all of them pass.",),
    "Reviewer": ("parser.py:118 reads past the end when a sequence is cut after ESC. The fix is two lines.",),
    "Docs": ("Draft of the profile page is in docs/profiles.md. Two examples still need output.",),
}
QUESTION = "What should the next release be about?"
SPEAKERS = {
    "Sage": (
        "Two reports this week were about the same thing: people cannot tell whether a message arrived.",
        "Receipts tell it, and nobody looks for them in the log. They belong where the message was typed.",
        "A field on the page with the receipt beside it. I can have it ready on Thursday.",
    ),
    "Rex": (
        "Start-up takes longer than most commands do. I measured 0.4 s, of which half are imports.",
        "Both fit into one release: they are what a newcomer meets in the first hour.",
        "Then I take the imports, and we ship both.",
    ),
}
HARVEST = (
    "The next release is about the first hour.\n\n* Receipts beside the message, on the page (Sage, Thursday)\n"
    "* Commands load only what they need (Rex)"
)


async def scene(house: Household) -> None:
    """Start the sessions, and bring them where the pictures want them."""
    house.tmux.new_session(
        "tests", ["sh", "-c", "read x; echo '214 passed in 41.02s'; read x; exec sleep 1000"], columns=100, lines=40
    )
    await house.begin()
    house.tmux.run("kill-session", "-t", "=keeper")
    async with house.client() as client:
        for name, answers in WORKERS.items():
            file = house.folder / f"{name}.json"
            file.write_text(json.dumps(answers))
            options = ["--asks-during-work"] if name == "Reviewer" else []
            arguments = (str(house.folder / name), "--answers", str(file), *options)
            await client.start_session(StartSession(agent="sprite", title=name, arguments=arguments, cwd="/tmp"))
        for name in (*WORKERS, "tests"):
            await client.watch(name, True)
        house.tmux.run("send-keys", "-t", "=tests:", "Enter")
        asked = {
            "Docs": "What is the state of the profile page?",
            "Reviewer": "Please look at how parser.py handles sequences that are cut.",
            "Builder": "Move the slow tests to one shared tmux server.",
            "Planner": "What is open, and in which order?",
        }
        for name, text in asked.items():
            sent = await client.send_message(SendMessage(to=name, text=text))
            await _answered(house, sent.message_id)
        sent = await client.send_message(SendMessage(to="Planner", text="Good. Who does what?"))
        await _answered(house, sent.message_id)


async def _answered(house: Household, message_id: str) -> None:
    async def answered() -> bool:
        async with house.client() as client:
            return (await client.get_delivery(message_id))[0].state == "answered"

    await wait_until_async(answered, PATIENCE, "an answer")


async def gathering(house: Household, *, with_person: bool, question: str) -> Gathering:
    def invited(name: str, number: int, answers: list[str], **more: object) -> Invited:
        file = house.folder / f"{name}-{number}-{with_person}.json"
        file.write_text(json.dumps(answers))
        arguments = (str(file.with_suffix(".log")), "--answers", str(file))
        return Invited(name=name, number=number, agent="sprite", arguments=arguments, **more)  # type: ignore[arg-type]

    speakers = [
        # The seed, and in each round the phase and the piece.
        invited(
            name, number, ["Listening.", *(said for text in texts for said in ("Listening.", f"{text}\n\nI pass."))]
        )
        for number, (name, texts) in enumerate(SPEAKERS.items(), 1)
    ]
    people = [Invited(name="You", number=3, is_human=True)] if with_person else []
    scribe = invited("Ada", 4, [HARVEST], role="harvester")
    request = StartGathering(
        participants=[*speakers, *people, scribe],
        opening_question=question,
        structure="1-2-1" if with_person else "1-1-1",
        beats_per_turn=3,
        beat_interval_seconds=600.0 if with_person else 30.0,
        listening="digest",
        end_sessions=not with_person,
    )
    async with house.client() as client:
        return await client.start_gathering(request)


async def until(house: Household, circle: Gathering, **how: object) -> None:
    async def stands() -> bool:
        async with house.client() as client:
            told = await client.gathering(circle.gathering)
        return all(getattr(told, name) == value for name, value in how.items())

    await wait_until_async(stands, PATIENCE, f"the circle to be {how}")


async def opened(house: Household, page: Page, where: str) -> None:
    await page.goto(house.access.address + where)
    await page.reload()
    await expect(page.locator("#connection")).to_have_text("Connected")


@asynccontextmanager
async def device(house: Household, browser: Browser, width: int, scheme: str) -> AsyncIterator[Page]:
    phone = width < 500
    context = await browser.new_context(
        viewport=SIZES[width],  # type: ignore[arg-type]
        color_scheme=scheme,  # type: ignore[arg-type]
        is_mobile=phone,
        has_touch=phone,
        device_scale_factor=2 if phone else 1,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    try:
        yield page
    finally:
        await context.close()


async def pictures(house: Household, browser: Browser, folder: Path) -> None:
    """Take every picture."""
    finished = await gathering(house, with_person=False, question="How was the week?")
    await until(house, finished, state="closed")
    running = await gathering(house, with_person=True, question=QUESTION)
    await until(house, running, phase="inhale", speaker=3)
    async with house.client() as client:
        await client.say_in_gathering(
            running.gathering, 3, "A friend tried it on the train: the page hid what was said."
        )
        await client.pass_piece(running.gathering, 3)
    await until(house, running, phase="hold", speaker=3)
    async with house.client() as client:
        sessions = {one.title: one.session for one in await client.sessions()}
        # The reviewer works, and asks amid its work; the message waits for the person who is to answer.
        os.kill(int(house.tmux.run("display-message", "-p", "-t", "=Reviewer:", "#{pane_pid}")), signal.SIGUSR1)
        await client.send_message(SendMessage(to="Reviewer", text="Apply the fix, and run the tests."))

        async def asks() -> bool:
            return any(one.state == "needs_human" for one in await client.sessions())

        await wait_until_async(asks, PATIENCE, "the dialog")
    for width in SIZES:
        for scheme in ("light", "dark"):
            async with device(house, browser, width, scheme) as page:
                await tour(house, Camera(page, folder, f"{width}-{scheme}"), sessions, running, finished)


class Camera:
    """A page, and where its pictures go."""

    def __init__(self, page: Page, folder: Path, suffix: str) -> None:
        self.page = page
        self._folder = folder
        self._suffix = suffix

    async def take(self, name: str) -> None:
        await self.page.wait_for_timeout(400)
        await self.page.screenshot(path=self._folder / f"{name}-{self._suffix}.png")


async def tour(
    house: Household, camera: Camera, sessions: Mapping[str, str], running: Gathering, finished: Gathering
) -> None:
    """Take the pictures of one device."""
    page = camera.page
    await page.goto(house.access.address)
    await expect(page.get_by_label("Access token")).to_be_visible()
    await camera.take("token")
    await page.goto(house.access.link)
    await page.reload()
    await expect(page.get_by_role("navigation")).to_contain_text("Planner")
    await camera.take("home")
    await opened(house, page, f"#/session/{sessions['Planner']}")
    await expect(page.get_by_role("log")).to_contain_text("Builder takes step 2")
    await camera.take("session")
    await opened(house, page, f"#/session/{sessions['Reviewer']}")
    await expect(page.get_by_role("log")).to_contain_text("waits for a person")
    await page.get_by_label("Message to Reviewer").fill("And then commit it.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#outgoing")).to_contain_text("dialog")
    await camera.take("held")
    await page.get_by_role("button", name="Cancel").first.click()
    await opened(house, page, f"#/circle/{running.gathering}")
    await expect(page.locator("#turn")).to_contain_text("The piece is with you")
    await camera.take("circle")
    await page.get_by_label("Your words").fill("I would start with what people see first.")
    await camera.take("seat")
    await opened(house, page, f"#/circle/{finished.gathering}")
    await expect(page.locator("#phase")).to_have_text("Finished")
    await camera.take("finished")


async def main(folder: Path) -> None:
    """Make all pictures."""
    path = chromium()
    if path is None:
        sys.exit("needs a Chromium: set STREAMRELAY_CHROMIUM to its path")
    folder.mkdir(parents=True, exist_ok=True)
    with PrivateTmux() as tmux, tempfile.TemporaryDirectory() as temporary:
        tmux.new_session("keeper", ["sleep", "1000"])
        os.environ |= prepare(tmux.directory)
        house = Household(tmux, Path(temporary))
        try:
            await scene(house)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=path, args=[*FLAGS, *QUIET])
                await pictures(house, browser, folder)
                await browser.close()
        finally:
            house.kill()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
