"""Names in a session (its id, its folder) reach its agent and a shell as plain values, never as an option or a command."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.resume import Resume
from leafward.base.safe_text import pasted_path, safe, shell_line, shell_word
from tests.acting import Acting
from tests.claude_transcript import Transcript
from tests.cli.restored import Work
from tests.codex_rollout import Rollout
from tests.foreign_stores import make
from tests.opencode_store import Conversation, Database
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells as POSIX has them")

HOSTILE = "a\x1b]0;owned\x07 b\n$(touch owned) 'c' \u202e\x9b31m; rm -rf ~"


def claude(folder: Path, name: str, cwd: str) -> Path:
    made = Transcript(folder / ".claude", name)
    made.defaults = {"cwd": cwd}
    made.turn("one", "first")
    return made.path


def codex(folder: Path, name: str, cwd: str) -> Path:
    made = Rollout(folder / ".codex", id=name, cwd=cwd)
    made.turn("one", "first")
    # The id is that of the name, where the name holds one.
    return made.path.rename(made.path.with_name("rollout.jsonl"))


def opencode(folder: Path, name: str, cwd: str) -> Path:
    talk = Conversation(name, directory=cwd)
    talk.turn("one")
    return Database(folder / "opencode").write(talk)


def pi(folder: Path, name: str, cwd: str) -> Path:
    made = Acting(folder / f"{name}.jsonl", HEADER | {"cwd": cwd, "id": name})
    made.user("one")
    made.said("first")
    return made.path


MAKERS: dict[str, Callable[[Path, str, str], Path]] = {
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "pi": pi,
}


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
@pytest.mark.parametrize("name", ["--dangerously-skip-permissions", "-p", "-"])
def test_an_id_that_is_an_option_is_refused_with_the_reason(
    run: Run, tmp_path: Path, agent: str, name: str
) -> None:
    path = MAKERS[agent](tmp_path, name, str(tmp_path))
    for options in ([], ["--print"], ["--json"]):
        outcome = run("resume", path, *options)
        assert (outcome.code, outcome.out) == (1, "")
        assert "begins with a dash" in outcome.err
        assert "(fork)" in outcome.err
    made = run("fork", path, "leaf", "--dry-run", "--to", "pi", "--json")
    assert made.code == 0
    assert made.document["resume"][0] == "pi"


def test_a_file_of_pi_that_is_called_like_an_option_is_named_in_full(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pi(tmp_path, "--no-session", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run("resume", f"./{path.name}", "--json").document["resume"] == ["pi", "--session", str(path)]


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi"])
@pytest.mark.parametrize("cwd", ["orchard", "-", "-P", "--help", "../orchard", "./.."])
def test_a_relative_folder_is_never_gone_into(
    run: Run, tmp_path: Path, agent: str, cwd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "orchard").mkdir(parents=True)
    (tmp_path / "orchard").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = MAKERS[agent](tmp_path, "ses_plain", cwd)
    outcome = run("resume", path, "--print")
    assert (outcome.code, outcome.out) == (1, "")
    assert "names its folder only relatively" in outcome.err
    assert run("fork", path, "leaf", "--cwd", tmp_path, "--dry-run", "--json").document["cwd"] == str(
        tmp_path
    )


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi"])
def test_a_printed_command_is_one_safe_line_and_means_what_it_says(
    run: Run, tmp_path: Path, agent: str
) -> None:
    folder = tmp_path / HOSTILE.replace("/", ":")
    folder.mkdir()
    path = MAKERS[agent](tmp_path, "ses_plain", str(folder))
    printed = run("resume", path, "--print")
    assert printed.code == 0, printed.err
    line = printed.out.removesuffix("\n")
    assert "\n" not in line
    assert safe(line) == line
    bash = shutil.which("bash")
    if bash is not None:
        named = line.replace("&& ", '&& printf "%s\\n" "$PWD" && set -- ', 1)
        found = subprocess.run(
            [bash, "-c", f'{named}; printf "%s\\n" "$@"'], capture_output=True, cwd=tmp_path, check=True
        )
        assert found.stdout.startswith(os.fsencode(folder) + b"\n")
        assert not (folder / "owned").exists()
        assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("agent", ["codex", "opencode"])
def test_an_id_with_what_a_terminal_could_act_on_is_refused(run: Run, tmp_path: Path, agent: str) -> None:
    outcome = run("resume", MAKERS[agent](tmp_path, HOSTILE.replace("/", ":"), str(tmp_path)), "--print")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert safe(outcome.err) == outcome.err


@pytest.mark.parametrize(
    "text", [HOSTILE, "", "plain", "two words", "it's", "a\\b'\n'c", "1\x012", "é\udce9ü"]
)
def test_a_word_of_a_shell_is_safe_to_show_and_stays_what_it_is(text: str) -> None:
    word = shell_word(text)
    assert safe(word) == word
    assert "\n" not in word
    bash = shutil.which("bash")
    if bash is not None:
        env = {**os.environ, "LC_ALL": "C.UTF-8"}
        found = subprocess.run([bash, "-c", f"printf %s {word}"], capture_output=True, check=True, env=env)
        assert found.stdout == os.fsencode(text)


def test_a_path_is_copied_as_it_is_unless_a_terminal_could_act_on_it() -> None:
    assert pasted_path("/my  folder/s.jsonl") == "/my  folder/s.jsonl"
    assert pasted_path("/a\nrm -rf ~") == "$'/a\\012rm -rf ~'"


def test_two_spaces_in_a_folder_stay_two() -> None:
    command = Resume(("pi", "--session", "/a  b"), "/my  folder", ())
    assert command.line() == "cd -- '/my  folder' && pi --session '/a  b'"
    assert shell_line(("a", "b c")) == "a 'b c'"
    assert Resume(("pi",), "-", ()).line() == "pi"


class TestAnAgentThatIsNotInstalled:
    @pytest.mark.parametrize("to", ["pi", "codex", "claude", "opencode"])
    @pytest.mark.parametrize("option", ["--run", "--import"])
    def test_nothing_is_written(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, option: str
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
        path = pi(tmp_path, "s", str(tmp_path))
        before = everything(tmp_path)
        for _ in range(2):
            outcome = run("fork", path, "leaf", "--to", to, option)
            assert (outcome.code, outcome.out) == (1, "")
            assert f"is not installed: no '{to}' on PATH" in outcome.err
        assert everything(tmp_path) == before

    def test_a_fork_that_runs_nothing_needs_none(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        assert run("fork", pi(tmp_path, "s", str(tmp_path)), "leaf").code == 0

    def test_a_program_in_the_folder_of_the_session_is_not_taken_for_it(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A relative entry of PATH is meant where the user is."""
        for name in ("mine", "theirs"):
            program = tmp_path / name / "bin" / "pi"
            program.parent.mkdir(parents=True)
            program.write_text(f"#!{sys.executable}\nprint({name!r})\n")
            program.chmod(0o755)
        path = pi(tmp_path, "s", str(tmp_path / "theirs"))
        monkeypatch.setenv("PATH", "bin")
        monkeypatch.chdir(tmp_path / "mine")
        assert run("resume", path).out == "mine\n"
        monkeypatch.chdir(tmp_path)
        outcome = run("resume", path)
        assert (outcome.code, outcome.out) == (1, "")


def everything(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.mark.parametrize("given", ["", " "])
def test_an_empty_folder_is_not_taken_for_the_current_one(run: Run, tmp_path: Path, given: str) -> None:
    path = pi(tmp_path, "s", str(tmp_path))
    outcome = run("fork", path, "leaf", "--cwd", given)
    assert (outcome.code, outcome.out) == (1, "")
    assert "no folder is named" in outcome.err
    assert os.listdir(tmp_path) == ["s.jsonl"]


@pytest.mark.parametrize("healed", [False, True])
def test_a_failed_import_says_how_its_document_is_imported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, healed: bool
) -> None:
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'no room' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    words: list[Path | str] = [
        "fork",
        pi(tmp_path, "s", str(tmp_path)),
        "leaf",
        "--to",
        "opencode",
        "--import",
    ]
    if healed:
        store = make("opencode", tmp_path / "store")
        store.close()
        words = ["heal", store.path, "--anyway", "--cwd", str(tmp_path)]
    outcome: Any = run(*words)
    assert (outcome.code, outcome.out) == (1, "")
    assert "no room; the document is kept; to import it, run cd -- " in outcome.err
    assert Path(shlex.split(outcome.err.splitlines()[-1].rpartition(" && ")[2])[-1]).is_file()


def test_an_id_in_a_command_of_ours_is_one_word(run: Run, tmp_path: Path) -> None:
    """A shell runs the command that somebody copies: the id of a session is text of its file."""
    name = "ses_1; touch owned"
    work = Work(tmp_path)
    header, _, rest = work.path.read_text(encoding="utf-8").partition("\n")
    work.path.write_text(f"{json.dumps({**json.loads(header), 'id': name})}\n{rest}", encoding="utf-8")
    restored = run("restore", work.path, work.at)
    assert restored.code == 0, restored.err
    told = [restored.out.splitlines()[-1].partition("  ")[0], run("undo", work.path).err.split("`")[1]]
    assert [shlex.split(line) for line in told] == [["leafward", "restore", name, "--undo"]] * 2
    store = Path(os.environ["PI_CODING_AGENT_DIR"]) / "sessions" / "--x--"
    store.mkdir(parents=True)
    deleted = run("delete", work.path.rename(store / "s.jsonl"))
    told = [deleted.out.splitlines()[-1].partition("  ")[0]]
    assert [shlex.split(line) for line in told] == [["leafward", "delete", "--undo", name]]
    assert run("delete", "--undo", name).code == 0


def test_a_path_that_is_told_is_the_path(done: Run, tmp_path: Path) -> None:
    """White space in it stays: two spaces were one, and behind 400 characters nothing was left."""
    folder = tmp_path / ("long" * 60) / ("longer" * 40) / "two  spaces"
    folder.mkdir(parents=True)
    file = folder / "a  session.jsonl"
    told = done("demo", "--copy", file).out
    assert told.startswith(f"wrote {file}; ")
    assert shlex.split(told)[-3:] == ["leafward", "tree", str(file)]
    assert str(folder / "x  y.md") in done("export", file, "-o", folder / "x  y.md", "--keep-secrets").out
