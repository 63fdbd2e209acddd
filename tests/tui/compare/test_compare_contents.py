"""The contents that are compared: words that differ, files that are the same, what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.file_sets import Flag
from leafward.files.file_replay.remarks import StepRemark
from leafward_tui.compare.model.content import Show, arranged_content, rests_on
from leafward_tui.compare.model.content_lines import ContentLines
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.keys.legend import legend_of
from tests.acting import Acting, call
from tests.pi_file import HEADER
from tests.tui.compared import TABBED, compared, comparing, tabbed
from tests.tui.session_store import shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


def based(path: Path, folder: Path) -> Acting:
    """Both branches edit a file that nobody read; what lies in the folder fits."""
    file = Acting(path, {**HEADER, "cwd": str(folder)})
    file.user("begin")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("edit", name, path="a.txt", oldText=f"{name} was", newText=f"{name} is"))
        file.answered(name, "edit", "ok")
        file.said("done")
    return file


def test_words_stand_out_behind_tabs_and_three_ways(tmp_path: Path) -> None:
    both = compared(tabbed(tmp_path / "s.jsonl").path)
    difference = SideContents(both.sides).of(both.sets.both[0])
    drawn = ContentLines(arranged_content(difference), 120, UNICODE)
    strong = [
        [span.text for span in drawn[at].spans if span.ink.startswith("strong_") and span.text.strip(" AB")]
        for at in drawn.changes()
    ]
    assert strong == [["mine", "it"], ["it", "mine"]]
    three = ContentLines(arranged_content(difference, Show.THREE_WAY), 140, UNICODE)
    strong = [
        [span.text for span in three[at].spans if span.ink.startswith("strong_") and len(span.text) > 2]
        for at in three.changes()
    ]
    assert strong == [["mine"], ["mine"]]
    both.sides.session.close()


def test_a_file_that_is_the_same_is_shown_and_not_folded(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(call("write", "w", path="same.txt", content=TABBED))
    file.answered("w", "write")
    fork = file.said("ok")
    for name in ("a", "b"):
        file.user(f"{name} prompt", fork)
        file.said(call("write", name, path=f"{name}.txt", content="x\n"))
        file.answered(name, "write")
    both = compared(file.path)
    same = next(one for one in both.sets.both if one.path == "same.txt")
    laid = arranged_content(SideContents(both.sides).of(same))
    assert {row.kind for row in laid.rows} == {"same"}
    both.sides.session.close()


# --- a base ---


async def test_files_rest_on_the_workspace_when_asked(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("a was\nmiddle\nb was\n")
    async with comparing(based(tmp_path / "s.jsonl", folder).path) as (pilot, _, screen):
        assert screen.state.content.shown is not None
        assert not screen.state.content.shown.difference.exact
        await pilot.press("B")
        await until(
            pilot, lambda: screen.state.content.shown is not None and screen.state.content.shown.based
        )
        assert screen.state.content.shown.difference.a.text == "a is\nmiddle\nb was\n"
        assert "rests on the file on disk, 1 edit later" in shown(pilot)
        assert "base: disk and git" in shown(pilot)
        assert pilot.app.recall("compare-base") is True  # type: ignore[attr-defined]  # the application is a Shell
        await pilot.press("B")
        await until(
            pilot, lambda: screen.state.content.shown is not None and not screen.state.content.shown.based
        )
        assert screen.state.content.rebuilt == 2
        assert (folder / "a.txt").read_text() == "a was\nmiddle\nb was\n"
        await pilot.press("B")
    async with comparing(tmp_path / "s.jsonl") as (_, _, screen):
        assert screen.state.files.based
        assert sure(screen.state.content.shown).difference.exact


async def test_where_the_folder_is_gone_there_is_no_base(tmp_path: Path) -> None:
    async with comparing(based(tmp_path / "s.jsonl", tmp_path / "gone").path) as (pilot, _, screen):
        await pilot.press("B")
        assert not screen.state.files.based
        assert "no base: project folder not found" in screen.view.sentence.text


async def test_that_nothing_in_the_workspace_fits_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("something else\n")
    both = compared(based(tmp_path / "s.jsonl", folder).path)
    difference = SideContents(both.sides).of(both.sets.both[0])
    assert "nothing in the workspace fits" in rests_on(difference.a, based=True)
    assert "workspace" not in rests_on(difference.a)
    both.sides.session.close()


def test_what_a_content_rests_on_is_said_in_words() -> None:
    """A code word of a document, such as `did not apply`, says nothing about who did not apply what."""
    for remark in StepRemark:
        words = remark.words
        assert words not in {"did not apply", "ambiguous", "no result"}
        assert not words.startswith("by ")
    assert StepRemark.BY_STASH_POP.words == "`git stash pop` ran"
    assert StepRemark.NOT_FOUND.words == "an edit's old text is not there"
    assert {flag.words for flag in (Flag.STALE_A, Flag.STALE_B)} == {"A saw B's edit", "B saw A's edit"}


def test_what_a_side_saw_of_the_other_is_explained_in_the_list_of_keys() -> None:
    """Neither has the other's edit in its context: it lay on the disk."""
    meanings = {one.sign: one.title for _, group in legend_of("compare", UNICODE) for one in group}
    assert "on disk" in meanings[Flag.STALE_A.words]
