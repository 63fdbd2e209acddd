"""Sets of entries as one byte each, and the sets that come from the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.tree.tree import SessionTree

Members = bytes | bytearray
"""A byte for each entry of a session in file order: 1 for one that belongs to the set, else 0."""

_OTHERS = bytes([1, 0]) + bytes(254)


def of(entries: Iterable[int], size: int) -> bytearray:
    """The set of some entries; those outside the session are left out."""
    found = bytearray(size)
    for index in entries:
        if 0 <= index < size:
            found[index] = 1
    return found


def entries(members: Members) -> Iterator[EntryIndex]:
    """The entries of a set, in file order."""
    place = members.find(1)
    while place >= 0:
        yield EntryIndex(place)
        place = members.find(1, place + 1)


def both(a: Members, b: Members) -> bytes:
    """The intersection."""
    return (int.from_bytes(a, "little") & int.from_bytes(b, "little")).to_bytes(len(a), "little")


def either(a: Members, b: Members) -> bytes:
    """The union."""
    return (int.from_bytes(a, "little") | int.from_bytes(b, "little")).to_bytes(len(a), "little")


def complement(a: Members) -> bytes:
    """The complement."""
    return bytes(a.translate(_OTHERS))


def above(tree: SessionTree, members: Members) -> bytearray:
    """Every entry on the paths to the entries of a set, and these themselves."""
    found = bytearray(len(members))
    parent = tree.parent
    for index in entries(members):
        at: int = index
        while at != NO_ENTRY and not found[at]:
            found[at] = 1
            at = parent[at]
    return found


def below(tree: SessionTree, members: Members, *, itself: bool) -> bytes:
    """Every entry below the entries of a set. Work: the runs of the tree, not its entries."""
    found = bytearray(len(members))
    reached = bytearray(len(tree.starts))
    for run in tree.preorder:
        start, stop = tree.bounds(run)
        above = tree.run_parent[run]
        # A run begins below the last entry of another run, and that is below every member of it.
        first = start if above >= 0 and reached[above] else members.find(1, start, stop) + 1
        if first > start or (above >= 0 and reached[above]):
            reached[run] = 1
            found[first:stop] = b"\1" * (stop - first)
    return either(found, members) if itself else bytes(found)


def children(tree: SessionTree, members: Members) -> bytearray:
    """The children of the entries of a set."""
    return of((child for index in entries(members) for child in tree.children(index)), len(members))


def parents(tree: SessionTree, members: Members) -> bytearray:
    """The parents of the entries of a set."""
    return of((tree.parent[index] for index in entries(members)), len(members))
