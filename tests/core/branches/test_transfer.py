"""Context edits, grafts and pins: what they append, what they refuse, and that an undo takes them back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.branches.diff.sides import sides
from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits, shortened
from leafward.branches.transfer.fact_pins import draft_pins
from leafward.branches.transfer.graft import apply_graft, draft_graft
from leafward.branches.transfer.summary_merge import MergeChoice, apply_merge, draft_merge
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex
from leafward.session.journal.operation_log import OperationKind, operations
from leafward.session.journal.session_operations import redo, undo
from leafward.session.journal.write import Writing
from leafward.session.messages import message_text
from leafward.session.session import Session
from tests.acting import Acting, reading
from tests.core.two_branches import lines, texts, two_branches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return two_branches(tmp_path / "s.jsonl")


def at(session: Session, text: str) -> EntryIndex:
    """The entry whose text begins so."""
    return next(
        EntryIndex(index)
        for index in range(len(session))
        if message_text((session.body(index) or {}).get("message") or {}).startswith(text)
    )


class TestContextEdits:
    @pytest.fixture
    def session(self, file: Acting) -> Iterator[Session]:
        file.leaf = "00000008"
        file.user("go on with branch one")
        opened = Session.open(file.path)
        yield opened
        opened.close()

    def test_a_long_result_is_shortened_and_the_saving_is_what_the_context_loses(
        self, session: Session
    ) -> None:
        target = at(session, "one\ntwo")
        draft = draft_edits(
            session, [ContextEdit(session.columns.index(session.columns.id(target)), keep=50)]
        )
        done = apply_edits(session, draft)
        assert done.kind is OperationKind.EDIT
        assert context_at(session, session.leaf).total == draft.tokens_after
        assert draft.freed[0].before - draft.freed[0].after == draft.saved
        assert draft.saved == draft.tokens_before - draft.tokens_after > 0
        (short,) = [text for text in texts(session) if text.startswith("one\ntwo")]
        assert "characters left out" in short
        assert len(short) < 300
        assert message_text((session.body(target) or {})["message"]).count("filler") == 300, (
            "the entry itself stays"
        )

    def test_undo_and_redo(self, session: Session) -> None:
        before = texts(session)
        apply_edits(session, draft_edits(session, [ContextEdit(at(session, "begun"), text="shorter")]))
        assert "shorter" in texts(session)
        assert "begun" not in texts(session)
        undo(session)
        assert texts(session) == before
        redo(session)
        assert "shorter" in texts(session)
        assert [one.kind.value for one in operations(session) if not one.agent] == [
            "edit-context",
            "undo",
            "redo",
        ]

    def test_a_call_and_its_result_go_together(self, session: Session) -> None:
        reply, result = at(session, "looking"), at(session, "one\ntwo")
        with pytest.raises(Refused, match="a call and its result"):
            draft_edits(session, [ContextEdit(result)])
        with pytest.raises(Refused, match="a call and its result"):
            draft_edits(session, [ContextEdit(reply)])
        apply_edits(session, draft_edits(session, [ContextEdit(reply), ContextEdit(result)]))
        assert not any(text.startswith(("looking", "one\ntwo")) for text in texts(session))
        written = lines(session)[-2:]
        assert [line["replacement"] for line in written] == [None, None]
        assert written[1]["parentId"] == written[0]["id"]
        assert written[1]["leafward"]["op"] == written[1]["id"]

    def test_calls_outlive_another_text(self, session: Session) -> None:
        apply_edits(session, draft_edits(session, [ContextEdit(at(session, "looking"), text="(looked)")]))
        content = lines(session)[-1]["replacement"]["content"]
        assert [block["type"] for block in content] == ["text", "toolCall"]

    def test_an_entry_that_an_edit_leaves_out_is_said_to_be(self, session: Session) -> None:
        target = at(session, "begun")
        done = apply_edits(session, draft_edits(session, [ContextEdit(target)]))
        with pytest.raises(Refused, match=f"leaves it out; undo that first .{done.op}"):
            draft_edits(session, [ContextEdit(target, text="shorter")])

    @pytest.mark.parametrize(("text", "says"), [("on branch two", "on another branch")])
    def test_what_the_model_does_not_read_cannot_be_edited(
        self, session: Session, text: str, says: str
    ) -> None:
        with pytest.raises(Refused, match=says):
            draft_edits(session, [ContextEdit(at(session, text))])

    def test_a_dry_run_writes_nothing(self, session: Session) -> None:
        before = session.path.read_bytes()
        apply_edits(session, draft_edits(session, [ContextEdit(at(session, "begun"))]), Writing(dry_run=True))
        assert session.path.read_bytes() == before

    def test_a_draft_is_refused_where_the_session_went_on(self, session: Session, file: Acting) -> None:
        draft = draft_edits(session, [ContextEdit(at(session, "begun"))])
        file.reply("meanwhile")
        with pytest.raises(Refused, match="grew"):
            apply_edits(session, draft)
        session.refresh()
        with pytest.raises(Refused, match="has changed since"):
            apply_edits(session, draft)

    def test_what_is_short_already_is_not_edited(self, session: Session) -> None:
        long, short = at(session, "one\ntwo"), at(session, "begun")
        draft = draft_edits(session, [ContextEdit(long, keep=50), ContextEdit(short, keep=50)])
        assert [one for one, _ in draft.contents] == [session.columns.id(long)]
        with pytest.raises(Refused, match="nothing would get shorter"):
            draft_edits(session, [ContextEdit(short, keep=50)])


def test_a_text_keeps_its_ends() -> None:
    short = shortened("a" * 1000 + "z" * 1000, 100)
    assert short.text.startswith("a" * 200)
    assert short.text.endswith("z" * 100)
    assert short.left_out == 1600
    assert shortened("short", 100).text == "short"
    assert shortened("a little too long to keep", 5).text == "a little too long to keep", (
        "the note would be longer"
    )


class TestGrafts:
    def test_a_second_graft_of_the_same_turns_is_said_to_be_one(self, session: Session) -> None:
        chosen = [at(session, "looking"), at(session, "branch one is done")]
        first = draft_graft(session, chosen)
        assert "grafted-already" not in {one.code for one in first.misfits}
        apply_graft(session, first)
        again = draft_graft(session, chosen).misfits[0]
        assert again.code == "grafted-already"
        assert again.text.startswith("3 of these entries were grafted here before")

    def test_turns_of_another_branch_follow_the_leaf(self, session: Session) -> None:
        before = texts(session)
        draft = draft_graft(session, [at(session, "looking"), at(session, "branch one is done")])
        assert [session.columns.id(one) for one in draft.added] == [
            session.columns.id(at(session, "one\ntwo"))
        ]
        done = apply_graft(session, draft)
        assert done.kind is OperationKind.GRAFT
        now = texts(session)
        assert now[: len(before)] == before
        assert [text.split("\n")[0].split("(")[0] for text in now[len(before) :]] == [
            "looking",
            "one",
            "branch one is done",
        ]
        written = lines(session)[-4:]
        assert len({line["id"] for line in lines(session) if "id" in line}) == len(lines(session)), (
            "ids are fresh"
        )
        assert [line["parentId"] for line in written[1:]] == [line["id"] for line in written[:-1]]
        assert context_at(session, session.leaf).total == draft.tokens_after
        assert all(
            line["message"]["usage"]["totalTokens"] == 0
            for line in written
            if "usage" in line.get("message", {})
        )

    def test_undo_leads_back(self, session: Session) -> None:
        before = texts(session)
        apply_graft(session, draft_graft(session, [at(session, "branch one is done")]))
        assert texts(session) != before
        undo(session)
        assert texts(session) == before
        redo(session)
        assert texts(session)[-1] == "branch one is done"

    def test_what_does_not_fit_is_told(self, session: Session) -> None:
        codes = {
            one.code
            for one in draft_graft(session, [at(session, "looking"), at(session, "changing")]).misfits
        }
        assert (
            {"no-prompt", "unknown-file"} <= codes
            or {"no-prompt", "stale-file"} <= codes
            or {"no-prompt", "not-replayed"} <= codes
        )
        assert "two-prompts" not in codes

    def test_what_does_not_fit_names_what_it_is_about(self, session: Session) -> None:
        made = draft_graft(session, [at(session, "looking"), at(session, "changing")])
        texts_of = [one.text for one in made.misfits]
        assert not any(text.startswith("it ") or "the other branch" in text for text in texts_of), texts_of

    def test_refused(self, session: Session) -> None:
        with pytest.raises(Refused, match="on the path already"):
            draft_graft(session, [at(session, "begun")])
        with pytest.raises(Refused, match="more than the window"):
            draft_graft(session, [at(session, "looking")], window=100)
        with pytest.raises(Refused, match="nothing chosen can be grafted"):
            draft_graft(session, [])

    def test_a_result_brings_its_call(self, session: Session) -> None:
        draft = draft_graft(session, [at(session, "replaced")])
        assert [session.columns.id(one) for one in draft.sources] == [
            session.columns.id(at(session, "changing")),
            session.columns.id(at(session, "replaced")),
        ]


def test_an_edit_is_seen_in_the_context_with_what_it_frees(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("first " * 100)
    second = file.user("second " * 100)
    with reading(file.path) as session:
        whole = context_at(session).total
    file.entry("context_edit", targetId=first, replacement=None)
    file.entry("context_edit", targetId=second, replacement={"content": "short"})
    with reading(file.path) as session:
        found = context_at(session)
        edits = [(one.entry, one.removed) for one in found.messages.edits]
        assert edits == [(0, True), (1, False)]
        assert sum(one.freed for one in found.messages.edits) == whole - found.total > 0


# --- pins -------------------------------------------------------------------------------------------------------------


def test_facts_are_pinned_as_a_summary_without_secrets(session: Session) -> None:
    both = sides(session, 7, 9)
    secret = "sk-ant-api03-" + "a1B2c3D4" * 4
    draft = draft_pins(both, ["port 8642", f"the key is {secret}", "port 8642", "  "])
    leaf = session.leaf
    apply_merge(session, draft, draft.text({}))
    stored = session.body(EntryIndex(session.tree.content_at(session.leaf)))
    assert stored is not None
    lines = stored["summary"].splitlines()
    assert lines[:2] == ["## Critical Context", "- port 8642"]
    assert len(lines) == 3
    assert secret not in stored["summary"]
    assert stored["details"]["leafward"]["merged"] == [session.columns.id(EntryIndex(at)) for at in (7, 9)]
    assert "port 8642" in texts(session)[-1]
    undo(session)
    assert session.place == session.tree.content_at(leaf)
    with pytest.raises(Refused, match="no fact"):
        draft_pins(both, ["", "   "])


def test_names_in_underscores_and_code_keep_their_signs() -> None:
    from leafward.compaction.stored_summary.summary_lines import bare
    from leafward.summaries.facts.sentences.prose import sentences

    assert list(sentences("- **Never** touch Retry.__init__() or `__slots__`.")) == [
        "Never touch Retry.__init__() or `__slots__`."
    ]
    assert bare("- `Retry.__init__()` and __all__") == "`Retry.__init__()` and __all__"
    assert bare("- Retry.__init__() calls pow(2**3, 4**5)") == "Retry.__init__() calls pow(2**3, 4**5)"
    assert bare("- [x] **Done**: it __is very clear__ now") == "Done: it is very clear now"
    assert bare("1. `**kwargs`, **and** `__slots__ = ()`") == "`**kwargs`, and `__slots__ = ()`"


def test_what_the_user_said_word_for_word_is_carried(session: Session) -> None:
    from leafward.branches.diff.summaries import SideSummary

    draft = draft_merge(sides(session, 7, 9))
    quoted = (
        "## Messages of the user, word for word\n\n<user-message>\nUse tabs.\nAlways.\n</user-message>\n\n"
    )
    held = replace(draft, a=SideSummary(quoted + draft.a.text, draft.a.entry))
    text = held.text({}, MergeChoice.BOTH)
    assert text.startswith(quoted)
    assert held.lost(text) == ()
