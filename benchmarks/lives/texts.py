"""What the model on loopback answers: known texts, chosen by the last `topic:NAME` in what it is asked."""

import random
import re
from collections.abc import Mapping

from streamrelay.testing.loopback_model import ModelReply, ModelRequest

_WORDS = [
    "barley", "kettle", "pilot", "thimble", "glacier", "saddle", "ribbon", "walnut", "chimney", "heron", "lattice",
    "pebble", "quarry", "sextant", "timber", "velvet", "wicket", "yarrow", "anvil", "bramble", "cinder", "dapple",
    "ember", "fennel", "gravel", "hazel", "inlet", "juniper", "kiln", "ladder", "mortar", "nettle",
]  # fmt: skip
_TOPIC = re.compile(r"topic:(\w+)")
_SIDE = re.compile(
    r"(?i)task title|generate a .*title|suggestion mode|prompt suggestion|state_snapshot|compaction|managed memory"
    r"|summary of (?:our|the) conversation|detailed summary|handoff summary|anchored summary"
    r"|continuing our conversation|summariz"
)
"""What agents ask of their model for themselves: titles, suggestions, the summary of a compaction."""


def _sentence(randomness: random.Random, size: int) -> str:
    words = [randomness.choice(_WORDS) for _ in range(size)]
    return f"{words[0].capitalize()} {' '.join(words[1:])}."


def _numbered(number: int) -> str:
    randomness = random.Random(number)
    return f"Turn {number} tells of this: {_sentence(randomness, 14)}"


def _paragraph(size: int) -> str:
    randomness = random.Random(size)
    text = ""
    while len(text) < size:
        text += _sentence(randomness, randomness.randrange(6, 19)) + " "
    return text.strip()


def _slow() -> str:
    return "\n\n".join(
        f"Part {number} of a slow answer: {_sentence(random.Random(100 + number), 40)}" for number in range(1, 13)
    )


def _section(number: int) -> list[str]:
    """Return one section of a long report; each of them has a part that three others in four do not have."""
    randomness = random.Random(1000 + number)
    address = f"https://example.net/reports/{number}/of/many/sections?first={number * 17}&second={number * 23}&name="
    address += "abcdefghij" * 5
    lines = [
        f"## {number}. {_sentence(randomness, 3).removesuffix('.')} {number}", "",
        f"In section {number} it weighed {number * 37 % 1000} at {address}{number}-end, read twice.", "",
    ]  # fmt: skip
    match number % 4:
        case 0:
            lines += [
                f"- first of section {number}", f"  - within it, {randomness.choice(_WORDS)} {number}",
                f"    - and deeper still, number {number}", f"  - beside it, {randomness.choice(_WORDS)} {number}",
                f"- last of section {number}, with **weight {number}**",
            ]  # fmt: skip
        case 1:
            lines += [
                "```python", f"def weigh_{number}(rows, least={number}):", f'    """Weigh the rows of {number}."""',
                "    for row in rows:", "        if row.weight >= least:",
                f"            yield row.name, row.weight * {number}", "", f"print(list(weigh_{number}([])))", "```",
            ]  # fmt: skip
        case 2:
            lines += ["| Name | Weight | Note |", "|---|---|---|"]
            lines += [
                f"| {randomness.choice(_WORDS)}{number} | {number * row} | row {row} of {number} |" for row in (1, 2, 3)
            ]
        case _:
            lines += [f"第{number}节:这里有一段中文,用来说明宽字符在换行时不会丢失,也不会重复,编号是{number}。", "",
                      f"日本語の文も{number}番まであります。 한국어 문장 {number}도 있습니다."]  # fmt: skip
    lines += ["", *(f"{step}. step {step} of section {number} with `code_{number}`" for step in (1, 2, 3)), ""]
    return lines


def _long(size: int) -> str:
    lines = ["# A report of many sections", "", _paragraph(300), ""]
    number = 0
    while len(lines) < size - 2:
        number += 1
        lines += _section(number)
    return "\n".join([*lines[: size - 2], "", "Here the report ends."])


SLOW_SECONDS = 8.0
_TEXTS: Mapping[str, tuple[str, float]] = {
    "long400": (_long(400), 8.0),
    "long150": (_long(150), 4.0),
    "para": (_paragraph(3000), 3.0),
    "slow": (_slow(), SLOW_SECONDS),
    "busy": ("\n\n".join(_slow().split("\n\n")[:5]), 5.0),
}
TOOLS = ("Bash", "exec_command", "shell_command", "run_shell_command", "bash")
"""What agents call the tool that runs a command."""


WRITERS = ("Write", "write_file", "write")
"""What agents call the tool that writes a file."""


def text_of(topic: str) -> tuple[str, float]:
    """Return an answer and the seconds that it takes."""
    if topic in _TEXTS:
        return _TEXTS[topic]
    if re.fullmatch(r"n\d+", topic):
        return _numbered(int(topic[1:])), 0.9
    return f"On {topic} I say this: {_sentence(random.Random(topic), 12)}", 0.9


def topic_of(asked: ModelRequest) -> str:
    """Return the topic of the last words of the person, or of the last message that has a topic."""
    for said in (asked.said, *reversed(asked.messages)):
        if found := _TOPIC.findall(said):
            return str(found[-1])
    return "nothing"


def decide(asked: ModelRequest) -> ModelReply:
    """Return the answer; `topic:tool...` calls a tool first."""
    topic = topic_of(asked)
    tool = next((name for name in TOOLS if name in asked.tools), None)
    if topic.startswith("tool") and tool is not None:
        if asked.result:
            return ModelReply(*_after(topic))
        return ModelReply(f"First I run one command for {topic}.", (tool, _arguments(tool, topic)), 0.6)
    if topic in {"served", "written"} and (call := _call(topic, asked)) is not None:
        if asked.result:
            return ModelReply(*_after(topic))
        return ModelReply(f"First I use one tool for {topic}.", call, 0.6)
    text, seconds = text_of(topic)
    return ModelReply(text, seconds=seconds)


def _call(topic: str, asked: ModelRequest) -> tuple[str, dict[str, object]] | None:
    """Return the call of a server's tool, or of the tool that writes a file, if the agent has it."""
    if topic == "served":
        # Agents that have many tools offer those of servers only when they are searched for.
        lookup = next((name for name in asked.tools if name.endswith("lookup")), "mcp__tiny__lookup")
        return lookup, {"question": "what is the answer"}
    writer = next((name for name in WRITERS if name in asked.tools), None)
    if writer is None:
        return None
    path = {"write": "filePath"}.get(writer, "file_path")
    return writer, {path: "made.txt", "content": "first line of it\nsecond line of it\n"}


def is_side(asked: ModelRequest, *, without_tools: bool) -> bool:
    """Tell a request that an agent makes for itself; `without_tools`: of an agent that never offers any."""
    return bool(_SIDE.search(asked.said)) or (not asked.tools and not without_tools)


def _after(topic: str) -> tuple[str, None, float]:
    return f"The command of {topic} is done. It printed three lines, and nothing is left to do.", None, 0.9


def _arguments(tool: str, topic: str) -> dict[str, object]:
    command = f"touch made-{topic} && printf 'out-%s\\n' 1 2 3"
    match tool:
        case "exec_command":
            return {
                "cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I make a file here?",
            }  # fmt: skip
        case "shell_command":
            return {"command": command}
        case _:
            return {"command": command, "description": "Make a file and print three lines"}
