"""Markdown that a session wrote, without anything that a reader's program would run or fetch.

A real parser tells which lines are code. These stand in fences of ours, at the margin and longer than any run inside,
where they have no effect. In all other lines HTML, images and links to anything but a page, a mail address or a file
are escaped, and a backtick or tilde that another parser may pair differently becomes an entity. The result is parsed
again; where anything active is left, or the text is too large or too deep to be sure, all of it becomes one fence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LARGEST = 100_000
"""Characters of one text that are parsed; a longer text is shown in a fence."""
_BRACKETS = 4_000
"""Opening brackets of a text that is parsed: the parser searches for the end of each."""
_DEEPEST = 60
"""Levels of quotes and lists that are parsed."""
_ROUNDS = 4
"""How many times a result is checked again for lines that their indentation turned into code."""

_RUN = re.compile(r"`+")
_TAG = re.compile(r"(?<!\\)(\\*)<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!\[")
_LINK = re.compile(r"\]\(")
_DEFINITION = re.compile(r"\]:")
_TICK = re.compile(r"(?<!\\)(\\*)(`+)")
_TILDES = re.compile(r"(?<!\\)(\\*)(~{3,})")
_DANGER = re.compile(r"<[A-Za-z/!?]|!\[|\]\(|\]:|```|~~~")
_TARGET = re.compile(
    r"[ ]*(?:(?:https?://|mailto:)[^\s<>\\&]{0,2000}|[\w./#?=%~+@,-][\w.?=%~+@,;-]*+(?:[/#][\w./#?=%~+@,;:-]*+)?)?(?=[)\s]|$)",
    re.IGNORECASE,
)
_UNSAFE_IN_INFO = re.compile(r"[^\w+#.,:=\"'{}()/ -]")


def fenced(text: str, language: str = "", sign: str = "`") -> str:
    """A text in a fence that is longer than any run of its sign in it."""
    longest = max((len(found) for found in re.findall(f"{sign}+", text)), default=0)
    marks = sign * max(3, longest + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def harmless(text: str) -> str:
    """`text`, which has passed `safe`, as Markdown between blank lines. No visible text is lost."""
    # A line at the margin belongs to no list in the text before it.
    text = text.strip("\n")
    if _DANGER.search(text) is None:
        return _at_margin(text)
    if len(text) > _LARGEST or text.count("[") > _BRACKETS:
        return fenced(text, "text")
    try:
        result = _rewritten(text)
        live = any(map(_is_live, _all_tokens(result)))
    except (RecursionError, _TooDeep):
        return fenced(text, "text")
    return fenced(text, "text") if live else result


def safe_target(target: str) -> bool:
    """Whether a link target is allowed: a page, a mail address, or a relative file or anchor."""
    scheme = re.match(r"[^/?#]*?:", target)
    return scheme is None or scheme[0].lower() in {"http:", "https:", "mailto:"}


class _TooDeep(Exception):
    """Quotes and lists nest deeper than is checked."""


@cache
def _parsers() -> tuple[MarkdownIt, ...]:
    """CommonMark and GitHub's extension of it. Created on first use, because the parser is slow to load."""
    from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        """A parser that makes every link that the syntax allows, so that bad ones can be found."""

        def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802  # the library's name
            """Whether the parser creates a link to `url`: always."""
            return True

    own = Parser("commonmark", {"maxNesting": _DEEPEST * 2})
    also = Parser("commonmark", {"maxNesting": _DEEPEST * 2}).enable(["table", "strikethrough"])
    return own, also


def _tokens(parser: MarkdownIt, text: str) -> list[Token]:
    found = parser.parse(text)
    if any(token.level > _DEEPEST for token in found):
        raise _TooDeep
    return found


def _all_tokens(text: str) -> Iterator[Token]:
    """The tokens of every parser, inner ones too."""
    for parser in _parsers():
        for token in _tokens(parser, text):
            yield token
            yield from token.children or ()


def _is_live(token: Token) -> bool:
    """Whether a reader's program would run or fetch something for a token, or follow a link that is not allowed."""
    if token.type in {"html_block", "html_inline", "image"}:
        return True
    return token.type == "link_open" and not safe_target(str(token.attrs.get("href", "")))


# --- lines ------------------------------------------------------------------------------------------------------------


def _rewritten(text: str) -> str:
    lines = text.split("\n")
    pieces: list[str] = []
    at = 0
    for token in _tokens(_parsers()[0], text):
        if token.type not in {"fence", "code_block"} or token.map is None or token.map[0] < at:
            continue
        start, end = token.map
        pieces.append(_prose(lines[at:start]))
        sign = token.markup[:1] or "`"
        info = _UNSAFE_IN_INFO.sub("", token.info.strip())
        pieces.append(fenced(token.content.rstrip("\n") if token.content.strip() else "", info, sign))
        if token.type == "fence" and (opener := _before_fence(lines[start])):
            # The marker of a list or quote before the fence, on the same line.
            pieces[-1] = f"{_prose([opener])}\n{pieces[-1]}"
        at = end
    pieces.append(_prose(lines[at:]))
    result = "\n".join(piece for piece in pieces if piece)
    for _ in range(_ROUNDS):
        again = _without_indented_code(result)
        if again == result:
            break
        result = again
    return result


def _before_fence(line: str) -> str:
    """The marker of a list item that begins with a fence; empty where the text is only a quote sign or an indent."""
    found = re.match(r"[\s>]*((?:(?:[-+*]|\d{1,9}[.)])[\s>]+)+)(?:`{3,}|~{3,})", line)
    return found[1].rstrip() if found else ""


def _without_indented_code(text: str) -> str:
    """The text with lines moved to the margin that became indented code once their list or quote was separated."""
    lines = text.split("\n")
    for token in _tokens(_parsers()[0], text):
        if token.type == "code_block" and token.map is not None:
            for number in range(*token.map):
                lines[number] = lines[number].lstrip()
    return "\n".join(lines)


def _at_margin(text: str) -> str:
    """The text without white space before it; a block of code by four spaces keeps them, or it would become prose."""
    return text if text.startswith("    ") else text.lstrip()


def _prose(lines: Iterable[str]) -> str:
    """Lines outside fences, paragraph by paragraph: a span of code never goes over an empty line."""
    done: list[str] = []
    paragraph: list[str] = []

    def flush() -> None:
        paired = all(map(_is_paired, paragraph))
        done.extend(_line(line, paired=paired) for line in paragraph)
        paragraph.clear()

    for line in lines:
        if line.strip(" >"):
            paragraph.append(line if done or paragraph else line.lstrip())
        else:
            flush()
            done.append(line)
    flush()
    return "\n".join(done)


def _is_paired(line: str) -> bool:
    """Whether every run of backticks in a line is paired within it for every parser, and none could open a fence."""
    return all(not is_code or (text and "|" not in text) for is_code, text in _spans(line))


def _spans(line: str) -> Iterator[tuple[bool, str]]:
    """The parts of a line: text, and code with its backticks; a run without a partner is empty code."""
    at = 0
    while True:
        opening = _RUN.search(line, at)
        if opening is None:
            yield False, line[at:]
            return
        yield False, line[at : opening.start()]
        closing = next(
            (run for run in _RUN.finditer(line, opening.end()) if len(run[0]) == len(opening[0])), None
        )
        # After a backslash the run is text; after an address some parsers take it for a part of the address.
        taken = _takes_sign(line[at : opening.start()])
        if closing is None or taken or len(opening[0]) > 2:
            yield True, ""
            return
        yield True, line[opening.start() : closing.end()]
        at = closing.end()


def _takes_sign(text: str) -> bool:
    """Whether a text ends with a backslash, or with a word that may be an address."""
    if not text or text[-1].isspace():
        return False
    word = text.rsplit(maxsplit=1)[-1]
    return word.endswith("\\") or any(map(word.__contains__, ("://", "www.", "@")))


def _line(line: str, *, paired: bool) -> str:
    if paired:
        return "".join(text if is_code else _words(text) for is_code, text in _spans(line))
    return _words(_TICK.sub(lambda found: _as_entity(found, "&#96;"), line))


def _as_entity(found: re.Match[str], entity: str) -> str:
    """A run of a sign as entities; a backslash that escaped its first sign goes, because it would escape the entity."""
    slashes = found[1]
    return slashes[: len(slashes) // 2 * 2] + entity * len(found[2])


def _words(text: str) -> str:
    """Text outside code, with every active character escaped."""
    text = _TAG.sub(lambda found: found[1][: len(found[1]) // 2 * 2] + "&lt;", text)
    text = _TILDES.sub(lambda found: _as_entity(found, "&#126;"), text)
    text = _IMAGE.sub(r"!\\[", text)
    text = _LINK.sub(lambda found: _unless_safe(found, "]\\("), text)
    return _DEFINITION.sub(lambda found: _unless_safe(found, "]\\:"), text)


def _unless_safe(found: re.Match[str], escaped: str) -> str:
    target = _TARGET.match(found.string, found.end())
    return found[0] if target is not None and target[0].strip() else escaped
