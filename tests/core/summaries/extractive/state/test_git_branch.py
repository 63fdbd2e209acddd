"""The branch of the session's repository, which is not that of another one, nor the first of several."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import FOLDER, ended, made, told_in, user

_BEGUN = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a")]
_FAILED = "Switched to a new branch 'pears'\n1 failed"


def _branch(*commands: tuple[str, str, bool]) -> list[str]:
    ran = [
        one
        for key, (command, printed, failed) in enumerate(commands)
        for one in ended(f"c{key}", command, printed, failed=failed)
    ]
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *ran)
    return [line.removeprefix("On the git branch ") for line in told if line.startswith("On the git branch")]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("git checkout -b pears", ["`pears`"]),
        ("git switch -c pears origin/main && git push -u origin pears", ["`pears`"]),
        (f"cd {FOLDER} && git checkout pears", ["`pears`"]),
        ("cd .. && git checkout pears", ["`pears`"]),
        # The last one of several.
        ("git checkout main && git pull && git checkout -b pears", ["`pears`"]),
        ("git checkout main\ngit pull\ngit checkout -b pears\ngit add .", ["`pears`"]),
        # Another repository, or perhaps one.
        ("cd /home/ada/barn && git checkout -b hay", ["`hay` in `/home/ada/barn`"]),
        ("git -C /home/ada/barn switch hay", ["`hay` in `/home/ada/barn`"]),
        ("cd web && git checkout -b hay", ["`hay` in `web`"]),
        # No branch.
        ("git checkout src/a.py", []),
        ("git checkout -- src", []),
        ("git checkout main src", []),
        ("git checkout src/", []),
        ("echo git checkout pears", []),
    ],
)
def test_the_branch_is_the_last_one_that_a_command_switched_to(command: str, told: list[str]) -> None:
    assert _branch((command, "", False)) == told


@pytest.mark.parametrize(
    "away", ["git checkout -", "git checkout 1a2b3c4d", "git checkout HEAD~2", "git checkout $name"]
)
def test_the_branch_is_not_told_where_only_git_knows_it(away: str) -> None:
    assert _branch(("git checkout -b pears", "", False), (away, "", False)) == []


def test_a_branch_of_another_repository_is_not_told_for_that_of_the_session() -> None:
    other = ("cd /home/ada/barn && git checkout -b hay", "", False)
    assert _branch(("git checkout -b pears", "", False), other) == ["`pears`"]


def test_the_output_tells_which_of_two_was_switched_to_and_that_it_was() -> None:
    either = "git checkout main 2>/dev/null || git checkout master"
    assert _branch((either, "Switched to branch 'main'", False)) == ["`main`"]
    assert _branch(("git checkout -b pears && npm test", _FAILED, True)) == ["`pears`"]
    assert _branch(("git checkout -b pears && npm test", "fatal: not a git repository", True)) == []


@pytest.mark.parametrize(
    ("command", "printed", "told"),
    [
        ("git commit -am 'Weigh'", "[apples 1a2b3c4] Weigh", "`apples`"),
        ("git status", "On branch apples\nnothing to commit", "`apples`"),
        ("cd /home/ada/barn && git status", "On branch hay", "`pears`"),
        ("git log -1 && cat notes.md", "notes\n[1] On branch hay", "`pears`"),
    ],
)
def test_what_git_prints_later_tells_that_somebody_else_switched(
    command: str, printed: str, told: str
) -> None:
    assert _branch(("git checkout -b pears", "", False), (command, printed, False)) == [told]
