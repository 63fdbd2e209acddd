"""Documents that are exact in a file or pipe, such as patches, on a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from leafward.cli.main import main
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

ACTS = "\x1b]0;pears\x07\x9b31m\u202e"


class Output(io.TextIOWrapper):
    """A stream that may be a terminal."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("verb", ["patch", "rebuild"])
@pytest.mark.parametrize("terminal", [True, False])
def test_contents_of_files_act_on_no_terminal(
    verb: str, terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    agent.file.user("write it")
    agent.write("a.txt", f"begin{ACTS}end\n")
    agent.file.said("done")
    written = io.BytesIO()
    stream = Output(written, encoding="utf-8")
    stream.terminal = terminal
    monkeypatch.setattr("sys.stdout", stream)
    path = str(agent.file.path)
    words = (
        ["diff", path, "root", "leaf", "--patch", "b"]
        if verb == "patch"
        else ["files", path, "--rebuild", "a.txt"]
    )
    assert main(words) == 0
    stream.flush()
    text = written.getvalue().decode()
    assert "begin" in text
    assert (ACTS in text) is not terminal
    assert ("\x1b" in text) is not terminal
