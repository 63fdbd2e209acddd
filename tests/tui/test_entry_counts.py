"""The number of a session's entries is one in the list, its preview, the tree and JSON, without Leafward's notes."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.branches.diff.sides import sides
from leafward.catalogue.listing import Catalogue
from leafward.cli.output.outline import outline_rows
from leafward.cli.verbs.tree import tree_json
from leafward.context.price import price_of_move
from leafward.export.documents.content import content_of
from leafward.session.entries import EntryIndex
from leafward.session.journal.session_operations import archive, archive_session, label, move, rename, undo
from leafward.session.session import Session
from leafward_tui.catalogue.model.session_preview import read_preview
from leafward_tui.explorer.model.exploration import Exploration
from leafward_tui.explorer.model.title import title_bar_of
from leafward_tui.inspector.page import Selection
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.core.listed_sessions import Draft, iso
from tests.tui.inspector_data import page
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


def counts(catalogue: Catalogue, path: Path) -> list[int]:
    """The entries of a session as each place says them: the list, its preview, the title of the tree, JSON, its rows."""
    catalogue.refresh()
    (card,) = catalogue.cards()
    preview = sure(read_preview(card, catalogue.details(card.path), lambda: False))
    with closing(Session.open(path)) as session:
        exploration = Exploration(session)
        title = title_bar_of(exploration, "pi", UNICODE, following=False, unseen=0, shut=False, parent="")
        said = next(fact for fact in title.facts if fact.unit == "entries")
        layout = exploration.layout
        rows = sum(session.columns.entries_in(layout.entries_of(row)) for row in range(len(layout)))
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
        rename(session, "a name")
        undo(session)
        assert len(session) == 14
    assert set(counts(catalogue, path)) == {8}, "labels and names of Leafward's are notes too"
    with path.open("a") as file:
        file.write(
            json.dumps({"type": "label", "id": "aaaaaaaa", "parentId": draft.leaf, "label": "x"}) + "\n"
        )
    *all_of_it, _ = counts(catalogue, path)
    assert set(all_of_it) == {9}, "a label of the agent's counts; it is in no turn"


@pytest.mark.parametrize("in_one_go", [True, False])
def test_a_label_that_names_leafward_and_is_not_its_own_counts(tmp_path: Path, in_one_go: bool) -> None:
    draft = Draft()
    draft.user("a prompt")
    path = draft.write(tmp_path / "s.jsonl")
    catalogue = Catalogue(Config(), [tmp_path])
    if not in_one_go:
        catalogue.refresh()
    with path.open("a") as file:
        marks: tuple[dict[str, object], ...] = (
            {"label": '"leafward":{'},
            {"leafward": "no"},
            {"leafward": {"op": "x"}},
        )
        for at, more in enumerate(marks):
            parent = draft.leaf if not at else f"aaaaaaa{at - 1}"
            line: dict[str, object] = {
                "type": "label",
                "id": f"aaaaaaa{at}",
                "parentId": parent,
                "timestamp": iso(draft.clock),
            }
            file.write(json.dumps(line | more, separators=(",", ":")) + "\n")
    catalogue.refresh()
    (card,) = catalogue.cards()
    assert card.entries == 3
    with closing(Session.open(path)) as session:
        assert session.columns.entries == 3
        assert list(session.columns.own) == [3]


def test_the_last_entry_of_a_turn_and_its_number_are_one_on_all_screens(tmp_path: Path) -> None:
    draft = Draft()
    for number in range(3):
        draft.user(f"prompt {number}")
        draft.assistant()
    path = draft.write(tmp_path / "s.jsonl")
    with closing(Session.open(path)) as session:
        label(session, 5, "here")
        rename(session, "a name")
        layout = Exploration(session).layout
        row = len(layout) - 1
        chosen = Selection(session, tuple(layout.entries_of(row)), 4, turn=3)
        assert chosen.last == 7
        shown = page(chosen).text
        assert "#4 – #5" in shown
        assert "2 entries" in shown
        assert "first of 2 entries" in page(chosen, Tab.RAW).text
        assert outline_rows(session)[-1].end == 5
        assert content_of(session).size == content_of(session, whole=True).size == 6


def test_a_comparison_and_a_move_count_alike_what_keeps_books_behind_the_leaf(tmp_path: Path) -> None:
    draft = Draft()
    first = draft.user("prompt")
    draft.user("a branch", under=first)
    draft.assistant()
    draft.user("the way on", under=first)
    draft.assistant()
    draft.entry("model_change", {"provider": "local", "modelId": "scripted-2"})
    path = draft.write(tmp_path / "s.jsonl")
    with closing(Session.open(path)) as session:
        label(session, 1, "here")
        compared = sides(session, 2, session.leaf)
        price = price_of_move(session, EntryIndex(2))
    assert (len(compared.a.entries), len(compared.b.entries)) == (2, 2)
    assert (price.entered.entries, price.left.entries) == (2, 2)
    assert compared.b.entry == 4


def test_damage_is_counted_alike_in_the_list_and_in_the_tree(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("a prompt")
    draft.assistant()
    path = draft.write(tmp_path / "s.jsonl")
    with path.open("a") as file:
        file.write('{"type":"label", torn\n{"type":"mess')
    catalogue = Catalogue(Config(), [tmp_path])
    catalogue.refresh()
    (card,) = catalogue.cards()
    with closing(Session.open(path)) as session:
        bar = title_bar_of(
            Exploration(session), "pi", UNICODE, following=False, unseen=0, shut=False, parent=""
        )
    assert card.damage == 2
    assert [fact.value for fact in bar.facts if fact.unit == "damaged"] == ["2"]


def test_an_archived_branch_is_counted_whole_in_the_outline(tmp_path: Path) -> None:
    draft = Draft()
    first = draft.user("prompt")
    for number in range(3):
        draft.user(f"a branch, turn {number}", under=None if number else first)
        draft.assistant()
    left = EntryIndex(1)
    draft.user("the way on", under=first)
    path = draft.write(tmp_path / "s.jsonl")
    with closing(Session.open(path)) as session:
        label(session, 6, "at its end")
        archive(session, left)
        (row,) = (row for row in outline_rows(session, hidden=frozenset({left})) if row.hidden)
        assert row.hidden == 6
        assert list(row.entries) == list(range(1, 7))


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
