"""The work of a summary grows with the turns of its span, and not with their square."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.core.told import reply, span, summarize, user, worked

if TYPE_CHECKING:
    from leafward.summaries.summarizers.summary import Span


def _turns(number: int) -> Span:
    """So many requests, each about a file of its own, with an answer that names it and says in passing what it holds."""
    said = []
    for turn in range(number):
        said += [
            user(f"Port the lexer of valley{turn} to a table of its own"),
            *worked(f"src/valley{turn}.py", f"call{turn}"),
            reply(f"The rows of `valley{turn}.py` hold the names of {turn} lanes beside their depth."),
        ]
    return span(*said)


def _calls(number: int) -> int:
    """Calls of Python functions for the summary of so many turns: the same on every machine."""
    found = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal found
        found += event == "call"

    of = _turns(number)
    sys.setprofile(note)
    try:
        summarize(of)
    finally:
        sys.setprofile(None)
    return found


def test_four_times_as_many_turns_take_four_times_the_work() -> None:
    _calls(50)  # what is remembered of words and patterns is not counted
    assert _calls(400) < 5 * _calls(100)
