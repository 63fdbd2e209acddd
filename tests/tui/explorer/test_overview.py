from __future__ import annotations

import random
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.context.entry_metrics import FAILED, KNOWN, EntryMetrics
from leafward.context.model_context import context_at
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, TURN_STARTS, Kind
from leafward.session.session import Session
from leafward_tui.explorer.model.axis import Axis
from leafward_tui.explorer.model.overview import Detour, Overview
from tests.pi_file import PiFile
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

HEADS = TURN_STARTS | {Kind.COMPACTION}


def reply(file: PiFile, total: int, stop: str = "stop", parent: str | None = "?") -> str:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "answer " * (total % 7)}],
        "usage": {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total},
        "stopReason": stop,
        "timestamp": 2,
    }
    return file.entry("message", parent, message=message)


def random_file(path: Path, rng: random.Random, size: int) -> PiFile:
    """Turns, failures, compactions and bookkeeping; now and then the next entry goes on from an earlier one."""
    file = PiFile(path)
    ids: list[str] = []
    for _ in range(size):
        parent: str | None = "?" if rng.random() < 0.8 or not ids else rng.choice(ids)
        if rng.random() < 0.03:
            parent = None
        what = rng.random()
        if what < 0.3:
            ids.append(file.user("question " * rng.randrange(9), parent))
        elif what < 0.65:
            stop = rng.choice(["stop", "toolUse", "error", "aborted"])
            ids.append(reply(file, rng.choice([0, 1000, 52_000, rng.randrange(150_000)]), stop, parent))
        elif what < 0.75:
            result: dict[str, Any] = {
                "role": "toolResult",
                "toolCallId": "c",
                "toolName": "bash",
                "isError": rng.random() < 0.5,
            }
            result["content"] = [{"type": "text", "text": "x" * rng.randrange(400)}]
            ids.append(file.entry("message", parent, message=result))
        elif what < 0.82 and ids:
            kept = rng.choice([*ids, "gone0000"])
            ids.append(
                file.entry(
                    "compaction",
                    parent,
                    summary="so far " * rng.randrange(50),
                    firstKeptEntryId=kept,
                    tokensBefore=9,
                )
            )
        elif what < 0.9:
            ids.append(file.entry("model_change", parent, provider="local", modelId="m"))
        else:
            ids.append(file.entry("label", parent, targetId=(ids or ["x"])[0], label="here"))
    return file


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Session]]:
    """Opens sessions, and closes them when the test is over."""
    sessions: list[Session] = []

    def open_one(path: Path) -> Session:
        sessions.append(Session.open(path))
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.close()


def filled(session: Session, entries: Collection[int] | None = None) -> EntryMetrics:
    tallies = EntryMetrics(session)
    tallies.fill(session, range(len(session)) if entries is None else entries)
    return tallies


def overview(session: Session, archived: Collection[int] = ()) -> Overview:
    return sure(Overview.of(session, filled(session), archived))


class Slow:
    """The same facts from dictionaries, entry by entry."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.kind = session.columns.kind
        self.parent = list(session.columns.parent)
        self.path = self.up(session.place)
        self.turns: list[list[int]] = []
        """Entries of each turn of the path."""
        waiting: list[int] = []
        for entry in self.path:
            if not self.turns and not self.says(entry):
                waiting.append(entry)
            elif not self.turns or self.kind[entry] in HEADS:
                self.turns.append([*waiting, entry])
                waiting = []
            else:
                self.turns[-1].append(entry)
        self.below: dict[int, list[int]] = {}
        """Entries that say something, under the nearest one above them that does."""
        for entry in range(len(self.kind)):
            if self.says(entry):
                self.below.setdefault(self.above(entry), []).append(entry)

    def says(self, entry: int) -> bool:
        return self.kind[entry] not in BOOKKEEPING

    def up(self, entry: int) -> list[int]:
        found: list[int] = []
        while entry >= 0:
            found.insert(0, entry)
            entry = self.parent[entry]
        return found

    def above(self, entry: int) -> int:
        above = self.parent[entry]
        while above >= 0 and not self.says(above):
            above = self.parent[above]
        return above

    def turn_of(self, entry: int) -> int:
        return next((number for number, turn in enumerate(self.turns) if entry in turn), -1)

    def weight(self, entry: int) -> int:
        return 1 + sum(self.weight(child) for child in self.below.get(entry, ()))

    def line(self, entry: int) -> list[int]:
        """A branch from its first entry to its tip."""
        found = [entry]
        while below := self.below.get(found[-1]):
            found.append(max(below, key=lambda child: (self.weight(child), -child)))
        return found

    def heads(self, line: list[int]) -> list[int]:
        return [entry for entry in line if entry == line[0] or self.kind[entry] in HEADS]

    def hanging(self) -> list[tuple[int, list[int], int]]:
        root = self.path[0] if self.path else -1
        found = []
        for above, entries in self.below.items():
            if above >= 0 and above not in self.path:
                continue
            for entry in entries:
                if entry not in self.path and (above >= 0 or self.up(entry)[0] == root):
                    line = self.line(entry)
                    found.append((self.turn_of(above), self.heads(line), line[-1]))
        return sorted(found)

    def detour(self, target: int) -> tuple[int, int, int]:
        target_path = self.up(target)
        shared = [entry for entry in target_path if entry in self.path]
        entered = [entry for entry in target_path if entry not in self.path and self.says(entry)]
        beyond = self.line(target)[1:] if entered else []
        heads = [entry for entry in beyond if self.kind[entry] in HEADS]
        return (
            (self.turn_of(shared[-1]) if shared else -1),
            len(self.heads(entered)) if entered else 0,
            len(heads),
        )


@settings(max_examples=120)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_an_overview_is_what_a_walk_over_the_path_finds(seed: int, size: int) -> None:
    rng = random.Random(seed)
    with TemporaryDirectory() as folder:
        session = Session.open(random_file(Path(folder) / "s.jsonl", rng, size).path)
        made, slow = overview(session), Slow(session)
        tallies = filled(session)
        assert len(made) == len(slow.turns)
        assert list(made.heads) == [next(filter(slow.says, turn)) for turn in slow.turns]
        for shown, turn in zip(made.sizes, slow.turns, strict=True):
            context = context_at(session, turn[-1])
            # What no reply on the path measures may be told by any branch's next request.
            assert shown == context.total or not context.size.from_usage
        assert list(made.failed) == [
            any(tallies.flags[entry] & FAILED for entry in turn) for turn in slow.turns
        ]
        assert list(made.compacted) == [session.columns.kind[head] == Kind.COMPACTION for head in made.heads]
        for entry in range(len(session)):
            assert made.turn_of(entry) == slow.turn_of(entry)
        assert made.turn_of(NO_ENTRY) == -1
        assert (
            sorted((branch.turn, list(branch.heads), branch.tip) for branch in made.hanging) == slow.hanging()
        )
        for target in range(len(session)):
            if not slow.says(target):
                continue
            detour = made.detour(target)
            if target == session.place:
                assert detour is None
            else:
                assert detour is not None
                assert (detour.turn, detour.entered, detour.beyond) == slow.detour(target)
        session.close()


def test_sizes_of_real_sessions_are_those_of_their_contexts(
    corpora: Path, opened: Callable[[Path], Session]
) -> None:
    for path in sorted((corpora / "pi").glob("*.jsonl")):
        session = opened(path)
        made = overview(session)
        trail = session.tree.path(session.place)
        ends = [*made.starts[1:], len(trail)]
        assert len(made) > 20
        for turn in range(0, len(made), 5):
            assert made.sizes[turn] == context_at(session, trail[ends[turn] - 1]).total


def tree_of_branches(path: Path) -> Path:
    file = PiFile(path)
    root = file.user("a")
    reply(file, 10_000)
    fork = file.user("b")
    reply(file, 20_000)
    file.user("c")
    file.user("d")
    file.user("other", parent=root)
    file.user("b again", parent=fork)
    reply(file, 90_000)
    return path


def test_an_archived_branch_does_not_hang(tmp_path: Path, opened: Callable[[Path], Session]) -> None:
    session = opened(tree_of_branches(tmp_path / "s.jsonl"))
    assert [(branch.turn, branch.tip) for branch in overview(session).hanging] == [(0, 6), (1, 5)]
    assert [branch.tip for branch in overview(session, archived=[3]).hanging] == [6]


def test_a_size_shows_once_all_it_depends_on_is_known(
    tmp_path: Path, opened: Callable[[Path], Session]
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("a" * 40)
    reply(file, 1_000)
    file.user("b" * 40)
    reply(file, 2_000)
    file.user("c" * 40)
    session = opened(file.path)

    def sizes(entries: Collection[int]) -> list[int]:
        made = sure(Overview.of(session, filled(session, entries)))
        return list(made.sizes)

    assert sizes([]) == [0, 0, 0]
    assert sizes([1]) == [1_000, 0, 0]
    assert sizes([0]) == [0, 0, 0]
    assert sizes([3, 4]) == [0, 2_000, 2_010]
    assert sizes(range(5)) == [1_000, 2_000, 2_010]


def test_entries_newer_than_the_tallies_are_not_known(
    tmp_path: Path, opened: Callable[[Path], Session]
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("a")
    reply(file, 1_000)
    session = opened(file.path)
    tallies = filled(session)
    file.user("b")
    session.refresh()
    made = sure(Overview.of(session, tallies))
    assert list(made.sizes) == [1_000, 0]


def test_a_stopped_overview_is_none(tmp_path: Path, opened: Callable[[Path], Session]) -> None:
    session = opened(tree_of_branches(tmp_path / "s.jsonl"))
    assert Overview.of(session, filled(session), stop=lambda: True) is None


def test_what_a_reply_reports_is_kept_unless_it_failed(
    tmp_path: Path, opened: Callable[[Path], Session]
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for total, stop in ((70, "stop"), (80, "error"), (90, "aborted"), (0, "stop")):
        reply(file, total, stop)
    session = opened(file.path)
    tallies = filled(session)
    assert list(tallies.reported) == [70, 0, 0, 0]
    assert all(flag & KNOWN for flag in tallies.flags)


@pytest.mark.parametrize("place", range(3))
def test_short_paths(tmp_path: Path, opened: Callable[[Path], Session], place: int) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for number in range(place):
        file.user(f"turn {number}")
    session = opened(file.path)
    made = overview(session)
    assert len(made) == place == made.resample(place).extent
    assert made.detour(NO_ENTRY) == (Detour(-1, 0, 0) if place else None)
    for columns in range(4):
        assert len(made.resample(columns).bars) == min(columns, place)


def sampled(sizes: list[int], failed: list[int] | None = None, compacted: Collection[int] = ()) -> Overview:
    """An overview of made-up turns; only what `resample` looks at is real."""
    turns = len(sizes)
    marks = bytes(turn in compacted for turn in range(turns))
    session_tree: Any = None
    return Overview(
        session_tree, turns - 1, array("i", range(turns)), array("i", sizes), marks,
        bytes(failed or bytes(turns)), (), array("i", range(turns)), {}, {},
    )  # fmt: skip


@given(st.lists(st.integers(0, 200_000), max_size=300), st.integers(0, 120), st.data())
def test_a_bar_is_the_largest_of_its_bucket(sizes: list[int], columns: int, data: st.DataObject) -> None:
    compacted = set(data.draw(st.lists(st.integers(0, 300), max_size=4)))
    sample = sampled(sizes, compacted=compacted).resample(columns)
    axis = sample.axis
    assert axis.columns == min(columns, len(sizes)) == len(sample.bars)
    covered = [turn for column in range(axis.columns) for turn in axis.span(column)]
    assert covered == (list(range(len(sizes))) if axis.columns else [])
    for column, bar in enumerate(sample.bars):
        span = axis.span(column)
        assert bar == max(sizes[turn] for turn in span)
        assert sample.compacted[column] == sum(turn in compacted for turn in span)
        assert {axis.column(turn) for turn in span} == {column}


def test_errors_are_marked_where_they_tell_something() -> None:
    turns = 1_000
    few = [int(turn in (7, 700)) for turn in range(turns)]
    assert sum(sampled([1] * turns, few).resample(100).failed) == 2
    everywhere = [int(turn % 2 == 0 or 300 <= turn < 350) for turn in range(turns)]
    marked = sampled([1] * turns, everywhere).resample(100).failed
    assert [column for column in range(100) if marked[column]] == [30, 31, 32, 33, 34]
    alone = sampled([1] * 40, [1] * 40).resample(100).failed
    assert sum(alone) == 40


def test_turns_behind_the_last_go_on_at_the_same_scale() -> None:
    axis = Axis(turns=1_000, columns=100)
    assert [axis.column(turn) for turn in (0, 9, 10, 999, 1_000, 1_100)] == [0, 0, 1, 99, 100, 110]
    assert Axis(5, 5).column(9) == 9


def test_hits_are_turns_each_once(tmp_path: Path, opened: Callable[[Path], Session]) -> None:
    session = opened(tree_of_branches(tmp_path / "s.jsonl"))
    made = overview(session)
    assert list(made.turns_of([8, 7, 0, 1, 4, 5])) == [0, 2]


def test_many_turns_are_brought_down_once_a_width() -> None:
    made = sampled(list(range(100_000)))
    first = made.resample(90)
    assert made.resample(90) is first
    assert len(made.resample(91).bars) == 91
