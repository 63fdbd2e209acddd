"""A secret in an id, a path, the name of a tool or of a folder is in no output that is handed on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.acting import call
from tests.claude_transcript import Transcript
from tests.opencode_store import Conversation, Database, said
from tests.opencode_store import call as opencode_call
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TOKEN = "gh" + "p_" + "aB3d" * 9
PIECE = TOKEN[8:24]


def pi(folder: Path) -> Path:
    file = PiFile(folder / "s.jsonl", HEADER | {"cwd": f"/w/{TOKEN}"})
    first = file.user("Look at the parser.")
    message = {"role": "assistant", "content": [{"type": "text", "text": "I do."}, call("write", TOKEN, path=f"{TOKEN}/a.py", content="x"), call(TOKEN, "b", path="b.py"), {"type": "image", "mimeType": f"see {TOKEN} ok", "data": "AAAA"}]}  # fmt: skip
    file.entry("message", message=message)
    for one in (TOKEN, "b"):
        file.entry("message", message={"role": "toolResult", "toolCallId": one, "toolName": TOKEN, "content": "ok"})  # fmt: skip
    file.user("Now the lexer.")
    file.reply("Done.")
    file.user("Or the printer?", parent=first)
    file.reply("Done too.")
    file.path.write_text(file.path.read_text("utf-8").replace(f'"{first}"', f'"{TOKEN}"'), "utf-8")
    return file.path


def claude(folder: Path) -> Path:
    made = Transcript(folder / ".claude", folder=f"projects/-w-{TOKEN}")
    made.defaults = {"cwd": f"/w/{TOKEN}", "gitBranch": TOKEN, "slug": TOKEN}
    made.turn("Look at the parser.", "I do.")
    made.call("Write", "1", file_path=f"/w/{TOKEN}/a.py", content="x")
    made.result("1", "ok")
    made.turn("Now the lexer.", "Done.")
    text = made.path.read_text("utf-8")
    first = json.loads(text.partition("\n")[0])["uuid"]
    made.path.write_text(text.replace(first, TOKEN), "utf-8")
    return made.path


def opencode(folder: Path) -> Path:
    talk = Conversation(TOKEN, directory=f"/w/{TOKEN}", title=TOKEN)
    talk.turn("Look at the parser.")
    talk.ask("Now the lexer.")
    talk.reply(said("Done."), opencode_call("write", filePath=f"/w/{TOKEN}/a.py", content="x", number=1))
    talk.turn("And the printer.")
    return Database(folder / "opencode").write(talk)


@pytest.mark.parametrize("session", [pi, claude, opencode])
def test_it_is_in_no_document(session: object, run: Run, tmp_path: Path) -> None:
    assert callable(session)
    path = session(tmp_path)
    outputs = [
        *(("export", path, "--all", "--format", form) for form in ("md", "html", "json")),
        *(("diff", path, "#0", "leaf", "--format", form) for form in ("md", "html", "json")),
        ("export", path, "--at", "#0", "--format", "json"),
        ("diff", path, "#0", "leaf", "--patch", "b", "--redact", "--json"),
    ]
    for words in outputs:
        outcome = run(*words)
        assert outcome.code == 0, outcome.err
        assert PIECE not in outcome.out, words


@pytest.mark.parametrize("session", [pi, claude, opencode])
def test_it_is_in_no_sanitised_copy_nor_in_its_name(session: object, run: Run, tmp_path: Path) -> None:
    assert callable(session)
    path = session(tmp_path)
    there = tmp_path / "shared"
    outcome = run("keep", path, "--sanitised", there, "--json")
    assert outcome.code == 0, outcome.err
    for file in there.rglob("*"):
        assert PIECE not in file.name
        assert file.is_dir() or PIECE.encode() not in file.read_bytes()
    assert run("tree", outcome.document["path"]).code == 0


@pytest.mark.parametrize("session", [pi, claude, opencode])
def test_it_is_in_no_stored_summary(session: object, run: Run, tmp_path: Path) -> None:
    """Also not in the lists of files below it."""
    assert callable(session)
    document = run(
        "compact", session(tmp_path), "--keep-recent", "0", "--larger", "--accept-loss", "--dry-run", "--json"
    ).document
    assert "<modified-files>" not in document["summary"]
    assert PIECE not in document["summary"]
