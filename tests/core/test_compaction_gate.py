"""The gate: which rules and unfinished steps would be in nothing that the model sees after a compaction."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.compaction.draft_assembly import draft, edited
from leafward.compaction.gate import gate_pins, pinned, unseen
from leafward.compaction.measure import measure
from leafward.compaction.plan import plan
from leafward.compaction.repair import repair
from leafward.compaction.settings import PlanSettings
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive import Extractive
from tests.pi_file import RULE, STEP, PiFile, lossy
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.compaction.draft import Draft


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    lossy(tmp_path)
    with closing(Session.open(tmp_path / "s.jsonl")) as session:
        yield session


def repaired(path: Path, compaction: int) -> Draft:
    with closing(Session.open(path)) as session:
        return repair(session, compaction)


def test_what_nothing_holds_is_listed_whole_and_pins_bring_it_back(session: Session) -> None:
    made = repair(session, 4)
    assert [fate.fact.text for fate in unseen(made.survival)] == [RULE, STEP]
    again = pinned(made, gate_pins(made))
    assert unseen(again.survival) == ()
    assert again.pins == (RULE, STEP)
    assert RULE in again.text


def test_what_the_kept_messages_hold_stops_nothing(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"Please look at the lease table. {RULE}")
    file.reply("Read.")
    kept = file.user(RULE)
    file.entry("compaction", summary="## Goal\n- leases", firstKeptEntryId=kept, tokensBefore=400, details={})
    assert unseen(repaired(tmp_path / "s.jsonl", 3).survival) == ()


def test_a_checklist_in_a_file_is_still_in_the_file(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("write the plan down")
    arguments = {"path": "plan.md", "content": "- [ ] rename the orchard module\n- [ ] test the orchard"}
    content = [{"type": "toolCall", "id": "c1", "name": "write", "arguments": arguments}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "toolUse"})
    kept = file.user("go on")
    file.entry("compaction", summary="## Goal\n- a plan", firstKeptEntryId=kept, tokensBefore=400, details={})
    made = repaired(tmp_path / "s.jsonl", 3)
    assert any(fate.fact.text == "rename the orchard module" for fate in made.survival.fates)
    assert unseen(made.survival) == ()


def test_a_pin_cannot_be_edited_away(session: Session) -> None:
    made = edited(repair(session, 4, pins=["grams, not ounces"]), "## Goal\n- something else")
    assert "grams, not ounces" in made.text


@pytest.mark.parametrize("name", ["large-session", "branched-compacted", "before-compaction"])
def test_our_own_summaries_are_not_stopped(name: str) -> None:
    path = CORPORA / "pi" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the corpora are not here")
    with closing(Session.open(path)) as session:
        made = draft(session, plan(measure(session, session.leaf), PlanSettings()), Extractive())
    assert [fate.fact.text for fate in unseen(made.survival)] == []
