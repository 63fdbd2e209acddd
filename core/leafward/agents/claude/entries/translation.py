"""Entries of a transcript as native lines, made one at a time from their rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.call_folders import call_folders
from leafward.agents.claude.entries.cleared_pictures import without_pictures
from leafward.agents.claude.entries.contents import (
    blocks,
    exit_code,
    in_chain,
    injected_name,
    is_for_show,
    is_of_agent,
    patch_text,
    reply_message,
    reply_usage,
)
from leafward.agents.claude.entries.record_words import with_words
from leafward.agents.claude.entries.records import (
    attachment_text,
    cleared_in,
    command_in,
    message_of,
    picture_in,
    queued_in,
    replacements_in,
    request_in,
    results_in,
    rows_in,
    text_in,
    typed_beside,
    typed_in,
)
from leafward.agents.claude.entries.row_notes import INFERRED, metadata_of
from leafward.agents.claude.entries.versions import holds_files_in_memory
from leafward.agents.native_lines import CallNames, frame, injected, kept_ids, message
from leafward.base.times import milliseconds, written_time
from leafward.session.entries import (
    BOOKKEEPING,
    CALL_FOLDERS,
    LISTED,
    NO_ENTRY,
    TYPED,
    EntryIndex,
    Kind,
    blocks_of,
)
from leafward.session.messages import MAY_HAVE_RUN, NEVER_SENT, PROJECTION, UNSTORED_FILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.claude.entries.compactions import KeptEntries
    from leafward.agents.claude.entries.entry_builder import EntryBuilder
    from leafward.session.entries import Body

_PUT_IN = (Kind.CUSTOM_MESSAGE, Kind.INJECTED)
_TYPED_SIGNS = re.compile(rb"command-name|bash-input|\\u")
"""Every row that the agent put in and that holds typed text contains one of these (`records.command_in`)."""
_ANSWERS = 64
"""Entries behind a reply that are searched for a result."""
_STOPPED = ("user-rejected", "interrupted", "cancelled")
"""Kinds of calls that somebody stopped: 2.1.332 tells those that had not begun yet, with the same text."""
CLEARED = "[Old tool result content cleared]"
"""Text in place of a result that a microcompaction cleared."""


class Translator:
    """Translates the entries of one transcript. From any thread."""

    def __init__(
        self,
        builder: EntryBuilder,
        region: Callable[[int], bytes],
        row: Callable[[int], bytes],
        folder: str,
    ) -> None:
        self.columns = builder.columns
        self.region = region
        self.row = row
        """The row at an offset."""
        self._folder = folder
        """That of the session."""
        self._parts = builder.parts
        self._more = builder.more
        self._kept = builder.compactions.kept
        self._boundary = builder.compactions.boundary
        self._beside = builder.beside
        starts = builder.rows.start
        self._inferred = {starts[row] for row, one in builder.rows.notes.boundaries.items() if one.inferred}
        self._left_out = {builder.entry[row] for row in builder.rows.left_out}
        inherited = builder.rows.notes.facts.inherited
        self._inherited = builder.entry[inherited] if inherited >= 0 else NO_ENTRY
        entry = builder.entry
        self._cleared_pictures = {
            entry[row]: [entry[one] for one in cleared]
            for row, cleared in builder.rows.cleared_pictures.items()
        }
        self._costs = builder.costs
        start = builder.rows.start
        self._instead = {builder.entry[first]: start[row] for first, row in builder.instead.items()}
        self._results: dict[str, int] = {}
        """The nearest results above the edits that were asked for, by their calls."""
        self._looked_above: set[int] = set()
        """Entries above which every result is known."""
        self._calls = CallNames(self.columns, self._calls_in)

    def rows(self, index: int) -> list[Body]:
        """The rows of an entry: all rows of a reply, the first row of any other entry."""
        at = self._instead.get(index)
        if at is not None:
            return [row for row in (next(rows_in(self.row(at)), None),) if row is not None]
        found = list(rows_in(self.region(index)))
        if not found or self.columns.kind[index] != Kind.ASSISTANT:
            return found[:1]
        name = message_of(found[0]).get("id")
        if not name:
            return found[:1]
        found += [row for at in self._more.get(index, ()) for row in rows_in(self.row(at))]
        mine: dict[str, Body] = {}
        for row in found:
            if message_of(row).get("id") == name and row.get("type") in (None, "assistant"):
                mine[str(row.get("uuid") or id(row))] = row
        return in_chain(mine)

    def body(self, index: int) -> Body | None:
        """An entry as a native line; None where no part of it can be read."""
        kind = Kind(self.columns.kind[index])
        if kind is Kind.MALFORMED:
            return None
        found = self.rows(index)
        if not found:
            return None
        body = self._frame(index, found[0])
        body.update(self._translated(index, kind, found, milliseconds(found[0].get("timestamp"))))
        return body

    def brief(self, index: int) -> Body | None:
        """The content of an entry without time, cost and source; None also for text that nobody typed.

        An entry of any other kind is complete.
        """
        kind = Kind(self.columns.kind[index])
        if kind in _PUT_IN:
            if index not in self._instead and _TYPED_SIGNS.search(self.region(index)) is None:
                return None
        elif kind not in (Kind.USER, Kind.ASSISTANT):
            return self.body(index)
        found = self.rows(index)
        if not found:
            return None
        if kind is Kind.ASSISTANT:
            return message(self._reply(index, found, counted=False), None)
        return self._translated(index, kind, found, None)

    def outcome(self, index: int) -> tuple[str, bool] | None:
        """The call that an entry answers, and whether it failed; None where it is not a result, or cannot be read."""
        found = self.rows(index) if self.columns.kind[index] == Kind.TOOL_RESULT else []
        if not found:
            return None
        block = self._answer_in(index, results_in(found[0]))
        return str(block.get("tool_use_id") or ""), block.get("is_error") is True

    def usage(self, index: int) -> Body | None:
        """The usage of a reply that is counted here, or of an entry that tells only a cost; no other entry has any."""
        kind = self.columns.kind[index]
        if kind == Kind.USAGE:
            body = self.body(index)
            return body["usage"] if body is not None else None
        if kind != Kind.ASSISTANT or index in self._left_out or index == self._inherited:
            return None
        return reply_usage(self.rows(index))

    def _answer_in(self, index: int, results: list[Body]) -> Body:
        """The result of an entry, among the results of its row."""
        part = self._parts.get(index, 0)
        return results[part] if part < len(results) else {}

    def _frame(self, index: int, row: Body) -> Body:
        body = frame(self.columns, index)
        stamp = written_time(row.get("timestamp"))
        if stamp is not None:
            body["timestamp"] = stamp
        source = {name: row[name] for name in _SOURCE if row.get(name) is not None}
        copied = row.get("forkedFrom")
        if isinstance(copied, dict):
            source["forkedFrom"] = copied
        body["source"] = source
        return body

    def _translated(self, index: int, kind: Kind, found: list[Body], stamp: int | None) -> Body:
        row = found[0]
        if kind is Kind.USER:
            if row.get("type") == "attachment":
                return message({"role": "user", "content": _attached(row)}, stamp) | {TYPED: queued_in(row)}
            content = typed_beside(row) if results_in(row) else message_of(row).get("content")
            own: Body = {"role": "user", "content": blocks(content)}
            body = message({**own, NEVER_SENT: True} if is_for_show(row) else own, stamp)
            typed = typed_in(text_in(content)) or request_in(text_in(content))
            return body if typed is None else {**body, TYPED: typed}
        if kind is Kind.ASSISTANT:
            own = self._reply(index, found)
            if index in self._left_out:
                # The counts of the reply stand in its beginning.
                own.pop("usage", None)
                own[NEVER_SENT] = True
            elif index == self._inherited:
                # Counted where it was said.
                own.pop("usage", None)
            self._calls.remember(own["content"])
            return message(own, stamp)
        if kind is Kind.TOOL_RESULT:
            return message(self._result(index, row), stamp)
        if kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED):
            return {**_injected(row), NEVER_SENT: True} if index in self._beside else _injected(row)
        if kind is Kind.COMPACTION:
            return self._compaction(index, row)
        if kind is Kind.CONTEXT_EDIT:
            return self._edit(index, row)
        if kind is Kind.SESSION_INFO:
            return {"type": "session_info", "name": row.get("customTitle")}
        if kind is Kind.USAGE:
            usage = {**_NOTHING, "cost": {"total": self._costs.get(index, 0.0)}}
            return {"type": "usage", "kind": "cost", "usage": usage}
        if kind is Kind.UNKNOWN:
            data = {name: value for name, value in row.items() if name not in _ENVELOPE}
            return {"type": f"claude.{row.get('type')}", "data": data}
        return _books(row)

    def _reply(self, index: int, rows: list[Body], *, counted: bool = True) -> Body:
        """A reply, with the folders in which its calls ran."""
        own = reply_message(rows, counted=counted)
        folders = call_folders(rows, self._folder, lambda call: self._folder_behind(index, call))
        if folders:
            own[CALL_FOLDERS] = folders
        return own

    def _folder_behind(self, index: int, call: str) -> object:
        """The folder in the row of a call's result, among the entries that follow its reply."""
        kinds = self.columns.kind
        for entry in range(index + 1, min(index + _ANSWERS, len(kinds))):
            if kinds[entry] == Kind.ASSISTANT:
                break
            rows = self.rows(entry) if kinds[entry] == Kind.TOOL_RESULT else []
            if any(result.get("tool_use_id") == call for row in rows for result in results_in(row)):
                return rows[0].get("cwd")
        return None

    def _calls_in(self, index: int, call_bytes: bytes) -> list[tuple[str, str]] | None:
        found = self.rows(index)
        parts = [part for row in found for part in blocks_of(message_of(row).get("content"))]
        if not any(call_bytes in str(part.get("id")).encode("utf-8", "surrogatepass") for part in parts):
            return None
        content = reply_message(found)["content"]
        return [(block["id"], block["name"]) for block in content if block["type"] == "toolCall"]

    def _result(self, index: int, row: Body) -> Body:
        part, results = self._parts.get(index, 0), results_in(row)
        block = self._answer_in(index, results)
        call = str(block.get("tool_use_id") or "")
        content = blocks(block.get("content"))
        if part == len(results) - 1:
            # Data beside the results goes with the last of them, but a prompt is an entry of its own.
            apart = results + typed_beside(row)
            content += blocks([one for one in message_of(row)["content"] if one not in apart])
        answer: Body = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": self._calls.tool(index, call),
            "isError": block.get("is_error") is True,
            "content": content or [{"type": "text", "text": ""}],
        }
        result = row.get("toolUseResult")
        if len(results) == 1:
            details = _file_details(result)
            if details:
                answer["details"] = details
            if isinstance(result, dict) and isinstance(result.get("agentId"), str):
                answer["agentId"] = result["agentId"]
        if row.get("toolDenialKind") in _STOPPED and row.get("toolDenialBeforeRun") is not True:
            answer[MAY_HAVE_RUN] = True
        if answer["isError"]:
            code = exit_code(text_in(block.get("content")))
            if code is not None:
                answer["exitCode"] = code
        return answer

    # --- compactions and edits ---

    def _compaction(self, index: int, row: Body) -> Body:
        kept = self._kept[index]
        text = text_in(message_of(row).get("content")) or str(row.get("content") or "")
        body: Body = {
            "type": "compaction",
            "summary": text,
            PROJECTION: kept_ids(self.columns, kept.before, kept.after),
            "fromAgent": True,
        }
        at = self._boundary.get(index)
        boundary = next(rows_in(self.row(at)), {}) if at is not None else {}
        metadata = metadata_of(boundary)
        if isinstance(metadata.get("preTokens"), int):
            body["tokensBefore"] = metadata["preTokens"]
        details = {key: metadata[key] for key in _COMPACTED if metadata.get(key) is not None}
        direction = row.get("summarizeMetadata")
        if isinstance(direction, dict):
            details["summarize"] = direction
            # 2.1.48 and 2.1.77 know no other direction, and name none.
            left = self._left_leaf(index, kept) if direction.get("direction", "from") == "from" else NO_ENTRY
            if left >= 0:
                body["fromId"] = self.columns.id(left)
        if at in self._inferred:
            details["inferredParent"] = INFERRED
        if details:
            body["details"] = details
        if holds_files_in_memory(boundary.get("version")):
            body[UNSTORED_FILES] = True
        return body

    def _left_leaf(self, index: int, kept: KeptEntries) -> EntryIndex:
        """The leaf of a summarised conversation that continues at an earlier place ("Summarize from here"); -1 where there is none.

        It is the last entry of the conversation before the compaction, below that place.
        """
        parents, kinds, begun = self.columns.parent, self.columns.kind, self._boundary.get(index)
        place = parents[index]
        while place >= 0 and (place in kept.between or self.columns.start[place] == begun):
            place = parents[place]
        for last in range(index - 1, place, -1):
            at = last
            while at > place:
                at = parents[at]
            if at == place and kinds[last] not in BOOKKEEPING and last not in kept.between:
                return EntryIndex(last)
        return NO_ENTRY

    def _edit(self, index: int, row: Body) -> Body:
        part = self._parts.get(index, 0)
        target, text = "", CLEARED
        pictures = part - len(cleared_in(row))
        if row.get("type") == "content-replacement":
            one = replacements_in(row)[part]
            target, content = one["toolUseId"], one.get("replacement", one.get("content"))
            text = content if isinstance(content, str) else text_in(content)
        elif pictures >= 0:
            return self._picture_edit(self._cleared_pictures[index - part][pictures])
        else:
            target = cleared_in(row)[part]
        result = self._answer(index, target)
        return {
            "type": "context_edit",
            "targetId": self.columns.id(EntryIndex(result)) if result >= 0 else target,
            "replacement": {"content": [{"type": "text", "text": text}]},
        }

    def _picture_edit(self, target: int) -> Body:
        """The edit that puts words in place of the pictures of a message."""
        found = self.rows(target)
        content = message_of(found[0]).get("content") if found else None
        return {
            "type": "context_edit",
            "targetId": self.columns.id(EntryIndex(target)),
            "replacement": {"content": blocks(without_pictures(content))},
        }

    def _answer(self, index: int, call: str) -> int:
        """The result above an entry that answers a call; -1 without one."""
        parents, kinds = self.columns.parent, self.columns.kind
        begin = at = parents[index]
        while call not in self._results and at >= 0 and at not in self._looked_above:
            if kinds[at] == Kind.TOOL_RESULT:
                found = self.rows(at)
                results = results_in(found[0]) if found else []
                part = self._parts.get(at, 0)
                if part < len(results):
                    self._results.setdefault(str(results[part].get("tool_use_id")), at)
            at = parents[at]
        if call not in self._results:
            self._looked_above.add(begin)
        return self._results.get(call, -1)


_SOURCE = (
    "type", "subtype", "uuid", "isSidechain", "agentId", "requestId", "requestRef", "promptId", "version"
)  # fmt: skip
_NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
_ENVELOPE = frozenset({"type", "uuid", "parentUuid", "sessionId", "timestamp", "version", "userType"})
_COMPACTED = (
    "trigger", "preTokens", "postTokens", "messagesSummarized", "cumulativeDroppedTokens", "durationMs"
)  # fmt: skip


def _file_details(answer: object) -> Body:
    """The details of a written or edited file in an answer: the diff, the content before, whether the file existed."""
    diff = patch_text(answer)
    found: Body = {"diff": diff} if diff is not None else {}
    if isinstance(answer, dict) and "structuredPatch" in answer:
        before = answer.get("originalFile")
        if isinstance(before, str):
            found["before"] = before
        if answer.get("type") == "create":
            found["exists"] = False
        content = answer.get("content")
        if isinstance(content, str) and content.startswith("\ufeff"):
            found["marked"] = True
    return found


_LONG = frozenset({"message", "shape", "snapshot", "content", "data", "attachment", "toolUseResult", "hash"})
"""Fields that repeat another entry or fill pages; only the row itself shows them."""
_SHORT = 2000
_REMINDERS = frozenset({"task_reminder", "todo_reminder"})
"""Attachments that remind the model of its list (Claude Code 2.0 to 2.1)."""


def _injected(row: Body) -> Body:
    """A message that nobody typed."""
    if "attachment" in row and "message" not in row:
        content = _attached(row)
    elif row.get("type") == "system":
        content = [{"type": "text", "text": str(row.get("content") or "")}]
    else:
        content = blocks(message_of(row).get("content"))
    text = text_in(content)
    body = with_words(injected(injected_name(row, text), content, of_agent=is_of_agent(row, text)))
    typed = command_in(text)
    attachment = row.get("attachment")
    if isinstance(attachment, dict) and str(attachment.get("type")) in _REMINDERS:
        # Its words tell less than its fields, or nothing.
        body[LISTED] = attachment.get("content")
    return body if typed is None else {**body, TYPED: typed}


def _attached(row: Body) -> list[Body]:
    """The content of an attachment."""
    return [{"type": "text", "text": attachment_text(row)}, *_pictures(row)]


def _pictures(row: Body) -> list[Body]:
    """The images of an attachment, such as a waiting prompt."""
    attachment, rendered = row.get("attachment"), row.get("rendered")
    if isinstance(rendered, list):
        shown = [one.get("content") for one in rendered if isinstance(one, dict)]
    else:
        attachment = attachment if isinstance(attachment, dict) else {}
        picture = picture_in(attachment)
        shown = [attachment.get("prompt"), [picture] if picture is not None else None]
    return [block for content in shown for block in blocks(content) if block["type"] == "image"]


def _books(row: Body) -> Body:
    """Metadata: its type and its short fields."""
    kind = row.get("type")
    data: Body = {}
    for name, value in row.items():
        if name in _ENVELOPE or (name in _LONG and not isinstance(value, str)):
            continue
        if isinstance(value, str) and len(value) > _SHORT:
            value = f"[{len(value):,} characters]"
        data[name] = value
    attachment = row.get("attachment")
    name = f"{kind}.{row['subtype']}" if isinstance(row.get("subtype"), str) else str(kind)
    if isinstance(attachment, dict):
        name = f"attachment.{attachment.get('type')}"
    return with_words({"type": "custom", "customType": f"claude.{name}", "data": data})
