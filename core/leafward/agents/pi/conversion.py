"""Another agent's session in pi's format (pi 1.5.2): pi sends for it the context that the model had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.conversation import COUNTS_COPIED, is_own, portable_blocks
from leafward.agents.pi.new_file import Chain, draft_of, folder_of, header_of
from leafward.base.times import iso_time
from leafward.session.entries import Body, EntryIndex, Kind, tool_calls
from leafward.session.headlines.session_title import title_of
from leafward.session.journal.lines import encode_line
from leafward.session.journal.write import WriteRemark
from leafward.session.messages import BROKEN_OFF, NEVER_SENT, PROJECTION, edit_targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.agents.conversation import Conversation, ConversationMessage
    from leafward.agents.fork_draft import ForkDraft, ForkTerms
    from leafward.session.session import Session

_ZERO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_COUNTS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_APIS = {"openai": "openai-responses", "anthropic": "anthropic-messages"}


def converted(past: Conversation, terms: ForkTerms, root: Path, *, flat: bool) -> ForkDraft:
    """Another agent's session in pi's format: pi sends for it the context that the model had at the cut."""
    session = past.session
    header = header_of(session, terms)
    folder = root if flat else root / folder_of(header["cwd"])
    if past.healed is not None:
        return draft_of(
            header,
            folder,
            lambda: _healed(past, header, terms),
            terms,
            len(past.healed),
            0,
            (*past.remarks(), *_counts_left(past.healed)),
        )
    path = list(session.tree.path(past.cut.tip(session)))
    counted = sum(1 for _ in past.messages())
    whole = not past.moved and _is_pi_shaped(past)
    # Entries converted one by one include replies that pi does not send either.
    remarks = [*past.remarks(unsent=not whole), COUNTS_COPIED]
    copied_unsent = past.broken_off + past.unsent if whole else 0
    if past.context.compaction >= 0 and not whole:
        remarks.append(
            WriteRemark(
                "summary-as-message",
                "the kept messages are copied, the summary becomes a message; what it replaced is on a branch",
            )
        )
    return draft_of(
        header,
        folder,
        lambda: _translated(past, header, path, terms, whole=whole),
        terms,
        counted,
        past.left - copied_unsent,
        tuple(remarks),
        _earlier(past, path, whole=whole),
    )


def _earlier(past: Conversation, path: Sequence[int], *, whole: bool) -> int:
    """The number of messages from before a compaction that are converted beside those of the context."""
    compaction = past.context.compaction
    if compaction < 0:
        return 0
    above = path[: path.index(compaction)]
    in_context = set(past.context.messages.entry) if whole else set()
    return sum(1 for entry in above if entry not in in_context and _native_kind(past.session, entry))


def _counts_left(messages: Iterable[ConversationMessage]) -> Iterator[WriteRemark]:
    """A remark where replies of a healed session lose their recorded counts."""
    if any(one.role == "assistant" and one.usage is None for one in messages):
        yield WriteRemark(
            "counts-left",
            "token counts after the first change are left out; sizes are estimated until the next reply",
        )


def _healed(past: Conversation, header: Body, terms: ForkTerms) -> Iterator[bytes]:
    yield encode_line(header)
    chain = Chain(None, terms)
    for message in past.portable_messages():
        body: Body = {"role": message.role, "content": list(message.content), "timestamp": message.time}
        if message.role == "result":
            body |= {"role": "toolResult", "toolCallId": message.call, "toolName": message.tool}
            body["isError"] = message.failed
        elif message.role == "assistant":
            body |= {"provider": message.provider or "unknown", "model": message.model or "unknown"}
            body["stopReason"] = message.stop
            body["usage"] = message.usage
        yield chain.line(_native_message(body, str(body["role"])))
    # The first prompt, by which pi lists a session without a name, may lie before a compaction.
    if title := past.session.name or title_of(past.session):
        yield chain.line({"type": "session_info", "name": title})


def _is_pi_shaped(past: Conversation) -> bool:
    """Whether pi's own rule gives the context of the path's entries one by one: the summary, the kept entries, the later ones."""
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
    path = [entry for entry in session.tree.path(context.compaction) if kept[0] <= entry < context.compaction]
    spoken = [entry for entry in path if _native_kind(session, entry)]
    return spoken == kept


def _native_kind(session: Session, entry: int) -> bool:
    """Whether an entry has content that pi would send."""
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


def _translated(
    past: Conversation, header: Body, path: list[int], terms: ForkTerms, *, whole: bool
) -> Iterator[bytes]:
    session, compaction = past.session, past.context.compaction
    yield encode_line(header)
    chain = Chain(None, terms)
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
        for outline, message in past.messages():
            name = session.columns.id(outline.entry)
            yield chain.line(_native_message(message, outline.role), name)
            written[name] = str(chain.above)
    if terms.injected:
        yield chain.injected()
    for target, text in sorted(session.labels.items()):
        name = session.columns.id(target)
        if name in written:
            yield chain.line({"type": "label", "targetId": written[name], "label": text})
    if title := session.name or session.title:
        yield chain.line({"type": "session_info", "name": title})


def _entry(past: Conversation, index: int, written: Mapping[str, str]) -> Iterator[Body]:
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
        if kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED):
            message = {"role": "custom", "content": body.get("content")}
        if isinstance(message, dict):
            message = _without_thoughts(message)
            if message is not None:
                yield stamp | _native_message(message, str(message.get("role")))


def _without_thoughts(message: Body) -> Body | None:
    """A reply in a form that another provider accepts; None where it has no content left."""
    if message.get("role") != "assistant":
        return message
    content = portable_blocks(message)
    return {**message, "content": content} if content else None


def _compaction(session: Session, index: int, body: Body, written: Mapping[str, str]) -> Body:
    """A compaction that pi projects as its agent did: the entries kept after the summary begin at the first kept one."""
    projection = body.get(PROJECTION)
    first = body.get("firstKeptEntryId")
    if isinstance(projection, dict):
        after = projection.get("after")
        first = next((one for one in after if one in written), None) if isinstance(after, list) else None
    tokens = body.get("tokensBefore")
    made: Body = {
        "type": "compaction",
        "summary": body.get("summary") or "",
        # A compaction that names its own id keeps nothing before it (pi 1.5.2).
        "firstKeptEntryId": written.get(str(first), session.columns.id(EntryIndex(index))),
        "tokensBefore": tokens if isinstance(tokens, int) else 0,
    }
    details = body.get("details")
    return made | ({"details": details} if isinstance(details, dict) else {})


def _native_message(message: Body, role: str) -> Body:
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
        if kept["stopReason"] not in _STOPS or (
            kept["stopReason"] in BROKEN_OFF and message.get(NEVER_SENT) is not True
        ):
            # pi sends no reply that was broken off; of an agent that does, the reply has to look complete.
            kept["stopReason"] = "toolUse" if tool_calls(message) else "stop"
    elif role == "toolResult":
        kept = {"isError": False, **kept}
    kept.setdefault("timestamp", 0)
    body: Body = {"type": "message", "message": kept}
    stamp = iso_time(kept["timestamp"]) if isinstance(kept["timestamp"], int) and kept["timestamp"] else None
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
_STOPS = ("stop", "length", "toolUse", "error", "aborted")
_REPLY: Body = {"provider": "unknown", "model": "unknown", "stopReason": "stop"}


def _usage(usage: object) -> Body:
    """Token counts with every number that pi reads."""
    counts = usage if isinstance(usage, dict) else {}
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
