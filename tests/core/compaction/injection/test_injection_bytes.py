"""Facts collected for an injection: read from the bytes of a line where possible, and equal to the decoded ones."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.compaction.injection.findings import collection, path_reader
from leafward.compaction.injection.findings.collection import collect
from leafward.files import call_lines
from leafward.session.entries import Kind
from leafward.session.session import Session
from tests.bench.generate import write_session
from tests.claude_transcript import Transcript
from tests.core.catalogued import cards_in
from tests.surroundings import CORPORA, THOROUGH, needs_corpora

if TYPE_CHECKING:
    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.session.entries import Body, EntryIndex


def decoded(session: Session, at: int, monkeypatch: pytest.MonkeyPatch) -> Collected:
    """Facts found where every line has to be decoded."""
    with monkeypatch.context() as patched:
        patched.setattr(path_reader, "result_in", lambda _line: None)
        patched.setattr(call_lines.CallShapes, "one_call", lambda _self, _line: None)
        return collect(session, at)


@pytest.mark.parametrize("compact_every", [0, 400])
def test_a_long_session_is_told_by_its_bytes(
    compact_every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.jsonl"
    write_session(path, 1500, compact_every=compact_every)
    with closing(Session.open(path)) as session:
        there = [session.leaf, *range(100, len(session), 333)]
        for at in there:
            assert collect(session, at) == decoded(session, at, monkeypatch)
        assert collect(session, session.leaf).model == "claude-sonnet-4-5"


@needs_corpora
@pytest.mark.parametrize("name", ["pi/large-session.jsonl", "pi/before-compaction.jsonl"])
def test_real_sessions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CORPORA / name
    with closing(agent_of(path).open(path)) as session:
        for at in (session.leaf, len(session) // 2, len(session) // 3):
            assert collect(session, at) == decoded(session, at, monkeypatch)


def test_few_lines_of_a_long_session_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.jsonl"
    write_session(path, 1500, branch_every=0, compact_every=0)
    read: list[int] = []
    taken = path_reader.PathReader.read

    def counted(self: path_reader.PathReader, index: int, *rest: object) -> None:
        read.append(index)
        taken(self, index, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(path_reader.PathReader, "read", counted)
    with closing(Session.open(path)) as session:
        collect(session, session.leaf)
        assert len(read) < len(session) / 2


def test_what_was_typed_meanwhile_is_found_however_it_is_written(tmp_path: Path) -> None:
    for number, letters in enumerate((b"queued_command", b"\\u0071ueued_command")):
        transcript = Transcript(tmp_path / str(number))
        transcript.turn("Look at the pears and at the plums", "Looked.")
        row = transcript.text_of(
            "attachment", attachment={"type": "queued_command", "prompt": "and the figs"}
        )
        transcript.raw(row.encode().replace(b"queued_command", letters) + b"\n")
        transcript.attachment("the figs are nobody's")
        with closing(transcript.opened()) as session:
            assert collect(session, session.leaf).prompt == "and the figs"


STORES = (
    "claude",
    "codex",
    "opencode/v1.0.185/opencode",
    "opencode/v1.18.33/opencode",
    "public",
    "real/claude",
    "real/codex",
)


@needs_corpora
@pytest.mark.parametrize("store", STORES)
def test_what_was_said_and_became_of_calls_is_told_without_translating_all(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translated = 0
    taken = path_reader.PathReader.read

    def counted(self: path_reader.PathReader, index: EntryIndex, kind: Kind, body: Body) -> None:
        nonlocal translated
        translated += kind is Kind.TOOL_RESULT
        taken(self, index, kind, body)

    monkeypatch.setattr(path_reader.PathReader, "read", counted)
    results = 0
    for card in cards_in(CORPORA / store, tmp_path / "index"):
        if card.problem is not None:
            continue
        path = Path(card.path)
        with closing(agent_of(path).open(path)) as session:
            if session.is_native:
                continue
            leaves = [session.leaf, *session.tree.leaves()][: None if THOROUGH else 3]
            told = [collect(session, leaf) for leaf in leaves]
            with monkeypatch.context() as patched:
                patched.setattr(collection, "outcomes", lambda _session: None)
                patched.setattr(collection, "brief_bodies", lambda _session: None)
                before = translated
                assert told == [collect(session, leaf) for leaf in leaves], path
                results += translated - before
                translated = before
    assert translated < results / 2
