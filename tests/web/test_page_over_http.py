"""The page's port as those meet it who are not its page: over plain sockets, with a service in memory."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streamrelay.daemon import ports
from streamrelay.daemon.page import page_at
from streamrelay.daemon.sse import FrameReader
from streamrelay.errors import StorageError, StreamrelayError, UsageError
from streamrelay.service.api import SendMessage
from streamrelay.web import guard, site
from streamrelay.web.access import PAGE
from streamrelay.web.streams import beating
from streamrelay.web.token import token_in
from tests.daemon.conftest import PATIENCE
from tests.web.served_page import Port, serving

FILES = Path(site.__file__).parent / "page"


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[Port]:
    async with serving(tmp_path) as one:
        yield one


# Who is answered


@pytest.mark.requirement("OPS-05c")
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer x"}, 401),
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
    ],
)
async def test_what_is_not_right_gets_no_further_than_the_guard(port: Port, wrong: dict[str, str], status: int) -> None:
    before = list(port.service.asked)
    async with port.client(**wrong) as client:
        for answer in (
            await client.get("/v1/status"),
            await client.get("/v1/events"),
            await client.get("/v1/live?session=%251"),
            await client.get("/v1/journal?seq=0"),
            await client.post("/v1/watch", json={"session": "%1"}),
            # What is not there is told to nobody who is not known.
            await client.get("/nothing"),
        ):
            assert answer.status_code == status
            assert answer.json()["code"] in {"unauthorized", "wrong_host", "wrong_origin"}
            assert port.token not in answer.text
            assert answer.headers["connection"] == "close"
    assert port.service.asked == before


async def test_a_form_cannot_post_and_no_other_page_is_told_that_it_may(port: Port) -> None:
    before = list(port.service.asked)
    async with port.client(content_type="text/plain") as client:
        assert (await client.post("/v1/watch", content=b'{"session": "%1"}')).status_code == 415
    async with port.client(authorization="", origin="http://evil.example") as client:
        told = await client.options("/v1/watch", headers={"access-control-request-method": "POST"})
        assert told.status_code == 403
        assert not [name for name in told.headers if name.startswith("access-control")]
    assert port.service.asked == before


async def test_the_page_can_ask_for_what_it_needs_and_for_nothing_else(port: Port) -> None:
    async with port.client(origin=f"http://127.0.0.1:{port.number}") as client:
        assert (await client.get("/v1/status")).json()["pid"] == 7
        assert (await client.get("/v1/sessions")).json()[0]["title"] == "Änn"
        assert (await client.get("/v1/journal?seq=0")).json() == []
        assert (await client.post("/v1/watch", json={"session": "%1"})).status_code == 204
        assert (await client.post("/v1/watch", json={"sesion": "%1"})).status_code == 400
        assert (await client.get("/v1/latest?limit=3")).json()[0]["text"] == "a\nü"
        for name in ("peers", "links", "relays"):
            assert (await client.get(f"/v1/{name}")).status_code == 200
        before = list(port.service.asked)
        for method, path in (
            ("POST", "/v1/sessions"), ("DELETE", "/v1/sessions/%251"), ("POST", "/v1/hooks"),
            ("POST", "/v1/links"), ("POST", "/v1/relays"), ("POST", "/v1/links/link-1/close"),
            ("POST", "/v1/stop"), ("POST", "/v1/mute"), ("GET", "/metrics"), ("GET", "/mcp"),
            ("GET", "/openapi.json"), ("GET", PAGE), ("POST", PAGE), ("GET", "/../token"), ("GET", "/page.html"),
            ("GET", "/%2e%2e/guard.py"),
        ):  # fmt: skip
            answer = await client.request(method, path, json={} if method == "POST" else None)
            assert answer.status_code in {404, 405}, (method, path)
            assert answer.json()["code"] == "usage"
        assert port.service.asked == before


@pytest.mark.requirement("OPS-05d")
async def test_a_message_from_the_page_is_a_persons_and_speaks_for_no_session(port: Port) -> None:
    async with port.client(origin=f"http://127.0.0.1:{port.number}") as client:
        message = {"to": "%1", "text": "hello", "message_id": "page-1", "allow_shell": True}
        sent = await client.post("/v1/messages", json=message)
        assert sent.json()["delivery"]["state"] == "queued"
        assert port.service.asked[-1] == SendMessage(to="%1", text="hello", message_id="page-1", allow_shell=True)
        assert (await client.get("/v1/messages/page-1")).json()[0]["state"] == "answered"
        before = list(port.service.asked)
        for more in ({"caller": "%2"}, {"direct": True}, {"close_link": True}, {"unknown_agent": True}, {"policy": {}}):
            refused = await client.post("/v1/messages", json=message | more)
            assert refused.status_code == 400
            assert next(iter(more)) in refused.json()["message"]
        for headers in ({"authorization": ""}, {"origin": "http://evil.example"}, {"content_type": "text/plain"}):
            async with port.client(**headers) as stranger:
                assert (await stranger.post("/v1/messages", content=json.dumps(message))).status_code in {401, 403, 415}
    assert port.service.asked == before


@pytest.mark.requirement("OPS-05d")
async def test_a_page_that_may_not_send_is_refused_and_knows_it(tmp_path: Path) -> None:
    async with serving(tmp_path, send=False) as port, port.client() as client:
        assert (await client.get("/v1/page")).json() == {"send": False}
        before = list(port.service.asked)
        message = {"to": "%1", "text": "hello"}
        for answer in (
            await client.post("/v1/messages", json=message),
            await client.delete("/v1/messages/page-1"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "not_allowed")
            assert "web.send" in answer.json()["hint"]
        assert port.service.asked == before
        assert (await client.get("/v1/messages/page-1")).status_code == 200
    async with serving(tmp_path) as port, port.client() as client:
        assert (await client.get("/v1/page")).json() == {"send": True}
        assert (await client.post("/v1/messages", json=message)).status_code == 200


async def test_a_defect_is_told_without_its_words(port: Port) -> None:
    port.service.raises = ValueError("a secret")
    async with port.client() as client:
        answer = await client.get("/v1/sessions")
    assert answer.status_code == 500
    assert "secret" not in answer.text


@pytest.mark.requirement("OPS-05c")
async def test_every_answer_keeps_the_browser_in_check(port: Port) -> None:
    async with port.client() as client, port.client(authorization="") as stranger:
        answers = [await stranger.get(path) for path in guard.FILES]
        assert [answer.status_code for answer in answers] == [200] * len(answers)
        answers += [await client.get("/v1/status"), await client.get("/x"), await stranger.get("/v1/status")]
    for answer in answers:
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers


def test_the_page_needs_nothing_that_its_policy_forbids() -> None:
    page = (FILES / "page.html").read_text()
    script = "".join(path.read_text() for path in FILES.glob("*.js"))
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:|https?://", page)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|srcdoc", script)
    # Nothing has to be built, and nothing lies about that is not served.
    assert {path.name for path in FILES.iterdir()} == {name for name, _ in guard.FILES.values()}


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        digits = colour.removeprefix("#")
        digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_marks_stand_out_from_what_is_behind_them(scheme: int) -> None:
    declared = (FILES / "page.css").read_text().split(":root {")[1 + scheme].split("}")[0]
    colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", declared))
    behind = ("ground", "raised", "sunken")
    texts = [(text, ground) for text in ("ink", "soft", "accent", "person", "bad") for ground in behind]
    texts += [("on-accent", "accent"), ("person", "person-tint"), ("accent", "tint"), ("soft", "tint"), ("ink", "tint")]
    marks = [("edge", "ground"), ("edge", "raised"), ("piece", "ground"), ("piece", "raised")]
    weak = {(one, other) for one, other in texts if contrast(colour[one], colour[other]) < 4.5}
    weak |= {(one, other) for one, other in marks if contrast(colour[one], colour[other]) < 3}
    assert not weak


# Too much, and too slow


async def until_cut(reader: asyncio.StreamReader) -> bytes:
    """Return what is said until the connection is gone, however it goes."""
    said = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE):
            while data := await reader.read(65536):
                said += data
    return said


async def pours(writer: asyncio.StreamWriter, data: bytes, most: int) -> int:
    """Write until nobody takes it any more, or `most` bytes; return how many."""
    written = 0
    with contextlib.suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while written < most:
                writer.write(data)
                await writer.drain()
                written += len(data)
    return written


MUCH = 64 * 2**20


@pytest.mark.requirement("OPS-05c")
async def test_a_huge_body_is_refused_before_it_is_read(port: Port) -> None:
    async with port.raw() as (reader, writer):
        writer.write(b"POST /v1/watch HTTP/1.1\r\n" + port.head + b"Content-Type: application/json\r\n")
        writer.write(b"Content-Length: 999999999\r\n\r\n")
        assert (await until_cut(reader)).startswith(b"HTTP/1.1 413 ")
    async with port.client() as client:
        assert (await client.get("/v1/status")).status_code == 200


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (
            b"POST /v1/watch HTTP/1.1\r\n%bContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"8000\r\n",
        ),
        (b"POST /v1/watch HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"8000\r\n"),
        (b"GET / HTTP/1.1\r\n", b"A: b\r\n" * 5000),
        (b"GET / HTTP/1.1\r\nA: ", b"b" * 32768),
        (b"GET /", b"b" * 32768),
        (b"", b"\x16\x03\x01" * 10_000),
    ],
)
async def test_what_has_no_end_is_cut_off(port: Port, begin: bytes, more: bytes) -> None:
    async with port.raw() as (_, writer):
        writer.write(begin % port.head if b"%b" in begin else begin)
        more += b"x" * 0x8000 + b"\r\n" if more == b"8000\r\n" else b""
        # What lies in the buffers of two sockets was written, and read by nobody.
        assert await pours(writer, more, MUCH) < MUCH / 2
    async with port.client() as client:
        assert (await client.get("/v1/status")).status_code == 200


@pytest.mark.parametrize(
    "said", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: ", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
async def test_who_takes_for_ever_over_a_request_is_cut_off(
    port: Port, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "REQUEST_TIMEOUT", 0.05)
    async with port.raw() as (reader, writer):
        writer.write(said)
        await until_cut(reader)


async def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_defect(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST /v1/watch HTTP/1.1\r\n" + port.head + b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    async with port.raw() as (reader, writer):
        writer.write(head)
        writer.write_eof()
        await until_cut(reader)
    async with port.client() as client:
        assert (await client.get("/v1/status")).status_code == 200
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_more_connections_than_there_may_be_are_closed_and_the_others_go_on(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports.PortProtocol, "max_connections", 3)
    async with port.raw(), port.raw(), port.client() as client:
        assert (await client.get("/v1/status")).status_code == 200
        async with port.raw() as (reader, _):
            assert await until_cut(reader) == b""
        assert (await client.get("/v1/status")).status_code == 200


# The streams


async def frames_of(reader: asyncio.StreamReader, frames: FrameReader) -> list[tuple[str, bytes]]:
    data = await asyncio.wait_for(reader.read(2**20), PATIENCE)
    # Chunks of a response stand between lines of their own.
    return [
        (frame.id, frame.data) for frame in frames.feed(re.sub(rb"\r\n[0-9a-f]+\r\n|^[0-9a-f]+\r\n|\r\n$", b"", data))
    ]


@pytest.mark.requirement("OPS-05c")
async def test_a_reader_that_does_not_read_delays_no_other_and_loses_nothing(port: Port) -> None:
    big = "x" * 10_000
    async with port.raw() as (slow, writer), port.client() as client:
        writer.write(
            b"GET /v1/events HTTP/1.1\r\n" + port.head + b"Last-Event-ID: 0\r\nAccept-Encoding: identity\r\n\r\n"
        )
        assert (await slow.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        async with client.stream("GET", "/v1/events", headers={"last-event-id": "0"}) as response:
            quick = FrameReader()
            lines = response.aiter_raw()
            got: list[str] = []
            for number in range(40):
                await port.service.publish(*[f"{number} {big}"] * 50)
                async with asyncio.timeout(PATIENCE):
                    while len(got) < (number + 1) * 50:
                        got += [frame.id for frame in quick.feed(await anext(lines))]
            assert got == [str(number) for number in range(1, 2001)]
        assert port.broadcast.subscribers >= 1
        # Now he reads: all of it is there for him, in order.
        text = b""
        async with asyncio.timeout(PATIENCE):
            while b"id: 2000\n" not in text:
                text += await slow.read(2**20)
    assert [int(number) for number in re.findall(rb"id: (\d+)\n", text)] == list(range(1, 2001))


async def test_a_stream_goes_on_behind_the_last_event_and_ends_with_the_page(tmp_path: Path) -> None:
    async with serving(tmp_path) as port:
        await port.service.publish("one", "two", "three")
        async with port.client() as client, client.stream("GET", "/v1/events", headers={"last-event-id": "1"}) as on:
            frames = FrameReader()
            parts = on.aiter_raw()
            got: list[str] = []
            while len(got) < 2:
                got += [frame.id for frame in frames.feed(await asyncio.wait_for(anext(parts), PATIENCE))]
            assert got == ["2", "3"]
            closing = asyncio.ensure_future(port.service.publish("four"))
            await closing
    # Nobody waited for a reader that would have read for ever.


async def test_what_a_screen_shows_is_a_stream_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path, live=[["half a"], ["half a line"]]) as port, port.client() as client:
        assert (await client.get("/v1/live?session=x")).status_code == 400
        async with client.stream("GET", "/v1/live?session=%251") as on:
            frames, got = FrameReader(), []
            parts = on.aiter_raw()
            while len(got) < 2:
                got += [frame.data for frame in frames.feed(await asyncio.wait_for(anext(parts), PATIENCE))]
    assert got == [b'["half a"]', b'["half a line"]']


async def test_a_silent_stream_is_heard_to_be_there() -> None:
    async def silent():
        await asyncio.Event().wait()
        yield b"never"

    ended = asyncio.Event()
    stream = beating(silent(), ended, every=0.01)
    assert [await anext(stream) for _ in range(3)] == [b":\n\n"] * 3
    ended.set()
    assert [data async for data in stream if data != b":\n\n"] == []


async def test_a_stream_that_ends_or_breaks_does_so_for_its_reader() -> None:
    async def broken():
        yield b"one"
        raise OSError("gone")

    stream = beating(broken(), asyncio.Event())
    assert [await anext(stream), await anext(stream)] == [b":\n\n", b"one"]
    with pytest.raises(OSError, match="gone"):
        await anext(stream)


# Where it is, and its token


def test_a_token_is_made_once_and_for_the_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = token_in(file)
    assert token == token_in(file) == file.read_text()
    assert len(token) >= 43
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]
    assert token_in(tmp_path / "other") != token
    for wrong in ("", "short", "x" * 20 + " " * 20, "x" * 40 + "\n"):
        file.write_text(wrong)
        with pytest.raises(StorageError, match="holds no token"):
            token_in(file)
    with pytest.raises(StorageError, match="cannot be used"):
        token_in(tmp_path / "nowhere" / "token")


async def test_a_port_that_is_taken_is_said_and_so_is_what_is_no_port(port: Port, tmp_path: Path) -> None:
    page = page_at(tmp_path / "token", f"127.0.0.1:{port.number}", ())
    with pytest.raises(StreamrelayError, match=f"cannot listen on port {port.number} of 127.0.0.1"):
        async with page.serving(lambda _: []):
            pass
    with pytest.raises(UsageError, match="does not end in a port"):
        page_at(tmp_path / "token", "port", ())
