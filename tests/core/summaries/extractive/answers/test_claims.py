"""A line claims no more than is sure: choices that work carried out, outcomes that a reply reports, steps that are still ahead."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.trouble_reports import says_it_fails
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.outline import Provenance, SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import lines_of, ran, reply, result, span, summarize, told_in, user, worked

DONE, CONTEXT, NEXT = SummarySection.DONE, SummarySection.CONTEXT, SummarySection.NEXT
DECISIONS, GOAL = SummarySection.DECISIONS, SummarySection.GOAL
_ASKED = user("Port the frost table of orchard to columns.")
_CHOICE = "We keep `read_rows` because the old letters of the valley import it."


@pytest.mark.parametrize(
    ("after", "taken"),
    [
        ([], False),
        ([user("ok, go ahead"), *worked("src/frost.py", "b")], True),
        ([user("implement the plan"), *worked("src/frost.py", "b")], True),
        ([user("ok, go ahead"), *ran("b", "cat src/frost.py")], False),
        ([user("First mend the lexer of the hoses."), *worked("src/lexer.py", "b")], False),
    ],
)
def test_a_choice_is_a_decision_once_work_carried_it_out(after: list[dict[str, object]], taken: bool) -> None:
    said = [
        _ASKED,
        *ran("a", "cat src/rows.py"),
        reply(f"My plan.\n\n- {_CHOICE}\n- The rows stay as they are."),
        *after,
    ]
    assert any(_CHOICE in line for line in told_in(DECISIONS, *said)) == taken
    assert (f"Proposed: {_CHOICE}" in told_in(CONTEXT, *said)) == (not taken)


def test_what_a_reply_chose_in_its_own_work_is_a_decision() -> None:
    assert told_in(DECISIONS, _ASKED, *worked("src/frost.py", "a"), reply(_CHOICE)) == [_CHOICE]


def test_a_report_with_a_purpose_is_done_and_no_decision() -> None:
    report = "Added `read_rows` and wired it into the table so we can sort the rows of the valley."
    said = [_ASKED, *worked("src/frost.py", "a"), reply(f"Done.\n\n{report}")]
    assert told_in(DECISIONS, *said) == []
    assert any(report in line for line in told_in(DONE, *said))


_DOES = "Changed the frost table to columns."


@pytest.mark.parametrize(
    "complaint",
    [
        "it still fails with the same rows",
        "I still can't sort the rows",
        "the table doesn't work at all",
        "same error as before",
        "sigue sin salir ninguna fila",
        "pasa lo mismo",
        "geht immer noch nicht",
        "还是不行",
        "여전히 안 돼요",
    ],
)
def test_an_outcome_that_the_user_saw_fail_is_none(complaint: str) -> None:
    """Fails where a request counts as done though the user's next words say that the trouble is there."""
    assert says_it_fails(complaint)
    said = [_ASKED, *worked("src/frost.py", "a"), reply(_DOES)]
    then = [user(complaint), *worked("src/frost.py", "b"), reply("Look at the rows now, please.")]
    assert any("→" in line for line in told_in(DONE, *said))
    assert f"{_DOES}”" not in summarize(span(*said, *then)).text
    assert _DOES not in told_in(DONE, *said, *then)


@pytest.mark.parametrize(
    "words",
    ["it works now", "still good, now sort it", "does it work on Linux too?", "todavía falta el título"],
)
def test_words_that_report_no_failure(words: str) -> None:
    assert not says_it_fails(words)


def test_a_plan_or_a_question_asked_back_is_no_outcome() -> None:
    went_on = [
        user("Draw the lanes of the valley beside the tree."),
        *worked("src/lanes.py", "c"),
        reply("Drawn."),
    ]
    plan = [_ASKED, *ran("a", "cat src/rows.py"), reply("The columns would be read from `read_rows` first.")]
    asked = "Asked before: Port the frost table of orchard to columns. →"
    told = told_in(CONTEXT, *plan, *went_on)
    assert f"{asked} the reply says: “The columns would be read from `read_rows` first.”" in told
    back = [*plan[:-1], reply("Two tables hold the frost.\n\nWhich of the two tables do you mean?")]
    # What the reply asked was answered since, or passed over.
    assert asked.removesuffix(" →") in told_in(CONTEXT, *back, *went_on)
    assert not any("columns" in line for line in told_in(DONE, *back, *went_on))


def test_what_the_agent_says_it_did_is_the_outcome_rather_than_a_shorter_line() -> None:
    did = "I've implemented the columns of the frost table, and the letters of the growers, which are sorted by the weight of the crates now."
    (line,) = told_in(
        DONE, _ASKED, *worked("src/frost.py", "a"), reply(f"{did}\n\nThe table now provides the rows by day.")
    )[:1]
    assert "→ the reply says: “I've implemented the columns" in line


def test_a_statement_in_another_language_is_no_outcome_beside_a_changed_file() -> None:
    """It may be an order to the user: what was changed is sure."""
    said = [user("Arregla la tabla de heladas del huerto."), *worked("src/frost.py", "a")]
    (line,) = told_in(DONE, *said, reply("Hacé `orchard switch` y después recargá el huerto."))
    assert line.endswith("→ changed `frost.py`")


def test_steps_of_an_offer_that_waits_for_a_yes_are_proposed() -> None:
    said = [_ASKED, *ran("a", "cat src/rows.py")]
    step = "Remaining work: sort `read_rows` by the day of the frost."
    assert told_in(NEXT, *said, reply(f"{step}\n\nDoes that sound right?")) == []
    assert f"Proposed: {step}" in told_in(CONTEXT, *said, reply(f"{step}\n\nDoes that sound right?"))
    assert told_in(NEXT, *said, reply(step)) == [step]


def test_what_comes_next_amid_work_came_next() -> None:
    step = "The rows are read; the remaining work is to sort `pick_crates` by weight."
    said = [_ASKED, reply(step, ("a", "bash", {"command": "make"})), result("a", "ok")]
    assert any("pick_crates" in line for line in told_in(NEXT, *said))
    assert (
        told_in(
            NEXT, *said, reply("The crates are next.", ("b", "bash", {"command": "make"})), result("b", "ok")
        )
        == []
    )


def test_praise_with_a_tick_is_no_work_done() -> None:
    answer = "The new copy will:\n- ✅ Bring the rows back on new machines\n- ✅ Be safe for a long time\n- ✅ Added the frost table"
    done = told_in(DONE, _ASKED, *worked("src/frost.py", "a"), reply(answer))
    assert not any("safe" in line or "Bring" in line for line in done)
    assert any("Added the frost table" in line for line in done)


def test_a_hard_reset_takes_the_changes_of_its_commits_back() -> None:
    def committed(key: str, name: str, title: str) -> list[dict[str, object]]:
        made = reply("", (key, "bash", {"command": f'git commit -am "{title}"'}))
        return [made, result(key, f"[main {name}] {title}\n 1 file changed")]

    said = [_ASKED, *worked("src/rows.py", "a"), *committed("b", "1111111", "sort the rows")]
    said += [
        *worked("src/frost.py", "c"),
        *worked("src/rows.py", "d"),
        *committed("e", "2222222", "draw the frost"),
    ]
    assert "Changed: `src/rows.py` 2×, `src/frost.py`" in summarize(span(*said)).text
    reset = ran("f", "git reset --hard 1111111")
    behind = [SpanMessage(EntryIndex(90 + place), body) for place, body in enumerate(reset)]
    for text in (summarize(span(*said, *reset)).text, summarize(span(*said, kept=behind)).text):
        assert "`src/rows.py` changed" in text
        assert "`src/frost.py` changed" not in text
        assert "2×" not in text
        assert "draw the frost" not in text


def test_a_drafted_message_is_no_statement_of_the_work() -> None:
    answer = (
        "Changed the frost table to columns.\n\nSuggested commit message:\n\nfeat: the hoses of the valley are drawn at night\n\n"
        "- added the lanterns of the valley\n\nThe lanes are drawn beside the tree of the orchard, since the letters name both."
    )
    text = summarize(span(_ASKED, *worked("src/frost.py", "a"), reply(answer))).text
    assert "hoses" not in text
    assert "lanterns" not in text
    assert "The lanes are drawn" in text


def test_what_the_user_said_of_the_tests_since_stands_beside_their_last_run() -> None:
    failed = [
        reply("", ("t", "bash", {"command": "cargo test"})),
        result("t", "test result: FAILED. 62 passed; 22 failed; 0 ignored", failed=True),
    ]
    said = [
        _ASKED,
        *failed,
        reply("The sandbox cannot bind."),
        user("cargo test all passed here"),
        reply("Good."),
    ]
    assert (
        "Last test run: `cargo test` printed 62 passed, 22 failed; the user said since: cargo test all passed here"
        in (told_in(CONTEXT, *said))
    )


@pytest.mark.parametrize(
    ("path", "answer", "is_planned"),
    [
        ("src/rows.py", "Drawn.", False),
        ("src/lanes.py", "Drawn. The letters of the growers are sorted by weight too.", False),
        ("src/lanes.py", "Drawn.", True),
    ],
)
def test_a_step_that_work_since_may_have_done_is_no_next_step(
    path: str, answer: str, is_planned: bool
) -> None:
    steps = [
        "Remaining: read the crates in `src/rows.py`.",
        "Still open: sort the letters of the growers by weight.",
    ]
    step = steps["letters" in answer or is_planned]
    said = [_ASKED, *worked("src/frost.py", "a"), reply(f"Done.\n\n{step}")]
    then = [user("Draw the lanes of the valley."), *worked(path, "b"), reply(answer)]
    assert told_in(NEXT, *said) == [step]
    assert told_in(NEXT, *said, *then) == []
    assert (f"Planned: {step}" in told_in(CONTEXT, *said, *then)) == is_planned


def test_a_declined_call_is_in_the_way_until_other_work_is_done() -> None:
    no = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    said = [_ASKED, reply("", ("a", "bash", {"command": "orchard publish"})), result("a", no, failed=True)]
    blocked = SummarySection.BLOCKED
    assert told_in(blocked, *said) == ["Declined by the user: `orchard publish`"]
    after = [user("Draw the lanes of the valley first."), *worked("src/lanes.py", "b"), reply("Drawn.")]
    assert told_in(blocked, *said, *after) == []


def test_what_an_earlier_summary_was_about_is_over_once_work_followed() -> None:
    states = ["Checking if another table is read", "Most recently: a wish for lanes"]
    before = "## Critical Context\n" + "\n".join(f"- {state}" for state in states)
    more: dict[str, Any] = {"previous": before, "previous_entry": EntryIndex(3)}
    assert told_in(CONTEXT, *ran("a", "cat src/rows.py"), **more)[:1] == states[:1]
    text = summarize(span(*worked("src/rows.py", "a"), reply("The rows are read once now."), **more)).text
    assert not any(state in text for state in states)


def test_a_last_request_that_was_answered_with_a_plan_is_not_the_last_for_ever() -> None:
    said = [_ASKED, *ran("a", "cat src/rows.py"), reply("The columns would be read from `read_rows` first.")]
    then = [
        user("Draw the lanes of the valley beside the tree."),
        *worked("src/lanes.py", "c"),
        reply("Drawn."),
    ]
    previous = "## Critical Context\n- Last request: Port the table. → the reply says: “The columns would be read first.”"
    text = summarize(span(*then, previous=previous, previous_entry=EntryIndex(3))).text
    assert "Asked before: Port the table. → the reply says: “The columns would be read first.”" in text
    assert text.count("Last request") == 1
    assert "Asked before" not in summarize(span(*said)).text


def test_what_a_reply_said_comes_next_is_left_out_once_work_was_asked_for() -> None:
    said = (
        "Next up, once the tests pass for you: the lanes of the valley and the letters of the growers follow."
    )
    told = [_ASKED, *worked("src/frost.py", "a"), reply(f"Changed the frost table to columns.\n\n{said}")]
    assert said in summarize(span(*told)).text
    assert (
        said
        not in summarize(span(*told, user("they pass, go on with that"), *worked("src/lanes.py", "b"))).text
    )


def test_a_list_is_told_with_the_promise_or_the_heading_above_it() -> None:
    answer = (
        "Changed the frost table to columns.\n\nThis new copy will automatically:\n- bring the rows of the valley back\n"
        "- draw the lanes of the growers\n\n### Needed for the valley:\n\n- a well beside the lanes\n- enough water for the frost table\n"
    )
    text = summarize(span(_ASKED, *worked("src/frost.py", "a"), reply(answer))).text
    assert "- bring the rows of the valley back" not in text
    assert "Needed for the valley: a well beside the lanes; enough water" in text


def test_a_way_named_between_calls_is_proposed_until_a_file_was_changed() -> None:
    way = "The cleanest fix is to sort in `read_rows`, so that the writer never sees loose rows."
    said = [_ASKED, reply(way, ("a", "read", {"path": "src/rows.py"})), result("a", "def read_rows(): ...")]
    assert f"Proposed: {way}" in summarize(span(*said, reply("Look at it, please."))).text
    assert told_in(DECISIONS, *said) == []
    assert told_in(DECISIONS, *said, *worked("src/rows.py", "b")) == [way]


_SAID = "The reader of orchard counts `frost_rows` twice where a letter of the valley is empty."
_FIRST = "Orchard reads the letters of the valley one by one, in the order of their names."
_ASIDE = "The hoses of `src/hoses.py` are read once and kept for the whole run of orchard."


@pytest.mark.parametrize(
    ("after", "heading"),
    [
        ([], Provenance.SAID),
        ([user("And the lexer?"), *ran("b", "cat src/lexer.py"), reply("It is fine.")], Provenance.SAID),
        ([user("Then mend the lexer."), *worked("src/lexer.py", "b"), reply("Done.")], Provenance.SAID),
        (
            [user("Then mend it: `frost_rows`."), *worked("src/rows.py", "b"), reply("Done.")],
            Provenance.DATED,
        ),
    ],
)
def test_what_was_said_before_files_changed_has_a_heading_that_says_so(
    after: list[dict[str, object]], heading: Provenance
) -> None:
    said = [
        user("Why does orchard take so long?"),
        *ran("a", "orchard measure"),
        reply(f"{_FIRST} {_SAID} {_ASIDE}"),
    ]
    text = summarize(span(*said, *after)).text
    assert f"- {_SAID}" in _below(text, heading)
    # Of what nobody named since nothing was changed.
    assert f"- {_ASIDE}" in _below(text, Provenance.SAID)


def test_a_statement_that_names_nothing_is_dated_by_any_change() -> None:
    found = "The letters of the valley are all counted twice because the rows are kept."
    asked, told = user("Why does orchard take so long?"), reply(f"{_FIRST} {found}")
    work = [user("Then mend the lexer."), *worked("src/lexer.py", "b"), reply("Done.")]
    dated = summarize(span(asked, *ran("a", "orchard measure"), told, *work)).text
    assert f"- {found}" in _below(dated, Provenance.DATED)


@pytest.mark.parametrize("looked", [ran("a", "cat src/rows.py"), ran("a", "orchard measure")])
def test_what_a_turn_told_that_only_looked_or_proposed_is_history_once_files_changed(
    looked: list[dict[str, object]],
) -> None:
    found = "The letters of the valley are all counted twice because the rows are kept."
    cause = "The cause: nobody empties the table of the rows in the valley."
    said = [
        user("Why does orchard take so long?"),
        *looked,
        reply(f"{_FIRST} {found} {cause} Shall I go on?"),
    ]
    assert f"- {found}" in summarize(span(*said)).text
    text = summarize(span(*said, user("yes"), *worked("src/rows.py", "b"), reply("Done."))).text
    assert f"- {found}" not in text
    assert f"- {cause}" in text


@pytest.mark.parametrize(
    "found",
    [
        "The reader that keeps its rows is 4 times faster than the one that counts `frost_rows` twice.",
        "The best run of the reader with all rows took 31 ms, without them 45 ms.",
        "To keep `frost_rows` between the letters of the valley didn't improve the reader.",
    ],
)
def test_what_came_of_runs_that_were_compared_no_change_dates(found: str) -> None:
    said = [user("Why does orchard take so long?"), *ran("a", "cat src/rows.py"), reply(f"{_FIRST} {found}")]
    work = [user("Then mend it: `frost_rows`."), *worked("src/rows.py", "b"), reply("Done.")]
    assert f"- {found}" in _below(summarize(span(*said, *work)).text, Provenance.SAID)


def test_work_in_the_kept_messages_dates_what_was_said_before_it() -> None:
    said = [
        user("Why does orchard take so long?"),
        *ran("a", "orchard measure"),
        reply(f"{_FIRST} {_SAID} {_ASIDE}"),
    ]
    kept = [user("Then mend it: `frost_rows`."), *worked("src/rows.py", "b")]
    behind = [SpanMessage(EntryIndex(10 + len(said) + at), message) for at, message in enumerate(kept)]
    text = summarize(span(*said, kept=behind)).text
    assert f"- {_SAID}" in _below(text, Provenance.DATED)
    assert f"- {_ASIDE}" in _below(text, Provenance.SAID)


def test_a_dated_statement_keeps_its_heading_in_the_next_summary() -> None:
    before = f"## Critical Context\n\n{Provenance.DATED.heading}\n- {_SAID}\n\n{Provenance.SAID.heading}\n- {_ASIDE}\n"
    text = summarize(
        span(user("Now the gates."), reply("They are fine."), previous=before, previous_entry=3)
    ).text
    assert f"- {_SAID}" in _below(text, Provenance.DATED)
    assert f"- {_ASIDE}" in _below(text, Provenance.EARLIER)


def _below(text: str, heading: Provenance) -> list[str]:
    """The lines of a summary below a heading."""
    return text.partition(f"{heading.heading}\n")[2].partition("\n\n")[0].split("\n")


def test_a_ban_of_all_work_beside_a_question_ends_once_the_work_may_begin() -> None:
    rule = "Do not code anything, just explain."
    asked = [user(f"How does the frost table of orchard sort its rows? {rule}"), reply("By their day.")]
    assert told_in(SummarySection.CONSTRAINTS, *asked) == [rule]
    begun = [user("Fantastic, please implement."), *worked("src/frost.py", "a")]
    assert told_in(SummarySection.CONSTRAINTS, *asked, *begun) == []
    kept = [SpanMessage(EntryIndex(10 + len(asked) + at), message) for at, message in enumerate(begun)]
    since = f"{rule} (asked since: Fantastic, please implement.)"
    assert told_in(SummarySection.CONSTRAINTS, *asked, kept=kept) == [since]


@pytest.mark.parametrize(
    ("after", "is_next"),
    [
        ([user("Why by day?"), reply("So that the rows of a year are read once.")], True),
        ([user("Sort the hoses."), *worked("src/hoses.py", "b"), reply("Sorted them.")], True),
        ([user("Mend `frost_rows`."), *worked("src/rows.py", "b"), reply("It sorts by day.")], False),
    ],
)
def test_a_step_that_names_something_is_next_until_that_is_named(
    after: list[dict[str, object]], is_next: bool
) -> None:
    step = "The letters of last year still need to go through `frost_rows`."
    said = [_ASKED, *worked("src/frost.py", "a"), reply(f"Ported the frost table to columns.\n\n{step}")]
    assert (step in told_in(NEXT, *said, *after)) == is_next


def test_a_mark_in_the_code_that_a_reply_tells_of_is_no_step() -> None:
    said = [user("What does `frost_rows` do?"), *ran("a", "cat src/rows.py")]
    assert (
        told_in(NEXT, *said, reply("It sorts. The code holds a TODO: why are the rows of the valley wrong?"))
        == []
    )
    assert told_in(NEXT, *said, reply("It sorts.\n\nTODO: sort the rows of the valley too.")) != []


def test_what_is_asked_at_length_amid_work_is_the_goal_once_it_is_worked_on() -> None:
    question = (
        "Have you mended the reader of orchard so that no run changes its keys again, and are the files of the valley "
        "the same as those on the server, and do the scripts agree?"
    )
    said = [user("Why do you not let orchard read the keys of the valley?"), *ran("a", "cat src/keys.py")]
    (goal,) = told_in(SummarySection.GOAL, *said, user(question), *ran("b", "cat src/reader.py"))
    assert goal.startswith("Have you mended the reader of orchard")


def test_what_an_answer_in_another_language_lists_last_is_proposed_once_more_was_asked() -> None:
    step = "Uruchomić czytnik wierszy i sprawdzić, czy tabela szronu liczy je tylko raz w całej dolinie."
    answer = f"Archiwum\n- tabela.txt zawiera wiersze szronu.\n- sad.txt zawiera drzewa.\n\nDalsze kroki\n\n1. {step}"
    said = [user("Zapoznaj się z archiwum sadu."), *ran("a", "ls archiwum"), reply(answer)]
    assert f"Proposed: Dalsze kroki: {step}" not in told_in(CONTEXT, *said)
    then = [user("Obejrzyj kolumny tabeli szronu."), *ran("b", "cat src/frost.py")]
    assert f"Proposed: Dalsze kroki: {step}" in told_in(CONTEXT, *said, *then)
    assert f"Proposed: Dalsze kroki: {step}" not in told_in(CONTEXT, *said, *worked("src/frost.py", "c"))


def test_a_yes_to_a_question_in_another_language_stands_with_that_question() -> None:
    question = "Chcecie, abym poprawił tabelę szronu?"
    said = [
        user("Przejrzyj tabelę szronu."),
        *ran("a", "cat src/frost.py"),
        reply(f"Źle liczy wiersze.\n\n{question}"),
    ]
    then = [
        user("tak, ale z planem i porządnie"),
        *worked("src/frost.py", "b"),
        reply("Poprawiona tabela szronu."),
    ]
    assert f"tak, ale z planem i porządnie (asked: {question})" in summarize(span(*said, *then)).text


def test_a_last_reply_that_work_passed_is_not_told() -> None:
    found = "The reader of `src/rows.py` and the writer of `src/letters.py` still make keys of their own."
    said = [_ASKED, reply(found, ("a", "edit", {"path": "src/rows.py", "oldText": "x", "newText": "y"}))]
    text = summarize(span(*said, result("a", "ok"))).text
    assert f"- Last reply: {found}" in _below(text, Provenance.SAID)
    assert found not in summarize(span(*said, result("a", "ok"), *worked("src/letters.py", "b"))).text


def test_the_answer_to_a_question_is_its_outcome_and_not_the_work_that_it_offered() -> None:
    found = "The frost table reads every letter of the valley twice."
    said = [
        user("Analyse the frost table of orchard and the letters of the valley, please."),
        *ran("a", "cat src/frost.py"),
        reply(f"{found}\n\nShall I mend the reader of the frost table?"),
        user("yes, with a plan and tests for every reader"),
        *worked("src/reader.py", "b"),
        reply("Done."),
        user("Now draw the lanes of the valley beside the tree."),
        *worked("src/lanes.py", "c"),
    ]
    told = [line for line in lines_of(summarize(span(*said))) if "Analyse the frost table" in line[1]]
    assert told == [] or all("reader.py" not in line for _, line in told)


def test_a_request_that_only_sets_a_rule_is_none_that_was_done() -> None:
    rule = "日本語で応答してください"
    said = [
        user(rule),
        reply("はい、承知しました。"),
        user("霜の表を列に移してください。"),
        *worked("src/frost.py", "a"),
        reply("完了しました。"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == [rule]
    assert not any(rule in line for line in told_in(DONE, *said))


def test_a_plan_that_was_asked_for_is_told_by_its_beginning() -> None:
    plan = "Plan:\n1. Make `frost.py` and move the rows of the valley there.\n   It should own the table of the letters."
    said = [
        user("Brilliant, please make a plan to move the rows of the frost table."),
        *ran("a", "cat src/frost.py"),
        reply(plan),
        user("Fantastic, please implement."),
        *worked("src/frost.py", "b"),
        reply("Moved the rows."),
    ]
    text = summarize(span(*said)).text
    assert f"→ {quoted('Plan: 1. Make `frost.py`')[:-1]}" in text
    assert "→ It should own" not in text
