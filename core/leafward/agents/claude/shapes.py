"""Rows that are known by their bytes: what a transcript is made of for the most part, told without decoding it.

A shape is matched from the beginning of the line and to its very end, in the order of keys that Claude Code 2.1 writes; whatever
differs in anything is decoded whole. What is skipped are values only: the blocks of a message, the result of a call as
programs see it, an attachment's own fields. Behind a skipped value the keys are those of the row itself, as they are closed
by the line's one last brace: inside a string their quotes would be escaped, and inside another object a second brace followed.
"""

from __future__ import annotations

import re
from binascii import unhexlify
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.records import Role
from leafward.scan import decode_line

if TYPE_CHECKING:
    from leafward.entries import Body

_UUID = rb'"([^"]{36})"'
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = rb'"[^"]*+"'
"""A value that is closed by the next quote: were that one escaped, what has to follow would close the string and no key came."""
_FLAT = rb'(?:"[^"\\]*+"|null|true|false|[0-9.]++)'
_INSIDE = rb"[^{}\\]*+"
_OBJECT = rb"\{%b(?:\{%b(?:\{%b\}%b)*+\}%b)*+\}" % (_INSIDE, _INSIDE, _INSIDE, _INSIDE, _INSIDE)
_NAME = rb"[!#-;=-\[\]-~]++"
"""An id in plain characters; the made up model of a reply that nobody gave is none."""

_HEAD = re.compile(
    rb'\{"parentUuid":(?:"([^"]{36})"|null),"isSidechain":false,(?:'
    rb'"message":\{(?:"model":"' + _NAME + rb'",)?"id":"(' + _NAME + rb')","type":"message","role":"assistant",'
    rb'(?:"model":"' + _NAME + rb'",)?"content":\['
    rb'|"attachment":\{"type":"([a-z0-9_]++)"'
    rb'|(?:"promptId":' + _PLAIN + rb',)?"type":"user","message":\{"role":"user","content":'
    rb'(?:"(?=[ABD-Zabd-z0-9])()|\[\{(?:"tool_use_id":"' + _NAME + rb'","type":"tool_result"|"type":"tool_result","tool_use_id":"' + _NAME + rb'"),'
    rb'"content":")'
    rb'|"type":"system","subtype":"(turn_duration|local_command)")'
)  # fmt: skip
_REPLY_LAST = b'},"'
_REPLY = re.compile(
    rb'\}(?:,"thinkingDurationMs":[0-9]++)?+(?:,"thinkingDisplay":' + _PLAIN + rb')?+(?:,"toolInputStreamMs":[0-9]++)?+'
    rb'(?:,"apiBlockIndex":[0-9]++)?+(?:,"request(?:Ref|Id)":' + _PLAIN + rb')?+(?:,"requestedModel":' + _PLAIN + rb")?+"
    rb'(?:,"promptCacheRequested":' + _PLAIN + rb')?+,"type":"assistant","uuid":' + _UUID + rb',"timestamp":' + _PLAIN +
    rb'(?:,"perTurnEffort":(?:null|' + _PLAIN + rb'))?+(?:,"madeBy":' + _PLAIN + rb')?+(?:,"session_id":' + _PLAIN + rb")?+"
)  # fmt: skip
_ATTACHED_LAST = b'},"type":"attachment","uuid":"'
_ATTACHED = re.compile(
    rb'\},"type":"attachment","uuid":' + _UUID + rb',"timestamp":' + _PLAIN + rb',"rendered":\['
    rb'\{"content":(?!"")' + _STRING + rb'\}(?:,\{"content":' + _STRING + rb'\})*+\],"renderedRole":' + _PLAIN +
    rb'(?:,"(?:renderedBesideToolResult|session_id)":' + _FLAT + rb")*+"
)  # fmt: skip
_SILENT = b"prompt_snapshot"
_SILENTLY = re.compile(
    rb'\},"type":"attachment","uuid":' + _UUID + rb',"timestamp":' + _PLAIN + rb'(?:,"session_id":' + _PLAIN + rb")?+"
)  # fmt: skip
_RESULT_NAME = b'}]},"'
_RESULT_ENDS = (b'"', b'"is_error":false', b'"is_error":true')
_RESULT_NAMED = re.compile(
    rb'\}\]\},"uuid":' + _UUID + rb',"timestamp":' + _PLAIN + rb'(?:,"toolUseResult":)?+'
)
_BLOCK = b'"type":"tool_result"'
_RESULT_LAST = b',"sourceToolAssistantUUID":"'
_RESULT = re.compile(
    rb',"sourceToolAssistantUUID":' + _PLAIN + rb'(?:,"permissionDecision":' + _OBJECT + rb')?+(?:,"session_id":' + _PLAIN + rb")?+"
)  # fmt: skip
_SANDBOXED = (b',"sandboxed":false', b',"sandboxed":true')
_PROMPT_LAST = b'"},"'
_PROMPT = re.compile(
    rb'"\},"uuid":' + _UUID + rb',"timestamp":' + _PLAIN + rb'(?:,"permissionMode":' + _PLAIN + rb')?+'
    rb'(?:,"origin":\{"kind":"human"\})?+(?:,"(?:promptSource|turnOrigin)":' + _PLAIN + rb')*+'
    rb'(?:,"turnPosition":' + _OBJECT + rb')?+(?:,"session_id":' + _PLAIN + rb")?+"
)  # fmt: skip
_QUIET = b"turn_duration"
_BESIDE = (
    rb',"timestamp":'
    + _PLAIN
    + rb',"uuid":'
    + _UUID
    + rb',"isMeta":false(?:,"session_id":'
    + _PLAIN
    + rb")?+"
)
_SYSTEM = re.compile(rb'(?:,"(?:durationMs|messageCount)":[0-9.]++)*+' + _BESIDE)
_COMMAND = re.compile(rb',"content":' + _STRING + rb',"level":' + _PLAIN + _BESIDE)
_CLOSES = (b"}", b"]")
_QUOTE = ord('"')

_LAST = b',"userType":"'
_LASTS = 1200
"""Bytes at the end of a row in which the keys that say where it was written are looked for."""
_COPIED = b'","messageUuid":"'
_ENDS = frozenset(
    {
        "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "requestSessionId", "forkedFrom",
    }
)  # fmt: skip
_NEEDED = frozenset({"cwd", "sessionId", "version", "gitBranch"})
_KNOWN_ENDS = 64
_NO_KEY = bytes(16)

_GLUED = b'{"parentUuid":'
_FORKED = b',"forkedFrom":{'
_FORKED_SIZE = 400
"""Bytes before the keys at a row's end in which the mark of a copy would stand if it stood elsewhere."""
_OUTSIDE = re.compile(
    rb'\{"type":"(?:mode","mode":' + _PLAIN + rb'|permission-mode","permissionMode":' + _PLAIN + rb'|atis-latch","atis":' + _PLAIN
    + rb'|tools-used","tools":\[(?:' + _PLAIN + rb',?+)*+\]),"sessionId":' + _PLAIN + rb"\}"
    rb'|\{"type":"file-history-delta","messageId":' + _PLAIN + rb',"snapshotMessageId":' + _PLAIN + rb',"trackingPath":' + _PLAIN
    + rb',"backup":' + _OBJECT + rb',"timestamp":' + _PLAIN + rb"\}"
)  # fmt: skip
_POINTER = re.compile(
    rb'\{"type":"last-prompt","lastPrompt":('
    + _STRING
    + rb'),"leafUuid":'
    + _UUID
    + rb',"sessionId":'
    + _PLAIN
    + rb"\}"
)
_REQUEST = re.compile(
    rb'\{"type":"api-request","sessionId":' + _PLAIN + rb',"id":"(' + _NAME + rb')","timestamp":"'
)
_REQUEST_LAST = re.compile(rb'"requestDigest":"[0-9a-f]{64}"\}')
_REQUEST_ENDS = 83
_REQUEST_BEGINS = b'{"type":"api-request",'


class End(NamedTuple):
    """What the last keys of a row say: the same in most rows of a session."""

    body: Body
    copied: bool
    """The row was copied from another session."""


Shape = tuple[Role, bytes | None, bytes, bytes, bytes | None, End]
"""What is known of a chained row: its role, the ids of its parent and its own as they are written, the key of its own, of a
reply the id of its message, and its last keys. No named tuple: a hundred thousand of them are made."""


def key_in(name: bytes) -> bytes | None:
    """A UUID as `key_of` gives it; None for any other id."""
    plain = name.translate(None, b"-")
    try:
        key = unhexlify(plain)
    except ValueError:
        return None
    return key if len(plain) == 32 and key != _NO_KEY else None


class Shapes:
    """Tells rows by their bytes."""

    def __init__(self) -> None:
        self._ends: dict[bytes, End] = {}
        self._ended = _LAST
        self._buffer = b""
        self._holes = False

    def holes(self, data: bytes) -> bool:
        """Whether there are NULs among some lines: then each of them is looked at closely."""
        if data is not self._buffer:
            self._buffer, self._holes = data, b"\0" in data
        return self._holes

    def rest(self) -> None:
        """Lets go of the lines."""
        self._buffer = b""

    def chained(self, data: bytes, start: int, end: int) -> Shape | None:
        """A row of the chain; None where it is none or differs in anything."""
        head = _HEAD.match(data, start, end)
        if head is None:
            return None
        if data.endswith(self._ended, start, end):
            last = end - len(self._ended)
        else:
            last = data.rfind(_LAST, max(start, end - _LASTS), end)
            if last < 0:
                return None
            self._ended = data[last:end]
        above, reply, attached, prompt, system = head.groups()
        at = head.end()
        if reply is not None:
            role, first = Role.REPLY, data.rfind(_REPLY_LAST, at, last)
            if first < 0 or data[first - 1] == _QUOTE:
                return None
            tail = _REPLY.match(data, first, last)
        elif attached is not None:
            first = data.rfind(_ATTACHED_LAST, at, last)
            if first < 0 or data.find(_FORKED, max(at, first - _FORKED_SIZE), first) >= 0:
                return None
            silent = attached == _SILENT
            role = Role.QUIET if silent else Role.ATTACHED
            tail = (_SILENTLY if silent else _ATTACHED).match(data, first, last)
        elif prompt is not None:
            role, first = Role.PROMPT, data.find(_PROMPT_LAST, at, last)
            tail = _PROMPT.match(data, first, last) if first >= 0 else None
        elif system is not None:
            role, first = (Role.QUIET if system == _QUIET else Role.INJECTED), at
            tail = (_SYSTEM if system == _QUIET else _COMMAND).match(data, at, last)
        else:
            return self._result(data, at, last, end, above)
        if tail is None or tail.end() != last or data.find(_GLUED, at, first) >= 0:
            return None
        return self._shape(role, above, tail[1], reply, data[last:end])

    def _result(self, data: bytes, at: int, last: int, end: int, above: bytes | None) -> Shape | None:
        """A row with the result of one call, which is text."""
        first = data.find(_RESULT_NAME, at, last)
        if first < 0 or not data.endswith(_RESULT_ENDS, at, first) or data.find(_BLOCK, at, first) >= 0:
            return None
        named = _RESULT_NAMED.match(data, first, last)
        first = data.rfind(_RESULT_LAST, first, last)
        tail = _RESULT.match(data, first, last) if first >= 0 else None
        if named is None or tail is None or tail.end() != last:
            return None
        for one in _SANDBOXED:
            if data.endswith(one, at, first):
                first -= len(one)
        if first > named.end() and (
            not data.endswith(_CLOSES, at, first)
            or data.find(_FORKED, max(named.end(), first - _FORKED_SIZE), first) >= 0
        ):
            return None
        if data.find(_GLUED, at, first) >= 0:
            return None
        return self._shape(Role.RESULT, above, named[1], None, data[last:end])

    def _shape(
        self, role: Role, above: bytes | None, name: bytes, reply: bytes | None, ends: bytes
    ) -> Shape | None:
        said = self._ends.get(ends) or self._end(ends, name)
        if said is None or above == name:
            return None
        key = key_in(name)
        return (role, above, name, key, reply, said) if key is not None else None

    def _end(self, ends: bytes, name: bytes) -> End | None:
        """The last keys of a row; None where others are among them."""
        if ends.endswith(b'"}}'):
            # Copies name the row they were made of, which has the same id.
            known, written, rest = ends.rpartition(_COPIED)
            if written and rest == name + b'"}}':
                found = self._ends.get(known)
                if found is not None:
                    return found
                return self._keep(known, ends)
        return self._keep(ends, ends)

    def _keep(self, known: bytes, ends: bytes) -> End | None:
        body = decode_line(b"{" + ends[1:])
        if body is None or not _NEEDED <= body.keys() <= _ENDS:
            return None
        if len(self._ends) >= _KNOWN_ENDS:
            self._ends.clear()
        copied = "forkedFrom" in body or "requestSessionId" in body
        found = self._ends[known] = End(body, copied)
        return found


def outside(data: bytes, start: int, end: int) -> tuple[str, bytes] | None:
    """The type of a row outside the chain that says nothing but where it lies, and the id it can be found by; None for any other."""
    if _OUTSIDE.fullmatch(data, start, end) is not None:
        return "", b""
    found = _REQUEST.match(data, start, end)
    if (
        found is not None
        and _REQUEST_LAST.fullmatch(data, max(start, end - _REQUEST_ENDS), end) is not None
        and data.find(_REQUEST_BEGINS, start + 1, end) < 0
    ):
        return "api-request", found[1]
    return None


def pointer(data: bytes, start: int, end: int) -> tuple[bytes, str] | None:
    """The row that a last prompt points at, as its key, and the prompt; None where the line is another one."""
    found = _POINTER.fullmatch(data, start, end)
    key = key_in(found[2]) if found is not None else None
    if found is None or key is None:
        return None
    said = decode_line(b'{"":%b}' % found[1])
    return (key, said[""]) if said is not None else None
