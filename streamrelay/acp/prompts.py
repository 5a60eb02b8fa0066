"""A prompt of an ACP client as the text of one message: its text blocks, and placeholders for the others.

A pane takes text only. A link to a resource becomes its address; an embedded text resource is included behind its
address. Images and sound are refused, as the capabilities of the agent say.
"""

from collections.abc import Iterable

from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from streamrelay.errors import UsageError

Block = TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock


def prompt_text(blocks: Iterable[Block]) -> str:
    """Return the text of a prompt; raises UsageError for a prompt without text, or one that holds more than text."""
    text = "".join(map(_text, blocks))
    if not text.strip():
        raise UsageError("the prompt holds no text", hint="send a prompt with a text block")
    return text


def _text(block: Block) -> str:
    match block:
        case TextContentBlock():
            return block.text
        case ResourceContentBlock():
            return block.uri.removeprefix("file://")
        case EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri, text=text)):
            return f"\n{uri.removeprefix('file://')}:\n{text}\n"
        case _:
            raise UsageError(f"a pane takes text, no {block.type}", hint="send the file's path instead")
