"""`export`, `resume`, `demo` and `doctor` as commands."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from leafward.cli import application as opening
from leafward.cli.main import main
from tests.pi_file import HEADER, PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.conftest import Run

KEY = "sk-proj-" + "aB3" * 12


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"my key is {KEY}, keep it")
    file.reply("I will")
    return file.path


class TestExport:
    @pytest.mark.parametrize("form", ["md", "html", "json"])
    def test_secrets_are_redacted_and_that_is_said(self, form: str, run: Run, secretive: Path) -> None:
        outcome = run("export", secretive, "--format", form)
        assert outcome.code == 0
        assert KEY not in outcome.out
        assert "[redacted: openai key]" in outcome.out
        assert outcome.err == "leafward: redacted 1 openai key; --keep-secrets leaves them\n"

    def test_unless_they_are_to_stay(self, done: Run, secretive: Path) -> None:
        assert KEY in done("export", secretive, "--keep-secrets").out

    def test_to_a_file_of_ones_own(self, run: Run, secretive: Path, tmp_path: Path) -> None:
        target = tmp_path / "out.md"
        outcome = run("export", secretive, "-o", target)
        assert outcome.out == f"wrote {target}: 2 entries\n"
        assert target.read_text().startswith("# my key is \\[redacted: openai key\\]")
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.md", "s.jsonl"]

    @pytest.mark.skipif(os.name != "posix", reason="devices and links as POSIX has them")
    def test_what_stands_there_stays_what_it_is(self, run: Run, secretive: Path, tmp_path: Path) -> None:
        whole = run("export", secretive).out
        link, real, pipe = tmp_path / "link.md", tmp_path / "real.md", tmp_path / "pipe"
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to(real)
        os.mkfifo(pipe)
        assert run("export", secretive, "-o", link).code == 0
        assert link.is_symlink()
        assert (real.read_text(), stat.S_IMODE(real.stat().st_mode)) == (whole, 0o640)
        assert run("export", secretive, "-o", os.devnull).code == 0
        assert Path(os.devnull).is_char_device()
        refused = run("export", secretive, "-o", pipe)
        assert (refused.code, refused.err) == (
            1,
            f"leafward: nobody reads from the pipe {pipe}; start its reader first\n",
        )
        assert pipe.is_fifo()

    @pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="no /dev/fd here")
    @pytest.mark.parametrize("where", ["/dev/stdout", "/dev/fd/1", "-"])
    def test_stdout_by_a_name_of_its_own_gets_the_document_alone(
        self, where: str, run: Run, secretive: Path
    ) -> None:
        assert run("export", secretive, "-o", where).out == run("export", secretive).out

    def test_described(self, done: Run, secretive: Path, tmp_path: Path) -> None:
        described = done("export", secretive, "--json").document
        assert (described["format"], described["entries"], described["at"]) == ("md", 2, "00000002")
        assert described["redacted"] == {"openai key": 1}
        assert described["text"].startswith("# ")
        target = tmp_path / "x.html"
        described = done("export", secretive, "--format", "html", "-o", target, "--json").document
        assert (described["path"], described["text"]) == (str(target), None)

    @pytest.mark.parametrize("where", [".", "s.jsonl", "missing/out.md"])
    def test_where_it_cannot_be_written(
        self, where: str, run: Run, secretive: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(secretive.parent)
        before = secretive.read_bytes()
        outcome = run("export", secretive, "-o", where)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.count("\n") == 1
        assert secretive.read_bytes() == before

    def test_at_an_entry(self, done: Run, tmp_path: Path) -> None:
        path = conversation(tmp_path / "s.jsonl").path
        out = done("export", path, "--at", "00000002").out
        assert "answer 0" in out
        assert "question 1" not in out


@pytest.fixture
def resumable(tmp_path: Path) -> Path:
    project = tmp_path / "my project"
    project.mkdir()
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(project)})
    file.user("x")
    return file.path


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for pi")
class TestResume:
    @pytest.fixture
    def agent(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A `pi` that notes how it was called and fails with 3."""
        folder = tmp_path / "bin"
        folder.mkdir()
        script = folder / "pi"
        script.write_text(
            f"#!{sys.executable}\nimport json, os, signal, sys\nprint(json.dumps([sys.argv[1:], os.getcwd(), "
            "dict(os.environ), signal.getsignal(signal.SIGINT) == signal.SIG_IGN]))\nsys.exit(3)\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        return folder

    def test_runs_the_agent_where_the_session_belongs(
        self, run: Run, resumable: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LEAFWARD_DEBUG", "1")
        monkeypatch.setenv("PWD", "/elsewhere")
        outcome = run("resume", resumable)
        arguments, cwd, environment, deaf = json.loads(outcome.out)
        project = resumable.parent / "my project"
        assert outcome.code == 3
        assert arguments == ["--session", str(resumable)]
        assert Path(cwd) == project.resolve()
        assert environment["PWD"] == str(project)
        assert not [name for name in environment if name.startswith("LEAFWARD_")]
        assert deaf is False

    def test_prints_a_command_that_works(self, done: Run, resumable: Path, agent: Path) -> None:
        command = done("resume", resumable, "--print").out
        found = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False, timeout=60)
        assert found.returncode == 3
        assert json.loads(found.stdout)[0] == ["--session", str(resumable)]

    def test_as_json_nothing_is_run(self, done: Run, resumable: Path) -> None:
        document = done("resume", resumable, "--json").document
        assert document["resume"] == ["pi", "--session", str(resumable)]
        assert document["cwd"] == str(resumable.parent / "my project")

    def test_an_agent_that_is_not_there(
        self, run: Run, resumable: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        outcome = run("resume", resumable)
        assert (outcome.code, outcome.err) == (1, "leafward: pi is not installed: no 'pi' on PATH\n")

    def test_a_folder_that_is_gone(self, run: Run, resumable: Path) -> None:
        (resumable.parent / "my project").rmdir()
        outcome = run("resume", resumable)
        assert outcome.code == 1
        assert "gone" in outcome.err

    def test_a_folder_that_is_gone_is_remarked_where_nothing_is_run(self, run: Run, resumable: Path) -> None:
        (resumable.parent / "my project").rmdir()
        printed = run("resume", resumable, "--print")
        assert printed.code == 0
        assert f"pi --session {quote(str(resumable))}" in printed.out
        assert "gone" in printed.err
        document = run("resume", resumable, "--json").document
        assert document["resume"] == ["pi", "--session", str(resumable)]
        assert [remark["code"] for remark in document["diagnostics"]] == ["cwd-missing"]


class TestDemo:
    def test_prints_its_tree_without_a_terminal(self, done: Run) -> None:
        out = done("demo").out
        assert "compaction" in out
        assert "┠─○" in out
        assert "[race fixed]" in out

    def test_as_json(self, done: Run) -> None:
        document = done("demo", "--json").document
        assert len(document["branch_points"]) > 3
        assert document["session"]["compactions"] == 2

    def test_a_copy_is_a_new_file(self, done: Run, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "a copy.jsonl"
        assert done("demo", "--copy", file).out.endswith(f"leafward tree '{file}'\n")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert done("tree", file, "--json").document["session"]["compactions"] == 2
        again = run("demo", "--copy", file)
        assert again.code == 1
        assert "exists already" in again.err
        assert done("demo", "--copy", tmp_path / "b.jsonl", "--json").document == {
            "path": str(tmp_path / "b.jsonl")
        }

    def test_opens_a_copy_laid_out_as_a_store_and_leaves_nothing(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setattr(opening, "has_terminal", lambda: True)
        seen: list[Path] = []

        def open_app(paths: Sequence[Path]) -> int:
            (path,) = paths
            assert path.parent.name.startswith("--home-")
            assert path.parent.parent.name == "sessions"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with path.open("ab") as file:
                file.write(b"\n")
            seen.append(path)
            return 0

        assert main(["demo"], open_app) == 0
        assert len(seen) == 1
        assert list(tmp_path.iterdir()) == []


class TestDoctor:
    def test_one_session(self, done: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
        file.user("x")
        file.raw("nonsense")
        file.reply("y")
        document = done("doctor", file.path, "--json").document
        (problem,) = document["problems"]
        assert (problem["code"], problem["entry"]) == ("malformed", None)
        assert file.path.read_bytes()[problem["offset"] :].startswith(b"nonsense\n")
        assert "malformed" in done("doctor", file.path).out

    def test_a_sound_one(self, done: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
        file.user("x")
        assert done("doctor", file.path, "--json").document["problems"] == []
        assert done("doctor", file.path).out == "nothing wrong\n"

    def test_everything(self, done: Run, isolated_environment: Path) -> None:
        store = isolated_environment / ".pi" / "agent" / "sessions" / "--x--"
        store.mkdir(parents=True)
        (store / "bad.jsonl").write_text("prose\n")
        conversation(store / "good.jsonl")
        themes = isolated_environment / "leafward" / "config" / "themes"
        themes.mkdir(parents=True)
        (themes / "mine.toml").write_text("= not toml")
        (themes.parent / "config.toml").write_text("windw = 5\n")
        document = done("doctor", "--json").document
        assert document["sessions"] == 2
        found = {
            (problem["code"], Path(problem.get("session") or "").name) for problem in document["problems"]
        }
        assert found == {
            ("config", ""),
            ("theme", ""),
            ("unreadable", "bad.jsonl"),
            ("cwd-missing", "good.jsonl"),
        }
        assert document["folders"]["config"] == str(themes.parent)
        assert document["stores"]["pi"] == [str(store.parent)]
        out = done("doctor").out
        assert out.endswith("2 sessions checked, 2 problems in 2 of them; 2 problems outside sessions\n")
        assert "good.jsonl" in out

    def test_sessions_of_a_folder_that_is_gone_are_told_together(
        self, done: Run, isolated_environment: Path
    ) -> None:
        store = isolated_environment / ".pi" / "agent" / "sessions" / "--x--"
        store.mkdir(parents=True)
        for name in ("a", "b"):
            conversation(store / f"{name}.jsonl")
        damaged = conversation(store / "c.jsonl")
        damaged.path.write_bytes(damaged.path.read_bytes() + b"nonsense\n")
        out = done("doctor").out
        assert out.count("project folder not found") == 2
        assert "(2 sessions, nothing else is wrong in them)" in out
        assert ("a.jsonl" in out, "c.jsonl" in out) == (False, True)
        assert "3 sessions checked, 4 problems in 3 of them" in out

    def test_empty_files_are_no_sessions(self, done: Run, isolated_environment: Path) -> None:
        """So never more sessions with problems than were checked; all figures together are the problems of the document."""
        store = isolated_environment / ".claude" / "projects" / "-x"
        store.mkdir(parents=True)
        for digit in "12":
            (store / f"{digit * 8}-1111-4111-8111-111111111111.jsonl").touch()
        assert done("doctor").out.endswith("no session to check; 2 empty files\n")
        native = isolated_environment / ".pi" / "agent" / "sessions" / "--x--"
        native.mkdir(parents=True)
        conversation(native / "c.jsonl")
        document = done("doctor", "--json").document
        assert (document["sessions"], len(document["problems"])) == (1, 3)
        assert done("doctor").out.endswith("1 session checked, 1 problem in 1 of them; 2 empty files\n")

    def test_nothing_to_check(self, done: Run) -> None:
        assert done("doctor").out.endswith("no session to check\n")
