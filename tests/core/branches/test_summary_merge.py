"""Merged summaries: what they append, what they refuse, and that an undo takes them back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Refused
from leafward.branches.diff.sides import sides
from leafward.branches.transfer.summary_merge import MergeChoice, apply_merge, draft_merge, merge
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.session_operations import undo
from leafward.session.journal.write import Writing
from tests.acting import Acting, reading
from tests.core.two_branches import lines, texts, two_branches

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return two_branches(tmp_path / "s.jsonl")


def test_what_stands_under_no_heading_stays_under_none() -> None:
    sections, _ = merge("", "## Goal\n- build", "said first\n\n## Goal\n- build")
    assert [(one.title, one.items) for one in sections] == [("", ("said first",)), ("Goal", ("- build",))]


def test_one_branch_is_not_merged_with_itself(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("plant a pear tree")
    file.said("planted")
    with reading(file.path) as session, pytest.raises(Refused, match="a merge needs two branches"):
        draft_merge(sides(session, session.leaf, session.leaf))


BASE = "## Goal\nShip it\n\n## Done\n- one\n- two\n\n## Next Steps\n- three"


class TestMerges:
    @pytest.mark.parametrize(
        ("a", "b", "merged", "conflicts"),
        [
            (
                BASE,
                BASE,
                [("Goal", ["Ship it"]), ("Done", ["- one", "- two"]), ("Next Steps", ["- three"])],
                [],
            ),
            (
                BASE.replace("- two", "- two\n- from A"),
                BASE.replace("- three", "- three\n- from B"),
                [
                    ("Goal", ["Ship it"]),
                    ("Done", ["- one", "- two", "- from A"]),
                    ("Next Steps", ["- three", "- from B"]),
                ],
                [],
            ),
            (
                BASE.replace("- one\n", ""),
                BASE,
                [("Goal", ["Ship it"]), ("Done", ["- one", "- two"]), ("Next Steps", ["- three"])],
                [],
            ),
        ],
    )
    def test_what_one_side_adds_is_taken_and_what_it_does_not_mention_stays(
        self, a: str, b: str, merged: list[tuple[str, list[str]]], conflicts: list[Any]
    ) -> None:
        sections, found = merge(BASE, a, b)
        assert [(one.title, list(one.items)) for one in sections] == merged
        assert list(found) == conflicts

    def test_two_goals_are_a_conflict(self) -> None:
        sections, conflicts = merge(
            "", "## Goal\nRewrite the parser", "## Goal\nKeep the old parser and test it"
        )
        assert [(one.section, one.a, one.b) for one in conflicts] == [
            ("Goal", "Rewrite the parser", "Keep the old parser and test it")
        ]
        assert sections[0].items == (0,)

    def test_a_summary_of_the_branch_alone_drops_no_constraint_of_the_base(self) -> None:
        base = "## Constraints\n- never touch `legacy/`\n- Python 3.11\n\n## Key Decisions\n- **SQLite**: one file"
        alone = "## Key Decisions\n- `Retry.__init__()` takes **kwargs, __all__ stays\n"
        sections, conflicts = merge(base, alone, base)
        assert not conflicts
        assert [line for one in sections for line in one.items] == [
            "- **SQLite**: one file",
            "- `Retry.__init__()` takes **kwargs, __all__ stays",
            "- never touch `legacy/`",
            "- Python 3.11",
        ]

    @pytest.mark.parametrize(
        ("line", "a", "b", "merged"),
        [
            ("- [ ] test the parser", "- [x] test the whole parser", "", "- [x] test the whole parser"),
            (
                "- [ ] test the parser",
                "- [ ] test the parser",
                "- [x] test the parser",
                "- [x] test the parser",
            ),
            (
                "* keep `__init__`  ",
                "* keep `__init__` as **it** is",
                "* keep `__init__`  ",
                "* keep `__init__` as **it** is",
            ),
            ("- [ ] test it", "- [x] test it", "* [x] test it", "- [x] test it"),
        ],
    )
    def test_a_line_that_one_side_alone_changed_is_that_sides(
        self, line: str, a: str, b: str, merged: str
    ) -> None:
        """It fails where such a line is a conflict, loses a byte, or stays as the base has it."""
        sections, conflicts = merge(*(f"## Done\n{one}" for one in (line, a, b)))
        assert not conflicts
        assert sections[0].items == (merged,)

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("- [x] write the tests of the whole parser", "- [ ] write the tests of the old parser"),
            ("- [x] write the tests of the parser", "- [~] write the tests of the parser"),
        ],
    )
    def test_a_line_that_both_sides_change_differently_is_a_conflict(self, a: str, b: str) -> None:
        base = "- [ ] write the tests of the parser"
        sections, conflicts = merge(*(f"## Done\n{one}" for one in (base, a, b)))
        assert sections[0].items == (0,)
        assert [(one.base, one.a, one.b) for one in conflicts] == [(base, a, b)]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("- Do not change the public API of the parser", "- Do not change the public API of the lexer"),
            ("- Timeouts are 30 s for the worker", "- Timeouts are 30 s for the client"),
            ("- Timeouts are 30 s for the worker", "- Timeouts are 60 s for the worker"),
            ("- Never use sqlite in production code", "- Use sqlite in production code"),
            ("- Use sqlite in production code", "- Never use sqlite in production code"),
            ("- **WAL mode**: readers do not block", "- **WAL mode**: writers do not block"),
            ("- the build of a comes before b", "- the build of b comes before a"),
            ("- load is kept where load < 5", "- load is kept where load > 5"),
        ],
    )
    @pytest.mark.parametrize("mirrored", [False, True])
    def test_a_line_that_says_something_else_never_takes_the_place_of_one_unasked(
        self, old: str, new: str, *, mirrored: bool
    ) -> None:
        base, changed = f"## Constraints\n{old}", f"## Constraints\n{new}"
        sides_of = (base, changed) if mirrored else (changed, base)
        sections, conflicts = merge(base, *sides_of)
        kept = [line for one in sections for line in one.items]
        asked = [(one.base, {one.a, one.b}) for one in conflicts]
        assert kept == [old, new] or asked == [(old, {old, new})]

    def test_a_goal_that_one_side_alone_changed_is_asked_about(self) -> None:
        sections, conflicts = merge("## Goal\nShip it", "## Goal\nWrite a parser first", "## Goal\nShip it")
        assert [(one.base, one.a, one.b) for one in conflicts] == [
            ("Ship it", "Write a parser first", "Ship it")
        ]
        assert sections[0].items == (0,)

    def test_a_line_in_new_words_is_not_listed_as_dropped(self, session: Session) -> None:
        from leafward.branches.diff.summaries import SideSummary

        draft = draft_merge(sides(session, 7, 9))
        base, a = "## Done\n- [ ] test the parser", "## Done\n- [x] test the parser"
        sections, conflicts = merge(base, a, "")
        held = replace(
            draft,
            a=SideSummary(a, draft.a.entry),
            b=SideSummary("", draft.b.entry),
            base=SideSummary(base, draft.base.entry),
            sections=sections,
            conflicts=conflicts,
        )
        assert held.lost(held.text({})) == ()

    def test_lines_that_would_be_dropped_are_listed(self, session: Session) -> None:
        draft = draft_merge(sides(session, 7, 9))
        text = draft.text({}, MergeChoice.BOTH)
        assert draft.lost(text) == ()
        without = replace(draft, sections=draft.sections[:-1])
        dropped = [one.text for one in without.lost(without.text({}, MergeChoice.BOTH))]
        (section,) = draft.sections[-1:]
        assert set(dropped) <= set(text.split("\n"))
        assert all(line in dropped for line in section.items if isinstance(line, str))
        assert dropped

    def test_the_merged_summary_names_what_it_was_made_from(self, session: Session) -> None:
        draft = draft_merge(sides(session, 7, 9))
        if draft.conflicts:
            with pytest.raises(Refused, match="not decided"):
                draft.text({})
        text = draft.text({}, MergeChoice.BOTH)
        before = texts(session)
        done = apply_merge(session, draft, text)
        assert done.kind is OperationKind.MERGE
        line = lines(session)[-1]
        assert line["type"] == "branch_summary"
        assert line["summary"] == text
        assert line["details"]["leafward"]["merged"] == [
            session.columns.id(session.columns.index("00000008")),
            "0000000a",
        ]
        assert "a.py" in line["details"]["modifiedFiles"]
        assert texts(session)[: len(before)] == before
        assert "branch one" in texts(session)[-1]
        undo(session)
        assert texts(session) == before

    def test_the_merged_summary_lists_its_files_in_the_order_of_every_other_one(
        self, session: Session
    ) -> None:
        tree, wide = "\U0001f332.py", "\uff5e.py"
        draft = replace(draft_merge(sides(session, 7, 9)), read=(), modified=(wide, tree))
        details = draft.line("merged", Writing())["details"]
        assert {**details, "leafward": None} == {
            "readFiles": [],
            "modifiedFiles": [tree, wide],
            "leafward": None,
        }
