from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leafward.cli.main import main
from leafward.export.demo import demo_session
from leafward.session.session import Session
from tests.cli.restored import Work

Arguments = str | Path


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run of the command line."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; it ends with the only newline there."""
        assert self.out.endswith("\n")
        assert "\n" not in self.out[:-1]
        return json.loads(self.out)


Run = Callable[..., Outcome]
Open = Callable[[Path], Session]


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """A session whose work on files can be taken back."""
    return Work(tmp_path)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command line in this process."""

    def run_main(*arguments: Arguments) -> Outcome:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return run_main


@pytest.fixture
def done(run: Run) -> Run:
    """The same, for runs that must succeed without a word on stderr."""

    def run_well(*arguments: Arguments) -> Outcome:
        outcome = run(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return outcome

    return run_well


@pytest.fixture(scope="session")
def sessions(repository: Path) -> Path:
    """The small sessions made by a real pi."""
    return repository / "tests" / "data" / "pi" / "sessions"


OLD = 1_700_000_000
"""A time long ago, in seconds: nobody is writing to a file that was last written then."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The bundled session, last written long ago, with a secret in it."""
    file = tmp_path / "s.jsonl"
    with demo_session() as demo:
        file.write_bytes(demo.read_bytes())
    os.utime(file, (OLD, OLD))
    return file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which agents have their usual places."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "ours"))
    for name in ("CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Path:
    """The place of the settings of Claude Code in it."""
    (home / ".claude").mkdir()
    return home / ".claude" / "settings.json"
