"""What is in nobody's way: a look that found nothing, a check that was to fail, a program that was not there."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.state.failure_replies import is_meant
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ended, reply, result, span, told_in, user, worked

_BEGUN = [user("Give orchard a table of frost."), *worked("src/frost.ts", "p")]
_TEST = "npm test -- frost"
_RED = "FAIL src/frost.test.ts\n  ● reads frost\n    TypeError: readFrost is not a function\nTests: 1 failed, 3 total\nCommand exited with code 1"


def _failed(key: str, command: str, printed: str) -> list[dict[str, object]]:
    return ended(key, command, f"{printed}\nCommand exited with code 1", failed=True)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("gh run view 123 --log-failed", "failed to get run: HTTP 404: Not Found"),
        ("npm view @orchard/frost", "npm error 404 Not Found: @orchard/frost is not in this registry"),
        ("git show abc123:src/frost.ts", "fatal: path 'src/frost.ts' does not exist in 'abc123'"),
        ("git log --oneline origin/frost", "fatal: ambiguous argument 'origin/frost': unknown revision"),
        ("docker ps", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
        ("kubectl get pods -n frost", "Error from server (Forbidden): pods is forbidden"),
        ("which frost && frost --version", ""),
        ("npx tsc --version && cat tsconfig.test.json", "cat: tsconfig.test.json: No such file or directory"),
        ("ls build/test && cat build/test/out.log", "ls: build/test: No such file or directory"),
    ],
)
def test_a_look_that_found_nothing_is_no_obstacle(command: str, printed: str) -> None:
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *_failed("a", command, printed)) == []


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("gh run view 123 --exit-status", "X frost failed"),
        ("npm test && cat out.log", "1 failed, 2 passed"),
        ("git merge frost", "CONFLICT (content): Merge conflict in src/frost.ts"),
        ("docker build .", "ERROR: failed to solve: frost: not found"),
    ],
)
def test_work_and_checks_that_failed_are(command: str, printed: str) -> None:
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *_failed("a", command, printed)) != []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Now I run it: it should fail.", ""),
        ("Confirm that the test fails before the fix.", ""),
        ("", "Good, red as expected: `readFrost` is missing."),
        ("", "The test catches it, so I restore the code."),
        ("", "It fails for the right reason."),
    ],
)
def test_a_check_that_was_to_fail_is_no_obstacle(before: str, after: str) -> None:
    call = [reply(before, ("x", "bash", {"command": _TEST})), result("x", _RED, True)]
    edit = ("e", "edit", {"path": "src/frost.ts", "oldText": "a", "newText": "b"})
    said = [*_BEGUN, *call, reply(after, edit), result("e", "ok")]
    assert told_in(SummarySection.BLOCKED, *said) == []
    plain = [*_BEGUN, reply("", ("x", "bash", {"command": _TEST})), result("x", _RED, True)]
    assert told_in(SummarySection.BLOCKED, *plain) != []


@pytest.mark.parametrize(
    "text",
    [
        "The tests do not behave as expected.",
        "Let me check whether the build fails.",
        "Let me verify the tests don't fail.",
        "I make sure nothing fails on Windows.",
        "The test should not fail here.",
        "The outer handler catches it, so no error surfaces.",
        "Let me see if it still fails.",
    ],
)
def test_words_about_a_failure_that_nobody_wanted_do_not_say_so(text: str) -> None:
    assert not is_meant(span(reply(text)).messages, 0)


def test_a_failure_that_is_there_without_the_work_is_dismissed() -> None:
    said = [*_BEGUN, *_failed("x", _TEST, _RED), reply("It fails on main too, so it is not this work's.")]
    assert told_in(SummarySection.BLOCKED, *said) == []


@pytest.mark.parametrize(
    ("command", "printed", "other"),
    [
        ("make test", "make: pytest: No such file or directory", "python -m pytest -q"),
        ("pytest -q", "bash: pytest: command not found", "uv run pytest -q tests"),
        ("npm run build", 'npm error Missing script: "build"', "npx vite build"),
        ("cargo test", "error: could not find `Cargo.toml` in `/home/ada`", "cd core && cargo test frost"),
        ("python -m pytest", "/usr/bin/python: No module named pytest", ".venv/bin/python -m pytest tests/a.py"),
    ],
)  # fmt: skip
def test_a_program_that_was_not_there_is_overcome_by_the_same_check_in_another_way(
    command: str, printed: str, other: str
) -> None:
    said = [*_BEGUN, *_failed("x", command, printed)]
    assert told_in(SummarySection.BLOCKED, *said) != []
    assert told_in(SummarySection.BLOCKED, *said, *ended("y", other, "ok")) == []


def test_a_check_that_ran_and_failed_is_not_overcome_by_another_one() -> None:
    said = [*_BEGUN, *_failed("x", "pytest tests/a.py", "E   AssertionError\n1 failed, 2 passed in 1s")]
    assert told_in(SummarySection.BLOCKED, *said, *ended("y", "uv run pytest tests/b.py", "3 passed")) != []


def test_a_failure_blocks_answered_work_only_where_the_answer_says_so() -> None:
    lint = _failed("x", "golangci-lint run ./...", "Error: can't load config: the Go version used is lower")
    tests = ended("y", "go test ./...", "ok  \torchard\t0.3s")
    said = [*_BEGUN, *lint, *tests]
    told = "All tests pass. One caveat: `golangci-lint` could not run here, it predates this change."
    assert told_in(SummarySection.BLOCKED, *said) != []
    assert told_in(SummarySection.BLOCKED, *said, reply("The lint does not run here.")) != []
    assert told_in(SummarySection.BLOCKED, *said, reply(told)) == []
    assert told_in(SummarySection.BLOCKED, *said, reply("All tests pass.")) == []
    recorded = told_in(SummarySection.CONTEXT, *said, reply("All tests pass."))
    assert any("not run again: `golangci-lint run ./...`" in line for line in recorded)
