"""`audit`, `keep --sanitised` and `diff --patch --redact`: where secrets lie, never what they are, and copies without them."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from leafward.agents.recognition import agent_of
from leafward.base.errors import NotASession
from leafward.export import audit as audits
from leafward.export import clean_copy
from leafward.redaction.redaction import Redactor
from tests.foreign_stores import AGENTS, make
from tests.opencode_store import Conversation, Database, said
from tests.pi_file import HEADER, PiFile
from tests.planted import planted
from tests.untouched import contents

if TYPE_CHECKING:
    from leafward.session.session import Session
    from tests.cli.conftest import Run
    from tests.foreign_stores import Store

KEY = "sk-proj-" + "aB3" * 12
TOKEN = "ghp_" + "x9Yz" * 9


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    file = PiFile(tmp_path / "sessions" / "s.jsonl")
    file.user(f"my key is {KEY}, keep it")
    file.reply("I will")
    file.user(f"again {KEY}, and {TOKEN}")
    file.reply("nothing here")
    return file.path


@pytest.fixture
def copied(secretive: Path) -> Path:
    other = secretive.with_name("t.jsonl")
    other.write_bytes(secretive.read_bytes())
    return other


@pytest.mark.parametrize("column", ["revert", "summary_diffs", "permission", "share_url"])
def test_what_opencode_stores_of_a_session_as_a_whole_is_searched(
    run: Run, tmp_path: Path, column: str
) -> None:
    talk = Conversation()
    talk.message("user", [said("Prune the pear trees")])
    path = Database(tmp_path / "opencode").write(talk)
    stored = KEY if column == "share_url" else json.dumps([{"patch": f"+key={KEY}\n", "pattern": "*"}])
    with closing(sqlite3.connect(path.parent)) as base, base:
        if column not in {row[1] for row in base.execute("PRAGMA table_info(session)")}:
            base.execute(f"ALTER TABLE session ADD COLUMN {column} TEXT")
        base.execute(f"UPDATE session SET {column} = ?", (stored,))
    outcome = run("audit", path, "--json")
    assert [one["entry"] for one in json.loads(outcome.out)["secrets"]] == [None]
    assert KEY not in outcome.out


class TestAudit:
    def test_places_are_listed_and_no_secret_is_shown(self, run: Run, secretive: Path) -> None:
        for arguments in (("audit", secretive.parent), ("audit", secretive.parent, "--json")):
            outcome = run(*arguments)
            assert (outcome.code, outcome.err) == (0, "")
            for secret in (KEY, TOKEN):
                pieces = [secret[at : at + 8] for at in range(len(secret) - 8)]
                assert not [
                    piece
                    for piece in pieces
                    if piece in outcome.out and len(set(piece)) > 3 and piece not in str(secretive)
                ]
        assert "openai key" in run("audit", secretive.parent).out

    def test_a_secret_in_the_name_of_a_folder_or_an_entry_is_not_shown(
        self, done: Run, tmp_path: Path
    ) -> None:
        file = PiFile(tmp_path / f"{TOKEN}.jsonl", {**HEADER, "id": TOKEN, "cwd": f"/w/{TOKEN}"})
        file.raw(json.dumps({"type": "message", "id": TOKEN, "message": {"role": "user", "content": TOKEN}}))
        for options in ((), ("--json",)):
            out = done("audit", file.path, *options).out
            assert "github token" in out
            assert TOKEN[4:] not in out

    def test_the_same_secret_has_the_same_number_everywhere(
        self, done: Run, secretive: Path, copied: Path
    ) -> None:
        document = done("audit", secretive.parent, "--json").document
        found = [(one["secret"], one["kind"], one["entry"]) for one in document["secrets"]]
        assert (
            found
            == [
                (1, "openai key", "00000001"),
                (1, "openai key", "00000003"),
                (2, "github token", "00000003"),
            ]
            * 2
        )
        assert {one["path"] for one in document["secrets"]} == {str(secretive), str(copied)}
        assert document["totals"] == {"github token": 1, "openai key": 1}
        assert document["sessions"] == {"total": 2, "searched": 2, "with_secrets": 2}
        assert all(one["time"] and one["agent"] == "pi" and "project" in one for one in document["secrets"])

    def test_it_is_narrowed(self, done: Run, secretive: Path) -> None:
        def kinds(*options: str) -> list[str]:
            return [
                one["kind"] for one in done("audit", secretive.parent, "--json", *options).document["secrets"]
            ]

        assert kinds("--kind", "github token") == ["github token"]
        assert kinds("--agent", "codex") == []
        assert kinds("--agent", "pi", "--project", "no such project") == []

    def test_a_kind_that_there_is_not_is_refused_with_the_nearest(
        self, done: Run, run: Run, secretive: Path
    ) -> None:
        """A misspelt kind is not told from a session without secrets otherwise."""
        outcome = run("audit", secretive.parent, "--kind", "GitHub-token")
        assert (outcome.code, outcome.out) == (2, "")
        said = " ".join(outcome.err.split())
        assert "no kind of secret is called 'GitHub-token'; the nearest: github token, " in said
        assert "--kind list" in said
        assert len(said) < 250
        listed = done("audit", "--kind", "list").out.splitlines()
        # Also kinds that were not found, of a provider's form and of a place.
        assert {"github token", "npm token", "private key", "cookie"} <= set(listed)
        assert done("audit", "--kind", "list", "--json").document["kinds"] == listed

    def test_a_kind_without_a_secret_is_said_with_those_that_are_there(
        self, done: Run, secretive: Path
    ) -> None:
        document = done(
            "audit", secretive.parent, "--kind", "npm token", "--kind", "openai key", "--json"
        ).document
        assert document["totals"] == {"openai key": 1}
        assert [one["text"] for one in document["diagnostics"]] == [
            "no secret of the kind 'npm token'; kinds found: 1 github token, 1 openai key"
        ]

    def test_nothing_found_is_said(self, done: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("hello")
        assert done("audit", file.path).out == "no secret found in 1 session\n"

    def test_stopped_it_says_what_was_found_so_far(
        self, run: Run, secretive: Path, copied: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        really = audits.Audit._session
        opened: list[str] = []

        def one_only(self: audits.Audit, card: object, session: Session) -> object:
            if opened:
                raise KeyboardInterrupt
            opened.append(str(session.path))
            return really(self, card, session)  # type: ignore[arg-type]

        monkeypatch.setattr(audits.Audit, "_session", one_only)
        outcome = run("audit", secretive.parent, "--json")
        assert outcome.code == 130
        assert len(outcome.document["secrets"]) == 3
        assert outcome.document["diagnostics"] == [
            {"code": "stopped", "text": "stopped: 1 session not searched"}
        ]

    def test_what_cannot_be_read_is_named(
        self, run: Run, secretive: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def gone(_self: audits.Audit, _card: object, _session: Session) -> object:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(audits.Audit, "_session", gone)
        outcome = run("audit", secretive)
        assert (outcome.code, outcome.out) == (0, "no secret found in 0 sessions\n")
        assert outcome.err == f"leafward: {secretive}: Input/output error\n"

    def test_a_session_that_the_list_cannot_read_is_named_each_time(self, run: Run) -> None:
        file = Path.home() / ".pi/agent/sessions/--w--/s.jsonl"
        file.parent.mkdir(parents=True)
        file.symlink_to(file.parent / "gone")
        for _ in range(2):
            outcome = run("audit")
            assert outcome.out == "no secret found in 0 sessions\n"
            assert outcome.err == f"leafward: {file}: cannot read: No such file or directory\n"

    def test_a_path_is_named_once(self, run: Run, secretive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def closed(_self: audits.Audit, _card: object, _session: Session) -> object:
            raise NotASession(f"cannot read {secretive}: Permission denied")

        monkeypatch.setattr(audits.Audit, "_session", closed)
        assert run("audit", secretive).err == f"leafward: cannot read {secretive}: Permission denied\n"

    @pytest.mark.parametrize("field", ["title", "slug", "share_url"])
    def test_a_secret_in_the_row_of_an_opencode_session_is_found(
        self, done: Run, tmp_path: Path, field: str
    ) -> None:
        foreign = make("opencode", tmp_path / "store")
        with closing(sqlite3.connect(next(foreign.root.rglob("*.db")))) as base:
            base.execute(f"UPDATE session SET {field} = ?", (f"key {KEY}",))
            base.commit()
        document = done("audit", foreign.root, "--json").document
        assert [(one["kind"], one["entry"]) for one in document["secrets"]] == [("openai key", None)]

    def test_sessions_of_every_agent_are_looked_through(self, done: Run, foreign: Store) -> None:
        foreign.grow(f"my key is {KEY}, isn't it")
        document = done("audit", foreign.root, "--json").document
        assert {(one["kind"], one["agent"]) for one in document["secrets"]} == {("openai key", foreign.agent)}
        assert all(one["entry"] for one in document["secrets"])

    def test_it_agrees_with_every_export(self, done: Run, run: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        for one in planted(1, 31)[::6]:
            file.user(one.text)
        listed = len({one["secret"] for one in done("audit", file.path, "--json").document["secrets"]})
        counts = {
            form: sum(run("export", file.path, "--format", form, "--json").document["redacted"].values())
            for form in ("md", "html", "json")
        }
        assert counts == dict.fromkeys(counts, listed)


class TestSanitised:
    def test_a_copy_holds_no_secret_and_is_read_like_the_original(
        self, run: Run, done: Run, secretive: Path, tmp_path: Path
    ) -> None:
        before = secretive.read_bytes()
        outcome = run("keep", secretive, "--sanitised", tmp_path / "clean")
        copy = tmp_path / "clean" / "sessions" / "s.jsonl"
        assert outcome.code == 0
        assert outcome.err == "leafward: redacted 1 github token, 1 openai key\n"
        assert str(copy) in outcome.out
        assert secretive.read_bytes() == before
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert (KEY not in copy.read_text(), TOKEN not in copy.read_text()) == (True, True)
        assert done("audit", copy).out == "no secret found in 1 session\n"
        theirs, ours = (done("tree", path, "--json").document["entries"] for path in (secretive, copy))
        assert [one["id"] for one in ours] == [one["id"] for one in theirs]
        lines = list(zip(before.split(b"\n"), copy.read_bytes().split(b"\n"), strict=True))
        assert [one == other for one, other in lines] == [True, False, True, False, True, True]

    def test_of_every_agent(self, run: Run, done: Run, foreign: Store, tmp_path: Path) -> None:
        foreign.grow(f"my key is {KEY}, isn't it")
        outcome = run("keep", foreign.path, "--sanitised", tmp_path / "clean", "--json")
        assert outcome.code == 0, outcome.err
        copy = Path(outcome.document["path"])
        assert outcome.document["redacted"] == {"openai key": 1}
        assert not [
            file
            for file in (tmp_path / "clean").rglob("*")
            if file.is_file() and KEY.encode() in file.read_bytes()
        ]
        theirs, ours = agent_of(foreign.path).open(foreign.path), agent_of(copy).open(copy)
        try:
            assert len(ours) == len(theirs)
            assert agent_of(copy).name == foreign.agent
        finally:
            theirs.close()
            ours.close()

    def test_a_dry_run_writes_nothing(self, run: Run, foreign: Store, tmp_path: Path) -> None:
        foreign.grow(f"my key is {KEY}, isn't it")
        outcome = run("keep", foreign.path, "--sanitised", tmp_path / "clean", "--dry-run", "--json")
        assert outcome.document["redacted"] == {"openai key": 1}
        assert not (tmp_path / "clean").exists()

    def test_what_is_there_is_not_replaced(self, run: Run, secretive: Path, tmp_path: Path) -> None:
        copy = tmp_path / "clean" / "sessions" / "s.jsonl"
        copy.parent.mkdir(parents=True)
        copy.write_text("mine")
        before = contents(tmp_path)
        outcome = run("keep", secretive, "--sanitised", tmp_path / "clean")
        assert (outcome.code, outcome.err) == (1, f"leafward: a file of that name exists: {copy}\n")
        assert contents(tmp_path) == before

    def test_a_failed_write_leaves_nothing(
        self, run: Run, secretive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        outcome = run("keep", secretive, "--sanitised", tmp_path / "clean")
        assert outcome.code == 1
        assert "No space left on device" in outcome.err
        assert not [file for file in (tmp_path / "clean").rglob("*") if file.is_file()]

    def test_lines_that_are_no_entries_are_cleaned_too(
        self, run: Run, secretive: Path, tmp_path: Path
    ) -> None:
        with secretive.open("ab") as file:
            file.write(
                f'{{"broken": "{TOKEN}'.encode() + b"\xff\xfe\n" + f'["{KEY}"]\n"\\ud800 {KEY}"\n'.encode()
            )
        assert run("keep", secretive, "--sanitised", tmp_path / "clean").code == 0
        copy = (tmp_path / "clean" / "sessions" / "s.jsonl").read_bytes()
        assert (KEY.encode() in copy, TOKEN.encode() in copy, b"\xff\xfe" in copy) == (False, False, True)


class TestPatch:
    @pytest.fixture
    def edited(self, tmp_path: Path) -> Path:
        file = PiFile(tmp_path / "s.jsonl")
        prompt = file.user("write it")
        for name in ("a", "b"):
            call = {
                "type": "toolCall",
                "id": f"c{name}",
                "name": "write",
                "arguments": {"path": f"{name}.env", "content": f"A=1\nTOKEN={TOKEN}\nB=2\n"},
            }
            file.entry(
                "message",
                prompt,
                message={
                    "role": "assistant",
                    "content": [call],
                    "stopReason": "toolUse",
                    "timestamp": 1,
                    "provider": "p",
                    "model": "m",
                    "api": "a",
                },
            )
            file.result(f"c{name}")
        return file.path

    def test_that_it_is_not_redacted_is_said(self, run: Run, edited: Path) -> None:
        outcome = run("diff", edited, "#2", "#4", "--patch", "b")
        assert outcome.code == 0
        assert TOKEN in outcome.out
        assert "not redacted: the patch has 1 github token; --redact removes them" in outcome.err

    def test_redacted_it_has_as_many_lines(self, run: Run, edited: Path) -> None:
        plain = run("diff", edited, "#2", "#4", "--patch", "b")
        outcome = run("diff", edited, "#2", "#4", "--patch", "b", "--redact")
        assert outcome.out == plain.out.replace(TOKEN, "[redacted: github token]")
        assert "redacted 1 github token" in outcome.err

    def test_a_secret_that_only_the_prompt_names_is_redacted(self, run: Run, tmp_path: Path) -> None:
        bare = "q8ZtR4mLw2Pn6Vd9"
        file = PiFile(tmp_path / "s.jsonl")
        prompt = file.user(f"The admin password is {bare}")
        call = {"type": "toolCall", "id": "c", "name": "write", "arguments": {"path": "a", "content": bare}}
        reply = {"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 1}
        file.entry("message", message=reply | {"provider": "p", "model": "m", "api": "a"})
        end = file.result("c")
        other = file.entry("message", prompt, message={"role": "user", "content": "leave it", "timestamp": 1})
        outcome = run("diff", file.path, end, other, "--patch", "a", "--redact")
        assert outcome.code == 0
        assert bare not in outcome.out
        assert "+[redacted: " in outcome.out

    @pytest.mark.parametrize("done", [True, False])
    def test_a_secret_in_a_name_is_redacted_in_all_that_is_said_of_the_file(
        self, run: Run, tmp_path: Path, *, done: bool
    ) -> None:
        """A file that is taken as new, and one that is left out since nothing tells its content."""
        file = PiFile(tmp_path / "s.jsonl")
        prompt = file.user("write it")
        arguments = {"path": f"{TOKEN}/a.env", "content": "A=1\n"}
        if not done:
            arguments = {"path": f"{TOKEN}/a.env", "oldText": "A=1\n", "newText": "A=2\n"}
        call = {"type": "toolCall", "id": "c", "name": "write" if done else "edit", "arguments": arguments}
        reply = {"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 1}
        file.entry("message", message=reply | {"provider": "p", "model": "m", "api": "a"})
        end = file.result("c")
        other = file.entry("message", prompt, message={"role": "user", "content": "leave it", "timestamp": 1})
        for more in ((), ("--json",)):
            outcome = run("diff", file.path, end, other, "--patch", "a", "--redact", *more)
            assert TOKEN not in outcome.out + outcome.err
            assert "[redacted: github token]" in outcome.out + outcome.err

    def test_redact_goes_with_a_patch(self, run: Run, edited: Path) -> None:
        assert run("diff", edited, "#2", "#4", "--redact").code == 2


def test_a_database_keeps_no_freed_page_with_a_secret(tmp_path: Path, run: Run) -> None:
    foreign = make("opencode", tmp_path / "store")
    foreign.grow(f"{KEY} " * 400)
    outcome = run("keep", foreign.path, "--sanitised", tmp_path / "clean", "--json")
    [file] = outcome.document["files"]
    assert KEY.encode() not in Path(file).read_bytes()
    with sqlite3.connect(file) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
    assert json.loads(outcome.out)["redacted"] == {"openai key": 1}


def test_no_row_with_a_secret_is_ever_in_the_folder_to_share(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill before the rows are redacted would leave them there."""
    foreign = make("opencode", tmp_path / "store")
    foreign.grow(f"my key is {KEY}")
    redacted, seen = clean_copy._redact_rows, []

    def watched(path: Path) -> Redactor:
        seen.append((path.is_relative_to(tmp_path / "clean"), (tmp_path / "clean").exists()))
        assert KEY.encode() in path.read_bytes()
        return redacted(path)

    monkeypatch.setattr(clean_copy, "_redact_rows", watched)
    assert run("keep", foreign.path, "--sanitised", tmp_path / "clean").code == 0
    assert seen == [(False, False)]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_secret_that_one_entry_names_is_in_no_part_of_a_clean_copy(
    agent: str, tmp_path: Path, run: Run
) -> None:
    bare = "q8ZtR4mLw2Pn6Vd9"
    foreign = make(agent, tmp_path / "store")
    foreign.grow(f"we use {bare} here")
    foreign.grow(f"The admin password is {bare} and must not change")
    foreign.grow(f"use {bare} again")
    outcome = run("keep", foreign.path, "--sanitised", tmp_path / "clean", "--json")
    assert outcome.code == 0
    for file in outcome.document["files"]:
        assert bare.encode() not in Path(file).read_bytes()


def test_a_compressed_file_is_cleaned_and_compressed_again() -> None:
    lines = f'{{"a":1}}\n{{"key":"{KEY}"}}\n'.encode()
    redactor = Redactor()
    made = clean_copy._redacted("rollout.jsonl.zst", zstd.compress(lines), redactor)
    assert made is not None
    assert zstd.decompress(made) == b'{"a":1}\n{"key":"[redacted: openai key]"}\n'
    untouched = zstd.compress(b'{"a":1}\n')
    assert clean_copy._redacted("rollout.jsonl.zst", untouched, redactor) == untouched
    assert clean_copy._redacted("picture.png", b"\x89PNG\0\0", redactor) is None
