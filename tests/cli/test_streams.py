"""Standard streams that are closed, full or not read to their end: no traceback, and an exit code that says what became of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

SHELL = shutil.which("bash")

pytestmark = [
    pytest.mark.skipif(os.name != "posix" or SHELL is None, reason="redirections as bash has them"),
    pytest.mark.slow,
]

READING = [
    *("ls FOLDER", "tree S", "show S", "context S", "files S", "diff S #0 #1", "select S prompts()", "plan S"),
    *("search question FOLDER", "log S", "doctor S", "doctor", "export S", "resume S --print"),
    *("inject S", "demo", "--help", "--version", "tree --help", "fork S leaf --dry-run", "label S leaf x --dry-run"),
]  # fmt: skip
QUIET = [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full", "| true"]
"""Whoever closes a stream wants nothing from it: nothing failed."""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    file = PiFile(tmp_path / "sessions" / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    for number in range(300):
        file.user(f"question {number} " + "of many words " * 20)
        file.reply(f"answer {number}")
    return file.path


def asked(verb: str, how: str, session: Path) -> tuple[int, str]:
    """The exit code and what reached the terminal, where something still could."""
    paths = {"S": str(session), "FOLDER": str(session.parent)}
    line = shlex.join(paths.get(word, word) for word in verb.split())
    command = f"{shlex.quote(sys.executable)} -m leafward_tui {line} {how}\nexit ${{PIPESTATUS[0]}}"
    done = subprocess.run([str(SHELL), "-c", command], capture_output=True, check=False, timeout=60)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("verb", READING)
def test_a_stream_that_nobody_wants_is_no_failure(verb: str, session: Path) -> None:
    how = QUIET[READING.index(verb) % len(QUIET)]
    code, said = asked(verb, how, session)
    assert (code, "Traceback" in said, "unforeseen" in said) == (0, False, False), (how, said)


@pytest.mark.parametrize("how", QUIET)
def test_each_way_of_closing_one(how: str, session: Path) -> None:
    for verb in ("tree S --json", "--help"):
        code, said = asked(verb, how, session)
        assert (code, "Traceback" in said, "unforeseen" in said) == (0, False, False), said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("verb", ["tree S", "export S --json", "ls FOLDER", "--help"])
def test_an_output_that_takes_nothing_is_said_and_is_a_failure(verb: str, session: Path) -> None:
    code, said = asked(verb, ">/dev/full", session)
    assert code == 1
    assert said.startswith("leafward: ")
    assert said.endswith("No space left on device\n")
    assert said.count("\n") == 1
    assert asked(verb, ">/dev/full 2>&1", session) == (1, "")


def test_a_wrong_command_line_is_one_whoever_reads_that(session: Path) -> None:
    for how in ("2>&-", "2>/dev/full", ">&-"):
        assert asked("nonsense", how, session)[0] == 2


def test_what_is_written_stays_whole_where_every_stream_is_closed(session: Path) -> None:
    """A file that is opened must not get the number of a stream: what is said would be written into it."""
    before = session.read_bytes()
    assert asked("label S leaf pears", "<&- >&- 2>&-", session)[0] == 0
    after = session.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert b'"label":"pears"' in after[len(before) :]
    assert asked("doctor S --json", "", session)[0] == 0


def test_a_program_that_is_started_has_all_streams_too(session: Path, tmp_path: Path) -> None:
    """It would write into whatever it opens first."""
    agent = tmp_path / "bin" / "pi"
    agent.parent.mkdir()
    seen = tmp_path / "seen"
    code = "import os\nopen(%r, 'w').write(str([os.fstat(n).st_rdev == os.stat('/dev/null').st_rdev for n in range(3)]))"
    agent.write_text(f"#!{sys.executable}\n{code % str(seen)}\n")
    agent.chmod(0o755)
    path = f"PATH={shlex.quote(str(agent.parent))}:$PATH"
    line = f"{path} {shlex.quote(sys.executable)} -m leafward_tui resume {shlex.quote(str(session))} <&- >&- 2>&-"
    subprocess.run([str(SHELL), "-c", line], check=True, timeout=60)
    assert seen.read_text() == "[True, True, True]"
