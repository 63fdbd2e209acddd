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
_REPLY = bytes((Kind.ASSISTANT,))
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

    def watch(self, scan: Scan, first: int, block: bytes | bytearray, end: int) -> None:
        """Takes in the lines of the entries that a scan added, as `Scan` hands them over."""
        if not self._begun:
            self._begun = True
            header = scan.header or {}
            folder = header.get("cwd")
            self.meter = Meter(parse_time(header.get("timestamp")) or 0)
            self.files = TouchedFiles(folder if isinstance(folder, str) else "")
        starts, kinds, base, count = scan.columns.start, scan.columns.kind, scan.end, len(scan.columns)
        meter, at = self.meter, 0
        index = kinds.find(_REPLY, first)
        while index >= 0:
            start = starts[index] - base
            if block.find(_USAGE, at, start) >= 0:
                self._between(block[at:start])
            index += 1
            at = starts[index] - base if index < count else end
            line = block[start:at]
            try:
                seen = _decode(line)
            except (ValueError, RecursionError):
                self.add_body(decode_line(bytes(line)) or {})
            else:
                self._take(seen, meter, line)
            index = kinds.find(_REPLY, index)
        if block.find(_USAGE, at, end) >= 0:
            self._between(block[at:end])
        self.settle()

    def _between(self, lines: bytes | bytearray) -> None:
        """Lines that are no replies."""
        for line in bytes(lines).split(b"\n"):
            if _USAGE in line:
                self.add_body(decode_line(line) or {})

    def _take(self, seen: _Line, meter: Meter, line: bytes | bytearray) -> None:
        """One reply."""
        message = seen.message
        if message is None:
            self.add_body(decode_line(bytes(line)) or {})
            return
        usage = message.usage
        if usage is not None:
            cost = usage.cost
            if cost is None or cost.total is None or not meter.count(seen.timestamp, usage.totalTokens, cost.total):
                meter.add(decode_line(bytes(line)) or {})
        if type(message.content) is list:
            for block in message.content:
                given = block.arguments
                if given is not None and block.name in _TOUCHING and block.type == "toolCall":
                    self._touch(block.name, given.path or given.file_path)

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
