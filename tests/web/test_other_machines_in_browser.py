"""The page of one of two machines: how the other one stands, its sessions by NAME@HOST, and what they say."""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import Browser, Page, expect

from streamrelay.service.api import CreateRelay, Invited, RelayParticipant, StartGathering
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.waiting import wait_until, wait_until_async
from streamrelay.web.access import Access
from tests.federation.homes import Home, daemons
from tests.service.conftest import PATIENCE
from tests.web.test_circle_in_browser import contributions

SHOTS = os.environ.get("SHOTS", "")
AWAY_SECONDS = 20.0
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def homes(private_redis: PrivateRedis, tmp_path: Path) -> Iterator[tuple[Home, Home]]:
    with daemons(tmp_path, private_redis) as [alpha, beta]:
        yield alpha, beta


async def page_of(home: Home, page: Page) -> None:
    """Open the page of a machine's daemon."""
    async with home.client() as client:
        access: Access = await client.open_page()
    await page.goto(access.link)
    await expect(page.locator("#connection")).to_have_text("Connected")


async def shot(page: Page, name: str) -> None:
    """Keep pictures of the page as it is, wide and narrow, light and dark, where SHOTS names a folder."""
    if not SHOTS:
        return
    for width, height in ((1280, 800), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            await page.wait_for_timeout(300)
            await page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png")
    await page.set_viewport_size({"width": 1280, "height": 800})


@contextlib.asynccontextmanager
async def opened(browser: Browser, home: Home) -> AsyncIterator[Page]:
    """A page in a browser of its own; nothing may be complained of in its console."""
    complaints: list[str] = []
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE * 1000)
    page = await context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda _: complaints.append("a dialog"))
    page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    await page_of(home, page)
    try:
        yield page
    finally:
        await context.close()
    # A refused call is an answer, and the browser's console says so.
    assert not [words for words in complaints if "Failed to load resource" not in words]


async def goes_to(page: Page, name: str) -> None:
    await page.get_by_label("Open a session of another machine").fill(name)
    await page.keyboard.press("Enter")


@pytest.mark.slow
@pytest.mark.requirement("NET-02a", "OPS-05a")
@pytest.mark.timeout(240)
async def test_sessions_of_another_machine_are_named_written_to_and_heard(
    homes: tuple[Home, Home], browser: Browser
) -> None:
    alpha, beta = homes
    alpha.start("Ann"), alpha.start("Dora"), beta.start("Bob"), beta.start("Carl"), beta.start("Eve")
    beta.tmux.run("rename-session", "-t", "Eve", HOSTILE)
    alpha.types_command("link", "Ann", "Bob@beta", "--budget", "3")
    async with opened(browser, alpha) as page:
        machine = page.locator("#machines li")
        await expect(machine).to_contain_text("beta")
        await expect(machine).to_contain_text("reachable")
        await expect(machine).to_contain_text("Nothing waits for it.")
        conversation = page.locator("#conversations li")
        await expect(conversation.get_by_role("link")).to_have_text(["Ann", "Bob@beta"])
        await expect(page.locator("#sessions")).to_contain_text("linked with Bob@beta")

        # What is no known name is said, and not opened.
        await goes_to(page, "Bob@gamma")
        await expect(page.locator("#go-problem")).to_have_text("Bob@gamma names no known machine. Known: beta.")

        # A message to a session there, with its receipts; and one to a session that is not there.
        await goes_to(page, "Carl@beta")
        await expect(page.get_by_role("heading", name="Carl@beta")).to_be_focused()
        await expect(page.locator("#session-state")).to_have_text("beta is reachable")
        await page.get_by_label("Message to Carl@beta").fill("good morning")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#outgoing .receipt")).to_have_text("Answered")
        assert beta.heard("Carl") == ["good morning"]
        await page.get_by_text("Commands").click()
        await expect(page.locator("#command-send")).to_have_text(
            re.compile(r"streamrelay send -S \S+ Carl@beta 'hello' --wait")
        )
        await page.evaluate("location.hash = '#/session/Nobody%40beta'")
        await page.get_by_label("Message to Nobody@beta").fill("hello?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#composer-problem")).to_contain_text("Nobody")

        # What a link delivers is under the name of who said it, on both sides of it.
        await conversation.get_by_role("link", name="Bob@beta").click()
        await expect(page.get_by_role("heading", name="Bob@beta")).to_be_focused()
        await page.get_by_label("Message to Bob@beta").fill("begin")
        await page.get_by_role("button", name="Send").click()
        heard = page.locator("#said .block")
        await expect(heard.first.locator("h3 bdi")).to_have_text("Bob@beta, delivered to Ann@alpha")
        await expect(heard.first.locator("p")).to_have_text("[From Bob@beta] answer 1")
        await expect(conversation).to_contain_text("3 of 3 deliveries")
        await expect(conversation).to_contain_text("budget spent")
        await shot(page, "remote")
        await page.reload()
        await expect(heard.first.locator("p")).to_have_text("[From Bob@beta] answer 1")
        await page.get_by_role("navigation").locator("#sessions").get_by_role("link", name="Ann").click()
        await expect(page.locator("#said .by.injected bdi").first).to_have_text("Bob@beta, over a link")
        await expect(page.locator("#session-facts")).to_contain_text("linked with Bob@beta")
        await shot(page, "local")

        # Hostile names of another machine are text.
        async with alpha.client() as client:
            await client.create_link("Ann", f"{beta.panes['Eve']}@beta", None)
        shown = f"{HOSTILE[:-1]}<202E>@beta"
        await page.evaluate("location.hash = '#/'")
        await expect(page.locator("#conversations")).to_contain_text(shown)
        await page.locator("#conversations").get_by_role("link", name="img").click()
        await expect(page.locator("#session-title")).to_have_text(shown)
        await expect(page.locator("#command-link")).to_contain_text("'<img src=x")
        assert await page.locator("img:not([src='/icon.svg'])").count() == 0
        await page.evaluate("location.hash = '#/'")

        # So are the participants of relays.
        async with alpha.client() as client:
            members = [RelayParticipant(session="Dora"), RelayParticipant(session="Carl@beta")]
            await client.create_relay(CreateRelay(participants=members, budget=5))
        relay = page.locator("#conversations li").filter(has_text="relay-")
        await expect(relay.get_by_role("link")).to_have_text(["Dora", "Carl@beta"])
        await expect(relay).to_contain_text("0 of 5 deliveries")
        await shot(page, "machines")
    async with opened(browser, beta) as page:
        # The same link, and a message that another machine's page has sent.
        await expect(page.locator("#conversations li").first.get_by_role("link")).to_have_text(["Ann@alpha", "Bob"])
        carl = page.locator("#sessions").get_by_role("link", name="Carl")
        await expect(carl).to_contain_text("in a relay of alpha")
        await carl.click()
        await expect(page.locator("#said .by.injected bdi")).to_have_text("Message from the page of alpha")


@pytest.mark.slow
@pytest.mark.requirement("NET-03", "OPS-05a")
@pytest.mark.timeout(240)
async def test_what_waits_for_a_machine_that_is_away_is_shown_with_its_reason(
    homes: tuple[Home, Home], browser: Browser
) -> None:
    alpha, beta = homes
    beta.start("Bob")
    async with opened(browser, alpha) as page:
        machine = page.locator("#machines li")
        await expect(machine).to_contain_text("reachable")
        beta.kill()
        await expect(machine.locator(".state")).to_have_text("away")
        await goes_to(page, "Bob@beta")
        await expect(page.locator("#session-advice")).to_contain_text(
            "wait here, on disk, and are sent when it is back"
        )
        await page.get_by_label("Message to Bob@beta").fill("are you there?")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#composer-problem")).to_contain_text("beta is unreachable, and the message waits")
        await expect(page.locator("#outgoing .receipt")).to_have_text("Held")
        await expect(page.locator("#outgoing .why")).to_have_text("beta is away")
        await expect(page.locator("#outgoing button")).to_be_hidden()
        await expect(page.locator("#session-advice")).to_contain_text("1 waiting for beta")
        await page.evaluate("location.hash = '#/'")
        await expect(machine).to_contain_text("1 message waiting")
        await expect(machine.locator(".last")).to_have_text("beta is away")

        # The same as the command says.
        (told,) = msgspec.json.decode(alpha.types_command("peers", "--json"))
        assert (told["state"], told["waiting"], told["why"]) == ("away", {"message": 1}, "beta is away")
        lag = await machine.locator(".about span").last.inner_text()
        assert abs(float(lag.removeprefix("for ").removesuffix(" s").replace(",", "")) - told["lag"]) < PATIENCE
        await shot(page, "away")
        beta.begin()
        await expect(machine).to_contain_text("Nothing waits for it.")
        wait_until(lambda: beta.heard("Bob") == ["are you there?"], PATIENCE, "the message to be typed")


@pytest.mark.slow
@pytest.mark.requirement("NET-02d", "GAT-04", "OPS-05b")
@pytest.mark.timeout(420)
async def test_a_person_takes_part_through_the_page_of_the_second_machine(
    homes: tuple[Home, Home], private_redis: PrivateRedis, browser: Browser
) -> None:
    """A 2-2-2 gathering of three speakers on two machines and a person, who sees nothing but the page of the second.

    The broker is killed and started again, and later the second machine is away for 20 s.
    """
    alpha, beta = homes
    alpha.start("Sage"), beta.start("Rex"), beta.start("Kim"), alpha.start("Ada")
    asked = StartGathering(
        participants=[
            Invited(name="Sage", number=1, session="Sage"),
            Invited(name="Rex", number=2, session="Rex@beta"),
            Invited(name="Kim", number=3, session="Kim@beta"),
            Invited(name="Eva", number=4, is_human=True, session="@beta"),
            Invited(name="Ada", number=9, session="Ada", role="harvester"),
        ],
        structure="2-2-2",
        beats_per_turn=1,
        beat_interval_seconds=0.5,
        last_words_seconds=60.0,
        harvest_seconds=30.0,
    )
    async with alpha.client() as client:
        held = await client.start_gathering(asked)

    async def state() -> str:
        async with alpha.client() as client:
            return (await client.gathering(held.gathering)).state

    async def disturb(phase: str, round_: int) -> None:
        if (phase, round_) == ("inhale", 1):
            private_redis.kill()
            private_redis.start()
        elif (phase, round_) == ("hold", 1):
            beta.freeze()
            await asyncio.sleep(AWAY_SECONDS)
            assert await state() == "paused"
            beta.thaw()

    said: list[str] = []
    async with opened(browser, beta) as page:
        await page.locator("#circles").get_by_role("link").click()
        await expect(page.locator("#circle-facts")).to_contain_text("kept by alpha")
        await expect(page.locator("#ring li .kind").first).to_have_text(re.compile(r"\w+@alpha"))
        await expect(page.locator("#harvester")).to_contain_text("Ada (9) on alpha listens")
        field = page.get_by_label("Your words")
        for phase in ("inhale", "hold", "exhale"):
            for round_ in (1, 2):
                await expect(page.locator("#phase")).to_have_text(phase.capitalize())
                await expect(page.locator("#round")).to_have_text(f"round {round_} of 2")
                await expect(page.locator("#turn")).to_contain_text("The piece is with you.")
                said.append(f"Eva in {phase} {round_} <b>")
                await field.fill(f"{said[-1]}\nI pass.")
                await page.get_by_role("button", name="Speak").click()
                await expect(page.locator("#transcript")).to_contain_text(said[-1])
                await disturb(phase, round_)
        await shot(page, "circle")
        await expect(page.locator("#phase")).to_have_text("Finished")
        shown = await contributions(page)
        assert await page.locator("#transcript b").count() == 0

    async def is_over() -> bool:
        return await state() == "closed"

    await wait_until_async(is_over, PATIENCE, "the gathering to be over")
    async with alpha.client() as client:
        told = await client.gathering_transcript(held.gathering)
    spoken = [one for one in told.entries if one.kind in {"said", "harvest"}]
    assert [(name, text) for name, text in shown] == [(f"{one.name} ({one.number})", one.text) for one in spoken]
    for name in ("Sage", "Rex", "Kim", "Eva"):
        assert len({(one.phase, one.round) for one in spoken if one.name == name}) == 6
    assert [one.text for one in spoken if one.name == "Eva"] == [f"{words}\nI pass." for words in said]
    # Every contribution is heard once by all others.
    for home, name in ((alpha, "Sage"), (beta, "Rex"), (beta, "Kim"), (alpha, "Ada")):
        got = home.heard(name)
        for one in spoken:
            if one.kind == "said" and one.name != name:
                count = got.count(f"{one.name} ({one.number}):\n\n{one.text}")
                assert count == 1, (name, one.name, one.text)
