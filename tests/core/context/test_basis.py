"""One basis for all sizes: what was counted before a compaction, carried over it, against what the next request counted."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.basis import Basis
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at, lacks_prompt
from leafward.context.price import price_of_move
from leafward.context.recorded_usage import believed
from leafward.context.sizes import Sizes
from leafward.session.entries import EntryIndex, Kind, Usage
from leafward.session.journal.write import Writing
from leafward.session.messages import leaves_files_unstored, trusted_usage
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.acting import Acting, reading, usage
from tests.bench.need import compactions_of, sessions
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.context.model_context import Ledger
    from leafward.session.session import Session

NEAR = 0.05
"""How far a size after a compaction may be from what the next request counted."""


def next_request(session: Session, compaction: int) -> tuple[EntryIndex, Usage] | None:
    """The first reply below a compaction that reported its usage, found without the code under test."""
    for index in range(compaction + 1, len(session)):
        if session.columns.kind[index] != Kind.ASSISTANT or not session.tree.is_ancestor(compaction, index):
            continue
        between = session.tree.path(index)
        if any(session.columns.kind[at] == Kind.COMPACTION for at in between if compaction < at):
            continue
        found = trusted_usage((session.body(index) or {}).get("message") or {})
        if found is not None:
            return EntryIndex(index), found
    return None


def in_between(session: Session, compaction: int, reply: EntryIndex) -> int:
    """Estimated tokens of what was said between a compaction and the request after it."""
    here, there = context_at(session, compaction), context_at(session, session.columns.parent[reply])
    return sum(there.messages.tokens) - sum(here.messages.tokens)


@dataclass(frozen=True)
class Known:
    """What is known of one stored compaction, beside what the next request counted."""

    path: Path
    sent: int
    after: Ledger
    carried: int
    carried_not_in_file: int
    why_not: str
    """Why the size could not be derived from the counts before it; empty if it could."""


@pytest.fixture(scope="module")
def known() -> list[Known]:
    """The stored compactions of the corpora that a request of their own follows."""
    found, inherited = [], 0
    for session in sessions(copies=True):
        basis = Basis.of(session)
        for at in map(EntryIndex, compactions_of(session)):
            request = next_request(session, at)
            if request is None:
                continue
            reply, counted = request
            if not believed(session, reply):
                inherited += 1
                assert session.path.stem.startswith("branched"), (
                    "copied from a session that was not compacted"
                )
                continue
            why_not = ""
            if leaves_files_unstored(session.body(at) or {}):
                why_not = "files are added that the file does not hold"
            elif not basis.carried_not_in_file(at):
                why_not = "no request before it"
            elif not 0.1 < basis.carry(EntryIndex(session.columns.parent[at])).scale < 10:
                why_not = "a scripted model made its counts up"
            sent = counted.total - counted.output - in_between(session, at, reply)
            ledger = context_at(session, at).ledger
            found.append(
                Known(session.path, sent, ledger, basis.carried(at), basis.carried_not_in_file(at), why_not)
            )
    assert inherited == 7
    return found


@needs_corpora
def test_a_size_after_a_stored_compaction_is_the_next_requests_count(known: list[Known]) -> None:
    """It is a count, and proves nothing about what is carried: that is held against it in the next test."""
    assert len(known) > 25
    for one in known:
        assert one.after.recorded
        assert one.after.total == one.sent, one.path


@needs_corpora
def test_what_is_carried_over_a_compaction_is_near_what_the_next_request_counts(known: list[Known]) -> None:
    assert Counter(one.why_not for one in known) == {
        "": 11,
        "files are added that the file does not hold": 12,
        "no request before it": 2,
        "a scripted model made its counts up": 6,
    }
    for one in known:
        if not one.why_not:
            assert abs(one.carried - one.sent) <= NEAR * one.sent, one.path
            assert one.after.not_in_file == one.carried_not_in_file > 0, one.path


@needs_corpora
def test_before_the_next_request_it_is_worked_out_as_near(tmp_path: Path) -> None:
    """The same where the file ends at the compaction, of sessions that hold what was sent."""
    looked = 0
    for name in ("pi/before-compaction.jsonl", "real/codex/jdx__mise__49_42d2638f78.jsonl"):
        data = (CORPORA / name).read_bytes()
        with closing(agent_of(CORPORA / name).open(CORPORA / name)) as whole:
            for compaction in compactions_of(whole):
                found = next_request(whole, compaction)
                assert found is not None
                sent = found[1].total - found[1].output - in_between(whole, compaction, found[0])
                cut = tmp_path / f"{compaction}.jsonl"
                cut.write_bytes(data[: whole.columns.start[compaction + 1]])
                with closing(agent_of(cut).open(cut)) as short:
                    after = context_at(short, compaction)
                    assert not after.ledger.recorded
                    assert abs(after.total - sent) <= NEAR * sent, (name, compaction, after.total, sent)
                looked += 1
    assert looked == 3


@needs_corpora
def test_with_an_encrypted_summary_it_is_worked_out_as_near(tmp_path: Path) -> None:
    """Cut behind the count that Codex makes of what a compaction left: that tells the size of the summary."""
    path = CORPORA / "real/codex/jdx__mise__49_42d2638f78.jsonl"
    data = path.read_bytes()
    cut = tmp_path / path.name
    cut.write_bytes(data[: data.index(b'"context_compacted"')].rpartition(b"\n")[0] + b"\n")
    with closing(agent_of(cut).open(cut)) as session:
        after = context_at(session)
        assert (after.ledger.summary, after.ledger.recorded) == (1_382, False)
        assert abs(after.total - 19_796) <= NEAR * 19_796


@needs_corpora
def test_where_it_is_too_low_as_the_file_lacks_what_was_sent_that_is_said(tmp_path: Path) -> None:
    """Real sessions of Claude Code cut right behind a compaction: files that it put in again are in no row of them."""
    far = near = 0
    for path in sorted((CORPORA / "real/claude").glob("*.jsonl")):
        data = path.read_bytes()
        with closing(agent_of(path).open(path)) as whole:
            for compaction in compactions_of(whole):
                found = next_request(whole, compaction)
                assert found is not None
                sent = found[1].total - found[1].output - in_between(whole, compaction, found[0])
                assert not Basis.of(whole).lacks_prompt(EntryIndex(compaction)), "the request tells it"
                cut = tmp_path / f"{path.stem}-{compaction}.jsonl"
                cut.write_bytes(data[: whole.origin(EntryIndex(compaction + 1)).offset])
                with closing(agent_of(cut).open(cut)) as short:
                    after = context_at(short)
                    assert after.compaction == compaction
                    assert not after.ledger.recorded
                    lacks = lacks_prompt(short, after)
                    assert lacks == Basis.of(short).lacks_prompt(short.leaf)
                    if abs(after.total - sent) <= NEAR * sent:
                        near += 1
                    else:
                        assert after.total < sent
                        assert lacks, (path, after.total, sent)
                        far += 1
    assert (near, far) == (1, 8)


PROMPT = 4_000
"""Tokens that no entry of the file has."""


@pytest.fixture
def compacted(tmp_path: Path) -> Acting:
    """Three turns, each counted as its contents and `PROMPT`, then a compaction that keeps the last of them."""
    file = Acting(tmp_path / "s.jsonl")
    said, kept = 0, ""
    for _ in range(3):
        kept = file.user("go on " * 200)
        said += 300
        file.said("done " * 80, tokens=usage(PROMPT + said + 100, output=100))
        said += 100
    file.compacted(kept)
    return file


def test_both_sides_of_a_compaction_have_what_is_not_in_the_file(compacted: Acting) -> None:
    with reading(compacted.path) as session:
        before, after = Basis.of(session).change(session.leaf)
        context = context_at(session)
        found = context.ledger
    assert before == (PROMPT + 1200, 0, True)
    assert found.not_in_file == PROMPT
    assert (found.kept, found.error) == (400, 0)
    assert after.total == found.total == PROMPT + found.summary + 400
    assert (after.sign, context.size.total) == ("~", found.summary + 400), (
        "pi leaves out what is not in the file"
    )


def test_the_request_that_came_next_measures_it(compacted: Acting) -> None:
    compacted.user("go on " * 200)
    compacted.said("done", tokens=usage(9_000, output=100))
    with reading(compacted.path) as session:
        _, after = Basis.of(session).change(session.columns.kind.index(Kind.COMPACTION))
    assert (after.total, after.recorded) == (9_000 - 100 - 300, True)


@pytest.mark.parametrize("unstored", [False, True])
def test_more_than_was_expected_is_not_in_file_only_where_files_are_added(
    compacted: Acting, *, unstored: bool
) -> None:
    """It fails where the first request after a compaction measures anew what was carried over it."""
    compacted.compacted(compacted.user("go on " * 200), unstoredFiles=unstored)
    compacted.said("done", tokens=usage(9_000, output=100))
    with reading(compacted.path) as session:
        ledger = context_at(session).ledger
        carried = Basis.of(session).carried(EntryIndex(compactions_of(session)[-1]))
    added = 9_000 - 100 - carried
    assert added > 3_000
    assert ledger.total == 9_000
    assert ledger.not_in_file == (PROMPT + added if unstored else PROMPT)
    assert abs(ledger.error - (0 if unstored else added)) <= 100


def test_a_plan_before_the_first_reply_keeps_what_is_not_in_the_file(tmp_path: Path) -> None:
    """It fails where the next request measures the size before alone, and all of it that is not in the file counts as freed."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("a pear " * 4_000)
    at = file.user("on")
    file.said("yes", tokens=usage(PROMPT + 7_101, output=100))
    with reading(file.path) as session:
        index = session.columns.index(at)
        made = plan(measure(session, index), PlanSettings(keep_recent=1)).tokens
        assert context_at(session, index).ledger.not_in_file == made.not_in_file == PROMPT
        assert made.counted_before == PROMPT + 7_001
        assert made.counted_after == PROMPT + made.after


def test_usage_of_a_reply_older_than_the_compaction_above_it_is_not_believed(compacted: Acting) -> None:
    compacted.user("go on")
    message = {
        "role": "assistant",
        "content": [],
        "usage": usage(90_000),
        "stopReason": "stop",
        "timestamp": 946_684_800_001,
    }
    reply = compacted.entry("message", message=message)
    with reading(compacted.path) as session:
        assert not believed(session, session.columns.index(reply))
        context = context_at(session)
        assert context.size.total == 90_000, "as pi counts it"
        assert not context.ledger.recorded
        assert context.total < PROMPT + 1000


def test_what_nobody_counted_keeps_its_size_over_a_compaction(tmp_path: Path) -> None:
    """The requests before count a fifth of the estimates. Messages since are in the size before with their estimates, after too."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("a pear " * 8_000)
    file.said("yes", tokens=usage(3_000))
    file.compacted(file.user("on"))
    for _ in range(4):
        file.user("a plum " * 2_000)
        file.said("a quince " * 2_000)
    with reading(file.path) as session:
        made = plan(measure(session), PlanSettings(keep_recent=10_000))
        kept, tokens = made.tokens.kept, made.tokens
        assert tokens.summarize
        assert kept <= tokens.counted_after <= tokens.counted_before
        assert tokens.counted_before - tokens.counted_after == pytest.approx(
            tokens.summarize + tokens.turn_prefix - tokens.summary, rel=0.2
        )
        accept(session, draft(session, made, Extractive()), Writing())
        assert context_at(session, session.leaf).total == pytest.approx(tokens.counted_after, rel=0.1)


def test_an_edit_moves_the_size_by_what_it_frees(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("go on " * 600)
    file.said("done", tokens=usage(PROMPT + 901, output=1))
    with reading(file.path) as session:
        before = context_at(session).total
        draft = draft_edits(session, [ContextEdit(session.columns.index(first), keep=100)])
        apply_edits(session, draft, Writing())
        after = context_at(session)
        assert before - after.total == draft.saved > 700
        assert after.total == draft.tokens_after
        assert (after.ledger.not_in_file, after.ledger.recorded) == (PROMPT, False)


@pytest.mark.parametrize("counted", [True, False])
def test_what_an_edit_frees_is_one_number(tmp_path: Path, *, counted: bool) -> None:
    """Where a provider counts more than is estimated, its entries, the context and its edits all say what the context loses."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said("begun", tokens=usage(1_000, output=1))
    first = file.user("go on " * 600)
    file.said("done", tokens=usage(4_000, output=1))
    if not counted:
        first = file.user("go further on " * 600)
    with reading(file.path) as session:
        whole = context_at(session).total
        draft = draft_edits(session, [ContextEdit(session.columns.index(first))])
        (entry,) = draft.freed
        apply_edits(session, draft, Writing())
        after = context_at(session)
        (edit,) = after.messages.edits
        assert whole - after.total == draft.saved == entry.before - entry.after == after.freed([edit])
        assert draft.saved > 1.5 * edit.freed if counted else draft.saved == edit.freed


def test_every_display_has_the_same_size(compacted: Acting) -> None:
    compacted.user("on")
    with reading(compacted.path) as session:
        for index in range(len(session)):
            at = EntryIndex(index)
            context = context_at(session, at)
            assert Basis(Sizes(session, EntryMetrics(session))).count_at(at).total == context.total
            place = session.tree.content_at(at)
            assert price_of_move(session, at).after.total == context_at(session, place).total
