"""Lines too large or too deep to decode, replaced by smaller ones that say the same except for the omitted parts.

A line is read piece by piece, so its size costs time and no memory. Every key and every value stays in its place, ids and
parents above all; long texts are cut with a note of the missing size, containers nested too deeply become empty, and lists
end where the budget does. A line that is not a JSON object is recognised as far as it was read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from leafward.base.late_pattern import late
from leafward.base.regular_files import next_data

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

LINE_LIMIT = 32 << 20
"""Bytes of a line up to which it is held in memory and decoded whole. No agent is known to write a longer one."""

DEEPEST = 100
"""Levels of nested containers that are kept: writers and our own code recurse."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark that some editors write before the first line of a file."""

_SHOWN = 4 << 10
"""Bytes that are kept of a line that is too large and not an object."""
_TEXT = 16 << 10
"""Bytes that are kept of a text in a line over the limit, and of each text once the budget is spent."""
_SHORT_TEXT = 256
_BUDGET = 256 << 10
"""Bytes of the shorter line after which its lists and objects are cut."""
_STEPS = 2_000_000
"""Marks that are processed one by one: about a second. After them a line is closed as it is."""
_WAITED = 64 << 10
"""Bytes of an unfinished text or number that are held until more of it arrives."""
_DIGITS = 300
"""Digits of a number that are kept; a longer one exceeds JavaScript's range, and becomes null as in JavaScript."""

_SPACE = late(rb"[ \t\n\r]*+")
_INSIDE = rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_TEXT_INSIDE = late(_INSIDE)
_TOKEN = late(
    rb'([{}\[\],:])|"('
    + _INSIDE
    + rb')"|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)|(true|false|null)'
)
_HEAD = late(rb'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,%d}' % _TEXT)
_SHORT_HEAD = late(rb'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,%d}' % _SHORT_TEXT)
_HALF_PAIR = late(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_NUMERIC = late(rb"[-+.0-9eE]*+")
# Parts to skip at once: texts, and brackets without others inside.
_FLAT = late(
    rb'(?:[^"\[\]{}\x00]++|"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"|\[[^"\[\]{}\x00]*+\]|\{[^"\[\]{}\x00]*+\})*+'
)
_ALIKE = late(rb"(?s)\[++|\{++|\]++|\}++|.")
_PARTIAL = late(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z|(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-)\Z")

_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _NEXT, _DONE = range(7)
"""The parser's states, by the token that comes next.

It is a value, a value or the end of a list, a key, a key or the end of an object, a colon, a comma or an end, nothing.
"""

_OPEN_LIST, _OPEN_OBJECT, _CLOSE_LIST, _CLOSE_OBJECT, _COMMA, _COLON_MARK, _QUOTE = b'[{]},:"'
_CLOSES = {_CLOSE_LIST: _OPEN_LIST, _CLOSE_OBJECT: _OPEN_OBJECT}
_CLOSER = {_OPEN_LIST: b"]", _OPEN_OBJECT: b"}"}
_NEVER = 1 << 62


class LongLine(NamedTuple):
    """A line that is not held in full; a shorter line represents it."""

    size: int
    """Bytes of the whole line."""
    line: bytes
    """The shorter line, or the first bytes of a line that is not an object."""


class Abridger:
    """One line, read piece by piece."""

    def __init__(self, *, shorten: bool = True) -> None:
        """`shorten`: texts are cut and lists keep to a budget; else only containers nested too deeply are left out."""
        self.failed = False
        """Whether it is known not to be a JSON object."""
        self._text, self._budget = (_TEXT, _BUDGET) if shorten else (_NEVER, _NEVER)
        self._out = bytearray()
        self._stack = bytearray()
        self._expected = _VALUE
        self._rest = b""
        self._steps = 0
        self._closed = False
        """Whether the rest is ignored."""
        self._muted = 0
        """The number of open containers whose content is dropped; 0 where all is kept."""
        self._long = -1
        """Bytes read so far of a text that is too long to wait for; -1 outside such a text."""
        self._numeric = False
        """Whether the parser is inside a number that is too long to wait for."""

    def feed(self, data: bytes) -> None:
        """Reads the next bytes of the line."""
        if self.failed or self._closed:
            return
        buffer = self._rest + data if self._rest else data
        self._rest = b""
        used = self._take(buffer)
        if used < len(buffer):
            self._rest = buffer[used:]

    def finish(self) -> bytes | None:
        """The shorter line; None where the line is not a JSON object."""
        if self._rest:
            self._take(self._rest + b" ")
        if self.failed or (self._expected != _DONE and not self._closed):
            return None
        return bytes(self._out)

    # --- one piece ---

    def _take(self, buffer: bytes) -> int:
        """Processes the complete tokens of a piece; returns the number of bytes processed."""
        at, size = 0, len(buffer)
        while at < size and not self.failed and not self._closed:
            before = at
            if self._long >= 0:
                at = self._go_on(buffer, at)
            elif self._numeric:
                at = _end(_NUMERIC, buffer, at)
                self._numeric = at == size
            elif self._muted:
                at = self._pass_over(buffer, at)
            else:
                at = self._token(buffer, at)
            if at == before:
                break
        return size if self.failed or self._closed else at

    def _token(self, buffer: bytes, at: int) -> int:
        at = _end(_SPACE, buffer, at)
        if at == len(buffer):
            return at
        found = _TOKEN.match(buffer, at)
        if self._is_too_much():
            return at
        if found is None:
            return self._begin_long(buffer, at)
        mark, text, number, word = found.groups()
        end = found.end()
        if number is not None and _end(_NUMERIC, buffer, at) == len(buffer):
            return self._begin_number(buffer, at)
        if mark is not None:
            self._mark(mark[0])
        elif text is not None:
            self._string(text)
        elif self._expected in (_VALUE, _FIRST) and self._stack:
            self._out += word or (number if len(number) <= _DIGITS else b"null")
            self._expected = _NEXT
        else:
            self.failed = True
        return end

    def _begin_long(self, buffer: bytes, at: int) -> int:
        """Handles bytes that are not a complete token: the beginning of one, or an error. Returns the bytes processed."""
        left = len(buffer) - at
        if buffer[at] == _QUOTE:
            end = _end(_TEXT_INSIDE, buffer, at + 1)
            if end < len(buffer) and not (
                len(buffer) - end < len(b"\\u0000") and _PARTIAL.match(buffer, end)
            ):
                self.failed = True
            elif left > _WAITED:
                self._string(buffer[at + 1 : end], whole=False)
                return end
        elif left >= len(b"false") or _PARTIAL.match(buffer, at) is None:
            self.failed = True
        return at

    def _begin_number(self, buffer: bytes, at: int) -> int:
        if len(buffer) - at <= _WAITED:
            return at
        if self._expected not in (_VALUE, _FIRST) or not self._stack:
            self.failed = True
            return at
        self._out += b"null"
        self._expected = _NEXT
        self._numeric = True
        return len(buffer)

    def _go_on(self, buffer: bytes, at: int) -> int:
        """Reads more of a long text."""
        end = _end(_TEXT_INSIDE, buffer, at)
        self._long += end - at
        if end == len(buffer):
            return end
        if buffer[end] == _QUOTE:
            self._close_long()
            return end + 1
        if len(buffer) - end >= len(b"\\u0000") or _PARTIAL.match(buffer, end) is None:
            self.failed = True
        return end

    def _close_long(self) -> None:
        if not self._muted:
            self._out += _missing(self._long) + b'"'
        self._long = -1

    def _pass_over(self, buffer: bytes, at: int) -> int:
        """Skips bytes in a dropped container: only brackets and texts are distinguished."""
        at = _end(_FLAT, buffer, at)
        if at == len(buffer):
            return at
        if self._is_too_much():
            return at
        mark = buffer[at]
        if mark == _QUOTE:
            end = _end(_TEXT_INSIDE, buffer, at + 1)
            if len(buffer) - at > _WAITED:
                self._long = 0
                return end
            if end < len(buffer) and _PARTIAL.match(buffer, end) is None:
                self.failed = True
            return at
        end = _end(_ALIKE, buffer, at)
        if mark in _CLOSER:
            self._stack += buffer[at:end]
            return end
        if mark not in _CLOSES:
            self.failed = True
            return at
        inside = min(end - at, len(self._stack) - self._muted)
        if inside and self._stack[-inside:] != bytes([_CLOSES[mark]]) * inside:
            self.failed = True
            return at
        del self._stack[len(self._stack) - inside :]
        if at + inside < end:
            self._close(mark)
            return at + inside + 1
        return end

    # --- kept parts ---

    def _mark(self, mark: int) -> None:
        expected, out = self._expected, self._out
        if mark in _CLOSER:
            if expected not in (_VALUE, _FIRST) or (mark == _OPEN_LIST and not self._stack):
                self.failed = True
                return
            out.append(mark)
            self._stack.append(mark)
            self._expected = _FIRST if mark == _OPEN_LIST else _FIRST_KEY
            if len(self._stack) > DEEPEST:
                self._muted = len(self._stack)
        elif mark in _CLOSES:
            if expected not in (_NEXT, _FIRST if mark == _CLOSE_LIST else _FIRST_KEY):
                self.failed = True
                return
            self._close(mark)
        elif mark == _COMMA:
            if expected != _NEXT:
                self.failed = True
                return
            inside = len(self._stack)
            if len(out) > self._budget and (inside > 1 or len(out) > 4 * self._budget):
                self._muted = inside
                return
            out.append(mark)
            self._expected = _VALUE if self._stack[-1] == _OPEN_LIST else _KEY
        elif expected == _COLON:
            out.append(mark)
            self._expected = _VALUE
        else:
            self.failed = True

    def _close(self, mark: int) -> None:
        if not self._stack or self._stack[-1] != _CLOSES[mark]:
            self.failed = True
            return
        if self._muted in (0, len(self._stack)):
            self._out.append(mark)
            self._muted = 0
        self._stack.pop()
        self._expected = _NEXT if self._stack else _DONE

    def _string(self, text: bytes, *, whole: bool = True) -> None:
        """A key or a text, or the beginning of one."""
        if self._expected in (_KEY, _FIRST_KEY):
            self._expected = _COLON
        elif self._expected in (_VALUE, _FIRST) and self._stack:
            self._expected = _NEXT
        else:
            self.failed = True
            return
        spent = len(self._out) > self._budget
        if whole and len(text) <= (_SHORT_TEXT if spent else self._text):
            self._out += b'"%b"' % text
            return
        head = _beginning(text, _SHORT_HEAD if spent else _HEAD) if self._text < _NEVER else text
        self._out += b'"' + head
        if whole:
            self._out += _missing(len(text) - len(head)) + b'"'
        else:
            self._long = len(text) - len(head)

    def _is_too_much(self) -> bool:
        """Counts one more mark; true where it is one too many and the line was closed for that."""
        self._steps += 1
        if self._steps > _STEPS:
            self._close_all()
        return self._closed

    def _close_all(self) -> None:
        """Closes the line as it is."""
        out, expected = self._out, self._expected
        if not self._stack or self._long >= 0:
            self.failed = True
            return
        if not self._muted:
            if expected == _COLON:
                out += b":null"
            elif expected == _VALUE and out[-1] == _COLON_MARK:
                out += b"null"
            elif out[-1] == _COMMA:
                del out[-1]
        for mark in reversed(self._stack[: self._muted or len(self._stack)]):
            out += _CLOSER[mark]
        self._closed = True


def abridged(line: bytes, *, shorten: bool = True) -> bytes | None:
    """A line as a shorter one; None where it is not a JSON object. See `Abridger`."""
    abridger = Abridger(shorten=shorten)
    step = 1 << 20
    for at in range(0, len(line), step):
        abridger.feed(line[at : at + step])
    return abridger.finish()


def _end(pattern: re.Pattern[bytes], buffer: bytes, at: int) -> int:
    found = pattern.match(buffer, at)
    return found.end() if found is not None else at


_MORE = " bytes more]"


def _missing(size: int) -> bytes:
    return f" … [{size:,}{_MORE}".encode() if size else b""


def is_cut(text: object) -> bool:
    """Whether a text in a line that was too large is only its beginning."""
    return isinstance(text, str) and text.endswith(_MORE)


def _beginning(text: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """The first characters of a text, none of them split."""
    found = pattern.match(text)
    head = found[0] if found is not None else b""
    end = len(head)
    while end and text[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end and text[end - 1] >= 0xC0:
        end -= 1
    head = head[:end]
    half = _HALF_PAIR.search(head)
    return head[: half.start()] if half is not None else head


def _behind_hole(file: BinaryIO, at: int) -> int:
    try:
        descriptor = file.fileno()
    except OSError:  # no file of the system's
        return at
    return next_data(descriptor, at, max(at, os.fstat(descriptor).st_size))


def long_line(
    file: BinaryIO, start: int, begun: bytearray, chunk: int, stop: Callable[[], bool]
) -> tuple[LongLine | None, bool]:
    """The line at an offset, whose first bytes were read already, and whether a newline ends it.

    Returns None for the line where `stop` turns true. `begun` is emptied, the rest is read in pieces of `chunk` bytes.
    Holes in the file are skipped where they cannot matter.
    """
    abridger, size = Abridger(), len(begun)
    for at in range(0 if start or not begun.startswith(BOM) else len(BOM), size, chunk):
        abridger.feed(bytes(begun[at : at + chunk]))
    # Bytes that no parser takes for an object, also where they begin with one.
    shown = bytes(begun[:_SHOWN]).rstrip() + b"\0"
    begun.clear()
    while not stop():
        if abridger.failed:
            size = _behind_hole(file, start + size) - start
        file.seek(start + size)
        piece = file.read(chunk)
        line, newline, _ = piece.partition(b"\n")
        abridger.feed(line)
        size += len(line)
        if newline or not piece:
            return LongLine(size, abridger.finish() or shown), bool(newline)
    return None, False
