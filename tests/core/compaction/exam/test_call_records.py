"""Questions about calls: what failed and has not passed since, what was committed, where a name was defined, what was not allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.exam.call_records import call_records, failed_last, written_names
from leafward.compaction.exam.questions import Topic
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.survival.span_reading import SpanReading, read_span
from leafward.summaries.survival.spans import SpanMessage
from tests.acting import Acting, call
from tests.core.compaction.exam.asked import asked
from tests.core.linear_time import in_linear_time
from tests.core.told import reply, result, user

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TRACE = "Traceback (most recent call last):\nKeyError: 'shop 7 is unknown here'"
IMPORT = "ImportError: cannot import name 'shop' from 'queue'"


def ran(file: Acting, *runs: tuple[str, str, bool]) -> Acting:
    """Has commands run, each with what it prints and whether it fails."""
    for number, (command, printed, failed) in enumerate(runs):
        file.said(call("bash", f"r{number}", command=command))
        file.answered(f"r{number}", "bash", printed, failed=failed)
    return file


def of(file: Acting, topic: Topic, begins: str = "") -> list[tuple[str, set[str]]]:
    """The right and the wrong answers of the questions of a topic that begin with some words."""
    found, _ = asked(file, "x")
    return [
        (one.answers[one.right].text, {answer.text for answer in one.answers} - {one.answers[one.right].text})
        for one in found
        if one.topic is topic and one.text.startswith(begins)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    acting = Acting(tmp_path / "session.jsonl")
    acting.user("make the queue work")
    return acting


FAILED = ("make deploy", f"{TRACE}\n\nCommand exited with code 2", True)
PASSED = ("make build", "done", False)


def test_a_command_that_failed_is_asked_about_beside_those_that_passed(file: Acting) -> None:
    ran(file, PASSED, FAILED)
    assert of(file, Topic.FAILURE, "Which") == [("make deploy", {"make build"})]


@pytest.mark.parametrize(
    "later", [("make deploy", "done", False), ("make lint && make deploy && make tag", "done", False)]
)
def test_what_passed_since_is_not_asked_about(later: tuple[str, str, bool], file: Acting) -> None:
    ran(file, PASSED, ("make deploy", f"{IMPORT}\n\nCommand exited with code 1", True), FAILED, later)
    assert of(file, Topic.FAILURE) == []


def test_a_command_whose_last_run_has_no_result_yet_is_not_asked_about(file: Acting) -> None:
    ran(file, PASSED, FAILED)
    file.said(call("bash", "again", command="make deploy"))
    assert of(file, Topic.FAILURE, "Which") == []


@pytest.mark.parametrize("command", ["make a | tail", "make a; true", "make a || true", "grep -rn shop src"])
def test_what_may_have_failed_in_part_or_only_looks_is_no_wrong_answer(command: str, file: Acting) -> None:
    ran(file, (command, "done", False), FAILED)
    assert of(file, Topic.FAILURE, "Which") == []


def test_the_last_check_is_asked_about_where_no_tests_are(file: Acting) -> None:
    runs = [("npx tsc --noEmit", "ok", False), ("make build", "done", False), ("ls", "a", False)]
    ran(file, *runs)
    assert of(file, Topic.CHECK) == [("make build", {"npx tsc --noEmit"})]


def test_a_check_that_was_called_again_since_is_no_wrong_answer(file: Acting) -> None:
    ran(file, *[(command, "ok", False) for command in ("npx tsc --noEmit", "make lint", "make build")])
    file.said(call("bash", "again", command="make lint"))
    assert of(file, Topic.CHECK) == [("make build", {"npx tsc --noEmit"})]


def test_tests_that_were_called_again_since_are_no_wrong_answer(file: Acting) -> None:
    ran(file, *[(f"pytest {name}.py", "1 passed in 1s", False) for name in "abc"])
    file.said(call("bash", "again", command="pytest a.py"))
    assert of(file, Topic.TEST_COMMAND) == [("pytest c.py", {"pytest b.py"})]


@pytest.mark.parametrize(
    ("last", "wrong"),
    [
        ("make lint && make build", {"npx tsc --noEmit"}),
        ("make build && make lint 2>&1 | tail -3", {"npx tsc --noEmit"}),
        ("make lint-all && make build", {"npx tsc --noEmit", "make lint 2>&1 | tail -20"}),
    ],
)
def test_a_check_that_is_a_part_of_the_last_one_is_no_wrong_answer(
    last: str, wrong: set[str], file: Acting
) -> None:
    runs = ("npx tsc --noEmit", "make lint 2>&1 | tail -20", last)
    ran(file, *[(command, "ok", False) for command in runs])
    assert of(file, Topic.CHECK) == [(last, wrong)]


def test_tests_that_a_later_script_runs_are_no_wrong_answer(file: Acting) -> None:
    ran(file, *[(f"pytest {name}.py", "1 passed in 1s", False) for name in "abc"])
    file.said(call("bash", "again", command="git stash && pytest a.py"))
    assert of(file, Topic.TEST_COMMAND) == [("pytest c.py", {"pytest b.py"})]


@pytest.mark.parametrize(
    "command", ["pgrep -lf queue", "sleep 9 && gh pr checks 48", "diff a b", "test -d src", "! lsof -i :80"]
)
def test_a_command_that_found_nothing_did_not_fail(command: str, file: Acting) -> None:
    ran(file, PASSED, (command, "Command exited with code 1", True))
    assert of(file, Topic.FAILURE, "Which") == []


@pytest.mark.parametrize("printed", ['{\n  "error": "Invalid JSON in request body"\n}', TRACE])
def test_what_ended_well_and_printed_an_error_is_no_wrong_answer(printed: str, file: Acting) -> None:
    ran(file, ("curl -X POST localhost/jobs", printed, False), FAILED)
    assert of(file, Topic.FAILURE, "Which") == []


@pytest.mark.parametrize(
    "line",
    [
        "For more information about this error, try `rustc --explain E0499`.",
        "warning: could not open directory 'shop/shop/': No such file or directory",
        "Running unittests src/lib.rs (target/x86_64-unknown-linux-gnu/debug/deps/shop)",
    ],
)
def test_what_is_printed_beside_an_error_is_none(line: str, file: Acting) -> None:
    ran(file, ("make queue", f"{IMPORT}\n\nCommand exited with code 1", True))
    ran(file, ("make types", f"{line}\n\nCommand exited with code 1", True))
    assert of(file, Topic.FAILURE, "With") == []


def test_an_error_is_asked_about_beside_those_of_earlier_failures(file: Acting) -> None:
    ran(file, ("make queue", f"{IMPORT}\n\nCommand exited with code 1", True), FAILED)
    assert of(file, Topic.FAILURE, "With") == [(TRACE.rsplit("\n", maxsplit=1)[-1], {IMPORT})]


def test_an_error_that_came_up_again_is_no_wrong_answer(file: Acting) -> None:
    again = ("make deploy", f"{TRACE}\n{IMPORT}\n\nCommand exited with code 2", True)
    ran(file, ("make queue", f"{IMPORT}\n\nCommand exited with code 1", True), again)
    assert of(file, Topic.FAILURE, "With") == []


def test_a_line_without_words_of_an_error_is_none(file: Acting) -> None:
    ran(
        file,
        ("make queue", f"{IMPORT}\n\nCommand exited with code 1", True),
        ("make types", "Generating the types of the project\n\nCommand exited with code 1", True),
    )
    assert of(file, Topic.FAILURE, "With") == []


def commits(*subjects: str) -> Sequence[tuple[str, str, bool]]:
    return [
        (f"git commit -m '{one}'", f"[main 1a2b3c{number}] {one}\n 1 file changed", False)
        for number, one in enumerate(subjects)
    ]


def test_the_last_commit_is_asked_about_beside_earlier_ones(file: Acting) -> None:
    ran(file, *commits("Add the queue", "Add the store"))
    assert of(file, Topic.COMMIT) == [("Add the store", {"Add the queue"})]


@pytest.mark.parametrize(
    ("command", "printed", "failed"),
    [
        ("git commit -qF message.txt", "", False),
        ("git pull", "Merge made by the 'ort' strategy.", False),
        ("git commit -q -m 'Add the fence' && git push", "! [rejected]\n\nCommand exited with code 1", True),
    ],
)
def test_a_later_commit_of_unknown_subject_leaves_nothing_to_ask(
    command: str, printed: str, failed: bool, file: Acting
) -> None:
    ran(file, *commits("Add the queue", "Add the store"), (command, printed, failed))
    assert of(file, Topic.COMMIT) == []


@pytest.mark.parametrize(
    ("command", "failed"),
    [
        ("git commit -m 'Add the fence' && git push", True),
        ("git revert --no-edit HEAD", False),
        ("make fence", False),
    ],
)
def test_a_commit_counts_however_it_was_made(command: str, failed: bool, file: Acting) -> None:
    printed = "[main 9f8e7d6] Add the fence\n 1 file changed\n\nCommand exited with code 1"
    ran(file, *commits("Add the queue", "Add the store"), (command, printed, failed))
    assert of(file, Topic.COMMIT) == [("Add the fence", {"Add the queue", "Add the store"})]


def writes(file: Acting, **texts: str) -> Acting:
    for name, text in texts.items():
        file.said(call("write", name, path=f"src/{name}.py", content=text))
        file.answered(name, "write")
    return file


def test_a_name_is_asked_about_beside_files_that_no_call_names_with_it(file: Acting) -> None:
    writes(file, first="def take_one(shop):\n    return shop\n", second="a = take_one(1)\n", third="b = 1\n")
    assert of(file, Topic.DEFINITION) == [("src/first.py", {"src/third.py"})]


@pytest.mark.parametrize(
    "text", ["def first_row(shop):\n    return shop\n", "# Names\n    def first_row(shop): ...\n", "a = 1\n"]
)
def test_a_name_that_tells_its_file_is_not_asked_about(text: str, file: Acting) -> None:
    writes(file, first=text, second="b = 1\n")
    assert of(file, Topic.DEFINITION) == []


def test_a_name_in_a_patch_is_asked_about(file: Acting) -> None:
    for name, line in (("first", "def take_one(shop):"), ("second", "b = 1")):
        patch = f"*** Begin Patch\n*** Add File: src/{name}.py\n+{line}\n*** End Patch"
        file.said(call("apply_patch", name, input=patch))
        file.answered(name, "apply_patch")
    assert of(file, Topic.DEFINITION) == [("src/first.py", {"src/second.py"})]


REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("later", "found"), [([], [("make deploy", {"make build"})]), ([("make deploy", "done", False)], [])]
)
def test_a_command_that_was_declined_is_asked_about_until_it_ran(
    later: list[tuple[str, str, bool]], found: list[tuple[str, set[str]]], file: Acting
) -> None:
    ran(file, PASSED, ("make deploy", REFUSAL, True))
    ran(file, *later)
    assert of(file, Topic.GIVEN_UP) == found


@pytest.mark.parametrize(
    ("topic", "last", "before"),
    [
        (Topic.REQUEST, "show the jobs of all shops in the list", "count the jobs of every shop"),
        (
            Topic.REPORT,
            "The list shows the jobs of 2 shops.",
            "The queue in `src/queue.py` holds 3 jobs.",
        ),
    ],
)
def test_what_was_said_last_is_asked_about_beside_what_was_said_before(
    topic: Topic, last: str, before: str, file: Acting
) -> None:
    file.user("count the jobs of every shop")
    file.said("Done.\nThe queue in `src/queue.py` holds 3 jobs.")
    file.user("show the jobs of all shops in the list")
    file.said("The list shows the jobs of 2 shops.")
    file.user("great, thanks!")
    file.said("You're welcome!")
    assert of(file, topic) == [(last, {before})]


def test_tests_that_were_declined_did_not_run(file: Acting) -> None:
    ran(
        file,
        *[(f"pytest {name}.py", "1 passed in 1s", False) for name in "ab"],
        ("pytest c.py", REFUSAL, True),
    )
    assert of(file, Topic.TEST_COMMAND) == [("pytest b.py", {"pytest a.py"})]


def test_a_command_that_was_ever_declined_is_no_wrong_answer(file: Acting) -> None:
    ran(file, PASSED, ("make tag", REFUSAL, True), ("make tag", "done", False))
    ran(file, ("make push", "done", False), ("make push", REFUSAL, True), ("make deploy", REFUSAL, True))
    assert of(file, Topic.GIVEN_UP) == [("make deploy", {"make build"})]


def read(*messages: dict[str, Any]) -> SpanReading:
    spoken = [SpanMessage(EntryIndex(place), message) for place, message in enumerate(messages)]
    return read_span(spoken, "/x", "", NO_ENTRY, None, ())


def changed(*paths: str) -> dict[str, Fact]:
    return {path: Fact(FactKind.PATH, path, path, EntryIndex(1), Voice.CHANGED, []) for path in paths}


def test_very_many_commands_that_failed_and_passed_later() -> None:
    error = "error: no such shop is here\n\nCommand exited with code 2"
    runs = [
        *((f"make shop{number}", error, True) for number in range(8_000)),
        *((f"make all && make shop{number}", "done", False) for number in range(8_000)),
    ]
    said = [
        message
        for number, (command, printed, failed) in enumerate(runs)
        for message in (
            reply("", (str(number), "bash", {"command": command})),
            result(str(number), printed, failed),
        )
    ]
    reading = read(user("make the shops"), *said)
    with in_linear_time():
        assert failed_last(call_records(reading)) is None


def test_very_many_files_that_use_a_name_of_the_first() -> None:
    def wrote(number: int, text: str) -> list[dict[str, Any]]:
        path = f"src/m{number}.py"
        return [
            reply("", (f"{path}{text}", "write", {"path": path, "content": text})),
            result(f"{path}{text}", "ok"),
        ]

    said = [
        *(message for number in range(3_000) for message in wrote(number, "a = 1\n")),
        *(message for number in range(3_000) for message in wrote(number, "take_one_job(1)\n")),
        *wrote(0, "def take_one_job(shop): ...\n"),
    ]
    reading = read(user("use the job"), *said)
    files = changed(*(f"src/m{number}.py" for number in range(3_000)))
    with in_linear_time():
        assert [(name, list(there.wrong)) for name, there in written_names(reading, files, "/x")] == [
            ("take_one_job", [])
        ]


def test_a_patch_that_declares_very_many_names() -> None:
    old = "\n".join(f"-x{number}" for number in range(100_000))
    new = "\n".join(f"+def function_{number}(a):" for number in range(20_000))
    patch = f"*** Begin Patch\n*** Update File: src/a.py\n@@\n{old}\n{new}\n*** End Patch"
    reading = read(reply("", ("p", "apply_patch", {"input": patch})), result("p", "ok"))
    with in_linear_time():
        assert len(list(written_names(reading, changed("src/a.py", "src/b.py"), "/x"))) > 1
