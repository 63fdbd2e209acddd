"""The preview of a session beside the list of all."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.session.journal.session_operations import move
from leafward_tui.catalogue.model.preview_tree import Sign
from leafward_tui.catalogue.model.session_preview import read_preview
from leafward_tui.explorer.controllers.row_metrics import note_of
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.acting import Acting, reading, usage
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.tui.session_store import SessionFile
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path


def test_the_preview_has_the_window_that_the_agent_recorded(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.event("task_started", turn_id="one", model_context_window=121_600)
    made.prompt("Count the pears")
    made.reply("Seven.", 3000)
    catalogue = Catalogue(Config(), [tmp_path])
    catalogue.refresh()
    (card,) = catalogue.cards()
    shown = sure(read_preview(card, catalogue.details(card.path), lambda: False))
    assert shown.window == 121_600


def test_the_preview_has_the_window_that_the_agent_is_set_to(tmp_path: Path) -> None:
    sessions = tmp_path / "agent" / "sessions"
    SessionFile(sessions, "/home/ada/orchard", "Count the pears", ago=timedelta(hours=1))
    models = [{"id": "scripted-1", "contextWindow": 90_000}]
    (tmp_path / "agent" / "models.json").write_text(json.dumps({"providers": {"local": {"models": models}}}))
    catalogue = Catalogue(Config(), [sessions])
    catalogue.refresh()
    (card,) = catalogue.cards()
    assert sure(read_preview(card, catalogue.details(card.path), lambda: False)).window == 90_000


def test_the_preview_ends_where_the_agent_goes_on(tmp_path: Path) -> None:
    """A move that only Leafward shows changes neither the list nor what stands beside it."""
    talk = Transcript(tmp_path)
    for number in range(3):
        talk.turn(f"prompt {number}", "done")
    shown = []
    for _ in range(2):
        catalogue = Catalogue(Config(), [tmp_path])
        catalogue.refresh()
        (card,) = catalogue.cards()
        shown.append(read_preview(card, catalogue.details(card.path), lambda: False))
        session = talk.opened()
        move(session, 0)
        assert session.what_if
        session.close()
    assert shown[0] is not None
    assert shown[1] is not None
    drawn = [[(row.sign, row.text, row.turns) for row in one.tree] for one in shown if one is not None]
    assert drawn[0] == drawn[1]
    assert (shown[0].last, shown[0].reply) == (shown[1].last, shown[1].reply)


@pytest.mark.parametrize(("summary", "grows"), [("short", False), ("words " * 9_000, True)])
def test_the_preview_has_the_sizes_of_a_compaction_that_its_row_in_the_tree_has(
    tmp_path: Path, summary: str, grows: bool
) -> None:
    made = Acting(tmp_path / "s.jsonl")
    made.user("go on " * 4_000)
    made.said("done", tokens=usage(12_000))
    kept = made.user("on")
    made.said("done", tokens=usage(12_020))
    compaction = made.compacted(kept, summary=summary)
    made.user("and now")
    catalogue = Catalogue(Config(), [tmp_path])
    catalogue.refresh()
    (card,) = catalogue.cards()
    shown = sure(read_preview(card, catalogue.details(card.path), lambda: False))
    (row,) = (row for row in shown.tree if row.sign is Sign.COMPACTION)
    text = sure(row.change).text(UNICODE)
    assert ("larger than before" in text) is grows
    with reading(made.path) as session:
        at = session.columns.index(compaction)
        assert text == note_of(session, [range(at, at + 1)], at, UNICODE)
