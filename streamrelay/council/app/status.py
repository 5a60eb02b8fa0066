"""The status panel: speaker, markers, queued messages, phase, cost, and the open question."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from streamrelay.council.events import StatusChanged

STATES = {"idle": "Type a message", "paused_for_user": "Your turn", "ended": "The session is over"}


def activity(status: StatusChanged) -> str:
    """Return the activity of the session in one line."""
    parts = [f"Generating... {status.speaker} 🤔" if status.speaker else STATES.get(status.state, "Working")]
    parts.append(f"Phase: {status.phase}")
    if status.queued:
        parts.append(f"Queued Messages: {status.queued}")
    if status.cost:
        parts.append(f"${status.cost:.2f}")
    if status.left_out:
        parts.append(f"{status.left_out:,} older messages not given")
    return "  ·  ".join(parts)


def roll_call(status: StatusChanged, members: Sequence[str]) -> str:
    """Return the members with their markers; unavailable and disabled ones are marked."""
    shown = []
    for name in members:
        markers = "🎯 " * (name == status.markers.drafter) + "✅ " * (name == status.markers.writer)
        health = "off" if name in status.disabled else "no answer" if name in status.unhealthy else ""
        shown.append(f"{markers}{name}{f' ({health})' if health else ''}")
    return "  ".join(shown)


class StatusPanel(Static):
    """Shows the state of the session in two lines, and a question in a third."""

    def show(self, status: StatusChanged, members: Sequence[str]) -> None:
        """Show a new state."""
        lines = [Content.styled(activity(status), "bold"), Content(roll_call(status, members))]
        if status.question:
            lines.append(Content.styled(status.question, "bold $warning"))
        self.update(Content("\n").join(lines))
