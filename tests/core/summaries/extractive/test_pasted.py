"""Output that the user pasted: it asks again for what was answered, and a brief request is told with its first error."""

from __future__ import annotations

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, told_in, user, worked

_TABLE = [
    user("cut the long names of the crates in the table, so that their weight is seen"),
    *worked("src/table.py", "a"),
    reply("Done. I've added a cut by width for the names of crates."),
]
_SCREEN = "> v orchard * [4 crates]\n  v o the very long name of a crate of pears and apples  [12 kg]\n    - pears  just now"

_PARTS = ("roof", "pump", "hoses", "valves", "fence", "well")


def test_output_pasted_behind_an_answer_asks_again() -> None:
    """The kept messages go on with it: it fails where the request counts as answered there."""
    kept = [
        SpanMessage(EntryIndex(200 + place), one)
        for place, one in enumerate([*ran("k", "cat src/width.py"), *worked("src/table.py", "l")])
    ]
    said = [*_TABLE, user(_SCREEN), *ran("b", "cat src/table.py")]
    asked = "cut the long names of the crates in the table, so that their weight is seen"
    assert told_in(SummarySection.GOAL, *said, kept=kept) == [asked]
    assert not any(line.startswith("Last request") for line in told_in(SummarySection.DONE, *said, kept=kept))


def test_a_brief_request_has_the_error_that_was_pasted_with_it() -> None:
    shown = "> git gc\nfatal: bad tree object 082c2c4495629bd\nfatal: failed to run repack\n\nplease help"
    said = [*_TABLE, user(shown), *ran("b", "git fsck --full")]
    assert told_in(SummarySection.GOAL, *said) == ["help (pasted: fatal: bad tree object 082c2c4495629bd)"]


def test_a_long_request_is_told_without_what_was_pasted() -> None:
    asked = "sort the crates by weight and by name before they are printed, keep the old order of pears in each crate"
    said = [user(f"{asked}\n\nfatal: bad tree object 082c2c4495629bd"), *worked("src/table.py", "a")]
    assert told_in(SummarySection.GOAL, *said) == [asked]


def test_a_paste_in_the_tags_of_an_application_makes_no_rules_and_is_no_request() -> None:
    story = '<pasted_content id="26b7">\nI must never see dad climb that tree again. You should always say so.\n</pasted_content id="26b7">'
    said = [
        user("cut the names of the crates, here comes the story of the orchard"),
        reply("Please paste it."),
        user(story),
        reply("A strong story. Want me to draft the page about it? Do you have a picture of the tree?"),
        user("Yes! I have a picture!"),
        *ran("b", "ls pictures"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == []
    told = " ".join(told_in(SummarySection.GOAL, *said) + told_in(SummarySection.IN_PROGRESS, *said))
    assert "pasted_content" not in told
    assert "I have a picture! (asked: Want me to draft the page about it?)" in told
    # A first prompt that is only a paste is told without the tags; one that is never closed encloses nothing.
    assert told_in(SummarySection.GOAL, user(story), *ran("b", "ls"))[0].startswith("I must never see dad")
    opened = user('<pasted_content id="26b7"> and prune the tree')
    assert "prune the tree" in told_in(SummarySection.GOAL, opened, *ran("b", "ls"))[0]


def test_prose_that_was_copied_from_the_screen_of_an_agent_sets_no_rule() -> None:
    screen = (
        "go on from the old session of the garden   The pump driver is done: builds are clean and twelve tests pass.\n"
        "\n"
        "  What holds now, beside the changes in the simulator of the valves and in the table of all of the\n"
        "  beds:\n"
        "\n"
        "  - Each valve always gets its own thread, so that one that hangs can never stop the others of that\n"
        "  row.\n"
        "  - The log keeps every litre (only below 5 ml it is dropped).\n"
        "\n"
        "  Next: the roof."
    )
    assert told_in(SummarySection.CONSTRAINTS, user(screen), *ran("a", "make log")) == []
    (goal,) = told_in(SummarySection.GOAL, user(screen), *ran("a", "make log"))
    assert "thread" not in goal
    # A list that the user typed is his own.
    typed = "Draw the plan:\n" + "\n".join(f"  - Never draw the {what}." for what in _PARTS)
    assert len(told_in(SummarySection.CONSTRAINTS, user(typed), *ran("a", "make log"))) == len(_PARTS)


def test_a_compilers_message_sets_no_rule() -> None:
    pasted = (
        "passes with just one warning\nwarning: unused import: `Pear`\n    --> src\\crates\\api.rs:12:5\n     |\n"
        "12 |     use crate::Pear;\n     |         ^^^^^^^^^^^\n     |\n     = note: `#[warn(unused_imports)]` on by default\n"
    )
    assert told_in(SummarySection.CONSTRAINTS, user(pasted)) == []
    assert "api.rs" not in "".join(told_in(SummarySection.GOAL, user(pasted)))


_SHELL = "[ada@orchard beds]$ ls\npears.c  plums.c\n[ada@orchard beds]$ make pears\n== pears ==\n  text  data\n\n  1176  12\n\nLinked: ./pears\n[ada@orchard beds]$ "


def test_a_copied_terminal_is_no_part_of_the_request() -> None:
    said = "oi it works now; move all that make wrote to the new folder beds/out"
    (goal,) = told_in(SummarySection.GOAL, user(f"{_SHELL}\n\n{said}"), *worked("beds/out.txt", "a"))
    assert goal == "oi it works now; move all that make wrote to the new folder beds/out"


def test_what_the_last_command_of_a_terminal_printed_was_copied_with_it() -> None:
    shown = "(beds) ada@orchard:~/beds$ python pears.py\nthe long list of pears\n\nwhy does it print the long list of pears of each bed?"
    assert divided(shown)[0].strip() == "why does it print the long list of pears of each bed?"
    assert divided("ada@orchard beds % make\nall is made")[0].strip() == ""
    assert divided("write to ada@orchard.org: the price is 5$ a crate")[1] == ""


def test_a_question_behind_the_last_shell_prompt_was_typed_there() -> None:
    shown = "(beds) ada@orchard:~/beds$ python pears.py\nModuleNotFoundError: No module named 'pears'\n(beds) ada@orchard:~/beds$ 这个问题解决了么？"
    assert divided(shown)[0].strip() == "这个问题解决了么？"


_COMMAND = (
    "## User Input\n\n```text\n{}\n```\n\nYou **MUST** consider the user input before proceeding (if not empty).\n\n## Outline\n\n"
    "You are updating the plan of the orchard at `.orchard/plan.md`. You must only ever run this once.\n\n"
    "1. **Load** the template.\n   - Always keep the order of its heads\n\n## Guidelines\n\n- DO NOT create a list of checks\n"
)
_OLDER = (
    "The user input to you can be provided directly by the agent or as a command argument - you **MUST** consider it before"
    " proceeding with the prompt (if not empty).\n\nUser input:\n\n{}\n\nGoal: write the plan of the orchard. Never ask twice.\n"
)


@pytest.mark.parametrize("text", [_COMMAND, _OLDER])
def test_of_the_text_of_a_command_what_was_typed_is_the_request(text: str) -> None:
    asked = "a page for the crates of the north wall\nwith their weight"
    then = [
        user("now count the pears of the wall"),
        *worked("src/pears.py", "b"),
        reply("It counts the pears."),
    ]
    said = [user(text.format(asked)), *worked("docs/page.md", "a")]
    assert told_in(SummarySection.GOAL, *said) == [" ".join(asked.split())]
    assert told_in(SummarySection.CONSTRAINTS, *said, reply("Done. The page is planned."), *then) == []


_INITS = [
    (
        "Please analyze this codebase and create a CLAUDE.md file, which will be given to future instances.",
        "\n\n1. Commands of the orchard. Never include a password.\n- Do not repeat yourself.\n",
    ),
    (
        "Generate a file named AGENTS.md that serves as a contributor guide for this repository.",
        "\nYour goal is to produce a clear document.\n- Keep it short. Never list all of the crates.\n",
    ),
    (
        "Create or update `AGENTS.md` for this repository.",
        "\n\nUser-provided focus or constraints (honor these):\n{}\n\n## How to investigate\n\nDo not ask about the crates.\n",
    ),
]


@pytest.mark.parametrize(("asked", "rest"), _INITS)
def test_the_text_of_init_sets_no_rules(asked: str, rest: str) -> None:
    then = [
        user("now count the pears of the wall"),
        *worked("src/pears.py", "b"),
        reply("It counts the pears."),
    ]
    said = [
        user(asked + rest.replace("{}", "")),
        *worked("AGENTS.md", "a"),
        reply("Done. The guide is written."),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said, *then) == []
    assert divided(asked + rest.replace("{}", ""))[0].strip() == asked


def test_what_was_typed_behind_init_stays() -> None:
    asked, rest = _INITS[2]
    typed = "Never use a crate of pine.\n\n### Beds\n\nThe beds come first."
    assert divided(asked + rest.format(typed))[0].strip() == f"{asked}\n\n{typed}"
    alone = "Create or update AGENTS.md for the beds.\nNever use a crate of pine."
    assert divided(alone)[0].strip() == alone


def test_a_command_without_words_is_told_by_the_first_of_its_text() -> None:
    assert (
        divided(_COMMAND.format(""))[0].strip()
        == "You are updating the plan of the orchard at `.orchard/plan.md`."
    )
    assert divided(_OLDER.format(""))[0].strip() == "write the plan of the orchard."
    assert (
        divided("never begin before proceeding to the wall")[0].strip()
        == "never begin before proceeding to the wall"
    )


def test_what_was_copied_behind_the_sign_of_a_shell_sets_no_rules() -> None:
    shown = "❯ cat << 'END' > fix.py\n  new = old + ' Use whole paths. Never open a file of the orchard by hand.\n  It must be one command.'\n  END\nheredoc>"
    said = [user("Write the hook of the orchard."), *ran("a", "make hook"), reply("Run this.")]
    assert told_in(SummarySection.CONSTRAINTS, *said, user(f"what is that?\n{shown}")) == []
    (goal,) = told_in(SummarySection.GOAL, *said, user(f"it breaks:\n{shown}\n\nNever use a heredoc for me."))
    assert "Use whole paths" not in goal


@pytest.mark.parametrize(
    ("shown", "typed"),
    [
        (
            "╭─ Agent ──────────╮\n│ Never push to main. │\n╰──────────────────╯\nmake this box narrower",
            "make this box narrower",
        ),
        (
            "┌──────┐\n│ Always set the key first │\n├──────┤\n│ only once │\n└──────┘\nwhy two parts?",
            "why two parts?",
        ),
        (
            "┊ ⚡ Only use the first file\n┊ ⚡ Never use the cache\n────── ● 12s · 3.4k tokens\n\nstop that",
            "stop that",
        ),
        ("• Ran npm test\n  └ Never run this as root\n• Explored\n  └ Only a.ts\n\ngo on", "go on"),
        (
            "PS C:\\Users\\ada> npm run build\nYou must use Node 20 or newer.\nPS C:\\Users\\ada>\nfix it",
            "fix it",
        ),
    ],
)
def test_the_screen_of_an_agent_or_a_shell_was_pasted(shown: str, typed: str) -> None:
    own, pasted = divided(shown)
    assert own.strip() == typed
    assert not told_in(
        SummarySection.CONSTRAINTS, user(f"Look at this:\n\n{shown}"), *worked("src/a.py", "a")
    )
    assert typed not in pasted


@pytest.mark.parametrize(
    "words",
    [
        "┌ the corner of the table is cut\nmake it whole, and never cut it again",
        "- never push to main\n- only use the first file\n• ask before you commit\n• keep the old names",
        "The line ─ between the parts is too long, always draw it with three signs",
    ],
)
def test_what_merely_looks_like_a_screen_was_typed(words: str) -> None:
    assert divided(words)[0].strip() == words
