"""The lost facts of all compactions are counted one after the other, whatever becomes of one of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.session.entries import EntryIndex, Kind
from leafward.session.session import Session
from leafward_tui.explorer import lost_facts
from tests.bench.generate import write_session
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


class Now:
    """A job that nobody stops and whose reports are heard at once."""

    def unwanted(self) -> bool:
        return False

    def report(self, heard: Callable[[], object]) -> None:
        heard()


def test_a_body_that_cannot_be_read_does_not_end_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    write_session(path, 900, branch_every=0, compact_every=300)
    with closing(Session.open(path)) as session:
        kind = session.columns.kind
        *others, last = [at for at in range(len(session)) if kind[at] == Kind.COMPACTION]
        assert others
        body = Session.body

        def failing(self: Session, at: EntryIndex) -> object:
            if at == last:
                raise OSError(5, "Input/output error")
            return body(self, at)

        monkeypatch.setattr(Session, "body", failing)
        heard: list[int] = []
        lost_facts.count_lost(session, [last, *others], lambda at, _found: heard.append(at), Now())  # type: ignore[arg-type]  # the two that it uses
        assert heard == others


def test_claude_code_is_taken_to_keep_nothing(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    for number in range(40):
        talk.prompt(f"Port src/part{number}.py; port {4_000 + number} must stay open.")
        talk.call(
            "Read", f"toolu_{number}", f"msg_{number}", file_path=f"/home/ada/orchard/src/part{number}.py"
        )
        talk.result(f"toolu_{number}", "leaves " * 2_000)
        talk.reply(f"Part {number} is ported, see src/new{number}.py and commit a{number:07}b.")
    found = lost_facts.forecast(talk.opened(), Config(), Now())  # type: ignore[arg-type]  # the two that it uses
    assert found.words.startswith("Claude Code loses ~")
