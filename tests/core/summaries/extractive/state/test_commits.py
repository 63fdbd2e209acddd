"""Commits and work that were taken back are not told as done."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user, worked

DONE, NEXT, GOAL = SummarySection.DONE, SummarySection.NEXT, SummarySection.GOAL
BLOCKED, CONTEXT, RULES = SummarySection.BLOCKED, SummarySection.CONTEXT, SummarySection.CONSTRAINTS


def test_work_that_the_user_undid_for_good_is_not_done_anew() -> None:
    said = [
        user("Rename the class Tree to Plant"),
        *worked("src/tree.py", "a"),
        reply("Renamed Tree to Plant."),
        user("I undid that, we keep Tree. Just add a docstring to it"),
        *worked("src/tree.py", "b"),
        reply("Added a docstring to Tree."),
    ]
    (decided,) = told_in(SummarySection.DECISIONS, *said)
    assert decided.startswith("Undone by the user: ")
    again = [*said[:4], user("I undid that, try again and read the whole file"), *said[5:]]
    (decided,) = told_in(SummarySection.DECISIONS, *again)
    assert decided.startswith("Done anew after the user undid it: ")


def test_a_commit_that_was_reverted_is_no_finished_work() -> None:
    said = [
        user("Add a cache to the parser of orchard"),
        *worked("src/parser.py", "a"),
        *ran("b", 'git commit -am "feat: cache of the parser"'),
        reply("Added the cache and committed it."),
        user("that breaks the release, take it out again"),
        *ran("c", "git revert --no-edit HEAD"),
        reply("Reverted the commit."),
        user("and now the exporter of the crates"),
        *worked("src/exporter.py", "d"),
    ]
    done = told_in(DONE, *said)
    assert "Reverted: feat: cache of the parser" in done
    assert "Asked: Add a cache to the parser of orchard → reverted since" in done
    assert not any("Committed" in line or "Added the cache" in line for line in done)


def test_of_several_commits_the_named_one_is_reverted() -> None:
    said = [
        user("Tidy the parser and the lexer of orchard, a commit for each"),
        *worked("src/parser.py", "a"),
    ]
    for key, title, name in (("b", "the parser is tidy", "1234567"), ("c", "the lexer is tidy", "89abcde")):
        said += [
            reply("", (key, "bash", {"command": f'git commit -am "{title}"'})),
            result(key, f"[main {name}] {title}\n 1 file changed"),
        ]
    said += [*ran("d", "git revert --no-edit 1234567"), reply("Both are tidy.")]
    done = told_in(DONE, *said)
    assert "Reverted: the parser is tidy" in done
    assert "Committed: the lexer is tidy" in done


@pytest.mark.parametrize(
    ("command", "left"),
    [("git reset --hard HEAD~1", 1), ("git reset --soft HEAD~2", 0), ("git reset HEAD~0", 2)],
)
def test_commits_that_were_reset_away_are_not_told(command: str, left: int) -> None:
    said = [
        user("Tidy the parser and the lexer of orchard, a commit for each"),
        *worked("src/parser.py", "a"),
    ]
    for key, title in (("b", "the parser is tidy"), ("c", "the lexer is tidy")):
        said += ran(key, f'git commit -am "{title}"')
    said += ran("d", command)
    assert sorted(line for line in told_in(DONE, *said) if line.startswith("Committed")) == (
        ["Committed: the parser is tidy"]
        if left == 1
        else ["Committed: the lexer is tidy", "Committed: the parser is tidy"][:left]
    )


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("git reset --hard 1234567", ["Committed: the parser is tidy"]),
        ("git reset --hard 0f0f0f0 && git log --oneline -3", []),
        ("git reset 1234567 src/lexer.py", ["Committed: the lexer is tidy", "Committed: the parser is tidy"]),
    ],
)
def test_a_reset_to_a_named_commit_takes_those_behind_it(command: str, left: list[str]) -> None:
    said = [
        user("Tidy the parser and the lexer of orchard, a commit for each"),
        *worked("src/parser.py", "a"),
    ]
    for key, title, name in (("b", "the parser is tidy", "1234567"), ("c", "the lexer is tidy", "89abcde")):
        said += [
            reply("", (key, "bash", {"command": f'git commit -am "{title}"'})),
            result(key, f"[main {name}] {title}\n 1 file changed"),
        ]
    done = told_in(DONE, *said, *ran("d", command))
    assert sorted(line for line in done if line.startswith("Committed")) == left


def test_what_was_said_to_be_uncommitted_is_committed_since() -> None:
    answer = (
        "- **Formatter:** `fmt` also touched `crates.md` in 9 places. Nothing is committed, so you can review that.\n\n"
        "The change is on disk but uncommitted, and you are on `main`.\n\nThe tags of the crates are not pushed yet."
    )
    said = [
        user("Add the formatter to the build of orchard"),
        *worked("src/build.py", "a"),
        reply(answer),
        user("commit this"),
    ]
    told = " ".join(told_in(CONTEXT, *said, *ran("b", "git log -1"), reply("I see.")))
    assert "Nothing is committed" in told
    command = "git add -A && git commit -q -F - <<'EOF'\nWire fmt into the release\n\nIt was asked for.\nEOF\ngit log -1 --stat"
    said += [*ran("b", command), reply("Committed.")]
    told = " ".join(told_in(CONTEXT, *said))
    assert "Formatter: `fmt` also touched `crates.md` in 9 places." in told
    assert "committed" not in told
    assert "not pushed yet" in told
    assert "Nothing is committed" not in " ".join(told_in(DONE, *said))
    assert "Committed: Wire fmt into the release" in told_in(DONE, *said)
    push = reply("", ("c", "bash", {"command": "git push; git status -sb"}))
    refused = result("c", "error: failed to push some refs to 'origin'\n## main")
    assert "not pushed yet" in " ".join(told_in(CONTEXT, *said, push, refused, reply("I see.")))
    assert "not pushed" not in " ".join(
        told_in(CONTEXT, *said, push, result("c", "## main"), reply("I see."))
    )


@pytest.mark.parametrize(
    "printed",
    [
        "fatal: Unable to create '.git/index.lock': Permission denied",
        "On branch main\nnothing to commit, working tree clean",
        "Script running with cell ID 5\nWall time 31.0 seconds\nOutput:\n",
    ],
)
def test_a_commit_that_git_did_not_make_is_not_told(printed: str) -> None:
    command = {"command": 'git add -A; git commit -m "prune the trees"; git status --short'}
    said = [
        user("prune the trees and commit it"),
        *worked("src/tree.py", "a"),
        reply("", ("b", "bash", command)),
    ]
    assert not any("Committed" in line for line in told_in(DONE, *said, result("b", printed)))
    made = result("b", f"[main 1234567] prune the trees\n 1 file changed\n{printed}")
    assert ("running" in printed) or "Committed: prune the trees" in told_in(DONE, *said, made)


def test_work_is_reset_away_once() -> None:
    """A reset behind another one takes nothing out that the first one took out, and leaves what was done since."""
    said = [user("Make the parser of orchard faster, a commit for each step")]
    for key, title in (("a", "the parser uses a table"), ("b", "the parser keeps its tokens")):
        said += [
            *worked("src/parser.py", key),
            *ran(f"{key}2", f'git commit -am "{title}"'),
            *ran(f"{key}3", "git reset --hard HEAD~1"),
        ]
    said += [*worked("src/parser.py", "c"), reply("The parser reads ahead now.")]
    assert "Last file edited: `src/parser.py`" in told_in(CONTEXT, *said)
