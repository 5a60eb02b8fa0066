"""Two scripted agents on real panes converse because one of them called a tool: official client, over HTTP."""

import pytest

from tests.mcp.staging import call


@pytest.mark.requirement("OPS-04a", "REL-06a", "LNK-05b", "DLV-01b")
async def test_one_call_begins_a_conversation_and_one_ends_it(stage):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.served(), stage.client("Ann") as ann, stage.client("Bob") as bob:
        listed = await call(ann, "list_sessions")
        assert listed["you"] == stage.panes["Ann"]
        assert {"Ann", "Bob"} <= {one["title"] for one in listed["sessions"]}

        sent = await call(ann, "send_message", to="Bob", text="Shall we?", direct=True)
        assert "just speak" in sent["next"]
        assert sent["remaining"] is not None
        # From here on nobody calls anything: both just speak.
        await stage.until_told("Ann", "[From Bob] answer 1")
        await stage.until_told("Bob", "[From Ann] answer 1")
        again = await call(ann, "send_message", to="Bob", text="Once more", direct=True)
        assert again["link"] == sent["link"], "one link between the two"

        closed = await call(bob, "close_link", last_words="Goodbye.")
        assert closed["link"] == sent["link"]
        await stage.until_told("Ann", "[From Bob] Goodbye.")
        await stage.until_told("Ann", "Bob has closed the link")
        assert not any(one.get("link") for one in (await call(ann, "list_sessions"))["sessions"])

        (delivery,) = (await call(ann, "get_delivery", message_id=sent["message_id"]))["deliveries"]
        assert delivery["state"] == "answered"
        read = await call(ann, "read_since", seq=0, session="Bob", limit=200)
        assert "answer 1" in "\n".join(entry.get("text", "") for entry in read["entries"])
        found = await call(ann, "search_history", words="answer", session="Bob")
        assert found["found"]
    assert stage.heard("Bob")[0] == "[From Ann] Shall we?"


@pytest.mark.requirement("LNK-05b", "REL-06b")
async def test_last_words_close_the_link_and_one_message_is_followed_by_one_word(stage):
    stage.start("Ann", "--answer", "[checkpoint] quiet")
    stage.start("Bob", "--answer", "[checkpoint] quiet")
    async with stage.served(), stage.client("Ann") as ann:
        told = await call(ann, "send_message", to="Bob", text="Look at this")
        assert told["listening"] is True
        assert "link" not in told
        await stage.until_told("Ann", "Bob has stopped")
        await call(ann, "send_message", to="Bob", text="Shall we?", direct=True)
        last = await call(ann, "send_message", to="Bob", text="That was all", close_link=True)
        assert "conversation is over" in last["next"]
        await stage.until_told("Bob", "That was all")
        await stage.until_told("Bob", "Ann has closed the link")
        assert not any(one.get("link") for one in (await call(ann, "list_sessions"))["sessions"])
        none = await call(ann, "send_message", to="Bob", text="One more", close_link=True)
        assert "no link" in none["warning"]
    assert len([text for text in stage.heard("Ann") if "has stopped" in text]) == 1


async def test_hostile_words_arrive_as_words(stage):
    hostile = "Read this\x1b[201~\r\x03`rm -rf /` ${HOME} ; kill-server #{pane_id} \u202eend"
    stage.start("Ann")
    stage.start("Bob")
    async with stage.served(), stage.client("Ann") as ann:
        sent = await call(ann, "send_message", to="Bob", text=hostile)
        assert set(sent["removed"]) == {"U+0003", "U+000D", "U+001B", "U+202E"}
        shown = "Read this[201~`rm -rf /` ${HOME} ; kill-server #{pane_id} end"
        await stage.until_told("Bob", shown)
        shell = await ann.call_tool("send_message", {"to": "keeper:nothing", "text": "x"})
        assert shell.is_error
        assert shell.structured_content["error"]["code"] == "target_not_found"


@pytest.mark.requirement("DLV-07a")
async def test_an_id_is_for_one_text(stage):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.served(), stage.client("Ann") as ann:
        await call(ann, "send_message", to="Bob", text="Shall we?", direct=True, message_id="one")
        again = await call(ann, "send_message", to="Bob", text="Shall we?", direct=True, message_id="one")
        assert again["message_id"] == "one"
        other = await ann.call_tool("send_message", {"to": "Bob", "text": "Or not?", "message_id": "one"})
        assert other.is_error
        assert other.structured_content["error"]["code"] == "usage"
        assert "used for another text; nothing was sent" in other.structured_content["error"]["message"]
        await call(ann, "send_message", to="Bob", text="Or not?!", message_id="two")
        await stage.until_told("Bob", "Or not?!")
        assert not any("Or not?" in text.replace("Or not?!", "") for text in stage.heard("Bob"))
