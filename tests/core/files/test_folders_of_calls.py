"""Calls that ran in another folder than the session's: relative names are names there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.replay import replay
from leafward.files.working_set import touched
from tests.claude_transcript import Transcript
from tests.claude_transcript import opened as opened_claude
from tests.codex_rollout import Rollout

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

HOME, SUB = "/home/ada/orchard", "/home/ada/orchard/src"


def exact(session: Session) -> dict[str, str | None]:
    """The files that are known whole; None for those that are known to be missing."""
    made = replay(session)
    found = {name: made.rebuilt(name) for name in made.files}
    return {
        name: one.text for name, one in found.items() if one.certainty in (Certainty.EXACT, Certainty.ABSENT)
    }


@pytest.fixture
def claude(tmp_path: Path) -> Transcript:
    file = Transcript(tmp_path)
    file.prompt("Begin")
    return file


def bash(file: Transcript, number: int, command: str, before: str, after: str, text: str = "") -> None:
    """A command with the folders before and after it, as the rows of Claude Code 2.1.332 have them."""
    file.defaults["cwd"] = before
    file.call("Bash", f"call_{number}", command=command)
    file.defaults["cwd"] = after
    file.result(f"call_{number}", text)


def test_a_command_of_claude_code_runs_where_the_one_before_it_went(claude: Transcript) -> None:
    bash(claude, 1, "echo top > a.py", HOME, HOME)
    bash(claude, 2, "cd src && echo in > a.py", HOME, SUB)
    bash(claude, 3, "rm -f a.py; echo x > b.py", SUB, SUB)
    session = opened_claude(claude.path)
    assert exact(session) == {"a.py": "top\n", "src/a.py": None, "src/b.py": "x\n"}
    claude.call("Read", "call_4", file_path=f"{HOME}/a.py")
    claude.result("call_4", "1\ttop\n2\t")
    session = opened_claude(claude.path)
    assert list(touched(session, session.tree.path(session.leaf))) == ["a.py"]


def test_commands_of_one_reply_follow_each_other_into_a_folder(claude: Transcript) -> None:
    claude.defaults["cwd"] = HOME
    for number, command in enumerate(("echo top > a.py", "cd src", "echo in > a.py"), 1):
        claude.call("Bash", f"call_{number}", "msg_together", command=command)
    for number, folder in enumerate((HOME, SUB, SUB), 1):
        claude.defaults["cwd"] = folder
        claude.result(f"call_{number}", "")
    assert exact(opened_claude(claude.path)) == {"a.py": "top\n", "src/a.py": "in\n"}


def run(file: Rollout, number: int, **given: Any) -> None:
    output = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    file.call("exec_command", given, output, f"call_{number}")


def test_a_turn_of_codex_may_have_a_folder_of_its_own(tmp_path: Path) -> None:
    file = Rollout(tmp_path, cli_version="0.171.0")
    patch = "*** Begin Patch\n*** Add File: new.py\n+new\n*** End Patch\n"
    for number, folder in enumerate((HOME, SUB, HOME)):
        file.line("turn_context", cwd=folder, model="pear-1")
        file.prompt(f"Turn {number}")
        run(file, 3 * number, cmd=f"echo {number} > a.py")
        run(file, 3 * number + 1, cmd=f"echo {number} > b.py", workdir="deep")
        file.item("custom_tool_call", name="apply_patch", input=patch, call_id=f"call_{3 * number + 2}")
        file.item("custom_tool_call_output", call_id=f"call_{3 * number + 2}", output="Success")
        file.reply("Done.")
    new = "new\n"
    assert exact(file.opened()) == {
        "a.py": "2\n", "deep/b.py": "2\n", "new.py": new, "src/a.py": "1\n", "src/deep/b.py": "1\n", "src/new.py": new
    }  # fmt: skip
