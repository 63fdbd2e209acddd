"""Statements of a summary hold: nothing that was deleted, renamed, retried, taken back, done or counted anew since."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.call_reader import Written
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.extractive.candidates import LineCandidate
from leafward.summaries.summarizers.extractive.selection.repeats import Repeats
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from leafward.summaries.survival.spans import replaced_by
from tests.bench import need
from tests.core.told import (
    PYTEST,
    ended,
    made,
    ran,
    reply,
    result,
    span,
    stored,
    summarize,
    told_in,
    user,
)
from tests.surroundings import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_deleted_is_not_told_as_made(corpora: Path) -> None:
    lines = stored(corpora / "pi" / "large-session.jsonl")
    assert "Deleted `~/.pi/agent/themes/custom.json`" in lines[SummarySection.DONE]
    others = [line for section in SummarySection for line in lines[section] if "custom.json" in line]
    assert set(others) == {"Deleted `~/.pi/agent/themes/custom.json`"}


def test_a_failure_that_was_retried_blocks_nothing(corpora: Path) -> None:
    lines = stored(corpora / "pi" / "large-session.jsonl")
    assert not any("`cp " in line or "git commit" in line for line in lines[SummarySection.BLOCKED])


def test_a_rule_that_was_taken_back_is_none(corpora: Path) -> None:
    lines = stored(corpora / "pi" / "large-session.jsonl")
    assert not any("next tick" in line for line in lines[SummarySection.CONSTRAINTS])


@pytest.mark.parametrize("size", [600, 1000, 1500])
def test_no_pasted_error_and_no_bare_option_in_a_real_session(corpora: Path, size: int) -> None:
    path = corpora / "pi" / "before-compaction.jsonl"
    with closing(agent_of(path).open(path)) as session:
        for compaction in need.compactions_of(session):
            text = Extractive().summarize(need.span_of(session, replaced_by(session, compaction)), size).text
            rules = [line for section, line, _ in read_outline(text) if section is SummarySection.CONSTRAINTS]
            assert not any("invalid_request_error" in line or "API error" in line for line in rules)
            decided = [line for section, line, _ in read_outline(text) if section is SummarySection.DECISIONS]
            assert not any(len(line.split()) < 4 for line in decided if line != "(none)")
    lines = stored(path, size=size)
    assert not any(
        "invalid_request_error" in line or "tool_use" in line for line in lines[SummarySection.CONSTRAINTS]
    )


@pytest.mark.parametrize("size", [600, 1000, 2500])
def test_no_step_for_a_renamed_file_and_nothing_stays_that_was_removed_in_a_real_session(
    corpora: Path, size: int
) -> None:
    lines = stored(corpora / "pi" / "before-compaction.jsonl", size=size)
    assert not any("cli-new" in line for line in lines[SummarySection.NEXT])
    every = [line for section in SummarySection for line in lines[section]]
    assert size < 1000 or "Deleted `packages/coding-agent/src/tui/tui-renderer.ts`" in every
    assert not any("stays in place" in line for line in every)
    # Folders that a command went to first belong to the names.
    renamed = "Renamed `packages/coding-agent/src/cli-new.ts` to `packages/coding-agent/src/cli.ts`"
    assert size < 1000 or renamed in every
    assert not any("to `.`" in line for line in every)


@pytest.mark.parametrize("size", [600, 1000, 2500])
def test_no_rule_of_a_warning_that_was_pasted_into_a_real_request(corpora: Path, size: int) -> None:
    (path,) = (corpora / "real" / "claude").glob("PackmindHub__context-evaluator__*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        (compaction,) = need.compactions_of(session)
        text = Extractive().summarize(need.span_of(session, replaced_by(session, compaction)), size).text
    told = [line for section, line, _ in read_outline(text) if not line.startswith("At the end, ")]
    for wrong in ("Keys should be unique", "Item 3 failed", "w3.org"):
        assert not any(wrong in line for line in told)


@pytest.mark.parametrize("size", [600, 1000])
def test_a_plan_that_was_replaced_leaves_no_steps_in_a_real_session(corpora: Path, size: int) -> None:
    (path,) = (corpora / "real" / "claude").glob("entireio__cli__a5_*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        first = need.compactions_of(session)[0]
        text = Extractive().summarize(need.span_of(session, replaced_by(session, first)), size).text
    steps = [line for section, line, _ in read_outline(text) if section is SummarySection.NEXT]
    assert not any(line.startswith("Commit ") for line in steps)
    assert any("lane" in line.casefold() for line in steps)
    assert "let me" not in text.casefold()


def test_the_bundled_session_tells_one_count_of_tests_and_no_step_that_was_done() -> None:
    path = REPOSITORY / "core" / "leafward" / "data" / "demo.jsonl"
    for size in (600, 1000, 3000):
        lines = stored(path, size=size)
        every = [line for section in SummarySection for line in lines[section]]
        counts = {count for count in ("29 tests", "32 tests", "34 tests") for line in every if count in line}
        assert len(counts) <= 1
        assert not any(
            "Asked" in line or "Last request" in line for line in lines[SummarySection.IN_PROGRESS][1:]
        )
        assert lines[SummarySection.NEXT] in ([], ["(none)"])


def test_a_request_that_was_taken_back_stands_as_that() -> None:
    said = [
        user("The selector must always wait for the next tick of the loop."),
        *made("src/selector.py", "a"),
        reply("Fixed the selector: it waits for the next tick now."),
        user("yeah you can undo that, it was the log in theme.py that broke it"),
        *made("src/selector.py", "b"),
    ]
    text = summarize(span(user("Make the theme of orchard quick."), *said)).text
    rules = [line for section, line, _ in read_outline(text) if section is SummarySection.CONSTRAINTS]
    assert not any("next tick" in line for line in rules)
    assert "- [x] Fixed the selector" not in text
    assert "Taken back: " in text
    assert "it was the log in theme.py" in text


def test_an_answered_request_is_done_with_its_outcome() -> None:
    said = [
        user("Port the lexer of orchard to a table."),
        *made("src/lexer.py", "a"),
        reply("Ported."),
        user("write the changelog for the new lexer table"),
        *made("CHANGELOG.md", "b"),
        reply("Added an entry for the lexer table to the changelog."),
        user("measure how quick the new lexer table is"),
        *ran("c", "python bench.py"),
    ]
    done = told_in(SummarySection.DONE, *said)
    assert any(line.startswith("Asked: write the changelog") and "“Added an entry" in line for line in done)
    going = told_in(SummarySection.IN_PROGRESS, *said)
    assert any(line.startswith("Last request: measure") for line in going)
    assert not any("changelog for" in line for line in going)
    answered = [*said, reply("Measured it: the lexer takes 40 ms instead of 90 ms.")]
    assert not any("Last request" in line for line in told_in(SummarySection.IN_PROGRESS, *answered))
    asked_back = [*said, reply("Which corpus should I measure it with?")]
    (goal,) = told_in(SummarySection.GOAL, *asked_back)
    assert goal.startswith("Last request, answered with a question: measure")


@pytest.mark.parametrize(
    ("before", "now"), [("29 tests pass", "34 tests pass"), ("29/29 passing", "34/34 green")]
)
def test_only_the_last_count_of_tests_stands(before: str, now: str) -> None:
    said = [
        user("Fix the parser of orchard."),
        *made("src/parser.py", "a"),
        reply(f"Fixed the row count of the parser, {before} now."),
        user("and the columns too"),
        *made("src/columns.py", "b"),
        reply(f"Fixed the columns of the parser as well, {now} now."),
    ]
    text = summarize(span(*said)).text
    assert now in text
    assert before not in text


def test_the_title_of_a_commit_stands_in_its_document() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nFill the parse table\n\nMore.\nEOF\n)\""
    assert "Committed: Fill the parse table" in told_in(
        SummarySection.DONE, user("fill it"), *ran("a", command)
    )


def planned(key: str, *items: tuple[str, str]) -> list[dict[str, Any]]:
    todos = [{"content": text, "status": status} for text, status in items]
    return [reply("", (key, "TodoWrite", {"todos": todos})), result(key, "ok")]


def test_a_step_that_is_not_in_the_newest_plan_is_out() -> None:
    said = [
        user("Port the lexer of orchard to a table."),
        *planned("a", ("Draw the states of the table", "in_progress"), ("Measure the old lexer", "pending")),
        *planned("b", ("Draw the states of the table", "completed"), ("Compare both lexers", "pending")),
    ]
    assert told_in(SummarySection.NEXT, *said) == ["Compare both lexers"]
    assert told_in(SummarySection.NEXT, *said, *planned("c")) == []


def test_what_was_being_done_or_thought_is_no_state() -> None:
    said = [
        user("Find out why the import of orchard is slow with many rows."),
        reply(
            "CodeRabbit remains pending on orchard.py, so I'll give it one more poll. Wait, `row_cache` is at fault here, not"
            " `row_index`. Pros:\n- `row_cache` is quick\n\n`row_index` has a TODO comment that asks whether it works.",
            ("a", "read", {"path": "orchard.py"}),
        ),
        result("a", "row_cache = row_index"),
        reply("Now let me implement the cache. I'll add `row_cache` to `orchard.py`."),
    ]
    text = summarize(span(*said)).text
    for wrong in ("pending", "poll", "Wait", "Last reply", "let me", "is quick"):
        assert wrong not in text
    assert told_in(SummarySection.NEXT, *said) == []


def test_a_request_is_told_in_the_words_of_the_user() -> None:
    pasted = (
        "the import crashes, please fix it\n\n"
        'Error: 400 {"type":"error","message":"Each\n `tool_use` block must have a `tool_result` block in the next\n message."}\n'
        "shop (main) ➜ shop npx tsx cli.ts\n    at div\n    at go (cli.ts:3:1)\n\nand never touch gen/ for it"
    )
    said = [user(pasted), *made("src/a.py", "a")]
    assert told_in(SummarySection.GOAL, *said) == [
        'the import crashes, please fix it and never touch gen/ for it (pasted: Error: 400 {"type":"error","message":"Each)'
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == ["never touch gen/ for it"]
    within = user("it works but I see this warning: Warning: Keys should be unique. They must never repeat.")
    assert told_in(SummarySection.CONSTRAINTS, within, *made("src/a.py", "a")) == []


def test_an_error_that_a_passing_command_printed_blocks_nothing() -> None:
    printed = "error: item 3 failed\nTypeError: rowCount is None in the fixture\n12 passed"
    said = [
        user("Port the lexer of orchard to a table."),
        *ended("b", PYTEST, printed),
        *ended("a", "frobnicate --all", "E: the disk is full\nexit code 2", failed=True),
    ]
    blocked = told_in(SummarySection.BLOCKED, *said)
    assert any("frobnicate" in line for line in blocked)
    assert not any("item 3" in line or "rowCount" in line for line in blocked)


def test_a_line_is_compared_with_those_alone_that_share_a_rare_word() -> None:
    def line(text: str) -> LineCandidate:
        words = frozenset(content_words(text))
        return LineCandidate(SummarySection.DONE, text, 0, (), words=words)

    chosen = [line(f"orchard number{place} has branch{place} and apple{place}") for place in range(300)]
    others = [line(f"orchard number{place} has branch{place} and pear{place}") for place in range(300)]
    repeats = Repeats([*chosen, *others])
    for candidate in chosen:
        repeats.add(candidate, candidate.words)
    assert all(repeats.has(candidate) for candidate in others)
    assert repeats.compared <= 2 * len(others)  # of 90,000 pairs
    assert not repeats.has(line("orchard number1 has branch2 and plum3"))


def test_what_a_call_writes_is_read_once() -> None:
    reader = FactReader()
    call = reply("", ("a", "write", {"path": "src/a.py", "content": "def parse_table(rowCount): ..."}))
    seen = reader.read(EntryIndex(1), call)
    (written,) = reader.calls.written
    assert written == Written(
        "a",
        "src/a.py",
        tuple(one.key for one in seen if one.kind is FactKind.IDENTIFIER),
        (),
        (("parse_table", "def parse_table(rowCount): ..."),),
        whole=True,
    )
    assert {"parse_table", "rowCount"} <= set(written.names)
    reader.read(EntryIndex(2), user("thanks"))
    assert reader.calls.written == []


def test_the_goal_is_no_errand_and_no_remark() -> None:
    for said in (
        "let's stash and get the latest updates, that will inform our approach",
        "I'm pretty sure we had this before: the lexer skipped comments",
    ):
        work = [user(said), *made("src/lexer.py", "a"), reply("Which way shall we go?")]
        work += [user("Port the lexer of orchard to a table, as in option 1."), *made("src/table.py", "b")]
        (goal,) = told_in(SummarySection.GOAL, *work)
        assert goal.startswith("Port the lexer"), said


def test_what_was_done_at_once_is_no_goal_though_the_answer_asks_something() -> None:
    work = [
        user("Write down a plan in docs/plan.md with every step of the port of orchard."),
        *made("docs/plan.md", "a"),
        reply("Done. The plan has four steps.\n\nNext we still need to port the lexer. Shall I begin?"),
        user("this looks amazing, start implementing"),
        *made("src/lexer.py", "b"),
        user("Keep the old lexer beside it for reference, in src/old."),
        *made("src/old/lexer.py", "c"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *work)
    assert goal == (
        "this looks amazing, start implementing (asked first: "
        "Write down a plan in docs/plan.md with every step of the port of orchard.)"
    )


EARLIER = """## Next Steps
- [ ] Add the table to the lexer of orchard (as `LexTable`, or similar)
- [ ] Teach these rules to both parsers
"""


def list_written(key: str, *states: str) -> list[dict[str, Any]]:
    items = ["Add the table to the lexer of orchard", "Write tests of the lexer", "Run the linter"]
    listed = [{"content": item, "status": state} for item, state in zip(items, states, strict=True)]
    return [reply("", (key, "TodoWrite", {"todos": listed})), result(key, "ok")]


def test_a_plan_that_was_worked_through_leaves_no_steps_of_an_earlier_summary() -> None:
    begun = [user("Go on with the port of orchard."), *list_written("a", "completed", "pending", "pending")]
    then = list_written("b", "completed", "completed", "completed")
    earlier = {"previous": EARLIER, "previous_entry": EntryIndex(3)}
    steps = told_in(SummarySection.NEXT, *begun, **earlier)
    assert "Teach these rules to both parsers" in steps
    assert not any("LexTable" in step for step in steps)
    assert told_in(SummarySection.NEXT, *begun, *then, **earlier) == []
    messages = [*begun, *then]
    assert "both parsers" not in summarize(span(*messages, **earlier)).text
    # The gate must not ask for what the summary rightly leaves out.
    facts = facts_of(span(*messages).messages, "", EARLIER, EntryIndex(3))
    assert not [fact.text for fact in facts if fact.kind is FactKind.TODO]


@pytest.mark.parametrize(
    "behind",
    [
        "",
        "\n\n1. By weight\n2. By crate",
        "\n\nSources:\n- [Pears](https://orchard.example/pears)\n- notes on plums",
    ],
)
def test_a_question_above_a_list_waits_for_the_user(behind: str) -> None:
    said = [user("How do we count the pears of the valley?"), *ran("r", "cat pears.txt")]
    ended = (
        f"The valley counts its pears by crate, the hill by weight.\n\nWhich way do you want to go?{behind}"
    )
    (goal,) = told_in(SummarySection.GOAL, *said, reply(ended))
    assert goal.startswith("Last request")
