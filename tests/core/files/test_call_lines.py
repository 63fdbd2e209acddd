"""Calls read from the bytes of lines, compared with decoded ones."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leafward.branches.diff.sides import side
from leafward.files.call_lines import NO_CALL, CallShapes, result_in
from leafward.files.file_replay.step_reader import steps
from leafward.files.tool_calls import NATIVE_TOOLS
from leafward.files.working_set import touched
from leafward.session.entries import Kind
from leafward.session.session import Session
from tests.acting import reading
from tests.bench.generate import write_session
from tests.surroundings import CORPORA, THOROUGH, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.session.entries import Body, EntryIndex


def decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is told by its bytes any more."""
    bodies = Session.bodies

    def every(
        self: Session, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        del pick
        return bodies(self, entries)

    monkeypatch.setattr(Session, "bodies", every)


def agrees(path: Path) -> None:
    """Steps, working sets and outcomes of all paths are the same by bytes and by bodies."""
    with reading(path) as session:
        told = list(said_of(session))
        with pytest.MonkeyPatch.context() as patch:
            decoding(patch)
            assert told == list(said_of(session))


def said_of(session: Session) -> Iterator[object]:
    every = range(len(session))
    yield steps(session, every), touched(session, every)
    for leaf in session.tree.leaves():
        yield side(session, -1, leaf).outcomes, side(session, -1, leaf).steps
        yield steps(session, session.tree.path(leaf)), touched(session, session.tree.path(leaf))


@needs_corpora
@pytest.mark.parametrize("name", sorted(path.name for path in (CORPORA / "pi").glob("*.jsonl")))
def test_real_sessions(name: str) -> None:
    agrees(CORPORA / "pi" / name)


def test_a_long_session_is_told_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_session(path, 600)
    agrees(path)
    with reading(path) as session:
        kinds, shapes = session.columns.kind, CallShapes(NATIVE_TOOLS)
        raw = {kind: [session.raw(at) for at in range(600) if kinds[at] == kind] for kind in Kind}
        assert all(shapes.one_call(line) is not None for line in raw[Kind.ASSISTANT])
        assert all(result_in(line) is not None for line in raw[Kind.TOOL_RESULT])


TEXTS = st.text(
    st.sampled_from('ab/.n+-"\\,{}[]: \n\t\u00e9\u2192\U0001f600\ud800\x00') | st.characters(), max_size=30
)
WORDS = st.sampled_from(
    [
        '"}}],"api":"',
        '{"type":"toolCall","id":"x","name":"read","arguments":{"path":"no"}}',
        '"isError":true,"timestamp":1767600000000}}',
        '"nestedCalls":{',
        '"}],"isError":false,"timestamp":1767600000000}}',
        "\\n+",
        "\n+ 1 a\n- 2 b",
    ]
)
SAID = st.lists(TEXTS | WORDS, max_size=3).map("".join)
PATHS = (
    st.sampled_from(["a.py", "src/b.ts", "./a.py", "n.ipynb", "caf\u00e9.py", 'q"u.py', "", "~/x"]) | TEXTS
)
COMMANDS = (
    st.sampled_from(["ls", "cat a.py", "rm a.py", "mv a.py c.py", "echo hi > o.txt", 'grep "x" a.py']) | SAID
)
EDIT = st.fixed_dictionaries({"oldText": SAID, "newText": SAID})


def shuffled(fields: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The same in any order, as nobody who follows the format has to keep to one."""
    return st.permutations(list(fields.items())).map(dict)


def as_written(fields: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just(fields) | shuffled(fields)


ARGUMENTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "read": st.fixed_dictionaries({"path": PATHS}, optional={"offset": st.integers(0, 9), "path2": PATHS}),
    "write": st.fixed_dictionaries({"path": PATHS, "content": SAID}, optional={"mode": SAID}),
    "edit": st.fixed_dictionaries({"path": PATHS}, optional={"edits": st.lists(EDIT, max_size=2)})
    | st.fixed_dictionaries({"path": PATHS, "oldText": SAID, "newText": SAID}),
    "bash": st.fixed_dictionaries({"command": COMMANDS}, optional={"timeout": st.integers(1, 9)}),
    "odd": st.dictionaries(st.sampled_from(["path", "command", "x"]), SAID | st.lists(PATHS), max_size=2),
}
IDS = st.sampled_from(["call_1", "call_2", "toolu_3|x", 'c"4', "c\\5", "caf\u00e9"])


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from([*ARGUMENTS, "read", "edit", "write"]))
    arguments = draw(ARGUMENTS[name].flatmap(as_written) | st.just({"path": 5}))
    block = {"type": "toolCall", "id": draw(IDS), "name": name, "arguments": arguments}
    if draw(st.integers(0, 9)) == 0:
        block["extra"] = draw(SAID)
    return draw(as_written(block))


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    stamp = draw(st.sampled_from([1_767_600_000_000, 5, None]))
    if draw(st.booleans()):
        text = st.builds(lambda text: {"type": "text", "text": text}, SAID)
        blocks = draw(st.lists(text, max_size=1)) + draw(st.lists(calls(), max_size=2))
        blocks += draw(st.lists(text, max_size=1))
        reason = draw(st.sampled_from(["toolUse", "toolUse", "stop", "aborted", "error"]))
        message: dict[str, Any] = {
            "role": "assistant",
            "content": blocks,
            "api": "x",
            "usage": {"input": 1},
            "stopReason": reason,
        }
    else:
        message = {"role": "toolResult", "toolCallId": draw(IDS), "toolName": "read"}
        message["content"] = [{"type": "text", "text": draw(SAID)}]
        if draw(st.booleans()):
            others = st.dictionaries(st.sampled_from(["diff", "patch", "isError"]), SAID | st.booleans())
            message["details"] = draw(st.builds(lambda diff: {"diff": diff}, SAID) | others)
        nested = {"id": "n", "name": "write", "arguments": {"path": "nested.py", "content": "x\n"}}
        if draw(st.integers(0, 5)) == 0:
            message["nestedCalls"] = {"calls": [nested], "complete": True}
        message["isError"] = draw(st.booleans())
        if draw(st.integers(0, 5)) == 0:
            message["nestedCalls"] = {"calls": [nested], "complete": True}
    if stamp is not None:
        message["timestamp"] = stamp
    return draw(as_written(message))


@settings(
    max_examples=300 if THOROUGH else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(said=st.lists(messages(), min_size=1, max_size=6), ascii_only=st.booleans(), wide=st.booleans())
def test_any_message(
    tmp_path_factory: pytest.TempPathFactory, said: list[Any], ascii_only: bool, wide: bool
) -> None:
    path = Path(mkdtemp(dir=tmp_path_factory.getbasetemp())) / "s.jsonl"
    lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s", "cwd": "/home/ada/p"}]
    for number, message in enumerate(said):
        lines.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": f"{number - 1:08x}" if number else None,
                "timestamp": "2026-01-05T08:00:00.000Z",
                "message": message,
            }
        )
    between = (", ", ": ") if wide else (",", ":")
    text = "".join(json.dumps(line, ensure_ascii=ascii_only, separators=between) + "\n" for line in lines)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    agrees(path)


def test_a_reply_with_one_call_is_told_and_no_other() -> None:
    shapes = CallShapes(NATIVE_TOOLS)
    end = b'],"api":"x","stopReason":"toolUse","timestamp":1767600000000}}'
    read = b'{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a.py"}}'
    odd = b'{"id":"d","type":"toolCall","name":"read","arguments":{"path":"b.py"}}'
    assert shapes.one_call(b'{"message":{"content":[' + read + end) == ("c", "read", b"a.py", None)
    assert shapes.one_call(b'{"message":{"content":[' + read + b"," + odd + end) is None
    assert shapes.one_call(b'{"message":{"content":[' + odd + b"," + read + end) is None
    assert shapes.one_call(b'{"message":{"role":"assistant","content":[]}}') is NO_CALL
    assert shapes.one_call(b'{"message":{"content":[ {"type": "toolCall"} ]}}') is None
