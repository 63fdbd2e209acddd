"""`keep`, `delete`, `archive` of whole sessions, `ls --totals`, `doctor --forget`."""

from __future__ import annotations

import json
import os
import stat
import time
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import config_path
from leafward.base.paths import (
    DRAFT_END,
    DRAFT_MARK,
    cache_dir,
    data_dir,
    imports_dir,
    kept_dir,
    make_private,
)
from leafward.catalogue.index import Index
from tests.acting import Acting, usage
from tests.opencode_store import Conversation, Database
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

CLAUDE_ID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def session(isolated_environment: Path) -> Path:
    folder = isolated_environment / ".pi" / "agent" / "sessions" / "--home-ada-orchard--"
    folder.mkdir(parents=True)
    file = PiFile(
        folder / "0_01a1fff0-4aff.jsonl", HEADER | {"id": "01a1fff0-4aff", "cwd": "/home/ada/orchard"}
    )
    file.user("Which unit?")
    file.reply("so")
    return file.path


@pytest.fixture
def transcript(isolated_environment: Path) -> Path:
    """A session of Claude Code that was last written to 28 days ago."""
    path = isolated_environment / ".claude" / "projects" / "-home-ada-orchard" / f"{CLAUDE_ID}.jsonl"
    path.parent.mkdir(parents=True)
    row = {
        "type": "user",
        "uuid": "00000000-0000-4000-8000-000000000001",
        "parentUuid": None,
        "sessionId": CLAUDE_ID,
        "cwd": "/home/ada/orchard",
        "timestamp": "2026-01-05T08:00:00.000Z",
        "message": {"role": "user", "content": "count the pears"},
    }
    path.write_text(json.dumps(row) + "\n")
    then = time.time() - 28 * 86_400 + 3600
    os.utime(path, (then, then))
    return path


def test_what_goes_soon_is_said_and_can_be_kept(done: Run, transcript: Path) -> None:
    [listed] = done("ls", "--json").document["sessions"]
    assert listed["kept"] is False
    assert listed["expires"] is not None
    assert "deleted in 2 days" in done("ls").out
    tried = done("keep", CLAUDE_ID[:8], "--dry-run", "--json").document
    assert (tried["dry_run"], tried["changed"], os.path.exists(tried["path"])) == (True, True, False)
    kept = done("keep", CLAUDE_ID[:8], "--json").document
    assert (kept["agent"], kept["copied"], kept["session"]) == ("claude", 1, str(transcript))
    assert stat.S_IMODE(os.stat(kept["path"]).st_mode) == 0o600
    assert "already kept" in done("keep", CLAUDE_ID[:8]).out
    assert done("ls").out.count("count the pears  kept") == 1
    transcript.unlink()
    [listed] = done("ls", "--json").document["sessions"]
    assert (listed["path"], listed["kept"], listed["expires"]) == (kept["path"], True, None)
    assert "count the pears" in done("show", CLAUDE_ID[:8], "#0").out, "every verb works on the copy"


def test_a_session_in_a_database_is_kept(done: Run, isolated_environment: Path) -> None:
    root = isolated_environment / ".local" / "share" / "opencode"
    talk = Conversation("ses_one")
    talk.turn("count the pears")
    path = Database(root).write(talk)
    kept = done("keep", "ses_one", "--json").document
    assert (kept["session"], kept["files"], kept["changed"]) == (str(path), [str(path)], True)
    assert done("keep", "ses_one").out.startswith("already kept, 1 session: ")
    for file in root.iterdir():
        file.unlink()
    [listed] = done("ls", "--json").document["sessions"]
    assert (listed["path"], listed["kept"], listed["title"]) == (kept["path"], True, "Prune the pear trees")
    assert done("doctor", "ses_one", "--json").document["session"] == kept["path"]


def test_a_copy_that_cannot_be_written_names_our_folder(run: Run, transcript: Path) -> None:
    data_dir().parent.mkdir(parents=True)
    data_dir().write_text("no folder")
    answer = run("keep", CLAUDE_ID[:8])
    assert answer.code == 1
    assert answer.err == f"leafward: cannot write to {data_dir()}: Not a directory; no copy was made\n"
    data_dir().unlink()
    folder = kept_dir() / "claude"
    folder.mkdir(parents=True)
    left = folder / f"{transcript.name}{DRAFT_MARK}7{DRAFT_END}"
    left.write_text("{")
    said = [
        problem for problem in run("doctor", "--json").document["problems"] if problem["code"] == "litter"
    ]
    assert [problem["text"] for problem in said] == [
        f"{left}: left by a write that was interrupted; it stays for now: it changed less than an hour ago"
    ]


def test_doctor_says_that_it_checked_a_kept_copy(done: Run, session: Path) -> None:
    assert "1 session checked, " in done("doctor").out
    done("keep", "01a1fff0")
    assert done("ls").out.endswith("\n1 session\n")
    assert "2 sessions checked (1 kept copy among them), " in done("doctor").out


def test_costs_of_a_fork_say_that_they_count_what_it_copied(done: Run, session: Path) -> None:
    header = HEADER | {"id": "01a1fff1", "parentSession": str(session)}
    fork = Acting(session.with_name("1_01a1fff1.jsonl"), header)
    fork.user("Which unit?")
    fork.said("so", tokens=usage(1000, input=1000, cost={"total": 0.5}))
    assert done("tree", "01a1fff1").out.splitlines()[1].endswith("$0.50, copied replies included")
    assert "in the session 1.0k tokens $0.50, copied replies included" in done("context", "01a1fff1").out
    assert "copied" not in done("context", "01a1fff0").out


def test_nothing_is_deleted_before_it_is_said_what(done: Run, session: Path) -> None:
    fork = PiFile(
        session.with_name("1_01a1fff1.jsonl"), HEADER | {"id": "01a1fff1", "parentSession": str(session)}
    )
    fork.user("and in metres?")
    said = done("delete", "01a1fff0", "--dry-run").out
    assert "would move to the trash: Which unit?   2 entries" in said
    assert "1 fork of it stays: and in metres?" in said
    assert session.is_file()
    gone = done("delete", "01a1fff0", "--json").document
    assert (gone["entries"], [one["id"] for one in gone["forks"]]) == (2, ["01a1fff1"])
    assert (session.exists(), os.path.isfile(gone["trash"])) == (False, True)
    assert gone["undo"] == ["leafward", "delete", "--undo", "01a1fff0-4aff"]
    assert done("delete", "--undo", "01a1fff0", "--dry-run", "--json").document["restored"] is False
    assert done("delete", "--undo", "01a1fff0", "--json").document["restored"] is True
    assert session.is_file()


def test_another_agents_session_is_refused_with_the_reason(run: Run, transcript: Path) -> None:
    refused = run("delete", CLAUDE_ID[:8])
    assert (refused.code, refused.out) == (1, "")
    assert "whose files Leafward never changes" in refused.err
    assert transcript.is_file()


def test_a_session_is_archived_without_an_entry(done: Run, session: Path) -> None:
    before = session.read_bytes()
    assert done("archive", "01a1fff0", "--dry-run").out.startswith("would archive the session")
    assert session.read_bytes() == before
    assert done("archive", "01a1fff0", "--json").document["archived"] is True
    assert done("ls", "--json").document["sessions"][0]["archived"] is True
    assert "unchanged: archived" in done("archive", "01a1fff0").out
    done("archive", "01a1fff0", "--undo")
    assert done("ls", "--json").document["sessions"][0]["archived"] is False
    assert done("log", "01a1fff0", "--json").document["ops"][0]["kind"] == "archive"
    assert done("undo", "01a1fff0").out.endswith(": the session is archived again\n")
    assert done("redo", "01a1fff0").out.endswith(": the session is unarchived\n")


@pytest.mark.parametrize("by", ["project", "agent", "day"])
def test_totals_are_the_sums_of_the_sessions(by: str, done: Run, session: Path, transcript: Path) -> None:
    out = done("ls", "--totals", "--by", by).out
    assert out.startswith(by)
    assert "2 sessions" in out
    document = done("ls", "--json").document
    sums = document["totals"]
    assert sums["sessions"] == 2
    assert sum(one["spent"] for one in document["sessions"]) == sums["tokens"]
    assert sum(one["tokens"] for one in sums["by_agent"]) == sums["tokens"]
    assert {one["agent"] for one in sums["by_project_and_agent"]} == {"pi", "claude"}


def test_the_index_is_forgotten_whatever_is_in_it(done: Run, session: Path) -> None:
    assert done("doctor", "--forget", "--json").document["forgotten"] is None
    done("ls")
    path = cache_dir() / "catalogue.json"
    tried = done("doctor", "--forget", "--dry-run", "--json").document["forgotten"]
    assert (tried["path"], tried["sessions"], path.exists()) == (str(path), 1, True)
    assert "1 session" in done("doctor", "--forget").out
    assert not path.exists()
    path.write_bytes(b"\x00garbage")
    dropped = done("doctor", "--forget", "--json").document["forgotten"]
    assert (dropped["sessions"], path.exists()) == (None, False)
    assert dropped["damaged"]
    assert len(done("ls", "--json").document["sessions"]) == 1
    assert Index().rejected is None


def test_documents_left_for_an_import_are_said_and_removed(done: Run) -> None:
    left = make_private(imports_dir()) / "ses_one.json"
    left.write_bytes(b"{}")
    (problem,) = [
        one for one in done("doctor", "--json").document["problems"] if one["code"] == "import-left"
    ]
    assert str(left.parent) in problem["text"]
    assert done("doctor", "--forget", "--dry-run", "--json").document["imports"] == [str(left)]
    assert left.exists()
    assert "removed 1 document left for an import" in done("doctor", "--forget").out
    assert not left.exists()
    assert done("doctor", "--json").document["problems"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor", "--dry-run"),
        ("doctor", "x", "--forget"),
        ("doctor", "x", "--clear-litter"),
        ("doctor", "--forget", "--clear-litter"),
    ],
)
def test_forgetting_is_about_everything(arguments: tuple[str, ...], run: Run) -> None:
    assert run(*arguments).code == 2


def test_litter_is_named_and_cleared_when_asked(
    done: Run, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, young = (
        session.with_name(f"{session.name}.leafward-{name}.tmp") for name in ("0123abcd", "4567abcd")
    )
    for path in (old, young):
        path.write_bytes(b"{")
    now = young.stat().st_ctime + 3600
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: now)
    os.utime(young, (2**32, 2**32))
    [first, second] = [
        one for one in done("doctor", "--json").document["problems"] if one["code"] == "litter"
    ]
    assert first["text"] == (
        f"{old}: left by a write that was interrupted; `leafward doctor --clear-litter` removes it"
    )
    assert "its time of change is in the future" in second["text"]
    tried = done("doctor", "--clear-litter", "--dry-run", "--json").document
    assert tried["cleared"] == [{"path": str(old), "bytes": 1}]
    assert old.is_file()
    said = done("doctor", "--clear-litter").out
    assert f"removed {old}, 1 byte" in said
    assert f"stays: {young}" in said
    assert (old.exists(), young.exists(), session.is_file()) == (False, True, True)
    young.unlink()
    assert done("doctor", "--clear-litter").out == "nothing to clear: no interrupted write left files\n"


def test_of_much_litter_the_first_is_named_and_the_rest_counted(
    done: Run, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        session.with_name(f"{session.name}.leafward-{number:08x}.tmp").write_bytes(b"{")
    now = session.stat().st_ctime + 3600
    monkeypatch.setattr("leafward.doctor.litter.time.time", lambda: now)
    lines = [line for line in done("doctor").out.splitlines() if line.startswith("! litter")]
    assert len(lines) == 6
    assert lines[-1].endswith("7 more; --json lists all")
    every = [one for one in done("doctor", "--json").document["problems"] if one["code"] == "litter"]
    assert len(every) == 12


def test_excluded_folders_are_counted_and_nothing_else(done: Run, run: Run, session: Path) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text('exclude = ["/home/ada/orchard"]\n')
    document = done("ls", "--json").document
    assert (document["sessions"], document["excluded"], document["totals"]["sessions"]) == ([], 1, 0)
    assert done("audit", "--json").document["excluded"] == 1
    for verb in (("ls",), ("ls", "--totals"), ("audit",), ("doctor",)):
        assert "1 session excluded by the configuration" in done(*verb).out.splitlines(), verb
    checked = done("doctor", "--json").document
    assert (checked["excluded"], checked["sessions"]) == (1, 0)
    assert run("show", "01a1fff0", "#0").code == 1, "it is not found by its id"
    assert done("show", session, "#0").code == 0, "but by its path"


@pytest.mark.parametrize("verb", ["keep", "delete"])
def test_what_is_no_session_is_said_once(run: Run, tmp_path: Path, verb: str) -> None:
    file = tmp_path / "s.jsonl"
    for text, said in (
        ("", "is empty"),
        ("pears\n", "is not a session: no line of it is a header or an entry"),
    ):
        file.write_text(text)
        assert run(verb, file).err == f"leafward: {file} {said}\n"
