"""The code in an earlier summary: its lines share one line after their introduction, because alone they say nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.summaries.summarizers.extractive.candidates import Evidence, add
from leafward.summaries.summarizers.outline import Provenance, SummarySection, cut, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import EntryIndex

_THEN = "Code in an earlier summary"
_OURS = re.compile(rf"{_THEN}(?: \((?P<intro>.{{1,90}}?)\))?: (?P<code>`.{{1,4000}})")
_PIECE = re.compile(r"`` (.{1,300}?) ``|`([^`\n]{1,300})`")
_INTRO = 80
"""Characters of the words that introduce code."""
_LONGEST = 200
"""Characters of one line of it."""
_WORTH = 0.5
_SAYS_NOTHING = re.compile(r"^(?://|/\*|\*|#|--)|[({\[]$|^[\W_]*$")
"""Comments, and what only opens or closes a block."""


def tell_code(evidence: Evidence, text: str, intro: str, entry: EntryIndex) -> None:
    """Adds a line of code; it is worth telling only where it names something that is needed."""
    if _SAYS_NOTHING.search(text):
        return
    about = cut(harmless(intro.rstrip(":： ").replace("**", "")), _INTRO)
    line = harmless(text, _LONGEST)
    add(
        evidence,
        SummarySection.CONTEXT,
        f"`` {line} ``" if "`" in line else f"`{line}`",
        (entry,),
        _WORTH,
        names_something=True,
        provenance=Provenance.EARLIER,
        group=f"{_THEN} ({about}): " if about else f"{_THEN}: ",
    )


def code_in(line: str) -> Iterator[tuple[str, str]]:
    """The lines of code, each with its introduction, that a line of ours holds."""
    match = _OURS.fullmatch(line)
    if match is not None:
        for longer, piece in _PIECE.findall(match["code"]):
            yield longer or piece, match["intro"] or ""
