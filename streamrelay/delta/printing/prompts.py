"""The prompts of a pane: what stood at the cursor where the program was seen to wait for input.

A prompt is learned where an echo or a line editor's text follows it, or where it looks like one when the watching
begins. At a rest the open line is compared with those: what stands left of a known prompt is output that ended without
a line feed, what comes right of it was typed.
"""

MOST = 8
"""Prompts remembered; the one learned longest ago goes first."""


class Prompts:
    """The prompts one program has shown."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def learn(self, prompt: str) -> None:
        """Remember a prompt; an output without a line feed in front of a known one does not make a new one."""
        prompt = prompt.rstrip()
        if not prompt or self.split(prompt + " ")[0]:
            return
        self._known.pop(prompt, None)
        self._known[prompt] = None
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]

    def __contains__(self, text: str) -> bool:
        return text.rstrip() in self._known

    def split(self, head: str) -> tuple[str, str]:
        """Split an open line, up to the cursor, into what stands left of a known prompt, and the prompt.

        Both are empty where the line does not end in a known prompt. A prompt of one character is only known by the
        blank behind it as well.
        """
        if head in self:
            return "", head
        for prompt in self._known:
            for ending in (prompt + " ", prompt):
                if len(ending) > 1 and head.endswith(ending):
                    return head[: -len(ending)], ending
        return "", ""

    def behind(self, text: str) -> str | None:
        """Return what stands behind a known prompt at the beginning of a text; None where there is none."""
        for prompt in self._known:
            if text.startswith(prompt):
                return text[len(prompt) :].strip()
        return None
