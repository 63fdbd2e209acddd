"""Leftovers of killed writes: named wherever Leafward writes, cleared only where they are ours, old, and nobody's work."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

import pytest

from leafward.base.durable import draft_name
from leafward.base.paths import cache_dir, data_dir, draft_ending, is_draft, make_private, state_dir
from leafward.catalogue.index import Index
from leafward.doctor.litter import REST, CopyLimits, clear, litter
from leafward.export.demo import demo_session

LATER = REST + 60


def left(path: Path, text: str = "{") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(*stores: Path, after: float = LATER) -> dict[Path, str]:
    """Leftovers found that long from now, and why they stay."""
    return {one.path: one.stays for one in litter(map(str, stores), time.time() + after)}


@pytest.fixture
def an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time() + LATER
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: now)


def restored(number: int, state: str, size: int = 10) -> Path:
    """The record of a restore that copied one file."""
    place = state_dir() / "restores" / f"{number:06}"
    left(place / "000000", "x" * size)
    manifest = {"version": 1, "folder": "/p", "session": "s", "entry": "e", "time": "t", "state": state}
    left(place / "manifest.json", json.dumps({**manifest, "made": [], "changes": []}))
    return place


def test_copies_of_restores_go_when_they_are_old_or_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    first, halfway, last = restored(1, "done", 5_000), restored(2, "writing", 5_000), restored(3, "undone")
    now = time.time()

    def gone(after: float, days: float, size: int) -> list[Path]:
        found = litter((), now + after, CopyLimits(days * 86_400, size))
        return [one.path for one in found if not one.stays]

    assert gone(LATER, 90, 1 << 30) == []
    assert gone(LATER, 90, 6_000) == [first]
    assert gone(0, 90, 6_000) == [], "they are new"
    assert gone(91 * 86_400, 90, 1 << 30) == [first, last]
    assert litter((), now + 91 * 86_400) == [], "without limits they stay"
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: now + 91 * 86_400)
    cleared = list(clear(litter((), None, CopyLimits(90 * 86_400, 1 << 30))))
    assert [one.path for one in cleared if not one.stays] == [first, last]
    assert [one.exists() for one in (first, halfway, last)] == [False, True, False]


def test_a_restore_that_stopped_halfway_since_keeps_its_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    place = restored(1, "done")
    later = time.time() + 91 * 86_400
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: later)
    found = litter((), None, CopyLimits(1.0, 1))
    restored(1, "undoing")
    (stays,) = clear(found)
    assert (place.exists(), stays.stays) == (True, "it stopped halfway, and its undo needs it")


def test_it_is_found_wherever_leafward_writes(tmp_path: Path) -> None:
    store = tmp_path / "store"
    named = [
        left(store / "p" / "a.jsonl.leafward-0123456789ab.tmp"),
        left(store / "2026" / "11" / "22" / ".leafward-0123456789abcdef0123456789abcdef.tmp"),
        left(data_dir() / "kept" / "claude" / "p" / "a.jsonl.leafward-77.tmp"),
        left(data_dir() / "sidecar" / "codex" / "b.jsonl.leafward-0123456789ab.tmp"),
        left(cache_dir() / "catalogue.jsonabcd1234.new"),
        left(state_dir() / ".app.json.abcd1234"),
        left(state_dir() / "trash" / "1-aa" / "c.jsonl.leafward-0123456789ab.tmp"),
    ]
    for other in (
        store / "p" / "a.jsonl",
        store / "p" / "notes.tmp",
        store / "p" / "a.jsonl.part",
        store / ".app.json.abcd1234",
        store / "p" / ".git" / "x.leafward-0123456789ab.tmp",
        data_dir() / "kept" / "claude" / ".app.json.abcd1234",
        state_dir() / "backups" / "old.jsonl",
    ):
        left(other)
    assert found(store) == dict.fromkeys(sorted(named), "")


def test_what_moves_to_and_from_the_trash_left() -> None:
    """As earlier versions left it: a copy that was not finished, in the trash or, of an undo, in the store."""
    trash, store = state_dir() / "trash", state_dir().parent / "store"

    def noted(name: str) -> Path:
        return left(trash / name / "note.json", json.dumps({"path": str(store / f"{name}.jsonl")})).parent

    alone, begun, undone, whole = map(noted, ("alone", "begun", "undone", "whole"))
    half = left(begun / "begun.jsonl.part")
    for session in (undone / "undone.jsonl", whole / "whole.jsonl", store / "other.jsonl.part"):
        left(session)
    part = left(store / "undone.jsonl.part")
    assert found(store) == dict.fromkeys(sorted([alone, half, part]), "")


@pytest.mark.usefixtures("an_hour_later")
def test_what_is_old_and_ours_goes_and_nothing_else(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ours, theirs = (
        left(draft_name(store / "a.jsonl").with_name("a.leafward-0123456789ab.tmp")),
        left(store / "a.jsonl"),
    )
    folder = left(state_dir() / "trash" / "1-aa" / "note.json", '{"path": "/gone.jsonl"}').parent
    cleared = list(clear(litter([str(store)])))
    assert [(one.path, one.stays) for one in cleared] == [(folder, ""), (ours, "")]
    assert (ours.exists(), folder.exists(), theirs.exists()) == (False, False, True)
    assert litter([str(store)]) == []


def test_temporary_folders_of_ours_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a database may be of gigabytes, and holds what was said."""
    temporary = Path(tempfile.gettempdir())
    copy = left(temporary / "leafward-99-abcd_123" / "copy.sqlite").parent
    old = left(temporary / "leafward-abcd_123" / "copy.sqlite").parent
    demo = left(temporary / "leafward-demo-98-abcd_123" / "sessions" / "x" / "demo.jsonl").parents[2]
    versions = left(temporary / "leafward-bisect-96-abcd_123" / "2" / "src" / "a.py").parents[2]
    for other in (
        "leafward-bisect-96-abcd_124/notes.txt",
        "leafward-99-abcd_124/notes.txt",
        "leafward-notes/copy.sqlite",
        "leafward-sessions/sessions",
        "other-99-abcd_123/copy.sqlite",
    ):
        left(temporary / other)
    (temporary / "leafward-97-abcd_123").symlink_to(copy)
    running = {98}

    def kill(process: int, _signal: int) -> None:
        if process not in running:
            raise ProcessLookupError

    monkeypatch.setattr(os, "kill", kill)
    assert found() == {
        copy: "",
        old: "it changed less than a day ago",
        demo: "process 98 may still be writing it",
        versions: "",
    }
    running.clear()
    assert found(after=90_000) == {copy: "", old: "", demo: "", versions: ""}
    now = time.time() + 90_000
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: now)
    assert [one.stays for one in clear(litter([]))] == ["", "", "", ""]
    assert sorted(os.listdir(temporary)) == [
        "leafward-97-abcd_123",
        "leafward-99-abcd_124",
        "leafward-bisect-96-abcd_124",
        "leafward-notes",
        "leafward-sessions",
        "other-99-abcd_123",
    ]


def test_the_demo_and_copies_of_databases_name_who_made_them() -> None:
    with demo_session() as path:
        [folder] = [one for one in path.parents if one.name.startswith("leafward-demo-")]
        assert found(after=10**9)[folder] == f"process {os.getpid()} may still be writing it"
    assert not folder.exists()


def test_what_changed_within_the_hour_stays(tmp_path: Path) -> None:
    path = left(tmp_path / "a.leafward-0123456789ab.tmp")
    # A copy has the time of its original before it has its name.
    os.utime(path, (1, 1))
    assert found(tmp_path, after=REST - 60) == {path: "it changed less than an hour ago"}
    [kept] = clear(litter([str(tmp_path)]))
    assert (kept.stays, path.exists()) == ("it changed less than an hour ago", True)


@pytest.mark.parametrize("now", [0.0, 1.0])
def test_after_a_clock_that_was_set_back_nothing_is_known(tmp_path: Path, now: float) -> None:
    path = left(tmp_path / "a.leafward-0123456789ab.tmp")
    [one] = litter([str(tmp_path)], now)
    assert (one.path, one.stays) == (path, "its time of change is in the future")


def test_what_a_living_process_may_be_writing_stays_however_old_it_seems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that jumps ahead makes everything old."""
    path = left(draft_name(tmp_path / "a.jsonl"))
    assert found(tmp_path, after=10**9) == {path: f"process {os.getpid()} may still be writing it"}
    monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(ProcessLookupError()))
    assert found(tmp_path, after=10**9) == {path: ""}


@pytest.mark.usefixtures("an_hour_later")
def test_what_became_something_else_meanwhile_stays(tmp_path: Path) -> None:
    path = left(tmp_path / "a.leafward-0123456789ab.tmp")
    seen = litter([str(tmp_path)])
    left(path, "longer")
    assert [one.stays for one in clear(seen)] == ["it changed meanwhile"]
    path.unlink()
    path.symlink_to(left(tmp_path / "session.jsonl"))
    assert litter([str(tmp_path)]) == []
    list(clear(seen))
    assert (tmp_path / "session.jsonl").exists()


def test_another_users_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = left(tmp_path / "a.leafward-0123456789ab.tmp")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert found(tmp_path) == {path: "it belongs to another user"}


def test_every_draft_that_is_written_today_is_known() -> None:
    make_private(cache_dir())
    names = [draft_ending(), draft_name(cache_dir() / ("x" * 250)).name]
    assert all(is_draft(name) and len(name) < 60 for name in names)
    seen: list[str] = []
    index = Index()
    index.changed = True
    replace = os.replace

    def noted(source: str, target: Path) -> None:
        seen.append(os.path.basename(source))
        replace(source, target)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "replace", noted)
        index.save()
    assert [is_draft(name) for name in seen] == [True]
