"""The small tree of the preview: its rows are all of the session, in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward_tui.catalogue.model.preview_tree import Sign, TreeRow
from leafward_tui.catalogue.model.session_preview import read_preview
from tests.core.listed_sessions import Draft
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from pathlib import Path


def tree_of(draft: Draft, folder: Path) -> tuple[TreeRow, ...]:
    draft.write(folder / "s.jsonl")
    ((rows, _, _),) = trees(folder)
    return rows


def trees(folder: Path) -> list[tuple[tuple[TreeRow, ...], int, int]]:
    """The rows of each session below a folder, with its turns and entries."""
    catalogue = Catalogue(Config(), [folder])
    catalogue.refresh()
    found = []
    for card in catalogue.cards():
        shown = read_preview(card, catalogue.details(card.path), lambda: False)
        if card.problem is None and shown is not None and not shown.problem and shown.tree:
            found.append((shown.tree, card.turns or 0, card.entries or 0))
    return found


def drawn(rows: tuple[TreeRow, ...]) -> list[tuple[str, str, int | None, int]]:
    return [(row.sign.value, row.text, row.number, row.turns) for row in rows]


def turns(draft: Draft, *texts: str) -> str:
    """A prompt and a reply each; the id of the last reply."""
    last = ""
    for text in texts:
        draft.user(text)
        last = draft.assistant()
    return last


def compaction(draft: Draft) -> str:
    kept = draft.leaf
    return draft.entry("compaction", {"summary": "so far", "firstKeptEntryId": kept, "tokensBefore": 900})


def test_every_turn_and_every_entry_is_in_one_row(tmp_path: Path) -> None:
    draft = Draft()
    left = turns(draft, "one", "two", "three")
    turns(draft, "tried", "again")
    draft.user("four", under=left)
    draft.assistant()
    draft.user("five")
    draft.named("plums")
    assert drawn(tree_of(draft, tmp_path)) == [
        ("prompt", "one", 2, 1),
        ("run", "2 turns", 4, 2),
        ("branch", "tried", 4, 2),
        ("run", "1 turn", 2, 1),
        ("leaf", "five", 2, 1),
    ]


def test_a_turn_that_goes_on_behind_compactions_has_its_rows(tmp_path: Path) -> None:
    draft = Draft()
    turns(draft, "one", "two")
    for text in ("on", "and on"):
        compaction(draft)
        draft.assistant(text)
        draft.assistant(text)
    assert drawn(tree_of(draft, tmp_path)) == [
        ("prompt", "one", 2, 1),
        ("run", "1 turn", 2, 1),
        ("compaction", "compaction", None, 0),
        ("run", "turn goes on", 3, 0),
        ("compaction", "compaction", None, 0),
        ("leaf", "and on", 3, 0),
    ]


def test_a_branch_stands_below_the_turn_that_it_leaves(tmp_path: Path) -> None:
    draft = Draft()
    left = turns(draft, "one")
    turns(draft, "tried")
    draft.entry(
        "custom_message", {"customType": "note", "content": "taken back", "display": True}, under=left
    )
    assert [row.sign for row in tree_of(draft, tmp_path)] == [Sign.PROMPT, Sign.BRANCH, Sign.LEAF]


def test_older_branches_are_counted_where_they_have_no_row(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(6):
        left = turns(draft, f"prompt {number}")
        turns(draft, f"tried {number}")
        draft.leaf = left
        compaction(draft)
    turns(draft, "last")
    rows = tree_of(draft, tmp_path)
    assert [row.text for row in rows if row.sign is Sign.BRANCH] == ["tried 3", "tried 4", "tried 5"]
    assert sum(row.sign is Sign.COMPACTION for row in rows) == 6
    assert ("run", "2 turns, with 1 branch", 5, 2) in drawn(rows)
    assert (sum(row.turns for row in rows), sum(row.number or 0 for row in rows)) == (13, 32)


@needs_corpora
@pytest.mark.parametrize("folder", ["pi", "claude/v2.1.330", "codex/v0.169.0", "opencode/v1.18.33", "real"])
def test_rows_add_up_to_the_session(folder: str) -> None:
    found = trees(CORPORA / folder)
    assert found
    for rows, turned, entries in found:
        assert (sum(row.turns for row in rows), sum(row.number or 0 for row in rows)) == (turned, entries)
