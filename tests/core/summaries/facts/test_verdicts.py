"""A check that failed is told as failed, also where the shell tells how the program behind its pipe ended."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.calls.printed_errors import UNTOLD, outcome_of, printed_errors
from leafward.summaries.facts.calls.verdicts import says_failed
from tests.core.told import reply, result, span, summarize, user

GO = "--- FAIL: TestQueue (0.68s)\nFAIL\nFAIL\torchard/queue\t1.7s\nFAIL\n[test] ERROR task failed"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("mise run test -- -v 2>&1 | tail -100", GO),
        ("cd /x && npm test 2>&1 | tail -5", "Tests: 2 failed, 30 passed"),
        ("pytest -q | tail -3", "FAILED tests/test_a.py::test_b\n2 failed, 30 passed in 3s"),
        ("make check || true", "make: *** [Makefile:8: check] Error 2"),
        ("npx tsc --noEmit | head -5", "src/a.ts(3,4): error TS2304: Cannot find name 'x'."),
        ("cargo test 2>&1 | tail -4", "test result: FAILED. 1 passed; 1 failed"),
        (
            "npm run build 2>&1 | tail -4",
            "error during build:\nCould not resolve ./leaf\n    at x (a.js:1:2)",
        ),
        ("pnpm build | tail -2", "Failed to compile.\n./src/a.tsx"),
        # The count is that of the second command.
        (
            "bun run typecheck 2>&1 | tail -5 && bun run lint 2>&1 | tail -4",
            "Failed:    web#typecheck\n\n ERROR  run failed: command  exited (2)\nweb:lint: 1 problem (0 errors, 1 warning)\n\n Tasks:    8 successful",
        ),
        ("bun run lint; date", 'error: script "lint" exited with code 1\nFri Nov 27'),
    ],
)
def test_a_failure_behind_a_pipe(command: str, printed: str) -> None:
    assert says_failed(command, printed)


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        # The tests print a failure that they want; what counts stands behind it.
        ("pytest -q | tail -9", "FAIL expected here\n30 passed in 3s"),
        ("bun test 2>&1 | tail -4", " 1274 pass\n 0 fail\n 2760 expect() calls\nRan 1274 tests"),
        ("mise run test | tail", "ok  \torchard/queue\t1.7s"),
        # The shell itself tells how these ended.
        ("go test ./...", GO),
        # No checks.
        ("git log | head", "FAIL: a commit"),
        ("grep -n FAIL test.log | head", "FAIL\torchard/queue"),
    ],
)
def test_no_failure(command: str, printed: str) -> None:
    assert not says_failed(command, printed)


STACK = """org.opentest4j.AssertionFailedError:
expected: 60 pears
 but was: 560
\tat com.orchard.CrateTest.sums(CrateTest.java:75)"""
REPORTS = "[ERROR]\n[ERROR] See /w/target/surefire-reports for the individual test results."


@pytest.mark.parametrize(
    ("command", "printed", "outcome"),
    [
        ("./mvnw test -q 2>&1 | tail -9", STACK, UNTOLD),
        ("./mvnw test -q 2>&1 | tail -9", STACK.partition("but was")[2], UNTOLD),
        ("./mvnw test -q 2>&1 | tail -9", REPORTS, UNTOLD),
        ("./mvnw test -q 2>&1 | tail -9", "", "exit 0"),
        ("./mvnw test 2>&1 | tail -9", f"{STACK}\nTests run: 9, Failures: 0, Errors: 0", "exit 0"),
        # The shell tells how it ended, and no check.
        ("./mvnw test -q", STACK, "exit 0"),
        ("cat orchard.log | tail -9", STACK, "exit 0"),
    ],
)
def test_an_error_behind_a_pipe_leaves_the_outcome_untold(command: str, printed: str, outcome: str) -> None:
    assert outcome_of(printed, False, command) == outcome


def test_what_maven_marks_is_an_error() -> None:
    assert list(printed_errors(f"[INFO] pears\n{REPORTS}", failed=False)) == [REPORTS.partition("\n")[2]]


def test_a_run_whose_outcome_nothing_tells_is_not_told_as_passed() -> None:
    call = reply("", ("a", "bash", {"command": "./mvnw test -q 2>&1 | tail -9"}))
    text = summarize(span(user("Sum the pears."), call, result("a", STACK), reply("The sum is wrong."))).text
    assert "- Last test run: `./mvnw test -q` printed no counts" in text
    assert "passes" not in text


def test_the_summary_tells_no_failed_run_as_passed() -> None:
    command = {"command": "mise run test -- -v 2>&1 | tail -100"}
    runs = [one for key in "ab" for one in (reply("", (key, "bash", command)), result(key, GO))]
    text = summarize(span(user("Fix the queue."), *runs, reply("It still fails."))).text
    assert "passes" not in text
    assert "Last test run: `mise run test -- -v` failed" in text


def test_counts_of_one_command_do_not_hide_that_another_failed() -> None:
    command = {"command": "bun run typecheck 2>&1 | tail -3 && bun test 2>&1 | tail -3"}
    printed = (
        " ERROR  run failed: command  exited (2)\nweb:typecheck: src/a.tsx(3,4): error TS2532: Object is possibly "
        "'undefined'.\n 30 pass\n 0 fail\nRan 30 tests"
    )
    said = (user("Fix the queue."), reply("", ("a", "bash", command)), result("a", printed), reply("Hm."))
    text = summarize(span(*said)).text
    assert "bun test` printed 30 pass, 0 fail, but failed" in text
    assert "error TS2532: Object is possibly 'undefined'" in text


_RUNNING = 'Script completed\nWall time 1.0 seconds\nOutput:\n\n{"chunk_id":"a","wall_time_seconds":1.0,"session_id":17880,"output":""}'
_ENDED = 'Script completed\nWall time 1.0 seconds\nOutput:\n\n{"chunk_id":"b","wall_time_seconds":3,"exit_code":1,"output":""}'


@pytest.mark.parametrize("running", [_RUNNING, "Process running with session ID 17880"])
def test_a_test_run_that_goes_on_has_the_outcome_with_which_it_ends(running: str) -> None:
    began = (
        user("Fix the queue."),
        reply("", ("a", "exec_command", {"cmd": "python -m pytest -q > all.log"})),
        result("a", running),
    )
    assert "Last test run" not in summarize(span(*began, reply("The suite is running."))).text
    waited = (reply("", ("b", "write_stdin", {"session_id": 17880})), result("b", _ENDED, failed=True))
    text = summarize(span(*began, *waited, reply("It failed."))).text
    assert "Last test run: `python -m pytest -q > all.log` failed" in text


WORKER = "Failed to compile.\nNext.js build worker exited with code: 1 and signal: null"


@pytest.mark.parametrize(
    ("printed", "code", "outcome"),
    [
        # Codex, Claude Code and opencode record the code, pi writes it behind the output.
        (WORKER, 124, "exit 124"),
        (f"{WORKER}\n\nCommand exited with code 2", None, "exit 2"),
        (f"Exit code 2\n{WORKER}", None, "exit 2"),
        (WORKER, None, "failed"),
        # Somebody stopped it.
        ("aborted by user after 8.1s", 130, ""),
        # A tool that failed although its program ended well did not pass.
        ("patch rejected: 3 hunks", 0, "failed"),
    ],
)
def test_the_exit_code_is_the_one_that_the_agent_recorded(
    printed: str, code: int | None, outcome: str
) -> None:
    """Fails where the last code in the output is told, which is that of another program."""
    assert outcome_of(printed, True, "npm run build", code) == outcome


def test_a_summary_tells_the_exit_code_that_the_agent_recorded() -> None:
    call = reply("", ("a", "bash", {"command": "npm run build"}))
    ended = {**result("a", WORKER, failed=True), "exitCode": 124}
    text = summarize(span(user("Sum the pears."), call, ended)).text
    assert "Failed with exit 124: `npm run build`" in text


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            "Command timed out after 2m 0.0s\n\n> orchard@1.0.0 build\n\nCreating an optimized production build...",
            "Command timed out after 2m 0.0s",
        ),
        (
            "Creating a build ...\ncommand timed out after 120014 milliseconds",
            "command timed out after 120014 milliseconds",
        ),
        (
            "x\n<bash_metadata>\nbash tool terminated command after exceeding timeout 120000 ms.\n</bash_metadata>",
            "bash tool terminated command after exceeding timeout 120000 ms.",
        ),
        (
            "Tests:       3 failed, 1 passed, 4 total\nRan all test suites matching pears.spec.ts.\n",
            "Tests:       3 failed, 1 passed, 4 total",
        ),
    ],
)
def test_no_progress_and_no_frame_is_told_as_the_error(printed: str, told: str) -> None:
    assert list(printed_errors(printed, failed=True)) == [told]
