"""The command itself: usage, exit codes, what is loaded when, opening the application."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click import Context

from leafward import __version__
from leafward.base.errors import LeafwardError
from leafward.cli import application as opening
from leafward.cli.declarations.verbs import leafward as group
from leafward.cli.main import main
from tests.foreign_stores import make
from tests.pi_file import conversation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Run

VERBS = [
    "ls",
    "search",
    "blame",
    "why",
    "tree",
    "show",
    "context",
    "files",
    "diff",
    "select",
    "plan",
    "compact",
    "inject",
    "survival",
    "exam",
    "summarize",
    "move",
    "undo",
    "redo",
    "restore",
    "bisect",
    "log",
    "label",
    "name",
    "archive",
    "edit-context",
    "graft",
    "merge-summaries",
    "keep",
    "delete",
    "doctor",
    "audit",
    "export",
    "fork",
    "heal",
    "relocate",
    "resume",
    "install",
    "uninstall",
    "demo",
]

LOADED = """
import json, sys
sys.argv = ["leafward", *{arguments!r}]
from leafward.cli.main import main
code = main()
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


class TestUsage:
    @pytest.mark.parametrize(
        ("word", "nearest"),
        [("tre", "tree"), ("contxt", "context"), ("list", "ls"), ("exprot", "export"), ("lable", "label")],
    )
    def test_the_nearest_verb_is_named(self, word: str, nearest: str, run: Run) -> None:
        outcome = run(word)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(
            f"leafward: no verb, file or session '{word}'; the nearest verb is '{nearest}'"
        )
        assert outcome.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("word", "problem"),
        [
            ("zzzz", "no verb, file or session 'zzzz'"),
            (os.path.join("nowhere", "s.jsonl"), f"no file or folder {os.path.join('nowhere', 's.jsonl')!r}"),
        ],
    )
    def test_where_no_verb_is_near_none_is_named(self, word: str, problem: str, run: Run) -> None:
        outcome = run(word)
        assert (outcome.code, outcome.err) == (2, f"leafward: {problem} (see leafward --help)\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--nope",),
            ("tree",),
            ("tree", "a", "b"),
            ("tree", "a", "--nope"),
            ("export", "a", "--format", "pdf"),
            ("label", "a", "b"),
            ("x\x1b[31m",),
        ],
    )
    def test_wrong_usage_is_one_line_and_2(self, arguments: tuple[str, ...], run: Run) -> None:
        outcome = run(*arguments)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("leafward: ")
        assert outcome.err.count("\n") == 1
        assert "--help" in outcome.err
        assert "\x1b" not in outcome.err

    def test_version(self, done: Run) -> None:
        assert done("--version").out == f"leafward, version {__version__}\n"

    @pytest.mark.parametrize("verb", VERBS)
    def test_every_verb_explains_itself(self, verb: str, done: Run) -> None:
        out = done(verb, "--help").out
        assert "--json" in out
        assert f"  leafward {verb}" in out
        assert done(verb, "-h").out == out

    def test_these_are_the_verbs(self, done: Run) -> None:
        out = done("--help").out
        assert group.list_commands(Context(group)) == VERBS
        for verb in VERBS:
            assert f"\n  {verb} " in out
        assert "..." not in out.partition("Commands:")[2]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["tree", "--help"], ["--nope"]])
def test_nothing_is_loaded_to_explain(arguments: list[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    loaded = set(json.loads(found.stderr.splitlines()[-1]))
    ours = {name for name in loaded if name.startswith("leafward")}
    light = {
        "leafward",
        "leafward.cli",
        "leafward.cli.declarations",
        "leafward.cli.declarations.change_verbs",
        "leafward.cli.declarations.command",
        "leafward.cli.declarations.branch_verbs",
        "leafward.cli.declarations.compaction_verbs",
        "leafward.cli.declarations.verbs",
        "leafward.cli.host",
        "leafward.cli.main",
        "leafward.cli.options",
        "leafward.cli.options.option_fields",
        "leafward.cli.streams",
    }
    assert ours <= light | {
        "leafward.base",
        "leafward.base.errors",
        "leafward.base.late_pattern",
        "leafward.base.safe_text",
        "leafward.base.terminal_signs",
        "leafward.cli.output",
        "leafward.cli.output.page",
    }
    assert not loaded & {
        "orjson",
        "platformdirs",
        "portalocker",
        "rich",
        "textual",
        "litellm",
        "asyncio",
        "tomllib",
    }


class TestErrors:
    def test_ours_are_one_safe_line(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(group, "main", raising(LeafwardError("first\nsecond \x1b[31m")))
        outcome = run()
        assert (outcome.code, outcome.err) == (1, "leafward: first second ␛[31m\n")

    def test_the_systems_name_the_file(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            group, "main", raising(OSError(errno.ENOSPC, "No space left on device", "/some/file"))
        )
        outcome = run()
        assert (outcome.code, outcome.err) == (1, "leafward: /some/file: No space left on device\n")

    def test_one_that_nobody_foresaw(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(group, "main", raising(ZeroDivisionError("oh")))
        outcome = run()
        assert outcome.code == 1
        assert outcome.err.startswith("leafward: unforeseen ZeroDivisionError: oh")
        assert outcome.err.count("\n") == 1
        monkeypatch.setenv("LEAFWARD_DEBUG", "1")
        assert "Traceback" in run().err

    def test_interrupted(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(group, "main", raising(KeyboardInterrupt()))
        assert run().code == 130

    def test_a_reader_that_has_enough(self, tmp_path: Path) -> None:
        path = conversation(tmp_path / "s.jsonl", 4000).path
        with subprocess.Popen(
            [sys.executable, "-m", "leafward", "tree", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0


def raising(error: BaseException) -> object:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    return fail


class TestOpening:
    """The application is what the caller brings along; here a list that notes what it is asked to open."""

    def test_without_an_application(self, run: Run, tmp_path: Path) -> None:
        make("opencode", tmp_path)
        [base] = tmp_path.rglob("*.db")
        for named in ((), (base,), (tmp_path,)):
            outcome = run(*named)
            assert outcome.code == 1
            assert "not installed with this command" in outcome.err

    def test_without_a_terminal(self, capfd: pytest.CaptureFixture[str]) -> None:
        asked: list[Sequence[Path]] = []
        assert main([], open_app=asked.append) == 1
        out, err = capfd.readouterr()
        assert (out, asked) == ("", [])
        assert err.startswith("leafward: the application needs a terminal")
        assert err.count("\n") == 1

    def test_paths_sessions_and_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_environment: Path
    ) -> None:
        store = isolated_environment / ".pi" / "agent" / "sessions" / "--home-ada-orchard--"
        store.mkdir(parents=True)
        stored = conversation(store / "2026_01a1fff9.jsonl").path
        other = conversation(tmp_path / "s.jsonl").path
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(opening, "has_terminal", lambda: True)
        asked: list[Sequence[Path]] = []

        def open_app(paths: Sequence[Path]) -> int:
            asked.append(paths)
            return 7

        assert main([], open_app) == 7
        assert main(["s.jsonl", "."], open_app) == 7
        assert main(["01a1fff9"], open_app) == 7
        assert asked == [[], [other.resolve(), tmp_path.resolve()], [stored.resolve()]]

    def test_a_file_that_is_named_is_opened_without_what_verbs_need(self, tmp_path: Path) -> None:
        path = conversation(tmp_path / "s.jsonl").path
        code = (
            "import sys\n"
            "from leafward.cli import application as opening\nfrom leafward.cli.main import main\n"
            "opening.has_terminal = lambda: True\n"
            "def open_app(paths):\n"
            "    print(*paths, *{'click', 'leafward.cli.selection', 'leafward.catalogue'} & sys.modules.keys())\n"
            "main(sys.argv[1:], open_app)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{path.resolve()}\n"

    def test_a_second_path_that_is_not_there(self, tmp_path: Path, run: Run) -> None:
        path = conversation(tmp_path / "s.jsonl").path
        outcome = run(path, tmp_path / "missing.jsonl")
        assert outcome.code == 1
        assert "missing.jsonl" in outcome.err

    def test_a_verb_wins_over_a_file_of_its_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
    ) -> None:
        conversation(tmp_path / "tree")
        monkeypatch.chdir(tmp_path)
        assert run("tree").code == 2


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo terminals here")
def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    path = conversation(tmp_path / "s.jsonl").path

    def shown(**variables: str) -> bytes:
        ours, theirs = os.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "leafward", "tree", path],
            stdout=theirs,
            env={**os.environ, **variables},
            start_new_session=True,
        ) as process:
            os.close(theirs)
            data = b""
            try:
                while piece := os.read(ours, 65536):
                    data += piece
            except OSError:
                pass
            assert process.wait(60) == 0
        os.close(ours)
        return data

    assert b"\x1b[32m" in shown()
    assert b"\x1b" not in shown(NO_COLOR="1")
    assert b"\x1b" not in shown(TERM="dumb")


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals as on Unix")
def test_ctrl_c_ends_without_a_word(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from leafward.cli.main import main\n"
        "from leafward.cli.verbs import tree as reading\n"
        "import os, signal\n"
        # A shell that runs the tests in the background has its children ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "reading.tree = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(main(['tree', 'x']))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)
    assert found.returncode == 130
    assert b"Traceback" not in found.stderr


def test_an_interrupt_while_modules_load_shows_no_traceback() -> None:
    code = (
        "import os, signal, sys\n"
        "from importlib.machinery import PathFinder\n"
        "class Interrupted(PathFinder):\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, path=None, target=None):\n"
        "        if name == 'leafward.base.errors': os.kill(os.getpid(), signal.SIGINT)\n"
        "        return super().find_spec(name, path, target)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupted)\n"
        "from leafward_tui.__main__ import main\n"
        "main(['ls'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
