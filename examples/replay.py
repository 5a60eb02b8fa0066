"""Print what the programs in a recording said, with the origin of each line: replay.py session.jsonl.gz."""

import sys
from pathlib import Path

from streamrelay import Text, load_profiles
from streamrelay.recordings import open_recording, replay

profiles = [profile.reading for profile in load_profiles()]
for event in replay(open_recording(Path(sys.argv[1])), profiles):
    if isinstance(event, Text):
        print(f"{event.t:8.2f} {event.origin:9} {event.text}")
