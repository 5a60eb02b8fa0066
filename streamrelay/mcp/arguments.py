"""The arguments of the tools: one struct for each tool. Agents see the descriptions of the fields."""

from typing import Annotated

import msgspec
from msgspec import Meta

from streamrelay.history.results import LARGEST

MAX_TEXT_LENGTH = 1_000_000
MAX_ENTRIES = 200

Target = Annotated[
    str, Meta(min_length=1, description="Who: a session id, a title that only one session has, or a pane such as %3.")
]
Title = Annotated[str, Meta(max_length=200)]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one tool."""


class SendMessageArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `send_message`."""

    to: Target
    text: Annotated[
        str, Meta(min_length=1, max_length=MAX_TEXT_LENGTH, description="What you say, as it is to be read.")
    ]
    direct: Annotated[
        bool, Meta(description="true: begin a conversation. After that just speak, and don't send again.")
    ] = False
    close_link: Annotated[
        bool, Meta(description="true: these are your last words in the conversation with that session.")
    ] = False
    message_id: Annotated[
        str,
        Meta(max_length=100, description="Only to repeat a call safely: under one id a message is delivered once."),
    ] = ""


class CloseLinkArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `close_link`."""

    peer: Annotated[
        str, Meta(description="With whom: a session id or title. May be left out if you have one conversation only.")
    ] = ""
    last_words: Annotated[
        str, Meta(max_length=MAX_TEXT_LENGTH, description="Delivered to the other one before the end.")
    ] = ""


class ListSessionsArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `list_sessions`."""


class StartSessionArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `start_session`."""

    agent: Annotated[
        str, Meta(min_length=1, description="What to start: a known agent (claude, codex, gemini, ...) or a command.")
    ]
    prompt: Annotated[str, Meta(max_length=MAX_TEXT_LENGTH, description="What it is given to do once it is ready.")] = (
        ""
    )
    title: Annotated[Title, Meta(description="How others are to call it.")] = ""
    cwd: Annotated[str, Meta(description="The directory to start it in, as an absolute path.")] = ""
    arguments: Annotated[
        list[str], Meta(max_length=100, description="Words for its command line; no shell reads them.")
    ] = []
    direct: Annotated[
        bool, Meta(description="true: you two are in a conversation at once. false: you are told when it stops.")
    ] = False


class EndSessionArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `end_session`."""

    session: Target


class ReadSinceArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `read_since`."""

    seq: Annotated[
        int,
        Meta(ge=-1, le=LARGEST, description="Behind which place: `next_seq` of the last call. Left out: the latest."),
    ] = -1
    session: Annotated[str, Meta(description="Of which session alone: its id or title.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_ENTRIES, description="How many events to look at.")] = 100


class SearchHistoryArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `search_history`."""

    words: Annotated[
        str, Meta(min_length=1, max_length=1000, description='Words that were said; "quoted" for a phrase.')
    ]
    session: Annotated[
        str,
        Meta(description="Said in which session, ended or not: its id or title, or an agent's own conversation id."),
    ] = ""
    agent: Annotated[str, Meta(description="Said by which kind of agent, such as claude; all for any.")] = ""
    transcripts: Annotated[bool, Meta(description="Whether to search the agents' own transcripts as well.")] = True
    hours: Annotated[float, Meta(ge=0, description="How far back; 0 for everything.")] = 0.0
    limit: Annotated[int, Meta(ge=1, le=MAX_ENTRIES, description="How many at most.")] = 20


class ListDeliveriesArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `list_deliveries`."""

    session: Annotated[str, Meta(description="To which session alone: its id or title.")] = ""


class CancelDeliveryArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `cancel_delivery`."""

    message_id: Annotated[str, Meta(min_length=1, description="As send_message returned it.")]


class GetDeliveryArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `get_delivery`."""

    message_id: Annotated[str, Meta(min_length=1, description="As send_message returned it.")]
