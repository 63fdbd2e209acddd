"""What runs show that end well without having shown anything: tests of which none ran, requests that a server refused."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.calls.outcomes import ran_no_tests
from leafward.summaries.facts.calls.printed_errors import outcome_of
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ended, told_in, user, worked

_BEGUN = [user("Give the orchard server a health route."), *worked("src/server.py", "w")]
_NONE = [
    ("npx vitest run src/a.test.ts", "PASS (0) FAIL (0)"),
    ("npx vitest run", "No test files found, exiting with code 0"),
    ("uv run pytest tests/a.py", "collected 0 items\n\n==== no tests ran in 0.02s ===="),
    ("uv run pytest -q | tail -3", "no tests ran in 0.02s"),
    ("node --test test/a.mjs", "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0"),
    ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK"),
    ("npx jest a --passWithNoTests", "No tests found, exiting with code 0"),
    (
        "go test ./x -run A",
        "testing: warning: no tests to run\nPASS\nok  \torchard/x\t0.3s [no tests to run]",
    ),
    ("go test ./x", "?   \torchard/x\t[no test files]"),
    (
        "cargo test a",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out",
    ),
    ("swift test", "Executed 0 tests, with 0 failures (0 unexpected) in 0.0 seconds"),
    ("dotnet test", "No test is available in orchard.dll."),
    ("mvn test", "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\nBUILD SUCCESS"),
    ("rspec", "0 examples, 0 failures"),
]


@pytest.mark.parametrize(("command", "printed"), _NONE)
def test_a_run_of_no_tests_is_not_told_as_passing(command: str, printed: str) -> None:
    said = [*_BEGUN, *ended("a", command, printed), *ended("b", command, printed)]
    assert not any("passes" in line for line in told_in(SummarySection.DONE, *said))
    state = told_in(SummarySection.CONTEXT, *said)
    assert any(line.startswith("Last test run: ") and line.endswith(" ran no tests") for line in state)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("go test ./...", "?   \torchard\t[no test files]\nok  \torchard/x\t0.3s"),
        ("go test ./... | tail -1", "?   \torchard\t[no test files]"),
        ("cargo test | tail -2", "test result: ok. 0 passed; 0 failed; 0 ignored"),
        ("swift test", "Executed 12 tests, with 0 failures (0 unexpected) in 0.0 seconds"),
        ("npm test", "a: No tests found, exiting with code 0\nb: Tests: 12 passed, 12 total"),
        ("uv run pytest", "10 passed in 0.3s"),
        ("ls tests", "no tests found"),
    ],
)
def test_a_run_of_which_some_tests_passed_or_may_have_does(command: str, printed: str) -> None:
    assert not ran_no_tests(command, printed)


def test_a_run_of_no_tests_does_not_overcome_one_that_failed() -> None:
    """Fails where any run that ended well counts as one that passed."""
    failed = "src/a.test.ts:3:1: error TS2304\nPASS (3) FAIL (2)\nCommand exited with code 1"
    said = [*_BEGUN, *ended("a", "npx vitest run src/a.test.ts", failed, failed=True)]
    other = ended("b", "npx vitest run", "PASS (0) FAIL (0)")
    assert told_in(SummarySection.BLOCKED, *said, *other) != []
    passed = ended("b", "npx vitest run", "PASS (25) FAIL (0)")
    assert told_in(SummarySection.BLOCKED, *said, *passed) == []
    counts = "Last counts of tests: `npx vitest run src/a.test.ts` printed 2 failed, 3 passed"
    assert counts in told_in(SummarySection.CONTEXT, *said, *other)


_URL = "http://localhost:8000/health"
_CODE = f"curl -s -o /dev/null -w '%{{http_code}}' {_URL}"


@pytest.mark.parametrize(
    ("command", "printed", "outcome"),
    [
        (
            f"curl -sS {_URL} | head -5",
            "curl: (7) Failed to connect to localhost port 8000: Connection refused",
            "exit 7",
        ),
        (f"curl -si {_URL}", "HTTP/1.1 404 Not Found\ncontent-type: text/html\n\nNot found", "HTTP 404"),
        (_CODE, "503", "HTTP 503"),
        (_CODE, "000", "failed"),
        (f"{_CODE} -w 'status: %{{http_code}}'", "status: 404", "HTTP 404"),
        (_CODE, "200", "exit 0"),
        (
            f"curl -siL {_URL}",
            "HTTP/1.1 301 Moved\nlocation: /h\n\nHTTP/1.1 200 OK\n\n404 rows",
            "exit 0",
        ),
        (f"for n in 1 2; do {_CODE}; done", "200\n404", "exit 0"),
        (f"{_CODE}; {_CODE}", "404", "exit 0"),
        (f"curl -s {_URL}", '{"rows": 404}\n404', "exit 0"),
        ("cat notes.md", "HTTP/1.1 404 Not Found", "exit 0"),
    ],
)
def test_the_outcome_of_a_request(command: str, printed: str, outcome: str) -> None:
    assert outcome_of(printed, False, command) == outcome


@pytest.mark.parametrize(("printed", "end"), [("503", "ended with HTTP 503"), ("000", "failed")])
def test_requests_that_a_server_refused_are_not_told_without_that(printed: str, end: str) -> None:
    said = [*_BEGUN, *ended("a", _CODE, printed), *ended("b", _CODE, printed), *ended("c", "ls src", "a")]
    assert f"Ran `{_CODE}` (2 times; the last {end})" in told_in(SummarySection.CONTEXT, *said)
    # It may be just what was to be seen.
    assert told_in(SummarySection.BLOCKED, *said) == []


@pytest.mark.parametrize(
    ("printed", "failed"), [("Command aborted", True), ("src/a.test.ts:\n    at weigh (src/a.ts:1:2)", False)]
)
def test_a_check_whose_last_run_may_have_ended_in_any_way_is_not_told_as_passing(
    printed: str, failed: bool
) -> None:
    """Fails where the end of an earlier run is told for that of the last one, which was stopped or printed no result."""
    passed = [*ended("a", "npm run check", "ok"), *ended("b", "npm run check", "ok")]
    assert "`npm run check` passes (2 times)" in told_in(SummarySection.DONE, *_BEGUN, *passed)
    last = ended("c", "npm run check | tail -5" if not failed else "npm run check", printed, failed=failed)
    text = "\n".join(told_in(SummarySection.DONE, *_BEGUN, *passed, *last))
    assert "npm run check" not in text
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *passed, *last)
    assert "Ran `npm run check` (3 times)" in told


@pytest.mark.parametrize(
    ("command", "printed", "failed", "told"),
    [
        # The tests never ran.
        ("bun run lint && bun run test", "a.ts:1:2 lint\nFound 4 errors.", True, "failed"),
        (
            "bun run lint && bun run test",
            "Found 4 errors.\n$ bun test\n 3 pass\n 1 fail",
            True,
            "printed 3 pass, 1 fail",
        ),
        ("uv run pytest -q", "4 errors in 0.3s", True, "printed 4 errors"),
    ],
)
def test_what_a_linter_counts_before_the_tests_are_no_counts_of_tests(
    command: str, printed: str, failed: bool, told: str
) -> None:
    said = [*_BEGUN, *ended("a", command, printed, failed=failed)]
    assert f"Last test run: `{command}` {told}" in told_in(SummarySection.CONTEXT, *said)


def test_a_command_that_only_compiles_the_tests_is_no_run_of_them() -> None:
    said = [*_BEGUN, *ended("a", "go test ./...", "ok  \torchard/x\t0.3s")]
    compiled = ended(
        "b", "go test ./... -count=1 -run=^$ | head -5", "ok  \torchard/x\t0.3s [no tests to run]"
    )
    state = told_in(SummarySection.CONTEXT, *said, *compiled)
    assert "Last test run: `go test ./...` passed" in state


def test_a_command_that_goes_on_in_the_next_line_is_told_without_the_sign_of_that() -> None:
    command = "cd /home/ada/barn && \\\n  make \\\n  check"
    state = told_in(SummarySection.CONTEXT, *_BEGUN, *ended("a", command, "12 passed"))
    assert "Last test run: `make check` printed 12 passed" in state
