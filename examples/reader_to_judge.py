"""The smallest reader that the judge can score: it strips escape sequences (docs/judge.md).

    python -m benchmarks.fidelity --reader 'mine=python examples/reader_to_judge.py {dir}'

It needs only the standard library, as yours may be in any language: it reads a recording, and prints JSON Lines.
"""

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

OUTPUT = re.compile(rb"%output %(\d+) (.*)", re.DOTALL)
OCTAL = re.compile(rb"\\([0-7]{3})")
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x00-\x08\x0b-\x1f]")


def main(folder: Path) -> None:
    """Print each line of the recording as text, without the first echo of each injected line."""
    meta = json.loads((folder / "meta.json").read_text())
    echoes = Counter(line.strip() for one in meta["injected"] for line in one["text"].split("\n"))
    unfinished = b""
    with gzip.open(folder / "stream.jsonl.gz", "rt", encoding="utf-8") as stream:
        for entry in map(json.loads, stream):
            found = OUTPUT.match(entry["line"].encode("latin-1")) if entry["dir"] == "out" else None
            if found is None:
                continue
            data = OCTAL.sub(lambda octal: bytes([int(octal[1], 8)]), found[2])
            *lines, unfinished = (unfinished + data).split(b"\n")
            for line in lines:
                text = ESCAPES.sub(b"", line).decode(errors="replace").strip()
                if echoes[text]:
                    echoes[text] -= 1
                elif text:
                    print(json.dumps({"event": "text", "text": text, "t": entry["t"]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
