"""The first write to a version 1 or 2 file: backup, migration, then the write."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Refused
from leafward.base.paths import is_draft
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.journal.migration import backup_folder
from leafward.session.journal.session_operations import label, move, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.lines.scan import Scan
from leafward.session.session import Session
from tests.sources import native

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = Writing(now=lambda: datetime(2026, 11, 21, 12, 0, 0, 0, UTC))

HEADER = (
    '{"type":"session","id":"../abc","timestamp":"2025-11-20T23:33:50.805Z","cwd":"/x","provider":"local"}'
)
USER = '{"type":"message","timestamp":"2025-11-20T23:33:51.000Z","message":{"role":"user","content":"é\\u00e9 \\ud83d"}}'
REPLY = '{"type":"message","timestamp":"2025-11-20T23:33:52.000Z","message":{"role":"assistant","content":[],"cost":0.10e0}}'
COMPACTION = '{"timestamp":"2025-11-20T23:33:53.000Z","summary":"s","tokensBefore":12345678901234567890123,"firstKeptEntryIndex":2,"type":"compaction"}'
HOOK = (
    '{"type":"message","id":"0000000a","parentId":null,"timestamp":"t",'
    '"message":{"role":"hookMessage","customType":"x","content":"\\"hookMessage\\"","display":true}}'
)
NEXT = '{"type":"message","id":"0000000b","parentId":"0000000a","timestamp":"t","message":{"role":"user","content":"a"}}'


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "store" / "old.jsonl"
    path.parent.mkdir()
    lines = [HEADER, "", USER, "{not json", REPLY, "[1,2]", COMPACTION, USER, '{"torn":']
    path.write_bytes("\n".join(lines).encode("utf-8"))
    path.chmod(0o640)
    return path


@pytest.fixture
def session(old: Path) -> Iterator[Session]:
    opened = Session.open(old)
    yield opened
    opened.close()


def shown(session: Session) -> list[tuple[Any, ...]]:
    """Each entry as a user sees it, without the ids of damaged lines, which are their offsets."""
    seen: list[tuple[Any, ...]] = []
    for index, kind in enumerate(session.columns.kind):
        entry = session.entry(index)
        if kind in (Kind.MALFORMED, Kind.HEADER):
            seen.append((kind, entry.raw))
        else:
            seen.append((kind, entry.id, entry.parent, entry.body))
    return seen


def test_who_reads_meanwhile_gets_what_it_would_have_got(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs read beside a write: neither the empty columns of a file that is just read again, nor new bytes at old offsets."""
    whole, entries = dict(session.bodies(range(len(session)))), range(len(session))
    together, lines = session.bodies(entries), native(session).stretches(entries, 1)
    read = [next(together)]
    runs = [next(lines)]
    advance = Scan.advance

    def watched(*arguments: Any, **options: Any) -> int:
        assert shown(session) == before
        return advance(*arguments, **options)

    before = shown(session)
    monkeypatch.setattr(Scan, "advance", watched)
    move(session, 0, NOON)
    assert dict([*read, *together]) == whole
    old = b"".join(bytes(line) for _, line in (*runs, *lines))
    assert REPLY.encode() in old
    assert {index: session.body(index) for index in entries} == whole


def test_the_replaced_file_is_closed_behind_the_last_reader(session: Session) -> None:
    handle = native(session).file.handle
    reading = session.bodies(range(len(session)))
    next(reading)
    move(session, 0, NOON)
    assert not handle.closed
    del reading
    assert handle.closed


def test_a_version_1_file_becomes_the_tree_that_was_shown(session: Session, old: Path) -> None:
    original, tree = old.read_bytes(), shown(session)
    ids = [str(session.columns.id(index)) for index in session.tree.path(session.leaf)]

    done = move(session, 0, NOON)

    assert done.backup is not None
    assert done.backup.read_bytes() == original
    assert done.backup.parent == backup_folder()
    assert done.backup.name == "---abc_2026-11-21T12-00-00-000Z.jsonl"
    assert stat.S_IMODE(done.backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(done.backup.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert [remark.code for remark in done.remarks] == ["migrates", "two-prompts"][::-1]
    assert sorted(path.name for path in old.parent.iterdir()) == ["old.jsonl"]

    lines = old.read_text("utf-8", "surrogatepass").split("\n")
    first, second, third, fourth = ids
    assert lines[:9] == [
        HEADER.replace('"session"', '"session","version":3'),
        USER.replace('"message"', f'"message","id":"{first}","parentId":null', 1),
        "{not json",
        REPLY.replace('"message"', f'"message","id":"{second}","parentId":"{first}"', 1),
        "[1,2]",
        (
            f'{{"type":"compaction","id":"{third}","parentId":"{second}","timestamp":"2025-11-20T23:33:53.000Z","summary":"s",'
            f'"tokensBefore":{json.loads(lines[5])["tokensBefore"]},"firstKeptEntryId":"{second}"}}'
        ),
        USER.replace('"message"', f'"message","id":"{fourth}","parentId":"{third}"', 1),
        '{"torn":',
        lines[8],
    ]
    assert session.version == 3
    assert shown(session)[: len(tree)] == tree
    assert session.place == 0
    assert undo(session).target == fourth


def test_only_the_first_write_migrates(session: Session, old: Path) -> None:
    move(session, 0)
    migrated = old.read_bytes()
    assert label(session, 2, "x").backup is None
    assert old.read_bytes().startswith(migrated)
    assert len(list(backup_folder().iterdir())) == 1


def test_of_two_who_migrate_one_is_refused(session: Session, old: Path) -> None:
    other = Session.open(old)
    move(session, 0)
    with pytest.raises(Refused, match="replaced by another file"):
        move(other, 0)
    other.refresh()
    assert not move(other, 0).changed
    assert other.columns == session.columns
    other.close()


def test_a_version_2_file_keeps_every_line_but_the_renamed_role(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    header = '{"type":"session","version":2,"id":"abc","timestamp":"t","cwd":"/x"}'
    path.write_text(f"{header}\n{HOOK}\n{NEXT}")
    session = Session.open(path)
    tree = shown(session)
    rename(session, "x")
    lines = path.read_text().split("\n")
    assert json.loads(lines[0]) == {**json.loads(header), "version": 3}
    assert lines[1] == HOOK.replace('"role":"hookMessage"', '"role":"custom"')
    assert lines[2] == NEXT
    assert shown(session)[:2] == tree
    session.close()


def test_a_byte_order_mark_goes_because_pi_refuses_it(old: Path) -> None:
    old.write_bytes(b"\xef\xbb\xbf" + old.read_bytes())
    session = Session.open(old)
    rename(session, "x")
    assert old.read_bytes().startswith(b'{"type":"session","version":3')
    session.close()


@pytest.mark.parametrize("deep", ["[" * 1_001 + "]" * 1_001, '{"a":' * 1_001 + "1" + "}" * 1_001])
def test_what_is_nested_deeply_is_kept(tmp_path: Path, deep: str) -> None:
    """Such a value can be decoded; comparing it as it is goes beyond the depth that Python takes."""
    path = tmp_path / "deep.jsonl"
    path.write_text("\n".join([HEADER[:-1] + ',"version":2}', HOOK, NEXT[:-1] + ',"more":' + deep + "}", ""]))
    opened = Session.open(path)
    try:
        rename(opened, "a name", NOON)
    finally:
        opened.close()
    lines = path.read_text().split("\n")
    assert deep in lines[2]
    assert "a name" in lines[3]


def test_a_line_that_only_looked_whole_is_kept_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    broken = HOOK.replace("hookMessage", "user")[:-2] + ",}}"
    path.write_text(
        f'{{"type":"session","version":2,"id":"a","timestamp":"t","cwd":"/"}}\n{broken}\n{NEXT}\n'
    )
    session = Session.open(path)
    rename(session, "x")
    assert path.read_text().split("\n")[1:3] == [broken, NEXT]
    assert session.body(0) is None
    session.close()


def test_a_dry_run_touches_nothing(session: Session, old: Path) -> None:
    before = old.read_bytes()
    planned = move(session, 0, Writing(dry_run=True))
    assert "migrates" in [remark.code for remark in planned.remarks]
    assert old.read_bytes() == before
    assert not backup_folder().exists()


def test_what_stops_it_leaves_no_trace(session: Session, old: Path) -> None:
    before = old.read_bytes()
    backup_folder().parent.mkdir(parents=True)
    backup_folder().write_text("a file where the folder should be")
    with pytest.raises(Refused, match="cannot migrate"):
        move(session, 0)
    assert old.read_bytes() == before
    assert [path.name for path in old.parent.iterdir()] == ["old.jsonl"]
    backup_folder().unlink()

    os.link(old, old.with_name("second name"))
    session.refresh()
    with pytest.raises(Refused, match="hard links"):
        move(session, 0)
    assert old.read_bytes() == before
    old.with_name("second name").unlink()
    session.refresh()
    assert move(session, 0).backup is not None


def test_a_file_that_changes_meanwhile_is_left_alone(
    session: Session, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pi appends after the new file was written and before it takes the name."""
    from leafward.session.journal import migration as migrate

    verify = migrate._verify

    def then_pi_writes(opened: Session, draft: Path) -> None:
        verify(opened, draft)
        with old.open("ab") as file:
            file.write(b"}\n")

    monkeypatch.setattr(migrate, "_verify", then_pi_writes)
    before = old.read_bytes()
    with pytest.raises(Refused, match="grew by 1 entry"):
        move(session, 0)
    assert old.read_bytes() == before + b"}\n"
    assert [path.name for path in old.parent.iterdir()] == ["old.jsonl"]
    assert list(backup_folder().iterdir()) == []


SMALL = Path(__file__).parents[2] / "data" / "pi" / "sessions"


@pytest.mark.parametrize("name", ["version-1", "version-2"])
def test_small_sessions_stay_what_they_were(tmp_path: Path, name: str) -> None:
    _stays_what_it_was(SMALL / f"{name}.jsonl", tmp_path)


@pytest.mark.parametrize("name", ["large-session", "before-compaction"])
def test_real_sessions_stay_what_they_were(corpora: Path, tmp_path: Path, name: str) -> None:
    _stays_what_it_was(corpora / "pi" / f"{name}.jsonl", tmp_path)


def _stays_what_it_was(source: Path, folder: Path) -> None:
    path = folder / source.name
    shutil.copyfile(source, path)
    session = Session.open(path)
    tree, context = shown(session), list(context_at(session).messages)
    done = rename(session, "x")
    assert done.backup is not None
    assert done.backup.read_bytes() == source.read_bytes()
    again = Session.open(path)
    assert again.version == 3
    assert again.columns.damage == {}
    assert shown(again)[:-1] == tree
    assert list(context_at(again).messages) == context
    session.close()
    again.close()


def test_a_backup_has_its_name_when_it_is_whole(
    session: Session, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle, also where nothing can be removed any more, no half copy looks like a backup."""
    before = old.read_bytes()

    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        patched.setattr(Path, "unlink", failing)
        with pytest.raises(Refused, match=r"^cannot migrate old.jsonl: Input/output error$"):
            move(session, 0)
    assert old.read_bytes() == before
    assert [is_draft(path.name) for path in backup_folder().iterdir()] == [True]


def test_a_migration_that_the_disk_does_not_confirm_is_said(
    session: Session, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_folder: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = old.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("leafward.session.journal.migration.sync_folder", failing)
        with pytest.raises(
            Refused, match=r"^old.jsonl was migrated, but the disk does not confirm it: Input"
        ):
            move(session, 0)
    assert session.version == 3
    assert [path.read_bytes() for path in backup_folder().iterdir()] == [before]
    assert move(session, 0).changed
