"""The lines under a narrow tree: the last words of a turn and the files it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.files.working_set import FileChange
from leafward_tui.explorer.controllers.cursor_details import SETTLE
from leafward_tui.explorer.controllers.glance import glance
from leafward_tui.explorer.widgets.peek import TurnDigest
from tests.acting import Acting, call, reading
from tests.tui.explored import NARROW, WIDE, exploring
from tests.tui.session_store import rows, until
from tests.tui.without_screen import Silent

if TYPE_CHECKING:
    from pathlib import Path

LONG = "The log agrees with the theory: 61 job ids appear twice in 4118 lines, always 1 to 4 ms apart, always two workers"


def test_where_no_file_was_changed_the_words_have_both_lines() -> None:
    assert " ".join(TurnDigest("ai", LONG, ()).words(70, "\u2026")) == LONG
    assert len(TurnDigest("ai", LONG, ()).words(70, "\u2026")) == 2
    changed = (FileChange("a.py", 1, 2, 1),)
    assert len(TurnDigest("ai", LONG, changed).words(70, "\u2026")) == 1


def test_who_spoke_is_a_whole_word_with_a_gap_behind_it() -> None:
    assert TurnDigest("extension", LONG, ()).label == "ext"
    assert TurnDigest("ai", LONG, ()).label == "ai"
    assert TurnDigest("exec_command", LONG, ()).label == "exec_command"
    assert TurnDigest("multi_edit_of_all", LONG, ()).label == "multi_edit_\u2026"


def test_of_a_summary_the_lines_say_what_it_tells(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("one")
    file.said("ok")
    file.entry("branch_summary", fork, fromId=fork, summary="## Goal\n- Ship it.\n\n## Next Steps\n- A test.")
    file.compacted(file.user("go on"), "  \n")
    job: Any = Silent()
    with reading(file.path) as session:
        glances = [glance(session, [range(at, at + 1)], at, -1, "", job) for at in (2, 4)]
    assert glances[0][:2] == ("sum", "Goal - Ship it. Next Steps - A test.")
    assert glances[1].text.startswith("compaction"), "without text the row says all there is"


def test_of_a_hit_the_lines_show_the_words_around_it(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said(call("bash", "c", command="make quinces"))
    file.answered("c", "bash", "one line of output before it, and then the LEASE of the worker ends here")
    file.said("All is well.")
    job: Any = Silent()
    with reading(file.path) as session:
        spans = [range(4)]
        found = glance(session, spans, 0, 2, "lease", job)
        assert found.word == "bash"
        assert found.text == "before it, and then the LEASE of the worker ends here"
        assert found.words(70, "…")[0].startswith("…before it")
        assert found.hit == "lease"
        assert glance(session, spans, 0, -1, "", job).text == "All is well."


async def test_a_narrow_search_shows_its_hit_below_the_tree(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said("The lease ends.")
    file.user("and then")
    file.said("One quince, two quinces, and the fruit of the third: a quince tree again.")
    async with exploring(file.path, NARROW) as (pilot, _screen):
        await pilot.press("slash", *"lease", "enter")
        await until(pilot, lambda: any(row.startswith(" ai     The lease") for row in rows(pilot.app)))


async def test_when_a_search_ends_the_lines_no_longer_show_its_hit(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("what does the log say?")
    file.said(f"{'It is long. ' * 60}A lease was lost. {'And it goes on. ' * 60}The end.")
    async with exploring(file.path, NARROW) as (pilot, _screen):
        await until(pilot, lambda: any("It is long." in row for row in rows(pilot.app)))
        await pilot.press("slash", *"lease", "enter")
        await until(pilot, lambda: any("A lease was lost." in row for row in rows(pilot.app)))
        await pilot.press("escape")
        await until(pilot, lambda: not any("A lease was lost." in row for row in rows(pilot.app)))


async def test_a_screen_that_becomes_narrow_has_the_lines(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said("The lease ends.")
    async with exploring(file.path, WIDE) as (pilot, _screen):
        await until(pilot, lambda: any("The lease ends." in row for row in rows(pilot.app)))
        await pilot.pause(SETTLE * 2)
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: any(row.startswith(" ai     The lease") for row in rows(pilot.app)))
