"""Stored sessions of every agent with one row changed, left out, repeated or moved: nothing fails, nothing hides, the rest stays.

`LEAFWARD_THOROUGH` tries some thousands; a run takes a sample that is the same each time.
"""

from __future__ import annotations

import json
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from leafward.agents.registry import agent_named
from leafward.base.errors import NotASession
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import message_text
from tests.foreign_sessions import read_whole
from tests.opencode_store import Conversation, Database, call, said
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from leafward.session.entries import Body
    from leafward.session.session import Session

DATA = Path(__file__).parent.parent / "data"
_LARGEST = 60_000
_FOLDERS = {"claude": "projects/-home-ada-orchard", "codex": "sessions/2026/11/21", "pi": "."}
_STRANGE: Body = {"type": "hologram", "colour": "plum"}
_VALUES: list[Any] = [
    None, [], {}, "", "x", 0, -1, 1.5, True, [None], [[]], [{}], {"type": None}, _STRANGE, [_STRANGE], 10**30, "2026-13-45T99",
]  # fmt: skip
_CHANGES = st.sampled_from(["value", "value", "value", "left out", "renamed", "type"])
_MOVES = st.sampled_from(["gone", "twice", "again elsewhere", "elsewhere"])
_SAMPLE = settings(
    max_examples=2000 if THOROUGH else 30,
    derandomize=not THOROUGH,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


class Stored(NamedTuple):
    """A stored session: its rows, and what is known of it as it is."""

    name: str
    rows: list[Body]
    contexts: dict[str, tuple[int, list[str]]]
    """By prompts, results and replies: the last row that counts for it, and what its context says."""


def _stored(agent: str) -> list[Path]:
    folder = DATA / agent / ("sessions" if agent == "pi" else "")
    paths = [path for path in folder.rglob("*.jsonl") if 0 < path.stat().st_size < _LARGEST]
    return sorted(path for path in paths if agent != "codex" or "rollout" in path.name)


def _written(agent: str, folder: Path, name: str, rows: list[Body]) -> Path:
    path = folder / _FOLDERS[agent] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_bytes(b"".join(line.encode("utf-8", "surrogatepass") + b"\n" for line in lines))
    return path


def _says(session: Session, index: int) -> list[str]:
    messages = context_at(session, index).messages
    return [f"{one.role}: {message_text(message_body(session, one))}" for one in messages]


def _known(agent: str, path: Path) -> Stored:
    """Content of every entry whose rows, and those of its ancestors, end before some row."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    with TemporaryDirectory() as folder:
        written = _written(agent, Path(folder), path.name, rows)
        starts: dict[int, int] = {}
        place = 0
        for number, line in enumerate(written.read_bytes().splitlines(keepends=True)):
            starts[place], place = number, place + len(line)
        with closing(agent_named(agent).open(written)) as session:
            first = [starts[session.origin(index).offset] for index in range(len(session))]
            # What belongs to an entry ends with a prompt that lies behind it: that may say that words were left out.
            prompts = [
                one for one, kind in zip(first, session.columns.kind, strict=True) if kind == Kind.USER
            ]
            contexts: dict[str, tuple[int, list[str]]] = {}
            for index, kind in enumerate(session.columns.kind):
                path_rows = [first[one] for one in session.tree.path(index)]
                end = next((one for one in prompts if one > max(path_rows)), None)
                if end is not None and kind in (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT):
                    contexts[session.columns.id(index)] = end, _says(session, index)
    return Stored(path.name, rows, contexts)


def _places(value: object, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values inside a row are, those inside them last."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [((*above, key), one) for key, one in inner]
    return [place for place, _ in found] + [deep for place, one in found for deep in _places(one, place)]


def _changed(row: Body, data: st.DataObject) -> Body:
    row = deepcopy(row)
    change = data.draw(_CHANGES)
    if change == "type":
        return {**row, "type": "hologram", "colour": "plum"}
    places = _places(row)
    *above, last = data.draw(st.sampled_from(places[:12] if data.draw(st.booleans()) else places))
    holder: Any = row
    for key in above:
        holder = holder[key]
    if change == "value":
        holder[last] = deepcopy(data.draw(st.sampled_from(_VALUES)))
    else:
        value = holder.pop(last)
        if change == "renamed" and isinstance(last, str):
            holder[f"{last}New"] = value
    return row


def _with_a_change(rows: list[Body], data: st.DataObject) -> tuple[list[Body], int]:
    """The rows with one changed or moved, and the first that is not as it was."""
    rows = list(rows)
    at = data.draw(st.integers(0, len(rows) - 1))
    if data.draw(st.booleans()):
        rows[at] = _changed(rows[at], data)
        return rows, at
    move = data.draw(_MOVES)
    other = data.draw(st.integers(0, len(rows) - 1))
    row = rows[at] if "again" in move or move == "twice" else rows.pop(at)
    if move != "gone":
        rows.insert(at if move == "twice" else other, row)
    return rows, at if move in ("gone", "twice") else min(at, other)


def _nothing_hides(session: Session, rows: list[bytes], before: int) -> None:
    """Every row from a place on is one of those that an entry has; a type that is not known is named."""
    kept = {line for index in range(len(session)) for line in session.raw(index).split(b"\n")}
    assert not [row for row in rows[before:] if row not in kept]
    for index, kind in enumerate(session.columns.kind):
        body = session.body(index) or {}
        assert kind in (Kind.MALFORMED, Kind.HEADER) or headline(session, index).text is not None
        if kind == Kind.UNKNOWN and b'"type":"hologram"' in session.raw(index):
            assert "hologram" in str(body)


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_one_row_that_is_not_as_it_was(agent: str) -> None:
    sessions = [_known(agent, path) for path in _stored(agent)]

    @_SAMPLE
    @given(st.data())
    def run(data: st.DataObject) -> None:
        stored = sessions[data.draw(st.integers(0, len(sessions) - 1))]
        rows, touched = _with_a_change(stored.rows, data)
        with TemporaryDirectory() as folder:
            path = _written(agent, Path(folder), stored.name, rows)
            lines = path.read_bytes().splitlines()
            try:
                session = agent_named(agent).open(path)
            except NotASession:
                # pi reads no file whose first line is no header.
                assert agent == "pi"
                assert touched == 0
                return
            with closing(session):
                read_whole(session)
                begins = session.origin(0).offset if len(session) else 0
                ahead = path.read_bytes()[:begins].count(b"\n")
                assert ahead <= 1 or agent == "codex"
                _nothing_hides(session, lines, ahead)
                for name, (end, says) in stored.contexts.items():
                    if end < touched:
                        assert _says(session, session.columns.index(name)) == says, name

    run()


def test_one_record_of_opencode_that_is_not_as_it_was() -> None:
    talk = Conversation()
    talk.ask("Count the pears")
    talk.reply(said("Let me see."), call("read", "three", filePath="pears.txt"), call("bash", command="ls"))
    talk.reply(said("Seven."), {"type": "step-finish", "reason": "stop", "cost": 0.25, "tokens": {}})
    tail = talk.ask("And the plums?", {"type": "agent", "name": "gardener"})
    talk.reply(
        {"type": "reasoning", "text": "None?"}, said("None."), {"type": "patch", "files": ["list.txt"]}
    )
    talk.compaction("Seven pears were counted.", tail, auto=True)
    talk.ask("Thanks", {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="})
    talk.reply(said("Gladly."))

    @_SAMPLE
    @given(st.data())
    def run(data: st.DataObject) -> None:
        changed = deepcopy(talk)
        number = data.draw(st.integers(0, len(talk.messages) - 1))
        body, parts = changed.messages[number]
        names = {"id", "sessionID", "messageID", "time"}
        place = data.draw(st.integers(-1, len(parts) - 1))
        own = body if place < 0 else parts[place]
        made = {**_changed({key: own[key] for key in own if key not in names}, data)}
        made |= {key: own[key] for key in names if key in own}
        if place < 0:
            changed.messages[number] = made, parts
        else:
            parts[place] = made
        with TemporaryDirectory() as folder:
            path = Database(Path(folder)).write(changed)
            with closing(agent_named("opencode").open(path)) as session:
                read_whole(session)
                told = json.dumps([session.body(index) for index in range(len(session))])
                others = [one for count, one in enumerate(talk.messages) if count != number]
                assert all(part["text"] in told for _, ones in others for part in ones if "text" in part)

    run()
