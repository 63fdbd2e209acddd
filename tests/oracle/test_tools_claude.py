"""Rebuilt contents against files that the real Claude Code wrote: line ends and byte order marks, which it does not show.

Runs where ``LEAFWARD_CLAUDE`` names the program, or several with colons between them; skipped elsewhere.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.replay import replay
from tests.oracle.installed_agents import each_claude, needs_claude
from tests.oracle.real_agents import ClaudeClient
from tests.oracle.scripted_model import Step, scripted

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.scripted_model import Call

FILES = {
    "crlf.txt": b"one\r\ntwo\r\nthree\r\nfour\r\n",
    "mixed.txt": b"one\r\ntwo\nthree\r\nfour\n",
    "lf.txt": b"one\ntwo\nthree\nfour\n",
    "mark.txt": b"\xef\xbb\xbfone\r\ntwo\r\n",
    "last.txt": b"one\ntwo\nthree",
    "old.txt": b"one\r\ntwo\r\n",
    "marked.txt": b"\xef\xbb\xbfone\ntwo\n",
}
WRITTEN = {"old.txt", "marked.txt", "new.txt"}
"""Files of which all is known, since they were written."""


@needs_claude
@each_claude
def test_what_claude_code_left_is_what_is_rebuilt(program: str, tmp_path: Path) -> None:
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    for name, data in FILES.items():
        (project / name).write_bytes(data)

    def edit(name: str, old: str, new: str) -> Call:
        return "Edit", {"file_path": str(project / name), "old_string": old, "new_string": new}

    def write(name: str, text: str) -> Call:
        return "Write", {"file_path": str(project / name), "content": text}

    script = [
        Step("Look.", tuple(("Read", {"file_path": str(project / name)}) for name in FILES)),
        Step("One.", tuple(edit(name, "two", "2") for name in FILES)),
        Step("Two.", (edit("crlf.txt", "2\nthree", "2\n2b\n3"), edit("lf.txt", "2\nthree", "2\n2b\n3"))),
        Step(
            "All.",
            (write("old.txt", "a\nb\n"), write("marked.txt", "x\ny\n"), write("new.txt", "a\r\nb\r\n")),
        ),
        Step("Last.", (edit("new.txt", "a", "A\nAA"), edit("old.txt", "a", "A"))),
        Step("Done."),
    ]
    with scripted({"Go": script}) as model:
        client = ClaudeClient(program, home, model, home / ".claude")
        asked = client.ask(project, "Go on with it")
    folder = client.config / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project))
    with closing(agent_named("claude").open(folder / f"{asked.session}.jsonl")) as session:
        known = replay(session)
        for name in (*FILES, "new.txt"):
            found, there = known.rebuilt(name), (project / name).read_bytes()
            assert found.certainty is Certainty.EXACT, name
            assert not found.remarks, name
            text = found.text or ""
            assert found.ends == (name in WRITTEN), name
            if found.ends:
                assert text.encode() == there, name
            else:
                assert text.removeprefix("\ufeff") == there.decode("utf-8-sig").replace("\r\n", "\n"), name
