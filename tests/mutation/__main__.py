"""Tell which mutants the tests find: `python -m tests.mutation` (see CONTRIBUTING.md).

Each mutant is tested in a copy of the commit that is checked out, by selection A (what `scripts/test` runs) and, if it
survives that, by selection B (what `scripts/test all` runs). B contains A, so what A kills B kills as well. The tests
of the mutants' packages come first; the others run only for what survives those. One run tells which tests reach which
mutant (`tests.mutation.reach`); a mutant is tested by those alone.

A test that fails is run again without the mutant. If it fails there too, it shows nothing: it is left out from then on.
A run that exceeds its time counts as a kill. Results are JSON lines; a mutant that is in the file is not tested again.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.mutation.mutants import CORES, PACKAGES, Mutant, draw
from tests.mutation.reach import NOTES, marked, read_notes

ROOT = Path(__file__).resolve().parents[2]
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?|\S+\.py)(?: - .*)?$", re.MULTILINE)
_PASSED, _NONE_COLLECTED = 0, 5
MAX_TESTS_A_RUN = 400
PURE_TESTS = "not slow and not tmux and not browser and not redis"
"""The tests that start no server: with `--own` they come first, since they take the least time."""


@dataclass
class Tests:
    """The test runs in one copy of the repository."""

    copy: Path
    limit: float
    options: list[str]
    unreliable: set[str] = field(default_factory=set)
    writes: int = 0
    began: int = field(default_factory=lambda: int(time.time()))

    def reaching(
        self, selection: Sequence[str], paths: Sequence[str], mutants: Sequence[Mutant]
    ) -> dict[int, list[str]]:
        """Run a selection once and return the tests that reach each mutant, by its place in `mutants`."""
        originals = {mutant.file: (self.copy / mutant.file).read_bytes() for mutant in mutants}
        for file, source in originals.items():
            numbered = [(number, mutant) for number, mutant in enumerate(mutants) if mutant.file == file]
            self._write(self.copy / file, marked(source, numbered))
        notes = self.copy.parent / "notes"
        notes.unlink(missing_ok=True)
        try:
            _, output = self._run([*selection, *paths], notes=notes)
        finally:
            for file, source in originals.items():
                self._write(self.copy / file, source)
        print("  " + (output.strip().splitlines() or ["no output"])[-1], flush=True)
        return read_notes(notes)

    def first_failure(self, selection: Sequence[str], tests: Sequence[str], mutant: Mutant) -> str:
        """Return the test that notices the mutant, `timeout`, or an empty string if none does."""
        for first in range(0, len(tests), MAX_TESTS_A_RUN):
            if found := self._first_failure(selection, tests[first : first + MAX_TESTS_A_RUN], mutant):
                return found
        return ""

    def _first_failure(self, selection: Sequence[str], tests: Sequence[str], mutant: Mutant) -> str:
        path = self.copy / mutant.file
        original = path.read_bytes()
        while wanted := [test for test in tests if test not in self.unreliable]:
            self._write(path, mutant.applied(original))
            try:
                status, output = self._run(["-x", *selection], wanted)
            finally:
                self._write(path, original)
            if status is None:
                return "timeout"
            if status in {_PASSED, _NONE_COLLECTED}:
                return ""
            failed = _FAILED.findall(output)
            if not failed:
                return "the run itself: " + (output.strip().splitlines() or [f"status {status}"])[-1]
            # A module that cannot be imported any more has no tests to run again.
            if "::" not in failed[0] or self._run(selection, [failed[0]])[0] == _PASSED:
                return str(failed[0])
            print(f"  left out, it fails without the mutant too: {failed[0]}", flush=True)
            self.unreliable.add(failed[0])
        return ""

    def _write(self, path: Path, source: bytes) -> None:
        """Write a file with a time of its own: that and the size are all that cached bytecode is checked by."""
        path.write_bytes(source)
        self.writes += 1
        os.utime(path, (self.began + self.writes, self.began + self.writes))

    def _run(
        self, selection: Sequence[str], tests: Sequence[str] = (), *, notes: Path | None = None
    ) -> tuple[int | None, str]:
        """Run pytest; None as status if it takes longer than `limit` seconds. The run that notes has no limit."""
        chosen = self.copy.parent / "chosen"
        chosen.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *self.options, *selection]
        environment = {**os.environ, "COLUMNS": "400"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling everything for each process took most of the time
        environment["PYTHONPATH"] = f"{self.copy}{os.pathsep}{self.copy / 'cli'}"
        if notes:
            environment[NOTES] = str(notes)
        with subprocess.Popen(
            [*command, *([f"@{chosen}"] if tests else [])], cwd=self.copy, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            text=True, errors="replace", start_new_session=True,
        ) as run:  # fmt: skip
            try:
                return _finished(run, None if notes else self.limit)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(run.pid, signal.SIGKILL)


def _finished(run: subprocess.Popen[str], limit: float | None) -> tuple[int | None, str]:
    try:
        output, _ = run.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    return run.returncode, output


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Check the current commit out into a folder of its own, which is removed at the end."""
    git = ["git", "-C", str(root), "worktree"]
    with tempfile.TemporaryDirectory(prefix="streamrelay-mutants-") as folder:
        copy = Path(folder) / "copy"
        subprocess.run([*git, "add", "--quiet", "--detach", str(copy), "HEAD"], check=True)
        try:
            yield copy
        finally:
            subprocess.run([*git, "remove", "--force", str(copy)], check=True)


@dataclass(frozen=True)
class Results:
    """What is known of the mutants of one commit: a file of JSON lines, one a verdict."""

    path: Path
    commit: str

    def read(self) -> dict[str, dict[str, str]]:
        """Return the verdicts: mutant's key to which test kills it in A and in B (empty: none does)."""
        known = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []
        return {line["key"]: line for line in known if line["commit"] == self.commit}

    def add(self, mutant: Mutant, **verdict: str | float) -> None:
        """Write a verdict down; a later one of the same mutant counts."""
        line = {**asdict(mutant), "key": mutant.key, "commit": self.commit, **verdict}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def judge(
    tests: Tests,
    results: Results,
    drawn: Sequence[Mutant],
    name: str,
    steps: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> None:
    """Test what has no verdict of this selection yet, and what no selection before it killed.

    `steps` are pytest's arguments and paths of tests; no path stands for all. What the tests of one step kill, the next
    one need not run.
    """
    known = results.read()
    todo = [mutant for mutant in drawn if name not in known.get(mutant.key, {})]
    were_run: dict[str, set[str]] = {mutant.key: set() for mutant in todo}
    for step, (selection, paths) in enumerate(steps):
        if not todo:
            return
        is_last = step == len(steps) - 1
        print(f"selection {name.upper()}, {' '.join(paths) or 'all'}: tests that reach {len(todo)} mutants", flush=True)
        reaching = tests.reaching(selection, paths, todo)
        left = []
        for number, mutant in enumerate(todo):
            # Of what nothing reached, the package's own tests may still tell something.
            reach = reaching.get(number) or ([_own_tests(mutant)] if is_last else [])
            fresh = [test for test in reach if test not in were_run[mutant.key]]
            were_run[mutant.key].update(fresh)
            print(f"{number + 1}/{len(todo)} {shown(mutant)}, reached by {len(fresh)} tests", flush=True)
            began = time.monotonic()
            killer = tests.first_failure(selection, fresh, mutant)
            print(f"  {killer or 'survives'}, {time.monotonic() - began:.0f} s", flush=True)
            if not killer and not is_last:
                left.append(mutant)
                continue
            verdict = {"a": killer, "b": killer} if name == "a" and killer else {name: killer}
            results.add(mutant, **{"a": "", **verdict}, reached=len(were_run[mutant.key]))
        todo = left


def _own_tests(mutant: Mutant) -> str:
    return f"tests/{Path(mutant.file).parts[1]}"


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--count", type=int, default=40, help="how many mutants to draw (default: 40)")
    add("--seed", type=int, help="the seed of the draw, also of the sampled tests (default: a new one, printed)")
    add("--packages", default=",".join(PACKAGES), help="packages to draw from, evenly (default: %(default)s)")
    add("--core", choices=CORES, help="draw from the modules of one pure core, in place of packages")
    add("--own", action="store_true", help="judge by the package's own tests of selection A alone")
    add("--default", default="-m 'not slow'", help="pytest's arguments for selection A (default: %(default)s)")
    add("--all", default="--whole", help="pytest's arguments for selection B (default: %(default)s)")
    add("--all-paths", default="", help="folders of selection B (default: tests)")
    add("--workers", default="2", help="pytest-xdist's -n (default: %(default)s)")
    add("--timeout", type=float, default=1800, help="seconds of one run of tests, then it counts as a kill")
    add("--results", type=Path, help="file of JSON lines to go on with (default: mutants-SEED.jsonl)")
    add("--list", action="store_true", help="show the mutants and test nothing")
    return parser


def shown(mutant: Mutant, wide: int = 48) -> str:
    before, after = (" ".join(text.split())[:wide] for text in (mutant.before, mutant.after))
    return f"{mutant.file}:{mutant.line} {mutant.kind}: {before} -> {after}"


def main() -> int:
    given = options().parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    packages = [f"core:{given.core}"] if given.core else given.packages.split(",")
    print(f"seed {seed}", flush=True)
    if given.list:
        for mutant in draw(ROOT, packages, given.count, seed):
            print(shown(mutant))
        return 0
    commit = subprocess.check_output(["git", "-C", str(ROOT), "rev-parse", "HEAD"], text=True).strip()
    results = Results(given.results or Path(f"mutants-{seed}.jsonl"), commit)
    with copied(ROOT) as copy:
        drawn = draw(copy, packages, given.count, seed)
        tests = Tests(copy, given.timeout, ["-n", given.workers] if given.workers != "0" else [])
        own = sorted({_own_tests(mutant) for mutant in drawn})
        default = [*shlex.split(given.default), "--sample-seed", str(seed)]
        if given.own:
            judge(tests, results, drawn, "a", [([*default, "-m", PURE_TESTS], own), (default, own)])
        else:
            judge(tests, results, drawn, "a", [(default, own), (default, [])])
            every = shlex.split(given.all)
            judge(tests, results, drawn, "b", [(every, own), (every, given.all_paths.split())])
    known = results.read()
    judged = [known[mutant.key] for mutant in drawn]
    for mutant, line in zip(drawn, judged, strict=True):
        if not line.get("b", line["a"]):
            print(f"survives: {shown(mutant, 200)}")
    by_a, by_b = (sum(bool(line.get(name, line["a"])) for line in judged) for name in ("a", "b"))
    by_all = "" if given.own else f", B kills {by_b}"
    print(f"{len(judged)} mutants: A kills {by_a}{by_all}, {len(judged) - by_b} survive")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
