"""A pytest plugin that runs a sample of large parameter families and properties, and the whole of them on request.

A test, a class or a module marked `@pytest.mark.sampled(6)` runs six of its parameter sets, chosen by a seed. The
report's header prints the seed; `--sample-seed SEED` chooses the same sets again. `--whole` runs all of them, as
`scripts/test all` does. A property runs a quarter of the examples that `examples(200)` asks for, with `--whole` all.

A property has no deadline for one example: on a busy machine that is a coin toss.
"""

import random
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("sampled", deadline=None, max_examples=25)
settings.register_profile("whole", deadline=None, max_examples=100)


def examples(count: int) -> int:
    """Return how many of `count` examples of a property run; for `hypothesis.settings(max_examples=...)`."""
    return max(1, count * settings.default.max_examples // settings.get_profile("whole").max_examples)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--whole` and `--sample-seed`."""
    group = parser.getgroup("sampling")
    group.addoption("--whole", action="store_true", help="run sampled parameter families whole")
    group.addoption("--sample-seed", type=int, help="seed that chooses the samples (default: a new one each run)")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed; a worker of pytest-xdist takes that of its controller."""
    settings.load_profile("whole" if config.option.whole else "sampled")
    config.addinivalue_line("markers", "sampled(count): run `count` of the parameter sets, all of them with --whole")
    if config.option.sample_seed is None:
        handed = getattr(config, "workerinput", {}).get("sample_seed")
        config.option.sample_seed = random.SystemRandom().randrange(10**6) if handed is None else handed


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the seed to a worker (a `WorkerController` of pytest-xdist)."""
    node.workerinput["sample_seed"] = node.config.option.sample_seed


def pytest_report_header(config: pytest.Config) -> str:
    """Name the seed, and how to repeat the run."""
    if config.option.whole:
        return "sampling: off, parameter families run whole"
    return f"sampling: seed {config.option.sample_seed} (repeat with --sample-seed {config.option.sample_seed})"


@pytest.hookimpl(trylast=True)  # -m and -k have deselected: a sample is drawn from what is left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what the samples leave out. Several `sampled` marks: the nearest one counts."""
    if config.option.whole:
        return
    families: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            families[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for family, members in families.items():
        mark = members[0].get_closest_marker("sampled")
        count = mark.args[0] if mark else len(members)
        chosen = random.Random(f"{config.option.sample_seed} {family}").sample(members, min(count, len(members)))
        left_out.update(set(members).difference(chosen))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]
