"""Before and after a compaction, aligned: every message is there once on each side, and the ledger is both contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.base.strategies import Strategy
from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS
from leafward.compaction.xray.alignment import Link, What, XRay
from leafward.compaction.xray.xray import xray_edited, xray_of, xray_planned
from leafward.context.basis import Basis, planned_at
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex, Kind
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.acting import Acting, call, reading, usage
from tests.core.xrayed import EVERY, compactions_in

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

SUMMARY = """## Goal
Move the orchard to the new scale.

## Key Decisions
- weights stay in grams

<read-files>
src/scale.py
src/tree.py
</read-files>"""
INJECTED = f"{SUMMARY}\n\n<leafward-context>\n## Rules\n- never round\n- never guess\n\n## Files\n- src/scale.py\n</leafward-context>"


def adds_up(xray: XRay) -> None:
    """The ledger, the bands and the rows come to the same totals, and no message is missing or there twice."""
    assert sum(share.before for share in xray.ledger) == xray.before
    assert sum(share.after for share in xray.ledger) == xray.after
    assert [band.start for band in xray.bands[1:]] == [band.stop for band in xray.bands[:-1]]
    for band in xray.bands:
        assert {row.link for row in xray.rows[band.start : band.stop]} == {band.link}
    context = context_at(xray.session, xray.before_at)
    said = [message.entry for message in context.messages if message.role != "system"]
    shown = [row.before.entry for row in xray.rows if row.before and row.before.what is What.MESSAGE]
    assert sorted(shown) == sorted(said)
    assert xray.messages_before == len(context.messages)
    assert sum(line.tokens for line in xray.lines) == sum(
        row.after.tokens for row in xray.rows if row.after and row.after.line >= 0
    )


@pytest.mark.parametrize("path", EVERY, ids=[path.stem for path in EVERY])
def test_every_compaction_adds_up(path: Path) -> None:
    with reading(path) as session:
        for compaction in compactions_in(session):
            xray = xray_of(session, compaction)
            adds_up(xray)
            after = context_at(session, compaction)
            sizes = [count.total for count in Basis.of(session).change(compaction)]
            assert [xray.before, xray.after] == sizes
            assert xray.after == after.total
            kept = [row.after.entry for row in xray.rows if row.after and row.after.what is What.MESSAGE]
            stayed = [one.entry for one in after.messages if one.role not in ("system", "compactionSummary")]
            assert sorted(kept) == sorted(stayed)


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("path", EVERY, ids=[path.stem for path in EVERY])
def test_every_plan_adds_up(path: Path, strategy: Strategy) -> None:
    with reading(path) as session:
        sizes = measure(session, estimators=ALL_ESTIMATORS)
        for keep in (0, 3_000, 20_000):
            made = plan(sizes, PlanSettings(strategy=strategy, keep_recent=keep))
            xray = xray_planned(session, made)
            adds_up(xray)
            assert xray.before == made.tokens.counted_before
            if made.nothing:
                assert xray.after == xray.before
                assert {row.link for row in xray.rows} <= {Link.SYSTEM, Link.KEPT, Link.REST, Link.ERROR}


@pytest.mark.parametrize("strategy", Strategy)
def test_what_was_planned_is_what_is_seen_afterwards(demo: Session, strategy: Strategy) -> None:
    sizes = measure(demo, estimators=ALL_ESTIMATORS)
    made = plan(sizes, PlanSettings(strategy=strategy, keep_recent=6_000))
    injection = inject(demo, demo.leaf, InjectionSettings(budget=2_000))
    drafted = draft(demo, made, Extractive(), injection=injection, pins=("8123 trees",))
    planned = xray_planned(demo, made, drafted)
    adds_up(planned)
    assert planned.after == drafted.counted_after
    shares = {share.link: share.after for share in planned.ledger}
    assert shares[Link.INJECTED] == injection.tokens, "what the injection itself counts"
    assert shares[Link.SYSTEM] == sizes.system_tokens, "no part of what is kept"
    accept(demo, drafted)
    seen = xray_of(demo, demo.leaf)
    adds_up(seen)
    assert seen.ledger == planned.ledger
    assert seen.bands == planned.bands
    assert (seen.messages_before, seen.messages_after) == (planned.messages_before, planned.messages_after)
    assert [(row.link, row.cut) for row in seen.rows] == [(row.link, row.cut) for row in planned.rows]
    assert any(band.link is Link.INJECTED for band in seen.bands)
    told = [row for row, both in enumerate(seen.rows) if both.after and both.after.what is What.LINE]
    assert [seen.sources(row) for row in told] == [planned.sources(row) for row in told]
    assert sum(bool(found) and found[0].recorded for found in map(seen.sources, told)) > len(told) * 3 // 4


def compacted(path: Path, summary: str, *, kept: int = 2, turns: int = 4) -> Acting:
    """Turns of a prompt, a call, its result and a reply; the last `kept` of them stay, by default in whole turns."""
    file = Acting(path)
    starts = []
    for turn in range(turns):
        starts.append(file.user(f"question {turn}: how heavy is tree {turn + 40}?"))
        file.said(call("read", f"c{turn}", path=f"src/tree{turn}.py"))
        file.answered(f"c{turn}", "read", f"tree {turn + 40} weighs {turn + 1}250 g")
        file.said(f"answer {turn}: it weighs {turn + 1}250 g", tokens=usage(4_000))
    first = starts[turns - kept] if kept else None
    file.entry(
        "compaction",
        summary=summary,
        firstKeptEntryId=first or "itself",
        tokensBefore=4_000,
    )
    return file


def cells(xray: XRay, link: Link) -> list[tuple[What, str, int]]:
    return [
        (row.after.what, row.after.text, row.after.below)
        for row in xray.rows
        if row.link is link and row.after is not None
    ]


def test_a_summary_stands_beside_what_it_replaces(tmp_path: Path) -> None:
    with reading(compacted(tmp_path / "s.jsonl", SUMMARY).path) as session:
        xray = xray_of(session, session.leaf)
        adds_up(xray)
    assert [(band.link, band.stop - band.start) for band in xray.bands] == [
        (Link.REPLACED, 8),
        (Link.KEPT, 8),
        (Link.REST, 1),
        (Link.ERROR, 1),
    ]
    assert cells(xray, Link.REPLACED) == [
        (What.HEADING, "Goal", 0),
        (What.LINE, "Move the orchard to the new scale.", 0),
        (What.HEADING, "Key Decisions", 0),
        (What.LINE, "weights stay in grams", 0),
        (What.FILES, "read", 2),
        (What.FILE, "src/scale.py", 0),
        (What.FILE, "src/tree.py", 0),
    ]


def test_what_is_enclosed_is_injected_section_by_section(tmp_path: Path) -> None:
    with reading(compacted(tmp_path / "s.jsonl", INJECTED).path) as session:
        xray = xray_of(session, session.leaf)
        adds_up(xray)
    assert cells(xray, Link.INJECTED) == [
        (What.SECTION, "Rules", 2),
        (What.ADDED, "never round", 0),
        (What.ADDED, "never guess", 0),
        (What.SECTION, "Files", 1),
        (What.ADDED, "src/scale.py", 0),
    ]
    assert cells(xray, Link.REPLACED) == cells_of_plain_summary(tmp_path)


def cells_of_plain_summary(tmp_path: Path) -> list[tuple[What, str, int]]:
    with reading(compacted(tmp_path / "plain.jsonl", SUMMARY).path) as session:
        return cells(xray_of(session, session.leaf), Link.REPLACED)


def test_a_split_turn_has_a_bracket_of_its_own(tmp_path: Path) -> None:
    told = f"{SUMMARY}\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request\nWeigh tree 43."
    file = Acting(tmp_path / "s.jsonl")
    file.user("an older question")
    file.said("an older answer")
    file.user("weigh tree 43")
    file.said(call("read", "c", path="src/tree.py"))
    file.answered("c", "read", "18250 g")
    kept = file.said("it weighs 18250 g")
    file.entry("compaction", summary=told, firstKeptEntryId=kept, tokensBefore=1)
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        adds_up(xray)
    before = {
        link: [row.before.entry for row in xray.rows if row.link is link and row.before] for link in Link
    }
    assert (before[Link.REPLACED], before[Link.PREFIX], before[Link.KEPT]) == ([0, 1], [2, 3, 4], [5])
    assert [text for _, text, _ in cells(xray, Link.PREFIX)] == [
        "Turn Context (split turn)",
        "Original Request",
        "Weigh tree 43.",
    ]
    share = {share.link: share for share in xray.ledger}
    assert share[Link.PREFIX].after > 0


def test_where_only_the_beginning_of_a_turn_is_summarised_the_summary_stands_for_that(tmp_path: Path) -> None:
    """As opencode writes it. "Summarised" would lose nothing and still have a size."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("weigh tree 43")
    file.said(call("read", "c", path="src/tree.py"))
    file.answered("c", "read", "18250 g")
    kept = file.said("it weighs 18250 g")
    file.entry("compaction", summary=SUMMARY, firstKeptEntryId=kept, tokensBefore=1)
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        adds_up(xray)
    share = {share.link: share for share in xray.ledger}
    assert (share[Link.REPLACED].before, share[Link.REPLACED].after) == (0, 0)
    assert share[Link.PREFIX].before > 0
    assert share[Link.PREFIX].after > 0


def test_what_was_never_sent_is_cut(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("a question")
    message = {"role": "bashExecution", "command": "ls secret", "output": "", "excludeFromContext": True}
    hidden = file.entry("message", message=message)
    file.said("an answer")
    kept = file.user("another question")
    file.entry("compaction", summary="told", firstKeptEntryId=kept, tokensBefore=1)
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        assert [row.before.entry for row in xray.rows if row.link is Link.CUT and row.before] == [
            session.columns.index(hidden)
        ]
        adds_up(xray)


def test_a_message_that_was_compacted_away_before_and_is_kept_now_comes_back(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("the first question")
    back = file.said("the first answer")
    file.entry("compaction", summary="told once", firstKeptEntryId="itself", tokensBefore=1)
    file.user("the second question")
    file.entry("compaction", summary="told twice", firstKeptEntryId=back, tokensBefore=1)
    with reading(file.path) as session:
        xray = xray_of(session, session.leaf)
        assert [
            row.after.entry
            for row in xray.rows
            if row.link is Link.INJECTED and row.after and row.after.what is What.MESSAGE
        ] == [session.columns.index(back)]
        adds_up(xray)


def test_the_system_prompt_and_its_tools_are_rows_of_their_own(demo: Session) -> None:
    xray = xray_of(demo, compactions_in(demo)[0])
    first, second = xray.rows[:2]
    assert [(row.link, row.before and row.before.what) for row in (first, second)] == [
        (Link.SYSTEM, What.SYSTEM),
        (Link.SYSTEM, What.TOOLS),
    ]
    assert second.before is not None
    assert second.before.below == 5
    assert first.after is not None
    assert first.after.tokens == 310


def test_what_is_not_in_the_file_has_one_name_on_both_sides(demo: Session) -> None:
    """Its system prompt is recorded: only the rest of what was sent is not."""
    for at in compactions_in(demo):
        [row] = [row for row in xray_of(demo, at).rows if row.link is Link.REST]
        assert row.before is not None
        assert row.after is not None
        assert row.before.text == row.after.text == "unrecorded system prompt, tools"


def test_messages_quoted_in_a_summary_stand_beside_themselves(demo: Session) -> None:
    made = plan(
        measure(demo, estimators=ALL_ESTIMATORS), PlanSettings(strategy=Strategy.CODEX, keep_recent=300)
    )
    drafted = draft(demo, made, Extractive())
    accept(demo, drafted)
    xray = xray_of(demo, demo.leaf)
    quoted = [
        (row.before.entry, row.cut)
        for row in xray.rows
        if row.before and row.after and row.after.what is What.QUOTED
    ]
    assert [entry for entry, _ in quoted] == list(made.kept)
    assert [entry for entry, cut in quoted if cut] == [short.entry for short in made.pruned]
    adds_up(xray)


def test_results_pruned_in_what_is_kept_are_cut_short(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("the oldest question " * 1_000)
    file.said("the oldest answer")
    for turn in range(6):
        file.user(f"question {turn}")
        file.said(call("read", f"c{turn}", path=f"src/{turn}.py"))
        file.answered(f"c{turn}", "read", f"{turn} " * 60_000)
        file.said(f"answer {turn}")
    with reading(file.path) as session:
        settings = PlanSettings(strategy=Strategy.OPENCODE, keep_recent=91_000, window=400_000)
        made = plan(measure(session, estimators=ALL_ESTIMATORS), settings)
        drafted = draft(session, made, Extractive())
        assert drafted.ground.there.edits
        planned = xray_planned(session, made, drafted)
        accept(session, drafted)
        xray = xray_of(session, session.leaf)
        assert session.columns.kind[session.columns.parent[session.leaf]] == Kind.CONTEXT_EDIT
        assert planned_at(session, session.leaf) == made.at
        adds_up(xray)
    cut = [row for row in xray.rows if row.link is Link.KEPT and row.cut]
    assert [row.before.entry for row in cut if row.before] == [
        edit.entry for edit in drafted.ground.there.edits
    ]
    shares = {share.link: share for share in xray.ledger}
    assert shares[Link.CUT].before == sum(row.cut for row in cut) > 50_000
    assert shares[Link.KEPT].before == shares[Link.KEPT].after
    assert (xray.before, xray.after) == (planned.before, planned.after)


def test_an_entry_that_is_no_compaction_is_refused(demo: Session) -> None:
    for entry in (0, -1, len(demo) + 5):
        with pytest.raises(Refused, match="is not a compaction"):
            xray_of(demo, entry)


# --- context edits ----------------------------------------------------------------------------------------------------


def test_edits_of_one_operation_are_seen_through_together(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("a prompt that is left out, of some words")
    file.said("a reply " * 60)
    file.user("and another")
    with reading(file.path) as session:
        edits = [ContextEdit(EntryIndex(0)), ContextEdit(EntryIndex(1), keep=20)]
        apply_edits(session, draft_edits(session, edits))
        made = [at for at, kind in enumerate(session.columns.kind) if kind == Kind.CONTEXT_EDIT]
        assert len(made) == 2
        found = [xray_edited(session, at) for at in made]
        assert found[0] == found[1]
        xray = found[0]
        assert (xray.of_edits, xray.compaction, xray.before_at) == (True, made[1], 2)
        adds_up(xray)
        (left_out,) = [row for row in xray.rows if row.link is Link.CUT]
        assert left_out.before is not None
        assert session.columns.id(left_out.before.entry) == first
        (short,) = [row for row in xray.rows if row.cut]
        assert short.before is not None
        assert short.after is not None
        assert short.after.edited == made[1]
        assert short.before.edited == -1
        assert short.before.tokens - short.after.tokens == short.cut
        context = context_at(session)
        assert [message.entry for message in context.messages] == [1, 2]
        with pytest.raises(Refused, match="not a context edit"):
            xray_edited(session, 0)


def test_a_reply_that_broke_off_is_not_sent_when_it_comes_back(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    back = file.user("a prompt that comes back")
    file.said("a reply that broke", stop="aborted")
    file.compacted(file.user("another"))
    file.said("its reply")
    file.compacted(back)
    with reading(file.path) as session:
        xray = xray_of(session, len(session) - 1)
        adds_up(xray)
        returned = [row.after for row in xray.rows if row.before is None and row.after]
        assert [(one.role, one.sent) for one in returned if one.what is What.MESSAGE] == [
            ("user", True),
            ("assistant", False),
        ]
