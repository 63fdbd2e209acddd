"""Paths with blanks: quotes or a line of their own delimit them, or each blank is escaped or encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.forms import forms

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_WITHIN = (
    r"(?:~|\.{1,2}|[A-Za-z]:)?/[^/\n'\"`<>|;&$*?(),\\]{1,200}/[^\n'\"`<>|;&$*?,\\:]{1,400}\.[A-Za-z0-9]{1,10}"
)
_QUOTED = late(rf"(?P<quote>['\"`])(?<![\w'\"`].)(?P<path>{_WITHIN})(?P=quote)")
"""A quoted path."""
_BEGINS = late(r"/(?:(?<=['\"`]/)|(?<=['\"`][~.]/)|(?<=['\"`]\.\./)|(?<=['\"`][A-Za-z]:/))")
"""The first slash of a quoted path."""
_QUOTES = "'\"`"
_BESIDE = late(
    r"(?P<quote>['\"`])(?<![\w'\"`].)(?P<path>[\w.@+-]{1,80}/[^\n'\"`<>|;&$*?(),\\:]{1,400}\.[A-Za-z0-9]{1,10})(?P=quote)"
)
"""A quoted path from where its folder is: before its first slash it has no blank, as a command with its arguments would."""
_LINE = late(rf"(?m)[ \t]*(?:[-*•][ \t]+)?(?P<path>{_WITHIN})[ \t]*$")
_ESCAPED = late(
    r"(?<![\w/.~\\@+-])(?:~|\.{1,2}|[\w@+][\w.@+-]{0,80})?/(?:[\w./@+~-]|\\ ){1,400}\\ (?:[\w./@+~-]|\\ ){1,200}"
)
_ENCODED = late(r"(?<![\w/.~%-])[\w./@+~-]{1,200}%20(?:[\w./@+~-]|%20){1,200}")
"""A path in a link, each blank in it written as its code."""
_SHOWN = late(
    r"\b(?:cat|bat|head|tail|sed|less|more|wc|nl|open|stat|touch|rm|cp|mv)\b(?:[^\S\n]+(?:-[\w.,=-]{1,20}|'[^'\n]{0,80}'|\d{1,9}))*[^\S\n]+"
    r"(?P<quote>['\"])(?P<path>\w[^\n'\"`<>|;&$*?/\\]{1,120}\.[A-Za-z0-9]{1,10})(?P=quote)"
)
"""A command that takes files, and a quoted name with blanks."""
_COMMAND = 2_000
"""Characters of a text that may be such a command."""
_BLANK = late(r"[^\S\n]")
_ARGUMENT = late(r"\s(?:-(?! )|[~.]{0,2}/)")
"""A separate word after a blank: an option, or another path."""
_PROGRAMS = late(r"(?:^|/)s?bin/[^/]*$")


def spaced_paths(text: str, cwd: str) -> Iterator[forms.Form]:
    """The paths with blanks in a text, in order."""
    found = []
    if "/" in text and _BLANK.search(text) is not None:
        delimited = (*_quoted(text), *_BESIDE.finditer(text), *_lines(text))
        found += [(match.start("path"), match["path"], match["path"]) for match in delimited]
        if "\\ " in text:
            found += [
                (match.start(), match[0], match[0].replace("\\ ", " ")) for match in _ESCAPED.finditer(text)
            ]
    if len(text) <= _COMMAND and ("'" in text or '"' in text):
        found += [(match.start("path"), match["path"], match["path"]) for match in _SHOWN.finditer(text)]
    if "%20" in text:
        found += [
            (match.start(), match[0], match[0].replace("%20", " ")) for match in _ENCODED.finditer(text)
        ]
    for start, written, path in sorted(found):
        if _is_one(path):
            yield forms.Form(written, forms.canonical_path(path, cwd), start)


def _quoted(text: str) -> Iterator[re.Match[str]]:
    """The quoted paths; only quotes with a slash near behind them are tested."""
    end = 0
    for slash in _BEGINS.finditer(text):
        at = slash.start() - 1
        while text[at] not in _QUOTES:
            at -= 1
        found = _QUOTED.match(text, at) if at >= end else None
        if found is not None:
            end = found.end()
            yield found


def _lines(text: str) -> Iterator[re.Match[str]]:
    """The lines that are a path; only lines with a slash are tested."""
    at = text.find("/")
    while at >= 0:
        found = _LINE.match(text, text.rfind("\n", 0, at) + 1)
        if found is not None:
            yield found
        end = text.find("\n", at)
        at = text.find("/", end) if end >= 0 else -1


def without(text: str, found: list[forms.Form]) -> str:
    """A text with blanks in place of some forms, which come in order; all other characters keep their offsets."""
    pieces = []
    last = 0
    for form in found:
        end = max(last, form.start + len(form.text))
        start = max(last, form.start)
        pieces += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*pieces, text[last:]])


def _is_one(path: str) -> bool:
    """Whether it is one path with a blank, rather than a command with its arguments, or several paths."""
    if _BLANK.search(path) is None or _ARGUMENT.search(path) is not None:
        return False
    first, _, rest = path.replace("\t", " ").partition(" ")
    ending = path.rpartition(".")[2]
    if ending.lower() not in forms.EXTENSIONS or _PROGRAMS.search(first) is not None:
        return False
    # A file alone, or a position in one, with words after it.
    named = first.rpartition("/")[2].rpartition(".")
    return not (named[0] and named[2].lower() in forms.EXTENSIONS) and bool(rest)
