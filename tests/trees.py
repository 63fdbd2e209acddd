"""Random trees, as columns and as session files, and what is true of any tree said the slow way."""

from __future__ import annotations

import json
import random
import tempfile
from array import array
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from leafward.session.entries import BOOKKEEPING, Kind
from leafward.session.session import Session
from leafward.session.tree.tree import SessionTree
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITABLE = (
    Kind.USER,
    Kind.ASSISTANT,
    Kind.TOOL_RESULT,
    Kind.BASH,
    Kind.COMPACTION,
    Kind.BRANCH_SUMMARY,
    Kind.CUSTOM_MESSAGE,
    Kind.CONTEXT_EDIT,
    Kind.MODEL_CHANGE,
    Kind.CUSTOM,
    Kind.LABEL,
    Kind.USAGE,
)
"""Kinds that random trees are made of."""

_LIKELY = (Kind.USER,) * 3 + (Kind.ASSISTANT,) * 5 + (Kind.TOOL_RESULT,) * 5 + WRITABLE


@dataclass(frozen=True)
class Plan:
    """A tree by parents and kinds, in file order; a parent may come later in the file than its child."""

    parents: tuple[int, ...]
    kinds: tuple[Kind, ...]

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def tree(self) -> SessionTree:
        return SessionTree(array("i", self.parents), bytearray(self.kinds))

    def content(self, index: int) -> bool:
        return self.kinds[index] not in BOOKKEEPING

    def path(self, index: int) -> list[int]:
        found = []
        while index >= 0:
            found.append(index)
            index = self.parents[index]
        return found[::-1]

    def children(self, index: int) -> list[int]:
        return [child for child, parent in enumerate(self.parents) if parent == index]

    def subtree(self, index: int) -> list[int]:
        return [entry for entry in range(len(self)) if index in self.path(entry)]

    def content_at(self, index: int) -> int:
        return next((entry for entry in reversed(self.path(index)) if self.content(entry)), -1)

    def content_children(self, index: int) -> list[int]:
        """Entries of the conversation whose nearest one above is `index`; of -1, the first ones."""
        return [
            entry
            for entry in range(len(self))
            if self.content(entry) and self.content_at(self.parents[entry]) == index
        ]

    def leaves(self) -> list[int]:
        return [
            entry for entry in range(len(self)) if self.content(entry) and not self.content_children(entry)
        ]

    def branch_points(self) -> list[int]:
        return [
            entry
            for entry in range(len(self))
            if self.content(entry) and len(self.content_children(entry)) > 1
        ]


def random_plan(
    rng: random.Random, size: int, *, jumpy: float = 0.2, roots: float = 0.02, shuffled: float = 0.0
) -> Plan:
    """A tree that mostly goes on from the entry before; `shuffled` is the share of entries that change places."""
    parents = [-1] * size
    for index in range(1, size):
        draw = rng.random()
        parents[index] = -1 if draw < roots else rng.randrange(index) if draw < roots + jumpy else index - 1
    kinds = rng.choices(_LIKELY, k=size)
    places = list(range(size))
    for _ in range(int(shuffled * size)):
        one, other = rng.randrange(size), rng.randrange(size)
        places[one], places[other] = places[other], places[one]
    moved = [0] * size
    for index in range(size):
        above = parents[index]
        moved[places[index]] = places[above] if above >= 0 else -1
    return Plan(tuple(moved), tuple(kinds))


@st.composite
def plans(draw: st.DrawFn, most: int = 40, *, forward: bool = True, roots: bool = True) -> Plan:
    """Any small tree."""
    size = draw(st.integers(1, most))
    seed = draw(st.integers(0, 1 << 20))
    jumpy = draw(st.sampled_from((0.0, 0.1, 0.4, 0.9)))
    extra = draw(st.sampled_from((0.0, 0.1))) if roots else 0.0
    shuffled = draw(st.sampled_from((0.0, 0.0, 0.3))) if forward else 0.0
    return random_plan(random.Random(seed), size, jumpy=jumpy, roots=extra, shuffled=shuffled)


def entry_id(index: int) -> str:
    """The id that a written tree gives an entry."""
    return f"{index:08x}"


def line_of(index: int, parent: int, kind: Kind) -> dict[str, Any]:
    """An entry of a kind, in pi's order of keys; its text names it."""
    place = {
        "id": entry_id(index),
        "parentId": entry_id(parent) if parent >= 0 else None,
        "timestamp": f"2026-11-21T{index // 3600 % 24:02}:{index // 60 % 60:02}:{index % 60:02}.000Z",
    }
    text = f"entry {index}"
    messages: dict[Kind, dict[str, Any]] = {
        Kind.USER: {"role": "user", "content": text},
        Kind.ASSISTANT: {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "stopReason": "stop",
        },
        Kind.TOOL_RESULT: {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "read",
            "content": [{"type": "text", "text": text}],
            "isError": False,
        },
        Kind.BASH: {"role": "bashExecution", "command": text, "output": "", "exitCode": 0},
    }
    if kind in messages:
        return {"type": "message", **place, "message": messages[kind]}
    if kind is Kind.CUSTOM:
        return {"type": "custom", "customType": "test.note", "data": {"id": "decoy"}, **place}
    rest: dict[Kind, tuple[str, dict[str, Any]]] = {
        Kind.COMPACTION: ("compaction", {"summary": text, "firstKeptEntryId": None, "tokensBefore": 1000}),
        Kind.BRANCH_SUMMARY: ("branch_summary", {"fromId": "root", "summary": text}),
        Kind.CUSTOM_MESSAGE: (
            "custom_message",
            {"customType": "test.note", "content": text, "display": True},
        ),
        Kind.CONTEXT_EDIT: ("context_edit", {"targetId": entry_id(max(0, parent)), "replacement": None}),
        Kind.MODEL_CHANGE: ("model_change", {"provider": "local", "modelId": "scripted-1"}),
        Kind.LABEL: ("label", {"targetId": entry_id(max(0, parent))}),
        Kind.USAGE: ("usage", {"kind": "title", "model": "scripted-1"}),
    }
    type_, fields = rest[kind]
    return {"type": type_, **place, **fields}


def write_plan(path: Path, plan: Plan) -> Path:
    """Writes a session file whose entries have the parents and kinds of a plan."""
    lines = [HEADER, *(line_of(index, plan.parents[index], plan.kinds[index]) for index in range(len(plan)))]
    path.write_bytes(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))
    return path


@contextmanager
def session_of(plan: Plan) -> Iterator[Session]:
    """A plan as an open session, whose file is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_plan(Path(folder) / "session.jsonl", plan)
        with closing(Session.open(path)) as session:
            assert tuple(session.columns.parent) == plan.parents
            assert tuple(session.columns.kind) == plan.kinds
            yield session
