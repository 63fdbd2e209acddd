"""Code in lines of spans: weights distinguish its parts, because hue has other meanings here."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pygments.lexers import (  # type: ignore[import-untyped]  # its stubs are a package of their own
    get_lexer_by_name,
    get_lexer_for_filename,
)
from pygments.token import Token  # type: ignore[import-untyped]  # as above
from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # as above

from leafward_tui.ui.text.cells import expand_tabs
from leafward_tui.ui.text.spans import Span, head_of, joined

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]  # as above

MOST_HIGHLIGHTED = 24_000
"""Characters of one piece of code that are looked at; a longer one stays plain."""

_INKS = (
    (Token.Comment, "faint"),
    (Token.Keyword.Constant, "text"),
    (Token.Keyword.Type, "text"),
    (Token.Keyword, "strong"),
    (Token.Literal.String.Doc, "faint"),
    (Token.Literal.String, "sub"),
    (Token.Operator.Word, "strong"),
    (Token.Operator, "sub"),
    (Token.Punctuation, "sub"),
    (Token.Generic.Deleted, "bad"),
    (Token.Generic.Inserted, "leaf"),
    (Token.Generic.Heading, "strong"),
    (Token.Generic.Subheading, "faint"),
    (Token.Name.Tag, "strong"),
)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None


@lru_cache(maxsize=128)
def _lexer_of_file(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None


@lru_cache(maxsize=256)
def _ink(kind: object) -> str:
    for parent, ink in _INKS:
        if kind in parent:
            return ink
    return "text"


def highlighted(text: str, *, language: str = "", filename: str = "", ink: str = "text") -> list[list[Span]]:
    """Safe code as lines, not yet fitted; plain where the language is not known or the text is long."""
    lexer = None
    if len(text) <= MOST_HIGHLIGHTED:
        if language:
            lexer = _lexer(language[:40].lower())
        elif filename:
            lexer = _lexer_of_file(filename.replace("\\", "/").rpartition("/")[2][-80:])
    if lexer is None:
        return [[Span(line, ink)] for line in text.split("\n")]
    lines: list[list[Span]] = [[]]
    for kind, value in lexer.get_tokens(text):
        parts = value.split("\n")
        for at, part in enumerate(parts):
            if at:
                lines.append([])
            if part:
                lines[-1].append(Span(part, _ink(kind)))
    return [joined(line) for line in lines]


def fitted(line: list[Span], width: int, hang: int = 2) -> list[list[Span]]:
    """One line of code in lines of at most `width` cells, the further ones hanging; broken at a space near the edge.

    A word stays whole however many inks it has.
    """
    width = max(width, hang + 2)
    spans = [span._replace(text=expand_tabs(span.text)) for span in line]
    text = "".join(span.text for span in spans)
    indent = [Span(" " * hang, "blank")] if hang else []
    end = len(head_of(text, width))
    found: list[list[Span]] = [[]]
    at = 0
    for span in spans:
        done = 0
        while done < len(span.text):
            if at == end:
                end += len(head_of(text, width - hang, at))
                found.append([*indent])
            part = span.text[done : done + end - at]
            found[-1].append(span._replace(text=part))
            done += len(part)
            at += len(part)
    return found
