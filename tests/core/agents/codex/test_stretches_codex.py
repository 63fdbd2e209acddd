"""A large rollout is read from both ends: what processes tell of lines further on is what those lines say in order."""

from __future__ import annotations

import pickle
import random
import re
import time
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import pytest

from leafward.agents.codex import assembly
from leafward.agents.codex.entries import runs
from leafward.agents.codex.entries.current_path import START
from leafward.agents.codex.entries.entry_builder import EntryBuilder
from leafward.agents.codex.entries.runs import LineRun, runs_of
from leafward.agents.registry import agent_named
from leafward.agents.storage import lines, stretches
from leafward.agents.storage.lines import OpenFile
from leafward.agents.storage.stretches import Stretch
from leafward.base import worker_processes
from leafward.session.entries import Kind
from leafward.session.foreign import reader_of
from tests.codex_rollout import Rollout
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
_RECORDED = pytest.mark.skipif(not CORPORA.is_dir(), reason="needs the recorded sessions")
_OUTPUT = (
    b'{"timestamp":"2026-11-21T10:00:00.000Z","type":"response_item",'
    b'"payload":{"type":"function_call_output","call_id":"call_1","output":"%s"}}\n'
)
_TOTAL = re.compile(rb'"total_token_usage":\{[^}]*"total_tokens":(\d+)')
_SOME = _CODEX if THOROUGH else _CODEX[:: 1 + len(_CODEX) // 24]


class Share(NamedTuple):
    """Bytes of a rollout by who made entries of them."""

    here: int
    told: int


def said(builder: EntryBuilder) -> dict[str, object]:
    """The state made from the lines of a rollout so far."""
    columns, responses = builder.columns, builder.responses
    names = (
        "parts", "models", "system", "uncertain", "unknown", "first_unknown", "tip", "model", "effort", "left_out",
    )  # fmt: skip
    return {
        **{name: getattr(builder, name) for name in names},
        **{name: getattr(builder.compactions, name) for name in ("kept", "literals", "budgets", "ahead")},
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
        told = runs_of(stretch) if number else None
        for run in pickle.loads(pickle.dumps(told.runs)) if told is not None else ():
            apart.feed(data[at : run.start], run.start - at, at)
            here += run.start - at
            at = run.start
            if run.follows(apart):
                apart.extend(run.entries)
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
    monkeypatch.setattr(runs, "response_end", next_line)
    shares = [same_apart(path, size) for path in _SOME]
    assert not CORPORA.is_dir() or sum(share.told for share in shares) > 5_000


def test_a_segment_that_begins_further_on() -> None:
    for path in _SOME[:8]:
        same_apart(path, 8_000, begin=12_345)


def damaged(rows: list[bytes], chance: random.Random) -> bytes:
    """A rollout with some lines torn, glued, filled with NULs, repeated, swapped, or ended as Windows does."""
    rows = list(rows)
    for _ in range(1 + len(rows) // 12):
        at, other = chance.randrange(len(rows)), chance.randrange(len(rows))
        line = rows[at].rstrip(b"\n")
        match chance.randrange(7):
            case 0:
                rows[at] = line[: len(line) // 2] + b"\n"
            case 1:
                rows[at] = line
            case 2:
                rows[at] = b"\0" * 20 + rows[at]
            case 3:
                rows[at] += rows[other]
            case 4:
                rows[at], rows[other] = rows[other], rows[at]
            case 5:
                rows[at] = line + b"\r\n"
            case _:
                rows[at] = line.replace(b'"payload"', b'"paylaod"', 1) + b"\n\n"
    return b"".join(rows) + b"\n"


@pytest.mark.parametrize("anywhere", [False, True])
def test_damaged_rollouts(tmp_path: Path, anywhere: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if anywhere:
        monkeypatch.setattr(runs, "response_end", next_line)
    chance = random.Random(5)
    for path in _SOME:
        broken = tmp_path / "rollout.jsonl"
        broken.write_bytes(damaged(path.read_bytes().splitlines(keepends=True), chance))
        same_apart(broken, chance.choice((400, 6_000, 20_000)))


@_RECORDED
def test_most_of_a_long_rollout_is_told_by_others(tmp_path: Path) -> None:
    path = max((CORPORA / "codex" / "v0.169.0").rglob("*.jsonl"), key=lambda one: one.stat().st_size)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    longer = tmp_path / "rollout.jsonl"
    longer.write_bytes(head + b"".join(rest) * 8)
    share = same_apart(longer, 100_000)
    assert share.told > 4 * (share.here - 100_000)


def test_a_context_that_is_left_out_later(tmp_path: Path) -> None:
    """A compaction of 0.80, and turns of a newer version behind it: which of them puts in its context depends on both."""
    written = Rollout(tmp_path, cli_version="0.80.0")
    written.said("<environment_context>old</environment_context>")
    for number in range(12):
        if number in (1, 6):
            written.line("compacted", message=f"S{number}")
        if number in (3, 4, 9):
            written.event("task_started", turn_id=f"turn {number}")
            written.said("<permissions instructions>all</permissions instructions>", "developer")
            written.said("<environment_context>new</environment_context>")
        written.prompt(f"prompt {number}")
        written.call("shell", {"command": ["ls"]}, "pears", f"call_{number}")
        written.reply(f"reply {number}")
        written.count(100 * number + 100)
    for size in (300, 700, 1_500, 2_500):
        same_apart(written.path, size)
    assert written.opened().columns.kind.count(Kind.CONTEXT_EDIT) == 2


def test_a_stretch_in_which_no_response_ends_is_left(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(_OUTPUT % b"x" + _OUTPUT % b"y")
    (stretch,) = stretches_of(path, 10_000)
    told = runs_of(stretch)
    assert told is not None
    assert (told.runs, told.stop) == ([], path.stat().st_size)


def test_lines_of_several_megabytes(tmp_path: Path) -> None:
    path = max(_CODEX, key=lambda one: one.stat().st_size)
    rows = path.read_bytes().splitlines(keepends=True)
    rows[len(rows) // 2 : len(rows) // 2] = [_OUTPUT % (b"x" * (3 << 20)), _OUTPUT % (b"y" * (1 << 20))]
    longer = tmp_path / "rollout.jsonl"
    longer.write_bytes(b"".join(rows))
    same_apart(longer, 20_000)


@pytest.fixture
def rollout(tmp_path: Path) -> Path:
    """A rollout of some megabytes, with compactions, and lines of several megabytes."""
    path = max(_CODEX, key=lambda one: one.stat().st_size)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    found = tmp_path / "sessions" / "2026" / "11" / "21" / path.name
    found.parent.mkdir(parents=True)
    long = [_OUTPUT % (b"x" * size) for size in (1 << 20, 3 << 20)]
    found.write_bytes(head + b"".join([*rest, *long, *rest, *rest, *rest]))
    return found


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Processes share in reading; for each run that they told, whether it was taken in."""
    monkeypatch.setattr(worker_processes, "cores", lambda: 2)
    monkeypatch.setattr(stretches, "SIZE", 64 << 10)
    monkeypatch.setattr(stretches, "LARGE", 1)
    monkeypatch.setattr(lines, "CHUNK", 128 << 10)
    taken: list[bool] = []
    follows, feed = LineRun.follows, EntryBuilder.feed

    def slowly(builder: EntryBuilder, data: bytes, stop: int, at: int) -> None:
        # Another process needs time to start.
        time.sleep(0.02)
        feed(builder, data, stop, at)

    def counted(run: LineRun, before: EntryBuilder) -> bool:
        taken.append(follows(run, before))
        return taken[-1]

    monkeypatch.setattr(LineRun, "follows", counted)
    monkeypatch.setattr(EntryBuilder, "feed", slowly)
    return taken


class Seen(NamedTuple):
    """Content of a session, as far as it depends on how it was read."""

    columns: tuple[object, ...]
    leaf: int
    notes: list[str]
    bodies: str

    @classmethod
    def of(cls, session: Session) -> Seen:
        """All of an open session."""
        columns = session.columns
        bodies = blake2b()
        for index in range(len(session)):
            bodies.update(repr(session.body(index)).encode("utf-8", "surrogatepass"))
        return cls(
            (bytes(columns.ids), bytes(columns.kind), columns.parent, columns.start, columns.damage),
            session.leaf,
            list(map(str, session.source.notes)),
            bodies.hexdigest(),
        )


def alone(rollout: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """The same where this process reads all of it."""
    monkeypatch.setattr(stretches, "LARGE", 1 << 60)
    with closing(agent_named("codex").open(rollout)) as session:
        return Seen.of(session)


@_RECORDED
def test_a_session_that_processes_share_in_is_the_same(
    rollout: Path, sharing: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(agent_named("codex").open(rollout)) as session:
        assert any(sharing)
        assert Seen.of(session) == alone(rollout, monkeypatch)


@_RECORDED
def test_a_session_that_grows_while_it_is_read(
    rollout: Path, sharing: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rollout.read_bytes().splitlines(keepends=True)
    rollout.write_bytes(b"".join(rows[: len(rows) // 2]) + b'{"torn')
    with closing(agent_named("codex").open(rollout)) as session:
        reader = reader_of(session)
        assert reader is not None
        sharing.clear()
        looks = 0

        def grows() -> bool:
            nonlocal looks
            looks += 1
            if looks == 3:
                # What stood there before is read by others too, this by the process that asked.
                rollout.write_bytes(b"".join(rows))
            return False

        rollout.write_bytes(b"".join(rows[: len(rows) * 3 // 4]))
        reader.read(grows)
        found = reader.read(lambda: False).columns
        assert any(sharing)
    expected = alone(rollout, monkeypatch).columns
    assert (bytes(found.ids), bytes(found.kind), found.parent, found.start, found.damage) == expected


@_RECORDED
def test_what_no_run_says_is_read_in_pieces(
    tmp_path: Path, sharing: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it is asked again and again whether to stop."""
    path = max((CORPORA / "codex" / "v0.169.0").rglob("*.jsonl"), key=lambda one: one.stat().st_size)
    head, *rest = path.read_bytes().splitlines(keepends=True)
    found = tmp_path / "sessions" / "2026" / "11" / "21" / path.name
    found.parent.mkdir(parents=True)
    found.write_bytes(head + b"".join(rest) * 60)
    monkeypatch.setattr(stretches, "SIZE", 1 << 20)
    monkeypatch.setattr(assembly, "CHUNK", lines.CHUNK)
    fed: list[int] = []
    feed, follows = EntryBuilder.feed, LineRun.follows

    def counted(builder: EntryBuilder, data: bytes, stop: int, at: int) -> None:
        fed.append(stop)
        feed(builder, data, stop, at)

    monkeypatch.setattr(EntryBuilder, "feed", counted)
    monkeypatch.setattr(LineRun, "follows", lambda run, before: follows(run, before) and False)
    with closing(agent_named("codex").open(found)) as session:
        assert sharing
        assert max(fed) <= lines.CHUNK
        assert Seen.of(session) == alone(found, monkeypatch)
