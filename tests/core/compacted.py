"""Compactions drafted on the bundled session."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.draft.repair import corrected, own_summary
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.compaction.draft.draft import Draft
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer

SMALL = PlanSettings(keep_recent=2_000)


def drafted(session: Session, settings: PlanSettings = SMALL, at: int | None = None, **more: Any) -> Draft:
    sizes = measure(session, at, estimators=[settings.counting])
    return draft(session, plan(sizes, settings), Extractive(), **more)


def repair(
    session: Session, compaction: int, *, pins: Sequence[str] = (), summarizer: Summarizer | None = None
) -> Draft:
    """A draft that corrects a compaction, with its own summary or a new one."""
    start = corrected(session, compaction, pins)
    maker = summarizer if summarizer is not None else own_summary(session, compaction)
    return draft(session, start.plan, maker, pins=start.pins, injection=start.injection)


def lines_of(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.path.read_bytes().splitlines()]


def fates(found: Any) -> set[tuple[str, str, str]]:
    return {(fate.fact.kind, fate.fact.key, fate.status) for fate in found.fates}


def talk(path: Path, turns: int = 6) -> PiFile:
    """Turns of about sixty tokens, none of them from a moment ago."""
    file = PiFile(path)
    for turn in range(turns):
        file.user(f"question {turn} " * 12)
        file.reply(f"answer {turn} " * 12)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return file
