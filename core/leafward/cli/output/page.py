"""Output of the verbs: one JSON document, or text aligned in terminal cells; remarks go to stderr.

Every text of a session passes `safe` here or earlier; colour is used only if stdout is a terminal that supports it.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from leafward.base.errors import OutputFailed
from leafward.base.safe_text import safe, safe_json, safe_line
from leafward.base.terminal_signs import needs_ascii
from leafward.cli.host import ReaderGone
from leafward.cli.streams import let_go

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PIPE_WIDTH = 100
"""Columns of a line if stdout is no terminal."""

_BLOCK = 4096
"""Lines that are written at once."""

_DEEPEST = 200
"""Most nested containers that are written: orjson takes 254, and other parsers take no more either."""

NO_SEQUENCES = frozenset({"dumb", "unknown"})
"""Values of TERM whose terminals show control sequences as text."""

_STYLES = {"bold": "1", "faint": "90", "leaf": "32", "memory": "35", "warn": "33", "bad": "31", "ghost": "36"}


@dataclass(frozen=True, slots=True)
class Page:
    """The target of text output: its width, whether it takes colour, and whether it can show Unicode."""

    width: int = PIPE_WIDTH
    colour: bool = False
    unicode: bool = True

    @property
    def gap(self) -> str:
        """The sign for omitted text."""
        return "…" if self.unicode else "~"

    def style(self, text: str, name: str) -> str:
        """`text` in one of the styles; plain if there is no colour."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.colour and text else text

    def fit(self, text: str, width: int) -> str:
        """`text` cut to `width` cells, with a sign at the end if anything was cut."""
        if cells(text) <= width:
            return text
        room = width - 1
        taken = 0
        for position, char in enumerate(text):
            taken += _char_cells(char)
            if taken > room:
                return text[:position].rstrip() + self.gap if room >= 0 else ""
        return text


def page() -> Page:
    """The page for the current stdout: its width and encoding; NO_COLOR and TERM are respected."""
    stream = sys.stdout
    terminal = stream.isatty()
    encoding = getattr(stream, "encoding", None) or "ascii"
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in NO_SEQUENCES
    width = PIPE_WIDTH
    if terminal or os.environ.get("COLUMNS", "").isdecimal():
        import shutil

        width = max(60, min(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, 200))
    return Page(width, colour, not needs_ascii(os.environ, encoding, terminal=terminal))


def emit_json(value: object) -> None:
    """Writes one JSON document: indented for a terminal, on one line for a program."""
    _write_bytes(json_bytes(value, indented=sys.stdout.isatty()) + b"\n")


def json_bytes(value: object, *, indented: bool) -> bytes:
    """A value as JSON in UTF-8. Lone surrogates and control codes are escaped; numbers that JSON cannot express become null.

    Containers nested too deeply for other parsers become empty.
    """
    import orjson

    try:
        return safe_json(orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else None))
    except TypeError:  # lone surrogates, integers beyond 64 bits, more than 254 levels
        return safe_json(_standard_json(_cut(value, _DEEPEST), 2 if indented else None).encode("ascii"))


def _cut(value: object, deepest: int) -> object:
    """A value with containers emptied below so many levels."""
    if isinstance(value, dict):
        return {key: _cut(one, deepest - 1) for key, one in value.items()} if deepest else {}
    if isinstance(value, (list, tuple)):
        return [_cut(one, deepest - 1) for one in value] if deepest else []
    return value


def _standard_json(value: object, indent: int | None) -> str:
    separators = None if indent else (",", ":")
    try:
        return json.dumps(value, indent=indent, separators=separators, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(value), parse_constant=lambda _name: None)
        return json.dumps(plain, indent=indent, separators=separators)


def say(lines: str | Iterable[str]) -> None:
    """Writes lines to stdout; characters that its encoding lacks are replaced.

    They are written in blocks: the first of a million are there soon, and a reader that leaves ends the work.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    left = iter([lines] if isinstance(lines, str) else lines)
    first = True
    while block := list(islice(left, _BLOCK)):
        text = "\n".join(block)
        if text or not first or isinstance(lines, str):
            _write_bytes(f"{text}\n".encode(encoding, "replace"))
        first = False


def write_text(text: str) -> None:
    """Writes a document to stdout in UTF-8: unchanged, but on a terminal without what that could act on."""
    if sys.stdout.isatty():
        text = safe(text)
    _write_bytes(text.encode("utf-8", "replace"))


def note(text: str) -> None:
    """Writes one remark to stderr, made safe and kept on one line."""
    _note_to(sys.stderr, f"leafward: {safe_line(text)}\n")


def below(line: str) -> None:
    """Writes an indented line that belongs to the remark before it; its text has to be safe."""
    _note_to(sys.stderr, f"  {line}\n")


def _note_to(stream: IO[str], text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except OSError:
        # A remark that nobody sees changes nothing about the work done.
        let_go(stream.fileno())


def _write_bytes(data: bytes) -> None:
    try:
        sys.stdout.flush()
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            sys.stdout.write(data.decode("utf-8", "replace"))
        else:
            binary.write(data)
            binary.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        let_go(sys.stdout.fileno())
        raise OutputFailed(f"stdout: {error.strerror or error}") from error


@lru_cache(maxsize=4096)
def _char_cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cells(text: str) -> int:
    """The number of terminal cells that a line of safe text takes."""
    return len(text) if text.isascii() else sum(map(_char_cells, text))


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` padded with spaces to `width` cells; with `right`, on its left."""
    space = " " * max(0, width - cells(text))
    return space + text if right else text + space


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    page: Page,
    *,
    grow: int,
    right: str | Sequence[str] = "",
    least: int = 12,
) -> list[str]:
    """Rows in aligned columns under a faint heading; if the page is too narrow, column `grow` shrinks, down to `least`.

    `right` names the headings of right-aligned columns: as one text where each is one word. Texts must be safe.
    """
    widths = _widths(head, rows)
    spare = page.width - table_width(head, rows)
    if spare < 0:
        widths[grow] = max(min(least, widths[grow]), widths[grow] + spare)
    named = right.split() if isinstance(right, str) else right
    at_right = [name in named for name in head]

    def line(row: Sequence[str]) -> str:
        columns = (
            pad(page.fit(text, width), width, right=at_right[column])
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(columns).rstrip()

    return [page.style(line(head), "faint"), *map(line, rows)]


def table_width(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The cells of a line of a table that nothing has to shrink in."""
    return sum(_widths(head, rows)) + 2 * (len(head) - 1)


def _widths(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cells(row[column]) for row in (head, *rows)) for column in range(len(head))]


def wrapped(text: str, page: Page, *, first: str = "", below: str = "  ") -> list[str]:
    """Safe text in lines as wide as the page, broken at spaces; a longer word stays whole: paths, ids and addresses are copied.

    `first` precedes the first line, `below` the others; neither has a style.
    """
    return _filled(text.split(" "), " ", page, first, below)


def fact_lines(facts: Iterable[str], page: Page, *, below: str = "") -> list[str]:
    """Safe facts side by side in lines as wide as the page, broken between them; empty ones are left out."""
    return _filled(filter(None, facts), "   ", page, "", below)


def _filled(pieces: Iterable[str], gap: str, page: Page, first: str, below: str) -> list[str]:
    lines: list[str] = []
    line, empty = first, True
    for piece in pieces:
        if not empty and cells(line) + len(gap) + cells(piece) > page.width:
            lines.append(line.rstrip())
            line, empty = below, True
        line += piece if empty else gap + piece
        empty = False
    return [*lines, line.rstrip()]


def faint(lines: Iterable[str], page: Page) -> list[str]:
    """Lines in the faint style."""
    return [page.style(line, "faint") for line in lines]


def led(lead: str, style: str, text: str, page: Page) -> list[str]:
    """Safe text behind a lead, which has a style: in lines as wide as the page, the lines below indented."""
    first, *more = wrapped(f"{lead}  {text}", page)
    return [page.style(lead, style) + first[len(lead) :], *more]


def warning(text: str, page: Page) -> list[str]:
    """Safe text behind a sign, in lines as wide as the page."""
    first, *more = wrapped(text, page, first="  ")
    return [page.style("!", "warn") + first[1:], *more]


def with_path(path: str, reason: str) -> str:
    """A reason with the path that it is about, which it may name itself or go on from: `is empty`."""
    if path in reason:
        return reason
    return f"{path} {reason}" if reason.startswith("is ") else f"{path}: {reason}"


def indented(text: str, by: str = "  ") -> list[str]:
    """The lines of a text made safe, each indented."""
    return [f"{by}{line}".rstrip() for line in safe(text).split("\n")]


def usage_json(usage: Any) -> dict[str, float | None]:
    """A usage as JSON; the cost is null if none was recorded, as in lists."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "total": usage.total,
        "cost": usage.cost if usage.cost or usage.priced or not usage.total else None,
    }


def local_time(milliseconds: int, *, seconds: bool = False) -> str:
    """A time in the local time zone, to the minute or the second."""
    form = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().strftime(form)
    except (OverflowError, ValueError, OSError):
        return ""
