"""Lines carried on from an earlier summary: its code in one line, its steps and errors only while they hold."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import Provenance, SummarySection
from tests.core.told import reply, result, span, summarize, told_in, user, work_told, worked

_SHOWN = """## Critical Context
- **`src/frost.go`** - Table of frosts
  - Added the rows of the table:
  ```go
  // Rows are sorted.
  type frostRow int
  frostRowNone frostRow = iota
  type frostTable struct {
  rowCount int `json:"row_count"`
  }
  ```
- Kept the old reader
"""
_WORK = [
    user("now use frostRow and rowCount in the reader of orchard"),
    reply("", ("a", "edit", {"path": "src/reader.go", "oldText": "x", "newText": "read(rows)"})),
    result("a", "ok"),
    reply("Fixed the reader: it takes `frostRow`, `frostRowNone` and `rowCount`."),
    user("and in the writer, with frostTable"),
]


def test_code_of_an_earlier_summary_is_one_line_that_says_what_it_is() -> None:
    told = told_in(SummarySection.CONTEXT, *_WORK, previous=_SHOWN, previous_entry=3)
    code = [line for line in told if "iota" in line or line.startswith("type frostRow")]
    expected = (
        "Code in an earlier summary (Added the rows of the table): `type frostRow int`, `frostRowNone frostRow = iota`, "
        '`` rowCount int `json:"row_count"` ``'
    )
    assert code == [expected]


def test_code_of_an_earlier_summary_stands_with_its_other_lines() -> None:
    # Fails where it is told as recorded, with the headings again before and after it.
    text = summarize(span(*_WORK, previous=_SHOWN, previous_entry=3)).text
    _, _, earlier = text.partition(Provenance.EARLIER.heading)
    assert "iota" in earlier.partition("\n### ")[0]
    headings = [line for line in text.split("\n") if line.startswith("### ")]
    assert len(headings) == len(set(headings))


def test_code_is_carried_on_a_second_time() -> None:
    once = summarize(span(*_WORK, previous=_SHOWN, previous_entry=3)).text
    told = told_in(SummarySection.CONTEXT, *_WORK, previous=once, previous_entry=3)
    assert [line for line in told if "iota" in line] == [
        line[2:] for line in once.split("\n") if "iota" in line
    ]


@pytest.mark.parametrize("previous", ["## Goal\n", "---", "```\n```"])
def test_an_earlier_summary_without_a_line_is_passed_over(previous: str) -> None:
    assert "frostTable" in summarize(span(*_WORK, previous=previous, previous_entry=3)).text


_BY_FILE = """3. Files and Code Sections:
   - **`src/frost.go`** (the table)
     - Added `frostRow` between header and rows
     - `src/frost.go` keeps the old `frostTable`
   - `src/valley.go`:
     - Renamed `valleyRow` everywhere
   - All rows of `frostTable` stay sorted
"""


def test_a_file_that_only_heads_its_items_is_no_line() -> None:
    previous = (
        "## Files and Code Sections\n- **`src/lexer.py`**\n  - Reads a table of states now\n"
        "- **`src/tree.py`**\n- **`src/walk.py`** (Created)\n  ```python\n  def walk(tree): ...\n  ```\n"
    )
    told = told_in(SummarySection.CONTEXT, previous=previous, previous_entry=3)
    assert "`src/lexer.py`: Reads a table of states now" in told
    assert "**`src/lexer.py`**" not in told
    # Nothing else names this one.
    assert "**`src/tree.py`**" in told


def test_the_words_above_items_lose_the_signs_of_their_emphasis() -> None:
    previous = (
        "## Files\n- **`src/frost.go`** (MODIFIED) - Major changes:\n  - Added `frostRow` to the table\n"
    )
    told = told_in(SummarySection.CONTEXT, *_WORK, previous=previous, previous_entry=3)
    assert "`src/frost.go` (MODIFIED) - Major changes: Added `frostRow` to the table" in told


def test_items_below_a_file_keep_its_name() -> None:
    """They fail where an item stands alone, or below another file, in the next summary."""
    told = told_in(SummarySection.CONTEXT, *_WORK, previous=_BY_FILE, previous_entry=3)
    assert "`src/frost.go`: Added `frostRow` between header and rows" in told
    assert "`src/frost.go` keeps the old `frostTable`" in told, "it names the file already"
    assert "`src/valley.go`: Renamed `valleyRow` everywhere" in told
    assert "All rows of `frostTable` stay sorted" in told
    again = summarize(
        span(
            *_WORK,
            previous="\n".join(["## Critical Context", *(f"- {line}" for line in told)]),
            previous_entry=3,
        )
    )
    assert again.text.count("`src/valley.go`: Renamed") == 1, "the next summary carries it on as it is"


_STOOD = """## Critical Context
- Still seeing compilation errors of the frost table in `frostRow`
- Error: "Frost table should have `frostRow` after the hook"
- `frostTable` of the session is empty after the hook runs
- The valley table fails silently with packed rows in `frostRow`
"""


def test_how_things_stood_then_is_over_once_they_were_worked_on() -> None:
    tests = [reply("", ("t", "bash", {"command": "npm test"})), result("t", "12 passed")]
    told = told_in(SummarySection.CONTEXT, *_WORK[:3], *tests, *_WORK[3:], previous=_STOOD, previous_entry=3)
    stood = [line[2:] for line in _STOOD.split("\n")[1:-1]]
    assert [line for line in stood if line in told] == stood[3:]
    told = told_in(SummarySection.CONTEXT, *_WORK, previous=_STOOD, previous_entry=3)
    assert [line for line in stood if line in told] == stood[1:]


def test_code_and_files_of_an_earlier_summary_that_were_written_anew_since_are_out() -> None:
    # Fails where a line of then stands beside the one that took its place.
    shown = _SHOWN.replace("  rowCount int", "  frostTotal int64\n  rowCount int")
    shown += (
        "- **`src/frost.go`** - Added the total of the rows\n- The total `frostTotal` is never negative\n"
    )
    given = {"path": "src/frost.go", "oldText": "frostTotal int64", "newText": "frostTotal uint64"}
    edited = [reply("", ("c", "edit", given)), result("c", "ok")]
    asked = user("and frostTotal counts what frostRow and rowCount have")
    before = "\n".join(told_in(SummarySection.CONTEXT, *_WORK, asked, previous=shown, previous_entry=3))
    after = "\n".join(
        told_in(SummarySection.CONTEXT, *_WORK, *edited, asked, previous=shown, previous_entry=3)
    )
    for line in ("`frostTotal int64`", "Added the total of the rows"):
        assert line in before
        assert line not in after
    for line in ("frostRowNone frostRow = iota", "is never negative"):
        assert line in after


def test_a_remark_on_the_work_is_neither_a_step_nor_work() -> None:
    previous = (
        "## Current Work\nThis was in response to the frost on the rows.\n"
        "## Next Steps\n- This directly follows the request about the frost table\n- Measure the frost of the valley\n"
    )
    looked = [reply("", ("a", "read", {"path": "src/frost.go"})), result("a", "package frost")]
    told = summarize(span(*looked, previous=previous, previous_entry=3)).text
    assert "Measure the frost of the valley" in told
    assert "in response to" not in told
    assert "directly follows" not in told


def test_what_was_in_progress_then_is_told_as_then_once_the_agent_went_on() -> None:
    """Without a request and without a change: the build may well be clean by now, as it is here."""
    previous = "## Goal\n- Port the frost table\n## Current Work\nThe rows do not compile because the frost table has a new column.\n"
    looked = [reply("", ("a", "bash", {"command": "make build"})), result("a", "ok")]
    told = summarize(span(*looked, previous=previous, previous_entry=3)).text
    assert told_in(SummarySection.IN_PROGRESS, *looked, previous=previous, previous_entry=3) == []
    _, _, earlier = told.partition(Provenance.EARLIER.heading)
    assert "The rows do not compile because" in earlier
    # Where nothing passed, it may well be so still.
    only_read = [reply("", ("a", "read", {"path": "src/frost.go"})), result("a", "package frost")]
    assert told_in(SummarySection.IN_PROGRESS, *only_read, previous=previous, previous_entry=3) == [
        "The rows do not compile because the frost table has a new column."
    ]
    quoted = previous.replace(
        "The rows do not compile because the frost table has a new column.",
        '"could we not print the rows by the valley?"',
    )
    asked = told_in(SummarySection.IN_PROGRESS, *looked, previous=quoted, previous_entry=3)
    assert asked == ['"could we not print the rows by the valley?"']


def test_a_report_that_names_nothing_is_left_out() -> None:
    """It fails where it is told as done: nobody knows what was fixed."""
    previous = "## Goal\n- Sort the frost table by day\n"
    looked = [reply("", ("a", "read", {"path": "src/frost.go"})), result("a", "package frost")]
    for said in ("Good, the fix is in place.", "Fixed — clean status, no errors."):
        more = [*looked, reply(f"{said} Added `sortRows` to the reader.")]
        told = work_told(*more, previous=previous, previous_entry=3)
        assert "Added `sortRows` to the reader." in told
        assert not any(said[:12] in line for line in told)


def test_the_last_of_the_users_messages_in_an_earlier_summary_is_the_last_request() -> None:
    # Before 2.1 the headings of Claude Code are bold.
    previous = (
        "Summary:\n1. **Primary Request and Intent:**\n   - Port the parser of orchard\n\n"
        '6. **All User Messages:**\n   - "port the parser\n     of orchard"\n   - "show me the crates"\n\n'
        "7. **Pending Tasks:**\n   - Measure the parser\n"
    )
    assert told_in(SummarySection.GOAL, *worked("src/a.py", "a"), previous=previous, previous_entry=3) == [
        "Last request: show me the crates",
        "Port the parser of orchard",
    ]
