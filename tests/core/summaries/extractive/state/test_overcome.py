"""A failure that was overcome is not told as one: the check passed as part of another, or one of everything passed behind it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from leafward.session.entries import text_of
from leafward.summaries.summarizers.extractive.state import overcome
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.linear_time import in_linear_time
from tests.core.told import ran, reply, result, told_in, user

_BEGUN = [user("Port the frost table of orchard to columns."), *ran("c", "ls src"), *ran("d", "ls test")]


def _printed(key: str, command: str, text: str, failed: bool = False) -> list[dict[str, object]]:
    return [reply("", (key, "bash", {"command": command})), result(key, text, failed)]


_BROKEN = _printed(
    "a", "npx tsgo --noEmit", "src/frost.ts(3,1): error TS2304\nCommand exited with code 2", True
)


@pytest.mark.parametrize(
    "passing",
    [
        ran("b", "npm run check"),
        ran("b", "npm run fmt && npm run check"),
        _printed("b", "npm run build", "> orchard@1.0.0 build\n> tsgo --noEmit && cp theme.json dist\n"),
    ],
)
def test_a_check_that_passed_since_is_in_nobodys_way(passing: list[dict[str, object]]) -> None:
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN) == [
        "Failed with exit 2: `npx tsgo --noEmit`: src/frost.ts(3,1): error TS2304"
    ]
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN, *passing) == []


@pytest.mark.parametrize("command", ["npm run lint", "npm run build"])
def test_another_check_says_nothing_of_it(command: str) -> None:
    told = told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN, *ran("b", command))
    assert told == ["Failed with exit 2: `npx tsgo --noEmit`: src/frost.ts(3,1): error TS2304"]


def test_a_search_in_the_output_of_a_check_that_finds_nothing_is_no_failure() -> None:
    """After a pipe the exit code is that of `grep`; it fails where it counts as the check's."""
    asked = _printed("a", "npm run check | grep frost", "Command exited with code 1", True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *asked) == []
    other = _printed("a", "npm run check | tee out.txt", "broken\nCommand exited with code 1", True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *other) != []


@pytest.mark.parametrize(
    "command",
    [
        "cd src && rg frost",
        "git grep frost",
        "git -C src diff --quiet",
        "ls src && grep -rn frost src",
        "LC_ALL=C grep frost src/rows.py",
        "! test -f src/frost.py",
        'rg -n "frost|thaw" src | Select-Object -First 30',
        "Get-ChildItem src/frost",
    ],
)
def test_a_search_that_finds_nothing_has_answered(command: str) -> None:
    """Fails where only the first word of a command tells what its exit code means."""
    for printed in ("Command exited with code 1", "no more"):
        asked = _printed("a", command, printed, True)
        assert told_in(SummarySection.BLOCKED, *_BEGUN, *asked) == []


def test_a_check_before_a_search_may_be_what_failed() -> None:
    asked = _printed("a", "npm run check && grep frost out.txt", "Command exited with code 1", True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *asked) != []


def test_a_look_at_a_file_that_is_not_there_is_in_nobodys_way() -> None:
    """A path that was guessed wrong: it fails where the message of `grep` is told as what blocks the work."""
    printed = "grep: src/frost.py: No such file or directory\nCommand exited with code 2"
    assert (
        told_in(SummarySection.BLOCKED, *_BEGUN, *_printed("a", "grep -n frost src/frost.py", printed, True))
        == []
    )


def test_a_command_that_is_named_behind_its_next_try_failed_before_that() -> None:
    failed = _printed("a", "git status", "fatal: unable to read e53647ba\nCommand exited with code 128", True)
    tried = ran("b", "git status --short")
    named = reply(
        "The object that `git status` could not read is in no pack.", ("c", "read", {"path": "a.go"})
    )
    told = [*_BEGUN, *failed, *tried, named, result("c", "x")]
    assert told_in(SummarySection.BLOCKED, *told) == []
    assert not any("`git status` (" in line for line in told_in(SummarySection.CONTEXT, *told))


def test_of_one_check_read_in_several_ways_only_the_last_run_is_in_the_way() -> None:
    bad = "src/rows.ts(3,1): error TS2304: no frost"
    asked = [*_BEGUN, *_printed("a", "npm run check", f"{bad}\nCommand exited with code 2", True)]
    assert told_in(SummarySection.BLOCKED, *asked) == [f"Failed with exit 2: `npm run check`: {bad}"]
    asked += _printed("b", "npm run check | grep rows", bad)
    assert told_in(SummarySection.BLOCKED, *asked) == [f"Failed: `npm run check | grep rows`: {bad}"]
    asked += _printed("e", 'npm run check | grep "error TS"', "Command exited with code 1", True)
    assert told_in(SummarySection.BLOCKED, *asked) == []


def test_an_error_stands_beside_the_run_that_printed_it() -> None:
    first = _printed("a", "npm run lint", "error: no frost in src/rows.ts\nCommand exited with code 1", True)
    other = _printed("b", "make docs", "error: no page of the valley\nCommand exited with code 2", True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *first, *other) == [
        "Failed with exit 1: `npm run lint`: error: no frost in src/rows.ts",
        "Failed with exit 2: `make docs`: error: no page of the valley",
    ]


def test_the_head_of_an_output_is_no_error() -> None:
    printed = "Chunk ID: d9889c\nOutput:\nCommand exited with code 2"
    asked = _printed("a", "npm run check", printed, True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *asked) == ["Failed with exit 2: `npm run check`"]


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("npm run check", "npm run build"),
        ("npm test", "npm run build"),
        ("pytest", "pytest tests/test_crates.py"),
        ("pytest tests/test_rows.py", "pytest tests/test_crates.py"),
        ("cargo test frost_rows", "cargo test crates"),
    ],
)
def test_a_check_of_something_else_by_the_same_program_overcomes_nothing(failing: str, passing: str) -> None:
    bad = "error: no frost in src/rows.ts"
    asked = [*_BEGUN, *_printed("a", failing, f"{bad}\nCommand exited with code 2", True)]
    told = [f"Failed with exit 2: `{failing}`: {bad}"]
    assert told_in(SummarySection.BLOCKED, *asked, *ran("b", passing)) == told


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest tests/test_rows.py -k frost", "pytest tests/test_rows.py"),
        ("cargo test frost_rows crates --lib", "cargo test frost_rows"),
        ("go test ./rows/... -run TestFrost", "go test ./rows/..."),
        ("pytest tests/test_rows.py", "pytest"),
    ],
)
def test_the_same_check_in_other_words_overcomes_it(failing: str, passing: str) -> None:
    asked = [*_BEGUN, *_printed("a", failing, "error: no frost\nCommand exited with code 2", True)]
    assert told_in(SummarySection.BLOCKED, *asked, *ran("b", passing)) == []


def test_errors_that_a_filter_left_out_are_not_mended() -> None:
    bad = "src/rows.ts(3,1): error TS2304: no frost"
    asked = [*_BEGUN, *_printed("a", "npm run check", f"{bad}\nCommand exited with code 2", True)]
    other = "src/crates.ts(8,2): error TS2551: no weight"
    asked += _printed("b", 'npx tsc --noEmit | grep -v "rows.ts"', other)
    assert f"Failed with exit 2: `npm run check`: {bad}" in told_in(SummarySection.BLOCKED, *asked)


def test_a_check_that_may_have_failed_in_a_later_chain_is_not_told_as_passing() -> None:
    asked = [*_BEGUN, *ran("a", "npm run lint"), *ran("b", "npm run lint")]
    assert "`npm run lint` passes (2 times)" in told_in(SummarySection.DONE, *asked)
    asked += _printed("e", "npm run lint && npm run test", "2 errors\nCommand exited with code 1", True)
    assert not any("passes" in line for line in told_in(SummarySection.DONE, *asked))


def test_a_run_read_only_for_its_errors_has_all_that_are_left() -> None:
    bad = "src/rows.ts(3,1): error TS2304: no frost"
    asked = [*_BEGUN, *_printed("a", "npm run check", f"{bad}\nCommand exited with code 2", True)]
    asked += _printed(
        "b", "npx tsc --noEmit | grep -E '(error|done)'", "src/crates.ts(8,2): error TS2551: no weight"
    )
    assert not any(bad in line for line in told_in(SummarySection.BLOCKED, *asked))


def test_a_compiler_error_in_a_file_that_was_changed_since_is_not_told() -> None:
    bad = "src/rows.ts(3,1): error TS2304: no frost"
    asked = [*_BEGUN, *_printed("a", "npm run check", f"{bad}\nCommand exited with code 2", True)]
    assert told_in(SummarySection.BLOCKED, *asked) == [f"Failed with exit 2: `npm run check`: {bad}"]
    edit = {"path": "/garden/src/rows.ts", "edits": [{"oldText": "frost()", "newText": "Frost()"}]}
    asked += [reply("", ("b", "edit", edit)), result("b", "Edited.")]
    assert told_in(SummarySection.BLOCKED, *asked) == ["Failed with exit 2: `npm run check`"]


def test_a_command_of_one_very_long_word() -> None:
    failed = _printed("a", "never " + "a" * 100_000, "no such thing", True)
    with in_linear_time():
        assert told_in(SummarySection.BLOCKED, *_BEGUN, *failed) != []


def test_the_outputs_are_searched_once_for_all_checks_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = Mock(side_effect=text_of)
    monkeypatch.setattr(overcome, "text_of", texts)
    tests = range(200)
    failed = [said for one in tests for said in _printed(f"f{one}", f"npx vitest run t{one}.ts", "x", True)]
    looked = [said for one in tests for said in ran(f"l{one}", f"ls src{one}")]
    passed = _printed("b", "npm run them", "".join(f"> vitest run t{one}.ts\n" for one in tests))
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *failed, *looked, *passed) == []
    assert texts.call_count < 10 * len(tests)


_NOT_HERE = _printed(
    "a", "./build.sh", "bash: ./build.sh: No such file or directory\nCommand exited with code 127", True
)


@pytest.mark.parametrize(
    "since",
    [
        _printed("b", "./press/build.sh", "line 5: juicer: command not found\nexit code 127", True),
        ran("b", "ls src"),
    ],
)
def test_a_look_in_the_wrong_place_blocks_nothing_once_work_goes_on(since: list[dict[str, object]]) -> None:
    assert len(told_in(SummarySection.BLOCKED, *_BEGUN, *_NOT_HERE)) == 1
    told = told_in(SummarySection.BLOCKED, *_BEGUN, *_NOT_HERE, *since)
    assert not [line for line in told if "`./build.sh`" in line]


def test_a_program_that_is_not_there_blocks_nothing_once_another_did_its_work() -> None:
    lacks = "bash: line 1: python: command not found"
    wrong = _printed("b", "python -c 'import rows'", f"{lacks}\nCommand exited with code 127", True)
    assert lacks in told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN, *wrong)[-1]
    told = told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN, *wrong, *ran("c", "python3 -c 'import rows'"))
    assert not [line for line in told if lacks in line]


def test_a_program_that_a_script_lacks_is_in_the_way() -> None:
    lacks = _printed(
        "a", "./build.sh", "./build.sh: line 5: juicer: command not found\nCommand exited with code 127", True
    )
    assert len(told_in(SummarySection.BLOCKED, *_BEGUN, *lacks, *ran("b", "ls src"))) == 1


@pytest.mark.parametrize("looks", ["cat frost.json", "sed -n 1,9p frost.json", "head -3 frost.json"])
def test_a_program_that_reads_blocks_nothing_beside_a_check_that_failed(looks: str) -> None:
    printed = f"{looks.partition(' ')[0]}: frost.json: No such file or directory\nCommand exited with code 1"
    told = told_in(SummarySection.BLOCKED, *_BEGUN, *_BROKEN, *_printed("b", looks, printed, True))
    assert told == ["Failed with exit 2: `npx tsgo --noEmit`: src/frost.ts(3,1): error TS2304"]


def test_the_end_of_the_output_of_a_check_is_no_look() -> None:
    read = _printed(
        "a", "npx tsgo --noEmit | tail -5", "src/frost.ts(3,1): error TS2304\nexited with code 2", True
    )
    assert any("TS2304" in line for line in told_in(SummarySection.BLOCKED, *_BEGUN, *read))


@pytest.mark.parametrize(("command", "blocks"), [("npm run dev &", False), ("npm test", True)])
def test_a_command_that_the_agent_cut_off_blocks_nothing_but_where_it_checks(
    command: str, blocks: bool
) -> None:
    printed = "Command timed out after 2m 0.0s\n\n> next dev -p 3001\n   - Network:      http://10.0.0.1:3001"
    told = told_in(SummarySection.BLOCKED, *_BEGUN, *_printed("a", command, printed, True))
    assert bool(told) is blocks


@pytest.mark.parametrize(
    ("command", "checks"),
    [
        ('npx docs library pear "pear install ERR approve the build scripts"', False),
        ("git checkout test/two-orchards", False),
        ('gh workflow run list --workflow "Orchard CI/CD"', False),
        ("git switch orchard && make ci", True),
        ("git diff --check", True),
        ('bash -c "npm run build"', True),
        ('cd "my orchard" && npm test -- -t "frost in May"', True),
    ],
)
def test_what_a_command_only_says_or_calls_a_branch_is_no_check(command: str, checks: bool) -> None:
    assert overcome.is_check(command) is checks


def test_a_command_that_was_put_wrongly_blocks_nothing_whatever_it_names() -> None:
    usage = "unknown flag: --workflow\n\nUsage:  gh workflow run [<id> | <name>] [flags]"
    wrong = _printed("u", 'gh workflow run list --workflow "Orchard CI/CD"', usage, True)
    assert told_in(SummarySection.BLOCKED, *_BEGUN, *wrong, *ran("g", "git push"), *_edited()) == []


def _edited() -> list[dict[str, object]]:
    return [reply("", ("w", "write", {"path": "src/frost.ts", "content": "f"})), result("w", "ok")]
