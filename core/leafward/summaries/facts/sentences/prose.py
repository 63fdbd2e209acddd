"""The prose in a text: its lines outside code, and its sentences."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator

SENTENCE_LIMIT = 400
"""Characters of a sentence that is read; longer ones are logs or data."""
REMEMBERED = 1 << 14
"""Sentences of which a module caches what it found: each is needed for the summary and again for its survival."""

_FEW, _MESSAGE = 1 << 11, 4000
"""Texts whose sentences are cached, and the characters of the longest: a prompt is needed four times."""

FENCE = late(r"^\s*(?:```|~~~)")
_LIST_MARK = late(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
HEADING = late(r"^\s*#{1,6}\s+")
_AMID = late(
    r"(?i)(?<=\w),[ \t]*\n|\b(?:and|or|but|an?|the|of|with|for|from|which|(?:and|or|but|that|which|if|when) it|its|is|are|be|as|than|if|when|because"
    r"|und|oder|aber|der|das|dem|den|eine?|zu|mit|für|dass|wenn|et|ou|mais|les?|des?|une?|que|qui|pour|avec|y|pero|el|los|las|del|con|para)[ \t]*\n"
)
"""The end of a line amid a sentence: a comma, or a word that ends none."""
_MAY_GO_ON = late(r"\n[^\S\n]*[^\W\d_A-Z]")
"""The beginning of a line that may go on with the sentence of the one before."""
_END = 40
"""Characters of a line that tell how it ends."""
_SENTENCE_END = late(
    # It begins with one class, so that the search skips all other characters quickly.
    r"[.!?。！？](?:(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bapprox\.)(?<!\b[zdu]\.)(?<!\bz\.B\.)(?<!\bd\.h\.)(?<!\bu\.a\.)(?<!\bbzw\.)(?<!\bca\.)"
    r"(?<!\bggf\.)(?<!\binkl\.)(?<!\bevtl\.)(?<!\bvgl\.)(?<!\bNr\.)(?<!\bz\. B\.)(?<!\bd\. h\.)(?<!\bu\. a\.)(?<!\bp\. ex\.)(?<!\bp\. ej\.)(?<!\bej\.)(?<!\bp\.ej\.)\s+"
    # A date: `am 27.08. würde`; the end of a list amid a sentence.
    r"(?:(?<!\d\.\d\.\s)(?<!\d\.\d\d\.\s)(?<!\betc\.\s)|(?![a-zäöüß]))|(?<=[。！？]))"
)
"""The sign that ends a sentence before its line ends, and the space after it."""
CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def lines_outside_code(text: str, *, fences: bool = False) -> Iterator[str]:
    """The lines of a text outside fences of code, with those that begin some if `fences`."""
    lines = text.split("\n")
    if "```" not in text and "~~~" not in text:
        yield from lines
        return
    inside = False
    for line in lines:
        if FENCE.match(line):
            if fences and not inside:
                yield line
            inside = not inside
        elif not inside:
            yield line


def unwrapped(text: str) -> str:
    """A text that somebody typed, with the lines joined of which the first ends amid a sentence."""
    if _MAY_GO_ON.search(text) is None:
        return text
    first, *others = text.split("\n")
    found, before = [first], first
    for line in others:
        goes_on = line.lstrip()[:1].islower() and _AMID.search(f"{before[-_END:]}\n") is not None
        found += (" ", line.strip()) if goes_on else ("\n", line)
        before = line
    return "".join(found)


def sentences(text: str) -> Iterator[str]:
    """Sentences of the prose in a text, without list marks, headings, emphasis and code."""
    return iter(_few_sentences(text)) if len(text) <= _MESSAGE else _sentences(text)


@lru_cache(maxsize=_FEW)
def _few_sentences(text: str) -> tuple[str, ...]:
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for line in lines_outside_code(text):
        line = line.strip()
        first = line[:1]
        if not first or first in "|><" or (first == "#" and HEADING.match(line)):
            continue
        if first in "-*+•" or first.isdecimal():
            line = _LIST_MARK.sub("", line)
        line = without_emphasis(line).strip()
        for sentence in _parted(line):
            sentence = sentence.strip()
            if 8 <= len(sentence) <= SENTENCE_LIMIT or (len(sentence) >= 4 and CJK.search(sentence)):
                yield sentence[:SENTENCE_LIMIT]


def list_items(text: str) -> list[str]:
    """The items of the lists in a text without their marks, in order."""
    return [
        without_emphasis(line[mark.end() :]).strip()
        for line in lines_outside_code(text)
        if (mark := _LIST_MARK.match(line)) is not None
    ]


def last_sentence(line: str) -> str:
    """The last sentence of a line, without list marks and emphasis."""
    return _parted(without_emphasis(_LIST_MARK.sub("", line)).strip())[-1].strip()


def _parted(line: str) -> list[str]:
    """The sentences of a line, each with the sign that ends it; the last one is empty where the line ends with a sign."""
    found = []
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if _is_amid(line[start : end.start()], line[end.end() :]):
            continue
        found.append(line[start : end.start() + 1])
        start = end.end()
    found.append(line[start:])
    return found


def _is_amid(before: str, behind: str) -> bool:
    """Whether a stop between two parts of a line is within code, or ends a short word in brackets: `(np. as here)`."""
    if "`" in before and before.count("`") % 2 and "`" in behind:
        return True
    return behind[:1].islower() and before.rfind("(") > before.rfind(")")
