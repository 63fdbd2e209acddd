"""New session files."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from leafward.base.durable import draft_name
from leafward.base.errors import Refused
from leafward.session.journal.creation import create
from leafward.session.journal.session_operations import move
from leafward.session.session import Session
from tests.disks import failing
from tests.pi_file import HEADER, conversation

if TYPE_CHECKING:
    from pathlib import Path

LINE = {"type": "message", "id": "0000000a", "parentId": None, "message": {"role": "user", "content": "ünï"}}


def test_a_new_file_is_private_and_opens(tmp_path: Path) -> None:
    path = create(tmp_path / "agent" / "--x--" / "new.jsonl", HEADER, [LINE, b'{"copied": "as it stands"}\n'])

    assert path.read_bytes().splitlines()[1:] == [
        '{"type":"message","id":"0000000a","parentId":null,"message":{"role":"user","content":"ünï"}}'.encode(),
        b'{"copied": "as it stands"}',
    ]
    modes = [stat.S_IMODE(part.stat().st_mode) for part in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    assert [entry.name for entry in path.parent.iterdir()] == ["new.jsonl"]
    session = Session.open(path)
    assert session.header == HEADER
    session.close()


def test_what_exists_is_left_as_it_is(tmp_path: Path) -> None:
    file = conversation(tmp_path / "there.jsonl")
    before = file.path.read_bytes()
    with pytest.raises(Refused, match="exists already"):
        create(file.path, HEADER)
    assert file.path.read_bytes() == before
    dangling = tmp_path / "dangling.jsonl"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused, match="exists already"):
        create(dangling, HEADER)
    assert not (tmp_path / "nowhere").exists()
    assert {entry.name for entry in tmp_path.iterdir()} == {"there.jsonl", "dangling.jsonl"}


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links."""
    monkeypatch.setattr(os, "link", failing(errno.EPERM))


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_nothing_is_replaced_either(tmp_path: Path) -> None:
    path = create(tmp_path / "new.jsonl", HEADER, [LINE])
    assert path.read_bytes().count(b"\n") == 2
    with pytest.raises(Refused, match="exists already"):
        create(path, HEADER)
    assert path.read_bytes().count(b"\n") == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["new.jsonl"]


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_a_name_that_cannot_be_given_is_not_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty file of that name would be in the way of the next try."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", failing(errno.EIO))
        with pytest.raises(Refused, match="Input/output error"):
            create(tmp_path / "new.jsonl", HEADER, [LINE])
    assert list(tmp_path.iterdir()) == []
    assert create(tmp_path / "new.jsonl", HEADER, [LINE]).is_file()


def test_a_name_that_the_disk_does_not_confirm_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("leafward.base.durable.sync_folder", failing(errno.EIO))
        with pytest.raises(Refused, match="Input/output error"):
            create(tmp_path / "new.jsonl", HEADER, [LINE])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_durable_by_itself_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            failing(errno.EINVAL)()
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    assert create(tmp_path / "new.jsonl", HEADER, [LINE]).is_file()


def test_a_line_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="JSON"):
        create(tmp_path / "new.jsonl", HEADER, [LINE, {"number": float("nan")}])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="nothing was written to"):
        create(tmp_path / "file" / "new.jsonl", HEADER)


def test_no_agent_scans_the_name_of_a_draft(tmp_path: Path) -> None:
    assert draft_name(tmp_path / "a.jsonl").suffix != ".jsonl"
    assert draft_name(tmp_path / "a.jsonl") != draft_name(tmp_path / "a.jsonl")


def test_a_new_file_can_be_written_to(tmp_path: Path) -> None:
    session = Session.open(create(tmp_path / "new.jsonl", HEADER, [LINE]))
    assert move(session, -1).changed
    session.close()
