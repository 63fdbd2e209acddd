"""Of lines that give one name a value each, such as a colour or a limit, those of the last value stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.summaries.summarizers.outline import Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.summaries.summarizers.candidates import Candidate, Evidence

_PAIR = re.compile(
    r"`([A-Za-z][\w.-]{2,40})(?:: [^`\n]{1,40})?`(?:(?: is| was)? (?:now |set to |changed to )?|: ?| (?:→|->|=) |(?: is)? now (?:at )?)"
    r"`?(#[0-9a-fA-F]{3,8}|\d[\d.,]{0,12})\b`?(?![\w/]| ?×| ?(?:times|lines?|calls?|files?|tests?)\b)"
)
"""A name in code, and its value."""
_MAY = re.compile(r"`[: ][^`\n]{0,16}`?[#\d]")
"""What no such line is without."""
_OF_VALUES = frozenset({Section.DONE, Section.DECISIONS, Section.CONTEXT})


def leave_out(evidence: Evidence, place_of: Callable[[Candidate], int]) -> None:
    """Leaves out the lines that give a name another value than the last line that gives it one."""
    told: list[tuple[Candidate, int, list[tuple[str, str]]]] = []
    last: dict[str, tuple[int, str]] = {}
    several: set[str] = set()
    for candidate in evidence.candidates:
        if candidate.section not in _OF_VALUES or candidate.group or not _MAY.search(candidate.text):
            continue
        pairs = [(name, value.casefold()) for name, value in _PAIR.findall(candidate.text)]
        if not pairs:
            continue
        place = place_of(candidate)
        told.append((candidate, place, pairs))
        for name, value in pairs:
            if name not in last or last[name][0] < place:
                last[name] = place, value
            elif last[name][0] == place and last[name][1] != value:
                # One answer gives it two: there are several of that name.
                several.add(name)
    old = {
        id(candidate)
        for candidate, place, pairs in told
        if any(
            last[name][0] > place and last[name][1] != value for name, value in pairs if name not in several
        )
    }
    if old:
        evidence.candidates = [one for one in evidence.candidates if id(one) not in old]
