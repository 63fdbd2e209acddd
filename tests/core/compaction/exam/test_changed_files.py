"""Questions about files: what commands and patches do to them counts as what calls do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.compaction.exam.questions import Topic, questions
from leafward.session.entries import EntryIndex
from leafward.summaries.survival.spans import SpanMessage
from tests.acting import Acting, call
from tests.core.compaction.exam.asked import asked
from tests.core.linear_time import in_linear_time
from tests.core.told import reply, result, user

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """Three files, each written by a reply of its own."""
    acting = Acting(tmp_path / "session.jsonl")
    acting.user("write them")
    for name in ("first", "second", "third"):
        acting.said(call("write", name, path=f"src/{name}.py", content=f"def {name[::-1]}_of_all(): pass\n"))
        acting.answered(name, "write")
    return acting


def last(file: Acting) -> tuple[str, set[str]]:
    """The right and the wrong answers to which file was changed last; empty where that is not asked."""
    found, _ = asked(file, "x")
    for one in found:
        if one.topic is Topic.CHANGED_LAST:
            right = one.answers[one.right].text
            return right, {answer.text for answer in one.answers} - {right}
    return "", set()


FIRST, SECOND, THIRD = "src/first.py", "src/second.py", "src/third.py"


def test_a_file_whose_edit_has_no_result_is_no_answer(file: Acting) -> None:
    file.said(call("edit", "9", path=SECOND, edits=[{"oldText": "pass", "newText": "..."}]))
    assert last(file) == (THIRD, {FIRST})


@pytest.mark.parametrize(
    ("command", "right", "wrong"),
    [
        ("sed -i 's/of/in/' src/first.py", FIRST, {SECOND, THIRD}),
        ("cd src && sed -i '' 's/of/in/' first.py", FIRST, {SECOND, THIRD}),
        ("echo 'x = 1' >> src/first.py", FIRST, {SECOND, THIRD}),
        ("cat > src/new.py <<'EOF'\nx = 1\nEOF", "src/new.py", {FIRST, SECOND, THIRD}),
        ("rm src/third.py", SECOND, {FIRST}),
        ("git rm -q src/third.py", SECOND, {FIRST}),
        ("mv src/third.py src/fourth.py", SECOND, {FIRST}),
        ("mv src/second.py src/third.py", "", set()),
        ("cp src/third.py src/second.py", THIRD, {FIRST}),
        ("rm -r src", "", set()),
        # It is not sure that it did, so nobody knows which one is the last.
        ("grep -q of src/first.py || sed -i 's/of/in/' src/first.py", THIRD, {SECOND}),
        ("sed -i 's/of/in/' src/f*.py", THIRD, {SECOND}),
        ("python3 -c \"open('src/first.py', 'w').write('')\"", THIRD, {SECOND}),
        # What is printed somewhere else is no work on the files.
        ("cat src/first.py > /tmp/copy.py", THIRD, {FIRST, SECOND}),
        ("sed -n 1,5p src/first.py", THIRD, {FIRST, SECOND}),
    ],
)
def test_what_a_command_changed_last_was_changed_last(
    command: str, right: str, wrong: set[str], file: Acting
) -> None:
    file.said(call("bash", "9", command=command))
    file.answered("9", "bash", "")
    assert last(file) == (right, wrong)


def test_a_command_that_failed_may_have_changed_what_it_names(file: Acting) -> None:
    file.said(call("bash", "9", command="sed -i 's/of/in/' src/first.py && make"))
    file.answered("9", "bash", "no rule", failed=True)
    assert last(file) == (THIRD, {SECOND})


def test_a_file_that_is_changed_again_counts_again(file: Acting) -> None:
    file.said(call("bash", "9", command="rm src/second.py"))
    file.answered("9", "bash", "")
    file.said(call("write", "10", path=SECOND, content="x = 1\n"))
    file.answered("10", "write")
    assert last(file) == (SECOND, {FIRST, THIRD})


def test_a_file_that_a_patch_deleted_was_not_changed_last(file: Acting) -> None:
    file.said(call("apply_patch", "9", input=f"*** Begin Patch\n*** Delete File: {THIRD}\n*** End Patch"))
    file.answered("9", "apply_patch", "Success")
    assert last(file) == (SECOND, {FIRST})


def test_a_file_that_was_renamed_defines_nothing_under_its_old_name(file: Acting) -> None:
    file.said(call("bash", "9", command="mv src/third.py src/main.py"))
    file.answered("9", "bash", "")
    found, _ = asked(file, "x")
    answers = {answer.text for one in found if one.topic is Topic.DEFINITION for answer in one.answers}
    assert answers == {FIRST, SECOND}


def test_very_many_files_that_are_written_and_removed() -> None:
    messages = [SpanMessage(EntryIndex(0), user("write them"))]
    for number in range(3000):
        for made, arguments in enumerate(
            ({"path": f"src/{number}.py", "content": "x"}, {"command": f"rm src/{number}.tmp"})
        ):
            there = reply("", (f"{number} {made}", "write", arguments))
            messages.append(SpanMessage(EntryIndex(len(messages)), there))
            messages.append(SpanMessage(EntryIndex(len(messages)), result(f"{number} {made}", "")))
    with in_linear_time(6):
        found = questions(messages, "/project")
    assert any(one.topic is Topic.CHANGED_LAST for one in found)
