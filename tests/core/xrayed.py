"""Sessions with compactions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import Kind
from tests.oracle import golden

if TYPE_CHECKING:
    from leafward.session.session import Session

SESSIONS = sorted(golden.SESSIONS.glob("*.jsonl"))


WILD = sorted((golden.TESTS / "data" / "pi" / "plans").glob("*.jsonl"))


CORPORA = sorted(golden.CORPORA.glob("*.jsonl")) if golden.CORPORA.exists() else []


EVERY = [*SESSIONS, *WILD, *CORPORA]


def compactions_in(session: Session) -> list[int]:
    return [index for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION]
