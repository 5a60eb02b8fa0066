"""The servers that a process listens on, found from the process alone."""

import os
import socket
import subprocess
import sys

import pytest

from streamrelay.agents.listening import command_line, listening_urls, loopback_url

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104  # such a server is reached over loopback too
        ("::1", "[::1]"),
    ],
)
def test_a_socket_is_found_while_its_process_listens(address: str, host: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"no {address} here")
        url = f"http://{host}:{server.getsockname()[1]}"
        assert url not in listening_urls(os.getpid())
        server.listen()
        assert url in listening_urls(os.getpid())
    assert url not in listening_urls(os.getpid())


def test_sockets_of_other_processes_are_not_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, subprocess.Popen(["sleep", "100"]) as other:
        assert f"http://127.0.0.1:{server.getsockname()[1]}" in listening_urls(os.getpid())
        assert listening_urls(other.pid) == []
        assert command_line(other.pid) == ["sleep", "100"]
        other.kill()
    assert listening_urls(other.pid) == command_line(other.pid) == []


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:4096", "http://127.0.0.1:4096"),
        ("http://localhost:4096/path?x=1", "http://localhost:4096"),
        ("http://[::1]:4096", "http://[::1]:4096"),
        ("https://127.0.0.1:4096", None),
        ("http://127.0.0.1", None),
        ("http://example.org:4096", None),
        ("http://127.0.0.1.example.org:4096", None),
        ("http://user:word@127.0.0.1:4096", None),
        ("http://127.0.0.1:port", None),
        ("--port", None),
    ],
)
def test_only_plain_http_on_loopback_is_a_url_to_attach_to(text: str, url: str | None) -> None:
    assert loopback_url(text) == url
