"""Sources of a summary's lines, and the fates of facts in stored compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Cancelled
from leafward.compaction.xray.alignment import What, XRay
from leafward.compaction.xray.xray import xray_of
from leafward.summaries.fates.report import Status, survival_of
from leafward.summaries.survival.text_match import FactMatch
from tests.acting import Acting, call, reading
from tests.core.xrayed import EVERY, compactions_in

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def told(tmp_path: Path, *lines: str) -> XRay:
    summary = "## Critical Context\n" + "\n".join(f"- {line}" for line in lines)
    file = Acting(tmp_path / "s.jsonl")
    file.user("Never change the theme file, look into src/footer.ts instead, please.")
    file.said(call("bash", "c", command="npm run check"))
    file.answered("c", "bash", "error TS2739: missing in SelectList")
    file.said("The colour of the muted text is #808080 because the terminal has no other grey.")
    kept = file.user("go on")
    file.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=1)
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        xray.origins.fill()
        return xray


def of_lines(xray: XRay) -> list[tuple[int, FactMatch] | None]:
    found = []
    for row, both in enumerate(xray.rows):
        if both.after is not None and both.after.what is What.LINE:
            source = xray.source(row)
            found.append((int(source.entry), source.held) if source is not None else None)
    return found


def test_lines_are_traced_word_for_word_in_other_words_or_not_at_all(tmp_path: Path) -> None:
    xray = told(
        tmp_path,
        "look into src/footer.ts instead",
        "muted text has the colour #808080: the terminal knows no other grey",
        "`npm run check` ends with error TS2739",
        "the orchard was sold to a neighbour",
    )
    assert of_lines(xray) == [
        (0, FactMatch.VERBATIM),
        (3, FactMatch.PARAPHRASED),
        (1, FactMatch.PARAPHRASED),
        None,
    ]


def test_a_line_that_says_the_opposite_is_told_so(tmp_path: Path) -> None:
    xray = told(tmp_path, "change the theme file and look into src/footer.ts instead, please")
    assert of_lines(xray) == [(0, FactMatch.CONTRADICTED)]


def test_the_source_quotes_the_line_that_says_it(tmp_path: Path) -> None:
    xray = told(tmp_path, "the error is TS2739: missing in SelectList")
    source = xray.source(1)
    assert source is not None
    assert source.quote == "error TS2739: missing in SelectList"
    assert not source.recorded
    assert xray.source(0) is None


def test_a_source_that_is_recorded_goes_before_what_is_alike(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    other = file.user("the scale is broken")
    file.said("the scale is broken, I see")
    kept = file.user("go on")
    details = {"leafward": {"sources": [[0, other], [1, "nowhere"], "junk", [None]]}}
    file.entry(
        "compaction",
        summary="- the scale is broken\n- nothing",
        firstKeptEntryId=kept,
        tokensBefore=1,
        details=details,
    )
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        source = xray.source(0)
        assert source is not None
        assert (source.entry, source.recorded, source.held) == (0, True, FactMatch.VERBATIM)
        assert xray.source(1) is None


@pytest.mark.parametrize("path", EVERY, ids=[path.stem for path in EVERY])
def test_every_fact_that_a_compaction_met_has_its_source_in_the_context_before(path: Path) -> None:
    with reading(path) as session:
        for compaction in compactions_in(session):
            xray = xray_of(session, compaction)
            before = {row.before.entry for row in xray.rows if row.before is not None}
            report = survival_of(session, compaction)
            for fate in report.fates:
                invented = fate.status is Status.INVENTED
                assert fate.fact.entry == compaction if invented else fate.fact.entry in before
            overall = report.overall()
            assert overall is None or 0 <= overall <= 1


def test_a_report_that_is_not_wanted_any_more_stops(demo: Session) -> None:
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(Cancelled):
        survival_of(demo, compactions_in(demo)[-1], stop)
    assert len(asked) == 4


def test_sources_that_are_not_wanted_any_more_are_looked_for_later(demo: Session) -> None:
    xray = xray_of(demo, compactions_in(demo)[-1])
    told = [row.after.line for row in xray.rows if row.after and row.after.what is What.LINE]
    xray.origins.fill(lambda: True)
    assert not any(map(xray.origins.known, told))
    xray.origins.fill()
    assert all(map(xray.origins.known, told))
