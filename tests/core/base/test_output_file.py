"""Documents written to the place that a user names."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from leafward.base import output_file
from leafward.base.errors import LeafwardError
from leafward.base.output_file import descriptor_of, write_document, write_new_document

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices, pipes and links as POSIX has them")

TEXT = "# A title\n\nwords\n"


class TestFiles:
    def test_a_new_one_is_its_owners_only_and_nothing_lies_beside_it(self, tmp_path: Path) -> None:
        write_document(tmp_path / "out.md", TEXT)
        assert (tmp_path / "out.md").read_text() == TEXT
        assert stat.S_IMODE((tmp_path / "out.md").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["out.md"]

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
    def test_one_that_is_there_keeps_its_mode(self, tmp_path: Path, mode: int) -> None:
        target = tmp_path / "out.md"
        target.write_text("old")
        target.chmod(mode)
        write_document(target, TEXT)
        assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == (TEXT, mode)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
    def test_one_that_is_there_keeps_its_owner(self, tmp_path: Path) -> None:
        target = tmp_path / "out.md"
        target.write_text("old")
        os.chown(target, 4321, 4322)
        write_document(target, TEXT)
        found = target.stat()
        assert (target.read_text(), found.st_uid, found.st_gid) == (TEXT, 4321, 4322)

    def test_it_is_replaced_by_a_finished_one(self, tmp_path: Path) -> None:
        target = tmp_path / "out.md"
        target.write_text("old")
        with target.open() as reader:
            write_document(target, TEXT)
            assert reader.read() == "old"

    def test_a_full_disk_leaves_the_old_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target = tmp_path / "out.md"
        target.write_text("old")

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(LeafwardError, match="No space left"):
            write_document(target, TEXT)
        monkeypatch.undo()
        assert target.read_text() == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["out.md"]

    def test_the_content_is_durable_before_it_gets_the_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []
        fsync, replace = os.fsync, Path.replace

        def synced(handle: int) -> None:
            done.append("fsync")
            fsync(handle)

        def replaced(path: Path, target: Path) -> Path:
            done.append("rename")
            return replace(path, target)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "replace", replaced)
        write_document(tmp_path / "out.md", TEXT)
        assert done == ["fsync", "rename", "fsync"]

    def test_one_that_is_mounted_by_itself_is_written_into(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = tmp_path / "out.md"
        target.write_text("old " * 100)

        def mounted(*_: object) -> None:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

        monkeypatch.setattr(Path, "replace", mounted)
        write_document(target, TEXT)
        assert target.read_text() == TEXT
        assert [path.name for path in tmp_path.iterdir()] == ["out.md"]

    def test_a_name_as_long_as_the_system_allows(self, tmp_path: Path) -> None:
        target = tmp_path / ("x" * 255)
        write_document(target, TEXT)
        assert target.read_text() == TEXT

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
    def test_one_that_is_read_only_stays(self, tmp_path: Path) -> None:
        target = tmp_path / "out.md"
        target.write_text("old")
        target.chmod(0o444)
        with pytest.raises(LeafwardError, match="is read-only"):
            write_document(target, TEXT)
        assert target.read_text() == "old"

    def test_what_is_to_stay_is_refused_under_every_name(self, tmp_path: Path) -> None:
        session = tmp_path / "s.jsonl"
        session.write_text("session")
        (tmp_path / "link").symlink_to(session)
        (tmp_path / "twin").hardlink_to(session)
        for name in ("s.jsonl", "link", "twin"):
            with pytest.raises(LeafwardError, match="is the session itself"):
                write_document(tmp_path / name, TEXT, [session])
        assert session.read_text() == "session"

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(LeafwardError, match="is a folder; name a file in it"):
            write_document(tmp_path, TEXT)

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(LeafwardError, match=f"there is no folder {tmp_path}/missing"):
            write_document(tmp_path / "missing" / "out.md", TEXT)


class TestLinks:
    def test_a_link_stays_and_what_it_leads_to_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        target = tmp_path / "deep" / "real.md"
        target.write_text("old")
        target.chmod(0o640)
        (tmp_path / "second").symlink_to("deep/real.md")
        (tmp_path / "first").symlink_to("second")
        write_document(tmp_path / "first", TEXT)
        assert os.readlink(tmp_path / "first") == "second"
        assert os.readlink(tmp_path / "second") == "deep/real.md"
        assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == (TEXT, 0o640)
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["real.md"]

    def test_what_a_link_leads_to_is_made_where_it_is_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("later.md")
        write_document(tmp_path / "link", TEXT)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "later.md").read_text() == TEXT

    def test_links_in_a_circle_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(LeafwardError, match="Too many levels of symbolic links"):
            write_document(tmp_path / "a", TEXT)

    def test_a_link_to_a_device_stays(self, tmp_path: Path) -> None:
        (tmp_path / "nowhere").symlink_to(os.devnull)
        write_document(tmp_path / "nowhere", TEXT)
        assert (tmp_path / "nowhere").is_char_device()


class TestWhatIsNoFile:
    def test_a_device_is_written_into(self) -> None:
        write_document(Path(os.devnull), TEXT)
        assert Path(os.devnull).is_char_device()

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
    def test_a_device_that_takes_nothing_is_said(self) -> None:
        with pytest.raises(LeafwardError, match="/dev/full: No space left"):
            write_document(Path("/dev/full"), TEXT)

    def test_a_pipe_without_a_reader_is_refused_at_once(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(LeafwardError, match=f"nobody reads from the pipe {pipe}"):
            write_document(pipe, TEXT)
        assert pipe.is_fifo()

    def test_a_pipe_is_written_into_also_when_it_is_full_in_between(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        # A reader that does not read; the one that does waits in `open` for the writer.
        held = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        found: list[str] = []
        long = TEXT * 20_000

        def read() -> None:
            with open(pipe) as file:
                found.append(file.read())

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        write_document(pipe, long)
        reader.join(60)
        os.close(held)
        assert found == [long]
        assert pipe.is_fifo()

    def test_a_reader_that_goes_away_is_said(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        try:
            with pytest.raises(LeafwardError, match="went away before the end"):
                write_document(Path(f"/dev/fd/{writer}"), TEXT)
        finally:
            os.close(writer)

    def test_a_socket_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("s")
            with pytest.raises(LeafwardError, match="is a socket"):
                write_document(Path("s"), TEXT)
        assert Path("s").is_socket()


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
class TestDescriptors:
    @pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/{pid}/fd/{}"])
    def test_it_goes_where_the_descriptor_stands(self, form: str, tmp_path: Path) -> None:
        if form.startswith("/proc") and not os.path.isdir("/proc/self/fd"):
            pytest.skip("no /proc here")
        target = tmp_path / "out.md"
        with target.open("wb", buffering=0) as file:
            file.write(b"before ")
            write_document(Path(form.format(file.fileno(), pid=os.getpid())), "words")
            file.write(b" behind")
        assert target.read_text() == "before words behind"

    def test_a_link_to_one_is_one(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("/dev/stdout")
        assert descriptor_of(tmp_path / "link") == 1
        assert descriptor_of(Path("/dev/stderr")) == 2
        assert descriptor_of(tmp_path / "file") is None
        assert descriptor_of(Path(os.devnull)) is None

    def test_one_that_is_not_open_is_said(self) -> None:
        with pytest.raises(LeafwardError, match="/dev/fd/999 is not open"):
            write_document(Path("/dev/fd/999"), TEXT)


class TestNewFiles:
    def test_it_appears_whole_for_its_owner_only(self, tmp_path: Path) -> None:
        write_new_document(tmp_path / "out.md", TEXT)
        assert (tmp_path / "out.md").read_text() == TEXT
        assert stat.S_IMODE((tmp_path / "out.md").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["out.md"]

    def test_a_name_that_is_taken_is_left_alone_also_by_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("old")
        (tmp_path / "link").symlink_to("nowhere")
        for name in ("file", "link"):
            with pytest.raises(FileExistsError):
                write_new_document(tmp_path / name, TEXT)
        assert (tmp_path / "file").read_text() == "old"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(output_file, "give_name", full)
        with pytest.raises(LeafwardError, match="No space left"):
            write_new_document(tmp_path / "out.md", TEXT)
        assert list(tmp_path.iterdir()) == []
