"""What was found of a path before: the text is the one that reading the whole path gives, whatever became of the files since."""

from __future__ import annotations

import json
import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents import agent_named
from leafward.base import paths
from leafward.base.errors import LeafwardError
from leafward.compaction.injection import Collected, InjectionSettings, build, checkpoint, collect, inject
from leafward.compaction.injection.path_reader import PathReader
from leafward.session.session import Session
from tests.bench.generate import write_session
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from pathlib import Path

GROWING = [
    *("pi/large-session.jsonl", "pi/before-compaction.jsonl", "pi/branched-compacted.jsonl"),
    *(f"{agent}/{version}" for agent, version in (("codex", "v0.169.0"), ("claude", "v2.1.330"))),
    *("real/claude", "real/codex"),
]
MOST = 3_000
"""Lines of a session that is let grow."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Short sessions are worth it too; says how often what was kept was gone on from."""
    for name, value in (("_WORTH", 12), ("_BEHIND", 8), ("_WAITS", 4), ("_STEP", 1)):
        monkeypatch.setattr(checkpoint, name, value)
    made: list[str] = []
    resume = PathReader.resume

    def resumed(self: PathReader, *rest: object) -> None:
        made.append("resumed")
        resume(self, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PathReader, "resume", resumed)
    return made


def texts(agent: str, path: Path) -> tuple[str, str]:
    """The text that goes on from what was kept, and the one of the whole path."""
    with closing(agent_named(agent).open(path)) as session:
        on = build(checkpoint.collect_on(session, session.leaf), InjectionSettings())
        return on.text, inject(session, session.leaf).text


def stored(name: str) -> list[Path]:
    place = CORPORA / name
    if place.is_file():
        return [place]
    every = sorted(place.rglob("*.jsonl"), key=lambda one: (one.stat().st_size, one.name), reverse=True)
    return every[:4]


@needs_corpora
@pytest.mark.parametrize("name", GROWING)
def test_a_session_that_grows_gives_the_text_of_the_whole_path(
    name: str, tmp_path: Path, small: list[str]
) -> None:
    agent = next(one for one in ("claude", "codex", "pi") if one in name)
    for source in stored(name):
        lines = source.read_bytes().splitlines(keepends=True)[:MOST]
        folder = tmp_path / "projects" / "-tmp-demo" if agent == "claude" else tmp_path / source.stem
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / source.name
        for end in sorted({*random.Random(5).sample(range(len(lines)), min(10, len(lines) - 1)), len(lines)}):
            path.write_bytes(b"".join(lines[:end] or lines[:1]))
            try:
                with closing(agent_named(agent).open(path)) as session:
                    inject(session, session.leaf)
            except LeafwardError:  # the beginning of a file may be no session yet
                continue
            on, whole = texts(agent, path)
            assert on == whole, (source, end)
    assert "resumed" in small


def grown(path: Path) -> list[bytes]:
    write_session(path, 900, branch_every=0, compact_every=300)
    return path.read_bytes().splitlines(keepends=True)


def test_only_what_came_since_is_read(
    tmp_path: Path, small: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.jsonl"
    lines = grown(path)
    path.write_bytes(b"".join(lines[:800]))
    assert len(set(texts("pi", path))) == 1
    path.write_bytes(b"".join(lines))
    asked: list[int] = []
    bodies = Session.bodies

    def counted(self: Session, entries: list[int], *rest: object) -> object:
        asked.extend(entries)
        return bodies(self, entries, *rest)  # type: ignore[arg-type]

    with closing(Session.open(path)) as session:
        monkeypatch.setattr(Session, "bodies", counted)
        checkpoint.collect_on(session, session.leaf)
    assert min(asked) > 780
    assert small == ["resumed"]


@pytest.mark.parametrize("change", ["same size", "longer", "shorter", "kept", "torn", "branch"])
def test_what_changed_in_the_middle_is_read_anew(change: str, tmp_path: Path, small: list[str]) -> None:
    path = tmp_path / "long.jsonl"
    lines = grown(path)
    path.write_bytes(b"".join(lines[:600]))
    first, _ = texts("pi", path)
    at = next(n for n, line in enumerate(lines[:500]) if b'"path":"' in line and b'"toolCall"' in line)
    (kept,) = (paths.cache_dir() / "injection").iterdir()
    if change == "same size":
        place = lines[at].index(b'"path":"') + len(b'"path":"')
        lines[at] = lines[at][:place] + b"Z" + lines[at][place + 1 :]
    elif change == "longer":
        lines[at] = lines[at].replace(b'"path":"', b'"path":"other/', 1)
    elif change == "shorter":
        del lines[at - 1 : at + 3]
    elif change == "kept":
        kept.write_bytes(kept.read_bytes().replace(b'"answered":', b'"answered" :'))
    elif change == "torn":
        kept.write_bytes(kept.read_bytes()[:-20])
    else:
        entry = json.loads(lines[601])
        lines[601] = json.dumps({**entry, "parentId": json.loads(lines[200])["id"]}).encode() + b"\n"
        del lines[602:]
    path.write_bytes(b"".join(lines))
    on, whole = texts("pi", path)
    assert on == whole != first
    assert small == []


def test_a_result_that_comes_late_is_taken_in(tmp_path: Path, small: list[str]) -> None:
    path = tmp_path / "late.jsonl"
    lines = grown(path)
    at = next(n for n, line in enumerate(lines[:400]) if b'"toolCall"' in line and b'"bash"' in line)
    call = json.loads(lines[at])
    (name,) = (one["id"] for one in call["message"]["content"] if one.get("type") == "toolCall")
    result = next(n for n in range(at, at + 6) if name.encode() in lines[n] and b'"toolResult"' in lines[n])
    late = json.loads(lines[result])
    above = json.loads(lines[result - 1])["id"]
    below = json.loads(lines[result + 1])
    lines[result + 1] = json.dumps({**below, "parentId": above}).encode() + b"\n"
    del lines[result]
    path.write_bytes(b"".join(lines[:699]))
    texts("pi", path)
    late |= {"parentId": json.loads(lines[698])["id"], "id": "feedbeef"}
    late["message"]["isError"] = True
    path.write_bytes(b"".join(lines[:699]) + json.dumps(late).encode() + b"\n")
    on, whole = texts("pi", path)
    assert on == whole
    assert small == ["resumed"]


def test_little_is_kept_of_few_sessions(
    tmp_path: Path, small: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_KEPT", 3)
    for number in range(6):
        path = tmp_path / f"{number}.jsonl"
        write_session(path, 300, seed=number, branch_every=0)
        texts("pi", path)
    kept = list((paths.cache_dir() / "injection").iterdir())
    assert len(kept) == 3
    assert all(one.stat().st_mode & 0o777 == 0o600 and one.stat().st_size < 60_000 for one in kept)
    assert small == []


def test_what_it_finds_is_what_a_whole_reading_finds(tmp_path: Path, small: list[str]) -> None:
    path = tmp_path / "long.jsonl"
    lines = grown(path)
    path.write_bytes(b"".join(lines[:700]))
    texts("pi", path)
    path.write_bytes(b"".join(lines))
    with closing(Session.open(path)) as session:
        on, whole = checkpoint.collect_on(session, session.leaf), collect(session, session.leaf)

    def plain(found: Collected) -> object:
        files = {name: (file.use, file.seq) for name, file in found.files.items()}
        done = found.earlier_actions + len(found.actions)
        rest = found.prompt, found.request, found.answered, found.tools, found.model, found.compactions
        return files, done, found.actions[-20:], found.pins, found.time, *rest, found.lost_thread

    assert plain(on) == plain(whole)
    assert small == ["resumed"]
