"""New transcripts of Claude Code as files: where they lie, how they are opened, what damage comes to, a field changed in its bytes."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.claude.field_edits import with_field
from leafward.agents.claude.kept_rows import ResumedRows
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from tests.claude_forks import draft, prompt, rows_of, uuids
from tests.claude_transcript import CLAUDE, IDS, Transcript
from tests.forks import at_home

if TYPE_CHECKING:
    from pathlib import Path


# --- where it lies, how it is opened ---


def test_the_store_is_named_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    usual = Transcript(home / ".claude")
    other = Transcript(tmp_path / "else", IDS[1])
    for talk in (usual, other):
        talk.turn("One?", "One.")

    def variables(talk: Transcript, **env: str) -> tuple[Any, Any]:
        resume = draft(talk.opened(), 1, at_home(**{"HOME": str(home), **env})).draft.resume
        return resume.env_set, "CLAUDE_CONFIG_DIR" in resume.env_remove

    assert variables(usual) == ((), False)
    assert variables(other) == ((("CLAUDE_CONFIG_DIR", str(tmp_path / "else")),), False)
    assert variables(other, CLAUDE_CONFIG_DIR=str(tmp_path / "else")) == ((), False)
    assert variables(usual, CLAUDE_CONFIG_DIR=str(tmp_path / "else")) == ((), True)
    line = draft(
        usual.opened(), 1, at_home(HOME=str(home), CLAUDE_CONFIG_DIR="/else", LEAFWARD_HOME="/ours")
    ).draft.resume.line()
    assert " && env -u CLAUDE_CONFIG_DIR claude --resume " in line
    plain = CLAUDE.resume(other.opened(), {"HOME": str(home)})
    assert plain.env_set == (("CLAUDE_CONFIG_DIR", str(tmp_path / "else")),)


def test_a_transcript_outside_of_a_store_is_forked_into_the_usual_one(tmp_path: Path) -> None:
    talk = Transcript(tmp_path, folder="loose")
    talk.turn("One?", "One.")
    made = draft(talk.opened(), 1, at_home(HOME=str(tmp_path / "home")))
    assert made.draft.path.parent == tmp_path / "home" / ".claude" / "projects" / "-home-ada-orchard"
    assert "elsewhere" in {remark.code for remark in made.remarks}


def test_it_is_written_beside_its_source_which_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "orchard"
    folder.mkdir()
    talk = Transcript(tmp_path / ".claude")
    talk.defaults["cwd"] = str(folder)
    talk.turn("One?", "One.")
    before = hashlib.sha256(talk.path.read_bytes()).digest()
    source = talk.opened()
    made = draft(source, source.place)
    assert forking.store(source, made.draft) == made.draft.path
    assert sorted(path.name for path in talk.path.parent.iterdir()) == sorted(
        [talk.path.name, made.draft.path.name]
    )
    assert made.draft.path.stat().st_mode & 0o777 == 0o600
    assert hashlib.sha256(talk.path.read_bytes()).digest() == before


def test_a_file_that_is_another_by_now_is_refused(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    source = talk.opened()
    size = talk.size
    talk.turn("Two?", "Two.")
    assert len(uuids(rows_of(draft(source, source.place)))) == 2, "what was appended is not copied"
    made = draft(source, source.place)
    with talk.path.open("r+b") as file:
        file.seek(size - 30)
        file.write(b" ")
    with pytest.raises(Refused, match="was changed since it was read"):
        b"".join(made.draft.content())
    with talk.path.open("r+b") as file:
        file.truncate(size - 1)
    with pytest.raises(Refused, match="was changed since it was read"):
        draft(source, source.place)


# --- damage ---


def test_damaged_rows_do_not_stand_in_the_way(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    first = talk.prompt("One?")
    talk.raw(b'{"type":"user","uuid":"torn\n\0\0\0\0\n')
    glued = [talk.text_of("system", subtype="turn_duration", note="x")]
    names = [first, talk.tip]
    glued.append(
        talk.text_of(
            "assistant",
            message={"role": "assistant", "id": "m", "content": [{"type": "text", "text": "One."}]},
        )
    )
    names.append(talk.tip)
    talk.raw("".join(glued).encode() + b"\n")
    talk.turn("Two?", "Two.")
    talk.raw(b'{"type":"assist')
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Two?")))
    assert uuids(rows) == names


def test_rows_of_one_id_come_all_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    twice = talk.prompt("First wording")
    talk.reply("One.")
    tip = talk.tip
    talk.prompt("Second wording", uuid=twice, parentUuid=None)
    talk.tip = tip
    talk.turn("Two?", "Two.")
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Two?")))
    assert uuids(rows).count(twice) == 2


def test_a_circle_and_a_missing_parent_end_the_chain(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    one = talk.prompt("One?", parentUuid="eeeeeeee-0000-4000-8000-00000000dead")
    two = talk.reply("One.")
    talk.turn("Two?", "Two.")
    source = talk.opened()
    assert uuids(rows_of(draft(source, prompt(source, "Two?")))) == [one, two]
    circle = Transcript(tmp_path, IDS[2])
    circle.prompt(
        "One?", uuid="aaaaaaaa-0000-4000-8000-000000000001", parentUuid="aaaaaaaa-0000-4000-8000-000000000002"
    )
    circle.reply("One.", uuid="aaaaaaaa-0000-4000-8000-000000000002")
    circle.turn("Two?", "Two.")
    again = circle.opened()
    assert len(uuids(rows_of(draft(again, prompt(again, "Two?"))))) == 2


def test_a_row_a_thousand_times_takes_work_in_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply whose row is repeated, and results below a long run of progress, each looked at a few times only."""
    talk = Transcript(tmp_path)
    asked = talk.prompt("One?")
    call = talk.call("Read", "toolu_a", "msg_two", file_path="/a")
    talk.raw(talk.path.read_bytes().splitlines(keepends=True)[-1] * 1_000)
    for _ in range(300):
        talk.row("progress", data={"type": "hook_progress"})
        above = talk.tip
        talk.result("toolu_a", "aaa")
        talk.tip = above
    answered = talk.reply("Read.")
    talk.turn("Two?", "Two.")
    climbs, looks = [], []

    class Roles(list[int]):
        def __getitem__(self, row: Any) -> Any:
            looks.append(row)
            return super().__getitem__(row)

    def climb(rows: ResumedRows, row: int) -> None:
        climbs.append(row)
        usual(rows, row)

    def groups(rows: ResumedRows) -> Any:
        rows.rows.role = Roles(rows.rows.role)  # type: ignore[assignment]  # it counts what is looked at
        return grouped(rows)

    usual, grouped = ResumedRows._climb, ResumedRows._groups
    monkeypatch.setattr(ResumedRows, "_climb", climb)
    monkeypatch.setattr(ResumedRows, "_groups", groups)
    source = talk.opened()
    made = draft(source, prompt(source, "Two?"))
    assert {asked, call, answered} <= set(uuids(rows_of(made)))
    every = talk.path.read_bytes().count(b"\n")
    assert len(climbs) < 3 * every
    assert len(looks) < 6 * every


# --- a field in its bytes ---


@pytest.mark.parametrize(
    ("raw", "changed"),
    [
        (b'{"a":{"sessionId":"x"},"sessionId":"x"}', b'{"a":{"sessionId":"x"},"sessionId":"new"}'),
        (b'{"a":"\\"sessionId\\":\\"x\\"","sessionId" : "x" ,"b":1e400}', b'{"a":"\\"sessionId\\":\\"x\\"","sessionId" : "new" ,"b":1e400}'),
        (b'{ "sessionId":"x", "big":123456789012345678901234567890 }', b'{ "sessionId":"new", "big":123456789012345678901234567890 }'),
        (b'{"a":"sessionId"}', b'{"a":"sessionId","sessionId":"new"}'),
        (b"{}", b'{"sessionId":"new"}'),
        (b'{"u":"\\u00e9\\ud800","sessionId":null}', b'{"u":"\\u00e9\\ud800","sessionId":"new"}'),
    ],
)  # fmt: skip
def test_only_the_field_is_changed(raw: bytes, changed: bytes) -> None:
    assert with_field(raw, "sessionId", "new") == changed


def test_a_row_that_cannot_be_changed_in_place_is_written_anew() -> None:
    raw = b'{"session\\u0049d":"x","a":"\\ud800"}'
    assert json.loads(with_field(raw, "sessionId", "new")) == {"sessionId": "new", "a": "\ud800"}
