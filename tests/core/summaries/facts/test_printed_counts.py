"""The counts at the end of a run's output, as each test program prints them."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.calls.outcomes import counts_in
from leafward.summaries.facts.calls.verdicts import says_failed
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, result, told_in, user, worked

JEST = "Test Suites: 1 failed, 3 passed, 4 total\nTests:       2 failed, 10 passed, 12 total\nSnapshots:   0 total\nTime:        1.2 s"
SNAPSHOTS = "Test Suites: 1 failed, 5 passed, 6 total\nTests:       1 failed, 2 skipped, 34 passed, 37 total\nSnapshots:   1 failed, 3 passed, 4 total\nTime:        3.4 s"
VITEST = " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 11 passed (12)\n   Start at  10:00\n   Duration  1.2s"
CARGO = "running 4 tests\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n\nrunning 2 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored\n\nDoc-tests orchard\n\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored"
DOTNET = (
    "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12, Duration: 30 ms - orchard.dll"
)
MAVEN = "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n[INFO]\n[INFO] BUILD FAILURE"


@pytest.mark.parametrize(
    ("printed", "counts"),
    [
        (JEST, "2 failed, 10 passed"),
        (SNAPSHOTS, "1 failed, 2 skipped, 34 passed"),
        ("Test Suites: 5 passed, 5 total", ""),
        (VITEST, "1 failed, 11 passed"),
        (CARGO, "6 passed, 0 failed"),
        (DOTNET, "1 failed, 11 passed, 0 skipped"),
        ("PASS (3) FAIL (2)\n\n1. reads", "2 failed, 3 passed"),
        (MAVEN, "12 tests, 1 failures, 0 errors, 0 skipped"),
        ("  10 passing (30ms)\n  2 failing\n", "10 passing, 2 failing"),
        ("=== 2 failed, 1,310 passed in 1.20s ===", "2 failed, 1,310 passed"),
        ("32 examples, 2 failures\n\nrspec ./spec/a_spec.rb:3 # A reads", "2 failed, 30 passed"),
        ("Finished in 0.3 seconds\n32 examples, 0 failures", "32 passed"),
        ("OK (32 tests, 61 assertions)", "32 passed"),
        ("There were 2 failures:\n\nTests: 32, Assertions: 60, Failures: 2.", "32 tests, 2 failures"),
        ("ok  \tgithub.com/ada/orchard\t0.3s", ""),
    ],
)
def test_the_counts_of_a_run(printed: str, counts: str) -> None:
    assert counts_in(printed) == counts


@pytest.mark.parametrize(("command", "printed"), [("dotnet test | tail -3", DOTNET), ("mvn test | tail -4", MAVEN)])  # fmt: skip
def test_a_failure_is_seen_behind_a_pipe(command: str, printed: str) -> None:
    assert says_failed(command, printed)
    passed = printed.replace("Failed!  - Failed:     1", "Passed!  - Failed:     0")
    passed = (
        passed.replace("Failures: 1", "Failures: 0").replace("ERROR", "INFO").replace("FAILURE", "SUCCESS")
    )
    assert not says_failed(command, passed)


def test_the_counts_of_a_run_that_failed_give_way_to_one_that_passed_without_any() -> None:
    run = ("bash", {"command": "./gradlew test"})
    said = [
        user("Make the tests of orchard pass."),
        reply("", ("t", *run)),
        result("t", "12 tests completed, 1 failed\n\nBUILD FAILED in 3s\nCommand exited with code 1", True),
        *worked("src/lexer.py", "a"),
        reply("", ("u", *run)),
        result("u", "BUILD SUCCESSFUL in 3s"),
    ]
    counts = "Last counts of tests: `./gradlew test` printed 1 failed"
    assert not any(line.startswith("Last counts") for line in told_in(SummarySection.CONTEXT, *said))
    broken = result("u", "error: cannot find symbol\nBUILD FAILED in 1s\nCommand exited with code 1", True)
    assert counts in told_in(SummarySection.CONTEXT, *said[:-1], broken)
