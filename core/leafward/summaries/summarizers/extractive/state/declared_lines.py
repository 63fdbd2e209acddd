"""What the span declared in files that it wrote: the lines that name functions and types, as they stand at its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.extractive.candidates import FileWork, add
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Collection

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import Evidence

_LEAD = "Declared in "
_OURS = late(rf"{_LEAD}`(?P<path>[^`\n]{{1,300}})`: (?P<lines>`.{{1,4000}})")
_PIECE = late(r"`([^`\n]{1,300})`")
_NAME = re.compile(r"[A-Za-z_$][\w$]+")
_PROSE = (".md", ".mdx", ".rst", ".txt")
"""Files whose code is an example or a plan."""


def tell_declared(evidence: Evidence, gone: Collection[str]) -> None:
    """Adds a line for each declaration; it is worth telling only where it names something that is needed.

    `gone` are files that were deleted or renamed since, or brought back to what they were.
    """
    for work in evidence.files.values():
        if work.path in gone or work.path.endswith(_PROSE):
            continue
        for name, line in work.declared.items():
            fact = evidence.facts.get((FactKind.IDENTIFIER, name))
            add(
                evidence,
                SummarySection.CONTEXT,
                f"`{line}`",
                (fact.last,) if fact is not None else tuple(work.sources[-1:]),
                0.0,
                names_something=True,
                group=f"{_LEAD}`{work.path}`: ",
            )


def carry_declared(evidence: Evidence, line: str, entry: EntryIndex) -> bool:
    """Takes over the declarations of a line of ours in an earlier summary, beneath those of the span; False for other lines."""
    match = _OURS.fullmatch(line)
    if match is None:
        return False
    work = evidence.files.setdefault(match["path"], FileWork(match["path"], last=-1, sources=[entry]))
    for piece in _PIECE.findall(match["lines"]):
        for name in _NAME.findall(piece):
            if (FactKind.IDENTIFIER, name) in evidence.facts:
                if name not in work.removed:
                    work.declared.setdefault(name, piece)
                break
    return True
