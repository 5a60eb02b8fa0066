"""Tell which mutants the tests find: `python -m tests.mutation` (see CONTRIBUTING.md).

Each mutant is tested in a copy of the commit that is checked out, by selection A (what `scripts/test` runs) and, if it
survives that, by selection B (what `scripts/test all` runs). B contains A, so what A kills B kills as well. The tests
of the mutant's package and of the packages that import it run first, the rest only if none of them fails.

A test that fails is run again without the mutant. If it fails there too, it shows nothing: it is left out from then on.
A run that exceeds its time counts as a kill. Results are JSON lines; a mutant that is in the file is not tested again.
"""

import argparse
import ast
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
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.mutation.mutants import PACKAGES, Mutant, draw

ROOT = Path(__file__).resolve().parents[2]
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?|\S+\.py)(?: - .*)?$", re.MULTILINE)
_PASSED, _NONE_COLLECTED = 0, 5


@dataclass
class Tests:
    """The test runs in one copy of the repository."""

    copy: Path
    limit: float
    options: list[str]
    unreliable: list[str] = field(default_factory=list)

    def first_failure(self, selection: list[str], paths: list[str], original: bytes, mutant: Mutant) -> str:
        """Return the test that notices the mutant, `timeout`, or an empty string if none does."""
        path, mutated = self.copy / mutant.file, mutant.applied(original)
        while True:
            path.write_bytes(mutated)
            status, output = self._run(["-x", *selection, *paths])
            path.write_bytes(original)
            if status is None:
                return "timeout"
            if status in {_PASSED, _NONE_COLLECTED}:
                return ""
            failed = _FAILED.findall(output)
            if not failed:
                return "the run itself: " + (output.strip().splitlines() or [f"status {status}"])[-1]
            if failed[0] in self.unreliable:
                return ""
            # A module that cannot be imported any more has no tests to run again.
            if "::" not in failed[0] or self._run([*selection, failed[0]])[0] == _PASSED:
                return str(failed[0])
            print(f"  left out, it fails without the mutant too: {failed[0]}", flush=True)
            self.unreliable.append(failed[0])

    def _run(self, arguments: list[str]) -> tuple[int | None, str]:
        """Run pytest; None as status if it takes longer than `limit` seconds."""
        left_out = [word for test in self.unreliable for word in ("--deselect", test)]
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *self.options, *left_out, *arguments]
        places = f"{self.copy}{os.pathsep}{self.copy / 'cli'}"
        # A mutant may have the size and the second of the original, which is all that cached bytecode is checked by.
        environment = {**os.environ, "PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
        with subprocess.Popen(
            command, cwd=self.copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
        ) as run:  # fmt: skip
            try:
                return _finished(run, self.limit)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(run.pid, signal.SIGKILL)


def _finished(run: subprocess.Popen[str], limit: float) -> tuple[int | None, str]:
    try:
        output, _ = run.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    return run.returncode, output


def users_of(root: Path, package: str) -> list[str]:
    """Return the packages that import from `package`."""
    found = set()
    for path in (root / "streamrelay").glob("*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"streamrelay.{package}."):
                found.add(path.relative_to(root / "streamrelay").parts[0])
    return sorted(found - {package, "testing", "demo"})


def near_and_far(root: Path, mutant: Mutant) -> tuple[list[str], list[str]]:
    """Return the test folders of the mutant's package and of its users, and the arguments that select the rest."""
    package = Path(mutant.file).parts[1]
    names = [name for name in (package, *users_of(root, package)) if (root / "tests" / name).is_dir()]
    near = [f"tests/{name}" for name in names]
    return near, ["tests", *(f"--ignore={folder}" for folder in near)]


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


def judge(tests: Tests, mutant: Mutant, default: list[str], whole: list[str]) -> dict[str, str]:
    """Return which test kills a mutant in selection A and in B; empty strings where none does."""
    original = (tests.copy / mutant.file).read_bytes()
    near, far = near_and_far(tests.copy, mutant)
    for paths in (near, far):
        if test := tests.first_failure(default, paths, original, mutant):
            return {"a": test, "b": test}
    for paths in (near, far):
        if test := tests.first_failure(whole, paths, original, mutant):
            return {"a": "", "b": test}
    return {"a": "", "b": ""}


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--count", type=int, default=40, help="how many mutants to draw (default: 40)")
    add("--seed", type=int, help="the seed of the draw, also of the sampled tests (default: a new one, printed)")
    add("--packages", default=",".join(PACKAGES), help="packages to draw from, evenly (default: %(default)s)")
    add("--default-marks", default="not slow", help="marks of selection A (default: %(default)s)")
    add("--default-options", default="", help="further pytest options of selection A")
    add("--all-marks", default="", help="marks of selection B (default: every test)")
    add("--all-options", default="--whole", help="further pytest options of selection B (default: %(default)s)")
    add("--workers", default="2", help="pytest-xdist's -n (default: %(default)s)")
    add("--timeout", type=float, default=5400, help="seconds of one test run, then it counts as a kill")
    add("--results", type=Path, help="file of JSON lines to go on with (default: mutants-SEED.jsonl)")
    add("--list", action="store_true", help="show the mutants and test nothing")
    return parser


def shown(mutant: Mutant, wide: int = 48) -> str:
    before, after = (" ".join(text.split())[:wide] for text in (mutant.before, mutant.after))
    return f"{mutant.file}:{mutant.line} {mutant.kind}: {before} -> {after}"


def main() -> int:
    given = options().parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    results: Path = given.results or Path(f"mutants-{seed}.jsonl")
    sample = ["--sample-seed", str(seed)]
    default = ["-m", given.default_marks, *sample, *shlex.split(given.default_options)]
    whole = [*(["-m", given.all_marks] if given.all_marks else []), *shlex.split(given.all_options)]
    commit = subprocess.check_output(["git", "-C", str(ROOT), "rev-parse", "HEAD"], text=True).strip()
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {line["key"]: line for line in known if line["commit"] == commit}
    with copied(ROOT) as copy:
        drawn = draw(copy, given.packages.split(","), given.count, seed)
        tests = Tests(copy, given.timeout, ["-n", given.workers] if given.workers != "0" else [])
        for number, mutant in enumerate(drawn, 1):
            print(f"{number}/{len(drawn)} {shown(mutant)}", flush=True)
            if given.list:
                continue
            if mutant.key not in done:
                began = time.monotonic()
                verdict = judge(tests, mutant, default, whole)
                seconds = round(time.monotonic() - began, 1)
                done[mutant.key] = {
                    **asdict(mutant),
                    "key": mutant.key,
                    "commit": commit,
                    **verdict,
                    "seconds": seconds,
                }
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(done[mutant.key], ensure_ascii=False) + "\n")
            line = done[mutant.key]
            verdict_text = "killed by A" if line["a"] else "killed by B" if line["b"] else "survives"
            print(f"  {verdict_text}, {line['seconds']} s  {line['a'] or line['b']}", flush=True)
    judged = [done[mutant.key] for mutant in drawn if mutant.key in done]
    by_a, by_b = (sum(bool(line[name]) for line in judged) for name in ("a", "b"))
    print(f"{len(judged)} mutants: A kills {by_a}, B kills {by_b}, {len(judged) - by_b} survive")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
