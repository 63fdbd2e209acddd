"""A stored summary line by line, and two of them compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leafward.compaction.stored_summary.summary_comparison import (
    LineRelation,
    compare_summaries,
    summaries_near,
    summary_at,
)
from leafward.compaction.stored_summary.summary_lines import SummaryPart, quotes_in, stored_lines
from leafward.export.demo import demo_session
from leafward.session.injected_block import enclose, split_enclosed
from leafward.session.session import Session
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.summary import tokens_of

PIECES = [
    "## Goal",
    "- [x] a thing",
    "",
    "---",
    "**Turn Context (split turn):**",
    "<read-files>",
    "</read-files>",
    "<modified-files>",
    "</modified-files>",
    "<user-message>",
    "</user-message>",
    "<leafward-context>",
    "</leafward-context>",
    "some words, with 🌳 and é",
    "src/a.py",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=24).map("\n".join))
def test_every_line_is_there_and_their_sizes_are_those_of_the_text(text: str) -> None:
    lines = stored_lines(text)
    assert "\n".join(line.text for line in lines) == text
    assert sum(line.tokens for line in lines) == tokens_of(text)
    assert [line.number for line in lines] == list(range(len(lines)))
    told, injected = split_enclosed(text)
    inside = [line.text for line in lines if line.part is SummaryPart.INJECTED]
    marks = ("<leafward-context>", "</leafward-context>")
    assert [line for line in inside if line.strip() not in marks] == (
        [line for line in injected.split("\n") if line.strip() not in marks]
        if inside and injected
        else [line for line in inside if line.strip() not in marks]
    )
    # Blank lines before an enclosed part go with it.
    assert [line.text for line in lines if line.part is not SummaryPart.INJECTED and line.text.strip()] == [
        line for line in told.split("\n") if line.strip()
    ]


def parts(text: str) -> list[tuple[str, SummaryPart, str]]:
    return [(line.says, line.part, line.heading) for line in stored_lines(text) if not line.mark]


def test_lists_headings_and_the_split_turn() -> None:
    text = (
        "## Goal\nWeigh.\n\n---\n\n**Turn Context (split turn):**\n\n## Request\n- one\n\n"
        "<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\n</modified-files>"
    )
    assert parts(text) == [
        ("Goal", SummaryPart.TOLD, "Goal"),
        ("Weigh.", SummaryPart.TOLD, "Goal"),
        ("Turn Context (split turn)", SummaryPart.PREFIX, "Turn Context (split turn)"),
        ("Request", SummaryPart.PREFIX, "Request"),
        ("one", SummaryPart.PREFIX, "Request"),
        ("a.py", SummaryPart.READ, ""),
        ("b.py", SummaryPart.MODIFIED, ""),
    ]
    rule = next(line for line in stored_lines(text) if line.text == "---")
    assert (rule.part, rule.mark) == (SummaryPart.PREFIX, True)


OLD = "## Goal\nWeigh every tree.\n\n## Rules\n- weights stay in grams\n- never guess a weight\n\n## Done\n- [x] scale bought"
NEW = (
    "## Goal\nWeigh every tree.\n\n## Rules\n- weights always stay in grams\n\n"
    "## Next\n- [ ] call src/scale.py"
)


def test_summaries_are_compared_section_by_section() -> None:
    diff = compare_summaries(OLD, NEW)
    assert [
        (section.title, section.mark, [line.mark for line in section.lines]) for section in diff.sections
    ] == [
        ("Goal", LineRelation.SAME, [LineRelation.SAME]),
        ("Rules", LineRelation.CHANGED, [LineRelation.CHANGED, LineRelation.REMOVED]),
        ("Done", LineRelation.REMOVED, [LineRelation.REMOVED]),
        ("Next", LineRelation.ADDED, [LineRelation.ADDED]),
    ]
    assert [fact.key for fact in diff.only_after if fact.kind is FactKind.PATH] == ["src/scale.py"]
    assert diff.count(LineRelation.REMOVED) == 2


def test_a_summary_differs_from_itself_in_nothing() -> None:
    diff = compare_summaries(OLD, OLD)
    assert {line.mark for section in diff.sections for line in section.lines} == {LineRelation.SAME}
    assert diff.only_before == diff.only_after == ()
    assert compare_summaries("", "").sections == ()


def test_what_is_injected_is_no_summary() -> None:
    injected = enclose("## Files\n- src/secret.py")
    diff = compare_summaries(OLD, f"{OLD}\n\n{injected}")
    assert {section.mark for section in diff.sections} == {LineRelation.SAME}
    assert diff.only_after == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_line_is_lost_in_a_comparison(before: str, after: str) -> None:
    diff = compare_summaries(before, after)
    lines = [line for section in diff.sections for line in section.lines]
    for text, side, gone in ((before, "before", LineRelation.ADDED), (after, "after", LineRelation.REMOVED)):
        told = [line.says for line in stored_lines(text) if not line.mark and not line.level]
        assert sorted(getattr(line, side) for line in lines if line.mark is not gone) == sorted(told)


def test_summaries_on_the_path_come_first() -> None:
    with demo_session() as path:
        session = Session.open(path)
        every = [at for at in range(len(session)) if summary_at(session, at)]
        found = summaries_near(session, session.leaf, every[-1])
        session.close()
    assert every[-1] not in found
    assert sorted([*found, every[-1]]) == every


def test_a_message_that_holds_the_tag_itself_is_one_message() -> None:
    said = "Write the tag\n<user-message>\nbefore each of them."
    (quote,) = quotes_in(stored_lines(f"Told.\n\n<user-message>\n{said}\n</user-message>"))
    assert quote.text == said
