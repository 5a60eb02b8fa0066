"""Who is answered on the page's port, as plain values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.web.guard import FILES, MAX_BODY_SIZE, Guard, Listen, parse_listen

TOKEN = "t" * 43
EVERYWHERE = "0.0.0.0"  # noqa: S104  # nobody listens there
HOME = {"host": "127.0.0.1:7717", "authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
CALLS = [("GET", "/v1/sessions"), ("POST", "/v1/watch"), ("GET", "/v1/events"), ("DELETE", "/anything")]


def judged(
    method: str = "GET", path: str = "/v1/sessions", *, guard: Guard | None = None, **headers: str | None
) -> int:
    """Return the status of a refusal, 0 for none; of the headers of a good request those that are named are others."""
    named = HOME | {name.replace("_", "-"): value for name, value in headers.items()}
    sent = [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value is not None]
    refusal = (guard or Guard(Listen("127.0.0.1", 7717), TOKEN)).refusal(method, path, sent)
    return 0 if refusal is None else refusal.status


@pytest.mark.requirement("OPS-05c")
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_whoever_shows_the_token_is_answered_and_nobody_else(method: str, path: str) -> None:
    assert judged(method, path) == 0
    assert judged(method, path, authorization=f"bearer  {TOKEN} ") == 0
    wrong = (None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}t")
    for authorization in (*wrong, "Bearer \xff\xfe", f"Bearer {TOKEN} {TOKEN}"):
        assert judged(method, path, authorization=authorization) == 401


@pytest.mark.parametrize("path", FILES)
def test_the_page_itself_is_given_to_everybody_and_takes_nothing(path: str) -> None:
    assert judged("GET", path, authorization=None) == judged("HEAD", path, authorization=None) == 0
    assert judged("POST", path) == 405
    # From a link in somebody's mail, say.
    assert judged("GET", path, authorization=None, sec_fetch_site="cross-site") == 0


@pytest.mark.requirement("OPS-05c")
@pytest.mark.parametrize("path", ["/", "/v1/sessions"])
@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:7717", "127.0.0.1", "127.0.0.1:7718", "127.0.0.1:7717.evil.example",
     "localhost.evil.example:7717", "[::1]", "10.0.0.1:7717", "127.0.0.1:7717 evil"],
)  # fmt: skip
def test_a_host_that_is_not_ours_is_refused_whatever_else_is_right(path: str, host: str | None) -> None:
    assert judged(path=path, host=host) == 421


@pytest.mark.parametrize("host", ["127.0.0.1:7717", "localhost:7717", "LocalHost:7717", "[::1]:7717"])
def test_this_machine_has_several_names(host: str) -> None:
    assert judged(host=host, origin=f"http://{host.lower()}") == 0


def test_further_names_are_those_that_were_named() -> None:
    guard = Guard(Listen("127.0.0.1", 7717), TOKEN, ["box.example", "proxy.example:8443"])
    for host in ("box.example", "box.example:7717", "proxy.example:8443"):
        assert judged(guard=guard, host=host, origin=f"https://{host}") == 0
    assert judged(guard=guard, host="proxy.example") == judged(guard=guard, host="box.example:1") == 421


def test_served_at_every_address_it_is_reached_by_addresses_and_by_no_name() -> None:
    guard = Guard(Listen(EVERYWHERE, 7717), TOKEN)
    for host in ("10.0.0.7:7717", "[fe80::1]:7717", "127.0.0.1:7717"):
        assert judged(guard=guard, host=host) == 0
    for host in ("evil.example:7717", "10.0.0.7", "10.0.0.7:80", "10.0.0:7717", "[10.0.0.7]:7717", "fe80::1:7717"):
        assert judged(guard=guard, host=host) == 421


@pytest.mark.requirement("OPS-05c")
@pytest.mark.parametrize("path", ["/", "/v1/sessions"])
@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:80", "http://localhost:7717",
     "http://127.0.0.1:7717.evil.example", "file://", "http://127.0.0.1:7717/"],
)  # fmt: skip
def test_a_page_of_another_origin_is_refused_though_it_has_the_token(path: str, origin: str) -> None:
    assert judged(path=path, origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_says_comes_from_another_site_is_refused(site: str) -> None:
    assert judged(sec_fetch_site=site) == 403
    assert judged(sec_fetch_site="same-origin") == judged(sec_fetch_site="none") == 0


def test_only_json_is_taken_and_not_too_much_of_it() -> None:
    for kind in (None, "", "text/plain", "application/x-www-form-urlencoded", "text/plain; application/json"):
        assert judged("POST", "/v1/watch", content_type=kind) == 415
    assert judged("POST", "/v1/watch", content_type="Application/JSON; charset=utf-8") == 0
    assert judged("POST", "/v1/watch", content_length=str(MAX_BODY_SIZE)) == 0
    for length in (str(MAX_BODY_SIZE + 1), "9" * 400, "-1", "²", ""):
        assert judged("POST", "/v1/watch", content_length=length) == 413


def test_what_decides_stands_in_a_request_once() -> None:
    guard = Guard(Listen("127.0.0.1", 7717), TOKEN)
    for name in ("Host", "Origin", "Authorization", "Content-Type", "Content-Length", "Sec-Fetch-Site"):
        again = HOME.get(name.lower(), "1").encode()
        sent = [(key.encode(), value.encode()) for key, value in HOME.items()]
        sent = [one for one in sent if one[0] != name.lower().encode()] + [(name.encode(), again)] * 2
        refusal = guard.refusal("GET", "/v1/sessions", sent)
        assert refusal is not None
        assert refusal.status == 400


@given(
    st.sampled_from(["GET", "POST", "OPTIONS", "x"]),
    st.text(),
    st.lists(st.tuples(st.sampled_from([b"host", b"origin", b"authorization", b"x"]) | st.binary(), st.binary())),
)
def test_no_request_breaks_it_and_none_without_the_token_comes_to_a_call(method, path, headers) -> None:
    guard = Guard(Listen("127.0.0.1", 7717), TOKEN)
    assert guard.refusal(method, path, headers) is not None
    assert guard.refusal(method, path, [(b"host", b"localhost:7717"), *headers]) is not None or path in FILES


@pytest.mark.parametrize(
    ("text", "listen", "address"),
    [
        ("7717", Listen("127.0.0.1", 7717), "http://127.0.0.1:7717/"),
        (":0", Listen("127.0.0.1", 0), "http://127.0.0.1:0/"),
        ("localhost:1", Listen("localhost", 1), "http://localhost:1/"),
        ("[::1]:65535", Listen("::1", 65535), "http://[::1]:65535/"),
        ("0.0.0.0:80", Listen(EVERYWHERE, 80), "http://127.0.0.1:80/"),
    ],
)
def test_where_to_listen_is_written_as_host_and_port(text: str, listen: Listen, address: str) -> None:
    assert parse_listen(text) == listen
    assert listen.address == address


@pytest.mark.parametrize("text", ["", "x", "host:", "65536", "-1", "::1:80", "[::1]", "[x]:80", "²", "a:b:1"])
def test_what_is_no_place_to_listen_at_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_listen(text)
