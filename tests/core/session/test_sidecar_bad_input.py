"""Whatever became of a sidecar, or of the agent's file under it: the session opens, and what is wrong is told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.base.errors import NotASession, Refused
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.estimators import Estimator
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.export.documents.session_export import export
from leafward.session.entries import EntryIndex
from leafward.session.journal.operation_log import archived_branches, operations
from leafward.session.journal.session_operations import archive, label, move, rename, undo
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.foreign_stores import make, said
from tests.sources import foreign
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from leafward.session.session import Session

mutations = st.lists(
    st.one_of(
        st.tuples(st.just("cut"), st.floats(0, 1), st.integers(1, 400)),
        st.tuples(st.just("junk"), st.floats(0, 1), st.binary(max_size=40)),
        st.tuples(st.just("line"), st.floats(0, 1), st.integers(0, 20)),
        st.tuples(st.just("swap"), st.floats(0, 1), st.integers(0, 20)),
        st.tuples(st.just("drop"), st.floats(0, 1), st.integers(0, 3)),
    ),
    max_size=4,
)


def mutilated(data: bytes, changes: list[tuple[str, float, int | bytes]]) -> bytes:
    for what, where, how in changes:
        at = int(where * len(data))
        lines = data.splitlines(keepends=True)
        nth = int(where * max(0, len(lines) - 1))
        if what == "cut" and isinstance(how, int):
            data = data[:at] + data[at + how :]
        elif what == "junk" and isinstance(how, bytes):
            data = data[:at] + how + data[at:]
        elif lines and isinstance(how, int):
            other = how % len(lines)
            if what == "line":
                lines.append(lines[other])
            elif what == "swap":
                lines[nth], lines[other] = lines[other], lines[nth]
            else:
                del lines[nth : nth + how]
            data = b"".join(lines)
    return data


def test_no_mutilation_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=60 if THOROUGH else 20)
    @given(mutations, mutations)
    def run(ours: list[tuple[str, float, int | bytes]], theirs: list[tuple[str, float, int | bytes]]) -> None:
        with TemporaryDirectory() as folder:
            monkeypatch.setenv("LEAFWARD_HOME", str(Path(folder) / "leafward"))
            store = make("claude", Path(folder) / "store")
            with closing(store.open()) as session:
                _keep(session)
                book = session.book_path
            book.write_bytes(mutilated(book.read_bytes(), ours))
            store.path.write_bytes(mutilated(store.path.read_bytes(), theirs))
            try:
                session = store.open()
            except NotASession:
                # Only ever for the agent's own file: without ours it opens no better.
                book.unlink()
                with pytest.raises(NotASession):
                    store.open()
                return
            with closing(session):
                _look(session)
                before = store.path.read_bytes(), book.read_bytes()
                try:
                    place = session.columns.id(EntryIndex(max(0, session.place)))
                    label(session, session.columns.index(place), "again")
                    assert session.labels[session.columns.index(place)] == "again"
                except Refused:
                    assert book.read_bytes() == before[1]
                assert store.path.read_bytes() == before[0]
                assert book.read_bytes().startswith(before[1])
                _look(session)
            store.close()

    run()


def _keep(session: Session) -> None:
    label(session, 0, "kept")
    move(session, said(session, "one"))
    rename(session, "The orchard")
    sizes = measure(session, said(session, "three"), estimators=tuple(Estimator))
    accept(session, draft(session, plan(sizes, PlanSettings(keep_recent=1)), Extractive()))
    archive(session, 2)
    undo(session)


def _look(session: Session) -> None:
    """Everything that reads, on whatever is there."""
    check(session)
    operations(session)
    archived_branches(session)
    context_at(session)
    export(session, "json")
    export(session, "md")
    for index in range(len(session)):
        assert session.entry(index).id == session.columns.id(index)
    assert session.leaf < len(session)
    assert session.what_if in (True, False)
    if session.source.book is not None and session.read_only is None:
        theirs, ours = foreign(session).transcript.columns, session.source.book.scan.columns
        assert len(session) == len(theirs) + len(ours)
