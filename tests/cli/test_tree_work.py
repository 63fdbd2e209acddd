"""The work of `tree`: it grows as the session does, in whatever order its lines are and wherever its branches leave."""

from __future__ import annotations

import json
import random
import sys
from array import array
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli.output import outline_lines
from leafward.cli.output.page import Page
from leafward.cli.verbs.tree import tree_text
from leafward.session.session import Session
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from leafward.context.entry_metrics import EntryMetrics

Line = dict[str, Any]
USAGE = {"input": 50, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 51}


def said(number: int, parent: int | None, end: str = "") -> Line:
    """A prompt, or a reply where the number is odd."""
    message: Line = {"role": "user", "content": f"question {number}", "timestamp": 1}
    if number % 2:
        message = {"role": "assistant", "content": [], "stopReason": "stop", "usage": USAGE}
    entry = {"type": "message", "id": f"{number:08x}{end}", "message": message}
    return entry | {"parentId": f"{parent:08x}{end}" if parent is not None else None}


def chain(size: int, end: str = "") -> list[Line]:
    return [said(number, number - 1 if number else None, end) for number in range(size)]


def mixed(lines: list[Line]) -> list[Line]:
    random.Random(1).shuffle(lines)
    return lines


def results(size: int) -> list[Line]:
    """One reply with many calls, and their results in a chain."""
    calls = [{"type": "toolCall", "id": f"c{one}", "name": "x", "arguments": {}} for one in range(size)]
    reply = said(1, 0)
    reply["message"]["content"] = calls
    answers = []
    for number in range(size):
        answer = said(number + 2, number + 1)
        answer["message"] = {"role": "toolResult", "toolCallId": f"c{number}", "content": []}
        answers.append(answer)
    return [said(0, None), reply, *answers]


def labels(size: int) -> list[Line]:
    """Labels in a chain below a prompt, of which none is part of the conversation."""
    chained = [
        {**said(number + 1, number), "type": "label", "targetId": f"{0:08x}", "label": "x"}
        for number in range(size)
    ]
    return [said(0, None), *chained]


SHAPES: dict[str, Callable[[int], list[Line]]] = {
    "in order": chain,
    "in no order": lambda size: mixed(chain(size)),
    "each parent after its child": lambda size: chain(size)[::-1],
    "children of one": lambda size: [said(number, 0 if number else None) for number in range(size)],
    "roots": lambda size: [said(number, None) for number in range(size)],
    "a branch at each entry": lambda size: mixed(
        [said(number, number - 2 if number > 1 else None) for number in range(size)]
        + [said(size + number, number) for number in range(size)]
    ),
    "long ids": lambda size: chain(size, "z" * 10_000),
    "labels in no order": lambda size: mixed(labels(size)),
    "results in order": results,
    "results in no order": lambda size: mixed(results(size)),
}


def session_of(path: Path, lines: list[Line]) -> Session:
    stamped = ({**line, "timestamp": "2026-11-22T10:00:00.000Z"} for line in lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *stamped)))
    return Session.open(path)


def steps(work: Callable[[], object]) -> int:
    """The lines of Python that some work runs."""
    count = 0

    def counted(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("every_entry", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_entries_are_four_times_the_steps(
    tmp_path: Path, shape: str, every_entry: bool
) -> None:
    def of(size: int) -> int:
        with closing(session_of(tmp_path / f"{size}.jsonl", SHAPES[shape](size))) as session:
            return steps(lambda: list(tree_text(session, Page(), every_entry=every_entry)))

    of(20)
    assert of(1200) < 4.4 * of(300)


class Looked(array):  # type: ignore[type-arg]
    """A column that counts the values that were looked at."""

    looked = 0

    def __getitem__(self, key: Any) -> Any:
        self.looked += len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1
        return super().__getitem__(key)


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[Looked]:
    """The columns of tokens that replies report, of each outline that is made."""
    made: list[Looked] = []
    measure = outline_lines.measure

    def measured(session: Session) -> EntryMetrics:
        found = measure(session)
        found.reported = Looked("i", found.reported)
        made.append(found.reported)
        return found

    monkeypatch.setattr(outline_lines, "measure", measured)
    return made


@pytest.mark.parametrize("shape", SHAPES)
def test_the_reply_of_each_entry_is_looked_at_once(
    tmp_path: Path, reported: list[Looked], shape: str
) -> None:
    with closing(session_of(tmp_path / "s.jsonl", SHAPES[shape](300))) as session:
        list(tree_text(session, Page()))
        assert reported[0].looked <= len(session)


def test_a_reply_of_another_branch_takes_no_sign_from_a_row(tmp_path: Path) -> None:
    """A row's estimate is held against its own replies, not against those that lie between its lines in the file."""
    large = said(3, 2)
    large["message"] = {"role": "assistant", "content": [{"type": "text", "text": "pear " * 400}]}
    large["message"] |= {"stopReason": "stop", "usage": USAGE}
    other = said(5, 4)
    other["message"]["usage"] = {**USAGE, "input": 9_000, "totalTokens": 9_001}
    lines = [said(0, None), said(1, 0), said(2, 1), said(4, 1), other, large]
    with closing(session_of(tmp_path / "s.jsonl", lines)) as session:
        (row,) = [line for line in tree_text(session, Page()) if "question 2" in line]
    assert row.split()[-1].startswith("~")
