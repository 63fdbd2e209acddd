"""The words of commands that are no files, whatever they look like: patterns, programs, comments, messages, what is printed."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.files.shell.lexer import Command, Lexer, Unreadable
from leafward.files.shell.wrappers import unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SAYS = frozenset({"echo", "printf"})
_TOLD = frozenset({"git", "gh", "glab"})
"""Programs that are given a message."""
_AWK = frozenset({"awk", "gawk"})
_READ_BY_TEXT = _AWK | {"grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "gsed", "jq"}
"""Programs whose first word is a pattern or a program, unless an option gives it."""
_GIVES_TEXT = late(r"-\w{0,4}e|--regexp|--expression|-g|--glob")
"""Options with a text behind them."""
_GIVES_FIRST = late(r"-\w{0,4}[ef]|--regexp|--expression|--file|--files")
_MESSAGE = late(r"-\w{0,3}m|--message|--title|--body|--notes")
_OF_AWK = frozenset({"-F", "-v"})
_WITH_VALUE = frozenset({"-A", "-B", "-C", "-m", "-t", "-T", "--max-count", "--type"})
_LONGEST = 1 << 14
"""Characters of a command that is looked at: one that names thousands of files would be looked at for each."""
_MAY_HAVE = late(r"\b(?:[ef]?grep|rg|ag|ack|g?sed|g?awk|jq|git|gh|glab|echo|printf)\b|#")
_COMMENT = late(r"(?m)^[ \t]*#.*")


def is_text(name: str, command: str) -> bool:
    """Whether a name stands only in words of a command that are no files."""
    if len(command) > _LONGEST or _MAY_HAVE.search(command) is None:
        return False
    texts, rest = _parted(command)
    if name not in texts:
        return False
    at = rest.find(name)
    # The end of a longer path is another one.
    while at >= 0 and (rest[at - 1].isalnum() or rest[at - 1] in "_./~-"):
        at = rest.find(name, at + 1)
    return at < 0


@lru_cache(maxsize=64)
def _parted(script: str) -> tuple[str, str]:
    """The words of a script that are no files, and all others; none where it cannot be read."""
    try:
        commands = [one for one in Lexer(script).commands() if isinstance(one, Command)]
    except Unreadable:
        return "", ""
    texts, rest = _COMMENT.findall(script), [""]
    for one in commands:
        words = [word.text for word in unwrapped(one.words)]
        apart = Counter(_texts_of(words))
        texts += apart
        rest += (Counter(words) - apart).elements()
        for redirection in one.redirections:
            rest += [redirection.target.text, redirection.document or ""]
    return "\n".join(texts), " ".join(rest)


def _texts_of(words: Sequence[str]) -> Iterator[str]:
    program, *given = words or ("",)
    program = program.rpartition("/")[2]
    if program == "git" and given[:1] == ["grep"]:
        program, given = "grep", given[1:]
    if program in _SAYS:
        yield from given
    if program in _TOLD:
        yield from (word for before, word in pairwise(given) if _MESSAGE.fullmatch(before) is not None)
    if program not in _READ_BY_TEXT:
        return
    first = not any(map(_GIVES_FIRST.fullmatch, given))
    with_value = _OF_AWK if program in _AWK else _WITH_VALUE
    for before, word in zip(("", *given), given, strict=False):
        if _GIVES_TEXT.fullmatch(before) is not None:
            yield word
        elif first and word and not word.startswith("-") and before not in with_value:
            yield word
            first = False
