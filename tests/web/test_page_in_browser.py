"""The page in a real Chromium, on a real daemon, tmux and scripted agents."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from playwright.async_api import Locator, Page, async_playwright, expect

from streamrelay.service.api import SendMessage
from tests.conftest import chromium
from tests.web.conftest import FLAGS, Household, Visitor

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
LOST = ("Failed to load resource", "ERR_CONNECTION", "ERR_INTERNET", "net::")
"""What Chromium's console says of a daemon that is not there, or that refuses."""


async def says(house: Household, name: str, text: str = "hello") -> None:
    async with house.client() as client:
        await client.send_message(SendMessage(to=name, text=text))


async def heard(house: Household, name: str) -> None:
    async with house.client() as client:
        await client.watch(name, True)


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation").get_by_role("link", name=name)


async def lines(page: Page) -> list[str]:
    return await page.locator("#said .line.program").all_inner_texts()


@pytest.mark.slow
@pytest.mark.requirement("OPS-05a")
async def test_what_a_session_says_is_shown_as_it_says_it_and_how_it_is(house: Household, visitor: Visitor) -> None:
    house.agent("ann", "the tide is {number}")
    bob = house.agent("bob", options=["--dialog", "--asks", "permission"])
    half = house.tmux.new_session(
        "half", ["sh", "-c", "read x; printf 'half a'; read x; echo ' line'; exec sleep 1000"]
    )
    await house.begin()
    async with visitor.device() as device:
        page = await visitor.comes(device)
        # The token is in no address that stays, and not in the history.
        assert page.url == house.access.address
        assert await page.evaluate("history.length") <= 2
        ann = card(page, "ann")
        await expect(ann).to_contain_text("unknown")
        await ann.click()
        await page.get_by_role("button", name="Listen").click()
        await expect(page.locator("#session-state")).to_have_text("idle")
        await says(house, "ann")
        await expect(page.get_by_role("log")).to_contain_text("the tide is 1")
        await expect(page.locator("#said .line.injected")).to_contain_text("hello")
        assert await lines(page) == ["the tide is 1"]

        # Who waits for a person is told wherever one looks.
        await heard(house, bob)
        await expect(card(page, "bob")).to_contain_text("needs human")
        await expect(page.get_by_role("alert").first).to_have_text("bob needs a person")
        await expect(page).to_have_title("(1) streamrelay")
        await card(page, "bob").click()
        await expect(page.get_by_role("log")).to_contain_text("It waits for a person (permission)")
        await expect(page.locator("#session-advice")).to_be_visible()

        # What is not final is shown as such, and then once as what was said.
        await card(page, "half").click()
        await page.get_by_role("button", name="Listen").click()
        await expect(page.locator("#session-state")).to_have_text("idle")
        house.tmux.run("send-keys", "-t", half, "Enter")
        await expect(page.locator("#shown")).to_contain_text("half a")
        house.tmux.run("send-keys", "-t", half, "Enter")
        await expect(page.get_by_role("log")).to_contain_text("line")
        await expect(page.locator("#shown")).to_be_hidden()
        house.tmux.run("kill-session", "-t", "half")
        await expect(page.locator("#session-facts")).to_have_text("It is not there any more.")


@pytest.mark.slow
@pytest.mark.requirement("OPS-05a")
async def test_a_connection_or_a_daemon_that_was_lost_comes_back_where_it_was(
    house: Household, visitor: Visitor
) -> None:
    visitor.expected = LOST
    house.agent("ann", "wave {number}")
    await house.begin()
    await heard(house, "ann")
    async with visitor.device() as device:
        page = await visitor.comes(device)
        await card(page, "ann").click()
        await says(house, "ann")
        await expect(page.get_by_role("log")).to_contain_text("wave 1")

        house.kill()
        await expect(page.get_by_role("status")).to_contain_text("Connection lost")
        await house.begin()
        await says(house, "ann")
        await expect(page.get_by_role("log")).to_contain_text("wave 2")
        await expect(page.get_by_role("status")).to_have_text("Connected")

        # A browser that was closed: what it knows is the address, without the token.
        await page.close()
        await says(house, "ann")
        page = await visitor.comes(device, house.access.address)
        await expect(page.get_by_role("log")).to_contain_text("wave 3")
        assert await lines(page) == ["wave 1", "wave 2", "wave 3"]

        await device.set_offline(True)
        await says(house, "ann")
        await device.set_offline(False)
        await expect(page.get_by_role("log")).to_contain_text("wave 4")
        assert await lines(page) == ["wave 1", "wave 2", "wave 3", "wave 4"]


@pytest.mark.slow
@pytest.mark.requirement("OPS-05a")
async def test_it_is_used_on_a_phone_and_by_keyboard_alone(house: Household, visitor: Visitor) -> None:
    house.agent("ann", "x" * 300)
    await house.begin()
    async with visitor.device(**PHONE, color_scheme="dark", reduced_motion="reduce") as device:
        page = await visitor.comes(device)
        await card(page, "ann").tap()
        await page.get_by_role("button", name="Listen").tap()
        await expect(page.get_by_role("navigation")).to_be_hidden()
        await says(house, "ann", "a" * 300)
        await expect(page.get_by_role("log")).to_contain_text("xxx")
        # Nothing is wider than the screen, however long what is said.
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 19, 23)"
        assert await page.evaluate("document.getAnimations().length") == 0
        for button in await page.locator("button:visible").all():
            assert (await button.bounding_box() or {})["height"] >= 44
        await page.get_by_role("link", name="Back to all").tap()
        await expect(card(page, "ann")).to_be_visible()
        await expect(page.get_by_role("log")).to_be_hidden()
        # The browser's own Back and Forward show what their addresses name.
        await page.go_back()
        await expect(page.get_by_role("heading", name="ann")).to_be_visible()
        await page.go_back()
        await expect(card(page, "ann")).to_be_visible()
        await expect(page.get_by_role("log")).to_be_hidden()
        await page.go_forward()
        await expect(page.get_by_role("log")).to_contain_text("xxx")
    async with visitor.device() as device:
        page = await visitor.comes(device)
        await expect(card(page, "ann")).to_be_visible()

        async def tab_to(words: str) -> None:
            for _ in range(12):
                await page.keyboard.press("Tab")
                focused = page.locator(":focus")
                if words in (await focused.get_attribute("aria-label") or await focused.inner_text()):
                    break
            assert await page.evaluate("document.activeElement.matches(':focus-visible')")

        await page.keyboard.press("Tab")
        await expect(page.get_by_text("Skip to the content")).to_be_focused()
        await tab_to("ann")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="ann")).to_be_focused()
        await tab_to("Transcript")
        await expect(page.get_by_role("log")).to_be_focused()
        # Somebody who looks again and again is left where he is.
        await page.evaluate("dispatchEvent(new Event('online'))")
        await expect(page.get_by_role("log")).to_be_focused()


@pytest.mark.requirement("OPS-05d")
async def test_a_person_sends_messages_and_sees_what_became_of_each(house: Household, visitor: Visitor) -> None:
    visitor.expected = ("409", "Failed to load resource")
    house.agent("ann", "the first line\nthe second line")
    house.agent("bob", options=["--dialog", "--asks", "permission"])
    house.tmux.new_session("shell", ["sh"])
    await house.begin()
    for name in ("ann", "bob", "shell"):
        await heard(house, name)
    async with visitor.device() as device:
        page = await visitor.comes(device)
        await expect(page.locator("#no-output code")).to_contain_text("streamrelay send -S")

        # Its receipt comes beside it; message and answer are one block each, with one head and its time.
        await card(page, "ann").click()
        field = page.get_by_label("Message to ann")
        await field.fill("hello ann\nhow are you?")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator("#outgoing .receipt")).to_have_text("Answered")
        await expect(field).to_have_value("")
        await expect(page.locator("#said .block h3 bdi")).to_have_text(["Message from this page", "ann"])
        blocks = page.locator("#said .block")
        await expect(blocks.nth(0).locator("p")).to_have_text(["hello ann", "how are you?"])
        await expect(blocks.nth(1).locator("p")).to_have_text(["the first line", "the second line"])
        time = blocks.nth(1).locator("time")
        assert datetime.fromisoformat(await time.get_attribute("datetime") or "").tzinfo is not None
        assert str(datetime.now(UTC).year) in (await time.get_attribute("title") or "")
        assert house.heard("ann") == ["hello ann\nhow are you?"]
        await page.get_by_text("Commands").click()
        pane = house.panes["ann"]
        await expect(page.locator("#command-record")).to_have_text(
            f"streamrelay record -S {house.tmux.socket_path} {pane} talk.jsonl.gz"
        )
        await expect(page.locator("#tools .command code").last).to_have_text(
            "streamrelay explain talk.jsonl.gz --html talk.html"
        )

        # Held where a dialog is open, with what to do about it, until it is cancelled.
        await card(page, "bob").click()
        await page.get_by_label("Message to bob").fill("never typed")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#outgoing li")).to_contain_text("Held")
        await expect(page.locator("#outgoing .why")).to_contain_text("once a person has answered it")
        await page.reload()
        await expect(page.locator("#outgoing .why")).to_contain_text("once a person has answered it")
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator("#outgoing li")).to_contain_text("cancelled")
        assert house.heard("bob") == []

        # A shell runs what it is sent: only where the person says so.
        await card(page, "shell").click()
        await page.get_by_label("Message to shell").fill("echo $((6*7))")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#shell")).to_contain_text("would run your message as a command")
        await expect(page.locator("#outgoing li")).to_have_count(0)
        await page.get_by_label("Run it as a command").check()
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("#said .line.program").get_by_text("42", exact=True)).to_be_visible()

        # Home tells what was said last, and where; what needs a person comes first.
        await page.get_by_role("link", name="streamrelay").click()
        await expect(page.locator("#sessions .title")).to_have_text(["bob", "shell", "ann", "keeper"])
        await expect(card(page, "ann")).to_contain_text("the second line")
        assert await card(page, "ann").locator("time").get_attribute("datetime")
        await expect(page.locator("#feed .who")).to_have_text(["shell", "ann"])
        await expect(page.locator("#feed p").nth(1)).to_have_text("the first line\nthe second line")


@pytest.mark.slow
@pytest.mark.requirement("OPS-05a")
async def test_a_flood_leaves_the_page_usable(house: Household, visitor: Visitor) -> None:
    go = house.tmux.new_session("flood", ["sh", "-c", "read x; seq -f 'line %06.0f' 30000; echo the end; exec cat"])
    await house.begin()
    await heard(house, go)
    async with visitor.device() as device:
        page = await visitor.comes(device)
        await card(page, "flood").click()
        await expect(page.get_by_role("heading", name="flood")).to_be_focused()
        house.tmux.run("send-keys", "-t", go, "Enter")
        await expect(page.get_by_role("log")).to_contain_text("the end")
        shown = await lines(page)
        assert len(shown) <= 2000
        assert shown[-2:] == ["line 030000", "the end"]
        # Whoever reads further up is left there, and told that there is more.
        await page.get_by_role("log").evaluate("box => box.scrollTop = 0")
        house.tmux.run("send-keys", "-t", go, "more", "Enter")
        await expect(page.get_by_role("button", name="Go to the newest")).to_be_visible()
        assert await page.get_by_role("log").evaluate("box => box.scrollTop") < 100
        await page.get_by_role("button", name="Go to the newest").click()
        await expect(page.get_by_role("button", name="Go to the newest")).to_be_hidden()


HOSTILE = (
    "<img src=x onerror=alert(1)>", "</p></div><script>alert(2)</script>", "&lt;b&gt; &amp;",
    "javascript:alert(3)", "{{7*7}} ${7*7}", "safe\u202egnp.exe", "zero\u200bwidth",
)  # fmt: skip


@pytest.mark.requirement("OPS-05c")
async def test_what_programs_say_is_text_whatever_it_says(house: Household, visitor: Visitor) -> None:
    title = "<img src=x onerror=alert(4)>"
    house.agent("ann", *HOSTILE)
    house.tmux.run("rename-session", "-t", "ann", title)
    await house.begin()
    await heard(house, house.panes["ann"])
    async with visitor.device() as device:
        page = await device.new_page()
        page.on("dialog", lambda _: visitor.complaints.append("a dialog"))
        page.on("console", lambda told: visitor.complaints.append(told.text))
        await page.goto(house.access.link)
        await card(page, title).click()
        for text in HOSTILE:
            await says(house, house.panes["ann"])
            shown = text.replace("\u202e", "<202E>").replace("\u200b", "")
            await expect(page.get_by_role("log")).to_contain_text(shown.replace("zerowidth", "zero"))
        assert await page.locator("#said *:not(section, h3, bdi, time, p)").count() == 0
        assert await page.locator("img:not([src='/icon.svg'])").count() == 0
        # And if there were markup after all, nothing of it would run.
        tried = await page.evaluate("try { document.body.innerHTML = '<p>'; 'taken' } catch (error) { error.name }")
        assert tried == "TypeError"
        visitor.complaints = [words for words in visitor.complaints if "TrustedHTML" not in words]


@asynccontextmanager
async def strangers_page(script: str) -> AsyncIterator[tuple[int, list[str]]]:
    """Serve a page of somebody else's on another port of this machine; give what its script reports."""
    told: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            told.extend(re.findall(r"GET /told/(\S+)", head.decode()))
            body = f"<!doctype html><script>{script}</script>".encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n" % len(body))
            writer.write(b"Connection: close\r\n\r\n" + body)
            await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = await asyncio.start_server(answer, sock=listener)
        try:
            yield listener.getsockname()[1], told
        finally:
            server.close()


@pytest.mark.slow
@pytest.mark.requirement("OPS-05c")
async def test_a_strangers_page_gets_nothing_not_even_with_the_token(house: Household, visitor: Visitor) -> None:
    """Another origin (CSRF), and another name that leads here (DNS rebinding)."""
    house.agent("ann", "a secret")
    await house.begin()
    tries = f"""
        const home = "{house.access.address}", token = "{house.access.token}";
        const tried = async (name, ...how) => {{
            const answer = await fetch(...how).then((got) => got.text(), () => "");
            await fetch(`/told/${{name}}-${{answer.includes("session") ? "read" : "nothing"}}`);
        }};
        (async () => {{
            await tried("plain", home + "v1/sessions");
            await tried("token", home + "v1/sessions", {{headers: {{authorization: `Bearer ${{token}}`}}}});
            await tried("opaque", home + "v1/watch", {{method: "POST", mode: "no-cors",
                body: JSON.stringify({{session: "ann", watched: true}})}});
            const form = document.createElement("form");
            Object.assign(form, {{action: home + "v1/watch", method: "POST", enctype: "text/plain"}});
            document.documentElement.append(form);
            fetch("/told/end").then(() => form.submit());
        }})();
    """
    async with strangers_page(tries) as (port, told), visitor.device() as device:
        await visitor.comes(device)
        page = await device.new_page()
        await page.goto(f"http://127.0.0.1:{port}/")
        await page.wait_for_url(f"{house.access.address}v1/watch")
        assert {"plain-nothing", "token-nothing", "opaque-nothing", "end"} <= set(told)
        assert "wrong_origin" in await page.content()
        async with house.client() as client:
            assert [one.state for one in await client.sessions() if one.title == "ann"] == ["unknown"]
    async with async_playwright() as playwright:
        rebinding = "--host-resolver-rules=MAP evil.example 127.0.0.1"
        browser = await playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, rebinding])
        try:
            page = await browser.new_page()
            answer = await page.goto(f"http://evil.example:{house.port}/#token={house.access.token}")
            assert answer is not None
            assert answer.status == 421
            same_origin = f"fetch('/v1/sessions', {{headers: {{authorization: 'Bearer {house.access.token}'}}}})"
            assert await page.evaluate(f"{same_origin}.then((got) => got.status)") == 421
        finally:
            await browser.close()


@pytest.mark.requirement("OPS-05c")
async def test_whoever_has_no_token_is_asked_for_it(house: Household, visitor: Visitor) -> None:
    visitor.expected = LOST
    await house.begin()
    async with visitor.device() as device:
        page = await visitor.comes(device, house.access.address)
        field = page.get_by_label("Access token")
        await expect(field).to_be_focused()
        await expect(page.get_by_role("navigation")).to_be_hidden()
        await expect(page.locator("#entrance")).to_contain_text("streamrelay web")
        assert (await field.bounding_box() or {})["height"] < 60
        await field.fill("wrong")
        await page.get_by_role("button", name="Connect").click()
        await expect(page.locator("#entrance-problem")).to_contain_text("refused this token")
        await field.fill(house.access.link)
        await page.keyboard.press("Enter")
        await expect(card(page, "keeper")).to_be_visible()

        # The token is another one: whoever is in is shown out.
        house.kill()
        house.forget_token()
        await house.begin()
        await expect(field).to_be_visible()
        assert await page.evaluate("localStorage.getItem('token')") is None
