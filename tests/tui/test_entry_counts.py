"""How many entries a session has: one figure in the list, its preview, the tree and JSON, without what Leafward noted."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.branches.diff.sides import sides
from leafward.catalog import Catalogue
from leafward.cli.tree import tree_json
from leafward.context.price import price_of_move
from leafward.session.entries import EntryIndex
from leafward.session.journal import archive_session, label, move, undo
from leafward.session.session import Session
from leafward_tui.catalogue.model.session_preview import read_preview
from leafward_tui.explorer.model.exploration import Exploration
from leafward_tui.explorer.model.title import title_bar_of
from leafward_tui.inspector.model.turn import gather
from leafward_tui.ui.glyphs import UNICODE
from leafward_tui.ui.page import Selection, SelectionKind
from tests.core.drafts import Draft

if TYPE_CHECKING:
    from pathlib import Path


def counts(catalogue: Catalogue, path: Path) -> list[int]:
    """The entries of a session as each place says them: the list, its preview, the title of the tree, JSON, its rows."""
    catalogue.refresh()
    (card,) = catalogue.cards()
    preview = read_preview(card, catalogue.details(card.path), lambda: False)
    assert preview is not None
    with closing(Session.open(path)) as session:
        exploration = Exploration(session)
        title = title_bar_of(exploration, "pi", UNICODE, following=False, unseen=0, shut=False, parent="")
        said = next(fact for fact in title.facts if fact.unit == "entries")
        layout = exploration.layout
        rows = sum(
            gather(Selection(session, tuple(layout.entries_of(row)), row, SelectionKind.TURN)).entries
            for row in range(len(layout))
        )
        return [
            card.entries or 0,
            sum(row.number or 0 for row in preview.tree),
            int(said.value),
            tree_json(session)["session"]["entries"],
            rows,
        ]


def test_what_leafward_notes_is_no_entry_of_the_session(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(4):
        draft.user(f"prompt {number}")
        draft.assistant()
    path = draft.write(tmp_path / "s.jsonl")
    catalogue = Catalogue(Config(), [tmp_path])
    assert set(counts(catalogue, path)) == {8}
    with closing(Session.open(path)) as session:
        move(session, 3)
        undo(session)
        archive_session(session)
        assert len(session) == 11
    assert set(counts(catalogue, path)) == {8}
    with closing(Session.open(path)) as session:
        label(session, 3, "here")
    *all_of_it, _ = counts(catalogue, path)
    assert set(all_of_it) == {9}, (
        "an entry of the agent's own kind counts, whoever wrote it; it is in no turn"
    )


def test_a_move_and_a_comparison_count_no_notes(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(4):
        draft.user(f"prompt {number}")
        draft.assistant()
    path = draft.write(tmp_path / "s.jsonl")
    with closing(Session.open(path)) as session:
        for _ in range(3):
            move(session, 5)
            undo(session)
        place = session.place
        assert price_of_move(session, EntryIndex(1)).left.entries == place - 1 == 6
        assert len(sides(session, 1, session.leaf).b.entries) == 6
