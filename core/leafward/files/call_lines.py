"""Calls and their results, read from the bytes of a line in pi's form.

Nothing is guessed: where a line has another form, the answer is None, and the line has to be decoded. Inside a JSON string
no quote is bare, so the keys that are searched for cannot be a part of anybody's text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from leafward.base.late_pattern import late
from leafward.files.tool_calls import FileAction
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from leafward.files.tool_calls import ToolTable

_CALL = b'"toolCall"'
_RARE = b"C"
"""The letter of a call's type that is rarest in the rest of a line: one letter is found ten times faster than a word."""
_TO_CALL = len(b'[{"type":')
NO_CALL = "", "", b"", None
"""The value for a reply without calls."""
_NO_TOOL = "", b"", b""
_FIRST_ARGUMENT = late(
    rb'[\[,]\{"type":"toolCall","id":"([^"\\]+)","name":"([^"\\]+)","arguments":\{"([^"\\]+)":"([^"\\]*(?:\\.[^"\\]*)*)"[,}]'
)
_RAN, _RAN_END = b'"stopReason":"toolUse","timestamp":', slice(-50, -15)
_CONTENT_ENDS = b'"}}],"api":"'
_RESULT = late(
    rb'\{"type":"message","id":"[^"\\]+","parentId":(?:"[^"\\]+"|null),"timestamp":"[^"\\]+",'
    rb'"message":\{"role":"toolResult","toolCallId":"([^"\\]+)"'
)
_ENDED = late(rb'"isError":(?:(true)|false)(?:,"timestamp":\d+)?\}\}\Z')
_NESTED, _DIFF = b'"nestedCalls":', b'"diff"'
# The form of nearly all results, at fixed places as in `scan`, with a time of thirteen digits: a content, and at most a diff.
_RESULT_ROLE, _ROLE = b'","message":{"role":"toolResult","toolCallId":"', slice(93, 140)
_ID_BEGINS = _ROLE.stop
_CONTENT, _DETAILS = b'","content":[', b'}],"details":{"diff":"'
_FINE, _FINE_END = b',"isError":false,"timestamp":', slice(-44, -15)
_CONTENT_END, _DIFF_END = b"}]", b'"}'
_BEFORE = slice(-46, -44)
_TAIL = 64
"""Bytes that hold the end of a line."""


class CallShapes:
    """Replies with one call, of a tool whose first argument is the file that it touches, or the command that it runs."""

    def __init__(self, table: ToolTable) -> None:
        # A call of another agent's tool is decoded: only a converted session has one.
        table = table.own
        self._tools: dict[bytes, tuple[str, bytes, bytes]] = {}
        """The first argument of each tool, and the beginning of the second where that is the written text."""
        if len(table.path) == len(table.content) == 1:
            text = b'"%b":"' % table.content[0].encode()
            for name, action in table.actions.items():
                if name not in table.patches:
                    written = text if action is FileAction.WRITE else b""
                    self._tools[name.encode()] = name, table.path[0].encode(), written
        self._names = dict.fromkeys(table.actions, table.path[0])
        self._names |= dict.fromkeys(table.shells, (*table.command, "command")[0])
        if len(table.command) <= 1 and not table.folder:
            for name in table.shells - table.actions.keys() - table.patches.keys():
                self._tools[name.encode()] = name, "".join(table.command or ("command",)).encode(), b""

    def one_call(self, line: bytes) -> tuple[str, str, bytes, str | None] | None:
        """The call of a reply; None where the reply has to be decoded, `NO_CALL` where it calls nothing.

        The values are id, tool, first argument as a JSON string without its quotes (`string`), and the written text, None
        for a tool that does not write. The call was run, as in `messages.did_run`.
        """
        begin = line.find(_CALL)
        if begin < 0:
            return NO_CALL
        call = _FIRST_ARGUMENT.match(line, begin - _TO_CALL)
        if call is None:
            return None
        call_id, name, argument, literal = call.groups()
        tool, expected, written = self._tools.get(name, _NO_TOOL)
        if argument != expected or line[_RAN_END] != _RAN or line[-2:] != b"}}":
            return None
        text = None
        if not written:
            if line.find(_RARE, call.end()) >= 0 and line.find(_CALL, call.end()) >= 0:
                return None
        else:
            begin = call.end()
            if not line.startswith(written, begin):
                return None
            # A part without a bare quote is one string, and no other call follows it.
            text = _quoted(line[begin + len(written) - 1 : line.rfind(_CONTENT_ENDS, begin) + 1])
            if text is None:
                return None
        return call_id.decode("utf-8", "replace"), tool, literal, text

    def as_call(self, parts: tuple[str, str, bytes, str | None]) -> ToolCall | None:
        """The call with its first argument, which tells everything that it touches; None where only decoding shows it."""
        call_id, tool, literal, _ = parts
        text = string(literal)
        return ToolCall(call_id, tool, {self._names[tool]: text}) if tool and text is not None else None


def string(literal: bytes) -> str | None:
    """A JSON string without its quotes as text; None where it is not one, or where only the whole line tells its value."""
    return _quoted(b'"%b"' % literal)


def _quoted(literal: bytes) -> str | None:
    try:
        text: str = orjson.loads(literal)
    except orjson.JSONDecodeError:
        return None
    return text


def result_in(line: bytes) -> tuple[str, bool, str | None] | None:
    """The call that a result answers, whether that failed, and the diff in the result, empty where it has none.

    None where the result has to be decoded for that, or for calls that the tool made; the diff is None where it has to be
    decoded to be known.
    """
    end = line.find(b'"', _ID_BEGINS)
    call_id = line[_ID_BEGINS:end]
    if (
        line[-2:] != b"}}"
        or line[_ROLE] != _RESULT_ROLE
        or line[_FINE_END] != _FINE
        or line.find(_CONTENT, end, end + _TAIL) < 0
        or b"\\" in call_id
    ):
        return _odd_result(line)
    before = line[_BEFORE]
    diff: str | None = ""
    if before == _DIFF_END:
        begin = line.find(_DETAILS, end) + len(_DETAILS)
        # A part without a bare quote is one string.
        diff = _quoted(line[begin - 1 : _BEFORE.start + 1]) if begin > len(_DETAILS) else None
    if diff is None or before not in (_DIFF_END, _CONTENT_END):
        return _odd_result(line)
    return call_id.decode("utf-8", "replace"), False, diff


def _odd_result(line: bytes) -> tuple[str, bool, str | None] | None:
    result = _RESULT.match(line)
    ended = _ENDED.search(line, max(0, len(line) - _TAIL))
    if result is None or ended is None or _NESTED in line:
        return None
    return result[1].decode("utf-8", "replace"), ended[1] is not None, None if _DIFF in line else ""
