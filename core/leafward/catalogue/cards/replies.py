"""Usage of the replies in a native file, and the files named by their calls; no other part of a line is made an object.

Lines are decoded into a declared shape, which skips everything that it does not name. A line that does not fit, because it
is broken or not pi's, is decoded whole. A test compares both ways.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.json import Decoder

from leafward.agents.registry import tools_of
from leafward.base.times import parse_time
from leafward.catalogue.cards.card_fields import LATEST, TouchedFiles, spoken_at
from leafward.catalogue.cards.daily_usage import Meter
from leafward.files.tool_calls import FileAction, file_calls
from leafward.session.entries import MOST_TOKENS, Kind, ToolCall, calls_in
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import Body
    from leafward.session.lines.scan import Scan

_USAGE = b'"usage"'
"""Bytes that every line that records usage contains."""
_REPLY = int(Kind.ASSISTANT)
_CALL = "toolCall"
_LONGEST = 400
"""Most characters of a path; a longer text is not taken for one."""
_TOOLS = tools_of("pi")
_TOUCHING = {
    name: _TOOLS.changes(name) if name in _TOOLS.actions else None
    for name in _TOOLS.names
    if _TOOLS.touches(name)
}
"""Tools that touch a file, and whether they change it; None if that depends on a patch or command, as in other agents' tools."""


class _Arguments(Struct, gc=False):
    path: str | None = None
    file_path: str | None = None


class _Block(Struct, gc=False):
    type: str = ""
    name: str = ""
    arguments: _Arguments | None = None


class _Cost(Struct, gc=False):
    total: float


class _Usage(Struct, gc=False, rename="camel"):
    total_tokens: Annotated[int, Meta(gt=0, lt=MOST_TOKENS)]
    cost: _Cost


class _Message(Struct, gc=False):
    timestamp: Annotated[float, Meta(gt=0, lt=LATEST)]
    usage: _Usage
    content: list[_Block] | str | None = None


class _Line(Struct, gc=False):
    message: _Message


_decode = Decoder(_Line).decode
_NO_DAY: list[float] = []
_ALL = 1 << 62


class Replies:
    """Adds up the usage recorded in lines, and gathers the files that their calls name."""

    def __init__(self, meter: Meter | None = None, files: TouchedFiles | None = None) -> None:
        """Without `meter` and `files`, the session's header says when it began and in which folder."""
        self.meter = meter or Meter(0)
        self.files = files or TouchedFiles("")
        self.spoken = 0
        """Time of the latest reply, in milliseconds."""
        self.until = _ALL
        """Offset from which on other processes count the lines."""
        self._begun = meter is not None
        self.touches: list[tuple[str, bool]] = []
        """Files named by calls but not yet added to `files`, each with whether it was changed."""
        self.passes_on = False
        """Whether nothing is added to `files`, because another process does that."""

    def watch(self, scan: Scan, first: int, lines: list[bytes]) -> None:
        """Takes in the lines of the entries that a scan added; `Scan` calls this."""
        if not self._begun and scan.header is not None:
            self._begin(scan.header)
        kinds = scan.columns.kind[first : bisect_left(scan.columns.start, self.until, first)]
        day_at, touches, spoken = self.meter.day_at, self.touches, self.spoken
        since, until, day = 0, 0, _NO_DAY
        # The lines from `until` on have no kinds here.
        for kind, line in zip(kinds, lines, strict=False):
            if kind != _REPLY:
                if line.find(_USAGE) >= 0:
                    self._add(line)
                continue
            try:
                message = _decode(line).message
            except (ValueError, RecursionError):
                self._add(line)
                continue
            made, usage, content = message.timestamp, message.usage, message.content
            if not since <= made < until:
                since, until, day = day_at(made)
            day[0] += usage.total_tokens
            day[1] += usage.cost.total
            day[2] += 1
            if made > spoken:
                spoken = int(made)
            if type(content) is list:
                before = len(touches)
                for part in content:
                    name, arguments = part.name, part.arguments
                    if arguments is not None and name in _TOUCHING and part.type == _CALL:
                        path, changes = arguments.path or arguments.file_path, _TOUCHING[name]
                        if not path or changes is None:
                            # A call of another agent, in a session that was converted.
                            del touches[before:]
                            touches += _touches_in(decode_line(line) or {})
                            break
                        if len(path) <= _LONGEST:
                            touches.append((path, changes))
        self.spoken = max(self.spoken, spoken)
        self.settle()

    def _begin(self, header: Body) -> None:
        self._begun = True
        folder = header.get("cwd")
        self.meter.began = parse_time(header.get("timestamp")) or 0
        self.files = TouchedFiles(folder if isinstance(folder, str) else "")

    def _add(self, line: bytes) -> None:
        body = decode_line(line)
        if body is not None:
            self.add_body(body)

    def add_body(self, body: Body) -> None:
        """Counts one decoded line."""
        self.meter.add(body)
        self.spoken = max(self.spoken, spoken_at(body))
        self.touches += _touches_in(body)

    def join(self, meter: Meter, touches: Sequence[tuple[str, bool]], spoken: int) -> None:
        """Adds the counts that another process made of the lines after these."""
        self.meter.join(meter)
        self.spoken = max(self.spoken, spoken)
        self.touches += touches
        self.settle()

    def settle(self) -> None:
        """Adds the files named since the last call to `files`, in order."""
        if not self.passes_on:
            self.files.take(self.touches)
            self.touches.clear()


def _touches_in(body: Body) -> list[tuple[str, bool]]:
    """The files named by the calls of a line, each with whether it is changed."""
    message = body.get("message")
    named: list[tuple[object, bool]] = []
    for call in calls_in(message.get("content")) if isinstance(message, dict) else ():
        changes = _TOUCHING.get(call.name)
        if changes is not None:
            named.append((_file_in(call), changes))
        elif call.name in _TOUCHING:
            named += [(one.path, one.action is not FileAction.READ) for one in file_calls(call, _TOOLS)]
    return [(path, changes) for path, changes in named if isinstance(path, str) and 0 < len(path) <= _LONGEST]


def _file_in(call: ToolCall) -> object:
    return next((path for name in _TOOLS.path if (path := call.arguments.get(name))), None)
