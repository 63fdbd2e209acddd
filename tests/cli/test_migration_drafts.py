"""A file that a killed migration leaves beside a session is no session."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from leafward.base.durable import draft_name
from leafward.base.paths import is_draft

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_a_draft_left_by_a_kill_is_not_listed(done: Run, sessions: Path, tmp_path: Path) -> None:
    session = tmp_path / "a.jsonl"
    shutil.copy(sessions / "version-1.jsonl", session)
    draft = draft_name(session)
    shutil.copy(session, draft)
    assert is_draft(draft.name)
    assert not is_draft(session.name)
    assert [one["path"] for one in done("ls", tmp_path, "--json").document["sessions"]] == [str(session)]
