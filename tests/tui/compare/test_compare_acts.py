"""Writes from a comparison: grafts, merged summaries, pinned facts; and edits for the model."""

from __future__ import annotations

import threading
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches.transfer.fact_pins import draft_pins
from leafward.branches.transfer.summary_merge import Conflict
from leafward.export.documents import comparison
from leafward.session.entries import EntryIndex, Kind
from leafward.session.session import Session
from leafward_tui.compare.controllers import loader, transfer
from leafward_tui.compare.graft_choice import graft_turns
from leafward_tui.compare.graft_sheet import GraftSheet, turn_lines, validation
from leafward_tui.compare.merge_sheet import MergeSheet, conflict_lines, from_difference
from leafward_tui.compare.screen import CompareScreen
from leafward_tui.explorer.controllers.context_edit import edit_drafts, effect_of, size_note
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.key_help import HelpScreen
from tests.acting import Acting, call, reading
from tests.tui.compared import HIGH, compared, comparing, parted, settled
from tests.tui.explored import chosen, exploring, lines, note
from tests.tui.session_store import HELD, files_written, reached, rested, rows, shown, until
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.branches.transfer.summary_merge import MergeDraft
    from leafward.export.documents.comparison import Comparison
    from leafward_tui.compare.model.compared_sides import ComparedSides


async def test_turns_of_the_other_side_are_grafted(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(screen.state.session)
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        assert "Graft the turns of A" in shown(pilot)
        assert "is on the path already: choose turns of another branch" in shown(pilot)
        await pilot.press("a")
        await until(pilot, lambda: len(screen.state.session) > before and not explorer.state.busy)
        assert pilot.app.screen is explorer
        assert "grafted 8 entries of A" in note(explorer)
        await pilot.press("u")
        await until(pilot, lambda: "undid" in note(explorer))


async def test_no_note_on_work_stays_where_its_sheet_is_not_wanted_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, free = Event(), Event()
    made = transfer.carry_drafts

    def held(*args: Any) -> Any:
        begun.set()
        free.wait(HELD)
        return made(*args)

    monkeypatch.setattr(transfer, "carry_drafts", held)
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _explorer, screen):
        await pilot.press("M")
        await until(pilot, begun.is_set)
        assert "working out" in shown(pilot)
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        free.set()
        await rested(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await pilot.pause()
        assert "working out" not in shown(pilot)


async def test_a_sheet_of_the_comparison_says_that_the_session_has_changed_under_it(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, _explorer, screen):
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        assert "the session has changed" not in shown(pilot)
        file.user("and now?")
        await until(pilot, lambda: "the session has changed" in shown(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: "session has changed" in rows(pilot.app)[0])


async def test_nothing_is_merged_of_what_is_on_the_path(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with exploring(file.path, HIGH) as (pilot, explorer):
        session = sure(explorer.state.session)
        explorer.controllers.comparison.open(0, session.place)
        screen = await reached(pilot, CompareScreen)
        await until(pilot, lambda: screen.state.read.carried is not None and settled(screen))
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        assert "both are on the path already" in shown(pilot)
        assert "no conflict" not in shown(pilot)


def test_turns_to_graft_are_those_of_the_branch(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    both = compared(file.path)
    session = both.sides.session
    turns = graft_turns(session, both.sides.a.entries)
    assert [turn.words for turn in turns] == ["branch A: the begin"]
    assert [at for turn in turns for at in turn.entries] == list(both.sides.a.entries)
    for glyphs in (UNICODE, ASCII):
        (line,) = turn_lines(turns, {0}, 40, glyphs)
        assert line.text.startswith(f"[{glyphs.ok}] branch A")
    assert validation("it does not fit", "space", 40, ASCII)[0].text == "x it does not fit"
    assert validation(None, "f5", 40, ASCII)[0].text == "choose turns with f5"
    assert validation(None, "", 40, ASCII)[0].text == "choose turns"
    session.close()


async def test_single_turns_are_grafted_after_a_look(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    file.leaf = next(line["id"] for line in lines(file.path) if "A is done" in str(line))
    file.user("branch A: more")
    file.said("more of A")
    last = next(line["id"] for line in lines(file.path) if "B is done" in str(line))
    file.user("on with B", last)
    file.said("B goes on")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(lines(file.path))
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        assert "B is on the path already" in shown(pilot)
        await pilot.press("c")
        sheet = await reached(pilot, GraftSheet)
        assert len(sheet.choice.turns) == 2
        assert "branch A: more" in "\n".join(rows(pilot.app)[:6])  # the comparison is seen behind it
        await pilot.press("ctrl+s")
        assert sheet.is_current
        await pilot.press("space")
        await until(pilot, lambda: sheet.choice.ready is not None)
        assert "src/store.py: the grafted turns relied on another version of it" in shown(pilot)
        await pilot.press("k", "space", "j", "space")
        await until(pilot, lambda: sheet.choice.chosen == {1} and sheet.choice.ready is not None)
        assert "everything fits there" in shown(pilot)
        assert "append 3 lines to the session's file" in shown(pilot)
        assert len(lines(file.path)) == before
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.state.busy)
        assert "grafted 2 entries of A" in note(explorer)
        assert len(lines(file.path)) == before + 3
        assert explorer.state.session is not None
        kinds = [explorer.state.session.columns.kind[at] for at in range(before - 1, before + 1)]
        assert kinds == [Kind.USER, Kind.ASSISTANT]
        assert screen.state.read.ends


async def test_summaries_are_merged_as_in_a_merge_tool(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        before = len(screen.state.session)
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        await pilot.press("m")
        sheet = await reached(pilot, MergeSheet)
        conflicts = len(sheet.draft.conflicts)
        assert conflicts > 0
        first = sheet.conflicts.key
        await pilot.press("j")
        await pilot.press("ctrl+s")
        assert sheet.is_current
        assert f"decide this one first: {conflicts} left to decide" in shown(pilot)
        assert sheet.conflicts.key == first
        await pilot.press("1", *"2" * (conflicts - 1))
        assert "append 1 branch summary below the leaf" in shown(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(screen.state.session) > before and not explorer.state.busy)
        assert "appended the merged summary" in note(explorer)
        stored = lines(file.path)[-1]
        assert stored["type"] == "branch_summary"
        assert "branch A: the begin" in stored["summary"]


async def test_a_key_that_needs_both_sides_says_that_they_are_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, gate = loader.sides_of, Event()

    def held(*given: Any) -> ComparedSides:
        gate.wait(HELD)
        return read(*given)

    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        monkeypatch.setattr(loader, "sides_of", held)
        await pilot.press("V")
        for key in ("M", "e", "p", "slash", "V"):
            await pilot.press(key)
            assert "both sides are still being read" in rows(pilot.app)[-1]
        assert pilot.app.screen is screen
        gate.set()
        await until(pilot, lambda: screen.state.read.overall is not None)
        await until(pilot, lambda: "still being read" not in rows(pilot.app)[-1])
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)


@pytest.mark.parametrize("leaves", [False, True])
async def test_an_export_is_written_although_another_is_asked_for_while_it_is_made_and_the_screen_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    read, gate = comparison.comparison_of, Event()

    def held(*given: Any, **more: Any) -> Comparison:
        gate.wait(HELD)
        return read(*given, **more)

    monkeypatch.setattr(comparison, "comparison_of", held)
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for form in "mom":
            await chosen(pilot, "e", form)
        if leaves:
            await pilot.press("q")
            await until(pilot, lambda: not screen.is_attached)
        gate.set()
        await until(pilot, lambda: len(files_written(folder)) == 3)
        assert sorted(path.suffix for path in files_written(folder)) == [".json", ".md", ".md"]
        await until(pilot, lambda: len(pilot.app._notifications) == 3)


@pytest.mark.parametrize("key", ["m", "c"])
async def test_the_keys_of_a_sheet_stay_in_sight_where_the_terminal_becomes_smaller(
    tmp_path: Path, key: str
) -> None:
    file = parted(tmp_path / "s.jsonl")
    ends = [line["id"] for line in lines(file.path) if " is done" in str(line)]
    for number in range(30):
        file.user(f"branch A goes on {number}", *ends[: not number])
        file.said("so it does")
    file.user("and B", ends[1])
    async with comparing(file.path) as (pilot, _, _screen):
        await pilot.press("M")
        await reached(pilot, ChoiceSheet)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(pilot.app.screen, MergeSheet | GraftSheet))
        await pilot.resize_terminal(80, 20)
        await until(pilot, lambda: "esc cancel" in rows(pilot.app)[-1])


async def test_a_fact_is_pinned_below_the_leaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def watched(*given: Any) -> MergeDraft:
        threads.append(threading.get_ident())
        return draft_pins(*given)

    monkeypatch.setattr("leafward.branches.transfer.fact_pins.draft_pins", watched)
    file = parted(tmp_path / "s.jsonl")
    async with comparing(file.path) as (pilot, explorer, screen):
        await until(pilot, lambda: screen.state.read.summaries is not None)
        before = len(screen.state.session)
        await pilot.press("p")
        sheet = await reached(pilot, ChoiceSheet)
        fact = sheet.rows.choices[0].title
        await pilot.press("a")
        await until(pilot, lambda: len(screen.state.session) > before and not explorer.state.busy)
        assert "pinned 1 fact" in note(explorer)
        stored = lines(file.path)[-1]
        assert stored["type"] == "branch_summary"
        # A pin is a sentence that says of the fact what it is.
        assert stored["summary"] == f"## Critical Context\n- The tool `write` was called with: {fact}"
        assert len(lines(file.path)) == before + 2
    # Both branches are read through for secrets.
    assert len(threads) == 1
    assert threading.get_ident() not in threads


# --- edits for the model ---


async def test_a_row_is_edited_for_the_model(tmp_path: Path) -> None:
    file = parted(tmp_path / "s.jsonl")
    async with exploring(file.path) as (pilot, explorer):
        before = len(lines(file.path))
        await pilot.press("E")
        await reached(pilot, ChoiceSheet)
        assert "frees" in shown(pilot)
        assert f" {UNICODE.arrow} ~" in shown(pilot)
        await pilot.press("o")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.state.busy)
        assert "left out in the context" in note(explorer)
        assert {line["type"] for line in lines(file.path)[before:]} == {"context_edit"}


def test_sizes_that_are_rounded_alike_are_told_apart() -> None:
    draft: Any = SimpleNamespace(saved=18, tokens_before=9_631, tokens_after=9_613)
    assert effect_of(draft, "append", ">")[0] == "frees ~18 tokens: 9,631 > ~9,613"
    draft = SimpleNamespace(saved=800, tokens_before=9_631, tokens_after=8_831)
    assert effect_of(draft, "append", ">")[0] == "frees ~800 tokens: 9.6k > ~8.8k"


def test_where_an_edit_frees_far_more_than_its_row_has_the_sheet_says_why() -> None:
    draft: Any = SimpleNamespace(cut=168, counted="more")
    assert size_note(draft).startswith("the provider counted more than the ~168 tokens")
    draft.counted = ""
    assert not size_note(draft)


def test_of_a_call_and_its_result_the_result_is_what_another_text_stands_for(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(call("bash", "1", command="ls"))
    file.answered("1", "bash")
    with reading(file.path) as session:
        drafts = edit_drafts(session, [1, 2], 200, WANTED)
        assert (drafts.targets, drafts.replaced, drafts.text_of) == ((1, 2), (2,), "result")
        whole = edit_drafts(session, [0, 1, 2], 200, WANTED)
        assert whole.replaced == whole.targets


def test_a_row_that_the_model_no_longer_reads_says_so_without_an_id(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("go")
    file.said("done")
    kept = file.user("and now the tests")
    file.entry("compaction", summary="all is well", firstKeptEntryId=kept, tokensBefore=99)
    with reading(file.path) as session:
        drafts = edit_drafts(session, [0, 1], 200, WANTED)
        assert drafts.omitted == drafts.short
        assert str(drafts.omitted) == "the model does not read this row: a compaction replaced it"
        assert first not in str(drafts.omitted)
        assert not isinstance(edit_drafts(session, [2], 200, WANTED).omitted, str)


def test_what_edits_concern_is_never_folded(tmp_path: Path) -> None:
    from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
    from leafward.compaction.xray.xray import xray_edited
    from leafward_tui.xray.model.arrangement import Arrangement, Side

    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    for number in range(40):
        file.said(f"reply {number} " * 20)
    with reading(file.path) as session:
        edits = [ContextEdit(EntryIndex(at), keep=None if at % 2 else 5) for at in range(10, 30)]
        apply_edits(session, draft_edits(session, edits))
        xray = xray_edited(session, len(session) - 1)
        laid = Arrangement(xray)
        concerned = [row for row, one in enumerate(xray.rows) if one.cut or one.after is None]
        assert len(concerned) == 20
        assert not any(laid.fold_over(Side.BEFORE, row) for row in concerned)
        stops, at = [], -1
        while (following := laid.change(Side.BEFORE, at, 1)) != at:
            stops.append(following)
            at = following
        assert stops == sorted(laid.lines_of(Side.BEFORE, concerned))


async def test_context_edits_are_seen_through_and_undone(tmp_path: Path) -> None:
    from leafward_tui.xray.screen import XRayScreen

    file = parted(tmp_path / "s.jsonl")
    async with exploring(file.path, HIGH) as (pilot, explorer):
        before = len(lines(file.path))
        await chosen(pilot, "E", "o")
        await until(pilot, lambda: len(lines(file.path)) > before and not explorer.state.busy)
        await pilot.press("X")
        screen = await reached(pilot, XRayScreen)
        await until(pilot, lambda: screen.state.loaded.undo_op)
        text = shown(pilot)
        assert "left out" in text
        seen = sure(screen.state.loaded.xray)
        assert f"{seen.before - seen.after:,} tokens freed" in text, "as the totals differ"
        assert "undo edits" in text
        assert "context edit ≠" in text
        await pilot.press("u")
        await until(pilot, lambda: pilot.app.screen is explorer and not explorer.state.busy)
        await until(pilot, lambda: "undid" in note(explorer))


async def test_a_key_that_does_nothing_on_a_tab_says_so(tmp_path: Path) -> None:
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        await pilot.press("5")
        for key, words in (
            ("n", "next change: no changes here"),
            ("z", "fold same: not on this tab"),
            ("C", "ancestor: not on this tab"),
            ("left", "column: not on this tab"),
        ):
            assert not any(words in row for row in rows(pilot.app))
            await pilot.press(key)
            await until(pilot, lambda words=words: words in rows(pilot.app)[-1])  # type: ignore[misc]  # bound now
        await pilot.press("1")
        await until(pilot, lambda: screen.enabled("compare.fold"))
        assert "not on this tab" not in rows(pilot.app)[-1]


async def test_where_neither_side_changed_a_file_the_tab_of_contents_says_so(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    for name in ("a.py", "b.py", "c.py"):
        file.said("look", call("read", name, path=name))
        file.answered(name, "read", "one line")
    start = file.leaf
    for word in ("left", "right"):
        file.leaf = start
        file.user(word)
        file.said("done")
    async with comparing(file.path) as (pilot, _explorer, screen):
        assert screen.state.files.file is None, "what both only read is folded"
        await pilot.press("2")
        await until(
            pilot,
            lambda: any(
                "neither side changed a file since the common ancestor" in row for row in rows(pilot.app)
            ),
        )


def test_what_an_extension_says_is_part_of_a_turn_and_none_of_its_own(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for number in range(3):
        file.user(f"prompt {number}")
        file.entry("custom_message", customType="note", content="an extension says so", display=True)
        file.said("answered")
    session = Session.open(file.path)
    turns = graft_turns(session, range(len(session)))
    assert len(turns) == session.tree.prompts_upto(session.leaf) == 3
    assert [len(turn.entries) for turn in turns] == [3, 3, 3]
    session.close()


def test_the_sides_of_a_conflict_are_shown_where_they_differ() -> None:
    """Each takes several lines, and a long beginning that both share is left out."""
    same = "a job is claimed by an update whose where clause names the old owner " * 8
    conflict = Conflict(
        0, "Decisions", "", f"{same}and the lease lasts 30 s", f"{same}and the lease lasts 90 s"
    )
    for width in (60, 100):
        text = "\n".join(line.text for line in conflict_lines([conflict], {}, width, UNICODE))
        assert "the lease lasts 30 s" in text
        assert "the lease lasts 90 s" in text
    short = Conflict(0, "Decisions", "", "one lease of 30 s for " + "w " * 40, "two leases")
    assert conflict_lines([short], {}, 60, UNICODE)[1].text.startswith("  A      one lease of 30 s")
    assert from_difference(("", f"{same}{same}", ""), 40, "…") == ("", f"{same}{same}".strip(), "")
