"""Calls and their results, told by the bytes of a line where it is as pi writes it.

Nothing is guessed: where a line is of another shape, the answer is None, and it has to be decoded. Inside a JSON string
no quote is bare, so the keys that are looked for cannot stand in what somebody wrote.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from leafward.edits import Action

if TYPE_CHECKING:
    from leafward.edits import ToolTable

_CALL, _CALL_BEGINS = b'"toolCall"', b'{"type":"toolCall"'
NO_CALL = "", "", b""
"""A reply that calls nothing."""
_NO_TOOL = "", b""
_FIRST_ARGUMENT = re.compile(
    rb'(?<=[\[,])\{"type":"toolCall","id":"([^"\\]+)","name":"([^"\\]+)",'
    rb'"arguments":\{"([^"\\]+)":"([^"\\]*(?:\\.[^"\\]*)*)"[,}]'
)
_RAN = re.compile(rb'"stopReason":"(?:toolUse|stop|length)","timestamp":\d+\}\}\Z')
_RESULT = re.compile(
    rb'\{"type":"message","id":"[^"\\]+","parentId":(?:"[^"\\]+"|null),"timestamp":"[^"\\]+",'
    rb'"message":\{"role":"toolResult","toolCallId":"([^"\\]+)","'
)
_ENDED = re.compile(rb'"isError":(?:(true)|false),"timestamp":\d+\}\}\Z')
_NESTED = b'"nestedCalls":'
_TAIL = 64
"""Bytes in which the end of a line lies."""


class CallShapes:
    """Replies with one call, of a tool whose first argument says which file it reads or edits, or which command it runs.

    A tool that writes is none of these: its text says how much it writes, and is most of its line.
    """

    def __init__(self, table: ToolTable) -> None:
        self._tools: dict[bytes, tuple[str, bytes]] = {}
        if len(table.path) == 1:
            for name, action in table.actions.items():
                if action is not Action.WRITE and name not in table.patches:
                    self._tools[name.encode()] = name, table.path[0].encode()
        if len(table.command) <= 1 and not table.folder:
            for name in table.shells - table.actions.keys() - table.patches.keys():
                self._tools[name.encode()] = name, "".join(table.command or ("command",)).encode()

    def one_call(self, line: bytes) -> tuple[str, str, bytes] | None:
        """Id, tool and first argument of the call; None where the reply has to be decoded to know what it calls.

        The argument is a JSON string without its quotes (`string`). The call was run, as in `files.did_run`. `NO_CALL` where
        the reply calls nothing.
        """
        begin = line.find(_CALL_BEGINS)
        if begin < 0:
            return None if _CALL in line else NO_CALL
        call = _FIRST_ARGUMENT.match(line, begin)
        if call is None:
            return None
        call_id, name, argument, said = call.groups()
        tool, expected = self._tools.get(name, _NO_TOOL)
        if (
            argument != expected
            or line.find(_CALL, call.end()) >= 0
            or _RAN.search(line, max(0, len(line) - _TAIL)) is None
        ):
            return None
        return call_id.decode("utf-8", "replace"), tool, said


def string(said: bytes) -> str | None:
    """A JSON string without its quotes as text; None where only decoding the whole line says what becomes of it."""
    try:
        return str(orjson.loads(b'"%b"' % said))
    except orjson.JSONDecodeError:
        return None


def answered(line: bytes) -> str | None:
    """The call that a result answers; None where the result has to be decoded for that."""
    result = _RESULT.match(line)
    return result[1].decode("utf-8", "replace") if result is not None else None


def failed(line: bytes) -> bool | None:
    """Whether a result says that its call failed; None where it has to be decoded for that, or for calls of the tool."""
    ended = _ENDED.search(line, max(0, len(line) - _TAIL))
    return ended[1] is not None if ended is not None and _NESTED not in line else None
