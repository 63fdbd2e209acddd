"""Numbers for the rows of the tree: tokens, calls, edits, lines and failures of each entry, as columns.

The columns fill as bodies are decoded, in any order, and are summed over ranges without decoding anything again. Entries
that are not known yet count as 0 and are reported as missing.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.files.edits import delta_in, delta_of
from leafward.files.tool_calls import FileAction, FileCall, file_calls, path_in, replacements, table_of
from leafward.session.entries import (
    BOOKKEEPING,
    BOOKKEEPING_BYTES,
    MOST_TOKENS,
    Body,
    EntryIndex,
    Kind,
    ToolCall,
)
from leafward.session.messages import did_run, messages_of, nested_calls, trusted_usage
from leafward.session.tokens import CHARS_PER_TOKEN, content_units, json_length, message_tokens, utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.session import Session

KNOWN = 1
"""The entry was decoded, or needs no decoding."""
FAILED = 2
"""A result that is an error, a reply that ended in an error, or a user's command with an exit code other than 0."""
ABORTED = 4
"""A reply that was aborted, or a command that was cancelled."""
HAS_TEXT = 8
"""A reply with text besides thinking and tool calls."""
IMAGE = 16
THINKING = 32
FILES = 64
"""Calls that name files, or the result of such a call that failed: entries that a working set has to decode."""

_MOST = 0xFFFF
_MOST_IN_COLUMN = 0x7FFF_FFFF
_CHUNK = 128
"""Entries decoded between two checks of `stop`."""
_BLOCK = 4096
"""Entries in a block whose sum is cached once all of them are known."""
_LONG_WALK = 64
"""Entries between a result and its reply from which on the walk is remembered."""
_BETWEEN = frozenset(BOOKKEEPING | {Kind.TOOL_RESULT, Kind.CONTEXT_EDIT, Kind.INJECTED})
"""Kinds that may stand between a tool's result and the reply that called it."""
_NOT_FAILED = bytes(value for value in range(256) if not value & FAILED)
_NOT_ABORTED = bytes(value for value in range(256) if not value & ABORTED)
# As plain integers: looking up a member of an enumeration costs as much as half an entry's work here.
_ASSISTANT, _TOOL_RESULT = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over some entries."""

    entries: int
    known: int
    """Number of the entries that the sums cover."""
    tokens: int
    """Tokens estimated as pi 1.5.2 does, before context edits."""
    calls: int
    edits: int
    """Calls that changed a file and did not fail."""
    added: int
    """Lines added."""
    removed: int
    failed: int
    """Entries with the FAILED flag."""
    aborted: int

    @property
    def complete(self) -> bool:
        """Whether the numbers cover every entry."""
        return self.known == self.entries


_Call = tuple[int, str]
"""A call that changes a file: the entry of its reply, and its id."""
_Request = tuple[FileAction, dict[str, Any]]
"""The action of a call, and its arguments."""


class _Answer(NamedTuple):
    failed: bool
    delta: tuple[int, int] | None
    """Lines added and removed, if the result records them."""


class EntryMetrics:
    """The columns of one session. One thread may fill them while others sum.

    Lines that an edit added or removed are counted at the reply that called the tool. They come from the diff in the result if
    there is one, and are taken back if the call failed.
    """

    def __init__(self, session: Session) -> None:
        self.table = table = table_of(session)
        self._tools = frozenset(name for name in table.names if table.touches(name))
        self._changing = frozenset(name for name in self._tools if table.changes(name))
        self._named = frozenset(table.actions)
        """Tools whose calls name their one file directly."""
        self.tokens: array[int] = array("i")
        self.calls: array[int] = array("H")
        self.edits: array[int] = array("H")
        self.added: array[int] = array("i")
        self.removed: array[int] = array("i")
        self.reported: array[int] = array("i")
        """Context tokens that a reply reported; 0 if they cannot be trusted (`messages.trusted_usage`)."""
        self.shares: dict[int, int] = {}
        """Tokens that a result's call takes in its reply, by result, for replies with several calls."""
        self._call_shares: dict[int, dict[str, int]] = {}
        """Tokens of each call in a reply with several calls, by reply and the call's id."""
        self._parallel: dict[int, list[tuple[int, str]]] = {}
        """Results whose reply has not been decoded yet, by reply: the result's entry and the id of its call."""
        self._called = (-1, -1)
        """The result looked at last, and the reply that called it."""
        self._callers: dict[int, int] = {}
        """The reply above each entry of a long walk."""
        self.flags = bytearray()
        self._lock = Lock()
        self._sums: dict[int, tuple[int, ...]] = {}
        self._open: dict[_Call, _Request] = {}
        """Calls of the current fill whose result has not been decoded yet."""
        self._counted: dict[_Call, tuple[int, int]] = {}
        """Lines counted for calls of earlier fills whose result has not been decoded yet."""
        self._answers: dict[_Call, _Answer] = {}
        """Results whose call has not been decoded yet."""
        self.grow(session)

    def __len__(self) -> int:
        return len(self.flags)

    def grow(self, session: Session) -> None:
        """Makes room for entries that were appended to the session."""
        more = len(session) - len(self.flags)
        if more > 0:
            for column in (self.tokens, self.calls, self.edits, self.added, self.removed, self.reported):
                column.frombytes(bytes(column.itemsize * more))
            self.flags.extend(bytes(more))

    def forget(self, start: int) -> None:
        """Forgets the entries from one on, whose records an agent has filled in since; they are decoded again when asked for."""
        with self._lock:
            size = len(self.flags)
            for column in (self.tokens, self.calls, self.edits, self.added, self.removed, self.reported):
                del column[start:]
                column.frombytes(bytes(column.itemsize * (size - start)))
            self.flags[start:] = bytes(size - start)
            for known in (self.shares, self._call_shares, self._parallel):
                for entry in [entry for entry in known if entry >= start]:
                    del known[entry]
            for asked in (self._open, self._counted, self._answers):
                for call in [call for call in asked if call[0] >= start]:
                    del asked[call]
            self._called = (-1, -1)
            self._callers.clear()
            for block in [block for block in self._sums if (block + 1) * _BLOCK > start]:
                del self._sums[block]

    def fill(
        self, session: Session, entries: Iterable[int], stop: Callable[[], bool] = lambda: False
    ) -> list[EntryIndex]:
        """Decodes the entries that are not known yet, in the given order, until `stop` returns true.

        Returns the entries whose lines proved to be no objects, for `Session.discredit`; they count as known and empty.
        """
        self.grow(session)
        flags, kinds = self.flags, session.columns.kind
        todo = [index for index in entries if not flags[index]]
        broken: list[EntryIndex] = []
        for start in range(0, len(todo), _CHUNK):
            if stop():
                break
            with self._lock:
                chunk = [index for index in todo[start : start + _CHUNK] if not flags[index]]
                spoken = [index for index in chunk if kinds[index] not in BOOKKEEPING_BYTES]
                broken += self._decode(session, spoken)
                if len(spoken) < len(chunk):
                    for index in chunk:
                        flags[index] |= KNOWN
                for block in {index // _BLOCK for index in chunk}:
                    self._sums.pop(block, None)
        with self._lock:
            for call, request in self._open.items():
                self._counted[call] = delta = delta_of(*request, self.table)
                self._count(call[0], 1, *delta)
            self._open.clear()
        return broken

    def _decode(self, session: Session, entries: list[int]) -> list[EntryIndex]:
        kinds, flags, tokens = session.columns.kind, self.flags, self.tokens
        tools, changing = self._tools, self._changing
        broken: list[EntryIndex] = []
        for index, body in session.bodies(entries):
            if body is None:
                flags[index] = KNOWN
                broken.append(index)
                continue
            kind = kinds[index]
            message = body.get("message")
            role = message.get("role") if isinstance(message, dict) else None
            if message is None or role is None:
                flags[index], tokens[index] = _other(body, Kind(kind))
            elif kind == _ASSISTANT and role == "assistant":
                flags[index], tokens[index] = self._reply(index, message)
            elif kind == _TOOL_RESULT and role == "toolResult":
                content = message.get("content")
                units = _only_text(content)
                if units < 0:
                    units = content_units(content)
                    flags[index] = KNOWN | IMAGE if _has_image(content) else KNOWN
                else:
                    flags[index] = KNOWN
                tokens[index] = -(-units // CHARS_PER_TOKEN)
                self._share(session, index, str(message.get("toolCallId", "")))
                tool = name if isinstance(name := message.get("toolName"), str) else ""
                if message.get("isError"):
                    flags[index] |= FAILED | FILES if tool in tools else FAILED
                if tool in changing or "nestedCalls" in message:
                    self._result(session, index, body)
            else:
                flags[index], tokens[index] = _other(body, Kind(kind))
        return broken

    def _reply(self, index: int, message: Body) -> tuple[int, int]:
        """Flags and tokens of a reply, the tokens as `message_tokens` counts them but in one pass; notes its calls."""
        flags = KNOWN
        units = called = 0
        tools, changing, named = self._tools, self._changing, self._named
        ran = did_run(message)
        if not ran:
            flags |= FAILED if message["stopReason"] == "error" else ABORTED
        self.reported[index] = _reported(message) if ran else 0
        content = message.get("content")
        lengths: dict[str, int] = {}
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if kind == "toolCall":
                called += 1
                before = units
                name = block.get("name")
                if not isinstance(name, str):
                    name = ""
                else:
                    units += len(name) if name.isascii() else utf16_length(name)
                if "arguments" in block:
                    arguments = block["arguments"]
                    units += json_length(arguments)
                    if ran and name in tools:
                        if name in named:
                            flags |= FILES
                            changes_file = name in changing and path_in(arguments, self.table) is not None
                            does = self.table.actions[name]
                        else:
                            made = self._looked_into(block)
                            flags |= FILES if made else 0
                            changes_file, does, arguments = self._summed(made)
                        if changes_file:
                            self._ask((index, str(block.get("id", ""))), (does, arguments))
                lengths[str(block.get("id", ""))] = units - before
            elif kind in ("text", "thinking"):
                text = block.get(kind)
                if isinstance(text, str):
                    units += len(text) if text.isascii() else utf16_length(text)
                    if kind == "thinking":
                        flags |= THINKING
                    elif text and not text.isspace():
                        flags |= HAS_TEXT
        if called:
            self.calls[index] = min(called, _MOST)
        tokens = -(-units // CHARS_PER_TOKEN)
        waiting = self._parallel.pop(index, [])
        if len(lengths) > 1:
            self._call_shares[index] = _shares(tokens, lengths)
            for result, call in waiting:
                self.shares[result] = self._call_shares[index].get(call, 0)
        return flags, tokens

    def _share(self, session: Session, index: int, call: str) -> None:
        """Notes a result's share of its reply, if that reply has several calls."""
        reply = self._caller(session, index)
        if reply in self._call_shares:
            self.shares[index] = self._call_shares[reply].get(call, 0)
        elif reply >= 0 and not self.flags[reply]:
            self._parallel.setdefault(reply, []).append((index, call))

    def _looked_into(self, block: Body) -> list[FileCall]:
        """The file operations of a command or a patch."""
        arguments = block["arguments"]
        checked = arguments if isinstance(arguments, dict) else {}
        return file_calls(ToolCall(str(block.get("id", "")), str(block.get("name", "")), checked), self.table)

    def _summed(self, made: list[FileCall]) -> tuple[bool, FileAction, dict[str, Any]]:
        """The changes of one call to several files as one edit, as they fail together."""
        changes = [one for one in made if one.action is not FileAction.READ]
        table = self.table
        edits = [
            {table.old[0]: old, table.new[0]: new}
            for one in changes
            for old, new in replacements(one.action, one.call.arguments, table)
        ]
        return bool(changes), FileAction.EDIT, {table.edits[0]: edits}

    def _ask(self, call: _Call, request: _Request) -> None:
        answer = self._answers.pop(call, None)
        if answer is not None:
            self._answer(call, request, answer)
        elif call in self._open:
            # Two calls with one id: a result cannot tell which of them it answers.
            self._count(call[0], 1, *delta_of(*request, self.table))
        else:
            self._open[call] = request

    def _answer(self, call: _Call, request: _Request, answer: _Answer) -> None:
        if not answer.failed:
            self._count(call[0], 1, *(answer.delta or delta_of(*request, self.table)))

    def _result(self, session: Session, index: int, body: Body) -> None:
        """Takes in a result of a tool that changes files, or of one that called tools itself."""
        message = body["message"]
        for nested in nested_calls(message):
            action = self.table.actions.get(nested.name)
            if action is not None and path_in(nested.arguments, self.table) is not None:
                self.flags[index] |= FILES
                if action is not FileAction.READ:
                    self._count(index, 1, *delta_of(action, nested.arguments, self.table))
        tool = message.get("toolName")
        if not isinstance(tool, str) or tool not in self._changing:
            return
        call = (self._caller(session, index), str(message.get("toolCallId", "")))
        failed = bool(message.get("isError"))
        answer = _Answer(failed, delta_in(body))
        if call in self._open:
            self._answer(call, self._open.pop(call), answer)
        elif call in self._counted:
            added, removed = counted = self._counted.pop(call)
            now = (0, 0) if failed else answer.delta or counted
            self._count(call[0], -1 if failed else 0, now[0] - added, now[1] - removed)
        elif call[0] >= 0 and not self.flags[call[0]]:
            self._answers[call] = answer

    def _caller(self, session: Session, result: int) -> int:
        """The reply whose call a tool's result answers: the nearest entry of the conversation above; -1 if that is no reply.

        The results of one reply may form a long chain, in any order of their lines: the walk ends at the result looked at last,
        and at every entry of an earlier walk that was long.
        """
        parent, kinds, known = session.columns.parent, session.columns.kind, self._callers
        last, reply = self._called
        walked = []
        above = result
        while above != last and above not in known:
            walked.append(above)
            above = parent[above]
            if above < 0 or kinds[above] not in _BETWEEN:
                reply = above if above >= 0 and kinds[above] == _ASSISTANT else -1
                break
        else:
            reply = known.get(above, reply)
        if len(walked) > _LONG_WALK:
            known.update(dict.fromkeys(walked, reply))
        self._called = (result, reply)
        return reply

    def _count(self, index: int, edits: int, added: int, removed: int) -> None:
        edits += self.edits[index]
        self.edits[index] = edits if 0 <= edits <= _MOST else max(0, min(edits, _MOST))
        if added or removed:
            self.added[index] += added
            self.removed[index] += removed
        self._sums.pop(index // _BLOCK, None)

    def sum(self, ranges: Iterable[range]) -> Tally:
        """The sums over the known entries in some ranges (of step 1)."""
        parts: list[tuple[int, ...]] = []
        entries = 0
        size = len(self.flags)
        for span in ranges:
            entries += len(span)
            start, stop = span.start, min(span.stop, size)
            while start < stop:
                block = start // _BLOCK
                end = min(stop, (block + 1) * _BLOCK)
                whole = end - start == _BLOCK
                parts.append(self._block(block) if whole else self._part(start, end))
                start = end
        if len(parts) == 1:
            return Tally(entries, *parts[0])
        return Tally(entries, *map(sum, zip(*parts, strict=True))) if parts else Tally(entries, *_NOTHING)

    def _block(self, block: int) -> tuple[int, ...]:
        kept = self._sums.get(block)
        if kept is not None:
            return kept
        start, stop = block * _BLOCK, (block + 1) * _BLOCK
        unknown = self.flags.count(0, start, stop)
        if unknown == _BLOCK:
            return _NOTHING
        if unknown:
            return self._part(start, stop)
        with self._lock:
            found = self._sums[block] = self._part(start, stop)
        return found

    def _part(self, start: int, stop: int) -> tuple[int, ...]:
        flags = self.flags[start:stop]
        return (
            stop - start - flags.count(0),
            sum(self.tokens[start:stop]),
            sum(self.calls[start:stop]),
            sum(self.edits[start:stop]),
            sum(self.added[start:stop]),
            sum(self.removed[start:stop]),
            len(flags.translate(None, _NOT_FAILED)),
            len(flags.translate(None, _NOT_ABORTED)),
        )


def _shares(tokens: int, lengths: dict[str, int]) -> dict[str, int]:
    """The tokens of a reply, divided among its calls by their length; the parts add up."""
    whole, done, found = sum(lengths.values()), 0, {}
    for call, units in lengths.items():
        found[call] = tokens * (done + units) // whole - tokens * done // whole if whole else 0
        done += units
    return found


_NOTHING = (0, 0, 0, 0, 0, 0, 0, 0)


def _only_text(content: object) -> int:
    """UTF-16 units of a content that is a single block of text, as most are; -1 for any other content."""
    if isinstance(content, list) and len(content) == 1:
        block = content[0]
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                return len(text) if text.isascii() else utf16_length(text)
    return -1


def _reported(message: Body) -> int:
    """The context tokens in a reply's usage, with a fast path for the usual form."""
    usage = message.get("usage")
    total = usage.get("totalTokens") if isinstance(usage, dict) else None
    if type(total) is not int or not 0 < total < MOST_TOKENS:
        trusted = trusted_usage(message)
        total = trusted.total if trusted is not None else 0
    return max(0, min(total, _MOST_IN_COLUMN))


def _has_image(content: object) -> bool:
    if not isinstance(content, list):
        return False
    return any(isinstance(block, dict) and block.get("type") == "image" for block in content)


def _other(body: Body, kind: Kind) -> tuple[int, int]:
    """Flags and tokens of an entry that is neither a reply nor a tool's result."""
    flags = KNOWN
    tokens = 0
    for message in messages_of(body, kind):
        tokens += message_tokens(message)
        if _has_image(message.get("content")):
            flags |= IMAGE
        if message.get("role") == "bashExecution":
            if message.get("exitCode"):
                flags |= FAILED
            if message.get("cancelled"):
                flags |= ABORTED
    return flags, tokens
