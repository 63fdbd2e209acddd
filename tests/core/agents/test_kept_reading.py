"""What a reader of Codex's or Claude Code's files kept for another process: going on from it is reading everything again."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import os
import pickle
import re
import shutil
import textwrap
from contextlib import closing
from pathlib import Path
from pydoc import locate
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.claude.entries.kept_reading import CLASSES as CLAUDE_CLASSES
from leafward.agents.claude.entries.kept_reading import unpacked_reading
from leafward.agents.codex.kept_thread import CLASSES as CODEX_CLASSES
from leafward.agents.opencode.kept_records import CLASSES as OPENCODE_CLASSES
from leafward.agents.recognition import agent_of
from leafward.agents.storage.lines import OpenFile
from leafward.agents.storage.packed_values import packed, unpacked
from leafward.compaction.injection.findings.kept_findings import FORMAT
from leafward.session.entries import EntryIndex, Kind
from leafward.session.foreign import ForeignFiles
from leafward.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[2] / "data"
STORED = (
    "claude/2.1.330/projects/-tmp-demo-project/d379888c-ffba-457b-bedd-142b9bb27a47.jsonl",
    "codex/0.169/sessions/2026/11/21/rollout-2026-11-21T20-53-33-01a1ffe2-c1f8-7991-b6cc-f62ac308d761.jsonl",
)


def files_of(session: Session) -> ForeignFiles:
    """The session's files, which are another agent's."""
    assert isinstance(session.source, ForeignFiles)
    return session.source


def told(session: Session) -> dict[str, object]:
    """Everything that a session tells, but the titles that nothing keeps."""
    files, columns = files_of(session), session.columns
    return {
        "columns": [bytes(columns.kind), bytes(columns.ids), list(columns.parent), list(columns.start)],
        "damage": (columns.damage, columns.other_ids),
        "leaf": session.leaf,
        "header": {key: value for key, value in session.header.items() if key not in ("name", "title")},
        "notes": files.notes,
        "sent": [list(files.hoisted), dict(files.kept_until), dict(files.missing), list(files.side_lines)],
        "bodies": [files.body(index) for index in range(len(columns))],
    }


def cuts(path: Path, lines: list[bytes], step: int) -> Iterator[None]:
    """Writes a file step by step; some ends are in the middle of a line."""
    whole, done = b"".join(lines), 0
    for number in range(step, len(lines) + step, step):
        end = sum(map(len, lines[:number])) - (number % 3 == 0) * 7
        with path.open("ab") as file:
            file.write(whole[done:end])
        done = end
        yield


@pytest.mark.parametrize("broken", [b"", b'{"timestamp":"2026-11\n'])
@pytest.mark.parametrize("stored", STORED)
def test_going_on_is_reading_everything_again(stored: str, broken: bytes, tmp_path: Path) -> None:
    """Also behind a line that was cut off when the agent was killed."""
    source = DATA / stored
    path = tmp_path / source.name
    lines = source.read_bytes().splitlines(keepends=True)
    lines[len(lines) // 4 : len(lines) // 4] = [broken] if broken else []
    kept = b""
    gone_on = 0
    for _ in cuts(path, lines, max(1, len(lines) // 12)):
        agent = agent_of(path)
        files = agent.source(path)
        assert isinstance(files, ForeignFiles)
        files.go_on_from(kept)
        gone_on += bool(kept)
        with closing(Session.of(files)) as further, closing(agent.open(path)) as whole:
            assert told(further) == told(whole)
            reading = files.kept_reading()
            kept = reading.data if reading is not None else b""
    assert gone_on > 5


IN_SEVERAL_FILES = (
    "archived_sessions/rollout-2026-11-21T20-53-34-01a1ffe2-c70c-7ba2-9a05-85b2559603f7.jsonl",
    "sessions/2026/11/21/rollout-2026-11-21T21-09-59-01a1fff1-cb54-7b32-a82f-5044e1f57a15_01a1fff1-cd5b-72f0-b8c4-d0325cd899e5.jsonl",
    "sessions/2026/11/21/rollout-2026-11-21T21-09-59-01a1fff1-cda2-7e60-a604-a01f62c58ea4.jsonl",
)


@pytest.mark.parametrize("stored", IN_SEVERAL_FILES)
def test_going_on_in_the_last_of_several_files_is_reading_all_of_them_again(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork, a thread that was gone back in twice, and a fork of that."""
    home = tmp_path / ".codex"
    shutil.copytree(DATA / "codex" / "0.169", home)
    path = home / stored
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"")
    begun: set[str] = set()
    blocks = OpenFile.blocks

    def noted(file: OpenFile, *given: Any, **more: Any) -> Iterator[tuple[bytes, int, int]]:
        begun.add(file.path)
        return blocks(file, *given, **more)

    kept, gone_on = b"", 0
    for _ in cuts(path, lines, 2):
        agent = agent_of(path)
        files = agent.source(path)
        assert isinstance(files, ForeignFiles)
        files.go_on_from(kept)
        with monkeypatch.context() as during:
            during.setattr(OpenFile, "blocks", noted)
            begun.clear()
            further = Session.of(files)
            gone_on += begun == {str(path)}
        with closing(further), closing(agent.open(path)) as whole:
            assert len(files.transcript.files) > 1
            assert told(further) == told(whole)
            assert files.transcript.inherited == files_of(whole).transcript.inherited
            reading = files.kept_reading()
            kept = reading.data if reading is not None else kept
    assert gone_on > 1


def test_ids_that_begin_like_earlier_ones_are_told_apart(tmp_path: Path) -> None:
    """Claude Code's ids are told apart by their first bytes, where these differ."""
    source = DATA / STORED[0]
    path, data = tmp_path / source.name, source.read_bytes()
    ids = list(dict.fromkeys(re.findall(rb'"uuid":"([0-9a-f-]{36})"', data)))
    third = len(ids) // 3
    likenesses = [*zip(ids[-third:-6], ids, strict=False), *((late, b"0" * 8) for late in ids[-6:])]
    for late, early in likenesses:
        data = data.replace(late, early[:8] + late[8:])
    lines = data.splitlines(keepends=True)
    kept = b""
    for _ in cuts(path, lines, max(1, len(lines) // 12)):
        agent = agent_of(path)
        files = agent.source(path)
        assert isinstance(files, ForeignFiles)
        files.go_on_from(kept)
        with closing(Session.of(files)) as further, closing(agent.open(path)) as whole:
            assert told(further) == told(whole)
            reading = files.kept_reading()
            kept = reading.data if reading is not None else kept
            names = [further.columns.id(EntryIndex(at)) for at in range(len(further.columns))]
            assert len(set(names)) == len(names)


@pytest.mark.parametrize("stored", STORED)
def test_only_what_was_appended_is_read_and_no_text_is_kept(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = DATA / stored
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes())
    agent = agent_of(path)
    with closing(agent.open(path)) as session:
        reading = files_of(session).kept_reading()
        kinds = session.columns.kind
        said = [
            session.body(at) or {} for at in range(len(kinds)) if kinds[at] in (Kind.USER, Kind.ASSISTANT)
        ]
    assert reading is not None
    texts = [str(part["text"]) for body in said for part in body["message"]["content"] if "text" in part]
    assert texts
    assert not [text for text in texts if text[:40].encode() in reading.data]

    begun: list[int] = []
    blocks = OpenFile.blocks

    def noted(
        file: OpenFile, stop: object, begin: int = 0, **given: bool
    ) -> Iterator[tuple[bytes, int, int]]:
        begun.append(begin)
        return blocks(file, stop, begin, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenFile, "blocks", noted)
    files = agent.source(path)
    assert isinstance(files, ForeignFiles)
    files.go_on_from(reading.data)
    Session.of(files).close()
    assert begun == [path.stat().st_size]


class _Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made-by-a-cache",)


def test_a_cache_makes_nothing_but_what_a_reader_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for data in (pickle.dumps(_Hostile()), packed(Path("/etc")), b"", b"\x80\x05damaged"):
        with pytest.raises(ValueError, match="no packed value"):
            unpacked(data, ())
        assert unpacked_reading(data) is None
    assert unpacked_reading(packed({"rows": 1})) is None
    assert list(tmp_path.iterdir()) == []


def test_another_shape_of_what_is_kept_needs_another_format() -> None:
    classes = (*CLAUDE_CLASSES, *CODEX_CLASSES, *OPENCODE_CLASSES)
    shapes = {name: _attributes(locate(name.replace(":", "."))) for name in classes}
    digest = hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()[:16]
    assert (FORMAT, digest) == (15, "3ea60b0ee4a7be63"), "raise the format, and note the new digest here"


def _attributes(kept: Any) -> list[str]:
    """The names of the attributes that a class annotates, or that its methods set."""
    found = set(inspect.get_annotations(kept))
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kept)))):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) == "self"
        ):
            found.add(node.attr)
    return sorted(found)
