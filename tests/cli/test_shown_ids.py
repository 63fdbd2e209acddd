"""Ids in lists of entries: as short as can be typed, in every verb, also for agents whose ids begin with the time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.page import cells
from tests.opencode_store import Conversation, Database, call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

WIDTH = 80


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of opencode, whose ids have 30 characters and differ late, with a compaction."""
    talk = Conversation(directory=str(tmp_path))
    talk.turn("Plant pears")
    talk.ask("Write them down in pears.txt with `make pears`, and never touch plums.txt")
    talk.reply(call("write", filePath="pears.txt", content="a\n", number=1))
    talk.reply(call("write", filePath="figs.txt", content="a\n", number=2))
    talk.turn("Which of them are ripe?")
    talk.compaction("Nothing of note", talk.messages[-1][0]["id"])
    talk.reply(call("read", filePath="pears.txt", number=3))
    return Database(tmp_path / "opencode").write(talk)


@pytest.mark.parametrize(
    "verb",
    [
        ("tree", "--entries"),
        ("select", "all()"),
        ("context",),
        ("files",),
        ("files", "--timeline", "pears.txt"),
        ("survival",),
        ("exam",),
        ("diff", "#1", "leaf"),
        ("diff", "#1", "leaf", "--what", "context"),
        ("diff", "#1", "leaf", "#2", "--what", "outcome"),
    ],
    ids=" ".join,
)
def test_each_can_be_typed_and_leaves_room(
    run: Run, session: Path, verb: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    name, *rest = verb
    listed = run(name, session, *rest)
    assert listed.code == 0, listed.err
    lines = listed.out.splitlines()
    shown = {one for line in lines for one in re.findall(r"\b(?:msg|prt)_\w+", line)}
    assert shown
    for one in shown:
        assert run("show", session, one).code == 0, one
    # The heading names the entry that it is about in full, and questions are prose.
    body = [line for line in lines[2:] if "?" not in line]
    assert [line for line in body if cells(line) > WIDTH] == []


def test_an_entry_left_out_of_the_context_is_named_so_too(run: Run, tmp_path: Path) -> None:
    talk = Conversation(directory=str(tmp_path))
    talk.turn("Plant pears")
    talk.turn("Which of them are ripe?")
    session = Database(tmp_path / "opencode").write(talk)
    assert run("edit-context", session, "#1", "--omit").code == 0
    (line,) = (line for line in run("context", session).out.splitlines() if "left out by" in line)
    assert run("show", session, line.split()[0]).out.startswith(talk.messages[1][0]["id"])


def test_files_of_one_folder_are_told_apart(run: Run, tmp_path: Path) -> None:
    talk = Conversation(directory=str(tmp_path))
    talk.ask("Write")
    deep = "orchards/of/the/north/with/many/rows/and/trees/that/bear"
    for number, name in enumerate(("pears.txt", "plums.txt"), 1):
        talk.reply(call("write", filePath=f"{deep}/{name}", content="a\n", number=number))
    session = Database(tmp_path / "opencode").write(talk)
    folder = tmp_path / "project"
    folder.mkdir()
    for verb in (("files",), ("restore", "leaf", "--dry-run", "--cwd", folder)):
        name, *rest = verb
        out = run(name, session, *rest).out
        assert "/pears.txt" in out, out
        assert "/plums.txt" in out, out
