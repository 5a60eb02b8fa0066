"""An independent judge of message histories: what was lost, doubled, reordered, misattributed, echoed or invented.

It shares no code with streamrelay and knows nothing of how messages travel. Its input are the histories that each node
wrote, one JSON object a line. Three kinds of record:

    {"event": "joined", "channel": "link-1", "who": "Ann"}
    {"event": "said", "channel": "link-1", "who": "Ann", "text": "..."}
    {"event": "heard", "channel": "link-1", "who": "Bob", "from": "Ann", "text": "..."}

Every text is said once at most, so that a text names its saying. The order of a history is the order of its records.
The rule: each participant of a channel hears what every other one says there, once, in the order of saying, under that
speaker's name; and nothing else. A participant that hears its own words hears an echo. A `said` record with
`"due": "no"` may be unheard: the run ended while the text was on its way.

    python -m tests.history_checker FOLDER     # reads *.jsonl; exit 1 if anything is wrong
"""

from tests.history_checker.checker import Finding, Verdict, check, read_histories

__all__ = ["Finding", "Verdict", "check", "read_histories"]
