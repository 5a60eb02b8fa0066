"""When an answer begins and when it is over: witnesses vote, and quiet votes last.

* A turn begins with the program's first output after something was submitted to it.
* A witness that has said *busy* since then is believed: while it says so, no silence ends the turn; when it says
  *idle* and the screen has rested for `SIGNAL_REST` (`screen_rest` if only the screen itself has told), the turn has
  ended, and that is certain. If the program shows at its prompt what was typed ahead, no rest is waited for. Output
  that was missed may have contained that *busy*: if the witness says *idle* and the screen shows the answer, it counts
  as said.
* The program's own stop hook says both: that it was at work, and that it is over. Where it comes within `HOOK_LAG` of
  a message it can be the word on the turn before, and then it is a vote like any other.
* While a dialog stands, no witness can end the turn: the rows of dialog and answer cannot be told apart. The answer is
  read when the dialog is gone.
* A shell that waits for another command says *busy* of its own command, not of messages to a program that it runs.
* A program that was sent a message, and rests at an unfinished line behind which an answer is typed, has answered: for
  a shell that waits at such a question of its own (`read -p`), *busy* is no word on that.
* The kernel may show that the program is at work behind such a line (`Downloading: `). Then the quiet counts from that
  moment and lasts `AT_WORK` seconds. This evidence holds for `MAX_AT_WORK` seconds after the last output.
* Without such a witness the turn ends after `QUIET` seconds without output, and that is not certain: what comes later
  without a new message opens a continuation, a turn of the same number. It takes `UNHEARD` seconds where the program
  has not even shown its message; where it tells its state as a rule and has told nothing of this turn (it may still be
  starting, with the message in a queue); and where a shell's command is quiet and no question stands on its line.

Pure: time comes in with every call, in seconds of the stream.
"""

from dataclasses import dataclass
from typing import Final, Literal

from streamrelay.events import TurnEnd, Vote

QUIET = 1.5
UNHEARD = 10.0
"""Seconds of quiet for which a program is waited for that has not even shown its message."""
SIGNAL_REST = 0.15
AT_WORK = 2 * QUIET
"""Seconds of quiet after which a program that was seen at work behind an unfinished line counts as waiting there."""
MAX_AT_WORK = 60.0
"""Seconds after the last output for which a program can count as at work behind an unfinished line. A program that
polls its terminal (`read -t 0.01 -n1; sleep 1`) looks like that nearly always, and its turn must end, too."""
HOOK_LAG = 0.5
"""Seconds that a hook's word may take to arrive; an answer that is over sooner is not ended by it."""

TELLING: Final = frozenset({"title", "agent_state"})
"""Those that are a program's own word: one that has ever given it gives it of every answer."""

Worked = Literal["unknown", "missed", "said", "exited", "stopped", "answered"]
"""How it is known that the program was at work on the turn: a witness said *busy*; a shell reads again; its stop hook
says so; or its answer is on the screen. Otherwise it is not known, or not known and may have been said in output that
was missed.
"""

Witness = Literal["composer", "shell", "title", "agent_state", "furniture", "hook"]


@dataclass(frozen=True, slots=True)
class Began:
    """A turn began; `message_id` is what it answers, if that is known."""

    turn: int
    message_id: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn ended."""

    turn: int
    reason: TurnEnd
    certain: bool
    votes: tuple[Vote, ...]
    disagreements: int = 0
    exit_status: int | None = None
    """How the command ended that the turn was, where the shell's marks tell."""


class Turns:
    """The turns of one pane."""

    def __init__(self) -> None:
        self.turn = 0
        self.screen_rest = SIGNAL_REST
        """Seconds of rest where no witness but the screen has told; a profile may know that the program paints late."""
        self._open = False
        self._answered = 0
        """The turn that is answered while one is open: messages may wait by now, and have counted."""
        self._over = 0
        """The last turn that has ended."""
        self._message_id: str | None = None
        self._last_output: float | None = None
        self._quiet_since: float | None = None
        """The last output, or the moment after it at which the program was seen at work."""
        self._quiet = QUIET
        self._held = self._reads = False
        self._answers_message = False
        """Whether the open turn answers a message."""
        self.asks = False
        """Whether the program rests at an unfinished line as one does that waits for an answer."""
        self._witnesses: dict[Witness, Vote] = {}
        self.is_busy = False
        """Whether a witness says that the program is at work."""
        self._doubted: Witness | None = None
        """The witness that said *busy* last and cannot be heard now."""
        self._disagreements = 0
        self._exit_status: int | None = None
        self.worked: Worked = "unknown"
        self.submitted_at = -HOOK_LAG
        """When something was submitted last (stream time)."""

    @property
    def is_open(self) -> bool:
        """Whether a turn has begun and is not over."""
        return self._open

    @property
    def answered(self) -> int | None:
        """The turn that is being answered, if one is open."""
        return self._answered if self._open else None

    @property
    def awaited(self) -> str | None:
        """The message submitted last, if nothing has answered it yet."""
        return None if self._open or self._over == self.turn else self._message_id

    @property
    def goes_on(self) -> bool:
        """Whether a turn is open that answers nothing: a greeting, or more of an answer that was over."""
        return self._open and self._over == self.turn

    @property
    def answers(self) -> bool:
        """Whether an answer is under way, or a witness says that the program is at work."""
        return self._open or self.is_busy

    def submitted(self, message_id: str | None, now: float = 0.0, *, at_prompt: bool = False) -> Ended | None:
        """Something was submitted to the program: what it prints next answers it.

        At a prompt the program had been waiting, so the turn that was open is over and is returned; and so is one that
        answers nothing, a greeting or more of an answer that was over, where a message comes: of what a person typed it
        is known only once the transcript shows it, behind what is to be read of that turn. A message that comes in
        mid-answer ends nothing.
        """
        ended = None
        if self._open and not self.is_busy and (at_prompt or (self.goes_on and message_id is not None)):
            ended = self.supersede()
        self.turn += 1
        self._message_id, self.asks = message_id, False
        self._forget_work()
        self.submitted_at = now
        return ended

    def supersede(self) -> Ended:
        """End the turn that is open, for something else is submitted."""
        self._open = False
        return self._ended(self.turn, "superseded", certain=False)

    def vote(self, witness: Witness, says: Literal["busy", "idle"], now: float) -> None:
        """Take the word of a witness of the program's own state."""
        self._witnesses[witness] = Vote(witness, says, now)
        if witness == self._doubted:
            self._doubted = None
        self.is_busy = any(vote.says == "busy" for vote in self._witnesses.values())
        if says == "idle" and self.is_busy:
            self._disagreements += 1
        if says == "busy":
            self.worked = "said"
            self._reads = False

    def miss(self) -> None:
        """Note that output was missed, in which a witness may have said *busy*."""
        if self.worked == "unknown":
            self.worked = "missed"

    def see_answer(self) -> None:
        """Note that the answer is on the screen: if output was missed, the program has worked on it meanwhile."""
        if self._open and self.worked == "missed":
            self.worked = "answered"

    def _forget_work(self) -> None:
        """What is known of the program's work tells nothing of the turn to come, unless it goes on."""
        self.worked = "said" if self.is_busy else "unknown"

    @property
    def _has_worked(self) -> bool:
        return self.worked not in {"unknown", "missed"}

    def doubt(self, witness: Witness) -> None:
        """Note that a witness cannot be heard: something stands in its place. Without another one, quiet decides."""
        if witness in self._witnesses and self._witnesses.pop(witness).says == "busy":
            self._doubted = witness if self._witnesses.keys().isdisjoint(TELLING) else None
            self.is_busy = any(vote.says == "busy" for vote in self._witnesses.values())

    def doubts(self, witness: Witness) -> bool:
        """Tell whether that witness said *busy* last and cannot be heard now."""
        return self._doubted == witness

    def exited(self, status: int | None, now: float) -> None:
        """Note that a shell reads again, and how the command before ended, if the shell has told."""
        if self._open or "shell" in self._witnesses:
            self.vote("shell", "idle", now)
        if self._open:
            self._exit_status, self.worked = status, "exited"

    def stopped(self, now: float) -> None:
        """Take the word of the program's own stop hook."""
        self.vote("hook", "idle", now)
        if self._open and now - self.submitted_at >= HOOK_LAG:
            self.worked = "stopped"

    def dismiss(self, witness: Witness) -> None:
        """That witness tells nothing of the program that is there now."""
        if self._doubted == witness:
            self._doubted = None
        if self._witnesses.pop(witness, None) is not None:
            self.is_busy = any(vote.says == "busy" for vote in self._witnesses.values())
            if self._has_worked and not self.is_busy:
                self.worked = "unknown"

    def dismiss_witnesses(self) -> None:
        """The program whose state they told is gone."""
        self._witnesses.clear()
        self._doubted = None
        self.is_busy = False
        self._forget_work()

    def output(self, now: float) -> None:
        """Note that the program printed something."""
        self._last_output = self._quiet_since = now
        self.asks = False
        self._quiet = QUIET
        self._held = False

    def said(self) -> Began | None:
        """Note a word of the program's own; return the turn that it opens."""
        if self._open:
            return None
        self._open, self._answered = True, self.turn
        began, self._message_id = Began(self.turn, self._message_id), None
        self._answers_message = began.message_id is not None
        return began

    def count_unseen(self) -> int | None:
        """Count a message that the transcript shows although its typing was not seen; None if others wait behind it."""
        if self._open and self._answered < self.turn:
            return None
        self.turn += 1
        return self.turn

    def take_up(self, turn: int) -> None:
        """Note that the program has come to the message of that turn."""
        self._answered = max(self._answered, turn)

    def deadline(self) -> float | None:
        """Return when `advance` is to be called at the latest (stream time), None if nothing is due."""
        if self._held or self._quiet_since is None:
            return None
        if self.has_asked:
            return self._quiet_since + self._quiet
        if not self._open or self.is_busy:
            return None
        if not self._has_worked or self._doubted is not None:
            return self._quiet_since + self._quiet
        rest = self.screen_rest if self._witnesses.keys() == {"furniture"} else SIGNAL_REST
        rest = 0.0 if self._reads else rest
        return max((self._quiet_since, *(vote.since for vote in self._witnesses.values()))) + rest

    @property
    def has_message(self) -> bool:
        """Whether the open turn answers a message, or nothing has answered the last message yet."""
        return self._answers_message if self._open else self.awaited is not None

    @property
    def has_asked(self) -> bool:
        """Whether the program asks for an answer, and so has answered the message that it was sent last."""
        return self.asks and self.has_message

    @property
    def is_certain(self) -> bool:
        """Whether witnesses have said that the turn is over, so that it does not take silence to tell."""
        return self._has_worked and not self.is_busy and self._doubted is None

    @property
    def keeps_still(self) -> bool:
        """Whether a program that tells its state has told nothing of this turn: it may not have taken it up yet."""
        return not self._has_worked and not self._witnesses.keys().isdisjoint(TELLING)

    def wait(self) -> bool:
        """Wait longer than usual for the end of the turn by quiet; return whether that is news."""
        waits, self._quiet = self._quiet < UNHEARD, max(self._quiet, UNHEARD)
        return waits

    def be_patient(self, seconds: float) -> None:
        """Let the turn end by quiet no sooner than that: the program is known to rewrite what it has let stand."""
        self._quiet = max(self._quiet, seconds)

    def see_at_work(self, now: float) -> None:
        """Count the quiet from now on, and longer, because polls may be late.

        Ignore this evidence `MAX_AT_WORK` seconds after the last output.
        """
        if self._last_output is not None and now <= self._last_output + MAX_AT_WORK:
            self._quiet_since = now
            self.be_patient(AT_WORK)

    def see_typed(self) -> None:
        """Note that the program shows, where it reads, what was typed for the turn to come."""
        self._reads = self._open and self.is_certain

    def hold(self) -> None:
        """Let the turn end no sooner than the program has printed something more: it waits for a person."""
        self._held = True

    def is_over(self, now: float) -> bool:
        """Tell whether `advance` is going to end the turn that is open."""
        due = self.deadline()
        return due is not None and now >= due

    def advance(self, now: float, *, more_wait: bool = False) -> Ended | None:
        """Let time pass; return the turn that it ends: not that of a message where `more_wait` to be taken up."""
        due = self.deadline()
        if not self._open or due is None or now < due or self._quiet_since is None:
            return None
        self._open = False
        reason: TurnEnd = "quiet"
        certain = self.is_certain
        if certain:
            reason = "composer" if self._witnesses.keys() - {"shell"} == {"composer"} else "signal"
        # That it was at work tells of this turn only: a message that is still waiting has not been begun.
        self._forget_work()
        turn = self._answered if more_wait else self.turn
        return self._ended(turn, reason, certain=certain, quiet=Vote("quiet", "idle", self._quiet_since))

    def close(self) -> Ended | None:
        """The pane is gone: whatever was being said is over."""
        if not self._open:
            return None
        self._open = False
        return self._ended(self.turn, "closed", certain=True)

    def _ended(self, turn: int, reason: TurnEnd, *, certain: bool, quiet: Vote | None = None) -> Ended:
        self._over, self._reads = turn, False
        votes = (*self._witnesses.values(), *(() if quiet is None else (quiet,)))
        disagreements, self._disagreements = self._disagreements, 0
        status, self._exit_status = self._exit_status, None
        return Ended(turn, reason, certain, votes, disagreements, status)
