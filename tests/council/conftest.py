"""The vendors' protocols on loopback, and a store of the test's own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from streamrelay.council.store import CouncilStore
from tests.council.vendors import Vendors, serving


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[CouncilStore]:
    async with CouncilStore(tmp_path / "council.db") as store:
        yield store
