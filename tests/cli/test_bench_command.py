"""`streamrelay bench` without a checkout; with one it is tested where the benchmarks are."""

from pathlib import Path

import pytest
from streamrelay_cli.bench import checkout

import streamrelay
from streamrelay.errors import UsageError


@pytest.mark.requirement("OPS-02b")
def test_the_benchmarks_are_found_in_the_checkout() -> None:
    assert (checkout() / "benchmarks" / "report.py").is_file()


def test_an_installed_package_says_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(streamrelay, "__file__", str(tmp_path / "site-packages" / "streamrelay" / "__init__.py"))
    with pytest.raises(UsageError, match="in the checkout") as refused:
        checkout()
    assert "git clone" in refused.value.hint
