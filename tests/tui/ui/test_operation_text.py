"""Words for every kind of operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
from leafward.session.journal.session_operations import archive, label, move, redo, rename, undo
from leafward_tui.ui.words.operation_text import OperationText

if TYPE_CHECKING:
    import pytest

    from leafward.session.journal.operation_log import Operation
    from leafward_tui.ui.words.operation_text import OperationWords
    from tests.tui.logged import Hands


class TestWords:
    def test_an_agent_s_moves_are_told_by_the_turns(self, hands: Hands) -> None:
        deeds = hands.deeds()
        told = [(doing.verb, doing.lead, doing.follow) for doing in map(deeds.doing, deeds.log)]
        assert told == [("moved", "y prompt", "x prompt"), ("moved", "z prompt", "b prompt")]
        assert all(operation.agent for operation in deeds.log)

    def test_a_move_names_both_entries(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert hands.last() == ("moved", "d prompt", "y prompt", "")
        # Within one turn its prompt would say the same twice.
        move(hands.session, hands.prompt("y"), hands.writing())
        assert hands.last() == ("moved", "y done", "y prompt", "")
        move(hands.session, -1, hands.writing())
        assert hands.last()[2] == "the beginning"

    def test_a_label_names_the_one_before(self, hands: Hands) -> None:
        label(hands.session, hands.prompt("c"), "one", hands.writing())
        assert hands.last() == ("labelled", "[one]  c prompt", "", "")
        label(hands.session, hands.prompt("c"), "two", hands.writing())
        assert hands.last() == ("labelled", "[one]", "[two]  c prompt", "")
        label(hands.session, hands.prompt("c"), "", hands.writing())
        assert hands.last() == ("unlabelled", "[two]  c prompt", "", "")

    def test_a_label_removed_where_there_was_none_has_no_empty_brackets(self, hands: Hands) -> None:
        """pi writes such a line."""
        target = hands.session.columns.id(hands.session.find(hands.file.prompts["c"]))
        hands.file.entry("label", targetId=target)
        hands.session.refresh()
        assert hands.last() == ("unlabelled", "c prompt", "", "")

    def test_a_name_names_the_one_before(self, hands: Hands) -> None:
        rename(hands.session, "first", hands.writing())
        assert hands.last() == ("named", "“first”", "", "")
        rename(hands.session, "second", hands.writing())
        assert hands.last() == ("named", "“first”", "“second”", "")
        rename(hands.session, "", hands.writing())
        assert hands.last() == ("unnamed", "“second”", "", "")

    def test_archived_branches(self, hands: Hands) -> None:
        archive(hands.session, hands.prompt("x"), True, hands.writing())
        assert hands.last() == ("archived", "x prompt", "", "")
        archive(hands.session, hands.prompt("x"), False, hands.writing())
        assert hands.last() == ("unarchived", "x prompt", "", "")
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "unarchiving  x prompt", "", "")
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "archiving  x prompt", "", "")

    def test_a_context_edit_is_no_move(self, hands: Hands) -> None:
        edits = [ContextEdit(hands.session.columns.index(hands.file.ends["d"]))]
        apply_edits(hands.session, draft_edits(hands.session, edits), hands.writing())
        assert hands.last() == ("edited", "omits  d answered", "", "")
        deeds = hands.deeds()
        assert deeds.title(deeds.log[-1]) == "Edited the context"
        undo(hands.session, None, hands.writing())
        deeds = hands.deeds()
        assert deeds.title(deeds.log[-1]) == "Undid the context edit"
        assert deeds.doing(deeds.log[-1]).lead.startswith("context edit  ")

    def test_undo_and_redo(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        undo(hands.session, None, hands.writing())
        assert hands.last() == ("undid", "move  y prompt", "d prompt", "")
        deeds = hands.deeds()
        assert deeds.doing(deeds.log[-2]).state == "undone"
        assert deeds.taken_back(deeds.log[-2]) == f"by entry #{len(hands.session) - 1}"
        redo(hands.session, hands.writing())
        assert hands.last()[0] == "redid"
        deeds = hands.deeds()
        assert [deeds.doing(one).state for one in deeds.log[-3:]] == ["", "redone", ""]
        assert deeds.root(deeds.log[-1]) == deeds.log[-3]
        assert deeds.taken_back(deeds.log[-2]) == f"by entry #{len(hands.session) - 1}", (
            "the undo, by the redo"
        )
        assert deeds.taken_back(deeds.log[-3]) == ""

    def test_what_an_undo_would_set(self, hands: Hands) -> None:
        session = hands.session
        move(session, hands.end("y"), hands.writing())
        label(session, hands.prompt("c"), "one", hands.writing())
        label(session, hands.prompt("c"), "two", hands.writing())
        rename(session, "first", hands.writing())
        rename(session, "second", hands.writing())
        archive(session, hands.prompt("x"), True, hands.writing())
        archive(session, hands.prompt("x"), False, hands.writing())
        deeds = hands.deeds()
        assert [deeds.outcome(operation) for operation in deeds.log[-7:]] == [
            f"the leaf goes back to #{hands.end('d')} d prompt",
            "label [one] is removed",
            "the label is [one] again",
            "the session has no name",
            "the name is “first” again",
            "the branch is unarchived",
            "the branch is archived again",
        ]

    def test_details_name_entries_and_the_line(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        deeds = hands.deeds()
        facts = {name: (said, ident) for name, said, ident in deeds.facts(deeds.log[-1])}
        assert facts["from"] == ("d answered", f"#{hands.end('d')}  {hands.file.ends['d']}")
        assert facts["to"] == ("y done", f"#{hands.end('y')}  {hands.file.ends['y']}")
        assert facts["entry"][0].startswith(f"#{len(hands.session) - 1}, at byte ")

    def test_what_a_file_claims_is_made_safe(self, hands: Hands) -> None:
        hostile = "\x1b[31m\u202e"
        hands.file.entry(
            "custom",
            customType="leafward.archive",
            data={"op": hostile * 9, "target": hostile, "archived": True},
        )
        hands.file.entry("label", targetId=hostile, label=hostile, leafward={"op": hostile})
        hands.file.entry("session_info", name=hostile)
        hands.session.refresh()
        deeds = hands.deeds()
        for operation in deeds.log:
            told = [*deeds.facts(operation), (deeds.title(operation), deeds.outcome(operation), "")]
            doing = deeds.doing(operation)
            text = "".join(part for fact in told for part in fact) + doing.lead + doing.follow
            assert "\x1b" not in text
            assert "\u202e" not in text


def test_a_redo_goes_back_to_an_entry_with_words(hands: Hands) -> None:
    move(hands.session, hands.end("y"), hands.writing())
    undo(hands.session, writing=hands.writing())
    redo(hands.session, hands.writing())
    deeds = hands.deeds()
    redone = {name: (said, at) for name, said, at in deeds.facts(deeds.log[-1])}
    assert redone["to"][0] == "y done"
    assert redone["to"][1].startswith(f"#{hands.end('y')} ")
    assert redone["from"][1].startswith(f"#{hands.end('d')} ")


def test_a_search_makes_the_words_of_the_operations_once(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key typed asks again: a log of thousands of operations would be put into words each time."""
    rename(hands.session, "first", hands.writing())
    deeds = hands.deeds()
    asked: list[Operation] = []
    doing = OperationText.doing

    def watched(text: OperationText, operation: Operation) -> OperationWords:
        asked.append(operation)
        return doing(text, operation)

    monkeypatch.setattr(OperationText, "doing", watched)
    named = [len(deeds.log) - 1]
    assert deeds.matching("“fi") == deeds.matching("“FIRST”") == named
    assert asked.count(deeds.log[0]) == 1
