"""Failures that are in nobody's way: tried again in another way, or called none of this work's."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.summaries.facts.calls.printed_errors import printed_errors
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import FOLDER, ran, reply, result, told_in, user, worked

_ASKED = [user("Port the frost parser of orchard to a table."), *worked("src/parser.ts", "a")]
_ERROR = "src/valley/map.ts(12,5): error TS2339: Property 'rows' does not exist on type 'Map'."


def _failed(key: str, command: str, printed: str) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed, failed=True)]


def _blocked(*said: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.BLOCKED, *_ASKED, *said)


def test_a_try_that_was_made_again_in_another_way_blocks_nothing() -> None:
    first = _failed("b", "createdb orchard && make test:integration", "createdb: error: no server runs")
    again = "docker run -d orchard-db; make test:integration"
    assert len(_blocked(*first)) == 1
    assert _blocked(*first, *ran("c", f"{again} | tail -3")) == []
    # The last try is the one that says what is wrong.
    (line,) = _blocked(*first, *_failed("c", again, "docker: error: the disk is full"))
    assert "the disk is full" in line


@pytest.mark.parametrize(
    "said",
    [
        "The one type error, in `src/valley/map.ts`, is pre-existing and unrelated.",
        "That error was there before.",
        "Nothing of these is in my files.",
        "Der Fehler war schon vorher da.",
        "这个错误与本次修改无关。",
    ],
)
def test_a_failure_that_the_reply_calls_none_of_this_work_blocks_nothing(said: str) -> None:
    check = _failed("b", "npx tsc --noEmit", _ERROR)
    assert len(_blocked(*check, reply("It fails in the map."))) == 1
    assert _blocked(*check, reply(said)) == []
    assert _blocked(*check, reply(said, ("c", "read", {"path": "src/rows.ts"})), result("c", "rows")) == []


@pytest.mark.parametrize(
    "said",
    [
        "It was there before, but the build fails on it.",
        "All of these errors except the first are pre-existing.",
    ],
)
def test_a_failure_that_is_called_so_in_part_still_blocks(said: str) -> None:
    assert len(_blocked(*_failed("b", "npx tsc --noEmit", _ERROR), reply(said))) == 1


def test_of_a_failure_without_an_error_the_line_tells_what_could_not_be_done() -> None:
    printed = "pg_ctl: could not start server\nExamine the log output."
    assert list(printed_errors(printed, failed=True)) == ["pg_ctl: could not start server"]


def test_a_program_that_reads_a_file_of_the_tests_is_no_check() -> None:
    """By the folder of its argument it counts as one, so that its failure blocks and its success passes."""
    loads = "bin/orchard load /home/u/orchard/data/tests/frost.json"
    assert _blocked(*_failed("b", loads, "orchard: no licence"), *ran("c", "sudo bin/orchard load")) == []
    done = told_in(SummarySection.DONE, *_ASKED, *ran("b", loads), *ran("c", loads))
    assert not any("passes" in line for line in done)


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("../venv/bin/pytest data/test_frost.py", "pytest data/test_frost.py -x"),
        ("./run-tests.sh frost", "sudo -E /home/u/orchard/run-tests.sh frost"),
        ("./run-tests.sh frost", "CI=1 ./run-tests.sh frost"),
    ],
)
def test_the_same_check_by_another_path_to_its_program_overcomes_it(failing: str, passing: str) -> None:
    failed = _failed("b", failing, "no such file: venv")
    assert len(_blocked(*failed)) == 1
    assert _blocked(*failed, *ran("c", passing)) == []


def test_a_check_that_runs_again_and_has_no_result_yet_is_not_told_as_passing() -> None:
    twice = [*_ASKED, *ran("b", "npm test"), *ran("c", "npm test")]
    assert "`npm test` passes (2 times)" in told_in(SummarySection.DONE, *twice)
    again = reply("", ("d", "bash", {"command": "npm test"}))
    assert not any("passes" in line for line in told_in(SummarySection.DONE, *twice, again))
    last = "Last test run: `npm test` passed; started again, no result yet"
    assert last in told_in(SummarySection.CONTEXT, *twice, again)


def test_a_call_that_was_not_made_neither_failed_nor_is_the_last_run() -> None:
    refused = "orchard-large[1m] is temporarily unavailable, so auto mode cannot determine the safety of Bash right now."
    run = [*_ASKED, *ran("b", "npm test")]
    told = [*run, *_failed("c", "npm test && npm run pack", refused)]
    assert told_in(SummarySection.BLOCKED, *told) == []
    assert "Last test run: `npm test` passed" in told_in(SummarySection.CONTEXT, *told)


@pytest.mark.parametrize(
    "refused",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>Cancelled: parallel tool call Bash(npm test) errored</tool_use_error>",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "Permission to use Bash with command npm run pack has been denied.",
        "This command requires approval",
    ],
)
def test_a_call_that_was_not_made_is_no_run(refused: str) -> None:
    """Fails where each call counts, as three runs, or as one that failed."""
    runs = [*ran("b", "npm run pack"), *_failed("c", "npm run pack", refused), *ran("d", "npm run pack")]
    assert "Ran `npm run pack` (2 times)" in told_in(SummarySection.CONTEXT, *_ASKED, *runs)
    assert told_in(SummarySection.BLOCKED, *_ASKED, *runs[:-2]) == []


def test_a_command_that_ran_in_several_folders_is_told_so() -> None:
    """Fails where the runs of both look like those of one."""
    here = f"cd {FOLDER} && npm run pack"
    runs = [*ran("b", "cd web && npm run pack"), *ran("c", "npm run pack"), *ran("d", here)]
    assert "Ran `npm run pack` (3 times, in 2 folders)" in told_in(SummarySection.CONTEXT, *_ASKED, *runs)
    assert "Ran `npm run pack` (2 times)" in told_in(SummarySection.CONTEXT, *_ASKED, *runs[2:])
    checks = [*ran("b", "cd web && npm test"), *ran("c", "npm test")]
    assert "`npm test` passes (2 times, in 2 folders)" in told_in(SummarySection.DONE, *_ASKED, *checks)


def test_a_check_that_failed_before_an_answered_request_blocks_no_other_one() -> None:
    """The answer reported its result all the same, and the user went on: there as here only the last answer may tell it."""
    check = [*_ASKED, *_failed("b", "npx tsc --noEmit", _ERROR)]
    assert len(told_in(SummarySection.BLOCKED, *check)) == 1
    check.append(reply("Done. The parser is ported. The map still fails."))
    assert len(told_in(SummarySection.BLOCKED, *check)) == 1
    other = [user("now draw the valley"), *worked("src/draw.ts", "d")]
    assert told_in(SummarySection.BLOCKED, *check, *other) == []
    # It was looked at, but nothing came of it.
    open_check = [*check[:-1], reply("The port fails in the map still.")]
    assert len(told_in(SummarySection.BLOCKED, *open_check, *other)) == 1


@pytest.mark.parametrize(
    "report", ["still the same, no crates of the valley", "i did and the crates are still not showing"]
)
def test_what_was_called_fixed_by_its_name_is_not_when_the_user_says_that_it_is_not(report: str) -> None:
    fixed = "The list of the crates is fixed and ready to print."
    said = [
        user("the crates of the valley are not in the list"),
        *worked("src/list.ts", "b"),
        reply(f"I changed the list.\n\n{fixed}"),
    ]
    every = [line for section in SummarySection for line in told_in(section, *said)]
    assert any(fixed in line for line in every)
    again = [user(report), *worked("src/list.ts", "c")]
    every = [line for section in SummarySection for line in told_in(section, *said, *again)]
    assert not any(fixed in line for line in every)


@pytest.mark.parametrize(
    ("check", "printed", "lead"),
    [
        ("npm run docs:check", "dyld: Library not loaded: libfrost.3.dylib\nexit code: 134", "Failed"),
        ("npm run build", "Command timed out after 2m 0.0s\n\nCreating the build of the valley...", "Failed"),
    ],
)
def test_a_check_that_did_not_run_to_its_end_is_told_as_what_happened(
    check: str, printed: str, lead: str
) -> None:
    """Work went on by another check, or was answered: nobody knows whether the first one is in the way."""
    tried = _failed("b", check, printed)
    (line,) = _blocked(*tried)
    assert f"`{check}`" in line
    for then in (ran("c", "npx tsc --noEmit"), [reply("The parser is ported.")]):
        assert _blocked(*tried, *then) == []
        told = told_in(SummarySection.CONTEXT, *_ASKED, *tried, *then)
        assert any(one.startswith(lead) and f", not run again: `{check}`" in one for one in told)
