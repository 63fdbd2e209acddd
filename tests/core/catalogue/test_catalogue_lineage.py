from __future__ import annotations

import random

import pytest

from leafward.catalogue.cards.card import Card
from leafward.catalogue.lineage import Group, Sort, arrange, parents, with_parents
from leafward.session.entries import FORK, INFERRED


def card(
    name: str,
    *,
    parent: str | None = None,
    project: str = "/p",
    modified: int = 0,
    origin: int = 0,
    created: int = 0,
    folder: str = "/store",
    **more: object,
) -> Card:
    values: dict[str, object] = {
        "path": f"{folder}/2026_{name}.jsonl",
        "agent": "pi",
        "id": name,
        "name": None,
        "title": name,
        "prompt": name,
        "project": project,
        "created": created,
        "modified": modified,
        "entries": 1,
        "messages": 1,
        "turns": 1,
        "branches": 0,
        "compactions": 0,
        "tokens": 10,
        "model": None,
        "parent": parent,
        "relation": FORK if parent else None,
        "archived": False,
        "damage": 0,
        "problem": None,
        "size": 100,
        "version": 3,
        "origin": origin,
        "partial": False,
    }
    return Card(**{**values, **more})  # type: ignore[arg-type]  # checked by the tuple's own constructor


def path(name: str) -> str:
    return f"/store/2026_{name}.jsonl"


def drawn(groups: list[Group]) -> list[str]:
    """The rows as an indented list."""
    lines = []
    for group in groups:
        lines.append(group.project)
        lines += ["  " * row.depth + row.card.id + ("" if row.last else " +") for row in group.rows]
    return lines


FAMILY = [
    card("old", modified=10),
    card("fork", parent=path("old"), modified=50),
    card("fork-of-fork", parent=path("fork"), modified=20),
    card("third", parent=path("fork-of-fork"), modified=99),
    card("other-fork", parent=path("old"), modified=30),
    card("alone", modified=60),
]


def test_forks_hang_under_what_they_were_forked_from() -> None:
    found = parents(FAMILY)
    assert found[path("third")] == (path("fork-of-fork"), FORK)
    assert drawn(arrange(FAMILY, found)) == [
        "/p",
        "old +",
        "  fork +",
        "    fork-of-fork",
        "      third",
        "  other-fork",
        "alone",
    ]


def test_a_parent_that_is_filtered_out_leaves_its_forks_under_the_next_one_above() -> None:
    found = parents(FAMILY)
    shown = [one for one in FAMILY if one.id in {"old", "third", "alone"}]
    assert drawn(arrange(shown, found)) == ["/p", "old +", "  third", "alone"]
    shown = [one for one in FAMILY if one.id in {"third", "alone"}]
    assert drawn(arrange(shown, found)) == ["/p", "third +", "alone"]


def test_a_parent_is_found_after_a_move_by_file_name_or_id() -> None:
    old = card("old", folder="/new/place")
    by_name = card("a", parent="/was/here/2026_old.jsonl")
    by_windows_name = card("b", parent="C:\\was\\here\\2026_old.jsonl")
    by_id_in_name = card("c", parent="/was/here/1999_old.jsonl")
    by_id = card("d", parent="old")
    found = parents([old, by_name, by_windows_name, by_id_in_name, by_id])
    assert set(found) == {one.path for one in (by_name, by_windows_name, by_id_in_name, by_id)}
    assert {above for above, _ in found.values()} == {old.path}


def test_a_parent_that_could_be_several_or_none_is_no_parent() -> None:
    twice = [card("old", folder="/a"), card("old", folder="/b")]
    assert not parents([*twice, card("x", parent="/c/2026_old.jsonl"), card("y", parent="/c/none.jsonl")])


def test_copies_without_a_parent_are_inferred_from_their_first_entry() -> None:
    first = card("first", origin=7, created=1)
    copy = card("copy", origin=7, created=2)
    fork = card("fork", origin=7, created=3, parent=path("first"))
    other = card("other", origin=8)
    empty = [card("e1"), card("e2")]
    cards = [copy, fork, other, *empty, first]
    found = parents(cards)
    assert found == {path("copy"): (path("first"), INFERRED), path("fork"): (path("first"), FORK)}
    marked = {one.id: (one.parent, one.relation) for one in with_parents(cards, found)}
    assert marked["copy"] == (path("first"), INFERRED)
    assert marked["fork"] == (path("first"), FORK)
    assert marked["first"] == (None, None)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_circle_of_parents_is_cut_and_nobody_is_lost(size: int) -> None:
    ring = [card(str(number), parent=path(str((number + 1) % size))) for number in range(size)]
    tail = [card("tail", parent=path("0"))]
    found = parents([*ring, *tail])
    assert len(found) == max(0, size - 1) + 1
    rows = [row for group in arrange([*ring, *tail], found) for row in group.rows]
    assert sorted(row.card.id for row in rows) == sorted(one.id for one in [*ring, *tail])


def test_a_fork_in_another_project_stands_in_its_own() -> None:
    cards = [
        card("old", project="/a", modified=5),
        card("fork", project="/b", parent=path("old"), modified=9),
    ]
    assert drawn(arrange(cards, parents(cards))) == ["/b", "fork", "/a", "old"]
    assert drawn(arrange(cards, parents(cards), by=None)) == ["", "old", "  fork"]


MANY = [
    card("a", title="beta", project="/x", modified=3, size=1, turns=9, tokens=5),
    card("b", title="Alpha", project="/x", modified=2, size=3, turns=None, tokens=None),
    card("c", title="gamma", project="/X", modified=1, size=2, turns=2, tokens=70),
]


@pytest.mark.parametrize(
    ("sort", "flat", "groups"),
    [
        (Sort.WHEN, "abc", ["/x", "/X"]),
        (Sort.NAME, "bac", ["/X", "/x"]),
        (Sort.SIZE, "bca", ["/x", "/X"]),
        (Sort.TURNS, "acb", ["/x", "/X"]),
        (Sort.TOKENS, "cab", ["/X", "/x"]),
    ],
)
def test_the_order_is_the_one_asked_for(sort: Sort, flat: str, groups: list[str]) -> None:
    [group] = arrange(MANY, {}, sort, by=None)
    assert "".join(row.card.id for row in group.rows) == flat
    assert [group.project for group in arrange(MANY, {}, sort)] == groups


def test_a_group_says_what_is_in_it() -> None:
    [one, _] = arrange(MANY, {})
    assert (one.project, len(one.rows), one.tokens, one.modified) == ("/x", 2, 5, 3)


def test_a_chain_of_ten_thousand_forks_is_no_recursion() -> None:
    chain = [card(str(number), parent=path(str(number - 1)) if number else None) for number in range(10_000)]
    random.Random(1).shuffle(chain)
    [group] = arrange(chain, parents(chain))
    assert [row.depth for row in group.rows] == list(range(10_000))
