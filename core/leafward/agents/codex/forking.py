"""New rollouts: a copy of a thread's lines up to a cut, or another agent's session told in Codex's form (0.47 to 0.169)."""

from __future__ import annotations

import json
import os
import re
import secrets
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from leafward import __version__
from leafward.agents.base import Resume, own_variables
from leafward.agents.codex.describing import OURS
from leafward.agents.codex.records import BEGINS, HEAD, STARTS, Role, line_at, line_of, payload_of
from leafward.agents.codex.source import lines_in
from leafward.agents.codex.store import LIVE_FOLDER
from leafward.agents.forking import Draft, Remark
from leafward.agents.lines import seams
from leafward.agents.owned import own_cut
from leafward.entries import BOOKKEEPING, Kind
from leafward.errors import Refused
from leafward.journal import encode_line, iso_time
from leafward.scan import decode_line
from leafward.times import iso_time as iso_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.codex.chain import Step
    from leafward.agents.codex.reading import CodexReader
    from leafward.agents.codex.source import Rollout
    from leafward.agents.forking import Cut, Past, Terms, Told
    from leafward.agents.owned import OwnCut
    from leafward.columns import Columns
    from leafward.entries import Body
    from leafward.session import Session

_LOST = frozenset(
    {
        *("history_base", "forked_from_ordinal_exclusive", "parent_thread_id"),
        *("agent_nickname", "agent_role", "agent_path", OURS),
    }
)
"""Fields of a thread's description that say where another one came from."""
_OF_TURN = (Role.MESSAGE, Role.TURN)
"""What stands right before a prompt, in files that do not say where a turn begins."""
_CLOSING = frozenset(
    {Role.QUIET, Role.COUNT, Role.USAGE, Role.ANSWER, Role.ECHO, Role.BOOKS, Role.NAME, Role.UNKNOWN}
)
"""What may still stand behind the last reply of a turn."""
_FUNCTION = re.compile(r"[^A-Za-z0-9_-]")


class _Stretch(NamedTuple):
    """Lines of one segment that are copied."""

    rollout: Rollout
    ordinal: int | None
    """The number of the first line that is no longer copied; None: `offset` says where it ends."""
    offset: int


def forked(
    reader: CodexReader,
    session: Session,
    cut: Cut,
    terms: Terms,
    home: str,
    env_set: tuple[tuple[str, str], ...],
) -> Draft:
    """The lines up to a cut, of all segments that lead there, in one file of their own. Raises Refused."""
    columns = reader.columns
    owned = own_cut(session, columns, cut)
    tip = owned.end if owned.prompt >= 0 else _last_put(reader, owned)
    if tip < 0:
        raise Refused("nothing of it lies in the files of Codex; --to pi takes everything along")
    step, offset = _place(reader, tip, owned.prompt)
    stretches = _leading_to(reader, step, offset)
    own = reader.chain.metas.get(step.segment.path, {})
    if step.segment.thread != session.id:
        own = next(
            (
                reader.chain.metas[one.segment.path]
                for one in reader.chain.steps
                if one.segment.thread == session.id and one.segment.path in reader.chain.metas
            ),
            own,
        )
    name = _fresh_id(terms)
    meta = {key: value for key, value in own.items() if key not in _LOST}
    paginated = own.get("history_mode") == "paginated"
    meta |= {
        "id": name,
        "session_id": name,
        "timestamp": iso_time(terms.now),
        "forked_from_id": session.id,
        "source": "cli",
        "thread_source": "user",
        "history_mode": "paginated" if paginated else "legacy",
        "cwd": _folder(session),
    }
    meta.setdefault("originator", "leafward")
    meta.setdefault("cli_version", __version__)
    meta.setdefault("model_provider", _provider(home))
    remarks = [*owned.remarks()]
    if owned.entry >= 0 and not reader.stands_alone(owned.entry):
        text = "what was asked for stands only in a compaction: the new session ends right before that one"
        remarks.append(Remark("inside-compaction", text))
    if columns.kind.count(Kind.MALFORMED):
        remarks.append(Remark("damaged-lines", "damaged lines are left out; whole records on them are kept"))
    return _draft(
        name,
        home,
        terms,
        _folder(session),
        lambda: _copied(meta, stretches, terms, paginated=paginated),
        _depth(columns, tip),
        tuple(remarks),
        env_set,
    )


def _last_put(reader: CodexReader, owned: OwnCut) -> int:
    """The last entry of the context: what Codex put in behind the last reply is part of it, where that is asked for."""
    columns = reader.columns
    at: int = owned.entry
    while at >= 0 and at != owned.end:
        if columns.kind[at] not in BOOKKEEPING and reader.stands_alone(at):
            return at
        at = columns.parent[at]
    return owned.end


def _depth(columns: Columns, index: int) -> int:
    """How many entries a path has."""
    found = 0
    while index >= 0:
        found += 1
        index = columns.parent[index]
    return found


def _folder(session: Session) -> str:
    if not session.cwd:
        raise Refused(f"{session.path.name} does not say which folder it belongs to; Codex needs one")
    return session.cwd


# --- where the copy ends ---


def _place(reader: CodexReader, end: int, prompt: int) -> tuple[Step, int]:
    """The segment that the copy ends in, and the byte before which it ends."""
    rollout, _, stop = reader.stretch(end)
    if prompt >= 0:
        following, start, _ = reader.stretch(prompt)
        begin = stop if following is rollout and stop <= start else 0
        return _step_of(reader, following), _turn_start(following, begin, start)
    if reader.columns.kind[end] in (Kind.TOOL_RESULT, Kind.CUSTOM_MESSAGE):
        return _step_of(reader, rollout), stop
    return _step_of(reader, rollout), _turn_end(rollout, stop)


def _step_of(reader: CodexReader, rollout: Rollout) -> Step:
    return next(step for step in reader.chain.steps if step.rollout is rollout)


def _turn_start(rollout: Rollout, begin: int, prompt: int) -> int:
    """Where the turn of a prompt begins: at the event that says so, else at the run of context lines before the prompt."""
    marked: int | None = None
    run: int | None = None
    for data, start, end, at in _lines_from(rollout, begin):
        if at >= prompt:
            break
        line = line_at(data, start, end)
        if line is None:
            continue
        if line.role is Role.BOOKS and _starts_turn(data, start, end):
            marked = at
        if line.role in _OF_TURN or _is_world(data, start, end):
            run = at if run is None else run
        else:
            run = None
    if marked is not None:
        return marked
    return run if run is not None else prompt


def _turn_end(rollout: Rollout, begin: int) -> int:
    """Where what belongs to a turn ends: at the first line behind its last reply that does not close it."""
    last = begin
    for data, start, end, at in _lines_from(rollout, begin):
        line = line_at(data, start, end)
        if line is not None and (line.role not in _CLOSING or _starts_turn(data, start, end)):
            return at
        last = at + end + 1 - start
    return last


def _lines_from(rollout: Rollout, begin: int) -> Iterator[tuple[bytes, int, int, int]]:
    for buffer, whole, base in rollout.blocks(begin=begin):
        yield from lines_in(buffer, whole or len(buffer), base)


def _starts_turn(data: bytes, start: int, end: int) -> bool:
    head = HEAD.match(data, start, end)
    if head is not None:
        return head[2] == b"event_msg" and head[3] is not None and head[3].decode() in STARTS
    body = decode_line(data[start:end]) or {}
    return body.get("type") == "event_msg" and payload_of(body).get("type") in STARTS


def _is_world(data: bytes, start: int, end: int) -> bool:
    head = HEAD.match(data, start, end)
    return head is not None and head[2] == b"world_state"


# --- which lines are copied ---


def _leading_to(reader: CodexReader, step: Step, offset: int) -> list[_Stretch]:
    """The stretches of all segments that lead to a place in one, the first one first. Raises Refused where one is missing."""
    found = [_Stretch(step.rollout, None, offset)]
    by_id = {one.segment.id: one for one in reader.chain.steps}
    seen = {step.segment.path}
    while step.base is not None:
        if step.missing is not None:
            raise Refused(step.missing)
        ordinal = step.base.ordinal
        step = by_id[step.base.segment]
        if step.segment.path in seen:
            raise Refused(f"segment {step.segment.id} is based on itself")
        seen.add(step.segment.path)
        found.append(_Stretch(step.rollout, ordinal, 0))
    found.reverse()
    return found


def _copied(meta: Body, stretches: list[_Stretch], terms: Terms, *, paginated: bool) -> Iterator[bytes]:
    stamp = iso_time(terms.now)
    number = 0
    first: Body = {"timestamp": stamp, "ordinal": 0, "type": "session_meta", "payload": meta}
    yield encode_line(first if paginated else _unnumbered(first))
    for stretch in stretches:
        for line in _records(stretch):
            if _is_meta(line):
                continue
            number += 1
            yield _numbered(line, number, stamp) if paginated else line + b"\n"
    if terms.injected:
        said = _item(_message("user", [_text("input_text", terms.injected)]), stamp)
        yield encode_line({**said, "ordinal": number + 1} if paginated else said)


def _records(stretch: _Stretch) -> Iterator[bytes]:
    """The records of a stretch, a line each: what is whole on a damaged line, and nothing that is broken."""
    for data, start, end, at in stretch.rollout.lines():
        if stretch.ordinal is None and at >= stretch.offset:
            return
        stop = end - 1 if data[end - 1 : end] == b"\r" and end > start else end
        for first, last in _pieces(data, start, stop):
            if stretch.ordinal is not None:
                number = _number_of(data, first, last)
                if number is not None and number >= stretch.ordinal:
                    return
            if stretch.ordinal is None and at + first - start >= stretch.offset:
                return
            yield data[first:last]


def _pieces(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    if start == end:
        return
    if decode_line(data[start:end]) is not None:
        yield start, end
        return
    for first, last in seams(data, start, end, BEGINS):
        if decode_line(data[first:last]) is not None:
            yield first, last


def _number_of(data: bytes, start: int, end: int) -> int | None:
    head = HEAD.match(data, start, end)
    if head is not None:
        return int(head[1]) if head[1] is not None else None
    return line_of(decode_line(data[start:end]) or {}).ordinal


def _is_meta(line: bytes) -> bool:
    head = HEAD.match(line)
    if head is not None:
        return head[2] == b"session_meta"
    return (decode_line(line) or {}).get("type") == "session_meta"


def _numbered(line: bytes, number: int, stamp: str) -> bytes:
    """A line with its number in the new file; nothing else of it changes."""
    head = HEAD.match(line)
    if head is not None and head[1] is not None:
        return line[: head.start(1)] + str(number).encode() + line[head.end(1) :] + b"\n"
    body = decode_line(line) or {}
    placed = {"timestamp": body.get("timestamp") or stamp, "ordinal": number}
    return encode_line({**placed, **{key: value for key, value in body.items() if key not in placed}})


def _unnumbered(body: Body) -> Body:
    return {key: value for key, value in body.items() if key != "ordinal"}


# --- another agent's session ---


def adopted(past: Past, terms: Terms, home: str, env_set: tuple[tuple[str, str], ...]) -> Draft:
    """Another agent's session: a thread without Codex's own context, which Codex adds when it goes on."""
    session = past.session
    name = _fresh_id(terms)
    stamp = iso_time(terms.now)
    meta: Body = {
        "id": name,
        "session_id": name,
        "timestamp": stamp,
        "cwd": _folder(session),
        "originator": "leafward",
        "cli_version": __version__,
        "source": "cli",
        "thread_source": "user",
        "model_provider": _provider(home),
        "history_mode": "legacy",
        OURS: {"forkedFrom": os.path.abspath(session.path)},
    }
    kept = sum(1 for _ in past.told())
    return _draft(
        name,
        home,
        terms,
        meta["cwd"],
        lambda: _told_lines(past, meta, terms),
        kept,
        tuple(past.remarks()),
        env_set,
    )


def _told_lines(past: Past, meta: Body, terms: Terms) -> Iterator[bytes]:
    now = iso_time(terms.now)
    yield encode_line({"timestamp": now, "type": "session_meta", "payload": meta})
    turn: str | None = None
    last = ""
    for told in past.told():
        stamp = iso_of(told.time) if told.time else now
        if told.role == "user" and told.typed:
            if turn is not None:
                yield _event(_done(turn, last), stamp)
            turn, last = _fresh_id(terms), ""
            yield _event({"type": "task_started", "turn_id": turn, "model_context_window": None}, stamp)
        for body in _lines_of(told):
            yield encode_line({"timestamp": stamp, **body})
        if told.role == "assistant":
            last = (
                "\n".join(str(block["text"]) for block in told.content if block.get("type") == "text") or last
            )
    if turn is not None:
        yield _event(_done(turn, last), now)
    if terms.injected:
        yield encode_line(_item(_message("user", [_text("input_text", terms.injected)]), now))


def _done(turn: str, last: str) -> Body:
    return {"type": "task_complete", "turn_id": turn, "last_agent_message": last or None}


def _lines_of(told: Told) -> Iterator[Body]:
    """One message as items, and as the events that the list and the transcript are made from."""
    if told.role == "result":
        output: Any = _output(told)
        yield _of_item({"type": "function_call_output", "call_id": told.call, "output": output})
        return
    if told.role == "user":
        yield _of_item(_message("user", [_part(block) for block in told.content]))
        if told.typed:
            text = "\n".join(str(block["text"]) for block in told.content if block.get("type") == "text")
            event = {
                "type": "user_message",
                "message": text,
                "images": [],
                "local_images": [],
                "text_elements": [],
            }
            yield {"type": "event_msg", "payload": event}
        return
    for block in told.content:
        if block.get("type") == "toolCall":
            call = {
                "type": "function_call",
                "name": _FUNCTION.sub("_", str(block.get("name") or ""))[:64] or "tool",
                "arguments": json.dumps(block.get("arguments") or {}, ensure_ascii=False),
                "call_id": str(block.get("id")),
            }
            yield _of_item(call)
        elif block.get("text"):
            yield _of_item(_message("assistant", [_text("output_text", str(block["text"]))]))
            yield {"type": "event_msg", "payload": {"type": "agent_message", "message": str(block["text"])}}


def _output(told: Told) -> Any:
    """What a call gave: a text, or parts where there are images among it."""
    if any(block.get("type") == "image" for block in told.content):
        return [_part(block) for block in told.content]
    return "\n".join(str(block.get("text") or "") for block in told.content)


def _part(block: Body) -> Body:
    if block.get("type") == "image":
        kind = block.get("mimeType") or "image/png"
        return {"type": "input_image", "image_url": f"data:{kind};base64,{block.get('data') or ''}"}
    return _text("input_text", str(block.get("text") or ""))


def _text(kind: str, text: str) -> Body:
    return {"type": kind, "text": text}


def _message(role: str, content: list[Body]) -> Body:
    return {"type": "message", "role": role, "content": content}


def _of_item(item: Body) -> Body:
    return {"type": "response_item", "payload": item}


def _item(item: Body, stamp: str) -> Body:
    return {"timestamp": stamp, **_of_item(item)}


def _event(payload: Body, stamp: str | None) -> bytes:
    return encode_line({"timestamp": stamp, "type": "event_msg", "payload": payload})


# --- what both have ---


def _provider(home: str) -> str:
    """The provider that the user's own settings name; interactive Codex does not open a thread without one (0.169)."""
    try:
        settings = tomllib.loads(Path(home, "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return "openai"
    profile = settings.get("profiles", {}).get(settings.get("profile"), {})
    for place in (profile, settings):
        given = place.get("model_provider") if isinstance(place, dict) else None
        if isinstance(given, str) and given:
            return given
    return "openai"


def _fresh_id(terms: Terms) -> str:
    """A UUID made from the time, as Codex makes its own (version 7)."""
    milliseconds = int(terms.now.timestamp() * 1000) & ((1 << 48) - 1)
    number = milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def _draft(
    name: str,
    home: str,
    terms: Terms,
    cwd: str,
    content: Any,
    kept: int,
    remarks: tuple[Remark, ...],
    env_set: tuple[tuple[str, str], ...],
) -> Draft:
    local = terms.now.astimezone()
    folder = Path(home, LIVE_FOLDER, f"{local:%Y}", f"{local:%m}", f"{local:%d}")
    file = folder / f"rollout-{local:%Y-%m-%dT%H-%M-%S}-{name}.jsonl"
    return Draft(
        agent="codex",
        id=name,
        path=file,
        file=file,
        content=content,
        resume=Resume(("codex", "resume", "-C", cwd, name), cwd, own_variables(terms.env), env_set),
        kept=kept,
        left=0,
        remarks=remarks,
    )
