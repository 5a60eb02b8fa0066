"""Replay a recording, and judge it: replay.py session.jsonl.gz [EXPECTED.txt].

Prints what the program said. With a file of expected lines, prints what was missed and what came too often instead, and
ends with status 1 if there is any.
"""

import sys
from collections import Counter
from pathlib import Path

from streamrelay import Text, load_profiles, open_recording, replay

profiles = [profile.reading for profile in load_profiles()]
events = replay(open_recording(Path(sys.argv[1])), profiles)
said = [event.text for event in events if isinstance(event, Text) and event.origin == "program"]
if len(sys.argv) < 3:
    print(*said, sep="\n")
else:
    expected = Counter(Path(sys.argv[2]).read_text().splitlines())
    missed, extra = expected - Counter(said), Counter(said) - expected
    for sign, lines in (("-", missed), ("+", extra)):
        for line in lines.elements():
            print(sign, line)
    sys.exit(bool(missed or extra))
