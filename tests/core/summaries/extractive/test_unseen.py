"""Lines that were wrong or without sense in sessions that nobody had seen before."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences import prose
from leafward.summaries.facts.sentences.decisions import decides
from leafward.summaries.facts.sentences.questions import without_fillers
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.answers.sentence_forms import points_back
from leafward.summaries.summarizers.extractive.requests.offers import last_items
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user

PATCH = "*** Begin Patch\n*** Update File: src/pears.py\n@@\n-old\n+new\n*** End Patch\n"


@pytest.mark.parametrize(
    "words", [["apply_patch", PATCH], ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF\n"], PATCH]
)
def test_a_patch_among_the_words_of_a_command_changes_its_file(words: object) -> None:
    call = reply("", ("a", "shell", {"command": words}))
    told = told_in(
        SummarySection.CONTEXT, user("Sort the pears."), call, result("a", "Done"), reply("Sorted.")
    )
    assert "Last file edited: `src/pears.py`" in told


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("good approach. the class is `pear`", "the class is `pear`"),
        ("great, now sort them", "sort them"),
        ("perfect now sort them", "sort them"),
        ("cool!", ""),
        ("good names are short", "good names are short"),
    ],
)
def test_an_adjective_is_a_filler_only_where_it_stands_alone(said: str, rest: str) -> None:
    assert without_fillers(said) == rest


def test_what_an_agent_enclosed_in_tags_nobody_said() -> None:
    enclosed = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"
    text = summarize(span(user("hm"), reply("hm"), user(enclosed))).text
    assert "environment_context" not in text
    assert "/w" not in text


@pytest.mark.parametrize("heading", ["Archiwum", "Najważniejsze zmiany", "needs-confirm."])
def test_a_heading_is_no_outcome(heading: str) -> None:
    said = [user("what is in the archive of the orchard, please?"), *ran("a", "cat archive.md")]
    answer = reply(f"{heading}\n\n- The pears of the valley are kept in `crates.md` since spring.")
    next_work = [user("Draw the lanes of the valley."), *ran("b", "make lanes"), reply("Drawn `lanes.svg`.")]
    assert f"→ {heading}" not in summarize(span(*said, answer, *next_work)).text


@pytest.mark.parametrize(
    ("said", "is_step"),
    [
        ("The list of pears and `bed.md` are not yet staged.", False),
        ("When the press is built don't label the jars of the valley, not yet;", False),
        ("The jars of the valley are not yet labelled.", True),
    ],
)
def test_a_state_of_files_or_what_is_not_to_be_done_is_no_step(said: str, is_step: bool) -> None:
    assert remains(said) is is_step


def test_a_fault_that_is_found_is_no_decision() -> None:
    assert not decides("The script `press.py` contains a typo, where `-03` is used instead of `-O3`.")
    assert decides("Use the script `press.py` instead of the press, because it contains the sieve.")


def test_an_abbreviation_ends_no_sentence() -> None:
    said = "The press is slower than the mill (approx. 63 ms and not 1)."
    assert list(prose.sentences(said)) == [said]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Layout\n\n- Trees in rows\n- Beds", ["Layout: Trees in rows; Beds"]),
        ("Mill\nLayout\n- Trees in rows\n- Beds", ["Layout: Trees in rows; Beds"]),
        ("The trees stand well.\n- Trees in rows\n- Beds", ["The trees stand well."]),
        ("---\n- Trees in rows\n- Beds", []),
        (
            "Possible reasons:\n1. Lost the pears\n2. Added many jars without a lid",
            ["Possible reasons: Lost the pears; Added many jars without a lid"],
        ),
        (
            "The mill:\n- edit the belt, then add:\n  - a wheel\n  - a cog\n- start the mill",
            ["The mill: edit the belt, then add: a wheel, a cog; start the mill"],
        ),
        (
            f"The mill:\n- edit the belt, then add:\n  - {'a wheel ' * 11}\n- start the mill",
            [
                f"edit the belt, then add: {('a wheel ' * 11).strip()}",
                "The mill: edit the belt, then add; start the mill",
            ],
        ),
        ("Changes made\n\n- This makes the pears ripe", []),
    ],
)
def test_a_list_is_told_with_what_leads_to_it(answer: str, told: list[str]) -> None:
    assert list(quotable(answer)) == told


def test_a_sentence_with_those_before_it_is_not_told_alone() -> None:
    assert points_back("With those, the mill is known to turn the belt of the valley.")
    assert not points_back("With that many pears, the press is full.")


@pytest.mark.parametrize("heading", ["Next steps to consider", "Next steps (optional)"])
def test_steps_that_only_may_be_taken_are_no_next_steps(heading: str) -> None:
    answer = f"The press is built.\n\n### {heading}\n1. Try a finer sieve for the pears\n2. Try a wider belt"
    said = [user("Build the press of the valley."), *ran("a", "make press"), reply(answer)]
    asked = [user("Draw the lanes of the valley instead."), *ran("b", "make lanes")]
    assert told_in(SummarySection.NEXT, *said, *asked) == []
    told = told_in(SummarySection.CONTEXT, *said, *asked)
    assert any(line.startswith(f"Proposed: {heading}: Try a finer sieve") for line in told)


def test_what_a_program_does_when_it_runs_is_not_proposed() -> None:
    assert last_items("果园的压榨机已经建好。\n梨已经摘下。\n压榨机会：\n1. 打开盖子\n2. 压榨梨") == ()
    assert last_items("果园的压榨机已经建好。\n梨已经摘下。\n接下来我会：\n1. 打开盖子\n2. 压榨梨") == (
        "压榨梨",
        "打开盖子",
    )
