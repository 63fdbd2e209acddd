from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.agents.recognition import agent_of
from leafward.base.errors import Refused
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.decay import decay
from leafward.summaries.fates.report import Status, Survival, facts_of, survival, survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.survival.spans import SpanMessage, compactions, replaced_by
from leafward.summaries.survival.text_match import FactText
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "/home/ada/orchard"
SPAN = """Never push to main. See https://example.org/spec for the rules, and src/core/parser.py for the code.
We use a table because the tree was too slow. parseLine takes 300 ms for 885 lines in src/core/parser.py.
- [ ] Write the benchmark for the parser
"""


def said(*messages: dict[str, Any]) -> list[SpanMessage]:
    return [SpanMessage(EntryIndex(place), message) for place, message in enumerate(messages)]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def statuses(found: Survival) -> dict[tuple[str, str], str]:
    return {(str(fate.fact.kind), fate.fact.key): str(fate.status) for fate in found.fates}


def report(summary: str, span: str = SPAN, injected: str = "", kept: str = "") -> dict[tuple[str, str], str]:
    facts = facts_of(said(user(span)), FOLDER)
    return statuses(survival(facts, summary, injected=injected, kept=kept, cwd=FOLDER))


def test_what_the_summary_repeats_survives_word_for_word() -> None:
    assert set(report(SPAN).values()) == {"verbatim"}


def test_an_empty_summary_loses_everything() -> None:
    found = survival(facts_of(said(user(SPAN)), FOLDER), "", cwd=FOLDER)
    assert {fate.status for fate in found.fates} == {Status.LOST}
    assert set(found.score().values()) == {0.0}
    assert found.overall() == 0.0


@pytest.mark.parametrize(
    ("kind", "summary", "status"),
    [
        ("path", f"work on {FOLDER}/src/core/parser.py", "verbatim"),
        ("path", "work on core/parser.py", "paraphrased"),
        ("path", "work on parser.py", "paraphrased"),
        ("path", "work on my-parser.py", "lost"),
        ("identifier", "`parseLine()` is slow", "verbatim"),
        ("identifier", "ParseLine is slow", "paraphrased"),
        ("identifier", "parseLines is slow", "lost"),
        ("url", "rules: https://example.org/spec.", "verbatim"),
        ("constraint", "The user forbids it: never push to the main branch", "paraphrased"),
        ("constraint", "Push to main", "contradicted"),
        ("decision", "Uses a table since the tree was too slow", "paraphrased"),
        ("decision", "We do not use a table because the tree was too slow", "contradicted"),
        ("todo", "- [ ] benchmark of the parser to be written", "paraphrased"),
        ("todo", "- [ ] Write the benchmark for the parser", "verbatim"),
        ("todo", "- [x] Write the benchmark for the parser", "contradicted"),
        ("todo", "✅ benchmark for the parser: write", "contradicted"),
    ],
)
def test_in_other_words_and_the_opposite(kind: str, summary: str, status: str) -> None:
    found = {key[0]: value for key, value in report(summary).items()}
    assert found[kind] == status


def test_a_count_of_the_same_thing_that_nobody_made_is_contradicted() -> None:
    assert report("src/core/parser.py has 900 lines")["number", "885 line"] == "contradicted"
    assert report("src/core/parser.py has 885 lines")["number", "885 line"] == "verbatim"
    assert report("src/core/other.py has 900 lines")["number", "885 line"] == "lost"


def test_an_earlier_count_is_no_contradiction() -> None:
    span = SPAN + "src/core/parser.py has 900 lines now.\n"
    assert report("src/core/parser.py: 900 lines", span)["number", "885 line"] == "lost"


def run(outcome: bool) -> list[SpanMessage]:
    call = {"type": "toolCall", "id": "a", "name": "bash", "arguments": {"command": "make test"}}
    text = "ok" if outcome else "boom\nCommand exited with code 2"
    return said(
        {"role": "assistant", "content": [call]},
        {
            "role": "toolResult",
            "toolCallId": "a",
            "content": [{"type": "text", "text": text}],
            "isError": not outcome,
        },
    )


@pytest.mark.parametrize(
    ("passed", "summary", "status"),
    [
        (True, "`make test` passes", Status.VERBATIM),
        (False, "`make test` passes", Status.CONTRADICTED),
        (True, "`make test` fails", Status.CONTRADICTED),
        (False, "`make test` fails", Status.VERBATIM),
        (False, "`make test` must pass", Status.VERBATIM),
        # What was so before, or was said then, says nothing of how it ends now.
        (True, "Initial problem: the user reports `make test` is broken", Status.VERBATIM),
        (True, '- "our make test is broken, why?"', Status.VERBATIM),
        # A count of no failures, another command that begins alike, and what a later line sets right.
        (True, "Last test run: `make test` printed 0 fail", Status.VERBATIM),
        (True, "Ran `make test | grep error` (6 times; the last failed)", Status.VERBATIM),
        (False, "`make test && make lint` passed", Status.VERBATIM),
        (
            True,
            "`make test` fails on it\n- Ran `make test` (2 times; the last ended with exit 0)",
            Status.VERBATIM,
        ),
    ],
)
def test_a_command_told_to_end_otherwise(passed: bool, summary: str, status: Status) -> None:
    found = survival(facts_of(run(passed), FOLDER), summary, cwd=FOLDER)
    (fate,) = [fate for fate in found.fates if fate.fact.kind is FactKind.COMMAND]
    assert fate.status is status


@pytest.mark.parametrize(
    ("command", "summary", "status"),
    [
        ("git log --oneline -5", "The log of the last commits of git was read", Status.LOST),
        ("git add -A", "User asked whether git stores diffs; added a note", Status.LOST),
        ("cargo test", "`mise run snapshots` updates test snapshots with `cargo insta`", Status.LOST),
        ("gh pr view", "In practice you have a point of view, though a slight one", Status.LOST),
        ("git status --short", "User reports that git status is broken", Status.PARAPHRASED),
        ("npm --silent test web.js", "`npm test -- web.js` runs it", Status.PARAPHRASED),
        ("sed -i '' 's|a|b|' mode.ts", "sed -i '' 's|a|b|' src/mode.ts", Status.PARAPHRASED),
    ],
)
def test_the_words_of_a_command_apart_are_not_the_command(command: str, summary: str, status: Status) -> None:
    call = {"type": "toolCall", "id": "a", "name": "bash", "arguments": {"command": command}}
    facts = facts_of(said({"role": "assistant", "content": [call]}), FOLDER)
    found = survival(facts, summary, cwd=FOLDER)
    (fate,) = [one for one in found.fates if one.fact.kind is FactKind.COMMAND and one.fact.key == command]
    assert fate.status is status


def test_a_sentence_with_a_negation_beside_the_point_is_no_opposite() -> None:
    span = "The fix checks if `here == main` and if so, passes `nil` instead of `commits` to not filter anything."
    told = "The fix is to check if here is the same as main, and if so, pass `nil` instead of `commits`."
    facts = facts_of(said({"role": "assistant", "content": [{"type": "text", "text": span}]}), FOLDER)
    found = survival(facts, told, cwd=FOLDER)
    decided = [fate.status for fate in found.fates if fate.fact.kind is FactKind.DECISION]
    assert decided == [Status.PARAPHRASED]


@pytest.mark.parametrize(
    ("name", "kept", "status"),
    [
        ("bfb70aa9", "AFTER: bfb70aa91de94955aa01", "kept"),
        ("bfb70aa91de94955", "after bfb70aa9 it works", "kept"),
        ("bfb70aa9", "AFTER: bfb70ab91de94955aa01", "lost"),
        ("_fileCommands", "reads fileCommands", "lost"),
        ("fileCommands", "reads FileCommands", "lost"),
        ("fileCommands", "reads this.fileCommands()", "kept"),
    ],
)
def test_a_name_in_what_is_kept(name: str, kept: str, status: str) -> None:
    assert (
        report("", f"Look at `{name}` first", kept=kept)[
            "identifier", name[:7] if name.startswith("bfb") else name
        ]
        == status
    )


def test_a_step_whose_names_are_nowhere_is_not_kept() -> None:
    step = "- [ ] Update `cycleModel()` to use session method"
    found = {
        key[0]: one for key, one in report("", step, kept="Update all to use the session method").items()
    }
    assert found["todo"] == "lost"
    found = {
        key[0]: one for key, one in report("", step, kept="update cycleModel, use the session method").items()
    }
    assert found["todo"] == "kept"


@pytest.mark.parametrize(
    ("kept", "status"),
    [
        ("The test is passing it in the input. Let me verify that the JSON is parsed.", "lost"),
        ("Let me verify that the integration tests pass.", "kept"),
        ("- [ ] verify integration tests pass", "kept"),
    ],
)
def test_a_short_step_is_kept_where_all_of_it_is_told(kept: str, status: str) -> None:
    found = report("", "- [ ] Verify integration tests pass", kept=kept)
    assert [one for (kind, _), one in found.items() if kind == "todo"] == [status]


def test_a_step_that_was_done_in_what_is_kept_is_not_lost() -> None:
    steps = [{"content": "Measure the frames of the queue", "status": "pending"}]
    call = {"type": "toolCall", "id": "t", "name": "TodoWrite", "arguments": {"todos": steps}}
    facts = facts_of(said({"role": "assistant", "content": [call]}), FOLDER)
    later = "TodoWrite(todos=[{'content': 'Measure the frames of the queue', 'status': 'completed'}])"
    (fate,) = [one for one in survival(facts, "", kept=later).fates if one.fact.kind is FactKind.TODO]
    assert fate.status is Status.KEPT


def test_the_project_folder_is_no_fact() -> None:
    call = {"type": "toolCall", "id": "t", "name": "LS", "arguments": {"path": FOLDER}}
    assert facts_of(said({"role": "assistant", "content": [call]}), FOLDER) == []


def test_beside_the_summary() -> None:
    found = report("", injected="- src/core/parser.py", kept="we call parseLine")
    assert found["path", "src/core/parser.py"] == "injected"
    assert found["identifier", "parseLine"] == "kept"
    assert found["url", "https://example.org/spec"] == "lost"


def test_what_nobody_said_is_invented() -> None:
    summary = (
        "Wrote src/core/lexer.py with lexLine and parseLines, 885 lines; then ran `make fuzz` 3 times in"
        " src/core/parser.py"
    )
    found = survival(
        facts_of(said(user(SPAN)), FOLDER), summary, sources=[SPAN], cwd=FOLDER, compaction=EntryIndex(9)
    )
    invented = {fate.fact.key: fate.fact.entry for fate in found.fates if fate.status is Status.INVENTED}
    assert invented == {"src/core/lexer.py": 9, "lexLine": 9, "make fuzz": 9}
    assert found.score()[FactKind.PATH] == 1.0


@pytest.mark.parametrize(
    ("summary", "found"),
    [
        ("It now does 12,345 jobs a second.", {"12345 jobs"}),
        ("Listens on port 8642.", {"port 8642"}),
        ("The queue holds 4096 rows, as the user asked.", set()),
        ("It now does over 12,345 jobs, ~12,345, about 12,345.", set()),
        ("In 2026, at 12:34:56, v1.123.4, #12345, job-12345, 5000 jobs, 12 jobs, and 123 more.", set()),
    ],
)
def test_a_number_beside_any_word_that_nobody_said_is_invented(summary: str, found: set[str]) -> None:
    span = "Let the queue hold 4_096 rows."
    fates = survival(facts_of(said(user(span)), FOLDER), summary, sources=[span], cwd=FOLDER).fates
    numbers = {
        fate.fact.key
        for fate in fates
        if fate.status is Status.INVENTED and fate.fact.kind is FactKind.NUMBER
    }
    assert numbers == found


def test_done_todos_are_no_facts_to_lose() -> None:
    assert not [f for f in facts_of(said(user("- [x] Write it all")), FOLDER) if f.kind is FactKind.TODO]


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_span_and_summary(span: str, summary: str) -> None:
    facts = facts_of(said(user(span)), FOLDER)
    found = survival(facts, summary, sources=[span], cwd=FOLDER)
    assert sum(fate.status is not Status.INVENTED for fate in found.fates) == len(facts)
    assert all(0.0 <= share <= 1.0 for share in found.score().values())


@given(st.text(alphabet="abc/._-`*0123456789 \nAB[]x", max_size=300))
def test_a_text_keeps_its_own_facts(text: str) -> None:
    for fate in survival(facts_of(said(user(text)), FOLDER), text, cwd=FOLDER).fates:
        assert fate.status in {Status.VERBATIM, Status.PARAPHRASED}, fate


@pytest.fixture
def compacted(tmp_path: Path) -> Iterator[Session]:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("Never push to main. Work on src/core/parser.py")
    file.reply("I look at parseLine")
    kept = file.user("now src/core/lexer.py")
    file.reply("done with lexLine")
    file.entry("compaction", summary="Work on src/core/parser.py", firstKeptEntryId=kept, tokensBefore=10)
    file.entry("custom_message", customType="rules", content="Never push to main.", display=True)
    file.user("go on")
    file.reply("going")
    file.entry("compaction", summary="Nothing much.", firstKeptEntryId="gone", tokensBefore=10)
    session = Session.open(file.path)
    yield session
    session.close()


def test_a_compaction_that_already_happened(compacted: Session) -> None:
    first, second = compactions(compacted)
    there = replaced_by(compacted, first)
    assert [said.entry for said in there.messages] == [0, 1]
    assert [said.entry for said in there.kept] == [2, 3]
    assert there.previous == ""
    found = statuses(survival_of(compacted, first))
    assert found["path", "src/core/parser.py"] == "verbatim"
    assert found["constraint", "not push main"] == "injected"
    assert found["identifier", "parseLine"] == "lost"
    assert replaced_by(compacted, second).previous == "Work on src/core/parser.py"
    assert [said.entry for said in replaced_by(compacted, second).messages] == [2, 3, 5, 6, 7]
    later = survival_of(compacted, second)
    assert statuses(later)["path", "src/core/parser.py"] == "lost"
    assert {fate.fact.entry for fate in later.fates if fate.fact.key == "src/core/parser.py"} == {first}


def test_facts_fade_over_compactions(compacted: Session) -> None:
    first, second = decay(compacted)
    assert first.born[FactKind.PATH] == 1
    assert [alive.get(FactKind.PATH, 0) for _, alive in first.alive] == [1, 0]
    assert FactKind.PATH in second.born


def test_each_of_many_contexts_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for number in range(12):
        file.user(f"Work on src/part{number}.py")
        kept = file.user(f"now src/lexer{number}.py")
        file.entry("compaction", summary=f"Part {number}.", firstKeptEntryId=kept, tokensBefore=10)
    made = []
    begin = FactText.__init__

    def counted(self: FactText, text: str, cwd: str = "") -> None:
        made.append(text)
        begin(self, text, cwd)

    monkeypatch.setattr(FactText, "__init__", counted)
    session = Session.open(file.path)
    generations = decay(session)
    session.close()
    assert [len(one.alive) for one in generations] == list(range(12, 0, -1))
    # A summary, what was injected and what was kept.
    assert len(made) <= 3 * 12


def test_another_entry_is_no_compaction(compacted: Session) -> None:
    with pytest.raises(Refused, match="is not a compaction"):
        replaced_by(compacted, 0)


def test_every_compaction_of_the_corpora(corpora: Path) -> None:
    from tests.bench import need

    seen = 0
    for session in need.sessions(corpora / "pi"):
        for compaction in need.compactions_of(session):
            found = survival_of(session, compaction)
            seen += 1
            there = replaced_by(session, compaction)
            assert all(0 <= fate.fact.entry <= compaction for fate in found.fates)
            assert there.messages or there.previous or not found.fates
    assert seen == 10


def test_our_words_for_an_encrypted_summary_are_no_summary(corpora: Path) -> None:
    path = corpora / "real" / "codex" / "jdx__mise__49_42d2638f78.jsonl"
    with closing(agent_of(path).open(path)) as session:
        (compaction,) = compactions(session)
        found = survival_of(session, compaction)
        assert found.unreadable
        assert {fate.status for fate in found.fates} <= {Status.LOST, Status.INJECTED, Status.KEPT}
        made = draft(session, plan(measure(session, session.leaf)), Extractive())
        assert "is encrypted" not in made.text


@pytest.mark.parametrize(
    ("summary", "status"),
    [
        ("- gen/ holds generated files", Status.LOST),
        ("- The rule was withdrawn: never touch the generated files under gen/.", Status.CONTRADICTED),
        ("- Generated files (gen/) must not be changed", Status.PARAPHRASED),
        ("- The generated files under gen/ are off limits", Status.PARAPHRASED),
    ],
)
def test_a_rule_is_kept_by_a_line_that_forbids_and_not_by_one_that_names_its_things(
    summary: str, status: Status
) -> None:
    said = [
        SpanMessage(EntryIndex(1), {"role": "user", "content": "Never touch the generated files under gen/."})
    ]
    (fate,) = [
        one for one in survival(facts_of(said, ""), summary).fates if one.fact.kind is FactKind.CONSTRAINT
    ]
    assert fate.status is status


@pytest.mark.parametrize(
    ("rule", "line", "status"),
    [
        (
            "The import may use at most 3 workers, no more.",
            "The import may use at most 30 workers.",
            Status.LOST,
        ),
        (
            "The import may use at most 3 workers, no more.",
            "The import may use at most 3 workers.",
            Status.PARAPHRASED,
        ),
        ("The response must stay under 200 ms.", "The response must stay under 500 ms.", Status.LOST),
        ("The response must stay under 200 ms.", "1. Response stays under 200 ms.", Status.PARAPHRASED),
        (
            "The file must stay below 1,000 lines.",
            "The file must stay below a thousand lines.",
            Status.PARAPHRASED,
        ),
    ],
)
def test_a_rule_with_another_figure_is_another_rule(rule: str, line: str, status: Status) -> None:
    said = [SpanMessage(EntryIndex(1), {"role": "user", "content": rule})]
    (fate,) = [
        one for one in survival(facts_of(said, ""), line).fates if one.fact.kind is FactKind.CONSTRAINT
    ]
    assert fate.status is status
