"""Compare two runs of libtmux's tests: compare_suites.py STOCK.xml CONTROL.xml; see scripts/libtmux-suite."""

import sys
from pathlib import Path
from xml.etree import ElementTree

DIFFERENCES = Path(__file__).with_name("differences.txt")
MAX_DIFFERENCES = 10


def passed(report: Path) -> set[str]:
    """Return the tests that passed, as `module.test`.

    A test that ran again has several entries; those that did not decide are empty, as the entry of a test that passed.
    """
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  # pytest wrote it
        names[not len(case)].add(f"{case.get('classname')}.{case.get('name')}")
    return names[True] - names[False]


def allowed() -> dict[str, str]:
    """Return the tests that may differ, with the reason for each."""
    lines = [line for line in DIFFERENCES.read_text().splitlines() if line and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, _, reason in (line.partition(" ") for line in lines)}


def compare(stock: set[str], control: set[str], may_differ: dict[str, str]) -> list[str]:
    """Return the tests that pass on stock libtmux alone, and are not listed."""
    return sorted(stock - control - may_differ.keys())


def main(stock_report: str, control_report: str) -> int:
    """Print the result; return 1 for a difference that is not listed."""
    stock, control, listed = passed(Path(stock_report)), passed(Path(control_report)), allowed()
    different = compare(stock, control, listed)
    for name in sorted(stock - control):
        print(f"passes on Server, not on ControlServer: {name} ({listed.get(name, 'not listed')})")
    for name in sorted(control - stock):
        print(f"passes on ControlServer, not on Server: {name}")
    print(f"{len(stock)} pass on Server, {len(stock & control)} of them on ControlServer, {len(different)} unexpected")
    return bool(different) or len(listed) > MAX_DIFFERENCES


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
