"""Work of the core in counts: what may not depend on the machine is asserted here instead of timed."""

from __future__ import annotations

import builtins
import io
import json
import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.compaction.measure.measure import measure
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import label
from leafward.session.lines.scan import CHUNK, Scan
from leafward.session.native_file import NativeFile
from leafward.session.session import Session
from leafward.session.tree.tree import SessionTree
from leafward.session.watched_file import SessionFile
from leafward_tui.explorer.model.overview import Overview
from tests.bench.generate import lines, write_session
from tests.claude_transcript import Transcript
from tests.sources import native

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path


ENTRIES = 3000


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "session.jsonl"
    write_session(path, ENTRIES, compact_every=1000)
    assert path.stat().st_size > 3 * CHUNK
    return path


@pytest.fixture
def copied(generated: Path, tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(generated.read_bytes())
    return path


class Counting(io.FileIO):
    """A file that counts the bytes it hands out."""

    taken = 0

    def readinto(self, buffer: Any) -> int:
        got = super().readinto(buffer) or 0
        self.taken += got
        return got


def appended(path: Path, count: int, seed: int = 99) -> int:
    """Appends entries behind the last one; returns their bytes."""
    with closing(Session.open(path)) as session:
        leaf = session.columns.id(session.leaf)
    total = 0
    with path.open("ab") as file:
        for line in list(lines(count, seed=seed, branch_every=0, compact_every=0))[1:]:
            entry = json.loads(line)
            entry["parentId"], leaf = leaf, entry["id"]
            total += file.write(json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
    return total


class TestScan:
    def test_only_the_header_is_decoded_of_what_pi_writes(self, generated: Path) -> None:
        scan = Scan()
        with generated.open("rb") as file:
            assert scan.advance(file) == ENTRIES
        assert {Kind.CUSTOM, Kind.LABEL, Kind.COMPACTION} <= set(scan.columns.kind)
        assert scan.decoded == 1

    def test_odd_shapes_are_decoded_and_nothing_around_them(self, copied: Path) -> None:
        spaced = json.dumps(
            {"type": "message", "id": "aaaaaaaa", "parentId": None, "message": {"role": "user"}}
        )
        escaped = (
            '{"type":"message","id":"\\u0061bcdef0","parentId":null,"message":{"role":"user","content":"x"}}'
        )
        with copied.open("a", encoding="utf-8") as file:
            file.write(f"{spaced}\nnonsense\n{escaped}\n")
        scan = Scan()
        with copied.open("rb") as file:
            scan.advance(file)
        assert scan.decoded == 1 + 3

    def test_every_byte_is_read_once(self, generated: Path) -> None:
        scan = Scan()
        with Counting(generated) as file:
            scan.advance(file)
            assert file.taken == generated.stat().st_size


class TestSession:
    def test_opening_decodes_marks_and_the_last_line(self, generated: Path, decoded: Counter[str]) -> None:
        with closing(Session.open(generated)) as session:
            kinds = session.columns.kind
            marks = kinds.count(Kind.LABEL) + bool(kinds.count(Kind.SESSION_INFO))
            assert marks
            assert decoded["lines"] <= marks + 1

    @pytest.mark.parametrize("count", [1, 40])
    def test_following_reads_what_was_appended(self, count: int, copied: Path) -> None:
        with closing(Session.open(copied)) as session:
            native(session).file.handle.close()
            native(session).file.handle = file = Counting(copied)
            size = appended(copied, count)
            growth = session.refresh()
            assert growth is not None
            assert (growth.added, growth.replaced) == (count, False)
            assert file.taken == size
            assert session.scan.decoded == 1

    def test_a_torn_line_is_read_again_and_no_more(self, copied: Path) -> None:
        with closing(Session.open(copied)) as session:
            size = appended(copied, 1)
            whole = copied.read_bytes()
            half = size // 2
            copied.write_bytes(whole[:-half])
            session.refresh()
            native(session).file.handle.close()
            native(session).file.handle = file = Counting(copied)
            with copied.open("ab") as rest:
                rest.write(whole[-half:])
            growth = session.refresh()
            assert growth is not None
            assert (growth.added, growth.replaced) == (1, False)
            assert file.taken == size

    def test_nothing_is_read_where_nothing_changed(self, copied: Path, decoded: Counter[str]) -> None:
        with closing(Session.open(copied)) as session:
            native(session).file.handle.close()
            native(session).file.handle = file = Counting(copied)
            decoded.clear()
            assert not session.changed_on_disk()
            assert session.refresh() is None
            assert (file.taken, decoded["lines"]) == (0, 0)

    def test_our_own_write_reads_one_line(self, copied: Path) -> None:
        with closing(Session.open(copied)) as session:
            before = copied.stat().st_size
            label(session, session.leaf, "here")
            native(session).file.handle.close()
            native(session).file.handle = file = Counting(copied)
            session.refresh()
            assert file.taken <= copied.stat().st_size - before

    def test_a_context_decodes_what_it_holds(self, generated: Path, decoded: Counter[str]) -> None:
        with closing(Session.open(generated)) as session:
            decoded.clear()
            context = context_at(session)
            assert context.compaction >= 0
            # Once each, and again: compaction, last reply with usage, model and thinking level.
            assert decoded["lines"] <= len(context.messages) + 5
            assert len(context.messages) < len(session) // 2


class TestBodies:
    """Each read lets another thread have the interpreter, and takes it back before that one is awake."""

    @pytest.fixture
    def reads(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Bytes of each read."""
        found: list[int] = []
        really = SessionFile.at

        def counting(file: SessionFile, offset: int, size: int) -> bytes:
            found.append(size)
            return really(file, offset, size)

        monkeypatch.setattr(SessionFile, "at", counting)
        return found

    def test_every_second_line_is_read_in_a_few_calls(self, generated: Path, reads: list[int]) -> None:
        with closing(Session.open(generated)) as session:
            reads.clear()
            wanted = range(0, ENTRIES, 2)
            assert [index for index, _ in session.bodies(wanted)] == list(wanted)
            assert len(reads) < len(wanted) / 50
            assert sum(reads) <= generated.stat().st_size

    def test_the_same_as_one_by_one(self, generated: Path, reads: list[int]) -> None:
        with closing(Session.open(generated)) as session:
            for wanted in ([5, 6, 9, 2, 2, 3], list(range(ENTRIES - 1, ENTRIES - 40, -1)), [0, ENTRIES - 1]):
                assert list(session.bodies(wanted)) == [(index, session.body(index)) for index in wanted]

    def test_what_lies_far_apart_is_not_read_along(self, generated: Path, reads: list[int]) -> None:
        with closing(Session.open(generated)) as session:
            reads.clear()
            wanted = range(0, ENTRIES, 200)
            assert len(list(session.bodies(wanted))) == len(wanted)
            assert len(reads) == len(wanted)
            assert sum(reads) < generated.stat().st_size / 20


@pytest.fixture
def opened_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that are opened from now on, however that is done."""
    found: list[str] = []

    def watch(module: Any, name: str) -> None:
        really = getattr(module, name)

        def watched(path: Any, *rest: Any, **named: Any) -> Any:
            if not isinstance(path, int):
                found.append(os.fspath(path))
            return really(path, *rest, **named)

        monkeypatch.setattr(module, name, watched)

    watch(builtins, "open")
    watch(io, "open")
    watch(os, "open")
    return found


class TestCatalogue:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Path:
        folder = tmp_path / "store" / "--home-ada-bench--"
        folder.mkdir(parents=True)
        for number in range(12):
            name = f"2026-01-{number + 1:02}T08-00-00-000Z_019a0000-0000-7000-8000-{number:012x}.jsonl"
            write_session(folder / name, 20 + number, seed=number, compact_every=0)
        return folder.parent

    def catalogue(self, store: Path) -> Catalogue:
        return Catalogue(Config(roots={"pi": (str(store),)}))

    def of_store(self, opened: list[str], store: Path) -> list[str]:
        return [path for path in opened if path.startswith(str(store)) and path.endswith(".jsonl")]

    def test_an_unchanged_store_opens_no_session(self, store: Path, opened_files: list[str]) -> None:
        first = self.catalogue(store)
        first.refresh()
        assert len(set(self.of_store(opened_files, store))) == 12
        opened_files.clear()
        again = self.catalogue(store)
        assert len(again.cards()) == 12
        again.refresh()
        assert opened_files, "the watch does not see the index being read"
        assert not self.of_store(opened_files, store)
        assert (again.work.looked_at, again.work.peeked, again.work.read_on, again.work.read_whole) == (
            12,
            0,
            0,
            0,
        )

    def test_a_grown_session_is_read_on_and_the_others_are_left(
        self, store: Path, opened_files: list[str]
    ) -> None:
        self.catalogue(store).refresh()
        grown = next(store.rglob("*.jsonl"))
        appended(grown, 3)
        opened_files.clear()
        again = self.catalogue(store)
        again.refresh()
        assert set(self.of_store(opened_files, store)) == {str(grown)}
        assert (again.work.peeked, again.work.read_on, again.work.read_whole) == (0, 1, 0)


HEAVY = {
    "asyncio",
    "litellm",
    "markdown_it",
    "pygments",
    "rich",
    "textual",
    "leafward_tui.app.app",
    "portalocker",
}


def modules_after(tmp_path: Path, arguments: list[str]) -> Iterator[str]:
    """Modules loaded when a command has ended."""
    told = tmp_path / "modules"
    statement = (
        "import sys\n"
        f"sys.argv = ['leafward', *{arguments!r}]\n"
        "from leafward_tui.__main__ import main\n"
        "code = main()\n"
        f"open({str(told)!r}, 'w').write('\\n'.join(sys.modules))\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", statement],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return iter(told.read_text().split("\n"))


class TestCommands:
    def test_help_loads_no_reader(self, tmp_path: Path) -> None:
        loaded = set(modules_after(tmp_path, ["--help"]))
        assert "leafward.cli.declarations.verbs" in loaded
        assert not loaded & HEAVY
        assert not loaded & {
            "leafward.session.lines.scan",
            "leafward.session.session",
            "leafward.catalogue.listing",
            "orjson",
            "tomllib",
        }

    def test_ls_loads_neither_screen_nor_writer(self, tmp_path: Path, generated: Path) -> None:
        loaded = set(modules_after(tmp_path, ["ls", str(generated.parent)]))
        assert "leafward.catalogue.listing" in loaded
        assert not loaded & HEAVY
        assert not loaded & {
            "leafward.export.documents.session_export",
            "leafward.session.journal.write",
            "leafward.context.price",
        }

    @pytest.mark.parametrize("verb", ["tree", "context", "show"])
    def test_reading_verbs_load_no_screen(self, verb: str, tmp_path: Path, generated: Path) -> None:
        loaded = set(modules_after(tmp_path, [verb, str(generated)]))
        assert "leafward.session.session" in loaded
        assert not loaded & HEAVY

    def test_inject_loads_nothing_that_lists_or_deletes_sessions(self, tmp_path: Path) -> None:
        talk = Transcript(tmp_path)
        talk.turn("Look at the pears", "Three of them.")
        loaded = set(modules_after(tmp_path, ["inject", str(talk.path)]))
        assert "leafward.agents.claude.transcript" in loaded
        assert not loaded & HEAVY
        assert not loaded & {
            "leafward.agents.claude.preview",
            "leafward.agents.claude.retention",
        }


def test_a_plan_decodes_each_message_of_its_context_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "path.jsonl"
    write_session(path, ENTRIES, branch_every=0, compact_every=0)
    given: list[int] = []
    real, real_stretches = NativeFile.bodies, NativeFile.stretches

    def bodies(self: NativeFile, entries: Any, *rest: Any) -> Iterator[Any]:
        for index, body in real(self, entries, *rest):
            given.append(index)
            yield index, body

    def stretches(self: NativeFile, entries: Any, most: int) -> Iterator[Any]:
        for run, block in real_stretches(self, entries, most):
            given.extend(run)
            yield run, block

    with closing(Session.open(path)) as session:
        monkeypatch.setattr(NativeFile, "bodies", bodies)
        monkeypatch.setattr(NativeFile, "stretches", stretches)
        measure(session)
    assert len(given) >= 0.9 * ENTRIES
    assert len(given) <= len(set(given)) + 20


def test_the_sizes_along_a_path_are_worked_out_without_walking_it_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked: list[int] = []
    real = SessionTree.runs_upwards

    def counting(self: SessionTree, index: int) -> Iterator[Any]:
        for run in real(self, index):
            walked.append(run.start)
            yield run

    monkeypatch.setattr(SessionTree, "runs_upwards", counting)
    found = []
    for entries in (ENTRIES, 2 * ENTRIES):
        path = tmp_path / f"{entries}.jsonl"
        write_session(path, entries, branch_every=8, compact_every=60)
        with closing(Session.open(path)) as session:
            metrics = EntryMetrics(session)
            metrics.fill(session, range(len(session)))
            walked.clear()
            assert Overview.of(session, metrics) is not None
            found.append(len(walked))
    assert found[1] < 3 * found[0], "twice the path, twice the work"
