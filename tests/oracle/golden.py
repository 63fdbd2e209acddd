"""Reading the goldens that project.mjs made; the format is described in README.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).resolve().parent.parent
SESSIONS = TESTS / "data" / "pi" / "sessions"
GOLDEN = TESTS / "data" / "pi" / "golden"
CORPORA = TESTS.parent.parent / "shared" / "corpora" / "pi"


@dataclass(frozen=True, slots=True)
class Row:
    """One message at an entry: its source entry by file order, its role, pi's estimate, the digest of its text."""

    entry: int
    role: str
    tokens: int | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Node:
    """Results of pi with the leaf at entry ``at``."""

    at: int
    why: tuple[str, ...]
    thinking: str
    model: tuple[str, str] | None
    tokens: dict[str, int | None] | None
    messages: tuple[Row, ...]
    plans: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Golden:
    """A session as pi sees it: the facts of the whole file and the nodes in file order."""

    head: dict[str, Any]
    nodes: tuple[Node, ...]


def load(path: Path) -> Golden:
    """Expand one golden file."""
    data = json.loads(path.read_text("utf-8"))
    rows = [Row(*row) for row in data.pop("rows")]
    nodes = tuple(
        Node(
            at=node["at"],
            why=tuple(node["why"]),
            thinking=node["thinking"],
            model=tuple(node["model"]) if node["model"] else None,
            tokens=node["tokens"],
            messages=tuple(row for start, count in node["messages"] for row in rows[start : start + count]),
            plans=tuple(node["plans"]),
        )
        for node in data.pop("nodes")
    )
    return Golden(data, nodes)


def pairs() -> Iterator[tuple[Path, Path]]:
    """Every session at hand with its golden; those of the corpora only where the corpora are present."""
    for golden in sorted(GOLDEN.glob("*.json")):
        for folder in (SESSIONS, CORPORA):
            session = folder / f"{golden.stem}.jsonl"
            if session.exists():
                yield session, golden
