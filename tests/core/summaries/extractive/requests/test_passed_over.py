"""Next steps that the work went on from, declarations, and what comes last: names, replies, answered requests."""

from __future__ import annotations

import re
from typing import Any

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.calls.declarations import declared_in
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.summarizers.summary import tokens_of
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, result, span, summarize, told_in, user, worked

_STEPS = "## Next Steps\n1. Dead letters in the command line\n2. Review of the whole branch against main\n"
_BEFORE: dict[str, Any] = {"previous": _STEPS, "previous_entry": EntryIndex(3)}


def _request(text: str, key: str) -> list[dict[str, Any]]:
    return [user(text), *worked(f"src/{key}.py", key), reply("Done. It works and all tests pass.")]


def _kept(*messages: dict[str, Any]) -> list[SpanMessage]:
    return [SpanMessage(EntryIndex(900 + place), message) for place, message in enumerate(messages)]


def test_a_step_that_answered_requests_passed_over_is_only_what_was_planned() -> None:
    once = _request("Draw the lanes of orchard beside the tree.", "lanes")
    assert "Dead letters in the command line" in told_in(SummarySection.NEXT, *once, **_BEFORE)
    twice = [*once, *_request("Sort the loose rows of the frost table.", "rows")]
    assert told_in(SummarySection.NEXT, *twice, **_BEFORE) == []
    assert "Planned: Dead letters in the command line" in told_in(SummarySection.CONTEXT, *twice, **_BEFORE)


def test_a_step_that_the_kept_messages_do_is_left_out() -> None:
    asked = [user("Draw the lanes of orchard beside the tree."), *worked("src/lanes.py", "a")]
    kept = _kept(user("review the whole branch against main now"), *ran("k", "git diff main"))
    assert told_in(SummarySection.NEXT, *asked, kept=kept, **_BEFORE) == ["Dead letters in the command line"]
    listed = reply("", ("t", "TodoWrite", {"todos": [{"content": "Measure the rows", "status": "pending"}]}))
    over = reply("", ("u", "TodoWrite", {"todos": [{"content": "Measure the rows", "status": "completed"}]}))
    assert told_in(SummarySection.NEXT, *asked, listed) == ["Measure the rows"]
    assert told_in(SummarySection.NEXT, *asked, listed, kept=_kept(over)) == []


def test_of_labelled_pieces_the_finished_ones_are_left_out() -> None:
    plan = "Remaining: WP15: Create the lanes; WP16: Update the tree; WP18-WP20: Cleanup"
    said = [
        user("Go on with the plan of orchard."),
        reply(plan),
        user("Fine, continue with the lanes of orchard."),
        *worked("src/lanes.py", "b"),
    ]
    assert told_in(SummarySection.NEXT, *said) == [plan]
    committed = ran("c", 'git commit -am "WP15: Create the lanes of orchard"')
    left = "Remaining: WP16: Update the tree; WP18-WP20: Cleanup"
    assert told_in(SummarySection.NEXT, *said, *committed) == [left]


def test_only_an_unanswered_request_or_question_is_in_progress() -> None:
    asked = [user("Port the parser of orchard to a table."), *worked("src/table.py", "a")]
    found = "The old rows are still read by the printer of orchard."
    working = [*asked, reply(found, ("b", "bash", {"command": "make"})), result("b", "ok")]
    assert told_in(SummarySection.IN_PROGRESS, *working) == []
    assert f"Last reply: {found}" in told_in(SummarySection.CONTEXT, *working)
    question = "Shall I port the printer as well?"
    waiting = [*asked, reply(f"The parser is ported. {question}")]
    assert told_in(SummarySection.IN_PROGRESS, *waiting) == [f"Waiting for the user: {question}"]
    text = summarize(span(*waiting)).text
    later = [user("yes"), *worked("src/printer.py", "c")]
    then = summarize(span(*later, previous=text, previous_entry=EntryIndex(3))).text
    assert "Waiting for the user" not in then


def test_an_answered_last_request_has_its_outcome() -> None:
    said = [
        user("Draw the lanes of orchard beside the tree, then sort the loose rows of the frost table."),
        *worked("src/lanes.py", "a"),
        reply("The lanes are drawn. Next I will sort the rows of the table. Shall I?"),
        user("19 tests in 53 SECONDS?"),
        *worked("tests/rows.py", "b"),
        reply("My mistake, the worker slept in two of them."),
    ]
    last = "Last request, answered: 19 tests in 53 SECONDS? → changed `rows.py`"
    assert last in told_in(SummarySection.DONE, *said)


def test_what_is_asked_to_go_is_no_longer_kept() -> None:
    previous = "## Constraints & Preferences\n- Keep old code working alongside new code\n- Never push\n"
    go = [user("when you are done, remoev the old remaining files (rows.py, lanes.py right?")]
    asked = [*go, *worked("src/table.py", "a")]
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    assert told_in(SummarySection.CONSTRAINTS, *asked, **more) == ["Never push"]
    other = [user("remove the fence"), *worked("src/table.py", "a")]
    assert len(told_in(SummarySection.CONSTRAINTS, *other, **more)) == 2


def test_bare_names_get_only_what_lines_leave() -> None:
    names = [f"frostTable{place}Row" for place in range(60)]
    code = "\n".join(f"use({name})" for name in names)
    edit = {"path": "src/rows.py", "oldText": "x", "newText": code}
    rules = "\n".join(
        f"- Never touch the rows of `src/valley{place}.py`, month {place} is frozen" for place in range(60)
    )
    said = [
        user(f"Rules:\n{rules}\n\nCount the frosts of orchard."),
        reply("", ("a", "edit", edit)),
        result("a", "ok"),
    ]
    made = summarize(span(*said), 400)
    assert made.text.count("Never touch the rows") < 60
    # What a further line had not fitted into.
    assert len(re.findall(r"frostTable\d+Row", made.text)) < 4
    assert len(re.findall(r"frostTable\d+Row", summarize(span(*said), 4000).text)) > 5


def test_names_that_stand_in_commands_alone_are_not_in_use() -> None:
    # Of a span that is far longer than its summary names are listed whole.
    said = [
        user("Why is the history of frostRowTable so long?"),
        *ran("a", "git log --oneline --walk-reflogs --grep frostRowTable"),
        *ran("b", "gh pr list --json mergedAt,headRefOid | jq '.[].last_author'"),
        reply("", ("c", "bash", {"command": "git log --raw 8c029af"})),
        result("c", "a merge of the valley by frostBot_two\n" * 400),
    ]
    assert "Names that came up" not in summarize(span(*said), 500).text


def test_the_room_that_joined_lines_leave_is_used() -> None:
    # A line that joins others was paid for as if it began one.
    code = "\n".join(f"function readFrostRows{place}(valley: string) {{" for place in range(60))
    edit = {"path": "packages/orchard/source/rows.ts", "oldText": "x", "newText": code}
    said = [user("Read the rows of orchard."), reply("", ("a", "edit", edit)), result("a", "ok")]
    made = summarize(span(*said), 600)
    assert tokens_of(made.text) > 535


def test_what_a_file_declares_is_told_as_it_stands() -> None:
    old = {"path": "src/rows.ts", "content": "export class RowTable {\n\tget rowCount(): number {\n"}
    new = {
        "path": "src/rows.ts",
        "oldText": "get rowCount(): number {",
        "newText": "async loadRows(file: string): Promise<void> {",
    }
    said = [
        user("Port the rows of orchard."),
        reply("", ("a", "write", old)),
        result("a", "ok"),
        reply("", ("b", "edit", new)),
        result("b", "ok"),
    ]
    line = "Declared in `src/rows.ts`: `class RowTable`, `loadRows(file: string)`"
    assert line in told_in(SummarySection.CONTEXT, *said)
    text = summarize(span(*said)).text
    again = {
        "path": "src/rows.ts",
        "oldText": "async loadRows(file: string): Promise<void> {",
        "newText": "}",
    }
    later = [user("No loading."), reply("", ("c", "edit", again)), result("c", "ok")]
    then = told_in(SummarySection.CONTEXT, *later, previous=text, previous_entry=EntryIndex(3))
    assert "Declared in `src/rows.ts`: `class RowTable`" in then
    gone = told_in(SummarySection.CONTEXT, *said, *ran("d", "rm src/rows.ts"))
    assert not any(line.startswith("Declared") for line in gone)


def test_declarations_of_some_languages() -> None:
    code = """
	type CompactionResult,
	onThemeChange(() => {
	if (fooBar(x)) {
	const nextIndex = (currentIndex + 1) % levels.length;
	const handleData = (data: Buffer) => {
export const parseRow = async (row: string) => {
    def requeue_dead(self, kind: str) -> int:
func (s *Store) saveCheckpoint(ctx context.Context) error {
pub(crate) async fn rust_options(&self) -> Result<Options> {
    abortBash(): void {
"""
    assert list(declared_in(code)) == [
        ("parseRow", "const parseRow = async (row: string)"),
        ("requeue_dead", "def requeue_dead(self, kind: str) -> int"),
        ("saveCheckpoint", "func (s *Store) saveCheckpoint(ctx context.Context) error"),
        ("rust_options", "fn rust_options(&self) -> Result<Options>"),
        ("abortBash", "abortBash()"),
    ]
