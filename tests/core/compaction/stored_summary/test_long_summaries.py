"""Stored summaries of any size, whoever wrote them: the work grows with the text, not with its square."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.compaction.stored_summary.stored_summary import fitted, stored_parts
from leafward.compaction.stored_summary.summary_comparison import LineRelation, paired
from leafward.compaction.stored_summary.summary_lines import stored_lines
from tests.core.linear_time import in_linear_time

if TYPE_CHECKING:
    from collections.abc import Callable

MODIFIED = "<modified-files>\nb.txt\n</modified-files>"
LISTS = f"<read-files>\na.txt\n</read-files>\n\n{MODIFIED}"
MANY = 20_000


@pytest.mark.parametrize(
    ("text", "summary", "files"),
    [
        (f"Done.\n\n{LISTS}", "Done.", LISTS),
        (f"Done.\n\n\n{LISTS}\nMore.\n", "Done.\nMore.", LISTS),
        ("Done.\n<read-files>\na.txt", "Done.\n<read-files>\na.txt", ""),
        (f"<read-files>\n{MODIFIED}\n", "<read-files>", MODIFIED),
        ("<read-files>\n</read-files>", "<read-files>\n</read-files>", ""),
    ],
)
def test_file_lists_are_told_from_the_summary(text: str, summary: str, files: str) -> None:
    found = stored_parts(text)
    assert (found.summary, found.files) == (summary, files)


@pytest.mark.parametrize("text", ["Done." + "\n" * MANY + "More.", "<read-files>\n" * MANY])
def test_blank_lines_and_lists_that_are_never_closed(text: str) -> None:
    with in_linear_time():
        assert stored_parts(text).summary == text.rstrip("\n")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## Next Steps ##", "Next Steps"),
        ("# C#", "C"),
        ("# #", "#"),
        (f"# a{' ' * MANY}b", f"a{' ' * MANY}b"),
        (f"# a{'#' * MANY}b", f"a{'#' * MANY}b"),
    ],
)
def test_a_heading_is_its_title(line: str, title: str) -> None:
    with in_linear_time():
        (found,) = stored_lines(line)
    assert (bool(found.level), found.heading) == (True, title)


def test_thousands_of_lines_are_fitted() -> None:
    section = "\n".join(f"- line {number}" for number in range(MANY // 2))
    with in_linear_time():
        text, dropped = fitted(f"## Goal\n- stay\n## Progress\n{section}", 60)
    assert text == "## Goal\n- stay\n## Progress\n- line 0\n- line 1\n- line 2"
    assert dropped == MANY // 2 - 3


def numbered(form: str) -> list[str]:
    return [form.format(number) for number in range(2_000)]


@pytest.mark.parametrize("order", [list, lambda lines: lines[::-1]])
def test_thousands_of_lines_are_paired(order: Callable[[list[str]], list[str]]) -> None:
    old, new = numbered("tool{0} reads part{0} into vat{0}"), numbered("tool{0} writes part{0} into vat{0}")
    with in_linear_time():
        found = paired(old, order(new))
    assert {pair.mark for pair in found} == {LineRelation.CHANGED}
    assert len(found) == len(old)
