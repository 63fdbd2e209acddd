"""Decoded JSON as lines, and the Raw tab: a line of the file, unchanged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.session.entries import DAMAGE_TEXT, Damage
from leafward.session.lines.line_decoding import decode_line
from leafward_tui.inspector.model.sheet import MOST_LINES, Sheet
from leafward_tui.ui.text.cells import byte_size, exact
from leafward_tui.ui.text.spans import Span, head_of, shown, width_of, wrapped_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.lines.entry_decoding import Entry
    from leafward.session.session import Session
    from leafward_tui.inspector.page import Page
    from leafward_tui.inspector.page_request import PageRequest

FOLDED_LINES = 6
"""Lines shown of a long string."""

FOLDED_CHARACTERS = 4_000
OPENED_CHARACTERS = 64_000
"""The most characters of one string that are shown, folded or opened."""

MOST_DECODED = 32 << 20
"""The most bytes of a line that is decoded for showing."""

HEAD_BYTES = 4_096
"""Bytes shown of a line that is not decoded."""

_DEEPEST = 64
_LONGEST_BESIDE = 16
"""The most cells of an id beside the place; a longer one has its own line."""
_NARROWEST = 12
_INDENT = "  "

_HIDDEN = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff"
_UNSEEN = re.compile(f"[{_HIDDEN}]")
_ESCAPED = re.compile(f'["\\\\{_HIDDEN}]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(text: str) -> str:
    """A string as JSON writes it, with all invisible characters as escapes."""
    return safe(_ESCAPED.sub(lambda match: _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}", text))


class _Full(Exception):
    """The sheet holds as many lines as it may."""


class JsonWriter:
    """Writes values on a sheet; long strings fold."""

    def __init__(self, sheet: Sheet, key: str, indent: int = 0) -> None:
        self.sheet = sheet
        self.key = key
        self.margin = " " * indent
        self.last = len(sheet.lines) + MOST_LINES

    def write(self, value: object) -> None:
        """Writes a value, and a note where it has more lines than are shown."""
        try:
            self._value(value, "", 0, [], "")
        except _Full:
            self.sheet.note(
                f"only the first {counted(MOST_LINES, 'line')} are shown", indent=len(self.margin)
            )

    def _line(self, depth: int, spans: Sequence[Span], toggle: str = "") -> None:
        if len(self.sheet.lines) >= self.last:
            raise _Full
        step = min(depth, self.sheet.width // (2 * len(_INDENT)))
        self.sheet.line([Span(self.margin + _INDENT * step, "blank"), *spans], toggle=toggle)

    def _value(self, value: object, path: str, depth: int, head: list[Span], tail: str) -> None:
        if isinstance(value, (dict, list)) and value and depth >= _DEEPEST:
            self._line(depth, [*head, Span("nested deeper than is shown", "nothing"), Span(tail, "edge")])
        elif isinstance(value, dict) and value:
            self._line(depth, [*head, Span("{", "faint")])
            last = len(value) - 1
            for at, (name, item) in enumerate(value.items()):
                named = [Span(f'"{escaped(str(name)[:200])}"', "sub"), Span(": ", "faint")]
                self._value(item, f"{path}/{at}", depth + 1, named, "," if at < last else "")
            self._line(depth, [Span("}" + tail, "faint")])
        elif isinstance(value, list) and value:
            self._line(depth, [*head, Span("[", "faint")])
            last = len(value) - 1
            for at, item in enumerate(value):
                self._value(item, f"{path}/{at}", depth + 1, [], "," if at < last else "")
            self._line(depth, [Span("]" + tail, "faint")])
        elif isinstance(value, str):
            self._string(value, path, depth, head, tail)
        else:
            ink = "faint" if value is None or value in ({}, []) else "strong"
            self._line(depth, [*head, Span(_scalar(value), ink), Span(tail, "faint")])

    def _string(self, value: str, path: str, depth: int, head: list[Span], tail: str) -> None:
        toggle = f"{self.key}{path}"
        opened = self.sheet.is_open(toggle, holding=(value,))
        limit = OPENED_CHARACTERS if opened else FOLDED_CHARACTERS
        over = len(value) - limit
        text = escaped(value[:limit])
        step = min(depth, self.sheet.width // (2 * len(_INDENT)))
        room = max(_NARROWEST, self.sheet.width - len(self.margin) - len(_INDENT) * step - 1)
        first = width_of(head)
        lines: list[str] = []
        for part in re.split(r"(?<=(?<!\\)\\n)", text) if "\\n" in text else [text]:
            at = 0
            while at < len(part) or not lines:
                lines.append(head_of(part, max(_NARROWEST, room - first - 2) if not lines else room - 4, at))
                at += len(lines[-1])
                if not opened and len(lines) > FOLDED_LINES + 2:
                    break
            if not opened and len(lines) > FOLDED_LINES + 2:
                break
        folds = len(lines) > FOLDED_LINES + 2 or over > 0
        seen = lines if opened or not folds else lines[:FOLDED_LINES]
        for at, line in enumerate(seen):
            ends = at == len(lines) - 1 and over <= 0
            spans = [*head, Span('"', "faint")] if at == 0 else [Span("  ", "blank")]
            spans.append(Span(line, "text"))
            if ends:
                spans.append(Span('"' + tail, "faint"))
            self._line(depth, spans)
        if not folds:
            return
        if opened and over > 0:
            self._line(depth + 1, [Span(f"{exact(over)} more characters are not shown", "nothing")])
        glyphs = self.sheet.glyphs
        words = (
            f"{glyphs.unfolded} less"
            if opened
            else f"{glyphs.folded} the rest of {exact(len(value))} characters"
        )
        self._line(depth + 1, [Span(words, "faint")], toggle=toggle)


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return "{}" if isinstance(value, dict) else "[]"
    return safe_line(repr(value), 100)


def raw_page(request: PageRequest) -> Page:
    """The Raw tab: the stored records of the selection's first entry, which may be several."""
    sheet = Sheet(request)
    selection = request.selection
    session = selection.session
    entry = session.entry(selection.head)
    records = [record for record in session.records(selection.head) if record.strip()] or [entry.raw]
    sheet.blank()
    title = [Span(f"#{exact(entry.index)}", "strong"), Span(f"  {safe_line(entry.type, 40)}", "sub")]
    if entry.role:
        title.append(Span(f"  {safe_line(entry.role, 40)}", "sub"))
    number = session.columns.entries_in(selection.entries)
    about = [Span(f"first of {counted(number, 'entry', 'entries')}", "faint")] if number > 1 else []
    sheet.row(title, about)
    name = Span(safe_line(entry.id, 80), "faint")
    beside = width_of([name]) <= _LONGEST_BESIDE
    sheet.row(_place(session, entry, records), [name] if beside else [])
    if not beside:
        sheet.line([Span("id ", "faint"), name])
    origin = session.origin(selection.head)
    if origin.path.name != session.path.name:
        sheet.line([Span("in ", "faint"), Span(safe_line(origin.path.name, sheet.width), "sub")])
    if entry.damage is not None:
        sheet.line([Span(f"{sheet.glyphs.malformed} ", "bad"), Span(DAMAGE_TEXT[entry.damage], "warn")])
    for at, record in enumerate(records):
        sheet.blank()
        if len(sheet.lines) >= MOST_LINES:
            sheet.note(counted(len(records) - at, "more record"))
            break
        _record(sheet, record, f"raw{at}" if at else "raw", noted=entry.damage is Damage.MALFORMED)
    return sheet.page(copy=safe(b"\n".join(records)[:MOST_DECODED].decode("utf-8", "replace")))


def _place(session: Session, entry: Entry, records: list[bytes]) -> list[Span]:
    """The place of an entry in the file, and its size."""
    row = session.origin(entry.index).is_row
    found = [Span("row " if row else "starts at byte ", "faint"), Span(exact(entry.offset), "sub")]
    if len(records) > 1:
        found.append(Span(f", {len(records)} records", "faint"))
    found += [
        Span(", ", "faint"),
        Span(exact(sum(map(len, records))), "sub"),
        Span(" bytes in all" if len(records) > 1 else " bytes long", "faint"),
    ]
    if records[-1].endswith(b"\r"):
        found.append(Span("  CRLF", "faint"))
    return found


def _record(sheet: Sheet, raw: bytes, key: str, *, noted: bool) -> None:
    """Writes one record as JSON, else as its bytes; `noted` where the page reports already that it is no JSON."""
    body: Any = decode_line(raw) if len(raw) <= MOST_DECODED else None
    if body is not None:
        JsonWriter(sheet, key).write(body)
        return
    if len(raw) > MOST_DECODED:
        sheet.note(f"a line of {byte_size(len(raw))} is not taken apart here")
    elif not noted:
        sheet.line([Span(f"{sheet.glyphs.malformed} ", "bad"), Span(DAMAGE_TEXT[Damage.MALFORMED], "warn")])
    write_bytes(sheet, raw)


def write_bytes(sheet: Sheet, raw: bytes) -> None:
    """Writes the beginning of a line that is no JSON, with invisible characters as escapes."""
    text = raw[:HEAD_BYTES].decode("utf-8", "surrogateescape")
    for spans in wrapped_text(shown(_UNSEEN.sub(_unseen, text)), sheet.width):
        sheet.line(spans)
    if len(raw) > HEAD_BYTES:
        sheet.note(f"{exact(len(raw) - HEAD_BYTES)} more bytes")


def _unseen(match: re.Match[str]) -> str:
    code = ord(match[0])
    # A byte that is no UTF-8 was decoded as a surrogate, 0xDC00 above its value.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
