"""What a summary says of now: outcomes of the last runs, requests that are open, states that no later one replaced."""

from __future__ import annotations

from typing import Any

from leafward.summaries.summarizers.outline import Section
from tests.core.told import FOLDER, reply, result, told_in, user


def run(key: str, command: str, text: str = "ok", *, failed: bool = False) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, text, failed)]


def edit(key: str, path: str) -> list[dict[str, Any]]:
    given = {"path": f"{FOLDER}/{path}", "oldText": "x", "newText": f"{key} = 1"}
    return [reply("", (key, "edit", given)), result(key, "ok")]


def test_a_command_that_failed_once_did_not_pass_each_time() -> None:
    done = told_in(
        Section.DONE,
        user("Take the unused type out of the parser and lint it."),
        *run("a", "mise run lint", "Exit code 1\nparser.go:6:6: type rowKey is unused", failed=True),
        *run("b", "mise run lint", "0 issues."),
        *run("c", "make check", "ok"),
        *run("d", "make check", "ok"),
        reply("The parser is clean."),
    )
    assert "`mise run lint` passes (once; 1 earlier run did not)" in done
    assert "`make check` passes (2 times)" in done


def test_a_task_that_runs_tests_is_the_last_run_of_tests() -> None:
    context = told_in(
        Section.CONTEXT,
        user("Run the tests of the options, then the end-to-end ones."),
        *run("a", "cargo test options", "test result: ok. 2 passed; 0 failed"),
        *run("b", "mise run test:e2e e2e/test_options", "E2E test_options passed in 3s"),
        reply("Both are green."),
    )
    assert any(line.startswith("Last test run: `mise run test:e2e e2e/test_options`") for line in context)
