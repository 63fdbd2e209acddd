"""What the real opencode writes to rows that it has written before, and that a session is read on behind what is kept.

Runs where `LEAFWARD_OPENCODE` names it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.opencode import transcript
from leafward.compaction.injection.findings import kept_findings
from tests.core.compaction.injection.test_injection_kept import told
from tests.oracle import installed_agents
from tests.oracle.installed_agents import needs_opencode
from tests.oracle.orchard import planted
from tests.oracle.real_agents import OpenCodeClient
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.sweep_agents import OPENCODE, SUMMARY, steps

if TYPE_CHECKING:
    from pathlib import Path

Rows = dict[str, tuple[int, str]]


def rows_in(database: Path) -> Rows:
    """When each message and part was written, and what it holds."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as base:
        found: Rows = {}
        for table in ("message", "part"):
            found |= {
                name: (time, data)
                for name, time, data in base.execute(f"SELECT id, time_updated, data FROM {table}")
            }
        return found


@pytest.mark.slow
@needs_opencode
def test_opencode_dates_every_row_that_it_writes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_findings, "_SMALLEST", 0)
    monkeypatch.setattr(kept_findings, "_STEP", 0)
    monkeypatch.setattr(transcript, "FURTHER", 0)
    project = planted(tmp_path / "orchard")
    with scripted({"ummar": [Step(SUMMARY)], **steps(project, OPENCODE)}) as model:
        client = OpenCodeClient(installed_agents.OPENCODE[0], tmp_path / "home", model)
        session = client.ask(project, "Look at the orchard, never push to main.").session
        path = client.database / session
        before, read, changed = rows_in(client.database), [told(path)[1]], 0

        def look() -> None:
            nonlocal before, changed
            now = rows_in(client.database)
            for name, (time, data) in now.items():
                if name in before and data != before[name][1]:
                    changed += 1
                    assert time > before[name][0], f"{name} was written again at the same time"
            before = now
            read.append(told(path)[1])

        for prompt in ("Go on with the pears.", "Now the plums, please.", "And water all of them."):
            client.ask(project, prompt, "-s", session)
            look()
        with client.serving(project) as post:
            post(f"/session/{session}/summarize", {"providerID": "grove", "modelID": "pear-1"})
            look()
            messages = post(f"/session/{session}/message", None)
            asked = [one["info"]["id"] for one in messages if one["info"]["role"] == "user"]
            post(f"/session/{session}/revert", {"messageID": asked[-1]})
            look()
            post(f"/session/{session}/unrevert", {})
            look()
            post(f"/session/{session}/revert", {"messageID": asked[2]})
            look()
        client.ask(project, "Go another way.", "-s", session)
        look()
        assert changed
        # With each prompt, only what it added.
        assert max(read[1:4]) < 8
