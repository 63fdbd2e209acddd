"""What the lines of a native file used, and which files their calls name: of a line nothing else is made an object.

A declared shape is decoded, and all that it does not name is passed over. What does not fit into it, in a line that pi did not
write or that is broken, is decoded whole. A test compares both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import Decoder

from leafward.agents import Touch
from leafward.base.times import parse_time
from leafward.catalog.lines import TouchedFiles
from leafward.catalog.spending import Meter
from leafward.files.tool_calls import NATIVE_TOOLS
from leafward.session.entries import Kind, calls_in
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.session.entries import Body
    from leafward.session.scan import Scan

_USAGE = b'"usage"'
"""In every line that says what it used."""
_LONGEST = 400
"""Characters of a path that is taken for one."""
_TOUCHING = {name: NATIVE_TOOLS.changes(name) for name in NATIVE_TOOLS.actions}
"""Tools that touch a file, and whether they change it."""


class _Arguments(Struct, gc=False):
    path: str | None = None
    file_path: str | None = None


class _Block(Struct, gc=False):
    type: str = ""
    name: str = ""
    arguments: _Arguments | None = None


class _Cost(Struct, gc=False):
    total: float | None = None


class _Usage(Struct, gc=False):
    totalTokens: int = 0
    cost: _Cost | None = None


class _Message(Struct, gc=False):
    usage: _Usage | None = None
    content: list[_Block] | str | None = None


class _Line(Struct, gc=False):
    timestamp: str = ""
    message: _Message | None = None


_decode = Decoder(_Line).decode


class NativeLines:
    """Counts what lines used, and gathers the files that their calls name."""

    def __init__(self, meter: Meter | None = None, files: TouchedFiles | None = None) -> None:
        """Where none are given the session's header says when it began, and where it worked."""
        self.meter = meter or Meter(0)
        self.files = files or TouchedFiles("")
        self._begun = meter is not None
        self._touches: list[Touch] = []

    def watch(self, scan: Scan, lines: list[bytes], kinds: bytearray) -> None:
        """Takes in lines that a scan found, with the kinds of their entries."""
        if not self._begun:
            self._begun = True
            header = scan.header or {}
            folder = header.get("cwd")
            self.meter = Meter(parse_time(header.get("timestamp")) or 0)
            self.files = TouchedFiles(folder if isinstance(folder, str) else "")
        for line, kind in zip(lines, kinds, strict=True):
            if kind == Kind.ASSISTANT:
                self._add(line)
            elif _USAGE in line:
                self.add_body(decode_line(line) or {})
        self.settle()

    def _add(self, line: bytes) -> None:
        """One reply."""
        try:
            seen = _decode(line)
        except (ValueError, RecursionError):
            self.add_body(decode_line(line) or {})
            return
        message = seen.message
        if message is None:
            self.add_body(decode_line(line) or {})
            return
        usage = message.usage
        if usage is not None:
            cost = usage.cost.total if usage.cost is not None else None
            if cost is None or not self.meter.count(seen.timestamp, usage.totalTokens, cost):
                self.meter.add(decode_line(line) or {})
        if type(message.content) is list:
            for block in message.content:
                if block.type == "toolCall" and block.name in _TOUCHING and block.arguments is not None:
                    self._touch(block.name, block.arguments.path or block.arguments.file_path)

    def add_body(self, body: Body) -> None:
        """One line that was decoded."""
        self.meter.add(body)
        message = body.get("message")
        for call in calls_in(message.get("content")) if isinstance(message, dict) else ():
            if call.name in _TOUCHING:
                self._touch(call.name, call.arguments.get("path") or call.arguments.get("file_path"))

    def _touch(self, tool: str, path: object) -> None:
        if isinstance(path, str) and 0 < len(path) <= _LONGEST:
            self._touches.append(Touch(path, _TOUCHING[tool]))

    def settle(self) -> None:
        """Takes the files named since the last time into `files`, in order: of calls that are alike the last."""
        touches, self._touches = self._touches, []
        self.files.take(reversed(dict.fromkeys(reversed(touches))))
