"""A council on the page: a person in Chromium reads and takes part in a session with scripted members."""

import os
from collections.abc import Sequence

import pytest
from playwright.async_api import expect

from streamrelay.council.config import CouncilConfig
from streamrelay.council.members import Member
from streamrelay.errors import NotAllowed
from streamrelay.service.api import OpenCouncil
from tests.web.conftest import Household, Visitor

SHOTS = os.environ.get("SHOTS", "")
HOSTILE = (
    "<img src=x onerror=\"document.title='taken'\"> <script>document.title='taken'</script> [red]x[/red] "
    "\x1b[2J\x1b]0;taken\x07 \u202egnp.exe & **bold** {{x}} javascript:alert(1)"
)


def council(**scripts: Sequence[str]) -> CouncilConfig:
    return CouncilConfig(
        member=tuple(Member(name=name, vendor="scripted", script=tuple(script)) for name, script in scripts.items())
    )


@pytest.mark.requirement("COU-05", "COU-10", "COU-12a", "OPS-05b")
async def test_a_person_reads_and_takes_part_in_a_council_on_the_page(house: Household, visitor: Visitor) -> None:
    await house.begin()
    slow = " ".join(f"word{number}" for number in range(400))
    async with house.client() as client, visitor.device() as device:
        config = council(Ada=[slow, "Agreed."], Bob=[HOSTILE, "Fine."])
        opened = await client.open_council(OpenCouncil(config=config))
        await client.enter_council(opened.council, "Which <b>one</b>?")
        page = await visitor.comes(device)
        await page.get_by_role("link", name="Which <b>one</b>?").click()
        said = page.get_by_role("log", name="Conversation")
        entries = said.locator(".entry.person, .entry.member")
        await expect(entries.first).to_contain_text("Which <b>one</b>?")
        await expect(page.locator("#council-status")).to_contain_text("Generating... Ada 🤔")
        await page.get_by_label("Your message").fill("And <i>quickly</i>")
        await page.get_by_role("button", name="Send").click()
        await expect(said.locator(".entry.queued")).to_contain_text("And <i>quickly</i>")
        await expect(page.locator("#council-status")).to_contain_text("Queued Messages: 1")
        await expect(page.locator("#council-status")).to_contain_text("your turn")
        texts = await entries.locator("p").all_inner_texts()
        assert [text[:12] for text in texts] == ["Which <b>one", "word0 word1 ", "And <i>quick", "<img src=x o"]
        assert texts[1] == slow
        assert "<001B>[2J" in texts[3]
        assert "<202E>gnp.exe" in texts[3]
        assert await page.title() == "streamrelay"
        assert await said.locator("img, script, b, i, a").count() == 0
        await page.get_by_label("Your message").fill("/help")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#council-shown")).to_contain_text("/dissent")
        await page.get_by_label("Your message").fill("/blind Once more")
        await page.get_by_role("button", name="Send").click()
        await expect(entries.last).to_contain_text("Fine.")
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/council.png")
        await page.reload()
        await expect(entries).to_have_count(7)
        await page.get_by_label("Your message").fill("/nonsense")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#council-entry-problem")).to_contain_text("there is no /nonsense")
        visitor.expected = ("the server responded with a status of 400",)
        await page.get_by_label("Your message").fill("/bye")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#council-status")).to_contain_text(f"--resume {opened.council}")
        await expect(page.get_by_label("Your message")).to_be_hidden()
        await expect(entries).to_have_count(7)


@pytest.mark.requirement("COU-07", "COU-12a")
async def test_a_question_of_the_council_is_answered_on_the_page(house: Household, visitor: Visitor) -> None:
    await house.begin()
    async with house.client() as client, visitor.device(viewport={"width": 390, "height": 760}) as device:
        gone = Member(name="Gone", vendor="pane", model="nowhere")
        config = CouncilConfig(member=(*council(Ada=["Yes."]).member, gone))
        opened = await client.open_council(OpenCouncil(config=config))
        await client.enter_council(opened.council, "Hello")
        page = await visitor.comes(device, f"{house.access.link}")
        await page.get_by_role("link", name="Hello").click()
        question = page.locator("#council-question")
        await expect(question).to_contain_text("⚠️ Gone unavailable. Try it again? (/yes | /no)")
        await question.get_by_role("button", name="No").click()
        await expect(question).to_be_hidden()


async def test_a_page_that_may_not_send_may_not_enter_anything(house: Household) -> None:
    from streamrelay.daemon.page import page_operations

    entering = next(one for one in page_operations(send=False) if one.name == "enter_council")
    with pytest.raises(NotAllowed):
        await entering.call(None, None)  # type: ignore[arg-type]
    assert not {"open_council", "ask_council"} & {one.name for one in page_operations(send=True)}
