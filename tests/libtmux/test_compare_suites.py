"""The comparison of libtmux's own tests on both kinds of server can fail, and its list stays short."""

import importlib.util
from pathlib import Path

spec = importlib.util.spec_from_file_location("compare_suites", Path(__file__).with_name("compare_suites.py"))
assert spec is not None
assert spec.loader is not None
compare_suites = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare_suites)

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_pane" name="test_one"/>
<testcase classname="tests.test_pane" name="test_one"/>
<testcase classname="tests.test_pane" name="test_two"/>
<testcase classname="tests.test_pane" name="test_two"><failure message="no"/></testcase>
<testcase classname="tests.test_pane" name="test_three"><skipped/></testcase>
</testsuite></testsuites>"""


def test_what_passes_on_stock_alone_is_a_difference_unless_it_is_listed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert compare_suites.passed(report) == {"tests.test_pane.test_one"}
    assert compare_suites.compare({"a", "b", "c"}, {"c", "d"}, {"b": "why"}) == ["a"]


def test_each_difference_that_is_allowed_has_a_reason() -> None:
    listed = compare_suites.allowed()
    assert 0 < len(listed) <= compare_suites.MAX_DIFFERENCES
    assert all(listed.values())
