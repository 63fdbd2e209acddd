"""The exam of a compaction: honest questions, the same each time, and where their answers stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.errors import LeafwardError
from leafward.catalogue.lookup import sighted
from leafward.compaction.exam.grade import exam, exam_of
from leafward.compaction.exam.questions import Topic, questions
from leafward.session.entries import Kind
from leafward.summaries.facts.calls.outcomes import counts_in
from leafward.summaries.survival.spans import replaced_by
from tests.acting import Acting, call, reading
from tests.core.compaction.exam.asked import GUESS, asked, right, rights
from tests.surroundings import CORPORA, THOROUGH


def test_each_topic_has_its_right_answer(work: Acting) -> None:
    found, _ = asked(work, "nothing of note")
    assert list(dict.fromkeys(one.topic for one in found)) == [one for one in Topic if one is not Topic.CHECK]
    assert right(found, Topic.CHANGED_LAST) == "src/store.py"
    assert rights(found, Topic.DEFINITION) == ["src/store.py", "src/queue.py"]
    assert right(found, Topic.FAILURE) == "python -m pytest tests/test_queue.py"
    assert right(found, Topic.COMMIT) == "Store what a job gives"
    assert right(found, Topic.REQUEST) == GUESS
    assert right(found, Topic.REPORT) == "`keep_result` stores what a job gives."
    assert right(found, Topic.TEST_COMMAND) == "python -m pytest -q"
    assert right(found, Topic.TEST_RESULT) == "2 passed"
    assert right(found, Topic.LIMIT) == "Never use more than 3 workers for an import."
    assert right(found, Topic.GIVEN_UP) == "SQLite locks the whole file."
    assert right(found, Topic.NEXT_STEP) == "Add retries to the queue"


def test_the_answers_have_the_same_letters_in_every_run(work: Acting) -> None:
    """It fails, but for luck, where their order depends on the seed of Python's hashes, or on which one is right."""
    found, _ = asked(work, "nothing of note")
    assert [[answer.text for answer in one.answers] for one in found] == [
        ["src/queue.py", "src/store.py"],
        ["src/queue.py", "src/store.py"],
        ["src/queue.py", "src/store.py"],
        ["python -m pytest tests/test_queue.py", "python -m pytest -q"],
        ["1 failed, 1 passed", "2 passed"],
        [
            "git commit -qam 'Take one job'",
            "python -m pytest tests/test_queue.py",
            "python -m pytest -q",
            "make build",
        ],
        ["Take jobs of one shop", "Store what a job gives"],
        ["Never use more than 3 workers for an import.", GUESS],
        ["every shop reads the same rows.", "SQLite locks the whole file."],
        [GUESS, "Build the queue for the shop first. Never use more than 3 workers for an import."],
        ["The queue in `src/queue.py` takes the jobs of one shop.", "`keep_result` stores what a job gives."],
        ["Add retries to the queue", "Write the store"],
    ]


def test_a_run_that_does_not_get_to_the_tests_leaves_the_last_counts(work: Acting) -> None:
    work.said(call("bash", "6", command="python -m pytest -q"))
    work.answered("6", "bash", "ImportError: cannot import name 'shop'", failed=True)
    found, _ = asked(work, "nothing of note")
    assert right(found, Topic.TEST_RESULT) == "2 passed"
    # Counts that could be of any run are no answer, and older ones are no longer the last.
    work.said(call("bash", "7", command="python -m pytest -q"))
    work.answered("7", "bash", "0 failed")
    found, _ = asked(work, "nothing of note")
    assert Topic.TEST_RESULT not in {one.topic for one in found}


@pytest.mark.parametrize(
    ("printed", "counts"),
    [("Found 4 errors.", "2 passed"), ("All checks passed!\n5 passed in 0.1s", "5 passed")],
)
def test_counts_of_a_linter_are_not_those_of_the_tests_behind_it(
    printed: str, counts: str, work: Acting
) -> None:
    work.said(call("bash", "6", command="ruff check . && python -m pytest -q | tail -3"))
    work.answered("6", "bash", printed)
    found, _ = asked(work, "nothing of note")
    assert right(found, Topic.TEST_RESULT) == counts


@pytest.mark.parametrize(
    "command",
    ["go test ./... -count=1 -run=^$ 2>&1 | head", "cargo test --no-run", "pytest --collect-only -q"],
)
def test_a_command_that_runs_no_test_does_not_run_the_tests(command: str, work: Acting) -> None:
    work.said(call("bash", "6", command=command))
    work.answered("6", "bash", "done")
    found, _ = asked(work, "nothing of note")
    assert right(found, Topic.TEST_COMMAND) == "python -m pytest -q"
    assert command not in {
        answer.text for one in found if one.topic is Topic.TEST_COMMAND for answer in one.answers
    }


def test_counts_that_differ_in_a_number_are_other_answers(work: Acting) -> None:
    for number, counts in (("6", "11 passed, 0 failed"), ("7", "1 passed, 0 failed")):
        work.said(call("bash", number, command="python -m pytest -q"))
        work.answered(number, "bash", counts)
    found, _ = asked(work, "nothing of note")
    question = next(one for one in found if one.topic is Topic.TEST_RESULT)
    assert "11 passed, 0 failed" in [answer.text for answer in question.answers]
    assert right(found, Topic.TEST_RESULT) == "1 passed, 0 failed"


def given_up(file: Acting, summary: str = "nothing of note") -> tuple[str, set[str], bool]:
    """The right answer of the last question about something given up, the wrong ones, and whether the summary has it."""
    found, exam = asked(file, summary)
    at = [place for place, one in enumerate(found) if one.topic is Topic.GIVEN_UP][-1]
    one = found[at]
    wrong = {answer.text for answer in one.answers} - {one.answers[one.right].text}
    return one.answers[one.right].text, wrong, exam.graded[at].answered


def test_an_offer_that_was_declined_is_asked_about_beside_one_that_was_accepted(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("Why is the queue of the shop so slow?")
    file.said("The writer holds a lock. Should I measure the writer of the queue first?")
    file.user("yes")
    file.said("It takes 40 ms. Do you want me to set `synchronous=OFF` on the queue's database?")
    file.user("no don't set it, let's see if it stays slow")
    offer = "Do you want me to set `synchronous=OFF` on the queue's database?"
    told = f"Declined by the user: {offer} (no don't set it)"
    assert given_up(file, told) == (offer, {"Should I measure the writer of the queue first?"}, True)


def test_an_offer_that_is_only_named_is_not_told_as_declined(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("Why is the queue of the shop so slow?")
    file.said("The writer holds a lock. Should I measure the writer of the queue first?")
    file.user("yes")
    file.said("It takes 40 ms. Do you want me to set `synchronous=OFF` on the queue's database?")
    file.user("no don't set it, let's see if it stays slow")
    assert given_up(file, "Do you want me to set `synchronous=OFF` on the queue's database?")[2] is False


def test_an_item_that_removes_something_with_its_reason_is_asked_about(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user(
        "What I want is:\n- keep the grouping of jobs by shop\n"
        "- remove the coloured lanes of the jobs completely, it's not helping"
    )
    file.said("Removed the lanes.")
    text, wrong, _ = given_up(file)
    # Neither the verbs nor the reason, which say which one it is.
    assert text == "the coloured lanes of the jobs completely"
    assert wrong == {"the grouping of jobs by shop"}


def test_a_request_that_was_taken_back_is_asked_about_beside_those_that_stand(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    for number, words in enumerate(
        ("make the grey of the jobs' list brighter", "make the red and green of the diff less intense")
    ):
        file.user(words)
        file.said(call("write", str(number), path="theme.json", content=f"{number}"))
        file.answered(str(number), "write")
        file.said("Made it so.")
    file.user("can you please revert that?")
    text, wrong, _ = given_up(file)
    assert text == "make the red and green of the diff less intense"
    assert wrong == {"make the grey of the jobs' list brighter"}


def test_wrong_answers_stand_in_the_span(work: Acting) -> None:
    found, _ = asked(work, "nothing of note")
    wrong = {
        one.topic: {answer.text for answer in one.answers} - {one.answers[one.right].text} for one in found
    }
    assert wrong[Topic.CHANGED_LAST] == {"src/queue.py"}
    assert wrong[Topic.TEST_COMMAND] == {"python -m pytest tests/test_queue.py"}
    assert wrong[Topic.TEST_RESULT] == {"1 failed, 1 passed"}
    assert wrong[Topic.NEXT_STEP] == {"Write the store"}


def test_a_rule_that_was_withdrawn_is_a_wrong_answer(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("Never use more than 3 workers for an import.")
    file.said("Understood.")
    file.user("Undo that.")
    file.user("You must always keep the old API.")
    file.said("Understood.")
    found, _ = asked(file, "x")
    limits = [one for one in found if one.topic is Topic.LIMIT]
    assert [one.answers[one.right].text for one in limits] == ["You must always keep the old API."]
    assert {answer.text for answer in limits[0].answers} >= {"Never use more than 3 workers for an import."}


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("Write the plan, and you must keep the old API in it.", []),
        ("You must always keep the old API.", ["You must always keep the old API."]),
        ("I never can edit the old API.", []),
    ],
)
def test_only_a_demand_that_lasts_is_asked_about(words: str, rules: list[str], tmp_path: Path) -> None:
    """What was said with one request binds nobody once that was answered."""
    file = Acting(tmp_path / "session.jsonl")
    file.user(words)
    file.said("The plan is written.")
    file.user(GUESS)
    file.said("It is.")
    found, _ = asked(file, "x")
    assert [one.answers[one.right].text for one in found if one.topic is Topic.LIMIT] == rules


def test_a_wish_of_the_same_request_is_no_wrong_answer(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user(
        "I think we need to take back the work so far:\n- always group the list by session\n"
        "- remove the vertical lines of the lanes\n- group by checkpoint (should be possible with a key)"
    )
    file.said("Is it grouped by day as well?")
    file.user(
        "paint the vertical lines of the lanes green\nI think the list is only grey in the second terminal."
    )
    found, _ = asked(file, "x")
    (rule,) = (one for one in found if one.topic is Topic.LIMIT)
    assert {answer.text for answer in rule.answers} == {
        "always group the list by session",
        "I think the list is only grey in the second terminal.",
    }


def test_what_one_call_changed_was_changed_last_together(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("write them")
    for number, names in enumerate((("first.py",), ("second.py", "third.py"))):
        patch = "".join(f"*** Add File: {name}\n+a = 1\n" for name in names)
        file.said(call("apply_patch", f"{number}", input=f"*** Begin Patch\n{patch}*** End Patch"))
        file.answered(f"{number}", "apply_patch")
    found, _ = asked(file, "x")
    assert {answer.text for answer in found[0].answers} == {"first.py", "third.py"}


def test_what_calls_of_one_reply_changed_was_changed_last_together(tmp_path: Path) -> None:
    """They may have run at once, in any order."""
    file = Acting(tmp_path / "session.jsonl")
    file.user("write them")
    for names in (("first.py",), ("second.py", "third.py")):
        file.said(*(call("write", name, path=name, content="a = 1") for name in names))
        for name in names:
            file.answered(name, "write")
    found, _ = asked(file, "x")
    assert {answer.text for answer in found[0].answers} == {"first.py", "third.py"}


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("cargo fmt --all", {"src/last.py"}),
        ("mise run fmt && mise run lint", {"src/last.py"}),
        ("npx prettier --write .", {"src/last.py"}),
        ("bun run lint:fix", {"src/last.py"}),
        ("ruff check --fix .", {"src/last.py"}),
        ("cargo fmt --all -- --check", {"src/last.py", "src/new.py", "src/newer.py"}),
        ("git log --format=%h", {"src/last.py", "src/new.py", "src/newer.py"}),
    ],
)
def test_what_a_formatter_may_have_changed_was_changed_last_together(
    command: str, wrong: set[str], tmp_path: Path
) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("write them")
    for number, name in enumerate(("last", "", "new", "newer", "newest")):
        given = {"path": f"src/{name}.py", "content": "a = 1"} if name else {"command": "cargo fmt"}
        file.said(call("write" if name else "bash", f"{number}", **given))
        file.answered(f"{number}", "write" if name else "bash")
    file.said(call("bash", "9", command=command))
    file.answered("9", "bash")
    found, _ = asked(file, "x")
    answers = {answer.text for one in found for answer in one.answers}
    assert right(found, Topic.CHANGED_LAST) == "src/newest.py"
    assert answers - {"src/newest.py"} == wrong


def test_a_file_that_git_brought_back_was_not_changed_last(work: Acting) -> None:
    work.said(call("write", "6", path="src/trial.py", content="c = 1\n"))
    work.answered("6", "write")
    work.said(call("bash", "7", command="git checkout -- src/trial.py"))
    work.answered("7", "bash", "")
    found, _ = asked(work, "nothing of note")
    assert right(found, Topic.CHANGED_LAST) == "src/store.py"


def test_an_item_of_a_request_that_was_answered_may_be_left_undone(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user(
        "Which of these would help most?\n- [ ] Documents of the libraries in use\n- [ ] Papers on the queue"
    )
    file.said("The documents would help most.")
    file.user("go on with the queue")
    file.said("The queue is there.\n- [ ] Add retries to the queue")
    found, _ = asked(file, "x")
    assert rights(found, Topic.NEXT_STEP) == []


def test_a_choice_of_one_thing_over_another_is_no_wrong_answer(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("build it")
    file.said("We decided against threads because SQLite locks the whole file.")
    file.said("We go with processes instead of threads because they share nothing at runtime.")
    file.said("Decision: one table for all jobs because every shop reads the same rows.")
    found, _ = asked(file, "x")
    (one,) = (one for one in found if one.topic is Topic.GIVEN_UP)
    assert {answer.text for answer in one.answers} == {
        "SQLite locks the whole file.",
        "every shop reads the same rows.",
    }


def test_no_honest_wrong_answer_no_question(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("write it")
    file.said(call("write", "1", path="only.py", content="a = 1\n"))
    file.answered("1", "write")
    assert asked(file, "x")[0] == ()


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("...\n=== 2 failed, 32 passed in 1.2s ===", "2 failed, 32 passed"),
        ("bun test\n 12 pass\n 0 fail\nRan 12 tests", "12 pass, 0 fail"),
        ("test result: ok. 5 passed; 0 failed; 1 ignored", "5 passed, 0 failed"),
        ("# pass 3\n# fail 1", "3 pass, 1 fail"),
        ("built in 2s", ""),
    ],
)
def test_what_a_run_of_tests_prints(printed: str, says: str) -> None:
    assert counts_in(printed) == says


def test_nothing_that_was_asked_answers_nothing() -> None:
    assert exam((), "a summary").share() is None


@pytest.mark.skipif(not CORPORA.is_dir(), reason="needs the corpora")
def test_stored_compactions_of_every_agent() -> None:
    """The same twice, right answers that differ from the wrong ones, and every right answer held by the span itself."""
    met: dict[str, int] = {}
    for card in sighted(Config(), [CORPORA], {}, []):
        if card.problem is not None:
            continue
        try:
            session = agent_named(card.agent).open(Path(card.path))
        except LeafwardError:
            continue
        for index, kind in enumerate(session.columns.kind):
            if kind == Kind.COMPACTION:
                there = replaced_by(session, index)
                found = questions(there.messages, session.cwd, there.previous, there.previous_entry)
                if THOROUGH or len(there.messages) < 100:
                    assert found == questions(
                        there.messages, session.cwd, there.previous, there.previous_entry
                    )
                met[card.agent] = met.get(card.agent, 0) + len(found)
                for one in found:
                    texts = [answer.text.casefold() for answer in one.answers]
                    assert len(set(texts)) == len(texts) > 1
        session.close()
    assert set(met) == {"pi", "codex", "claude", "opencode"}
    assert sum(met.values()) >= 30


def test_a_rule_of_one_order_is_not_asked_once_that_was_answered(work: Acting) -> None:
    work.user("Write a plan for the release, it must have at most 5 steps.")
    work.said("Done. It has five.")
    work.user("Now prune the queue.")
    work.said("It is pruned.")
    found, _ = asked(work, "nothing of note")
    assert "workers" in right(found, Topic.LIMIT)


@pytest.mark.parametrize(
    ("kept", "gone"),
    [
        ([], set()),
        (["said - [x] Add retries to the queue"], {Topic.NEXT_STEP}),
        (["user Forget the retries to the queue."], {Topic.NEXT_STEP}),
        (["user You may use more than 3 workers for an import now.", "said ok"], {Topic.LIMIT}),
    ],
)
def test_nothing_is_asked_that_the_kept_messages_tell_otherwise(
    work: Acting, kept: list[str], gone: set[Topic]
) -> None:
    end = work.user("thanks")
    for one in kept:
        how, _, text = one.partition(" ")
        if how == "user":
            work.user(text)
        else:
            work.said(text)
    work.compacted(end, "nothing of note")
    with reading(work.path) as session:
        found = exam_of(session, len(session) - 1)
    assert set(Topic) - {one.question.topic for one in found.graded} == gone | {Topic.CHECK}
