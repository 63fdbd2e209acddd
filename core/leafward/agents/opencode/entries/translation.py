"""Entries of a session of opencode as native lines, made one at a time from their records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.native_lines import frame, injected, kept_ids, message
from leafward.agents.opencode.entries.parts import (
    REQUEST_TEXT,
    SILENT,
    asked_in,
    block_of,
    blocks_of,
    error_of,
    failure_of,
    is_put,
    is_typed,
    numbered,
    output_of,
    stop_reason,
    usage_of,
)
from leafward.agents.opencode.entries.roles import Role
from leafward.agents.opencode.storage.newer_engine import BESIDE, SYSTEM
from leafward.agents.opencode.storage.records import number_in
from leafward.agents.opencode.tools import OPENCODE_TOOLS, SNAPSHOT
from leafward.base.times import iso_time
from leafward.files.tool_calls import FileAction, command_text, file_calls
from leafward.session.entries import TYPED, EntryIndex, Kind, object_at, text_at, text_of, tool_calls
from leafward.session.lines.line_decoding import decode_line
from leafward.session.messages import EDIT_TARGETS, NEVER_SENT, PROJECTION

if TYPE_CHECKING:
    from leafward.agents.opencode.entries.entry_builder import EntryBuilder
    from leafward.session.entries import Body

_REMINDER = "<system-reminder>"
PRUNED_TEXT = "[Old tool result content cleared]"
"""opencode's text for a pruned output."""


class Translator:
    """Translates the entries of one session. From any thread."""

    def __init__(self, builder: EntryBuilder) -> None:
        self.columns = builder.columns
        self.records = builder.records
        self._role = builder.role
        self._message = builder.message
        self._low, self._high = builder.low, builder.high
        self._aux = builder.aux
        self._kept = builder.kept
        self._tail_first = builder.tail_first
        self._targets = builder.targets
        self._steps = builder.steps
        self._stored = builder.stored
        self._hidden = builder.hidden
        self._folder = builder.folder
        self._latest: tuple[int, int, dict[int, Body | None]] = (-1, 0, {})
        """The reply translated last, up to which record all of it was decoded, and its decoded records: the results of its calls
        come next."""

    def numbers(self, index: int) -> list[int]:
        """The records of an entry, beginning with the one that gives its name."""
        role = self._role[index]
        stored = self._stored.get(self._message[index])
        if stored is not None:
            return [stored]
        parts = list(range(self._low[index], self._high[index]))
        if role in _OF_ONE_PART:
            return parts
        return [self._message[index], *(parts if role not in _OF_MESSAGE else [])]

    def records_end(self, entries: int) -> int:
        """The number behind the last record of the first entries."""
        return max((0, *(one + 1 for one in self._message[:entries]), *self._high[:entries]))

    def is_newer(self, index: int) -> bool:
        """Whether an entry was made by the newer engine."""
        return self._message[index] in self._stored

    def body(self, index: int) -> Body | None:
        """An entry as a native line; None where it cannot be read."""
        role = Role(self._role[index])
        body = frame(self.columns, index)
        record = self._decoded(index, self._message[index])
        if record is None:
            return None
        created = number_in(object_at(record, "time"), "created")
        if role is Role.RESULT:
            made = self._result(index, record)
            if made is None:
                return None
            body["timestamp"] = iso_time(made["message"].get("timestamp")) or iso_time(created)
            body.update(made)
            return body
        body["timestamp"] = iso_time(created)
        if role is Role.USER:
            body.update(self._user(index, record, created))
        elif role in (Role.INJECTED, Role.ADDED, Role.REQUEST):
            body.update(self._injected(index, role, record))
        elif role is Role.COMMAND:
            body.update(self._command(index, created))
        elif role is Role.REPLY:
            body.update(self._reply(index, record, created))
        elif role is Role.SUMMARY:
            body.update(self._summary(index, record))
        elif role is Role.SYSTEM:
            body.update(_message("system", system_of(record), created))
        elif role in (Role.PRUNED, Role.DROPPED):
            body.update(self._edit(index, role))
        elif role is Role.REVERT:
            count = f"{self._hidden:,} message" + ("s" if self._hidden != 1 else "")
            body.update(type="opencode.revert", data=record, says=f"{count} reverted, not deleted yet")
            body.pop("timestamp")
        elif role is Role.SHELL:
            ran = {"command": text_at(record, "command"), "output": text_at(record, "output")}
            body.update(message({"role": "bashExecution", **ran}, created))
        elif role is Role.AGENT:
            name = text_at(record, "agent")
            body.update(customType="opencode.agent", data={"agent": name}, says=f"goes on as agent {name}")
        elif role is Role.MODEL:
            model = object_at(record, "model")
            body.update(
                type="model_change", provider=text_at(model, "providerID"), modelId=text_at(model, "id")
            )
        elif role is Role.PART:
            part = decode_line(self.records.data(self._low[index])) or {}
            body.update(type=f"opencode.{part.get('type')}", data=part)
        else:
            body.update(type=f"opencode.{record.get('role')}", data={**record, "parts": self._parts(index)})
        return body

    def brief(self, index: int) -> Body | None:
        """The content of a reply without time, cost and details of its parts; any other entry is complete."""
        role = self._role[index]
        if role != Role.REPLY:
            return self.body(index)
        record = self._decoded(index, self._message[index])
        if record is None:
            return None
        parts = self._parts(index)
        return self._said(self._step(index, record, parts), parts, None)

    def usage(self, index: int) -> Body | None:
        """The usage in the message of a reply or a summary; no other entry has any."""
        role = self._role[index]
        if role not in _COUNTED:
            return None
        record = decode_line(self.records.data(self._message[index]))
        if record is not None and index in self._steps:
            record = self._step(index, record, self._parts(index))
        return usage_of(record) if record is not None else None

    def _parts(self, index: int) -> list[Body]:
        numbers = range(self._low[index], self._high[index])
        if self._role[index] == Role.REPLY:
            found = map(self._of_reply(index).get, numbers)
        else:
            found = map(decode_line, self.records.several(numbers.start, numbers.stop))
        return [part for part in found if part is not None]

    def _decoded(self, index: int, number: int) -> Body | None:
        """A decoded record of an entry: decoded once for a reply and the results of its calls."""
        if self._role[index] not in _OF_REPLY:
            return decode_line(self.records.data(number))
        known = self._of_reply(index)
        if number not in known:
            known[number] = decode_line(self.records.data(number))
        return known[number]

    def _of_reply(self, index: int) -> dict[int, Body | None]:
        """The decoded records of a reply; all of them where the entry is the reply itself."""
        message, is_reply = self._message[index], self._role[index] == Role.REPLY
        latest = self._latest
        if latest[0] == message and (latest[1] >= self._high[index] or not is_reply):
            return latest[2]
        known: dict[int, Body | None] = {}
        if is_reply:
            known = dict(
                enumerate(map(decode_line, self.records.several(message, self._high[index])), message)
            )
        self._latest = message, self._high[index] if is_reply else 0, known
        return known

    def _user(self, index: int, record: Body, created: int | None) -> Body:
        parts = self._parts(index)
        content = blocks_of(filter(is_typed, parts), by_newer=self.is_newer(index))
        body = _message("user", content, created)
        if all(block.get("text") == "" for block in content):
            body["message"][NEVER_SENT] = True
        body["source"] = _source(record, parts)
        return body

    def _injected(self, index: int, role: Role, record: Body) -> Body:
        parts = self._parts(index)
        details: Body = {}
        # A change of what the newer engine's system prompt says: every agent reads the instructions of a project itself.
        is_system = record.get(BESIDE) == SYSTEM
        if role is Role.REQUEST:
            request = next((part for part in parts if part.get("type") == "compaction"), {})
            content = [{"type": "text", "text": REQUEST_TEXT}]
            name = "compaction"
            details = {key: value for key, value in request.items() if key not in _OWN_FIELDS}
        else:
            # A prompt that is put again is opencode's as a whole.
            put = [part for part in parts if is_put(part) or (role is Role.INJECTED and is_typed(part))]
            content = blocks_of(put, by_newer=self.is_newer(index))
            name = SYSTEM if is_system else "synthetic"
            details = _task_in(put)
            if details:
                name = "subtask"
        of_agent = role is Role.REQUEST or is_system or text_of(content).lstrip().startswith(_REMINDER)
        body = injected(f"opencode.{name}", content, of_agent=of_agent)
        if details:
            body["details"] = details
        return body

    def _command(self, index: int, created: int | None) -> Body:
        """The message that is sent ahead of a command that the user ran, with the typed text."""
        parts = self._parts(index)
        content = blocks_of(filter(is_put, parts), by_newer=self.is_newer(index))
        body, asked = _message("user", content, created), asked_in(parts)
        if not asked and (ran := self._command_behind(index)):
            asked = f"! {ran}"
        if details := _task_in(parts):
            body["details"] = details
        return {**body, TYPED: asked} if asked else body

    def _command_behind(self, index: int) -> str:
        """The command that the user ran, from a call in the reply behind the message; empty without one."""
        behind = index + 1
        if behind >= len(self._role) or self._role[behind] != Role.REPLY:
            return ""
        calls = (block_of(part) for part in self._parts(behind) if part.get("type") == "tool")
        commands = (
            command_text(call, OPENCODE_TOOLS) for block in calls for call in tool_calls({"content": [block]})
        )
        return next((one for one in commands if one), "")

    def _said(self, record: Body, parts: list[Body], created: int | None) -> Body:
        content = [block for part in parts if (block := block_of(part)) is not None]
        body = _message("assistant", content, created)
        made = body["message"]
        for name, theirs in (("provider", "providerID"), ("model", "modelID")):
            value = text_at(record, theirs) or text_at(object_at(record, "model"), theirs)
            if value:
                made[name] = value
        made["stopReason"] = stop_reason(record, content)
        if not content:
            made[NEVER_SENT] = True
        return body

    def _reply(self, index: int, record: Body, created: int | None) -> Body:
        parts = self._parts(index)
        record = self._step(index, record, parts)
        body = self._said(record, parts, created)
        made = body["message"]
        usage = usage_of(record)
        if usage is not None:
            # Added before the reason for the reply's end.
            made["usage"], made["stopReason"] = usage, made.pop("stopReason")
        error = error_of(record)
        if error is not None:
            made["errorMessage"] = error
        body["source"] = _source(record, parts)
        return body

    def _step(self, index: int, record: Body, parts: list[Body]) -> Body:
        """A message as it would be if this step of it were all: the message itself counts the last step alone."""
        if index not in self._steps:
            return record
        ended: Body = next((part for part in parts if part.get("type") == "step-finish"), {})
        calls = any(part.get("type") == "tool" for part in parts)
        finish = "tool-calls" if calls else record.get("finish")
        return {**record, "tokens": ended.get("tokens"), "cost": ended.get("cost"), "finish": finish}

    def outcome(self, index: int) -> tuple[str, bool] | None:
        """The call that an entry answers, and whether it failed, as in its translation; None where the result holds calls too."""
        part = self._decoded(index, self._low[index]) if self._role[index] == Role.RESULT else None
        record = self._decoded(index, self._message[index]) if part is not None else None
        if part is None or record is None:
            return None
        failed, _ = failure_of(text_at(part, "tool"), object_at(part, "state"))
        if (record.get("error") and not failed) or self._changed_beside(index):
            return None
        return text_at(part, "callID"), failed

    def _result(self, index: int, record: Body) -> Body | None:
        part = self._decoded(index, self._low[index])
        if part is None:
            return None
        state = object_at(part, "state")
        time = object_at(state, "time")
        body = _message("toolResult", output_of(state), number_in(time, "end") or number_in(time, "start"))
        made = body["message"]
        failed, code = failure_of(text_at(part, "tool"), state)
        made.update(toolCallId=text_at(part, "callID"), toolName=text_at(part, "tool"), isError=failed)
        if code is not None:
            made["exitCode"] = code
        ran: list[Body] = []
        if record.get("error") and not failed:
            # The reply failed or was stopped, but this call of it did run.
            ran.append(
                {
                    "id": text_at(part, "callID"),
                    "name": text_at(part, "tool"),
                    "arguments": object_at(state, "input"),
                }
            )
        ran += [
            {"id": f"{text_at(part, 'callID')}-{number}", "name": SNAPSHOT, "arguments": {"filePath": path}}
            for number, path in enumerate(self._changed_beside(index))
        ]
        if ran:
            made["nestedCalls"] = {"calls": ran}
        details = details_of(state)
        if details:
            made["details"] = details
        return body

    def _changed_beside(self, index: int) -> list[str]:
        """Files that opencode found changed after the calls of a reply and that no call names: a command changed them.

        They are listed with the last result of the reply.
        """
        message, role = self._message[index], self._role
        if index + 1 < len(role) and role[index + 1] == Role.RESULT and self._message[index + 1] == message:
            return []
        reply = index
        while reply >= 0 and not (role[reply] == Role.REPLY and self._message[reply] == message):
            reply -= 1
        parts = self._parts(reply) if reply >= 0 else []
        changed: dict[str, None] = {}
        for part in parts:
            listed = part.get("files") if part.get("type") == "patch" else None
            named = listed if isinstance(listed, list) else ()
            changed.update(dict.fromkeys(one for one in named if isinstance(one, str) and one))
        if not changed:
            return []
        folder = self._folder
        for part in parts:
            block = block_of(part) if part.get("type") == "tool" else None
            for made in file_calls(tool_calls({"content": [block]})[0], OPENCODE_TOOLS) if block else ():
                if made.action is not FileAction.READ:
                    changed.pop(os.path.normpath(os.path.join(folder, made.path)), None)
        return list(changed)

    def _summary(self, index: int, record: Body) -> Body:
        parts = self._parts(index)
        text = "\n\n".join(
            part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str)
        )
        request = self._aux[index]
        asked, tail = self._asked(index, request), self._tail(index, request)
        # opencode leaves all messages in their order where the first kept one is missing.
        in_order = self._tail_first or self._kept.get(index, 0) < 0
        kept = ([*tail, *asked], []) if in_order else (asked, tail)
        body: Body = {
            "type": "compaction",
            "summary": text,
            PROJECTION: kept_ids(self.columns, *kept),
            "fromAgent": True,
        }
        before = self._tokens_before(request if request >= 0 else index)
        if before:
            body["tokensBefore"] = before
        usage = usage_of(record)
        if usage is not None:
            body["usage"] = usage
        system = self._system(index)
        if system is not None:
            body["systemMessage"] = system
        body["source"] = _source(record, parts)
        return body

    def _asked(self, index: int, request: int) -> list[int]:
        """The request for a summary, and without a tail what stands between both: opencode sends all from the request on."""
        if request < 0:
            return []
        found: list[int] = []
        at = self.columns.parent[index] if index not in self._kept else -1
        while at > request:
            found.append(at)
            at = self.columns.parent[at]
        return [request, *reversed(found)]

    def _tail(self, index: int, request: int) -> list[int]:
        """The entries kept beside a summary, in order: all entries above it where the first kept one is missing (opencode)."""
        kept = self._kept.get(index)
        if kept is None:
            return []
        found: list[int] = []
        at = self.columns.parent[index]
        while at >= 0 and at >= kept:
            if at != request:
                found.append(at)
            at = self.columns.parent[at]
        found.reverse()
        return found

    def _tokens_before(self, index: int) -> int:
        """The size of the context at the request for a summary, from the last reply before it.

        0 where outputs were pruned since, because the reply counted them.
        """
        at = self.columns.parent[index]
        while at >= 0 and self._role[at] not in (Role.SUMMARY, Role.PRUNED):
            if self._role[at] == Role.REPLY:
                record = decode_line(self.records.data(self._message[at])) or {}
                usage = usage_of(record)
                if usage is not None:
                    return int(usage["totalTokens"])
            at = self.columns.parent[at]
        return 0

    def _system(self, index: int) -> Body | None:
        """The system prompt, which a compaction carries."""
        at = self.columns.kind.find(Kind.SYSTEM, 0, index)
        message = (self.body(at) or {}).get("message") if at >= 0 else None
        return message if isinstance(message, dict) else None

    def _edit(self, index: int, role: Role) -> Body:
        replacement = {"content": [{"type": "text", "text": PRUNED_TEXT}]} if role is Role.PRUNED else None
        body: Body = {
            "type": "context_edit",
            EDIT_TARGETS: [self.columns.id(EntryIndex(target)) for target in self._targets[index]],
            "replacement": replacement,
        }
        if role is Role.PRUNED:
            part = decode_line(self.records.data(self._low[index])) or {}
            time = object_at(object_at(part, "state"), "time")
            body["timestamp"] = iso_time(number_in(time, "compacted"))
        return body


_OF_ONE_PART = (Role.RESULT, Role.PART, Role.BROKEN_PART, Role.PRUNED)
_COUNTED = bytes((Role.REPLY, Role.SUMMARY))
_OF_REPLY = bytes((Role.REPLY, Role.RESULT))
_OF_MESSAGE = (Role.SYSTEM, Role.REVERT, Role.DROPPED)
_LONGEST_DIFF = 1 << 20
_OWN_FIELDS = ("id", "messageID", "sessionID", "type")
_LONG_DETAILS = frozenset({"output", "preview", "diff", "filediff", "diagnostics", "todos"})


def details_of(state: Body) -> Body:
    """The details of a tool's result besides the output, without those that repeat it."""
    found = {key: value for key, value in object_at(state, "metadata").items() if key not in _LONG_DETAILS}
    patch = object_at(state, "metadata").get("diff")
    diff = numbered(patch) if isinstance(patch, str) and len(patch) < _LONGEST_DIFF else None
    if diff is not None:
        found["diff"] = diff
    title = state.get("title")
    return {"title": title, **found} if isinstance(title, str) and title else found


def system_of(record: Body) -> str:
    """The system prompt in a reply of versions before 0.6."""
    found = record.get("system")
    return "\n".join(one for one in found if isinstance(one, str)) if isinstance(found, list) else ""


def _source(record: Body, parts: list[Body]) -> Body:
    """Facts about a message that a native line has no field for."""
    source: Body = {
        key: record[key]
        for key in ("agent", "mode", "finish", "parentID", "path", "system", "variant", "tools", "error")
        if record.get(key) not in (None, "", []) and not (key == "system" and isinstance(record[key], list))
    }
    silent: list[dict[str, Any]] = [
        {key: value for key, value in part.items() if key not in ("messageID", "sessionID")}
        for part in parts
        if str(part.get("type")) in SILENT or part.get("ignored")
    ]
    if silent:
        source["parts"] = silent
    return source


def _task_in(parts: list[Body]) -> Body:
    """The order of a message to a sub-agent; empty in any other message."""
    task: Body = next((part for part in parts if part.get("type") == "subtask"), {})
    return {key: value for key, value in task.items() if key not in _OWN_FIELDS}


def _message(role: str, content: object, stamp: int | None) -> Body:
    return message({"role": role, "content": content}, stamp)
