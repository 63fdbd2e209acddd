"""The file that was changed last and the last run of the tests."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.summarizers.summary import tokens_of
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import (
    PYTEST,
    ended,
    made,
    ran,
    reply,
    result,
    span,
    summarize,
    told_in,
    user,
)


def test_the_file_changed_last_and_the_last_run_of_the_tests_are_told() -> None:
    failed_edit = [
        reply("", ("e", "write", {"path": "src/z.py", "content": "x"})),
        result("e", "denied", True),
    ]
    said = [
        user("Port the lexer of orchard to a table."),
        *made("src/a.py", "a"),
        *ended("b", PYTEST, "F.\n1 failed, 29 passed in 2s\nCommand exited with code 1", failed=True),
        *made("src/b.py", "c"),
        *ended("d", f"cd /x && {PYTEST} 2>&1 | tail -5", "..\n31 passed in 2s"),
        *failed_edit,
    ]
    context = told_in(SummarySection.CONTEXT, *said)
    assert context[:2] == ["Last file edited: `src/b.py`", f"Last test run: `{PYTEST}` printed 31 passed"]
    assert not any("29 passed" in line for line in context)
    later = told_in(SummarySection.CONTEXT, *said, *made("src/a.py", "f"))
    assert later[0] == "Last file edited: `src/a.py`"
    assert later[1].endswith("printed 31 passed; files were changed after it")


def test_a_deleted_file_is_not_the_last_and_a_patch_counts() -> None:
    patch = "*** Begin Patch\n*** Update File: src/b.py\n@@\n-x\n+y\n*** End Patch"
    said = [
        user("Port the lexer of orchard to a table."),
        reply("", ("a", "apply_patch", {"input": patch})),
        result("a", "ok"),
        *made("src/trial.py", "b"),
        *ran("c", "rm src/trial.py"),
    ]
    assert told_in(SummarySection.CONTEXT, *said)[0] == "Last file edited: `src/b.py`"


def test_where_the_kept_messages_go_on_the_last_of_the_span_is_told_as_earlier() -> None:
    kept = [SpanMessage(one.entry, one.message) for one in span(*made("src/c.py", "k")).messages]
    said = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a")]
    told = told_in(SummarySection.CONTEXT, *said, kept=kept)
    assert told[0] == "Last file edited before the messages that were kept: `src/a.py`"


def test_what_was_last_is_carried_on_until_something_is_later() -> None:
    said = [
        user("Port the lexer of orchard to a table."),
        *made("src/a.py", "a"),
        *ended("b", PYTEST, "31 passed in 2s"),
    ]
    before = summarize(span(*said)).text
    asked = [user("what does the table look like"), reply("It has forty rows and seven columns of states.")]
    carried = told_in(SummarySection.CONTEXT, *asked, previous=before, previous_entry=3)
    assert carried[:2] == ["Last file edited: `src/a.py`", f"Last test run: `{PYTEST}` printed 31 passed"]
    renewed = told_in(
        SummarySection.CONTEXT,
        user("now the docs"),
        *made("docs/b.md", "c"),
        previous=before,
        previous_entry=3,
    )
    assert renewed[0] == "Last file edited: `docs/b.md`"
    assert renewed[1] == f"Last test run: `{PYTEST}` printed 31 passed; files were changed after it"
    assert sum(line.startswith("Last file edited") for line in renewed) == 1


def test_behind_a_run_without_counts_the_last_counts_are_told_and_carried_on() -> None:
    said = [
        user("Port the lexer of orchard to a table."),
        *ended("a", PYTEST, "30 passed in 2s"),
        *ended("b", PYTEST, "31 passed in 2s"),
        *ended("c", PYTEST, "ImportError: cannot import name 'orchard'", failed=True),
    ]
    counts = f"Last counts of tests: `{PYTEST}` printed 31 passed"
    assert told_in(SummarySection.CONTEXT, *said)[:2] == [f"Last test run: `{PYTEST}` failed", counts]
    before = summarize(span(*said)).text
    asked = [user("what does the table look like"), reply("It has forty rows and seven columns of states.")]
    carried = told_in(SummarySection.CONTEXT, *asked, previous=before, previous_entry=3)
    assert carried[:2] == [f"Last test run: `{PYTEST}` failed", counts]
    more = [user("again"), *ended("d", PYTEST, "32 passed in 2s")]
    renewed = told_in(SummarySection.CONTEXT, *more, previous=before, previous_entry=3)
    assert renewed[0] == f"Last test run: `{PYTEST}` printed 32 passed"
    assert not any("31 passed" in line for line in renewed)
    # The counts of the run before are the last ones, where the next run does not get to the tests.
    passed = summarize(span(*said[:5])).text
    broken = [user("again"), *ended("d", PYTEST, "ImportError: no orchard", failed=True)]
    assert counts in told_in(SummarySection.CONTEXT, *broken, previous=passed, previous_entry=3)


@pytest.mark.parametrize("size", [300, 600])
def test_what_was_last_has_room_beside_long_requests_and_goals(size: int) -> None:
    long = "Port the lexer of orchard to a table of states and keep every token as it is. " * 20
    before = "## Goal\n" + "\n".join(f"- Goal {place}: {long[:200]}" for place in range(12))
    said = [user(long), *made("src/a.py", "a"), user(long + "And its docs.")]
    made_here = summarize(span(*said, previous=before, previous_entry=3), size)
    assert "Last file edited: `src/a.py`" in made_here.text
    assert tokens_of(made_here.text) <= size


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cat > src/pears.py <<'EOF'\nweight = 1\nEOF", "src/pears.py"),
        ("cd src && cat <<'EOF' > pears.py\nweight = 1\nEOF", "src/pears.py"),
        ("cat > /tmp/pears.py <<'EOF'\nweight = 1\nEOF", "src/a.py"),
        ("python - <<'EOF'\nprint(2 > 1)\nEOF", "src/a.py"),
        ("echo 'pears = 1' >> src/pears.py", "src/pears.py"),
        ("sed -i 's/apples/pears/' src/pears.py && git diff --stat", "src/pears.py"),
        ("cd src && perl -pi -e 's/apples/pears/' pears.py", "src/pears.py"),
        ("python - <<'EOF'\nopen('src/pears.py', 'w').write('weight = 1')\nEOF", "src/pears.py"),
        # What a program prints, and what is copied, is no edit.
        ("python weigh.py > weights.log 2>&1", "src/a.py"),
        ("cp src/pears.py src/apples.py", "src/a.py"),
        ("sed -n 's/apples/pears/p' src/pears.py", "src/a.py"),
        ("sed -i 's/apples/pears/' src/pears.py; git checkout src/pears.py", "src/pears.py"),
    ],
)
def test_a_command_edits_a_file_with_a_text_of_its_own_or_in_place(command: str, told: str) -> None:
    said = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a"), *ended("b", command, "")]
    assert told_in(SummarySection.CONTEXT, *said)[0] == f"Last file edited: `{told}`"


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/apples/pears/' src/*.py",
        "for file in $(git ls-files src); do sed -i 's/apples/pears/' $file; done",
        "find src -name '*.py' -exec sed -i 's/apples/pears/' {} +",
        "patch -p1 < pears.diff",
        "git apply pears.diff",
        "python - <<'EOF'\np = 'src/b.py'\nopen(p, 'w').write('x')\np = 'src/d.py'\nprint(open(p).read())\nEOF",
        "if [ -f src/b.py ]; then echo 'x' > src/b.py; fi",
    ],
)
def test_where_a_command_edits_files_of_unknown_names_the_last_edit_is_that_of_a_tool(command: str) -> None:
    """Fails where the file that a tool changed last is called the last one."""
    said = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a"), *ended("b", command, "")]
    assert told_in(SummarySection.CONTEXT, *said)[0] == "Last file edited by a tool: `src/a.py`"
    last = told_in(SummarySection.CONTEXT, *said, *made("src/c.py", "c"))
    assert last[0] == "Last file edited: `src/c.py`"
    carried = {"previous": summarize(span(*said)).text, "previous_entry": 3}
    again = told_in(SummarySection.CONTEXT, user("And the docs."), reply("They are there."), **carried)
    assert again[0] == "Last file edited by a tool: `src/a.py`"
    unknown = told_in(SummarySection.CONTEXT, user("And the docs."), *ended("d", command, ""), **carried)
    assert not any(line.startswith("Last file edited") for line in unknown)


def test_an_edit_that_git_took_back_is_not_the_last() -> None:
    edit = "sed -i 's/apples/pears/' src/pears.py"
    said = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a"), *ended("b", edit, "")]
    for back in ("git checkout src/pears.py", "git restore .", "git stash"):
        told = told_in(SummarySection.CONTEXT, *said, *ran("c", "git add src/a.py"), *ended("d", back, ""))
        assert (told[0] == "Last file edited: `src/a.py`") == (back == "git checkout src/pears.py")
        assert not any("pears.py" in line for line in told if line.startswith("Last file"))
    put_back = [*ended("c", "git stash", ""), *ended("d", "git stash pop", "")]
    kept = [*ended("c", "git commit -am 'Weigh'", ""), *ended("d", "git restore .", "")]
    for since in (put_back, kept):
        assert told_in(SummarySection.CONTEXT, *said, *since)[0] == "Last file edited: `src/pears.py`"
