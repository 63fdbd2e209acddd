"""Files of a node written from the application: what is said of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.tools import CLAUDE_TOOLS
from leafward.session.session import Session
from leafward_tui.ui.saved_files import free_path, save_files, save_text
from tests.acting import Acting, call
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path


def test_the_folder_that_is_offered_lies_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "src")
    assert free_path("s-files", outside=str(tmp_path / "project")) == tmp_path / "s-files"
    assert free_path("s-files", outside=str(tmp_path / "other")).parent == tmp_path / "project" / "src"
    assert free_path("s-files").parent == tmp_path / "project" / "src"
    assert free_path("s-files", outside="no\0folder").parent == tmp_path / "project" / "src"


@pytest.mark.parametrize("name", ["../../ev", "/etc/x", "..", ".ssh", "-rf", "a\x1b[31m\nb", "漢" * 300, ""])
def test_whatever_an_id_is_the_file_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "one" / "two"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    save_text(f"{name[:8]}-{name}", "pears", WANTED)
    (made,) = folder.iterdir()
    assert made.read_text() == "pears\n"
    assert made.name.isprintable()
    assert made.name[0] not in ".-"


def test_line_ends_that_are_not_recorded_are_said(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("read it")
    file.said(call("Read", "r", file_path="a.py"))
    file.answered("r", "Read", "1\tone\n2\ttwo\n3\t")
    with closing(Session.open(file.path)) as session:
        session.source.tools = CLAUDE_TOOLS
        text, problem = save_files(session, session.leaf, str(tmp_path / "new"), None, WANTED)
    assert not problem
    assert text.endswith("; with newlines, as their line ends are not recorded: a.py")
    assert (tmp_path / "new" / "a.py").read_bytes() == b"one\ntwo\n"


def test_files_that_a_command_may_have_changed_since_are_named(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("write it")
    file.said(call("write", "w", path="a.py", content="one\n"))
    file.answered("w", "write")
    file.said(call("bash", "b", command="./generate"))
    file.answered("b", "bash")
    with closing(Session.open(file.path)) as session:
        text, _ = save_files(session, session.leaf, str(tmp_path / "new"), None, WANTED)
    assert text.endswith("; not certain: a.py")
