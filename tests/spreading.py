"""A pytest plugin that spreads the tests marked `spread` evenly over a run, from its beginning on.

Each of them runs many programs, or a browser, for long. One after the other in their file, all workers would run one at
the same time while the processor is idle elsewhere, and a run that ends with them would wait for the last one.
"""

from collections.abc import Generator

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", "spread: runs many programs, so no two of these follow each other")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # when all others have chosen and ordered
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Put the marked tests at equal distances; all others keep their order."""
    yield
    marked = [item for item in items if item.get_closest_marker("spread")]
    others = [item for item in items if not item.get_closest_marker("spread")]
    for place, item in enumerate(marked):
        others.insert(place + place * (len(items) - len(marked)) // len(marked), item)
    items[:] = others
