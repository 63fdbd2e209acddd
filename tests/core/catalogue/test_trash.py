"""Sessions thrown away and brought back where a disk, a folder or a clock is in the way."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import NotFound, Refused
from leafward.base.paths import state_dir
from leafward.catalogue.trash import (
    bring_back,
    find_thrown,
    throw_away,
    thrown_away,
    trash_folder,
    without_note,
)
from leafward.doctor.store_problems import trash_problems
from tests.core.catalogued import listed
from tests.core.listed_sessions import Draft
from tests.disks import failing, small_disk

if TYPE_CHECKING:
    from leafward.catalogue.cards.card import Card


@pytest.fixture
def card(store: Path) -> Card:
    draft = Draft()
    draft.user("hello")
    path = draft.write(store / "a.jsonl")
    path.chmod(0o640)
    os.utime(path, ns=(10**18, 10**18))
    return listed(store).cards()[0]


@pytest.fixture
def two_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rename reaches the other disk, as the system says it."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "rename", refuse)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("two_disks")
def test_across_disks_the_copy_and_its_name_are_durable_before_the_source_goes(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done = Path(card.path), []
    before, content = path.stat(), path.read_bytes()
    sync, unlink = os.fsync, Path.unlink

    def synced(descriptor: int) -> None:
        sync(descriptor)
        mode = os.fstat(descriptor).st_mode
        done.append("folder" if stat.S_ISDIR(mode) else "file")

    def unlinked(self: Path, missing_ok: bool = False) -> None:
        if self == path:
            done.append("removed")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "unlink", unlinked)
    thrown = throw_away(card)
    # The note, its folder and that one's; the copy and its folder; then both folders of the move.
    assert done == ["file", "folder", "folder", "file", "folder", "removed", "folder", "folder"]
    assert (path.exists(), thrown.file.read_bytes()) == (False, content)
    assert names(thrown.file.parent) == ["a.jsonl", "note.json"]
    assert bring_back(thrown) == path
    now = path.stat()
    assert (path.read_bytes(), now.st_mtime_ns, stat.S_IMODE(now.st_mode)) == (
        content,
        before.st_mtime_ns,
        0o640,
    )
    assert os.listdir(path.parent) == ["a.jsonl"]
    assert thrown_away() == []


@pytest.mark.usefixtures("two_disks")
@pytest.mark.parametrize("call", ["write", "fsync", "utime", "chmod", "link"])
def test_a_copy_that_fails_is_cleared_away_and_the_folder_named(
    card: Card, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = Path(card.path)
    content = path.read_bytes()
    real = getattr(os, call)
    calls: list[object] = []

    def later(*args: object, **kwargs: object) -> Any:
        # The note is written first: with one write, and made durable with its two folders.
        calls.append(args)
        if len(calls) <= {"write": 1, "fsync": 3}.get(call, 0):
            return real(*args, **kwargs)
        return failing(errno.ENOSPC)()

    with monkeypatch.context() as patched:
        patched.setattr(os, call, later)
        if call == "link":
            patched.setattr(Path, "rename", failing(errno.ENOSPC))
        with pytest.raises(
            Refused,
            match=rf"^cannot write to {trash_folder()}.*: No space left on device; the session stays where it is$",
        ):
            throw_away(card)
    assert path.read_bytes() == content
    assert names(path.parent) == ["a.jsonl"]
    assert names(trash_folder()) == []
    assert throw_away(card).file.read_bytes() == content


@pytest.mark.usefixtures("two_disks")
def test_a_session_that_cannot_be_removed_stays_alone(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    path, unlink = Path(card.path), Path.unlink

    def kept(self: Path, missing_ok: bool = False) -> None:
        if self == path:
            failing(errno.EROFS)()
        unlink(self, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", kept)
        with pytest.raises(Refused, match=f"^cannot remove {path}: Read-only file system$"):
            throw_away(card)
    assert path.is_file()
    assert (thrown_away(), names(trash_folder())) == ([], [])


@pytest.mark.usefixtures("two_disks")
def test_an_undo_that_fails_leaves_nothing_in_the_store_and_can_be_tried_again(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(card.path)
    content = path.read_bytes()
    thrown = throw_away(card)
    path.parent.rmdir()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", failing(errno.ENOSPC))
        with pytest.raises(
            Refused,
            match=f"^cannot write to {path.parent}: No space left on device; the session stays where it is$",
        ):
            bring_back(thrown)
    assert not path.parent.exists(), "a folder that was made for it goes too"
    assert bring_back(find_thrown(card.id)).read_bytes() == content
    assert names(path.parent) == ["a.jsonl"]


@pytest.mark.usefixtures("two_disks")
def test_a_deletion_that_was_killed_between_copy_and_removal_can_be_undone(card: Card) -> None:
    """Both are there then; what the agent appended meanwhile is kept."""
    path = Path(card.path)
    content = path.read_bytes()
    throw_away(card)
    path.write_bytes(content + b'{"type":"message"}\n')
    assert bring_back(find_thrown(card.id)) == path
    assert path.read_bytes() == content + b'{"type":"message"}\n'
    assert thrown_away() == []


def test_a_trash_that_cannot_be_written_to_is_named(card: Card) -> None:
    state_dir().parent.mkdir(parents=True, exist_ok=True)
    state_dir().write_text("no folder")
    with pytest.raises(
        Refused,
        match=rf"^cannot write to the trash in {trash_folder()}: Not a directory; the session stays where it is$",
    ):
        throw_away(card)
    assert Path(card.path).is_file()


def test_a_full_trash_on_another_disk(card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(card.path)
    with path.open("ab") as file:
        file.write(b" " * 100_000 + b"\n")
    content = path.read_bytes()
    with small_disk(tmp_path / "disk") as disk:
        monkeypatch.setattr("leafward.catalogue.trash.state_dir", lambda: disk)
        with pytest.raises(
            Refused,
            match=rf"^cannot write to {disk}/trash/.*: No space left on device; the session stays where it is$",
        ):
            throw_away(card)
        assert names(disk) == []
        assert path.read_bytes() == content


def test_of_two_deletions_of_one_session_the_later_counts_whatever_the_clock_says(store: Path) -> None:
    for text, clock in (("first", 7_258_118_400.0), ("second", 0.0)):
        draft = Draft()
        draft.user(text)
        draft.write(store / "a.jsonl")
        throw_away(listed(store).cards()[0], clock)
    assert [one.title for one in thrown_away()] == ["second", "first"]
    assert bring_back(find_thrown(str(store / "a.jsonl"))).read_bytes().count(b"second") == 1


@pytest.mark.parametrize("note", [b"", b'{"id": "x"', b"\0" * 80, None])
def test_a_session_whose_note_is_damaged_is_told_of(card: Card, note: bytes | None) -> None:
    thrown = throw_away(card)
    place = thrown.file.parent / "note.json"
    place.unlink() if note is None else place.write_bytes(note)
    assert without_note() == [thrown.file]
    assert str(thrown.file) in next(trash_problems(without_note())).text
    with pytest.raises(NotFound, match=f"move {thrown.file} back by hand"):
        find_thrown(card.id)
    assert thrown.file.is_file()
