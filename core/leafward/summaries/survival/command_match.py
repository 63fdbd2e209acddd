"""How a line of a text names a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.summaries.facts.forms.forms import canonical_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUOTES = "\"'`;"
_ENDS = ".,:)*"
_JOINS = "-_./"
_OPTIONS = 120
"""Characters of options behind the first word of a command in which its second is looked for."""
CODE = re.compile(r"`([^`\n]{2,120})`")
"""A span of code in a line."""
_MOST_WORDS = 12
"""Words of a longer command may stand in a line by chance."""


def bare_words(command: str) -> list[str]:
    """The distinct words of a command without its options and quotes; none of one that has a single word, or very many."""
    words = [word for word in command.split() if not word.startswith("-")]
    if not 2 <= len(words) <= _MOST_WORDS:
        return []
    return [word for word in dict.fromkeys(word.strip(_QUOTES) for word in words) if word]


def begins_alike(words: Sequence[str], line: str) -> bool:
    """Whether a line has the first two words of a command one behind the other, with nothing but options between: else they are any words."""
    if len(words) == 1:
        return True
    first, second = f"{words[0]} ", words[1]
    at = line.find(first)
    while at >= 0:
        behind = at + len(first)
        if at == 0 or not (line[at - 1].isalnum() or line[at - 1] in _JOINS):
            for word in line[behind : behind + len(second) + _OPTIONS].split():
                bare = word.strip(_QUOTES)
                if second in (bare, bare.rstrip(_ENDS)):
                    return True
                if bare and bare[0] != "-":
                    break
        at = line.find(first, behind)
    return False


def tells_of_another(command: str, line: str) -> bool:
    """Whether a line holds a command only inside longer ones: `make test` in `make test && make lint`."""
    quoted = [span for span in CODE.findall(line) if command in span]
    return bool(quoted) and all(canonical_command(span) != command for span in quoted)
