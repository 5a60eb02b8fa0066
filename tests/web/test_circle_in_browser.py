"""A gathering on the page: a person in Chromium among scripted agents in tmux, from seed to harvest."""

import json
import os
from pathlib import Path

import pytest
from msgspec import structs
from playwright.async_api import Browser, Page, expect

from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.gathering_api import GatheringMember, GatheringTranscript, TranscriptEntry
from streamrelay.testing.waiting import wait_until_async
from streamrelay.web.access import Access
from tests.service.conftest import PATIENCE
from tests.web.conftest import Household, Visitor
from tests.web.served_page import serving

SHOTS = os.environ.get("SHOTS", "")


def agent(house: Household, name: str, number: int, **said: object) -> Invited:
    """Return an agent to be started that says one thing whenever it is asked something, and passes."""
    file = house.folder / f"{name}.json"
    file.write_text(json.dumps([f"{name} has <b>seen</b> {{number}}. I pass."]))
    arguments = (str(house.folder / name), "--answers", str(file))
    return Invited(name=name, number=number, agent="sprite", arguments=arguments, **said)  # type: ignore[arg-type]


async def gathered(house: Household, *participants: Invited, **said: object) -> Gathering:
    long = {"structure": "1-1-1", "beats_per_turn": 2, "beat_interval_seconds": 6.0, "last_words_seconds": 20.0}
    request = StartGathering(participants=participants, opening_question="What matters <i>today</i>?", **(long | said))  # type: ignore[arg-type]
    async with house.client() as client:
        return await client.start_gathering(request)


async def contributions(page: Page) -> list[tuple[str, str]]:
    entries = page.locator("#transcript .entry.said, #transcript .entry.harvest")
    return [
        (await entry.locator("h4 bdi").inner_text(), await entry.locator("p").inner_text())
        for entry in await entries.all()
    ]


@pytest.mark.requirement("OPS-05b", "GAT-14")
async def test_a_person_sits_in_a_circle_reads_speaks_passes_and_comes_back(house: Household, visitor: Visitor) -> None:
    await house.begin()
    circle = await gathered(
        house,
        agent(house, "Sage", 1),
        Invited(name="You", number=2, is_human=True),
        agent(house, "Rex", 3),
        agent(house, "Ada", 4, role="harvester"),
    )
    async with visitor.device() as device:
        page = await visitor.comes(device)
        await page.get_by_role("link", name="What matters <i>today</i>?").click()
        standing = page.get_by_role("region", name="The circle")
        await expect(standing.locator("#ring li bdi")).to_have_text(["Sage (1)", "You (2)", "Rex (3)"])
        await expect(standing).to_contain_text("Ada (4) listens")
        holder = standing.get_by_role("listitem").and_(standing.locator("[aria-current=true]"))

        # The piece comes: said aloud, shown, and with what is asked.
        await expect(holder).to_contain_text("You (2)")
        await expect(standing.locator("#piece")).to_have_class("held")
        await expect(standing.locator("[aria-current=step]")).to_contain_text("Inhale")
        await expect(page.get_by_role("alert").first).to_have_text("The piece is with you.")
        await expect(page.locator("#asked")).to_contain_text("You (2), the piece is yours. Phase: INHALE (round 1/1)")
        await expect(page.locator("#hub")).to_contain_text("round 1 of 1")
        await expect(page).to_have_title("◆ Your turn streamrelay")
        await expect(page.get_by_role("log", name="Transcript")).to_contain_text("Sage has <b>seen</b>")
        words = page.get_by_label("Your words")
        await words.fill("I notice <script>alert(1)</script> the rain.")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("log", name="Transcript")).to_contain_text("the rain.")
        await expect(words).to_have_value("")
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/circle.png")

        # His beats are his: shown as they come, and heard by nobody else.
        await expect(page.get_by_role("img", name="Beat 1 of 2")).to_be_visible()
        await expect(page.locator("#asked")).to_contain_text("[Beat 1/2]")
        await page.get_by_role("button", name="Pass the piece").click()
        await expect(page.get_by_role("button", name="Speak")).to_be_disabled()
        await words.fill("Something half")

        # Away, and back in his next tenure: the same place, the same seat, and what he had half written.
        await page.close()

        async def holds_it() -> bool:
            async with house.client() as client:
                told = await client.gathering(circle.gathering)
            return (told.phase, told.speaker) == ("hold", 2)

        await wait_until_async(holds_it, PATIENCE, "the piece to come round")
        page = await visitor.comes(device, house.access.address)
        await expect(page.locator("#turn")).to_contain_text("The piece is with you.")
        words = page.get_by_label("Your words")
        await expect(words).to_have_value("Something half")
        await words.fill("I disagree with Sage.\nI pass.")
        await page.get_by_role("button", name="Speak").click()
        await expect(page.locator("#phase")).to_have_text("Exhale")
        await expect(page.locator("#turn")).to_contain_text("The piece is with you.")
        await page.get_by_role("button", name="Pass the piece").click()

        await expect(page.locator("#phase")).to_have_text("Finished")
        await expect(page.locator(".entry.harvest")).to_contain_text("Ada has <b>seen</b>")
        await expect(page.locator("#seat")).to_be_hidden()
        shown = await contributions(page)
        assert await page.locator("#transcript b, #transcript script, #transcript i").count() == 0
    async with house.client() as client:
        told = await client.gathering_transcript(circle.gathering)
    names = {one.number: f"{one.name} ({one.number})" for one in told.gathering.participants}
    spoken = [one for one in told.entries if one.kind in {"said", "harvest"}]
    assert shown == [(names[one.number or 0], one.text) for one in spoken]
    assert next(text for name, text in shown if name == "You (2)") == "I notice <script>alert(1)</script> the rain."
    for name in ("Sage", "Rex", "Ada"):
        got = house.heard(name)
        assert len([text for text in got if text.startswith("You (2):") and "the rain." in text]) == 1
        assert not [text for text in got if "You (2), the piece is yours" in text]


@pytest.mark.requirement("OPS-05b", "GAT-14")
async def test_the_page_tells_people_that_their_time_is_up(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as port:
        held = port.service.held("gathering-1")
        mo, eve = (
            GatheringMember(number=number, name=name, role="speaker") for number, name in enumerate(("Mo", "<b>Eve"), 1)
        )
        circle = structs.replace(held, participants=[structs.replace(mo, is_human=True), eve])
        passed = [
            TranscriptEntry(at=1.0, kind="passed", phase="hold", round=1, number=one.number, name=one.name, text=how)
            for how in ("time", "tool")
            for one in (mo, eve)
        ]

        async def transcript(_: str) -> GatheringTranscript:
            return GatheringTranscript(gathering=circle, entries=passed, markdown="")

        monkeypatch.setattr(port.service, "gathering_transcript", transcript)
        page = await browser.new_page()
        await page.goto(Access(address=f"http://127.0.0.1:{port.number}/", token=port.token).link)
        await page.get_by_role("region", name="Gatherings").get_by_role("link").first.click()
        await expect(page.locator("#transcript .mark.passed")).to_have_text(
            ["Your time is up.", "Time is up for <b>Eve.", "Mo passed the piece on.", "<b>Eve passed the piece on."]
        )


@pytest.mark.requirement("OPS-05d")
@pytest.mark.parametrize("send", [True, False])
async def test_the_field_for_messages_is_there_if_the_page_may_send(
    browser: Browser, tmp_path: Path, *, send: bool
) -> None:
    async with serving(tmp_path, send=send) as port:
        page = await browser.new_page()
        await page.goto(Access(address=f"http://127.0.0.1:{port.number}/", token=port.token).link)
        await page.get_by_role("region", name="Sessions").get_by_role("link").first.click()
        await expect(page.locator("#session-title")).to_have_text("Änn")
        await expect(page.locator("#composer")).to_be_visible(visible=send)


@pytest.mark.slow
@pytest.mark.requirement("OPS-05b")
async def test_two_people_have_a_seat_each_and_a_lost_daemon_keeps_them(house: Household, visitor: Visitor) -> None:
    visitor.expected = ("Failed to load resource", "net::")
    await house.begin()
    circle = await gathered(
        house,
        Invited(name="Mo", number=1, is_human=True),
        Invited(name="Eve", number=2, is_human=True),
        Invited(name="Ada", number=3, is_human=True, role="harvester"),
        beat_interval_seconds=60.0,
    )
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    async with visitor.device(**phone, reduced_motion="reduce") as of_mo, visitor.device() as of_eve:
        pages = {"Mo": await visitor.comes(of_mo), "Eve": await visitor.comes(of_eve)}
        for name, page in pages.items():
            await page.get_by_role("link", name="What matters").click()
            # Whoever has said nothing of himself only reads.
            await expect(page.get_by_label("Your words")).to_be_hidden()
            await page.get_by_label("Who are you?").select_option(label=f"{name} ({1 if name == 'Mo' else 2})")
        mo, eve = pages.values()
        await expect(mo.get_by_role("button", name="Speak")).to_be_enabled()
        await expect(eve.get_by_role("button", name="Speak")).to_be_disabled()
        await expect(eve.locator("#turn")).to_contain_text("Mo holds the piece.")
        assert await mo.evaluate("document.documentElement.scrollWidth") <= 360
        for button in ("Speak", "Pass the piece"):
            await expect(mo.get_by_role("button", name=button)).to_be_in_viewport(ratio=1)
        assert await mo.evaluate("document.getAnimations().length") == 0

        # However much Mo writes, the transcript stays in sight above the seat.
        await expect(mo.get_by_label("What you are asked")).to_be_visible()
        await mo.get_by_label("Your words").fill("a line\n" * 12)
        seat = await mo.locator("#seat").bounding_box()
        transcript = await mo.get_by_role("log", name="Transcript").bounding_box()
        assert seat
        assert transcript
        assert transcript["height"] >= 96
        assert transcript["y"] + transcript["height"] <= seat["y"]
        assert seat["y"] + seat["height"] <= 740
        # Reading the ring while the seat is his: each takes part by name, and people are marked.
        await expect(mo.locator("#ring .kind")).to_have_text(["you", "person"])
        if SHOTS:
            await mo.screenshot(path=f"{SHOTS}/phone.png")

        # What goes out while nobody is there is not lost, and not said behind his back.
        await mo.get_by_label("Your words").fill("before the storm")
        house.kill()
        await mo.get_by_role("button", name="Speak").tap()
        await expect(mo.locator("#seat-problem")).to_contain_text("The connection broke")
        await expect(mo.get_by_label("Your words")).to_have_value("before the storm")
        await house.begin()
        await expect(mo.get_by_role("button", name="Speak")).to_be_enabled()
        await mo.get_by_role("button", name="Speak").tap()
        for page in (mo, eve):
            await expect(page.get_by_role("log", name="Transcript")).to_contain_text("before the storm")
        await mo.get_by_role("button", name="Pass the piece").tap()
        await expect(eve.get_by_role("button", name="Speak")).to_be_enabled()
        # Somebody else was quicker, and the page does not know it yet: it is told, and nothing is passed for the next.
        await eve.route("**/transcript", lambda _: None)
        async with house.client() as client:
            await client.pass_piece(circle.gathering, number=2)
        await eve.get_by_role("button", name="Pass the piece").click()
        await expect(eve.locator("#seat-problem")).to_contain_text("Mo holds the piece now")
        await eve.unroute_all()
        await eve.reload()
        await expect(eve.locator("#turn")).to_contain_text("Mo holds the piece.")
        await expect(eve.locator(".entry.said h4 bdi")).to_have_text(["Mo (1)"])

        # Whoever listened until now says the harvest.
        await eve.get_by_label("Who are you?").select_option(label="Ada (3)")
        await expect(eve.locator("#turn")).to_have_text("You listen. At the close the harvest is yours.")
        await expect(eve.get_by_role("button", name="Pass the piece")).to_be_hidden()
        async with house.client() as client:
            await client.close_gathering(circle.gathering)
        await expect(eve.get_by_role("alert").first).to_have_text("The harvest is yours.")
        await eve.get_by_label("Your words").fill("* todos: mend the roof")
        await eve.get_by_role("button", name="Speak").click()
        for page in (mo, eve):
            await expect(page.locator("#phase")).to_have_text("Closed early")
            await expect(page.locator(".entry.harvest")).to_be_visible()
            assert await contributions(page) == [("Mo (1)", "before the storm"), ("Ada (3)", "* todos: mend the roof")]
