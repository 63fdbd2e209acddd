"""Summaries of a branch that is left: what they are made from, how they are stored, how the move is taken back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Cancelled, Refused
from leafward.compaction.branch_summary import (
    LeftBranch,
    leaves_something,
    left_branch,
    move_with_summary,
    summarize_branch,
)
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.model_context import context_at
from leafward.session.journal.lock import busy
from leafward.session.journal.operation_log import OperationKind, operations
from leafward.session.journal.session_operations import label, move, redo, undo
from leafward.session.journal.write import Writing
from leafward.session.messages import message_text
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import Purpose, Summary, tokens_of
from leafward.summaries.survival.spans import SpanMessage
from tests.acting import Acting, call, usage, wild

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.summaries.summarizers.summary import Span


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """A shared beginning (0, 1), then a branch (2 …) with calls, results, an edit of one, and a command of the user's."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("Port the selectors to Python, and never touch the fixtures.")
    file.said("I begin with the parser.", tokens=usage(60))
    file.user("Read the grammar first.")
    file.said("Reading.", call("read", "c1", path="grammar.txt"), tokens=usage(90))
    secret = file.answered("c1", "read", "a rule\n" * 30 + "1482 rules in all")
    file.said("Writing.", call("write", "c2", path="parser.py", content="x = 1"), tokens=usage(120))
    file.answered("c2", "write", "done", failed=True)
    file.entry("context_edit", targetId=secret, replacement={"content": "1482 rules"})
    file.entry(
        "message",
        message={"role": "bashExecution", "command": "make check", "output": "2 failed", "exitCode": 1},
    )
    file.entry(
        "message",
        message={
            "role": "bashExecution",
            "command": "cat key",
            "output": "hidden",
            "excludeFromContext": True,
        },
    )
    file.entry("label", targetId="00000002", label="here")
    return file


@pytest.fixture
def session(file: Acting) -> Iterator[Session]:
    with closing(Session.open(file.path)) as opened:
        yield opened


def left(session: Session, to: int, start: int | None = None, **more: Any) -> LeftBranch:
    found = left_branch(session, session.leaf if start is None else start, to, **more)
    assert found is not None
    return found


def texts(branch: LeftBranch) -> list[str]:
    return [message_text(said.message) for said in branch.messages]


def test_it_is_made_from_everything_that_was_said(session: Session) -> None:
    branch = left(session, 1)
    assert branch.ancestor == 1
    assert branch.entries == (2, 3, 4, 5, 6, 8)
    assert texts(branch)[2] == "1482 rules"
    assert "2 failed" in texts(branch)[-1]
    assert "hidden" not in "\n".join(texts(branch))
    assert (branch.read, branch.modified) == (("grammar.txt",), ())
    assert branch.span("the rules").purpose is Purpose.BRANCH
    assert branch.span("the rules").focus == "the rules"


@pytest.mark.parametrize("to", ["leaf", "#9", "#10"])
def test_nothing_left_is_nothing_to_summarise(session: Session, to: str) -> None:
    assert left_branch(session, session.leaf, session.find(to)) is None
    assert not leaves_something(session, session.leaf, session.find(to))


def test_forwards_nothing_is_left(session: Session) -> None:
    assert left_branch(session, 1, session.leaf) is None


def test_only_bookkeeping_is_nothing(file: Acting) -> None:
    file.entry("model_change", provider="local", modelId="scripted-2")
    file.entry("context_edit", targetId="00000001", replacement=None)
    with closing(Session.open(file.path)) as session:
        assert left_branch(session, session.leaf, 10) is None


class TestBudget:
    def test_the_newest_are_taken_first(self, session: Session) -> None:
        whole = left(session, 1)
        part = left(session, 1, window=20, reserve=0)
        assert part.messages == whole.messages[len(whole.messages) - len(part.messages) :]
        assert 0 < part.summarised_tokens <= 20
        assert part.left_out == len(whole.messages) - len(part.messages) > 0
        assert (part.entries, part.read, part.tokens) == (whole.entries, whole.read, whole.tokens)
        made = summarize_branch(part, Extractive())
        assert any(f"oldest {part.left_out} messages" in remark for remark in made.remarks)

    def test_the_last_message_is_told_whatever_its_size(self, file: Acting) -> None:
        file.user("word " * 900)
        with closing(Session.open(file.path)) as session:
            assert left(session, 1, window=20, reserve=0).messages[-1].entry == 11

    def test_a_compaction_stands_for_what_has_no_room(self, file: Acting) -> None:
        kept = file.user("Go on with the tests.")
        file.compacted(
            kept, "## Goal\n- the earlier half", details={"readFiles": ["old.txt"], "modifiedFiles": []}
        )
        file.said("The tests are green: 12 passed.", tokens=usage(40))
        with closing(Session.open(file.path)) as session:
            whole = left(session, 1)
            assert (whole.previous, whole.left_out) == ("", 0)
            assert "old.txt" in whole.read
            part = left(session, 1, window=30, reserve=0)
            assert (part.previous, part.previous_entry) == ("## Goal\n- the earlier half", 12)
            assert "- the earlier half" in summarize_branch(part, Extractive()).text

    def test_nested_summaries_are_told_and_their_files_carried(self, file: Acting) -> None:
        details = {"readFiles": ["a.txt"], "modifiedFiles": ["b.txt"]}
        file.entry("branch_summary", fromId="x", summary="## Goal\n- tried sed", details=details)
        file.user("word " * 100)
        with closing(Session.open(file.path)) as session:
            assert {"a.txt", "grammar.txt"} <= {*left(session, 1).read}
            assert "b.txt" in left(session, 1).modified
            part = left(session, 1, window=140, reserve=0)
            assert "## Goal\n- tried sed" in texts(part)

    def test_an_extensions_lists_are_not_trusted(self, file: Acting) -> None:
        file.entry("branch_summary", fromId="x", summary="s", details={"readFiles": ["a.txt"]}, fromHook=True)
        with closing(Session.open(file.path)) as session:
            assert "a.txt" not in left(session, 1).read

    def test_what_an_agent_removed_is_not_told(self, file: Acting) -> None:
        """Readers of other agents translate one removal of several entries as one edit."""
        first, second = file.user("the first try"), file.user("the second try")
        file.entry("context_edit", targetIds=[first, second], replacement=None)
        file.user("go on")
        with closing(Session.open(file.path)) as session:
            assert texts(left(session, 1))[-1] == "go on"
            assert not {"the first try", "the second try"} & {*texts(left(session, 1))}

    @pytest.mark.parametrize("limit", [60, 120, 400])
    def test_a_limit_bounds_the_whole_text(self, session: Session, limit: int) -> None:
        made = summarize_branch(left(session, 1), Extractive(), max_tokens=limit)
        assert made.tokens == tokens_of(made.text) <= limit

    def test_a_limit_without_room_is_refused(self, session: Session) -> None:
        with pytest.raises(Refused, match=r"^5 tokens leave no room for a summary; allow more$"):
            summarize_branch(left(session, 1), Extractive(), max_tokens=5)


class TestMove:
    def test_one_line_that_pi_reads(self, session: Session) -> None:
        before, leaf = session.path.read_bytes(), session.columns.id(session.leaf)
        made = summarize_branch(left(session, 1), Extractive(), focus="the rules")
        assert session.path.read_bytes() == before
        written = move_with_summary(session, 1, made)
        line = session.body(session.leaf) or {}
        assert session.path.read_bytes().count(b"\n") == before.count(b"\n") + 1
        assert list(line) == [
            *(
                "type",
                "id",
                "parentId",
                "timestamp",
                "fromId",
                "summary",
                "details",
                "usage",
                "fromHook",
                "leafward",
            )
        ]
        assert (line["type"], line["parentId"], line["fromId"]) == ("branch_summary", "00000002", leaf)
        assert line["summary"] == made.text
        assert (line["details"]["readFiles"], line["details"]["modifiedFiles"]) == (
            ["grammar.txt"],
            # The only call that was to write parser.py failed.
            [],
        )
        assert line["details"]["leafward"]["focus"] == "the rules"
        assert (written.kind, written.leaf) == (OperationKind.SUMMARY_MOVE, line["id"])
        last = context_at(session).messages[-1]
        assert (last.role, last.entry) == ("branchSummary", session.leaf)
        assert last.tokens == made.tokens

    def test_undone_and_redone(self, session: Session) -> None:
        place, size, labels = session.place, context_at(session).size, session.labels
        written = move_with_summary(session, 1, summarize_branch(left(session, 1), Extractive()))
        log = operations(session)[-1]
        assert (log.op, log.kind, log.target, log.after) == (
            written.op,
            "summary-move",
            "00000002",
            written.leaf,
        )
        undo(session)
        assert (session.place, context_at(session).size, session.labels) == (place, size, labels)
        redo(session)
        assert session.columns.id(session.place) == written.leaf

    def test_before_everything(self, session: Session) -> None:
        branch = left(session, -1)
        assert (branch.ancestor, branch.entries[0]) == (-1, 0)
        move_with_summary(session, -1, summarize_branch(branch, Extractive()))
        line = session.body(session.leaf) or {}
        assert line["parentId"] is None
        assert [message.role for message in context_at(session).messages] == ["branchSummary"]

    def test_refused_where_the_conversation_went_on(self, session: Session) -> None:
        made = summarize_branch(left(session, 1), Extractive())
        move(session, 5)
        with pytest.raises(Refused, match="has changed since this summary was made"):
            move_with_summary(session, 1, made)

    def test_a_label_in_between_does_no_harm(self, session: Session) -> None:
        made = summarize_branch(left(session, 1), Extractive())
        label(session, 3, "x")
        assert move_with_summary(session, 1, made).changed

    def test_refused_while_a_summary_runs(self, session: Session) -> None:
        made = summarize_branch(left(session, 1), Extractive())
        with busy(session.path) as claim:
            with pytest.raises(Refused, match="still running"):
                move(session, 1)
            with pytest.raises(Refused, match="still running"):
                move_with_summary(session, 1, made)
            move_with_summary(session, 1, made, Writing(claim=claim))

    def test_a_dry_run_writes_nothing(self, session: Session) -> None:
        before = session.path.read_bytes()
        made = summarize_branch(left(session, 1), Extractive())
        assert move_with_summary(session, 1, made, Writing(dry_run=True)).entries == ()
        assert session.path.read_bytes() == before

    def test_cancelled_it_leaves_no_trace(self, session: Session) -> None:
        before = session.path.read_bytes()
        with pytest.raises(Cancelled):
            left_branch(session, session.leaf, 1, stop=lambda: True)
        with pytest.raises(Cancelled):
            summarize_branch(left(session, 1), Extractive(), stop=lambda: True)
        assert session.path.read_bytes() == before

    def test_a_compaction_goes_on_over_it(self, session: Session) -> None:
        move_with_summary(session, 1, summarize_branch(left(session, 1), Extractive()))
        made = draft(session, plan(measure(session), PlanSettings(keep_recent=1)), Extractive())
        accept(session, made)
        assert context_at(session).size.total == made.tokens_after


def test_an_empty_summary_is_refused(session: Session) -> None:
    class Silent:
        name = "local/silent"

        def summarize(self, span: Span, budget: int, progress: Any = None, stop: Any = None) -> Summary:
            return Summary(" ", self.name)

    with pytest.raises(Refused, match="the summary is empty"):
        summarize_branch(left(session, 1), Silent())


@pytest.mark.parametrize("seed", range(16))
def test_any_two_places_of_any_session(seed: int, tmp_path: Path) -> None:
    path = wild(tmp_path / "s.jsonl", seed).path
    with closing(Session.open(path)) as session:
        for to in range(-1, len(session), 13):
            branch = left_branch(session, session.leaf, to)
            assert leaves_something(session, session.leaf, to) or branch is None
            if branch is None:
                continue
            assert all(isinstance(said, SpanMessage) for said in branch.messages)
            assert set(branch.entries) <= set(session.tree.path(session.leaf)) - set(session.tree.path(to))
            was = [(one.entry, one.tokens) for one in context_at(session).messages]
            there = sum(one.tokens for one in context_at(session, to).messages)
            made = summarize_branch(branch, Extractive())
            before = path.read_bytes()
            try:
                move_with_summary(session, to, made)
            except Refused:
                assert path.read_bytes() == before
                continue
            assert sum(one.tokens for one in context_at(session).messages) == there + made.tokens
            undo(session)
            assert [(one.entry, one.tokens) for one in context_at(session).messages] == was
