"""The code in an earlier summary: its lines share one line after their introduction, because alone they say nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, tool_calls
from leafward.summaries.facts.call_arguments import (
    NEW_ARGUMENTS,
    OLD_ARGUMENTS,
    PATH_ARGUMENTS,
    edits_in,
    first_of,
)
from leafward.summaries.facts.outcomes import failed_calls
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.summarizers.candidates import Evidence, add
from leafward.summaries.summarizers.outline import Provenance, Section, cut, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.survival.spans import SpanMessage

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


def replaced_code(messages: Sequence[SpanMessage]) -> dict[str, set[str]]:
    """By the name of a file, the lines that edits took out of it and none wrote into it again since, with single spaces."""
    failed = failed_calls(message for _, message in messages)
    gone: dict[str, set[str]] = {}
    for _, message in messages:
        for call in tool_calls(message):
            if call.id in failed:
                continue
            name = first_of(call.arguments, PATH_ARGUMENTS).rpartition("/")[2]
            lines = gone.setdefault(name, set())
            for edit in edits_in(call.arguments):
                lines |= _lines(first_of(edit, OLD_ARGUMENTS))
                lines -= _lines(first_of(edit, NEW_ARGUMENTS))
    return gone


def _lines(text: str) -> set[str]:
    return {" ".join(line.split()) for line in text.split("\n")} if text else set()


def _is_replaced(evidence: Evidence, text: str, intro: str, replaced: Mapping[str, set[str]]) -> bool:
    """Whether a line of code was taken out of a file that its introduction names; without one, out of any file."""
    line = " ".join(text.split())
    files = [name for name, lines in replaced.items() if line in lines]
    if not files:
        return False
    seen = evidence.reader.prose(intro, Voice.TOLD, NO_ENTRY)
    named = {one.key.rpartition("/")[2] for one in seen if one.kind is FactKind.PATH}
    return not named or not named.isdisjoint(files)


def tell_code(
    evidence: Evidence, text: str, intro: str, entry: EntryIndex, replaced: Mapping[str, set[str]]
) -> None:
    """Adds a line of code, unless it was `replaced` since; it is worth telling only where it names something that is needed."""
    if _SAYS_NOTHING.search(text) or _is_replaced(evidence, text, intro, replaced):
        return
    about = cut(harmless(intro.rstrip(":： ").replace("**", "")), _INTRO)
    line = harmless(text, _LONGEST)
    add(
        evidence,
        Section.CONTEXT,
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
