"""Results of opencode that are no failure by their status: commands that were stopped, folders that were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.replay import replay
from leafward.files.working_set import touched
from tests.opencode_store import Conversation, Database, call, opened

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

STOPPED = "(no output)\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 1000 ms.\n</shell_metadata>"
LISTED = (
    "<path>/home/ada/orchard/src</path>\n<type>directory</type>\n<entries>\na.py\n\n(1 entries)\n</entries>"
)


def session_with(root: Path, part: dict[str, object]) -> Session:
    talk = Conversation("ses_one")
    talk.ask("Begin")
    talk.reply(part)
    return opened(Database(root).write(talk))


@pytest.mark.parametrize(("code", "failed"), [(None, True), (0, False), (1, True)])
def test_a_command_that_was_stopped_has_no_exit_code(tmp_path: Path, code: int | None, failed: bool) -> None:
    """1.18.33 tells one that ran out of time as completed, with `exit: null`."""
    script = "echo one > a.py; sleep 4; echo two > a.py"
    session = session_with(tmp_path, call("bash", STOPPED, command=script, metadata={"exit": code}))
    answer = session.body(session.leaf)
    assert answer is not None
    assert answer["message"]["isError"] is failed
    certainty = replay(session).rebuilt("a.py").certainty
    assert (certainty is Certainty.UNKNOWN) is failed


def test_a_folder_that_was_read_is_no_file(tmp_path: Path) -> None:
    session = session_with(tmp_path, call("read", LISTED, filePath="/home/ada/orchard/src"))
    assert touched(session, session.tree.path(session.leaf)) == {}
