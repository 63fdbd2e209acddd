"""Facts by who said them and in what kind of text: what is boilerplate, pasted, or of an abandoned branch is nobody's rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import as_typed
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import survival_of
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.spans import SpanMessage
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path

RULE = "You must never push to main."


def read(message: dict[str, Any]) -> dict[FactKind, list[str]]:
    found: dict[FactKind, list[str]] = {}
    for one in FactReader().read(EntryIndex(0), message):
        found.setdefault(one.kind, []).append(one.text)
    return found


def typed(text: str) -> dict[FactKind, list[str]]:
    return read({"role": "user", "content": text})


def test_what_was_decided_on_an_abandoned_branch_is_no_decision() -> None:
    summary = (
        "## Goal\nUse Redis for the cache because it is faster.\n\n"
        "## Key Decisions\n- We decided to use Redis.\n\n## Next Steps\n- Still need to write the client.\n\n"
        "Changed: src/cache.py"
    )
    left = read({"role": "branchSummary", "summary": summary})
    assert FactKind.DECISION not in left
    assert FactKind.TODO not in left
    assert left[FactKind.PATH] == ["src/cache.py"]
    assert FactKind.DECISION in read({"role": "compactionSummary", "summary": summary})


@pytest.mark.parametrize(
    "name",
    [
        "claude.skill_listing",
        "claude.meta",
        "codex.instructions",
        "claude.system-reminder",
        "opencode.synthetic",
    ],
)
def test_what_an_agent_puts_in_by_itself_holds_no_facts(name: str) -> None:
    text = (
        f"{RULE} We decided to use tabs because of the style. TODO: read docs/rules.md and run `make check`."
    )
    assert read({"role": "custom", "content": text, "injected": name}) == {}
    # A message that an extension of pi added may say anything.
    assert FactKind.DECISION in read({"role": "custom", "content": text})


@pytest.mark.parametrize(
    "name", ["claude.task-notification", "codex.subagent_notification", "opencode.subtask"]
)
def test_what_was_said_or_printed_in_one_does(name: str) -> None:
    assert read({"role": "custom", "content": "Changed src/a.py", "injected": name})[FactKind.PATH] == [
        "src/a.py"
    ]


def test_a_prompt_that_waited_is_the_users() -> None:
    found = read({"role": "custom", "content": RULE, "injected": "claude.queued_command", "typed": RULE})
    assert found[FactKind.CONSTRAINT] == [RULE]


@pytest.mark.parametrize(
    "block",
    [
        f"<system-reminder>\n{RULE}\n</system-reminder>",
        f'<skill name="ship" location="/x/SKILL.md">\n{RULE}\n\nAlways run `make`.\n</skill>',
        f"<user_instructions>\n{RULE}\n</user_instructions>",
    ],
)
def test_what_is_enclosed_in_a_prompt_is_not_the_users(block: str) -> None:
    found = typed(f"{block}\n\nAlways keep the tests green.")
    assert found[FactKind.CONSTRAINT] == ["Always keep the tests green."]
    assert FactKind.COMMAND not in found


LOGS = [
    "2026-02-07T04:21:18Z WARN config: the value must never exceed 10 items.",
    "[vite] You must not import this module from the client.\n[vite] page reload",
    "npm WARN deprecated: you must install peer dependencies yourself.",
    "error: the argument must be a number, never a string.",
    "src/app.ts:12:4 - error TS2345: Argument must always be a string.",
    "Error: listen must not be called twice.",
    '  File "/srv/app.py", line 3, in main: must be set',
    "$ ./deploy --always --never-ask must be run",
    "ValueError: value must always be positive.",
]


@pytest.mark.parametrize("line", LOGS)
def test_a_line_of_a_log_is_no_rule(line: str) -> None:
    assert FactKind.CONSTRAINT not in typed(f"This is what I get:\n\n{line}\n\nCan you look into it?")


def test_what_stands_among_lines_of_a_log_belongs_to_it() -> None:
    log = "npm WARN old lockfile\nYou must install peer dependencies yourself.\nnpm ERR! code ERESOLVE\nAlways try again later."
    found = typed(f"It fails:\n\n{log}\n\n{RULE}")
    assert found[FactKind.CONSTRAINT] == [RULE]


RULES = [
    RULE,
    "Never use `any`: it must be typed.",
    "Note that you must not touch the schema.",
    "Please make sure errors are shown to the user, always.",
    "- Always run the tests before a commit.",
    "1. Never amend commits.",
    "Use ruff only, at most 100 columns.",
    "[important] we must keep the old API",
    "ok you must never do that again",
    "note: never push to main",
]


@pytest.mark.parametrize("line", RULES)
def test_what_a_person_types_stays_a_rule(line: str) -> None:
    assert FactKind.CONSTRAINT in typed(f"Some words ahead.\n{line}\nAnd behind.")
    assert divided(line)[1] == ""


def test_survival_of_a_compaction_offers_no_rule_out_of_a_log_or_a_skill(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(f"{RULES[4]}\n\n{LOGS[0]}")
    transcript.prompt("Base directory for this skill: /x\n\nYou must always greet.", isMeta=True)
    transcript.reply("We decided to use tabs because the linter wants them.")
    transcript.boundary("nothing much")
    transcript.turn("two", "second")
    session = transcript.opened()
    at = session.columns.kind.find(9)
    told = [fate.fact.text for fate in survival_of(session, at).fates]
    assert any("run the tests" in text for text in told)
    assert not any(
        "exceed" in text and fate.fact.kind is FactKind.CONSTRAINT
        for fate in survival_of(session, at).fates
        for text in [fate.fact.text]
    )
    assert not any("greet" in text for text in told)
    assert any("tabs" in text for text in told)


def test_words_in_front_of_a_pasted_screen_stay_the_persons() -> None:
    row = "v soph/list-command *  [4 checkpoints]"
    screen = f"{row}\n   v * keep the grouping by session\n>     - [ NEW ] Keep it — 6 mins ago [+51894 (175 files)]"
    asked, shown = divided(f"why is it showing such a high number:   {screen}")
    assert asked.strip() == "why is it showing such a high number:"
    assert shown == screen
    assert divided(screen)[0].strip() == ""


def test_tags_that_are_never_closed_take_no_time() -> None:
    assert divided("<skill> <system-reminder>" * 50_000)[1] == ""


DECLINED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (f"{DECLINED}STOP what you are doing and wait for the user to tell you how to proceed.", ""),
        (f"{DECLINED}To tell you how to proceed, the user said:\n{RULE}", RULE),
        ("The user doesn't want to take this action right now. STOP what you are doing and wait.", ""),
        ("The user rejected permission to use this specific tool call.", ""),
        (
            "The user rejected permission to use this specific tool call with the following feedback: "
            + RULE,
            RULE,
        ),
        ("exec command rejected by user", ""),
        ("patch rejected by user", ""),
    ],
)
def test_a_call_that_the_user_declined_is_no_error_and_what_was_said_is_the_users(
    result: str, reason: str
) -> None:
    reader = FactReader()
    call = {"type": "toolCall", "id": "c", "name": "Bash", "arguments": {"command": "git push origin main"}}
    list(reader.read(EntryIndex(0), {"role": "assistant", "content": [call]}))
    content = [{"type": "text", "text": result}]
    found = reader.read(
        EntryIndex(1), {"role": "toolResult", "toolCallId": "c", "isError": True, "content": content}
    )
    assert not [one for one in found if one.kind is FactKind.ERROR]
    assert [one.outcome for one in found if one.kind is FactKind.COMMAND] == ["declined"]
    assert [one.text for one in found if one.kind is FactKind.CONSTRAINT] == ([reason] if reason else [])


def test_the_states_of_a_list_of_work_are_nobodys_names() -> None:
    item = {
        "content": "Rename fetch_all",
        "status": "in_progress",
        "id": "todo_one",
        "activeForm": "Renaming fetch_all",
    }
    call = {"type": "toolCall", "id": "c", "name": "TodoWrite", "arguments": {"todos": [item]}}
    found = read({"role": "assistant", "content": [call]})
    assert set(found[FactKind.IDENTIFIER]) == {"fetch_all"}


def test_what_is_typed_behind_a_command_is_the_users(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    words = f"Add a dark mode to the settings page. {RULE}"
    transcript.prompt(
        "<command-message>implement</command-message>\n<command-name>/implement</command-name>\n"
        f"<command-args>{words}</command-args>"
    )
    transcript.call("Write", "c1", file_path="/home/ada/orchard/a.ts", content="x")
    transcript.result("c1")
    transcript.reply("The page is there.")
    transcript.attachment(f"<system-reminder>The user sent: {RULE}</system-reminder>")
    transcript.row("attachment", attachment={"type": "queued_command", "prompt": "You must always use tabs."})
    transcript.row(
        "attachment",
        attachment={"type": "queued_command", "prompt": "<task-notification>x</task-notification>"},
    )
    transcript.reply("With tabs.")
    session = transcript.opened()
    messages = [
        SpanMessage(one.entry, message_body(session, one))
        for one in context_at(session, session.leaf).messages
    ]
    lines: dict[SummarySection, list[str]] = {}
    for section, line, _ in read_outline(Extractive().summarize(Span(tuple(messages)), 600).text):
        lines.setdefault(section, []).append(line)
    assert lines[SummarySection.CONSTRAINTS] == [RULE, "You must always use tabs."]
    assert lines[SummarySection.DONE] == [
        f"Asked: {words} → changed `a.ts`",
        f"Last request, answered: You must always use tabs. → {quoted('With tabs.')}",
    ]


@pytest.mark.parametrize("name", ["codex.user_shell_command", "codex.agent_message", "claude.bash-stdout"])
def test_what_was_run_or_said_in_a_message_of_an_agent_holds_facts(name: str) -> None:
    found = read({"role": "custom", "content": "Changed docs/rules.md: 12 passed", "injected": name})
    assert found[FactKind.PATH] == ["docs/rules.md"]


def test_a_command_for_the_shell_is_shown_as_it_was_typed_and_asks_for_nothing(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("<bash-input>make check</bash-input>")
    transcript.turn("Plant the elm in the garden, please.", "Planted.")
    session = transcript.opened()
    assert headline(session, 0).text == "! make check"
    (ran, *_) = context_at(session, session.leaf).messages
    message = message_body(session, ran)
    assert as_typed(message) is message


def test_what_hangs_on_a_row_of_a_pasted_screen_was_pasted() -> None:
    screen = "> v soph/rows *  [4 shops]\n   v * ok, we need to revert all of the rows, this is: …"
    assert divided(screen)[0].strip() == ""
    assert divided("Fix these [2 bugs]\n  - the first\n  - the second")[1] == ""


def test_thoughts_that_were_put_together_are_two_sentences() -> None:
    thought = "We use the parser of rows to avoid a second table (no circular imports)The session already stores the agent, so we keep it there."
    decided = read({"role": "assistant", "content": [{"type": "thinking", "thinking": thought}]})
    assert decided[FactKind.DECISION] == [
        "We use the parser of rows to avoid a second table (no circular imports)",
        "The session already stores the agent, so we keep it there.",
    ]


def test_a_word_joined_with_the_next_sentence_of_thinking_is_no_name() -> None:
    thought = "The hook runs on StopLet me look for `StopHook` then."
    found = read({"role": "assistant", "content": [{"type": "thinking", "thinking": thought}]})
    assert found[FactKind.IDENTIFIER] == ["StopHook"]


def test_a_choice_that_is_taken_back_in_the_same_thinking_is_no_decision() -> None:
    thought = (
        "Let me just use a custom tree view instead, since it avoids the dependency. I keep going back and forth on this."
        " The plan names the library. We keep the library because the plan says so. Wait and see how the tests go."
    )
    decided = read({"role": "assistant", "content": [{"type": "thinking", "thinking": thought}]})
    assert decided[FactKind.DECISION] == ["We keep the library because the plan says so."]


def test_what_is_indented_below_a_pasted_error_belongs_to_it() -> None:
    error = "crates.go:16:2: missing go.sum entry for module pears; to add:\n\tgo get orchard/pears@v1"
    assert divided(f"see the error:\n\n{error}\nmend it") == ("see the error:\n\nmend it\n", error)
    # Without an error above it, an indented line is the person's.
    assert divided("these two:\n  - the first\n  - the second")[1] == ""
