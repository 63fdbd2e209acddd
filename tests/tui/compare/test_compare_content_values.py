"""The contents of a file on the Compare screen, as values: lines, signs, folds, what they rest on."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.sides import sides
from leafward.session.session import Session
from leafward_tui.compare.model.compared_sides import Overall, compared_sides, looked_at
from leafward_tui.compare.model.content import Show, arranged_content
from leafward_tui.compare.model.content_lines import ContentLines, content_head, sentence
from leafward_tui.compare.model.files import FileLines, listed
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.acting import Acting, call
from tests.tui.compared import compared, content

if TYPE_CHECKING:
    from pathlib import Path


def test_side_by_side_every_line_of_both_is_there_once(both: Overall) -> None:
    laid = content(both, "src/store.py", fold=False)
    assert [row.old for row in laid.rows if row.old >= 0] == list(range(40))
    assert [row.new for row in laid.rows if row.new >= 0] == list(range(40))
    assert len(laid.changes) == 2


def test_what_is_the_same_folds_and_opens(both: Overall) -> None:
    laid = content(both, "src/store.py")
    folds = [row for row in laid.rows if row.kind == "fold"]
    assert [row.hidden for row in folds] == [30]
    opened = content(both, "src/store.py", opened={folds[0].block})
    assert len(opened.rows) == len(laid.rows) + 29
    drawn = ContentLines(laid, 120, UNICODE)
    at = next(y for y in range(len(drawn)) if drawn.block(y) >= 0)
    assert "30 lines the same" in drawn[at].text


def test_below_each_other_lines_that_went_come_first(both: Overall) -> None:
    drawn = ContentLines(content(both, "src/store.py"), 60, UNICODE)
    at = drawn.changes()[0]
    assert [drawn[at].text.split()[1:3], drawn[at + 1].text.split()[1:3]] == [["A", "line"], ["B", "line"]]
    assert drawn[at].text.rstrip().endswith("line two")
    assert {span.ground for span in drawn[at].spans} == {"ghost_tint"}
    assert {span.ground for span in drawn[at + 1].spans} == {"leaf_tint"}


@pytest.mark.parametrize("ancestor", ["A", "B"])
@pytest.mark.parametrize("width", [60, 120])
def test_signs_of_lines_are_those_of_the_list_of_files(tmp_path: Path, ancestor: str, width: int) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(call("write", "w", path="a.txt", content="one\ntwo\n"))
    file.answered("w", "write", "ok")
    old = file.said("ok")
    file.user("again")
    file.said(call("edit", "e", path="a.txt", oldText="two", newText="three"))
    file.answered("e", "edit", "ok")
    file.said("done")
    with closing(Session.open(file.path)) as session:
        ends = session.place, session.columns.index(old)
        seen = looked_at(compared_sides(sides(session, *(ends if ancestor == "B" else ends[::-1])), -1))
        assert seen.sides.ancestor_side == ancestor
        files = FileLines(listed(seen.sets, unfolded=True), 90, UNICODE, None)
        assert any("+1   −1" in line.text for line in files)
        drawn = ContentLines(
            arranged_content(SideContents(seen.sides).of(seen.sets.both[0])), width, UNICODE, ancestor
        )
        text = "\n".join(line.text for line in drawn)
        assert re.findall(r"([+−]) +(two|three)", text) in (
            [[("−", "two"), ("+", "three")]]
            if width == 60 or ancestor == "A"
            else [[("+", "three"), ("−", "two")]]
        )


def test_between_two_branches_a_line_has_the_letter_of_its_side(both: Overall) -> None:
    text = "\n".join(line.text for line in ContentLines(content(both, "src/store.py"), 120, UNICODE))
    assert "A line two" in text
    assert "B line 2" in text
    assert not {"+", "−"} & set(text)


def test_words_that_differ_stand_out(both: Overall) -> None:
    drawn = ContentLines(content(both, "src/store.py"), 120, UNICODE)
    spans = drawn[drawn.changes()[1]].spans
    assert "".join(span.text for span in spans if span.ink == "strong_leaf") == " B , of course"


def test_three_ways_each_region_has_the_letter_of_who_changed_it(both: Overall) -> None:
    laid = content(both, "src/store.py", Show.THREE_WAY)
    drawn = ContentLines(laid, 140, UNICODE)
    assert [drawn[at].text[0] for at in drawn.changes()] == ["A", "B"]
    assert "2 changes" in sentence(drawn, 0, 120, "…").text
    assert "merge would be clean" in sentence(drawn, 0, 120, "…").text
    from_ancestor = content(both, "src/store.py", Show.FROM_ANCESTOR)
    assert len(from_ancestor.changes) == 1
    assert "ancestor 40 lines" in content_head("src/store.py", from_ancestor, 120, UNICODE).text


def test_what_is_not_known_of_a_side_is_said_below_the_head(tmp_path: Path) -> None:
    """The head would say it of no side in particular."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("a prompt", fork)
    file.said(call("write", "a", path="src/a.py", content="one\n"))
    file.answered("a", "write", "ok")
    file.user("b prompt", fork)
    file.said("nothing to do")
    found = compared(file.path)
    laid = content(found, "src/a.py")
    assert content_head("src/a.py", laid, 100, UNICODE).text.split() == [
        "src/a.py",
        "A",
        "1",
        "line",
        "B",
        "unknown",
    ]
    known = [row.words for row in laid.rows if row.words.startswith(("A ", "B "))]
    assert known == ["A   rebuilt from 1 edit", "B   not known: no call up to here touched it"]
    found.sides.session.close()


def test_what_a_content_rests_on_is_said_of_each_side(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(call("write", "a", path="a.py", content="one\ntwo\n"))
    fork = file.answered("a", "write", "ok")
    file.user("a prompt", fork)
    for number, (old, new) in enumerate((("one", "1"), ("two", "2"))):
        file.said(call("edit", f"b{number}", path="a.py", oldText=old, newText=new))
        file.answered(f"b{number}", "edit", "ok")
    file.user("b prompt", fork)
    file.said("nothing to do")
    found = compared(file.path)
    laid = content(found, "a.py")
    assert "A rebuilt from 3 edits; B rebuilt from 1 edit" in content_head("a.py", laid, 100, UNICODE).text
    assert "rebuilt" not in content_head("a.py", laid, 60, UNICODE).text
    found.sides.session.close()


def test_what_is_not_known_is_named(both: Overall) -> None:
    laid = content(both, "docs/[/nope].md")
    text = "\n".join(line.text for line in ContentLines(laid, 100, UNICODE))
    assert "never read as a whole" in text or "hostile" in text
    assert not {"\x1b", "\x07"} & set(text)


def test_a_file_that_one_side_has_is_all_its_lines(both: Overall) -> None:
    laid = content(both, "notes/only-a.md")
    assert laid.difference.base.certainty.value in ("unknown", "absent")
    drawn = ContentLines(laid, 100, UNICODE)
    assert "# A" in "\n".join(line.text for line in drawn)


def test_binary_is_said_and_not_drawn(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path="data.bin", content=f"{name}\0\x01"))
        file.answered(name, "write", "ok")
    found = compared(file.path)
    text = "\n".join(line.text for line in ContentLines(content(found, "data.bin"), 100, UNICODE))
    assert text == "A: binary, 3 bytes\nB: binary, 3 bytes"
    found.sides.session.close()


def test_words_are_looked_for_when_a_row_is_drawn(both: Overall) -> None:
    laid = content(both, "src/store.py")
    assert not laid.words
    changed = next(line for line in ContentLines(laid, 120, UNICODE) if "two" in line.text)
    assert any(span.ink.startswith("strong_") and span.text == "two" for span in changed.spans)
    assert laid.words


class Unsearched(list[int]):
    """Numbers that nobody looks through: of many changes each would be looked through for each line."""

    def __contains__(self, _one: object) -> bool:
        raise AssertionError("looked through")


def test_lines_below_each_other_do_not_look_through_all_changes(both: Overall) -> None:
    laid = content(both, "src/store.py")
    laid.changes = Unsearched(laid.changes)
    assert len(ContentLines(laid, 60, UNICODE)) > 0
