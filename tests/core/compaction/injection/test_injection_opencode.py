"""A session of opencode is read on behind what an earlier run kept, whatever was written to its rows in between.

The text is compared with that of a run without anything kept after every step.
"""

from __future__ import annotations

import json
import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.opencode import kept_records, transcript
from leafward.agents.opencode.storage.row_changes import LaterRow, later_rows
from leafward.agents.opencode.transcript import OpenCodeReader
from leafward.agents.recognition import agent_of
from leafward.compaction.injection.findings import kept_findings
from leafward.session.foreign import ForeignFiles
from leafward.session.session import Session
from tests.core.compaction.injection.test_injection_kept import told
from tests.opencode_store import Conversation, Database, call, said
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILES = [f"src/{name}.py" for name in ("pear", "plum", "apple", "quince", "medlar")]


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short sessions are kept too."""
    monkeypatch.setattr(kept_findings, "_SMALLEST", 0)
    monkeypatch.setattr(kept_findings, "_STEP", 0)
    monkeypatch.setattr(transcript, "FURTHER", 10)


class Garden:
    """A session that opencode writes, row by row, as its versions with events do."""

    def __init__(self, root: Path, chance: random.Random, *, events: bool = True) -> None:
        self.base = Database(root, events=events)
        self.talk = Conversation(directory="/home/ada/orchard")
        self.chance = chance
        self.number = 0
        self.clock = self.talk.time
        self.stands = False
        self.stored = 0
        self.store()

    @property
    def path(self) -> Path:
        return self.base.path / self.talk.id

    def now(self) -> int:
        """The time, which does not go on while the clock stands."""
        if not self.stands:
            self.clock = max(self.clock, self.talk.time) + 1
        return self.clock

    def store(self) -> None:
        """Writes the messages that are not stored yet."""
        talk = self.talk
        with self.base.opened() as base:
            if not self.stored:
                base.execute(
                    "INSERT OR IGNORE INTO session (id, directory, title, version, time_created) VALUES (?, ?, ?, ?, ?)",
                    (talk.id, talk.info["directory"], talk.info["title"], talk.info["version"], talk.begun),
                )
            for body, parts in talk.messages[self.stored :]:
                self.base._put(base, talk, body, parts)
                base.execute("UPDATE message SET time_updated = ? WHERE id = ?", (self.now(), body["id"]))
                base.execute(
                    "UPDATE part SET time_updated = ? WHERE message_id = ?", (self.now(), body["id"])
                )
        self.stored = len(talk.messages)

    def write(self, table: str, body: dict[str, Any], *, quiet: bool = False) -> None:
        """Writes a row again, `quiet` as a program that is not opencode."""
        rest = {key: value for key, value in body.items() if key not in ("id", "sessionID", "messageID")}
        with self.base.opened() as base:
            base.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (json.dumps(rest), body["id"]))
            if quiet:
                return
            base.execute(f"UPDATE {table} SET time_updated = ? WHERE id = ?", (self.now(), body["id"]))
            kind, name = (
                ("message.updated.1", "info") if table == "message" else ("message.part.updated.1", "part")
            )
            self.base.event(
                base, self.talk.id, kind, {"sessionID": self.talk.id, name: body, "time": self.clock}
            )

    # --- what happens ---

    def turn(self) -> None:
        """A prompt, and some steps of the model."""
        self.number += 1
        file = self.chance.choice(FILES)
        self.talk.ask(f"Please look at {file} once more, step {self.number}")
        for _ in range(self.chance.randrange(1, 4)):
            self.number += 1
            tool = self.chance.choice(("read", "edit", "write", "bash"))
            given = {"command": f"rm {file}"} if tool == "bash" else {"filePath": self.chance.choice(FILES)}
            self.talk.reply(said("Now."), call(tool, f"done {self.number}", number=self.number, **given))
        self.talk.reply(said(f"Step {self.number} is done."))
        self.store()

    def turns(self, count: int) -> None:
        """Some turns."""
        for _ in range(count):
            self.turn()

    def compact(self) -> None:
        """A compaction, at times with a kept tail."""
        tail = self.talk.messages[-2][0]["id"] if self.stored > 3 and self.chance.random() < 0.5 else None
        self.talk.compaction(f"Summary {self.number}: we prune.", tail)
        self.store()

    def run_long(self) -> None:
        """A call that runs, and ends later."""
        self.number += 1
        self.talk.ask(f"Build it, {self.number}")
        self.talk.reply(
            call("edit", status="running", number=self.number, filePath=f"src/late{self.number}.py")
        )
        self.store()

    def end_long(self) -> None:
        """The end of the last call that ran."""
        for _, parts in reversed(self.talk.messages):
            for part in parts:
                if part["type"] == "tool" and part["state"]["status"] == "running":
                    part["state"] |= {"status": self.chance.choice(("completed", "error")), "output": "done"}
                    self.write("part", part)
                    return

    def note_changes(self) -> None:
        """What opencode writes to the prompt of a turn when files changed."""
        asked = [body for body, _ in self.talk.messages if body["role"] == "user"]
        if asked:
            body = self.chance.choice(asked[-3:])
            body["summary"] = {"diffs": [f"src/{self.number}.py"] * self.chance.randrange(4)}
            self.write("message", body)

    def prune(self) -> None:
        """Old outputs that are taken out of the context."""
        old = [
            part
            for _, parts in self.talk.messages[:-4]
            for part in parts
            if part["type"] == "tool" and part["state"]["status"] == "completed"
        ]
        for part in old[:: self.chance.randrange(1, 4)]:
            if "compacted" not in part["state"]["time"]:
                part["state"]["time"]["compacted"] = self.now()
                self.write("part", part)

    def revert(self) -> None:
        """The last messages are taken back, and deleted when somebody goes on."""
        names = [body["id"] for body, _ in self.talk.messages[-self.chance.randrange(1, 7) :]]
        if len(names) < self.stored:
            self.base.execute("UPDATE session SET revert = ?", json.dumps({"messageID": names[0]}))
            assert_same(self)
            if self.chance.random() < 0.7:
                self.base.execute("UPDATE session SET revert = NULL")
                self.base.remove(self.talk, *names)
                self.stored = len(self.talk.messages)
            elif self.chance.random() < 0.5:
                self.base.execute("UPDATE session SET revert = NULL")

    def change(self) -> None:
        """Any call's file becomes another one, of the same length, of another, or as no version of opencode does."""
        calls = [
            part
            for _, parts in self.talk.messages
            for part in parts
            if "filePath" in part.get("state", {}).get("input", {})
        ]
        if calls:
            part = self.chance.choice(calls)
            part["state"]["input"]["filePath"] = self.chance.choice(
                [*FILES, "src/crab.py", "docs/a-longer-name.md"]
            )
            self.write("part", part, quiet=self.chance.random() < 0.3)

    def lose(self) -> None:
        """A part or a message that is gone, without any event."""
        body, parts = self.chance.choice(self.talk.messages)
        if parts and self.chance.random() < 0.5:
            gone = parts.pop(self.chance.randrange(len(parts)))
            self.base.execute("DELETE FROM part WHERE id = ?", gone["id"])
        elif self.stored > 2:
            self.base.execute("DELETE FROM part WHERE message_id = ?", body["id"])
            self.base.execute("DELETE FROM message WHERE id = ?", body["id"])
            self.talk.messages.remove((body, parts))
            self.stored -= 1

    def add_before(self) -> None:
        """A part of an old message, or an old message, that comes later."""
        body, parts = self.chance.choice(self.talk.messages)
        self.number += 1
        late = call("edit", number=self.number, filePath=f"src/before{self.number}.py")
        late |= {"id": f"prt_{'0' * 10}{self.number:04}", "sessionID": self.talk.id, "messageID": body["id"]}
        parts.insert(0, late)
        with self.base.opened() as base:
            base.execute(
                "INSERT INTO part VALUES (?,?,?,?,?,?)",
                (late["id"], body["id"], self.talk.id, self.now(), self.now(), json.dumps(late)),
            )

    def other_session(self) -> None:
        """Another session in the same database."""
        other = Conversation(f"ses_{self.number:08}", directory="/home/ada/meadow")
        other.turn("Something else")
        self.base.write(other)

    def put_again(self) -> None:
        """A prompt was too long for the provider: opencode compacts, and puts it again."""
        prompts = [
            parts[0]["text"]
            for _, parts in self.talk.messages
            if parts and "Please" in parts[0].get("text", "")
        ]
        if not prompts:
            return
        request = self.talk.message("user", [{"type": "compaction", "auto": True, "overflow": True}])
        self.talk.reply(said("What was done."), parentID=request, summary=True, mode="compaction")
        self.talk.ask(prompts[-1])
        self.store()

    def stop_clock(self) -> None:
        """The clock stands, or goes on."""
        self.stands = not self.stands

    def turn_clock_back(self) -> None:
        """A clock that was wrong."""
        self.clock = self.talk.begun + self.chance.randrange(5_000)


def assert_same(garden: Garden) -> int:
    """That the text is the same with what is kept; the number of entries that were read for it."""
    return told(garden.path)[1]


STEPS: list[tuple[int, Callable[[Garden], None]]] = [
    (12, Garden.turn), (3, Garden.compact), (3, Garden.run_long), (3, Garden.end_long), (5, Garden.note_changes),
    (2, Garden.prune), (1, Garden.put_again), (2, Garden.revert), (2, Garden.change), (1, Garden.lose), (1, Garden.add_before),
    (1, Garden.other_session), (1, Garden.stop_clock), (1, Garden.turn_clock_back),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(60 if THOROUGH else 8))
def test_the_text_is_the_same_whatever_was_written_meanwhile(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "FURTHER", seed % 3 * 8)
    monkeypatch.setattr(kept_records, "_COMPARED", 10_000)
    chance = random.Random(seed)
    garden = Garden(tmp_path, chance, events=seed % 4 != 3)
    garden.turns(6)
    for _ in range(40):
        for _ in range(chance.choice((1, 1, 2, 3))):
            (step,) = chance.choices([step for _, step in STEPS], [weight for weight, _ in STEPS])
            step(garden)
        assert_same(garden)


def gone_on(garden: Garden) -> tuple[bool, Session]:
    """Whether the session is read on behind what is kept; the session, open."""
    kept = kept_findings.load(garden.path)
    source = agent_of(garden.path).source(garden.path)
    assert kept is not None
    assert isinstance(source, ForeignFiles)
    kept.lead(source)
    session = Session.of(source)
    assert isinstance(source.reader, OpenCodeReader)
    return source.reader.has_gone_on, session


WRITTEN: dict[str, tuple[Callable[[Garden], None], bool]] = {
    "nothing": (lambda _: None, True),
    "a turn": (Garden.turn, True),
    "some turns": (lambda garden: garden.turns(4), True),
    "a compaction": (Garden.compact, True),
    "what changed in a turn": (Garden.note_changes, True),
    "a pruned output": (Garden.prune, True),
    "another session": (Garden.other_session, True),
    "another file of a call": (lambda garden: rename(garden, "src/crab.py"), False),
    "another file by another program": (lambda garden: rename(garden, "src/crab-apple.py", quiet=True), False),
    "a name of the same length by another program": (lambda garden: rename(garden, "", quiet=True), False),
    "the last prompt, put again": (Garden.put_again, True),
    "a part less": (lambda garden: drop(garden, "part"), False),
    "a message less": (lambda garden: drop(garden, "message"), False),
    "a part more": (Garden.add_before, False),
    "an older version": (lambda garden: garden.base.execute("UPDATE session SET version = '1.14.0'"), False),
    "a revert": (lambda garden: garden.base.execute("UPDATE session SET revert = ?", revert_to(garden, 3)), False),
    "a revert of the end": (
        lambda garden: garden.base.execute("UPDATE session SET revert = ?", revert_to(garden, -1)), True,
    ),
    "messages taken back": (lambda garden: garden.base.remove(garden.talk, garden.talk.messages[-1][0]["id"]), False),
}  # fmt: skip


def assert_whole(garden: Garden, session: Session) -> None:
    """That a session is what reading everything gives; closes it."""
    with closing(session), closing(agent_of(garden.path).open(garden.path)) as other:
        assert session.header == other.header
        assert session.leaf == other.leaf
        for column in ("kind", "ids", "parent", "other_ids"):
            assert getattr(session.columns, column) == getattr(other.columns, column)
        every = range(len(session.columns))
        assert [session.body(index) for index in every] == [other.body(index) for index in every]
        assert [session.raw(index) for index in every] == [other.raw(index) for index in every]


def rename(garden: Garden, name: str, *, quiet: bool = False) -> None:
    """The first file that is named in the session gets another name; without one, a name of the same length."""
    part = next(
        part
        for _, parts in garden.talk.messages
        for part in parts
        if part.get("state", {}).get("input", {}).get("filePath")
    )
    given = part["state"]["input"]
    given["filePath"] = name or given["filePath"].replace("src/", "lib/")
    garden.write("part", part, quiet=quiet)


def drop(garden: Garden, table: str) -> None:
    """Deletes an old row."""
    garden.base.execute(f"DELETE FROM {table} WHERE id = (SELECT min(id) FROM {table})")


def revert_to(garden: Garden, place: int) -> str:
    """A revert that begins at a message."""
    return json.dumps({"messageID": garden.talk.messages[place][0]["id"]})


@pytest.mark.parametrize("change", WRITTEN)
def test_only_rows_that_may_differ_are_read_again(change: str, tmp_path: Path) -> None:
    garden = Garden(tmp_path, random.Random(1))
    garden.turns(8)
    for _ in range(5):
        garden.talk.reply(said("And more."))
    garden.store()
    whole = assert_same(garden)
    write, goes_on = WRITTEN[change]
    write(garden)
    went_on, session = gone_on(garden)
    assert went_on is goes_on
    assert_whole(garden, session)
    read = assert_same(garden)
    assert not goes_on or read < whole / 2


def test_messages_that_were_taken_back_lately_are_there(tmp_path: Path) -> None:
    garden = Garden(tmp_path, random.Random(6))
    garden.turns(8)
    for more in (1, 3, 6):
        garden.base.remove(garden.talk, *[body["id"] for body, _ in garden.talk.messages[-2:]])
        garden.stored -= 2
        for _ in range(more):
            garden.talk.reply(said("Go on."))
        garden.store()
        assert_same(garden)
        garden.turn()
        if (kept := kept_findings.load(garden.path)) is not None and kept.reading:
            assert_whole(garden, gone_on(garden)[1])


def test_what_is_kept_again_knows_the_rows_that_changed(tmp_path: Path) -> None:
    garden = Garden(tmp_path, random.Random(5))
    garden.turns(8)
    assert_same(garden)
    for write in (Garden.prune, Garden.note_changes, Garden.turn, Garden.turn, Garden.turn):
        write(garden)
    assert_same(garden)
    went_on, session = gone_on(garden)
    session.close()
    assert went_on


def test_a_clock_that_stands_tells_of_no_change(tmp_path: Path) -> None:
    """Every row has the same time: all of them are compared."""
    garden = Garden(tmp_path, random.Random(2))
    garden.stands = True
    garden.turns(8)
    assert_same(garden)
    assert_same(garden)
    rename(garden, "src/crab.py")
    assert not gone_on(garden)[0]
    assert "src/crab.py" in told(garden.path)[0][0]


def test_rows_are_counted_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing changed, no row of before is fetched but the few that are compared or tell the text."""
    garden = Garden(tmp_path, random.Random(3))
    garden.turns(60)
    assert_same(garden)
    fetched: list[int] = []

    def noted(*given: Any) -> Iterator[LaterRow]:
        fetched.extend(given[3])
        return later_rows(*given)

    monkeypatch.setattr(kept_records, "later_rows", noted)
    went_on, session = gone_on(garden)
    session.close()
    assert went_on
    assert 0 < len(fetched) < 40


def test_no_text_is_kept(tmp_path: Path) -> None:
    garden = Garden(tmp_path, random.Random(4))
    garden.turns(8)
    assert_same(garden)
    kept = kept_findings.place(garden.path).read_bytes()
    assert garden.talk.messages[0][0]["id"].encode() in kept
    for text in (b"Please look", b"Now.", b"is done", b"done 3"):
        assert text not in kept
