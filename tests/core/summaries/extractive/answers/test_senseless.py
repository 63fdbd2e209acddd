"""Lines that make no sense alone are told with what they need, or not at all."""

from __future__ import annotations

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.extractive.answers.sentence_forms import is_code, is_title, points_back
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import (
    FOLDER,
    ended,
    ran,
    reply,
    result,
    span,
    summarize,
    told_in,
    user,
    work_told,
    worked,
)

_ASKED = user("Rework the panel of orchard so that it uses the new tokens.")
_PANEL = f"{FOLDER}/Design System/Button Panel.dc.html"


def _paths(message: dict[str, object]) -> list[str]:
    seen = FactReader(FOLDER).read(EntryIndex(1), message)
    return [one.key for one in seen if one.kind is FactKind.PATH]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('open "docs/Main Screen.png"', "docs/Main Screen.png"),
        (r"cp docs/Main\ Screen.png x", "docs/Main Screen.png"),
        ("see [the panel](Design%20System/Button%20Panel.dc.html)", "Design System/Button Panel.dc.html"),
    ],
)
def test_a_path_with_blanks_from_where_its_folder_is_is_one(text: str, path: str) -> None:
    """Fails where only whole paths with blanks are known as one."""
    assert _paths(user(text)) == [path]


@pytest.mark.parametrize(
    "text", ["run `node src/a.ts b.ts`", 'git commit -m "fix a.ts and b.ts"', "'src/a.ts b.ts'"]
)
def test_a_command_and_several_files_are_no_path(text: str) -> None:
    assert not any(" " in path for path in _paths(user(text)))


@pytest.mark.parametrize("named", [_PANEL, "Button Panel.dc.html"])
def test_the_pieces_of_a_path_that_is_known_whole_are_not_told(named: str) -> None:
    said = [
        user(f"look at {named} and rework the panel of orchard like that"),
        reply("", ("r", "read", {"path": _PANEL})),
        result("r", "<div>"),
        *ended("o", f"open {named}", ""),
        *worked("src/panel.ts", "p"),
    ]
    text = summarize(span(*said, reply(f"Reworked the panel like {named} has it."))).text
    assert "`Design System/Button Panel.dc.html`" in text
    assert "`Panel.dc.html`" not in text
    assert "`Design`" not in text


_CODE = (
    "ALTER TABLE panels ADD COLUMN token TEXT",
    "UPDATE panels SET token = 'x' WHERE token IS NULL;",
    "CREATE INDEX panels_token ON panels(token);",
    "const panel = new Panel({ token: 'x' })",
    "import { Panel } from './panel'",
    "for (const row of rows) { render(row) }",
    "@app.route('/health')",
    "$ npm test",
)


@pytest.mark.parametrize("line", _CODE)
def test_a_line_of_code_is_no_statement(line: str) -> None:
    assert is_code(line)
    answer = (
        f"Reworked the panel.\n\nRun this:\n\n{line}\n\nOld rows stay valid because the column may be empty."
    )
    told = summarize(span(_ASKED, *worked("src/panel.ts", "p"), reply(answer))).text
    assert line not in told


@pytest.mark.parametrize(
    "line",
    [
        "ALTER TABLE locks the whole table on that version.",
        "The panel reads its tokens from the theme file",
        "for each row the panel is drawn once more",
        "Import the panel from where it is declared.",
    ],
)
def test_a_sentence_about_code_is_one(line: str) -> None:
    assert not is_code(line)


def test_a_line_in_capitals_is_a_heading() -> None:
    assert is_title("Phase 2: Token Migration of the Whole Application (Week 3)")
    assert not is_title("The panel reads its Tokens from the Theme file of the Application")
    assert not is_title("Alice Brown Reviewed These Tokens.")
    answer = (
        "Reworked the panel.\n\nPhase 2: Token Migration of the Whole Application (Week 3)\n\nIt is fine."
    )
    told = summarize(span(_ASKED, *worked("src/panel.ts", "p"), reply(answer))).text
    assert "Token Migration" not in told


_AWAY = (
    "The second one is faster because it caches the tokens.",
    "As above, the tokens come from the theme file of the app.",
    "The same applies to the tab panel and its tokens there.",
    "Option 2 is better suited to what you described in the app.",
    "The other two are unaffected by the change of tokens here.",
    "The file below has all of the tokens that the panel reads.",
    "Neither of them handles the dark theme of the panel yet.",
    "All three were caused by the same missing tokens in the theme.",
    "Step 3 needs the tokens to be loaded before the panel renders.",
)


@pytest.mark.parametrize("line", _AWAY)
def test_a_sentence_about_what_other_text_numbers_or_shows_is_not_told_alone(line: str) -> None:
    assert points_back(line)
    told = summarize(span(_ASKED, *worked("src/panel.ts", "p"), reply(f"Reworked the panel.\n\n{line}"))).text
    assert line not in told


@pytest.mark.parametrize(
    "line",
    [
        "The first request after a restart of the server is slow.",
        "The last row of the table is never drawn on small screens.",
        "Both handlers read the tokens from the theme file of the app.",
        "Step 3: the tokens are loaded before the panel renders itself.",
        "Each panel reads its own tokens from the theme file of the app.",
    ],
)
def test_a_sentence_that_names_its_subject_is(line: str) -> None:
    assert not points_back(line)


def test_items_below_words_of_an_earlier_summary_stand_behind_them() -> None:
    """Fails where the words that end with a colon are left out, and their items told without them."""
    before = (
        "## Progress\n\n## Critical Context\n"
        "- Stash conflicts with main:\n  - Main added support for another agent\n  - The stash was older\n"
        "- The panel has two states:\n  - `open` is drawn on top of the table of all orchards.\n"
    )
    said = [
        user("go on with the panel of orchard"),
        *ran("l", "ls src"),
        reply("The panel is in src/panel.ts."),
    ]
    context = told_in(SummarySection.CONTEXT, *said, previous=before, previous_entry=3)
    assert "Stash conflicts with main: Main added support for another agent; The stash was older" in context
    assert "`open` is drawn on top of the table of all orchards." in context


_SPLIT = (
    "The panel is built, tested and installed. Summary:\n\n"
    "**Definition:**\n- statuses of a token, each with the chain of the tokens that it replaced (red → blue → green)\n"
    "- clusters of tokens by the entity that they belong to, one for each project and each theme of it\n\n"
    "It has one command that:\n- Stores files by their id to avoid that two of them have one name\n\n"
    "## One decision before I commit: which branch?\n\n"
    "- **My recommendation: a new branch off `dev`** → its own request (the panel is gone from the tree until you're back)\n"
    "- **Or:** commit onto `report`, because request 243 is open and becomes one of two panels.\n\nWhich do you want?"
)


def test_items_of_their_own_stand_behind_the_words_that_lead_to_them() -> None:
    """Fails where an item that is long, or a choice, is told without its list."""
    said = [_ASKED, *worked("src/panel.ts", "p"), reply(_SPLIT)]
    text = summarize(span(*said)).text
    assert "Definition: statuses of a token" in text
    assert "- clusters of tokens" not in text
    assert "Stores files" not in text
    named = summarize(span(_ASKED, reply(_SPLIT.replace("It has", "The panel has")))).text
    assert "The panel has one command that: Stores files" in named
    assert "The panel is built, tested and installed." in work_told(*said)


def test_another_way_that_an_answer_offers_is_told_only_while_its_question_waits() -> None:
    other = [user("yes, your recommendation"), *ran("b", "git checkout -b panel dev"), reply("Done.")]
    for said in ([_ASKED, *worked("src/panel.ts", "p"), reply(_SPLIT)],):
        assert told_in(SummarySection.BLOCKED, *said) == []
        for more in ([], other):
            text = summarize(span(*said, *more)).text
            told = [line for line in text.split("\n") if "commit onto `report`" in line]
            assert all(line.startswith("- Waiting for the user: Which do you want? (") for line in told)
            assert len(told) == (not more)
            assert "which branch?:" not in text


@pytest.mark.parametrize(
    "stated",
    [
        "Entities are extracted from decision sentences of the log.",
        'It reads well: real choices ("let\'s go with the panel"), real questions.',
        "The `dev` branch has one more commit since we last merged it.",
    ],
)
def test_a_sentence_with_a_word_of_decisions_decides_nothing(stated: str) -> None:
    assert section_of_sentence(stated) is not SummarySection.DECISIONS


def test_the_verdict_of_an_answer_ends_before_the_words_that_lead_to_its_list() -> None:
    answer = "Yes — fully committed and pushed. Verified:\n\n- `panel` is at `19e04ba`\n- nothing is left"
    asked = "is the panel of orchard committed and pushed?"
    told = told_in(SummarySection.DONE, user(asked), *ran("s", "git status"), reply(answer))
    assert told == [f"Last request, answered: {asked} → {quoted('Yes — fully committed and pushed.')}"]


def test_lines_that_turbo_marks_are_pasted() -> None:
    log = "docs:lint: ./src/panel.ts\ndocs:lint: 12:7  Warning: 'base' is assigned a value but never used.\n\n ERROR  run failed: command  exited (1)"
    said = [
        user(f"I run lint at the root of orchard and see this, keep fixing\n\n{log}"),
        *worked("src/panel.ts", "p"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == []
    goal = told_in(SummarySection.GOAL, *said)
    assert goal[0].startswith("I run lint at the root of orchard and see this, keep fixing")
    assert "docs:lint" not in goal[0].partition(" (pasted")[0]


def test_a_reason_between_calls_stands_behind_the_sentence_with_its_subject() -> None:
    why = "It's small and like the code around it, so I'm going to take it rather than leave it."
    said = [
        _ASKED,
        reply(
            f"The checks are green, and the review left one remark on `readTokens`. {why}",
            ("a", "bash", {"command": "ls src"}),
        ),
        result("a", "panel.ts"),
        reply("Now the tests.", ("b", "bash", {"command": "ls test"})),
        result("b", "panel.test.ts"),
    ]
    decided = told_in(SummarySection.DECISIONS, *said)
    assert decided == [f"The checks are green, and the review left one remark on `readTokens`. {why}"]


@pytest.mark.parametrize("asked", ["same for the other one please", "the last one does not close on phones"])
def test_a_request_about_what_was_named_before_has_the_request_that_names_it(asked: str) -> None:
    done = [*worked("src/panel.ts", "q"), reply("Wired `tabPanel` to it.")]
    other = [
        user("Now write the docs of the tab view."),
        *worked("docs/tab.md", "t"),
        reply("Wrote them all."),
    ]
    said = [_ASKED, *worked("src/panel.ts", "p"), reply("Reworked the panel."), user(asked), *done, *other]
    lines = [line for section in SummarySection for line in told_in(section, *said)]
    assert any(f"{asked} (asked before: {_ASKED['content']})" in line for line in lines)


@pytest.mark.parametrize(
    "finding",
    [
        "The remote branch is at `c13c0ac`, but `gh pr list` isn't finding a pull request by that head now.",
        "The focused test of the options is compiling now.",
    ],
)
def test_what_goes_on_or_does_not_happen_now_is_no_result(finding: str) -> None:
    assert section_of_sentence(finding) is not SummarySection.DONE


def test_what_stands_before_the_words_that_lead_to_code_is_told() -> None:
    answer = (
        "The branch of the panel does not compile. The registry fails with:\n\n```\nregistry.go:83:29: missing\n```\n\n"
        "The panel has one file of tests. Needs a guard that sends `run` to `watch` instead."
    )
    said = [user("what is missing in the panel of orchard?"), *ran("g", "grep -rn panel src"), reply(answer)]
    context = told_in(SummarySection.CONTEXT, *said)
    done = told_in(SummarySection.DONE, *said)
    assert any("The branch of the panel does not compile." in line for line in [*context, *done])
    assert not any(line.startswith("Needs a guard") for line in context)


def test_an_answer_that_only_thanks_before_a_list_has_no_outcome_of_it() -> None:
    said = [user("thanks, what is left of the panel?"), *ran("g", "ls src"), reply("You're welcome! What is left:\n\n- `src/tab.ts` still reads old tokens\n- `src/bar.ts` does too")]  # fmt: skip
    lines = [line for section in SummarySection for line in told_in(section, *said)]
    assert not any("You're welcome" in line for line in lines if not line.startswith("Last reply"))


def test_a_list_of_what_to_click_is_told_nowhere_once_more_was_asked() -> None:
    answer = 'Added a field for the key.\n\nTo use it:\n1. Paste your key into the field\n2. Click "Save"\n3. The key stays after a reload'
    other = [
        user("now the deletion in the list of orchard"),
        *worked("src/list.ts", "l"),
        reply("Added a delete button to the list."),
    ]
    text = summarize(span(_ASKED, *worked("src/panel.ts", "p"), reply(answer), *other)).text
    assert "Paste your key" not in text


_LONG_QUESTION = "The table has a column for each row of the old file, which is slow to read in a terminal of eighty columns: is it to stay?"


@pytest.mark.parametrize(
    ("reply_text", "waits"),
    [
        (
            "We could test:\n\n- **Rows**: each parser alone\n  - also empty ones\n- **Table**: as a whole\n\nWhich do you want?",
            "Which do you want? (Rows: each parser alone; Table: as a whole)",
        ),
        (
            "Two ways:\n\nA) one lock\nB) two locks\n\nWhich do you prefer?",
            "Which do you prefer? (A) one lock; B) two locks)",
        ),
        ("First:\n\n1. Do rows keep their order?\n2. Is it UTF-8?", "Do rows keep their order? Is it UTF-8?"),
        ("I changed:\n- a.ts\n- b.ts\n\nThis took a while.\nIt passes.\nShall I commit?", "Shall I commit?"),
        ("- one item only\n\nShall I commit?", "Shall I commit?"),
        ("**\n- one lock\n- two locks\n\nWhich do you prefer?", "Which do you prefer? (one lock; two locks)"),
        (
            f"1. Do rows keep their order?\n2. {_LONG_QUESTION}",
            f"Do rows keep their order? {_LONG_QUESTION}",
        ),
    ],
)
def test_a_question_waits_with_the_list_that_it_asks_about(reply_text: str, waits: str) -> None:
    said = [_ASKED, *worked("src/panel.ts", "p"), reply(reply_text)]
    assert told_in(SummarySection.IN_PROGRESS, *said) == [f"Waiting for the user: {waits}"]
