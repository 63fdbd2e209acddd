"""Session text made safe to show: no control codes, no terminal escapes, no hidden direction marks.

Everything that reaches a screen, a terminal, an export or a prompt has passed `safe`. Replaced characters stay visible:
no character is dropped silently.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


@cache
def _stand_ins() -> dict[int, str]:
    """The replacements by character; the newline is kept. Made on first use: most sessions need none."""
    found = {code: chr(0x2400 + code) for code in range(0x20) if code != 0x0A}
    found[0x7F] = "␡"
    found |= dict.fromkeys(range(0x80, 0xA0), "·")
    # Line and paragraph separators, marks that reorder text, and invisible characters that hide it.
    found |= dict.fromkeys((0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF), "·")
    found |= dict.fromkeys(range(0x202A, 0x202F), "·")
    found |= dict.fromkeys(range(0x2066, 0x206A), "·")
    # Tag characters: an invisible alphabet.
    found |= dict.fromkeys(range(0xE0000, 0xE0080), "·")
    return found | dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


def _ranges(codes: Collection[int]) -> str:
    """A character class with neighbours as ranges, which compiles in a fraction of the time of thousands of items."""
    starts = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in zip(starts, ends, strict=True))


@cache
def _unsafe() -> re.Pattern[str]:
    return re.compile(f"[{_ranges(_stand_ins())}]")


TAB_SIZE = 4


def safe(text: str) -> str:
    """`text` with newlines kept, tabs expanded, CRLF as LF, and everything replaced that a terminal could act on."""
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\t" in text:
        text = text.expandtabs(TAB_SIZE)
    # Python regards every replaced character as not printable, and that test is a hundred times faster.
    if text.replace("\n", "").isprintable() or _unsafe().search(text) is None:
        return text
    return text.translate(_stand_ins())


def safe_line(text: str, limit: int | None = None) -> str:
    """`text` on one line: white space collapsed, made safe, cut after `limit` characters where one is given.

    Only as much of a long text is read as the limit needs.
    """
    if limit is not None and len(text) > 4 * limit + 64:
        text = text[: 4 * limit + 64]
    line = " ".join(text.split())
    if limit is not None:
        line = line[:limit]
    return safe(line)


_LONGEST_CUT = 12
"""Most characters of a word that is left out where a text is cut inside it."""


def excerpt_line(text: str, limit: int) -> str:
    """`text` on one safe line of at most `limit` characters; a cut text ends with an ellipsis, after a word if one ends near."""
    line = " ".join(text[: 5 * limit].split())
    if len(line) > limit:
        line = line[: limit - 1]
        words, _, last = line.rpartition(" ")
        line = f"{words if words and len(last) <= _LONGEST_CUT else line}…"
    return safe(line)


_SEQUENCE = late(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
"""Control sequences for a terminal (ECMA-48): colours, titles, moves of the cursor."""


_TAIL = 300
"""Code points of a program's output that are repeated."""


def output_tail(output: bytes) -> str:
    """The end of a program's output on one safe line, without control sequences."""
    text = _SEQUENCE.sub("", output.decode("utf-8", "replace"))
    return safe(" ".join(text.split())[-_TAIL:])


def shell_word(text: str) -> str:
    """`text` as one word of a shell's command line, on one line and safe to show; its meaning stays the same.

    Characters that a terminal could act on become bytes in `$'…'`, which bash, zsh and ksh read.
    """
    import shlex

    if safe(text) == text and "\n" not in text:
        return shlex.quote(text)
    escaped = "".join(_shell_char(char) for char in text)
    return f"$'{escaped}'"


def _shell_char(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char != "\n" and safe(char) == char:
        return char
    try:
        data = os.fsencode(char)
    except UnicodeEncodeError:
        data = char.encode("utf-8", "replace")
    # Three digits, the most that are read, so that a following digit is not taken for one of them.
    return "".join(f"\\{byte:03o}" for byte in data)


def pasted_path(path: str) -> str:
    """A path in the form that is copied for pasting: as it is, or as a shell word where a terminal could act on it."""
    return path if safe(path) == path and "\n" not in path else shell_word(path)


def shell_line(words: Iterable[str]) -> str:
    """Words as a shell's command line, each as `shell_word` writes it."""
    return " ".join(map(shell_word, words))


def safe_json(document: bytes) -> bytes:
    """A JSON document in UTF-8 with everything escaped that a terminal could act on. Its meaning stays the same."""
    if document.isascii() and b"\x7f" not in document:
        return document
    return _unsafe().sub(_escaped, document.decode("utf-8")).encode("utf-8")


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
