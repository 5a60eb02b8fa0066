"""The measured figures of the README, as docs/benchmarks.md has them: `streamrelay bench` writes those."""

import re

STREAM, POLLER = "stream", "capture_pane, libtmux, 1 Hz"


def with_figures(readme: str, benchmarks: str) -> str:
    """Return the README with the figures of the blocks `polling` and `latency`; raises SystemExit if one is missing."""
    polling, latency = _block(benchmarks, "polling"), _block(benchmarks, "latency")
    stream, poller = _row(polling, STREAM), _row(polling, POLLER)
    later = _found(r"is (.+?) times as late", polling)
    pasted = _found(r"to the paste: ([0-9.]+(?: \([0-9.]+-[0-9.]+\))? ms)", latency)
    where = f"{_found(r'^([0-9]+) cores', latency)} cores, tmux {_found(r', tmux ([^,]+),', latency)}"
    lines = {
        "| delay of a line, 100 panes, median | ": f"{stream[1]} ms | {poller[1]} ms; {later} times as long |",
        "| lines lost, five runs | ": " | ".join(f"{int(row[4]):,} of {int(row[3]):,}" for row in (stream, poller))
        + " |",
        "| processor time, 30 s of it | ": f"{stream[7]} s | {poller[7]} s |",
        "A relay pastes ": f"{pasted} after the last line that it received (median; {where}).",
    }
    for begin, end in lines.items():
        readme, times = re.subn(
            rf"^{re.escape(begin)}.*$", lambda _, line=begin + end: line, readme, flags=re.MULTILINE
        )
        if times != 1:
            raise SystemExit(f"README.md has no line that begins with {begin!r}")
    return readme


def _block(benchmarks: str, part: str) -> str:
    return _found(rf"<!-- bench: {part} -->\n(.*?)<!-- end of bench -->", benchmarks)


def _row(block: str, name: str) -> list[str]:
    """Return the cells of a row, the first of which is its name."""
    cells = [name, *_found(rf"^\| {re.escape(name)} *\|(.*)\|$", block).split("|")]
    return [cell.strip() for cell in cells]


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE | (re.DOTALL if pattern.startswith("<!--") else 0))
    if match is None:
        raise SystemExit(f"docs/benchmarks.md has nothing like {pattern!r}")
    return match[1]
