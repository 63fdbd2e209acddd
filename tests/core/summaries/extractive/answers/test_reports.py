"""Reports of finished work that say too little or too much: what runs at the moment is not done, and "it" names nothing."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, result, told_in, user, work_told, worked

_ASKED = user("Make the frost table of orchard sort its rows by day.")


@pytest.mark.parametrize(
    "said",
    [
        "The quick linters passed, and it’s deep into `cargo check --all-features` now.",
        "Back through the focused tests of the frost table now.",
    ],
)
def test_what_is_said_of_the_next_call_is_no_finished_work(said: str) -> None:
    call = [reply(said, ("b", "bash", {"command": "cargo check"})), result("b", "ok")]
    assert told_in(SummarySection.DONE, _ASKED, *worked("src/frost.py", "a"), *call) == ["Changed `frost.py`"]


def test_a_report_whose_object_is_named_elsewhere_is_left_out() -> None:
    answer = (
        "All rows are sorted.\n\n- Added 5 new colours to the schema of the table\n"
        "- Added them to the `RowColour` type\n- Moved it behind the writer of `src/frost.py`\n"
        "- Updated these three readers of `Frost` by their names"
    )
    told = work_told(
        _ASKED,
        *worked("src/frost.py", "a"),
        reply(answer),
        user("now sort the crates by weight"),
    )
    assert any("Added 5 new colours" in line for line in told)
    assert any("three readers" in line for line in told)
    assert not any("Added them" in line or "Moved it" in line for line in told)


def test_what_was_found_by_reading_alone_is_no_work() -> None:
    # Fails where a description without a subject is told as done.
    found = "Wired in `src/valley.py` as `FrostTable` with the rows of orchard."
    answer = reply(f"Added to the frost table: the rows of the valley, by their days.\n\n{found}")
    read = [reply("", ("a", "read", {"path": "src/valley.py"})), result("a", "class FrostTable: ...")]
    asked = user("How does the frost table of orchard come to its rows?")
    assert found not in told_in(SummarySection.DONE, asked, *read, answer)
    assert found in told_in(SummarySection.CONTEXT, asked, *read, answer)
