"""New files for pi: a copy of one path, or another agent's session in pi's form. Rules are those of pi 1.5.2."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from leafward.agents.base import Resume, own_variables
from leafward.agents.forking import Draft, Past, Remark, is_own, told_blocks
from leafward.entries import Body, EntryIndex, Kind
from leafward.errors import Refused
from leafward.journal import encode_line, iso_time, refuse_unreachable
from leafward.journal.migrate import migrated_line
from leafward.journal.operations import LEAF_TYPE
from leafward.messages import PROJECTION, edit_targets
from leafward.scan import CURRENT_VERSION, decode_line
from leafward.times import iso_time as iso_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from leafward.agents.forking import Cut, Terms
    from leafward.session import Session

_ZERO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_COUNTS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_APIS = {"openai": "openai-responses", "anthropic": "anthropic-messages"}


def forked(session: Session, cut: Cut, terms: Terms) -> Draft:
    """The path to a cut as a new file beside the source: entries, ids and lines as they are, labels and name with them."""
    tip = session.columns.parent[cut.prompt] if cut.prompt >= 0 else cut.entry
    refuse_unreachable(session, tip)
    path = list(session.tree.path(tip))
    moves = {index for index in path if _is_move(session, index)}
    header = _header(session.cwd, terms, os.path.abspath(session.path))
    return _draft(
        header,
        session.path.parent,
        lambda: _copied(session, header, path, moves, terms),
        terms,
        len(path) - len(moves),
        len(moves),
    )


def _is_move(session: Session, index: int) -> bool:
    """Whether an entry only says that the leaf was moved here in the source: its log means nothing in another file."""
    if session.columns.kind[index] != Kind.CUSTOM:
        return False
    return (session.body(index) or {}).get("customType") == LEAF_TYPE


def _copied(
    session: Session, header: Body, path: list[int], dropped: set[int], terms: Terms
) -> Iterator[bytes]:
    columns = session.columns
    yield encode_line(header)
    instead: dict[str, str] = {}
    """By id of an entry that is left out: the entry that stands behind it."""
    after: str | None = None
    for index in reversed(path):
        known = columns.id(EntryIndex(index))
        if index not in dropped:
            after = known
        elif after is not None:
            instead[known] = after
    above: str | None = None
    labels: dict[EntryIndex, str] = {}
    name: str | None = None
    held = set(path) - dropped
    for index in path:
        if index in dropped:
            continue
        raw = (
            migrated_line(session, index) if session.version < CURRENT_VERSION else session.raw(index) + b"\n"
        )
        body = decode_line(raw)
        if body is None:
            raise Refused(f"{session.path.name} changed while it was read")
        raw = _linked(raw, body, above, instead)
        kind = columns.kind[index]
        if kind == Kind.LABEL:
            target = columns.index(str(body.get("targetId")))
            labels.pop(target, None)
            if body.get("label"):
                labels[target] = str(body["label"])
        elif kind == Kind.SESSION_INFO:
            given = body.get("name")
            name = given.strip() or None if isinstance(given, str) else None
        above = columns.id(EntryIndex(index))
        yield raw
    chain = _Chain(above, terms)
    if terms.injected:
        yield chain.injected()
    wanted = {target: text for target, text in session.labels.items() if target in held}
    for target in sorted({*labels, *wanted}):
        if target in held and labels.get(target) != wanted.get(target):
            yield chain.line({"type": "label", "targetId": columns.id(target), "label": wanted.get(target)})
    if session.name != name:
        yield chain.line({"type": "session_info", "name": session.name or ""})


def _linked(raw: bytes, body: Body, above: str | None, instead: Mapping[str, str]) -> bytes:
    """A line that hangs on what stands before it in the new file, and names nothing that was left out."""
    changed = {}
    if body.get("parentId") != above:
        changed["parentId"] = above
    first = body.get("firstKeptEntryId")
    if isinstance(first, str) and first in instead:
        changed["firstKeptEntryId"] = instead[first]
    return encode_line({**body, **changed}) if changed else raw


class _Chain:
    """Lines that are appended one behind the other."""

    def __init__(self, above: str | None, terms: Terms, taken: set[str] | None = None) -> None:
        self.above = above
        self.taken = taken or set()
        self._terms = terms

    def fresh(self) -> str:
        """An id that nothing has."""
        while (made := uuid4().hex[:8]) in self.taken:
            continue
        return made

    def line(self, body: Body, name: str | None = None) -> bytes:
        """One line, behind the last."""
        name = name if name is not None and name not in self.taken else self.fresh()
        self.taken.add(name)
        place = {
            "id": name,
            "parentId": self.above,
            "timestamp": body.get("timestamp") or iso_time(self._terms.now),
        }
        self.above = name
        return encode_line(
            {"type": body["type"], **place, **{key: value for key, value in body.items() if key not in place}}
        )

    def injected(self) -> bytes:
        """The text that is put in."""
        return self.line(
            {
                "type": "custom_message",
                "customType": f"leafward.{self._terms.injected_as}",
                "content": self._terms.injected,
                "display": True,
            }
        )


# --- another agent's session ---


def adopted(past: Past, terms: Terms, roots: tuple[Path, ...], *, flat: bool) -> Draft:
    """Another agent's session in pi's form: what pi sends for it is what the model had seen at the cut."""
    session = past.session
    cwd = session.cwd
    if not cwd:
        raise Refused(f"{session.path.name} does not say which folder it belongs to; pi needs one")
    header = _header(cwd, terms, os.path.abspath(session.path))
    folder = roots[0] if flat else roots[0] / folder_of(cwd)
    path = list(session.tree.path(past.cut.end))
    whole = _is_pi_shaped(past)
    counted = sum(1 for _ in past.messages())
    remarks = past.remarks()
    if past.context.compaction >= 0 and not whole:
        remarks.append(
            Remark(
                "summary-as-message",
                "what was kept beside the summary is told again, the summary as a message; what it stands for lies on a branch",
            )
        )
    return _draft(
        header,
        folder,
        lambda: _translated(past, header, path, terms, whole=whole),
        terms,
        counted,
        0,
        tuple(remarks),
    )


def folder_of(cwd: str) -> str:
    """The name of pi's folder for the sessions of a working folder."""
    inner = cwd[1:] if cwd.startswith(("/", "\\")) else cwd
    for sign in "/\\:":
        inner = inner.replace(sign, "-")
    return f"--{inner}--"


def _is_pi_shaped(past: Past) -> bool:
    """Whether pi's own rule gives the context of the path's entries one by one: the summary, what was kept, what came after."""
    session, context = past.session, past.context
    messages = context.messages
    order = [
        entry
        for position, entry in enumerate(messages.entry)
        if messages.role(position) != "system" and not is_own(session, Kind(messages.kinds[entry]), entry)
    ]
    if context.compaction < 0:
        return order == sorted(order)
    if not order or order[0] != context.compaction:
        return False
    rest = order[1:]
    kept = [entry for entry in rest if entry < context.compaction]
    if rest != sorted(rest) or not kept:
        return rest == sorted(rest)
    said = [entry for entry in session.tree.path(context.compaction) if kept[0] <= entry < context.compaction]
    spoken = [entry for entry in said if _native_kind(session, entry)]
    return spoken == kept


def _native_kind(session: Session, entry: int) -> bool:
    """Whether an entry says something that pi would send."""
    kind = Kind(session.columns.kind[entry])
    if kind in (
        Kind.USER,
        Kind.ASSISTANT,
        Kind.TOOL_RESULT,
        Kind.BASH,
        Kind.CUSTOM_ROLE,
        Kind.BRANCH_SUMMARY,
    ):
        return True
    return kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED) and not is_own(session, kind, entry)


def _translated(past: Past, header: Body, path: list[int], terms: Terms, *, whole: bool) -> Iterator[bytes]:
    session, compaction = past.session, past.context.compaction
    yield encode_line(header)
    chain = _Chain(None, terms)
    written: dict[str, str] = {}
    """By id in the source: the id in the new file."""
    until = len(path) if whole else path.index(compaction) if compaction >= 0 else 0
    for index in path[:until]:
        for body in _entry(past, index, written):
            name = session.columns.id(EntryIndex(index))
            yield chain.line(body, name)
            written.setdefault(name, str(chain.above))
    if not whole:
        chain.above = None
        for said, message in past.messages():
            name = session.columns.id(said.entry)
            yield chain.line(_said(message, said.role), name)
            written[name] = str(chain.above)
    if terms.injected:
        yield chain.injected()
    for target, text in sorted(session.labels.items()):
        name = session.columns.id(target)
        if name in written:
            yield chain.line({"type": "label", "targetId": written[name], "label": text})
    if session.name:
        yield chain.line({"type": "session_info", "name": session.name})


def _entry(past: Past, index: int, written: Mapping[str, str]) -> Iterator[Body]:
    """An entry of another agent as lines of pi; none where pi has no use for it."""
    session = past.session
    kind = Kind(session.columns.kind[index])
    body = session.body(index)
    if body is None:
        return
    stamp = {"timestamp": body["timestamp"]} if isinstance(body.get("timestamp"), str) else {}
    if kind is Kind.COMPACTION:
        yield stamp | _compaction(session, index, body, written)
    elif kind is Kind.CONTEXT_EDIT:
        for target in edit_targets(body):
            if target in written:
                replaced = {key: body[key] for key in ("replacement",) if key in body}
                yield stamp | {"type": "context_edit", "targetId": written[target], **replaced}
    elif kind is Kind.BRANCH_SUMMARY:
        yield stamp | {"type": "branch_summary", "fromId": "root", "summary": body.get("summary") or ""}
    elif _native_kind(session, index):
        message = body.get("message")
        if kind is Kind.CUSTOM_MESSAGE:
            message = {"role": "custom", "content": body.get("content")}
        if isinstance(message, dict):
            message = _without_thoughts(message)
            if message is not None:
                yield stamp | _said(message, str(message.get("role")))


def _without_thoughts(message: Body) -> Body | None:
    """A reply as another provider can take it; None where nothing is left of it."""
    if message.get("role") != "assistant":
        return message
    content = told_blocks(message)
    return {**message, "content": content} if content else None


def _compaction(session: Session, index: int, body: Body, written: Mapping[str, str]) -> Body:
    """A compaction that pi projects as its agent did: what it kept after the summary begins at the first of these."""
    named = body.get(PROJECTION)
    first = body.get("firstKeptEntryId")
    if isinstance(named, dict):
        after = named.get("after")
        first = next((one for one in after if one in written), None) if isinstance(after, list) else None
    tokens = body.get("tokensBefore")
    made: Body = {
        "type": "compaction",
        "summary": body.get("summary") or "",
        # An id that is its own keeps nothing before it (pi 1.5.2).
        "firstKeptEntryId": written.get(str(first), session.columns.id(EntryIndex(index))),
        "tokensBefore": tokens if isinstance(tokens, int) else 0,
    }
    details = body.get("details")
    return made | ({"details": details} if isinstance(details, dict) else {})


def _said(message: Body, role: str) -> Body:
    """A message of a context as an entry of pi."""
    if role in ("compactionSummary", "branchSummary", "custom"):
        content: Any = message.get("content") if role == "custom" else message.get("summary")
        kind = "message" if role == "custom" else "summary"
        return {
            "type": "custom_message",
            "customType": f"leafward.{kind}",
            "content": content if content is not None else "",
            "display": True,
        }
    kept = {key: value for key, value in message.items() if key in _FIELDS.get(role, ("role", "content"))}
    if role == "assistant":
        kept = {**_REPLY, **kept, "usage": _usage(message.get("usage"))}
        kept.setdefault("api", _APIS.get(str(kept["provider"]), "openai-completions"))
        kept["stopReason"] = kept["stopReason"] if kept["stopReason"] in _STOPS else "stop"
    elif role == "toolResult":
        kept = {"isError": False, **kept}
    kept.setdefault("timestamp", 0)
    body: Body = {"type": "message", "message": kept}
    stamp = iso_of(kept["timestamp"]) if isinstance(kept["timestamp"], int) and kept["timestamp"] else None
    return {**body, "timestamp": stamp} if stamp else body


_FIELDS = {
    "user": ("role", "content", "timestamp"),
    "assistant": ("role", "content", "api", "provider", "model", "stopReason", "timestamp", "errorMessage"),
    "toolResult": ("role", "toolCallId", "toolName", "content", "isError", "timestamp"),
    "bashExecution": (
        *(
            "role",
            "command",
            "output",
            "exitCode",
            "cancelled",
            "truncated",
            "timestamp",
            "excludeFromContext",
        ),
    ),
}
_STOPS = frozenset({"stop", "length", "toolUse", "error", "aborted"})
_REPLY: Body = {"provider": "unknown", "model": "unknown", "stopReason": "stop"}


def _usage(given: object) -> Body:
    """Token counts with every number that pi reads."""
    counts = given if isinstance(given, dict) else {}
    made: Body = {}
    for key in _COUNTS:
        value = counts.get(key)
        made[key] = value if isinstance(value, int) and not isinstance(value, bool) else 0
    cost = counts.get("cost")
    given_cost = cost if isinstance(cost, dict) else {}
    made["cost"] = {
        key: value if isinstance(value := given_cost.get(key), (int, float)) else 0 for key in _ZERO_COST
    }
    return made


# --- what both have ---


def _header(cwd: str, terms: Terms, source: str) -> Body:
    if not cwd:
        raise Refused("the session does not say which folder it belongs to; pi needs one")
    return {
        "type": "session",
        "version": CURRENT_VERSION,
        "id": str(uuid4()),
        "timestamp": iso_time(terms.now),
        "cwd": cwd,
        "parentSession": source,
    }


def _draft(
    header: Body,
    folder: Path,
    content: Any,
    terms: Terms,
    kept: int,
    left: int,
    remarks: tuple[Remark, ...] = (),
) -> Draft:
    moment = str(header["timestamp"]).replace(":", "-").replace(".", "-")
    file = folder.absolute() / f"{moment}_{header['id']}.jsonl"
    cwd = str(header["cwd"])
    return Draft(
        agent="pi",
        id=str(header["id"]),
        path=file,
        file=file,
        content=content,
        resume=Resume(("pi", "--session", str(file)), cwd, own_variables(terms.env)),
        kept=kept,
        left=left,
        remarks=remarks,
    )
