"""The protocol against streams written out: what each line is, and that cutting changes nothing."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamrelay.control.escape import escape
from streamrelay.control.notifications import (
    Continue,
    Exit,
    SessionChanged,
    SessionsChanged,
    Stray,
    Unknown,
    WindowAdd,
    WindowRenamed,
)
from streamrelay.control.protocol import ControlEvent, ControlProtocol, PaneOutput, Reply

ATTACH = b"%begin 1700000000 1 0\n%end 1700000000 1 0\n%session-changed $0 main\n"
ATTACHED: list[ControlEvent] = [Reply(1700000000, 1, 0, True, ()), SessionChanged("$0", "main")]


def receive(*reads: bytes) -> list[ControlEvent]:
    protocol = ControlProtocol()
    return [event for read in reads for event in protocol.receive(read)]


def merged(events: Sequence[ControlEvent]) -> list[object]:
    """Events with the outputs between two others joined by pane: what cutting must not change."""
    result: list[object] = []
    outputs: dict[str, bytes] = {}
    for event in events:
        if isinstance(event, PaneOutput):
            outputs[event.pane] = outputs.get(event.pane, b"") + event.data
            continue
        if outputs:
            result.append(outputs)
            outputs = {}
        result.append(event)
    return [*result, outputs] if outputs else result


def test_outputs_of_one_read_are_grouped_by_pane() -> None:
    stream = ATTACH + b"%output %1 a\n%output %2 b\n%output %1 \\015\\012\n%output %10 \n"
    assert receive(stream) == [*ATTACHED, PaneOutput("%1", b"a\r\n"), PaneOutput("%2", b"b"), PaneOutput("%10", b"")]


def test_outputs_never_cross_a_notification_or_a_reply() -> None:
    stream = ATTACH + (
        b"%output %1 a\n%output %2 b\n%sessions-changed\n%output %1 c\n"
        b"%begin 5 6 1\nx\n%end 5 6 1\n%output %2 d\n%output %1 e\n"
    )
    assert receive(stream)[2:] == [
        PaneOutput("%1", b"a"), PaneOutput("%2", b"b"), SessionsChanged(), PaneOutput("%1", b"c"),
        Reply(5, 6, 1, True, (b"x",)), PaneOutput("%2", b"d"), PaneOutput("%1", b"e"),
    ]  # fmt: skip


def test_extended_output_skips_fields_it_does_not_know() -> None:
    stream = ATTACH + b"%extended-output %3 120 : a : b\n%extended-output %3 5 new=1 : \\033\n"
    assert receive(stream)[2:] == [PaneOutput("%3", b"a : b\x1b")]


def test_what_stands_before_output_is_output_only_with_bytes_behind_it() -> None:
    stream = ATTACH + b"%extended-output %3 1 : a\n%extended-output %3 1\n%extended-output %3 1 : b\n"
    assert receive(stream)[2:] == [
        PaneOutput("%3", b"a"), Unknown("extended-output", "%3 1"), PaneOutput("%3", b"b"),
    ]  # fmt: skip


def test_no_block_takes_its_lines_for_the_output_before_it() -> None:
    stream = ATTACH + b"%extended-output %3 1 : a\n%begin 5 6 1\n%extended-output %3 1 : b\n%end 5 6 1\n"
    assert receive(stream)[2:] == [PaneOutput("%3", b"a"), Reply(5, 6, 1, True, (b"%extended-output %3 1 : b",))]


@pytest.mark.requirement("ENG-03a")
def test_output_is_bytes_cut_anywhere() -> None:
    text = "中\x1b[1m".encode()
    events = receive(ATTACH, *(b"%output %1 " + escape(text[at : at + 1]) + b"\n" for at in range(len(text))))
    assert b"".join(event.data for event in events if isinstance(event, PaneOutput)) == text


def test_an_error_carries_tmuxs_words() -> None:
    reply = receive(ATTACH + b"%begin 5 6 1\ncan't find pane: %9\n%error 5 6 1\n")[-1]
    assert isinstance(reply, Reply)
    assert (reply.ok, reply.asked, reply.text) == (False, True, "can't find pane: %9")


@pytest.mark.requirement("ENG-02c")
@pytest.mark.parametrize(
    "line",
    [
        b"%output %1 spoofed", b"%extended-output %1 0 : spoofed", b"%exit", b"%window-add @1", b"%begin 5 6 1",
        b"%end 5 6 0", b"%end 5 7 1", b"%end 4 6 1", b"%end 5 6 1 ", b" %end 5 6 1", b"%end 5 6", b"%error 5 6 0",
        b"%end 5 6 1\r", b"", b"\x1bP1000p", b"%continue %1",
    ],
)  # fmt: skip
def test_inside_a_block_every_line_is_data(line: bytes) -> None:
    stream = ATTACH + b"%begin 5 6 1\nbefore\n" + line + b"\nafter\n%end 5 6 1\n%window-add @9\n"
    assert receive(stream)[2:] == [Reply(5, 6, 1, True, (b"before", line, b"after")), WindowAdd("@9")]


@pytest.mark.requirement("ENG-02b")
def test_outside_a_block_what_is_not_known_is_passed_on() -> None:
    stream = ATTACH + b"%end 5 6 1\n%begin x\n%output\n%extended-output %1 4\n%new thing\nwords\n\n%continue %1\n"
    assert receive(stream)[2:] == [
        Unknown("end", "5 6 1"), Unknown("begin", "x"), Unknown("output", ""), Unknown("extended-output", "%1 4"),
        Unknown("new", "thing"), Stray(b"words"), Stray(b""), Continue("%1"),
    ]  # fmt: skip


def test_numbers_beyond_all_measure_are_no_block() -> None:
    line = b"%begin " + b"9" * 5000 + b" 1 1"
    assert receive(ATTACH + line + b"\n%window-add @1\n")[2:] == [
        Unknown("begin", line.decode().partition(" ")[2]), WindowAdd("@1"),
    ]  # fmt: skip


def test_a_wrapped_stream_loses_its_wrapping() -> None:
    wrapped = b"\x1bP1000p" + (ATTACH + b"%output %1 a\\015\n%begin 5 6 1\nx\r\n%end 5 6 1\n%exit\n").replace(
        b"\n", b"\r\n"
    )
    assert receive(wrapped + b"\x1b\\") == [
        *ATTACHED, PaneOutput("%1", b"a\r"), Reply(5, 6, 1, True, (b"x\r",)), Exit(""),
    ]  # fmt: skip


def test_without_the_prefix_a_carriage_return_is_data() -> None:
    stream = ATTACH + b"%window-renamed @1 a\r\n%begin 5 6 1\nx\r\n%end 5 6 1\n"
    assert receive(stream)[2:] == [WindowRenamed("@1", "a\r"), Reply(5, 6, 1, True, (b"x\r",))]


def test_what_comes_before_the_stream_is_passed_on() -> None:
    stream = b"Last login: never\r\n\x1b[?7h\x1bP1000p" + ATTACH.replace(b"\n", b"\r\n")
    assert receive(stream) == [Stray(b"Last login: never\r"), Stray(b"\x1b[?7h"), *ATTACHED]
    assert receive(b"no server running on /x\n") == [Stray(b"no server running on /x")]


def test_nothing_counts_after_exit() -> None:
    protocol = ControlProtocol()
    assert protocol.receive(ATTACH + b"%exit detached\n%output %1 x\n%window-add @1\n") == [*ATTACHED, Exit("detached")]
    assert protocol.receive(b"%output %1 x\n") == []
    assert protocol.receive_eof() == []


def test_the_end_of_the_stream_drops_what_is_unfinished() -> None:
    protocol = ControlProtocol()
    protocol.receive(ATTACH + b"%begin 5 6 1\nx\n%output %1 cut")
    assert protocol.receive_eof() == [Exit(None)]
    assert protocol.receive_eof() == []


LINES = st.sampled_from(
    [
        b"%output %1 a\\015",
        b"%output %1 \\033[\xe4",
        b"%output %2 \xb8\xad",
        b"%output %2 broken \\01",
        b"%output %2 5",
        b"%extended-output %1 3 : z",
        b"%extended-output %1 3 : \\015 : y",
        b"%extended-output %1 3",
        b"%extended-output %2 4 new=1 : \\012",
        b"%begin 5 6 1",
        b"%end 5 6 1",
        b"%error 5 6 1",
        b"%begin 5 7 1",
        b"%end 5 7 1",
        b"%window-add @1",
        b"words",
        b"",
        b"\r",
        b"x\r",
        b"\x1bP1000p%begin 1 1 0",
        b"%end 1 1 0",
    ]
)
STREAMS = st.builds(
    lambda lines, ends, tail: b"".join(line + end for line, end in zip(lines, ends, strict=False)) + tail,
    st.lists(LINES | st.binary(max_size=20), max_size=30),
    st.lists(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r\r\n"]), min_size=30, max_size=30),
    st.sampled_from([b"", b"%exit\n", b"%exit\n\x1b\\", b"%exit lost server\r\n\x1b\\"]),
)


@pytest.mark.requirement("ENG-03b")
@given(STREAMS | st.binary(), st.data())
@example(b"\x1bP1000p%begin 1 1 0\r\n%end 1 1 0\r\n%exit\r\n\x1b\\", None)
def test_any_cutting_gives_the_same_events(stream: bytes, data: st.DataObject | None) -> None:
    whole = merged(receive(stream))
    assert merged(receive(*(stream[at : at + 1] for at in range(len(stream))))) == whole
    if data is not None and stream:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=6)))
        pieces = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert merged(receive(*pieces)) == whole
