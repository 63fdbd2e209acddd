"""A large rollout is read from both ends: what processes tell of lines further on is what those lines say in order."""

from __future__ import annotations

import pickle
import random
import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest

from leafward.agents import agent_named, stretches
from leafward.agents.codex import runs
from leafward.agents.codex.current_path import START
from leafward.agents.codex.entry_builder import EntryBuilder
from leafward.agents.codex.runs import tell
from leafward.agents.lines import OpenFile
from leafward.agents.stretches import Stretch
from leafward.base import worker_processes
from leafward.session.foreign import reader_of
from tests.surroundings import CORPORA, REPOSITORY, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session

_CODEX = sorted(
    path
    for folder in (CORPORA, REPOSITORY / "tests" / "data")
    for path in folder.rglob("*.jsonl")
    if "codex" in str(path.parent).lower() and path.stat().st_size > 4 << 10
)
_TOTAL = re.compile(rb'"total_token_usage":\{[^}]*"total_tokens":(\d+)')
_SOME = _CODEX if THOROUGH else _CODEX[:: 1 + len(_CODEX) // 24]


class Share(NamedTuple):
    """Bytes of a rollout by who made entries of them."""

    here: int
    told: int


def said(builder: EntryBuilder) -> dict[str, object]:
    """What was made of the lines of a rollout so far."""
    columns, responses = builder.columns, builder.responses
    names = (
        "parts", "kept", "literals", "budgets", "models", "system", "uncertain", "unknown", "first_unknown",
        "tip", "model", "effort",
    )  # fmt: skip
    return {
        **{name: getattr(builder, name) for name in names},
        "columns": (columns.start, columns.kind, columns.ids, columns.parent),
        "others": (columns.other_ids, columns.damage),
        "counts": (responses.stale, responses.counts, responses.total, responses.recorded, responses.items),
        "path": builder.course.frozen(),
    }


def stretches_of(path: Path, size: int) -> Iterator[Stretch]:
    """A rollout in stretches of about a size."""
    data = path.read_bytes()
    with OpenFile(str(path)) as file:
        at = 0
        while (end := (data.find(b"\n", min(len(data), at + size)) + 1 or data.rfind(b"\n") + 1)) > at:
            yield Stretch(str(path), file.identity, at, end)
            at = end


def same_apart(path: Path, size: int, begin: int = 0) -> Share:
    """Reads a rollout in order, and in stretches; what that says is the same behind each. The segment begins at a byte."""
    data = path.read_bytes()
    in_order, apart = EntryBuilder(), EntryBuilder()
    for builder in (in_order, apart):
        builder.begin(begin, "segment", START)
    here = told_bytes = 0
    for number, stretch in enumerate(stretches_of(path, size)):
        at, end = stretch.start, stretch.stop
        in_order.feed(data[at:end], end - at, at)
        told = tell(stretch) if number else None
        for run in pickle.loads(pickle.dumps(told.runs)) if told is not None else ():
            apart.feed(data[at : run.start], run.start - at, at)
            here += run.start - at
            at = run.start
            if apart.extend(run.entries):
                told_bytes += run.stop - run.start
                at = run.stop
        apart.feed(data[at:end], end - at, at)
        here += end - at
        assert said(apart) == said(in_order), (path, stretch)
    for builder in (in_order, apart):
        builder.settle()
    assert said(apart) == said(in_order), path
    return Share(here, told_bytes)


@pytest.mark.parametrize("size", [700, 5_000, 20_000])
def test_a_rollout_told_in_stretches_says_what_it_says_in_order(size: int) -> None:
    shares = [same_apart(path, size) for path in _SOME]
    if CORPORA.is_dir() and size > 700:
        assert sum(share.told for share in shares) > 20_000


def next_line(data: bytes, start: int, *, recorded: bool) -> tuple[int, int | None]:
    """Behind the next line, whatever it is; with what was counted last, as far as the data tell."""
    end = data.find(b"\n", start) + 1
    totals = _TOTAL.findall(data, 0, end)
    return end, int(totals[-1]) if totals and not recorded else None


@pytest.mark.parametrize("size", [1_500, 8_000])
def test_runs_may_begin_anywhere(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads in order sees where what a run assumes does not hold."""
    monkeypatch.setattr(runs, "settled", next_line)
    shares = [same_apart(path, size) for path in _SOME]
    assert not CORPORA.is_dir() or sum(share.told for share in shares) > 5_000


def test_a_segment_that_begins_further_on() -> None:
    for path in _SOME[:8]:
        same_apart(path, 8_000, begin=12_345)


def damaged(lines: list[bytes], chance: random.Random) -> bytes:
    """A rollout with some lines torn, glued, filled with NULs, repeated, swapped, or ended as Windows does."""
    lines = list(lines)
    for _ in range(1 + len(lines) // 12):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        line = lines[at].rstrip(b"\n")
        match chance.randrange(7):
            case 0:
                lines[at] = line[: len(line) // 2] + b"\n"
            case 1:
                lines[at] = line
            case 2:
                lines[at] = b"\0" * 20 + lines[at]
            case 3:
                lines[at] += lines[other]
            case 4:
                lines[at], lines[other] = lines[other], lines[at]
            case 5:
                lines[at] = line + b"\r\n"
            case _:
                lines[at] = line.replace(b'"payload"', b'"paylaod"', 1) + b"\n\n"
    return b"".join(lines) + b"\n"


@pytest.mark.parametrize("anywhere", [False, True])
def test_damaged_rollouts(tmp_path: Path, anywhere: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if anywhere:
        monkeypatch.setattr(runs, "settled", next_line)
    chance = random.Random(5)
    for path in _SOME:
        broken = tmp_path / "rollout.jsonl"
        broken.write_bytes(damaged(path.read_bytes().splitlines(keepends=True), chance))
        same_apart(broken, chance.choice((400, 6_000, 20_000)))


@pytest.mark.skipif(not CORPORA.is_dir(), reason="needs the recorded sessions")
def test_most_of_a_long_rollout_is_told_by_others(tmp_path: Path) -> None:
    path = max((CORPORA / "codex" / "v0.169.0").rglob("*.jsonl"), key=lambda one: one.stat().st_size)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    longer = tmp_path / "rollout.jsonl"
    longer.write_bytes(head + b"".join(rest) * 8)
    share = same_apart(longer, 100_000)
    assert share.told > 4 * (share.here - 100_000)


def test_lines_of_several_megabytes(tmp_path: Path) -> None:
    path = max(_CODEX, key=lambda one: one.stat().st_size)
    lines = path.read_bytes().splitlines(keepends=True)
    output = b'{"timestamp":"2026-11-21T10:00:00.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"%s"}}\n'
    lines[len(lines) // 2 : len(lines) // 2] = [output % (b"x" * (3 << 20)), output % (b"y" * (1 << 20))]
    longer = tmp_path / "rollout.jsonl"
    longer.write_bytes(b"".join(lines))
    same_apart(longer, 20_000)


def test_a_session_that_processes_share_in_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = max(_CODEX, key=lambda one: one.stat().st_size)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    rollout = tmp_path / "sessions" / "2026" / "11" / "21" / path.name
    rollout.parent.mkdir(parents=True)
    lines = rest * 4
    rollout.write_bytes(head + b"".join(lines[: len(lines) // 2]) + b'{"torn')

    def seen(session: Session) -> tuple[object, ...]:
        columns = session.columns
        bodies = [session.body(index) for index in range(len(session))]
        return bytes(columns.ids), bytes(columns.kind), columns.parent, columns.start, session.leaf, bodies

    def grown() -> Iterator[tuple[object, ...]]:
        """A session opened, and reloaded when it grew."""
        rollout.write_bytes(head + b"".join(lines[: len(lines) // 2]) + b'{"torn')
        with closing(agent_named("codex").open(rollout)) as session:
            yield seen(session)
            reader = reader_of(session)
            assert reader is not None
            rollout.write_bytes(head + b"".join(lines))
            transcript = reader.read(lambda: False)
            yield bytes(transcript.columns.ids), transcript.columns.parent, transcript.notes

    monkeypatch.setattr(worker_processes, "cores", lambda: 2)
    monkeypatch.setattr(stretches, "SIZE", 64 << 10)
    monkeypatch.setattr(stretches, "LARGE", 1)
    shared = list(grown())
    monkeypatch.setattr(stretches, "LARGE", 1 << 60)
    assert list(grown()) == shared
