"""A tick stands only before what calls show: a reply's own words are told as what it says."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.calls.agent_plan import AgentPlanItem
from leafward.summaries.summarizers.extractive.candidates import quoted
from tests.core.told import ended, ran, reply, result, span, summarize, user, worked

_ASKED = user("Sort the crates of the valley by weight.")
_NEXT = [user("Draw the lanes of the valley now."), *worked("src/lanes.py", "z"), reply("Drew the lanes.")]


def _text(*messages: dict[str, object]) -> str:
    return summarize(span(*messages)).text


@pytest.mark.parametrize(
    "said",
    [
        "The import of the pears now works exactly like the one of the apples!",
        "Deleted: pears.md, apples.md, plums.md",
        "7時25分に起きたときに、ようやく収穫の集計が実行されました。",
    ],
)
def test_what_only_a_reply_reports_is_no_tick(said: str) -> None:
    """Fails where a sentence of a reply is told as done."""
    answer = reply(f"Moved the crates of `src/crates.py` into a table.\n\n{said}")
    text = _text(_ASKED, *worked("src/crates.py", "a"), answer)
    assert f"- {said.rstrip('。')}" in text
    assert f"- [x] {said.rstrip('。')}" not in text


def test_a_request_has_no_tick_whatever_calls_show() -> None:
    answer = reply("Moved the crates of `src/crates.py` into a table.")
    text = _text(_ASKED, *worked("src/crates.py", "a"), answer, *_NEXT)
    assert (
        f"- Asked: {_ASKED['content']} → {quoted('Moved the crates of `src/crates.py` into a table.')}"
        in text
    )
    assert "[x]" not in text


@pytest.mark.parametrize(
    ("asked", "calls", "answer"),
    [
        ("Sort the crates of the valley by weight.", [], "Moved the crates of `src/crates.py` into a table."),
        ("Which crates of the valley weigh most?", ran("g", "grep -rn weight src"), "The crates of pears weigh most."),
    ],
)  # fmt: skip
def test_a_request_that_words_alone_answered_is_told_with_what_the_reply_says(
    asked: str, calls: list[dict[str, object]], answer: str
) -> None:
    """Fails where the answer is told as the outcome of a ticked request."""
    text = _text(user(asked), *calls, reply(answer))
    assert f"Last request, answered: {asked} → {quoted(answer)}" in text
    assert "[x]" not in text


def test_a_command_that_failed_last_leaves_the_reply_its_word() -> None:
    asked = "Bring the frost view of the valley to staging."
    failed = ended("p", "fly deploy", "Error: no access token\nCommand exited with code 1", failed=True)
    said = [user(asked), *worked("deploy.yml", "k"), *failed, reply("Deployed the view to staging."), *_NEXT]
    assert f"- Asked: {asked} → {quoted('Deployed the view to staging.')}" in _text(*said)


def test_a_request_without_a_tick_has_none_after_the_next_compaction() -> None:
    asked = "Which crates of the valley weigh most?"
    said = [user(asked), *ran("g", "grep -rn weight src"), reply("The crates of pears weigh most.")]
    once = _text(*said)
    again = summarize(span(*_NEXT, previous=once, previous_entry=3)).text
    assert f"{asked} → {quoted('The crates of pears weigh most.')}" in again
    assert "[x] Asked: Which" not in again


def test_a_reverted_commit_ticks_no_request() -> None:
    commit = ran("c", 'git commit -m "Sort the crates of the valley"')
    work = [_ASKED, *worked("src/crates.py", "a"), *commit, reply("Committed.")]
    text = _text(*work, user("hm, no"), *ran("r", "git revert HEAD"), reply("Reverted it."))
    assert f"- Last request, answered: {_ASKED['content']} → reverted since" in text


def _listed(*items: str) -> list[dict[str, object]]:
    todos = [{"content": item, "status": "completed"} for item in items]
    return [reply("", ("t", "todowrite", {"todos": todos})), result("t", "ok")]


def test_what_the_agent_ticked_in_its_list_is_told_as_that() -> None:
    """Fails where the agent's own tick is told as done."""
    gaps, arrows = "Close the unnecessary gaps between the rows", "Draw an arrow for each crate"
    said = [user("Lay the rows of the valley out anew."), *worked("src/rows.py", "a"), *_listed(gaps, arrows)]
    said.append(reply("The rows are laid out anew."))
    text = _text(*said)
    assert f"- Ticked by the agent: {gaps}; {arrows}" in text
    assert "[x]" not in text


def test_a_complaint_is_about_the_work_of_which_it_names_most() -> None:
    """Fails where one common word makes it about the answer just before it."""
    layout = [user("Close the gap between the first rows of the page."), *worked("src/rows.py", "a")]
    layout.append(reply("Closed the gap by the height of the empty space."))
    server = [user("Start the server again, my browser may show old rows."), *ran("s", "make serve")]
    server.append(reply("Restarted the server for your browser."))
    gap = "The first gap is still huge, several pages of empty space in the browser."
    text = _text(*layout, *server, user(gap), *worked("src/rows.py", "b"))
    assert "[x] Asked: Close the gap" not in text


def test_thanks_in_many_words_are_no_request() -> None:
    """Fails where the last request is what the user said to the end of the work."""
    thanks = (
        "That's fascinating! I hadn't run across graftings until today, you've helped me a lot, thank you."
    )
    said = [_ASKED, *worked("src/crates.py", "a"), reply("Moved the crates into a table."), user(thanks)]
    text = _text(*said, reply("You're very welcome! Grafting is worth an afternoon."))
    assert (
        f"- Last request, answered: {_ASKED['content']} → {quoted('Moved the crates into a table.')}" in text
    )
    assert "fascinating" not in text


@pytest.mark.parametrize(
    "answer",
    [
        "Done:\n- Updated the lanes of the harbour in the index",
        "- Removed the stray semicolons of the harbour\n- Deleted the unused lanes of the harbour",
    ],
)
def test_what_a_reply_reports_beside_the_request_is_not_its_outcome(answer: str) -> None:
    """Fails where the first report of the reply stands behind the request, whatever it is of."""
    text = _text(_ASKED, *worked("src/crates.py", "a"), reply(answer), *_NEXT)
    assert f"- Asked: {_ASKED['content']} → changed `crates.py`" in text


@pytest.mark.parametrize(
    "said",
    ["the address is the same in the valley and in the harbour", "why is the sum of the valley red?"],
)
def test_what_orders_no_work_has_no_tick(said: str) -> None:
    """Fails where a remark or a question is ticked because files were changed for it."""
    text = _text(user(said), *worked("src/crates.py", "a"), reply("- Added the option `use_lanes`"), *_NEXT)
    assert "- [x] Asked" not in text
    first = [
        user("Sort the crates."),
        *worked("src/crates.py", "a"),
        reply("Sorted `crates`. How many are there?"),
    ]
    only = [*first, user("they are twenty"), *worked("src/sums.py", "b"), reply("That is all.")]
    assert "- [x] Last request: they are twenty" not in _text(*only)


def test_a_request_that_lost_its_outcome_is_told_with_the_files_that_were_changed_for_it() -> None:
    """Fails where it stands alone: the count of its tests is an older one."""
    counted = [user("Test the sums of the crates of the valley."), *worked("tests/crates.py", "c")]
    runs = ended("t", "pytest", "31 passed")
    later = [
        user("Write a test of the lanes."),
        *worked("tests/lanes.py", "d"),
        *runs,
        reply("Wrote it, 31 tests pass."),
    ]
    text = _text(*counted, reply("The crates are tested, 28 tests pass."), *later)
    assert "- Asked: Test the sums of the crates of the valley. → changed `crates.py`" in text


def test_the_items_of_a_list_are_told_with_it_after_the_next_compaction() -> None:
    """Fails where the line of a list is carried as one item, or stands beside the list itself."""
    said = [
        user("Lay out the rows anew."),
        *worked("src/rows.py", "a"),
        *_listed("Close the gaps", "Draw arrows"),
    ]
    once = _text(*said, reply("Laid out."))
    again = summarize(span(*_NEXT, previous=once, previous_entry=3)).text
    assert "- Ticked by the agent: Close the gaps; Draw arrows" in again
    anew = summarize(span(*_NEXT, *_listed("Close the gaps"), previous=once, previous_entry=3)).text
    assert anew.count("Close the gaps") == 1


def test_a_list_stands_in_the_file_of_its_own_call() -> None:
    """Fails where the first file that the message changes gets the list."""
    code = ("a", "edit", {"path": "src/crates.py", "oldText": "x", "newText": "def weigh(): ..."})
    steps = "- [ ] Weigh the pears of the valley\n- [x] Count the crates of the valley"
    plan = ("p", "write", {"path": "plan.md", "content": steps})
    text = _text(_ASKED, reply("", code, plan), result("a", "ok"), result("p", "ok"))
    assert "- Ticked in `plan.md`: Count the crates" in text
    assert "- Open in `plan.md`: Weigh the pears" in text


def test_what_the_user_listed_as_open_is_ticked_by_who_ticks_it() -> None:
    asked = user("Bring the crates to town:\n- [ ] Count the crates of the valley\n- [x] Buy a larger cart")
    text = _text(asked, *worked("src/crates.py", "a"), reply("- [x] Count the crates of the valley"))
    assert "- Ticked by the agent: Count the crates" in text
    assert "- Ticked by the user: Buy a larger cart" in text


def test_a_step_of_two_clauses_is_one_step_after_the_next_compaction() -> None:
    """Fails where it is read as two, and stays open once it is cancelled."""
    step, other = "Sort the crates; weigh the pears", {"content": "Wash the cart", "status": "pending"}
    first, then = (
        [
            reply("", ("t", "todowrite", {"todos": [{"content": step, "status": status}, other]})),
            result("t", "ok"),
            *worked("src/crates.py", "a"),
        ]
        for status in ("pending", "cancelled")
    )
    once = _text(_ASKED, *first)
    assert "- Open in the agent's list: Sort the crates, weigh the pears; Wash the cart\n" in once
    plan = (("at 0", AgentPlanItem(step, True)), ("at 1", AgentPlanItem("Wash the cart", True)))
    again = summarize(span(user("go on"), *then, previous=once, previous_entry=3, plan=plan)).text
    assert "- Open in the agent's list: Wash the cart\n" in again
