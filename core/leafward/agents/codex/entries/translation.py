"""Entries of a transcript as native lines, made one at a time from their stretch of the file."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.code_mode import NESTED, TOOL, WAIT, calls_in
from leafward.agents.codex.entries.compactions import (
    count_behind,
    cut_in_the_middle,
    encrypted_size,
    is_encrypted,
    summary_text,
)
from leafward.agents.codex.entries.items import (
    blocks,
    content_of,
    effort_of,
    failure_of,
    injected_name,
    is_of_agent,
    item_blocks,
    item_text,
    printed_in,
    reply_blocks,
    result_content,
    typed_in,
    usage_in,
    user_message,
)
from leafward.agents.codex.entries.record_words import added_words, event_words
from leafward.agents.codex.entries.records import (
    THOUGHTS,
    Role,
    line_of,
    name_of,
    payload_of,
    records,
    records_of,
)
from leafward.agents.codex.entries.tasks import task_of
from leafward.agents.native_lines import CallNames, described, frame, injected, kept_ids, message
from leafward.base.times import milliseconds, written_time
from leafward.session.entries import CALL_FOLDERS, HANDED, TYPED, EntryIndex, Kind, text_at, text_of
from leafward.session.messages import EDIT_TARGETS, NEVER_SENT, PROJECTION, SUMMARY_BASIS, prompt_text
from leafward.session.tokens import SUMMARY_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.agents.codex.entries.entry_builder import EntryBuilder
    from leafward.session.entries import Body

_VOICE = "realtime_item"
"""The type of records of a voice conversation, which is none of the thread's model's."""
UNCERTAIN = (
    "context uncertain from here: this takes back a turn with a compaction; shown is what the Codex that wrote the thread sends, "
    "0.171 sends what was said before the compaction instead"
)
"""The note on such a rollback. Measured: what 0.80 to 0.142 send in threads of their own, and 0.171 in one of 0.142."""
_COUNTED_BACK = 64
"""Entries before a compaction that are searched for the last count."""
_COUNTED_BEHIND = 16
"""Entries behind a compaction that are searched for Codex's count of the new context."""
_SAID = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.COMPACTION})
_SPOKEN = frozenset({Kind.USER, Kind.ASSISTANT, Kind.INJECTED})
_OF_SEVERAL = (Kind.ASSISTANT, Kind.TOOL_RESULT)
"""Entries made of several lines: a broken line leaves the others."""
_SCRIPTS = frozenset({TOOL, WAIT})
"""Tools whose results are those of a script."""
_REPLIES = frozenset({Role.REPLY, Role.ECHO})
_TURNS = frozenset({Kind.CUSTOM, Kind.MODEL_CHANGE, Kind.THINKING_CHANGE})
"""The kinds of entries that a turn's context makes."""
_TURN = b'"turn_context"'
_HEADED = 256
"""Bytes of a line in which its type stands."""
_COUNTS = frozenset({Role.COUNT, Role.USAGE})
_RESULTS = frozenset({Role.RESULT, Role.ANSWER})


class Translator:
    """Translates the entries of one transcript. From any thread."""

    def __init__(
        self,
        builder: EntryBuilder,
        region: Callable[[int], bytes],
        line: Callable[[int, int], bytes],
        header: Body,
    ) -> None:
        self.columns = builder.columns
        self.region = region
        self.line = line
        """A line by its place and size."""
        self._answers = builder.ends.answers
        self.provider = text_at(header, "provider") or "openai"
        self._folder = text_at(header, "cwd")
        self._turn_at: tuple[int, str] = -1, self._folder
        """The entry that was asked for last, and the folder of its turn."""
        self._parts = builder.parts
        self._kept = builder.compactions.kept
        self._literals = builder.compactions.literals
        self._budgets = builder.compactions.budgets
        self._uncertain = builder.uncertain
        self._left_out = builder.left_out
        self._never_sent = builder.never_sent
        self._stale = builder.responses.stale
        self._counts = builder.responses.counts
        self._model_at = [index for index, _ in builder.models]
        self._models = [model for _, model in builder.models]
        self._calls = CallNames(self.columns, self._calls_in)

    def body(self, index: int) -> Body | None:
        """An entry as a native line; None where no part of it can be read."""
        kind = Kind(self.columns.kind[index])
        if kind is Kind.MALFORMED:
            return None
        region = self.region(index)
        found = list(records(region))
        if not found:
            return None
        if kind not in _OF_SEVERAL and next(records(region.partition(b"\n")[0]), None) is None:
            return None
        first = found[0]
        if kind is Kind.ASSISTANT:
            # A count may come before all other lines of a reply.
            first = next((one for one in found if line_of(one).role in (Role.REPLY, Role.ECHO)), first)
        body = self._frame(index, first)
        if index in self._literals:
            body.update(self._literal(index, kind, first, body))
            return body
        body.update(self._translated(index, kind, found, body))
        return body

    def brief(self, index: int) -> Body | None:
        """The content of an entry without time, cost and source; entries of other kinds are complete."""
        kind = Kind(self.columns.kind[index])
        if kind not in _SPOKEN or index in self._literals:
            return self.body(index)
        region = self.region(index)
        if kind is not Kind.ASSISTANT:
            first = next(records(region.partition(b"\n")[0]), None)
            return self._translated(index, kind, [first], {}) if first is not None else None
        found = [record for _, record in records_of(region, _REPLIES, but=THOUGHTS)]
        return self._said(index, found, None) if found else self.body(index)

    def outcome(self, index: int) -> tuple[str, bool] | None:
        """The call that an entry answers, and whether it failed; None where the entry also names printed files."""
        if self.columns.kind[index] != Kind.TOOL_RESULT or index in self._literals:
            return None
        found = list(records_of(self.region(index), _RESULTS))
        if all(role is not Role.RESULT for role, _ in found):
            return None
        item, call, answers = self._ended(index, found)
        tool = self._calls.tool(index, call)
        failed, _ = failure_of(item, _telling(answers, tool), tool)
        tells = tool in _SCRIPTS or any(map(printed_in, answers))
        return (call, failed) if failed or not tells else None

    def usage(self, index: int) -> Body | None:
        """The usage in the counts of a reply, or in a count that belongs to none; no other entry has any."""
        kind = self.columns.kind[index]
        if kind not in (Kind.ASSISTANT, Kind.USAGE) or index in self._literals:
            return None
        counts = (record for _, record in records_of(self.region(index), _COUNTS))
        return self._usage(index, counts) if kind == Kind.ASSISTANT else usage_in(counts)

    def _frame(self, index: int, first: Body) -> Body:
        body = frame(self.columns, index)
        stamp = written_time(first.get("timestamp"))
        if stamp is not None:
            body["timestamp"] = stamp
        payload = payload_of(first)
        source = {
            name: value
            for name, value in (
                ("type", first.get("type")),
                ("subtype", payload.get("type")),
                ("id", payload.get("id")),
                ("turn", payload.get("turn_id") or _turn_of(payload)),
                ("ordinal", first.get("ordinal")),
            )
            if value is not None
        }
        body["source"] = source
        return body

    def _translated(self, index: int, kind: Kind, found: list[Body], frame: Body) -> Body:
        first = found[0]
        payload = payload_of(first)
        stamp = milliseconds(frame.get("timestamp"))
        if kind is Kind.USER:
            body = _message("user", user_message(payload), stamp)
            if index in self._never_sent:
                body["message"][NEVER_SENT] = True
            task = task_of(payload)
            if task is not None:
                return {**body, TYPED: task, HANDED: True}
            typed = typed_in(prompt_text(body))
            return body if typed is None else {**body, TYPED: typed}
        if kind is Kind.ASSISTANT:
            return self._reply(index, found, stamp)
        if kind is Kind.TOOL_RESULT:
            return self._result(index, found, stamp)
        if kind is Kind.INJECTED:
            return _injected(payload)
        if kind is Kind.COMPACTION:
            return self._compaction(index, payload)
        if kind is Kind.CONTEXT_EDIT:
            targets = [self.columns.id(EntryIndex(target)) for target in self._left_out[index]]
            return {"type": "context_edit", EDIT_TARGETS: targets, "replacement": None}
        if kind is Kind.SYSTEM:
            instructions = payload.get("base_instructions")
            text = instructions.get("text") if isinstance(instructions, dict) else ""
            return _message("system", str(text), stamp)
        if kind is Kind.MODEL_CHANGE:
            return {"type": "model_change", "provider": self.provider, "modelId": payload.get("model")}
        if kind is Kind.THINKING_CHANGE:
            return {"type": "thinking_level_change", "thinkingLevel": effort_of(payload) or "off"}
        if kind is Kind.SESSION_INFO:
            return {"type": "session_info", "name": payload.get("thread_name")}
        if kind is Kind.USAGE:
            usage = usage_in(found)
            return {"type": "usage", "usage": usage, "model": self._model(index)}
        if kind is Kind.UNKNOWN:
            return {"type": f"codex.{name_of(first)}", "data": first.get("payload", first)}
        name = payload.get("type") if first.get("type") == "event_msg" else first.get("type")
        data = {key: value for key, value in payload.items() if key not in _LONG}
        says = _spoken(payload) if name == _VOICE else event_words(str(name))
        if index in self._uncertain:
            says = UNCERTAIN
        return {
            "type": "custom",
            "customType": f"codex.{name}",
            "data": data,
            **({"says": says} if says else {}),
        }

    def _model(self, index: int) -> str | None:
        at = bisect_right(self._model_at, index) - 1
        return self._models[at] if at >= 0 else None

    def _said(self, index: int, found: list[Body], stamp: int | None) -> Body:
        """A reply from the records of its content; Codex stores no reply that was broken off."""
        content = reply_blocks(found)
        self._calls.remember(content)
        body = _message("assistant", content, stamp)
        message = body["message"]
        message["provider"] = self.provider
        model = self._model(index)
        if model is not None:
            message["model"] = model
        calls = [str(block["id"]) for block in content if block["type"] == "toolCall"]
        if calls and (folder := self._folder_of_turn(index)) != self._folder:
            message[CALL_FOLDERS] = dict.fromkeys(calls, folder)
        return body

    def _reply(self, index: int, found: list[Body], stamp: int | None) -> Body:
        body = self._said(index, [one for one in found if line_of(one).role in _REPLIES], stamp)
        message = body["message"]
        usage = self._usage(index, found)
        if usage is not None:
            message["usage"] = usage
        calls = any(block["type"] == "toolCall" and "hosted" not in block for block in message["content"])
        message["stopReason"] = "toolUse" if calls else "stop"
        return body

    def _folder_of_turn(self, index: int) -> str:
        """The folder in which the turn of an entry runs its calls: that of the session unless its context names another."""
        kinds, (known, folder) = self.columns.kind, self._turn_at
        for at in range(index, -1, -1):
            if at == known:
                break
            if kinds[at] in _TURNS and _TURN in (region := self.region(at))[:_HEADED]:
                turn = next(records(region), None)
                folder = text_at(payload_of(turn), "cwd") if turn is not None else ""
                break
        else:
            folder = self._folder
        self._turn_at = index, folder or self._folder
        return folder or self._folder

    def _usage(self, index: int, found: Iterable[Body]) -> Body | None:
        """The usage of a reply, from its own count."""
        if index in self._stale:
            return None
        elsewhere = self._counts.get(index)
        if elsewhere is None:
            return usage_in(found)
        holder, offset = elsewhere
        return usage_in(records(self.region(holder)[offset:].partition(b"\n")[0]))

    def _calls_in(self, index: int, call_bytes: bytes) -> list[tuple[str, str]] | None:
        region = self.region(index)
        if call_bytes not in region:
            return None
        replies = (record for record in records(region) if line_of(record).role is Role.REPLY)
        return [
            (block["id"], block["name"])
            for record in replies
            for block in item_blocks(payload_of(record))
            if block["type"] == "toolCall"
        ]

    def _ended(self, index: int, found: list[tuple[Role, Body]]) -> tuple[Body, str, list[Body]]:
        """The result among the records of an entry, its call, and other records about the end of that call."""
        item = payload_of(next((record for role, record in found if role is Role.RESULT), found[0][1]))
        call = str(item.get("call_id") or item.get("id") or "")
        answers = []
        if index in self._answers:
            found = [*found, *records_of(self.line(*self._answers[index]), _RESULTS)]
        for role, record in found:
            if role is Role.ANSWER:
                payload = payload_of(record)
                inner = payload.get("item")
                answer = inner if isinstance(inner, dict) else payload
                own = str(answer.get("call_id", answer.get("id")))
                if own == call or own.startswith(NESTED):
                    answers.append(answer)
        return item, call, answers

    def _result(self, index: int, found: list[Body], stamp: int | None) -> Body:
        item, call, answers = self._ended(index, [(line_of(one).role, one) for one in found])
        tool = self._calls.tool(index, call)
        failed, code = failure_of(item, _telling(answers, tool), tool)
        body = _message("toolResult", result_content(item), stamp)
        message = body["message"]
        message["toolCallId"] = call
        message["toolName"] = tool
        message["isError"] = failed
        if code is not None:
            message["exitCode"] = code
        if tool in _SCRIPTS and (made := calls_in(answers)):
            message["nestedCalls"] = {"calls": made}
        printed = [path for answer in answers for path in printed_in(answer)] if not failed else []
        if printed:
            reads = [{"id": call, "name": "read", "arguments": {"path": path}} for path in printed]
            message.setdefault("nestedCalls", {"calls": []})["calls"] += reads
        return body

    # --- compactions ---

    def _literal(self, index: int, kind: Kind, first: Body, frame: Body) -> Body:
        """An entry that stands only in a compaction: an item of its history, or a message cut to fit."""
        number, cut = self._literals[index]
        stamp = milliseconds(frame.get("timestamp"))
        if cut >= 0:
            text = text_of(((self.body(cut) or {}).get("message") or {}).get("content"))
            short = cut_in_the_middle(text, self._budgets[index])
            name = "codex.without_image" if short == text else "codex.truncated"
            return injected(name, [{"type": "text", "text": short}], of_agent=False)
        items = payload_of(first).get("replacement_history")
        item = items[number] if isinstance(items, list) and number < len(items) else {}
        item = item if isinstance(item, dict) else {}
        if kind is Kind.ASSISTANT:
            body = _message("assistant", item_blocks(item), stamp)
            body["message"]["stopReason"] = "stop"
            return body
        if kind is Kind.TOOL_RESULT:
            body = _message("toolResult", result_content(item), stamp)
            call = str(item.get("call_id") or "")
            body["message"].update(toolCallId=call, toolName=self._calls.tool(index, call), isError=False)
            return body
        return _injected(item)

    def _compaction(self, index: int, payload: dict[str, Any]) -> Body:
        kept = self._kept[index]
        system, size = self._system(index), None
        if is_encrypted(payload, kept.place):
            prompt = text_of((system or {}).get("content"))
            size = encrypted_size(payload, kept.place, prompt, count_behind(self._records_behind(index)))
        body: Body = {
            "type": "compaction",
            "summary": summary_text(payload, kept.place, size),
            PROJECTION: kept_ids(self.columns, kept.before, kept.after),
            "fromAgent": True,
        }
        if size is not None:
            body |= {"encrypted": True, SUMMARY_TOKENS: size.tokens, SUMMARY_BASIS: size.basis.value}
        before = self._tokens_before(index)
        if before:
            body["tokensBefore"] = before
        if system is not None:
            body["systemMessage"] = system
        retained = payload.get("retained_context")
        if isinstance(retained, dict):
            body["retainedContext"] = retained
        for ours, theirs in (("windowNumber", "window_number"), ("window", "window_id")):
            if payload.get(theirs) is not None:
                body[ours] = payload[theirs]
        return body

    def _records_behind(self, index: int) -> Iterator[Body]:
        """The records behind a compaction, up to the next message."""
        kinds = self.columns.kind
        for at in range(index, min(index + _COUNTED_BEHIND, len(kinds))):
            if at > index and kinds[at] in _SAID:
                break
            yield from islice(records(self.region(at)), int(at == index), None)

    def _tokens_before(self, index: int) -> int:
        """The size of the context before a compaction, from the count of the last reply before it; 0 without one."""
        parents, kinds = self.columns.parent, self.columns.kind
        at = parents[index]
        for _ in range(_COUNTED_BACK):
            if at < 0 or kinds[at] == Kind.COMPACTION:
                break
            if kinds[at] == Kind.ASSISTANT and at not in self._literals:
                usage = self._usage(at, records(self.region(at)))
                if usage is not None:
                    return int(usage["totalTokens"])
            at = parents[at]
        return 0

    def _system(self, index: int) -> Body | None:
        """The system prompt in force at an entry, which a compaction carries."""
        kinds = self.columns.kind
        at = index
        while at >= 0 and kinds[at] != Kind.SYSTEM:
            above = kinds.rfind(Kind.SYSTEM, 0, at)
            if above < 0:
                return None
            at = above
        message = (self.body(at) or {}).get("message")
        return message if isinstance(message, dict) else None


_LONG = frozenset({"base_instructions", "instructions", "user_instructions", "type"})
"""Fields of metadata that repeat a prompt of many kilobytes; only the line itself shows them."""


def _turn_of(payload: dict[str, Any]) -> object:
    passed = payload.get("internal_chat_message_metadata_passthrough")
    return passed.get("turn_id") if isinstance(passed, dict) else None


def _telling(answers: list[Body], tool: str) -> list[Body]:
    """The records that tell how a call ended: a script with several calls did not end as one of them."""
    return answers if tool not in _SCRIPTS or len(answers) == 1 else []


def _message(role: str, content: object, stamp: int | None) -> Body:
    return message({"role": role, "content": content}, stamp)


def _spoken(payload: Body) -> str:
    """The words of a piece of a voice conversation."""
    text = payload.get("text")
    return f"{payload.get('role')}: {text}" if isinstance(text, str) and text else ""


def _injected(item: dict[str, Any]) -> Body:
    """A message that nobody typed."""
    content: list[Body] = blocks(content_of(item))
    if not content:
        hidden = item.get("encrypted_content")
        text = f"[encrypted, {len(hidden):,} characters]" if isinstance(hidden, str) else item_text(item)
        if line_of({"type": "response_item", "payload": item}).role is Role.UNKNOWN:
            text = described(item)
        content = [{"type": "text", "text": text}]
    name = injected_name(item, item_text(item))
    body = injected(name, content, of_agent=is_of_agent(item, name))
    words = added_words(name)
    return {**body, "says": words} if words else body
