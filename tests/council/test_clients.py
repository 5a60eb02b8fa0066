"""Each vendor's own SDK against a loopback server that speaks its streaming protocol."""

import logging
from collections import deque
from collections.abc import Callable

import pytest

from streamrelay.council.clients.anthropic import AnthropicClient
from streamrelay.council.clients.contract import AIClient, ChatMessage, Usage
from streamrelay.council.clients.google import GoogleClient
from streamrelay.council.clients.openai import OpenAIClient
from streamrelay.errors import AICutOff, AIKeyRefused, AIUnavailable
from tests.council.vendors import Fault, Vendors

pytestmark = pytest.mark.requirement("COU-01a", "COU-02a", "COU-02b")

KEY = "sk-secret-0123456789"
TALK = [ChatMessage("user", "[Ada]: private words"), ChatMessage("assistant", "Yes?"), ChatMessage("user", "Go on.")]
MAKERS: dict[str, Callable[[str], AIClient]] = {
    "anthropic": lambda url: AnthropicClient("M", "claude-x", KEY, base_url=url, wait=0.01),
    "google": lambda url: GoogleClient("M", "gemini-x", KEY, base_url=url, wait=0.01),
    "openai": lambda url: OpenAIClient("M", "gpt-x", KEY, base_url=f"{url}/v1", wait=0.01),
}
MODELS = {"anthropic": "claude-x", "google": "gemini-x", "openai": "gpt-x"}
each_vendor = pytest.mark.parametrize("vendor", MAKERS)


async def heard(client: AIClient) -> str:
    return "".join([piece async for piece in client.stream_response(TALK, "Be brief.")])


@each_vendor
async def test_an_answer_comes_in_pieces_with_what_it_took(vendors: Vendors, vendor: str) -> None:
    vendors.answers[MODELS[vendor]] = deque(["Grüße aus dem 会議, in pieces."])
    async with MAKERS[vendor](vendors.url) as client:
        pieces = [piece async for piece in client.stream_response(TALK, "Be brief.")]
        assert "".join(pieces) == "Grüße aus dem 会議, in pieces."
        assert len(pieces) > 1
        assert client.usage == Usage(1000, 500)
        assert await client.health_check()
    assert KEY in vendors.keys[0]
    assert "Be brief." in str(vendors.seen[0][1])
    assert "private words" in str(vendors.seen[0][1])


@each_vendor
@pytest.mark.parametrize("fault", ["429", "500"])
async def test_three_attempts_are_made_and_no_more(vendors: Vendors, vendor: str, fault: Fault) -> None:
    vendors.faults[MODELS[vendor]] = deque([fault] * 2)
    async with MAKERS[vendor](vendors.url) as client:
        assert await heard(client) == f"I am {MODELS[vendor]}."
        assert vendors.requests.total() == 3
        vendors.faults[MODELS[vendor]] = deque([fault] * 9)
        with pytest.raises(AIUnavailable) as raised:
            await heard(client)
        assert vendors.requests.total() == 6
    assert raised.value.data["status"] == int(fault)


@each_vendor
@pytest.mark.parametrize("fault", ["cut", "malformed"])
async def test_an_answer_that_breaks_off_is_not_asked_for_again(vendors: Vendors, vendor: str, fault: Fault) -> None:
    vendors.answers[MODELS[vendor]] = deque(["The first words, and then nothing more."])
    vendors.faults[MODELS[vendor]] = deque([fault])
    pieces = []
    async with MAKERS[vendor](vendors.url) as client:
        with pytest.raises(AICutOff):
            async for piece in client.stream_response(TALK, ""):
                pieces.append(piece)  # noqa: PERF401  # what came before the error counts
    assert "".join(pieces).startswith("The first")
    assert vendors.requests.total() == 1


@each_vendor
async def test_a_refused_key_is_not_tried_again(vendors: Vendors, vendor: str) -> None:
    vendors.faults[MODELS[vendor]] = deque(["401"])
    async with MAKERS[vendor](vendors.url) as client:
        with pytest.raises(AIKeyRefused):
            await heard(client)
    assert vendors.requests.total() == 1


@each_vendor
async def test_a_server_that_is_not_there_is_unavailable(vendor: str) -> None:
    async with MAKERS[vendor]("http://127.0.0.1:1") as client:
        with pytest.raises(AIUnavailable, match="cannot be reached"):
            await heard(client)
        assert not await client.health_check()


@each_vendor
async def test_a_model_that_there_is_not_is_unhealthy(vendors: Vendors, vendor: str) -> None:
    vendors.gone.append(MODELS[vendor])
    async with MAKERS[vendor](vendors.url) as client:
        assert not await client.health_check()


@each_vendor
@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG], ids=["info", "debug"])
async def test_no_key_and_no_content_is_logged_or_told(
    vendors: Vendors, vendor: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(level)
    vendors.faults[MODELS[vendor]] = deque(["429", "401", "malformed"])
    async with MAKERS[vendor](vendors.url) as client:
        with pytest.raises(AIKeyRefused) as raised:
            await heard(client)
        with pytest.raises(AICutOff) as cut_off:
            await heard(client)
        await heard(client)
        assert await client.health_check()
    errors = [f"{error.message} {error.data} {error.hint}" for error in (raised.value, cut_off.value)]
    told = f"{caplog.text} {errors}"
    assert "sk-secret" not in told
    assert "private words" not in told
    assert "Be brief." not in told
    assert "I am " not in told
