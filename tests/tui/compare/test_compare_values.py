"""Contents of the panes of the Compare screen, as values."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.cells import cell_len

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.sides import sides
from leafward.export.demo import demo_session
from leafward.session.session import Session
from leafward_tui.compare.model.carried_summary import carried_over, lacking
from leafward_tui.compare.model.compared_sides import Overall, compared_sides, looked_at
from leafward_tui.compare.model.content import Show, arranged_content
from leafward_tui.compare.model.content_lines import ContentLines, content_head
from leafward_tui.compare.model.context_page import context_page, spoken
from leafward_tui.compare.model.files import FOLD, Column, FileLines, arranged, column_head, listed
from leafward_tui.compare.model.outcome_page import figures, outcome_page
from leafward_tui.compare.model.side_column import side_column
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.text.cells import exact
from tests.acting import NO_COST, Acting, call, usage
from tests.tui.compared import compared, content, parted

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.appearance.glyphs import Glyphs


def never() -> bool:
    return False


def widths(lines: Any, most: int) -> set[int]:
    return {cell_len(line.text) for line in lines if cell_len(line.text) > most}


def test_each_file_stands_in_one_column(both: Overall) -> None:
    names = {
        column: [item.file.path for item in arranged(both.sets, column, unfolded=True) if item.file]
        for column in Column
    }
    assert names == {
        Column.A: ["notes/only-a.md"],
        Column.BOTH: ["src/store.py"],
        Column.B: ["docs/[/nope].md"],
    }
    assert sum(item.file is not None for item in listed(both.sets, unfolded=True)) == len(both.sets)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [24, 33, 70, 140])
def test_lines_fit_their_width(both: Overall, glyphs: Glyphs, width: int) -> None:
    for column in (*Column, None):
        items = arranged(both.sets, column, unfolded=False) if column else listed(both.sets, unfolded=False)
        assert not widths(FileLines(items, max(width, 33), glyphs, column), max(width, 33))
        assert cell_len(column_head(column, both.sets, max(width, 44), glyphs).text) == max(width, 44)
    assert not widths(side_column(both, carried_over(both.sides, never), width, glyphs), width)
    for show in Show:
        laid = content(both, "src/store.py", show)
        assert not widths(ContentLines(laid, max(width, 33), glyphs), max(width, 33))
        assert cell_len(content_head("src/store.py", laid, width, glyphs).text) <= max(width, 20)
    messages = spoken(both.sides.session, both.contexts, never)
    wide = max(width, 84)
    assert not widths(context_page(both, messages, wide, glyphs), wide)
    assert not widths(outcome_page(both, wide, glyphs), wide)


def test_messages_have_the_words_that_they_have_in_the_tree(tmp_path: Path) -> None:
    """Not the roles of pi's format; a result has the name of its tool, and what was called instead of what came."""
    file = Acting(tmp_path / "s.jsonl")
    start = file.user("begin")
    for word in ("left", "right"):
        file.leaf = start
        file.said(word, call("read", word, path="a.py"))
        file.answered(word, "read", "one line")
        file.entry("custom_message", customType="note", content="an extension says so", display=True)
    found = compared(file.path)
    with closing(found.sides.session) as session:
        messages = spoken(session, found.contexts, never)
        text = "\n".join(line.text for line in context_page(found, messages, 80, UNICODE))
    assert [one.word for one in messages] == ["you", "ai", "read", "extension", "ai", "read", "extension"]
    assert [one.text for one in messages if one.word == "read"] == ["a.py", "a.py"]
    assert "extension an extension says so" in text


def test_the_columns_of_the_contexts_keep_their_titles_apart_at_eighty_cells(both: Overall) -> None:
    head = next(line.text for line in context_page(both, None, 78, UNICODE) if "summary" in line.text)
    titles = ["system", "summary", "kept", "messages", "not in file", "est. error", "total"]
    assert re.split(r"  +", head.strip()) == titles
    head = next(line.text for line in context_page(both, None, 118, UNICODE) if "summary" in line.text)
    assert "  estimation error" in head


def test_every_figure_of_a_ledger_is_whole_at_eighty_cells(both: Overall) -> None:
    """With tokens that are not sent there is one column more."""
    full = replace(both.contexts.ledgers[0], summary=10_101, kept=12_345, unsent=1_033, after=133_338)
    contexts = SimpleNamespace(prefix=3, prefix_tokens=99, same_model=True, why=(), ledgers=(full, full))
    seen = replace(both, contexts=cast("Any", contexts))
    lines = [line.text for line in context_page(seen, None, 78, UNICODE)]
    row = next(line for line in lines if line.startswith("A  "))
    assert not widths(context_page(seen, None, 78, UNICODE), 78)
    assert {"10,101", "12,345", "1,033", "133,338", exact(full.total)} <= set(row.split())
    assert any("unsent" in line and line.endswith(" total") for line in lines)


def test_a_side_that_ends_at_the_common_ancestor_has_no_outcome_of_its_own(tmp_path: Path) -> None:
    with closing(Session.open(parted(tmp_path / "s.jsonl").path)) as session:
        (fork,) = session.tree.branch_points()
        seen = looked_at(compared_sides(sides(session, session.place, fork), -1))
        for page in (side_column(seen, (), 44, UNICODE), outcome_page(seen, 118, UNICODE)):
            text = "\n".join(line.text for line in page)
            assert "nothing after the common ancestor" in text
            assert "no reply" not in text
        column = [line.text.strip() for line in side_column(seen, (), 44, UNICODE)]
        after = column[column.index("B  nothing after the common ancestor") + 1]
        assert not after


def test_the_bars_of_the_contexts_name_their_scale(both: Overall) -> None:
    assert "full bar 6.0k" in side_column(both, (), 44, UNICODE)[0].text
    narrow = [line.text for line in side_column(both, (), 24, UNICODE)]
    assert "full bar" not in narrow[0]
    # What the shorter one lacks is no free part of a window.
    assert UNICODE.block_free not in "".join(narrow)


def test_both_ends_are_called_by_the_turn_that_they_are_in(tmp_path: Path) -> None:
    """The tree shows a turn by its prompt, also where only a reply lies behind the common ancestor."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("first prompt")
    file.said("first reply")
    file.user("second prompt")
    file.said("second reply")
    with closing(Session.open(file.path)) as session:
        seen = looked_at(compared_sides(sides(session, session.place, session.place - 2), -1))
        assert [one.words for one in seen.named] == ["second prompt", "first prompt"]
        seen = looked_at(compared_sides(sides(session, session.place, session.place - 1), -1))
        assert [one.words for one in seen.named] == ["second prompt", "second prompt"]
        seen = looked_at(compared_sides(sides(session, session.place, -1), -1))
        assert [one.words for one in seen.named] == ["second prompt", "before everything"]


def test_a_cache_of_another_model_is_not_called_reusable(both: Overall) -> None:
    reusable = "reusable from the prompt cache"
    assert reusable in context_page(both, None, 118, UNICODE)[0].text
    there = replace(both.contexts.b, model="another-model")
    other = replace(both, contexts=replace(both.contexts, b=there))
    assert reusable not in context_page(other, None, 118, UNICODE)[0].text


def test_it_is_said_which_branch_lacks_the_facts_and_whose_tokens_are_summed(both: Overall) -> None:
    holder = "A" if both.named[0].leaf else "B"
    assert lacking((), both.named) == f"of {'B' if holder == 'A' else 'A'} that {holder} lacks"
    page = outcome_page(both, 78, UNICODE)
    assert any(line.text.startswith("tokens of all requests") for line in page)


def test_ascii_says_everything_in_ascii(both: Overall) -> None:
    lines = [
        *FileLines(listed(both.sets, unfolded=False), 90, ASCII, None),
        *side_column(both, (), 34, ASCII),
        *ContentLines(content(both, "src/store.py"), 120, ASCII),
        *outcome_page(both, 100, ASCII),
    ]
    assert not [line.text for line in lines if not line.text.isascii()]


def test_files_that_neither_side_touched_are_more_only_beside_others(tmp_path: Path) -> None:
    file = Acting(tmp_path / "idle.jsonl")
    file.user("go")
    for name in ("a", "b"):
        file.said(call("write", name, path=f"src/{name}.py", content="one\n"))
        file.answered(name, "write", "ok")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said("nothing to do")
    found = compared(file.path)
    lines = FileLines(listed(found.sets, unfolded=False), 78, UNICODE, None)
    assert [line.text.strip() for line in lines if "not touched" in line.text] == [
        "= 2, not touched by either"
    ]
    found.sides.session.close()


def test_one_above_the_other_and_the_same_entry(both: Overall) -> None:
    session = both.sides.session
    place = session.place
    above = int(session.tree.path(place)[1])
    assert looked_at(compared_sides(sides(session, above, place), -1)).plain == "A is an ancestor of B"
    assert looked_at(compared_sides(sides(session, place, above), -1)).plain == "B is an ancestor of A"
    assert looked_at(compared_sides(sides(session, place, place), -1)).plain == "A and B are the same entry"
    assert both.plain == ""
    found = looked_at(compared_sides(sides(session, place, above), -1)).sides
    rows = {name: (a, b) for name, a, b in figures((found.a, found.b), UNICODE)}
    assert rows["duration"][0] != "not in file"
    assert rows["duration"][1] == rows["turns"][1] == UNICODE.zero, "of no entries nothing is unknown"


def test_the_messages_of_both_contexts_are_all_there(both: Overall) -> None:
    messages = spoken(both.sides.session, both.contexts, never)
    in_a = sum(one.tokens for one in messages if one.letter != "B")
    assert in_a == sum(one.tokens for one in both.contexts.a.messages)
    assert [one.letter for one in messages[:4]] == ["", "", "", ""]


def test_the_outcome_says_checks_and_errors(both: Overall) -> None:
    text = "\n".join(line.text for line in outcome_page(both, 100, UNICODE))
    assert "× failed, 1 run" in text
    assert "not run" in text
    assert "A is done" in text
    side = "\n".join(line.text for line in side_column(both, (), 34, UNICODE))
    assert "× test failed" in side
    assert "Nothing carried over" in side


def test_a_summary_of_one_side_on_the_other_is_found(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    fork = file.said("ok")
    file.user("branch A", fork)
    left = file.said("A is done")
    carried = file.entry("branch_summary", fork, summary="## Goal\nA was tried", fromId=left)
    file.user("branch B", carried)
    file.said("B is done")
    found = compared(file.path)
    (one,) = carried_over(found.sides, never)
    assert (one.holder, one.stands_for) == ("B", 2)
    text = "\n".join(line.text for line in side_column(found, (one,), 34, UNICODE))
    assert "summary of A in B, 2 messages" in text
    wanting = one._replace(missing=("first", "second", "third"))
    text = "\n".join(line.text for line in outcome_page(found, 60, UNICODE, (wanting,)))
    assert "summary of A, 2 messages" in text
    assert all(f"{fact} is not in it" in text for fact in wanting.missing)
    found.sides.session.close()


def test_the_pair_of_the_real_session(corpora: Path) -> None:
    session = Session.open(corpora / "pi" / "branched.jsonl")
    with closing(session):
        both = sides(session, session.find("#571"), session.find("#677"))
        found = looked_at(compared_sides(both, session.find("#571")))
        assert (found.sides.ancestor, found.named[0].mark, found.named[1].leaf) == (503, True, True)
        assert FOLD in {item.key for item in arranged(found.sets, Column.BOTH, unfolded=False)}
        text = "\n".join(
            line.text
            for line in FileLines(arranged(found.sets, Column.BOTH, unfolded=False), 70, UNICODE, Column.BOTH)
        )
        assert "edited in both" in text


def test_the_branches_of_the_demo_have_all_states() -> None:
    with demo_session() as path, closing(Session.open(path)) as session:
        a = next(iter(session.tree.leaves()))
        found = looked_at(compared_sides(sides(session, a, session.place), -1))
        merges = set()
        contents = SideContents(found.sides)
        for file in (*found.sets.only_a, *found.sets.both, *found.sets.only_b):
            laid = arranged_content(contents.of(file))
            merges.add(laid.difference.merge.value)
            assert len(ContentLines(laid, 120, UNICODE)) > 0
        assert {"conflict", "one side", "unknown"} <= merges


def unlike(path: Path) -> Acting:
    """Files whose branches differ in what is not seen, a name that is gone, one that is huge, and one that is another now."""
    file = Acting(path)
    file.user("write them")
    for name in ("ends", "last", "gone", "old"):
        file.said(call("write", name, path=f"{name}.txt", content="one\r\ntwo\r\n"))
        file.answered(name, "write", "ok")
    fork = file.said("written")
    file.user("A", fork)
    for name, made in (
        ("ends", "one\ntwo\n"),
        ("last", "one\r\ntwo"),
        ("tabs", "\tone\ntwo \n"),
        ("huge", "a\n" * 3_000_000),
    ):
        file.said(call("write", f"a-{name}", path=f"{name}.txt", content=made))
        file.answered(f"a-{name}", "write", "ok")
    file.said(call("bash", "m", command="rm gone.txt && mv old.txt new.txt"))
    file.answered("m", "bash", "")
    file.said("A is done")
    file.user("B", fork)
    for name, made in (
        ("huge", "b\n" * 3_000_000),
        ("tabs", "    one\ntwo\n"),
        ("tail", "".join(f"{number}\n" for number in range(14))),
    ):
        file.said(call("write", f"b-{name}", path=f"{name}.txt", content=made))
        file.answered(f"b-{name}", "write", "ok")
    for name in ("gone", "old"):
        file.said(call("edit", f"b-{name}", path=f"{name}.txt", oldText="two", newText="three"))
        file.answered(f"b-{name}", "edit", "ok")
    file.said("B is done")
    return file


def test_what_differs_is_told_where_it_is_not_seen(tmp_path: Path) -> None:
    both = compared(unlike(tmp_path / "s.jsonl").path)

    def told(path: str, width: int = 120) -> str:
        return "\n".join(line.text.rstrip() for line in ContentLines(content(both, path), width, UNICODE))

    assert told("ends.txt").count("CRLF") == 2
    assert "CRLF" not in told("gone.txt")
    assert told("last.txt").count("no newline") == 1
    assert told("tabs.txt").count("other spaces") == 4
    assert told("tabs.txt", 60).count("other spaces") == 4
    assert "other spaces" not in told("ends.txt")
    assert told("huge.txt").startswith("huge, 12,000,000 characters")
    known = told("tail.txt")
    assert "2 more lines known" in known
    assert "12   11" in known
    files = {item.file.path: item for item in listed(both.sets, unfolded=True) if item.file}
    lines = {path: FileLines([item], 100, UNICODE, Column.BOTH)[0].text for path, item in files.items()}
    assert "deleted in A  edited in both" in lines["gone.txt"]
    assert "moved in A" in lines["old.txt"]
    assert "old.txt → new.txt" in lines["old.txt"]
    assert "+3000k" not in lines["huge.txt"]
    assert "+3.0M" in lines["huge.txt"]
    both.sides.session.close()


def test_errors_are_told_where_there_is_no_room_for_the_cost(both: Overall) -> None:
    text = "\n".join(line.text for line in side_column(both, (), 30, UNICODE))
    assert "test failed  1 error" in text


def test_a_cost_stays_where_only_the_word_that_nothing_went_wrong_has_no_room(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said("A", parent=fork)
    file.user("B", fork)
    file.said(call("bash", "one", command="npm test"), call("bash", "two", command="npm run build"))
    file.answered("one", "bash", "ok")
    file.answered("two", "bash", "ok")
    file.said("done", tokens=usage(900, cost={**NO_COST, "total": 2.5}))
    both = compared(file.path)
    for width, errors in ((32, ""), (60, "0 errors")):
        (line,) = (line.text for line in side_column(both, (), width, UNICODE) if "✓ test" in line.text)
        assert line.split("✓ test")[1].split() == [*["✓", "build"], *errors.split(), "$2.50"]
    both.sides.session.close()


def test_a_size_that_no_provider_counted_has_its_sign(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said("A", parent=fork, tokens=usage(900))
    file.user("B" * 400, fork)
    both = compared(file.path)
    sizes = {one.letter: one.size for one in both.named}
    assert sizes["A"] == "900"
    assert sizes["B"].startswith("~")
    bars = [line.text for line in side_column(both, (), 40, UNICODE)]
    assert any(line.startswith("B") and line.endswith(f" {sizes['B']}") for line in bars)
    totals = [
        line.text.split()[-1]
        for line in context_page(both, (), 100, UNICODE)
        if line.text[:3] in ("A  ", "B  ")
    ]
    assert totals[0] == "900"
    assert totals[1].startswith("~")
    both.sides.session.close()


def test_the_outcome_says_what_was_stopped_and_how_often_a_check_failed(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said("A", parent=fork)
    file.user("B", fork)
    for name, failed in (("one", True), ("two", False)):
        file.said(call("bash", name, command="npm test"))
        file.answered(name, "bash", "Command exited with code 1" if failed else "ok", failed=failed)
    file.said("never mi", stop="aborted")
    both = compared(file.path)
    told = {
        line.text.split()[0]: line.text.split()
        for line in outcome_page(both, 90, UNICODE)
        if line.text.strip()
    }
    assert told["aborted"][1:] == ["·", "1"]
    assert " ".join(told["test"]).endswith("ok, 2 runs, 1 failed")
    both.sides.session.close()


def test_a_command_that_the_user_ran_has_its_sign_at_the_head_too(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    fork = file.said("ok")
    file.user("go on")
    file.leaf = fork
    file.entry("message", message={"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 0})
    with closing(Session.open(file.path)) as session:
        seen = looked_at(compared_sides(sides(session, 2, 3), -1))
    assert [one.words for one in seen.named] == ["go on", "! ls"]
