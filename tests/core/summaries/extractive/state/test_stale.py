"""Lines that hold no more: how things stood when a turn ended, offers that nobody took, steps that were run since."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user
from tests.core.told import worked as edited

_ASKED = user("Why does `prune_rows` of orchard leave loose rows behind?")
_THEN = [
    user("now write `prune_rows` anew"),
    *edited("prune.py", "z"),
    reply("Fixed: `prune_rows` leaves none."),
]


@pytest.mark.parametrize(
    "stood",
    [
        "Right now `prune_rows` leaves 502 loose rows in `frost_table`.",
        "The orchard currently has 4553 loose rows in `frost_table`.",
        "There's an unused import warning of `frost_table` in `prune_rows`.",
    ],
)
def test_how_things_stood_at_the_end_of_a_turn_is_over_once_work_went_on(stood: str) -> None:
    said = [_ASKED, *ran("a", "cat prune.py frost_table.py"), reply(f"It compares the keys of both. {stood}")]
    assert stood in summarize(span(*said)).text
    assert stood not in summarize(span(*said, *_THEN)).text


@pytest.mark.parametrize(
    "bid",
    [
        "Now try `prune_rows` from the main table again, its bad reference is cleared.",
        "Next time you run `prune_rows` on the main table, look at its log of the orchard.",
    ],
)
def test_what_the_reader_was_told_to_do_is_over_once_work_went_on(bid: str) -> None:
    said = [_ASKED, *ran("a", "cat prune.py"), reply(f"The reference of `prune_rows` was bad. {bid}")]
    assert bid in summarize(span(*said)).text
    assert bid not in summarize(span(*said, *_THEN)).text


@pytest.mark.parametrize(
    "offer",
    [
        "Do you want me to:\n1. Reset `frost_table` with `git read-tree HEAD`, which loses staged rows of the orchard but mends it\n2. Look on",
        "**Option B (Better):** Queue the rows of `frost_table` while `prune_rows` runs",
    ],
)
def test_ways_that_nobody_took_are_not_told(offer: str) -> None:
    said = [
        _ASKED,
        *ran("a", "cat prune.py frost_table.py"),
        reply(f"`prune_rows` takes no lock.\n\n{offer}"),
    ]
    told = summarize(span(*said, *_THEN)).text
    assert "loses staged rows" not in told
    assert "Queue the rows" not in told


def _carried(step: str, *behind: dict[str, object]) -> str:
    previous = f"## Next Steps\n- {step}\n- Write the frost report of the valley\n"
    return summarize(span(*behind, previous=previous, previous_entry=3)).text


@pytest.mark.parametrize(
    "step",
    [
        "Run `make fmt && make lint && make test` to verify the frost fix",
        "Run the tests and lint of the frost fix",
        "Verify that the frost fix works (just applied, not yet tested)",
    ],
)
def test_what_was_only_to_be_run_is_over_once_it_ended_well(step: str) -> None:
    assert step in _carried(step, user("go on"), *edited("prune.py", "z"))
    behind = [user("go on"), *edited("prune.py", "z"), *ran("a", "make fmt && make lint && make test")]
    told = _carried(step, *behind)
    assert step not in told
    assert "Write the frost report" in told


def test_steps_are_none_any_more_once_the_work_of_the_summary_was_answered() -> None:
    step = "Reply to the review of `frost_table`"
    behind = [*edited("prune.py", "z"), reply("All done. The review of `prune_rows` was answered.")]
    told = told_in(SummarySection.NEXT, *behind, previous=f"## Next Steps\n- {step}\n", previous_entry=3)
    assert told == []


def test_what_was_planned_is_not_told_beside_that_it_was_done() -> None:
    previous = (
        "## Pending Tasks\nNot yet done:\n- Add a style of the rows `frost_row` (green for the valley)\n"
    )
    behind = [
        reply(
            "",
            (
                "t",
                "todo_write",
                {"todos": [{"content": "Add styles of the rows `frost_row` (green)", "status": "completed"}]},
            ),
        ),
        result("t", "ok"),
        *edited("prune.py", "z"),
    ]
    told = summarize(span(*behind, previous=previous, previous_entry=3)).text
    assert "Planned: " not in told


def test_a_reply_and_what_was_replied_are_the_same_words() -> None:
    assert (
        content_words("Replied to the queries") == content_words("reply to the query") == ("reply", "query")
    )


def test_what_is_to_be_tried_in_the_end_is_told_as_that() -> None:
    plan = (
        "# Plan\n\n### WP1: Table\n- [ ] Fill `frost_table`\n\n## Testing Checklist (E2E)\nVerify these.\n\n### Print mode\n"
        "- [ ] Basic: `frost -p`\n- [ ] JSON: `frost --json`\n\n## Notes\n- [ ] Ask Ada about the valley\n"
    )
    told = told_in(
        SummarySection.NEXT,
        user("write a plan for the frost table of orchard"),
        reply("", ("a", "write", {"path": "plan.md", "content": plan})),
        result("a", "ok"),
    )
    assert told == [
        "WP1: Table: Fill `frost_table`",
        "Testing Checklist (E2E), Print mode: Basic: `frost -p`",
        "JSON: `frost --json`",
        "Notes: Ask Ada about the valley",
    ]


@pytest.mark.parametrize(
    ("doubt", "answer"),
    [
        ("are you sure?", "No, I'm not sure. I assumed it writes rows. Let me check."),
        ("bist du sicher?", "Ich bin mir nicht sicher, ich prüfe das."),
        ("你确定吗？", "我不确定，让我检查一下。"),
    ],
)
def test_what_the_model_takes_back_is_not_told(doubt: str, answer: str) -> None:
    # Fails where a claim is told although the model itself gave it up.
    claim = "In orchard `prune_rows` rewrites the whole of `frost_table` as a side effect."
    said = [_ASKED, *ran("a", "cat prune.py"), reply(claim), user(doubt)]
    looked = reply(answer, ("b", "bash", {"command": "git log frost_table.py"}))
    assert claim in summarize(span(*said)).text
    assert claim not in summarize(span(*said, looked, result("b", "ok"))).text
    kept = reply("Yes: the log shows it.", ("b", "bash", {"command": "git log frost_table.py"}))
    assert claim in summarize(span(*said, kept, result("b", "ok"))).text


def test_a_list_about_one_of_several_ways_names_the_way() -> None:
    # Fails where steps of a way that nobody chose are told as how it works.
    ways = (
        "## Option 1: by age\n\n**How it works:**\n- Scan `frost_table` for old rows\n- Assume these are of the valley\n\n"
        "**Pros:**\n- Simple\n\n## Option 2: by key\n\n**How it works:**\n- Read the keys of `prune_rows`\n- Load these alone\n\n"
        "## What is there\n\n**Files:**\n- `rows.py` reads `frost_table`\n- `prune.py` writes it behind them"
    )
    told = summarize(span(_ASKED, *ran("a", "cat prune.py frost_table.py"), reply(ways))).text
    assert "How it works: Scan" not in told.replace("Option 1: by age, How it works: Scan", "")
    assert "Option 2: by key, How it works: Read the keys" in told
    assert "- Files: `rows.py` reads" in told


@pytest.mark.parametrize(
    "undone",
    [
        "no good. i undid your changes, try again and read the whole file",
        "I've reverted that, please read the whole file first",
        "ich habe deine Änderungen zurückgesetzt, lies erst die ganze Datei",
        "j'ai annulé tes modifications, relis tout le fichier",
        "我已经撤销了，请先读完整个文件",
    ],
)
def test_work_that_the_user_has_undone_is_not_told(undone: str) -> None:
    # Fails where work is told as done that is no longer there.
    done = "Removed the old `frost_table` of the valley."
    said = [_ASKED, *edited("prune.py", "z"), reply(f"{done} It uses `prune_rows` alone.")]
    again = [user(undone), *ran("b", "cat prune.py")]
    assert done in summarize(span(*said)).text
    told = summarize(span(*said, *again)).text
    assert done not in told
    assert "uses `prune_rows` alone" not in told
    assert "- Undone by the user: `prune.py`, changed for: " in told
    assert "`prune.py` changed" not in told, "the work on the file is gone too"


def test_who_undid_something_else_takes_no_work_back() -> None:
    done = "Removed the old `frost_table` of the valley."
    said = [_ASKED, *edited("prune.py", "z"), reply(done)]
    other = user("i reverted the release branch of the server, now port `prune_rows` too")
    assert done in summarize(span(*said, other, *ran("b", "cat prune.py"))).text


def test_a_count_of_passing_tests_out_of_all_gives_way_to_the_next_one() -> None:
    """Fails where only `18 tests` is a count."""
    said = [
        _ASKED,
        *edited("prune.py", "y"),
        reply("Fixed `prune_rows`: the checks of `frost_table` are green, 18/18 passing."),
        user("now the other table"),
        *edited("prune.py", "z"),
        reply("Fixed the other table: the checks of `frost_table` are green, 20/20 passing."),
    ]
    text = summarize(span(*said)).text.partition("At the end")[0]
    assert "20/20 passing" in text
    assert "18/18 passing" not in text
