"""The room of a summary: the lines taken into each section, their price, and the text that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.tokens import CHARS_PER_TOKEN, utf16_length
from leafward.summaries.facts.forms.file_lists import LISTS
from leafward.summaries.summarizers.extractive.candidates import FIRST_OF_ALL
from leafward.summaries.summarizers.extractive.selection.name_lists import (
    FILES_A_LINE,
    GROUP_LIMIT,
    grouped,
)
from leafward.summaries.summarizers.outline import TOLD, Provenance, SummarySection, cut, line_key

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import LineCandidate

_SHARE = {
    SummarySection.GOAL: 0.14,
    SummarySection.CONSTRAINTS: 0.16,
    SummarySection.DONE: 0.12,
    SummarySection.IN_PROGRESS: 0.10,
    SummarySection.BLOCKED: 0.10,
    SummarySection.DECISIONS: 0.14,
    SummarySection.NEXT: 0.22,
    SummarySection.CONTEXT: 0.75,
}
"""The part of the room that a section may take."""
_CODE_SHARE = 0.35
"""The part of the room that lines of code may take before all other lines had their turn."""
_WHOLE_OUTLINE = 300
"""Tokens from which every section is in the summary, also an empty one."""
_NOTHING = "(none)"
_LEAST = 12
"""Characters below which a cut line is meaningless."""
_IN_PROGRESS = (SummarySection.DONE, SummarySection.IN_PROGRESS, SummarySection.BLOCKED)
_BOX = {SummarySection.DONE: 4, SummarySection.NEXT: 4}
"""Units of a checkbox."""


class Room:
    """The lines taken so far. All sizes are UTF-16 units, as an agent in JavaScript counts them."""

    def __init__(self, size: int) -> None:
        self.size = size
        headings = list(SummarySection) if size >= _WHOLE_OUTLINE * CHARS_PER_TOKEN else []
        self.used = sum(utf16_length(section.heading) + 2 for section in headings)
        self.used += sum(len(_NOTHING) + 3 for section in headings if section is not SummarySection.PROGRESS)
        self.whole_outline = bool(headings)
        """Whether every section is in the text."""
        self.taken: dict[SummarySection, list[LineCandidate]] = {section: [] for section in TOLD}
        self._spent: dict[SummarySection, int] = dict.fromkeys(TOLD, 0)
        self._provenances: set[Provenance] = set()
        """Those of the context's lines, but for pins and the state of the work, which have no heading."""
        self._code = 0
        self._keys: set[str] = set()
        self._groups: dict[str, tuple[int, int]] = {}

    @property
    def empty(self) -> bool:
        """Whether no line was taken."""
        return not any(self.taken.values())

    def recount(self) -> None:
        """Sets what is used to the size of the text: a line that joined others was paid for as if it began one."""
        self.used = sum(utf16_length(line) + 1 for line, _, _ in self.render())

    def _heading_cost(self, section: SummarySection) -> int:
        """The price of a section's first line beyond itself."""
        if self.taken[section]:
            return 0
        if self.whole_outline:
            # The heading is counted already, and so is the line for an empty section.
            return -(len(_NOTHING) + 3)
        cost = utf16_length(section.heading) + 2
        if section in _IN_PROGRESS and not any(self.taken[other] for other in _IN_PROGRESS):
            cost += utf16_length(SummarySection.PROGRESS.heading) + 2
        return cost

    def headings_cost(self, candidate: LineCandidate) -> int:
        """The price of the headings that a line brings with it."""
        return self._heading_cost(candidate.section) + self._provenance_cost(candidate)

    def _provenance_cost(self, candidate: LineCandidate) -> int:
        """The price of the heading over lines of one provenance, for the first of them, and of the one that ends them."""
        provenance = candidate.provenance
        if not _is_apart(candidate) or provenance in self._provenances:
            return 0
        # What is recorded has a heading only beside others.
        others = self._provenances - {Provenance.RECORDED}
        cost = len(provenance.heading) + 2
        if provenance is Provenance.RECORDED:
            return cost if others else 0
        ends = not others and Provenance.RECORDED in self._provenances
        return cost + (len(Provenance.RECORDED.heading) + 2 if ends else 0)

    def take(
        self,
        candidate: LineCandidate,
        *,
        forced: bool = False,
        up_to: int | None = None,
        shared: bool = True,
        lists: bool = False,
    ) -> bool:
        """Takes a line if it fits into `up_to` units, and with `shared` into its section's share; a forced line is cut to fit.

        With `lists`, files of a full line begin another one.
        """
        key = line_key(candidate.text)
        if key in self._keys and not forced:
            return False
        section = candidate.section
        room = self.size if up_to is None else up_to
        heading = self.headings_cost(candidate)
        price = utf16_length(candidate.text) + 3 + _BOX.get(section, 0)
        together, length = self._groups.get(candidate.group, (0, 0))
        if candidate.group in LISTS:
            if together >= FILES_A_LINE or length + price > GROUP_LIMIT:
                if not lists:
                    return False
                together, length = 0, 0
        elif length + price > (GROUP_LIMIT - len(candidate.group)) // 2:
            # Another line may begin: at half its length that is paid for, in whatever order they are written.
            together, length = 0, 0
        if candidate.group:
            price += 0 if together else len(candidate.group)
        if not forced:
            if self.used + heading + price > room:
                return False
            if shared and self._spent[section] + price > _SHARE[section] * self.size:
                return False
            if shared and candidate.is_code and self._code + price > _CODE_SHARE * self.size:
                return False
        elif self.used + heading + price > room:
            fits = room - self.used - heading - 3 - _BOX.get(section, 0)
            shorter = _cut_to_units(candidate.text, fits)
            if len(shorter) < min(_LEAST, len(candidate.text)):
                return False
            candidate.text = shorter
            price = utf16_length(shorter) + 3 + _BOX.get(section, 0)
        self._keys.add(key)
        self._groups[candidate.group] = (together + 1, length + price)
        self.put(candidate)
        # A last request that is done takes the share of what would be in progress.
        of = SummarySection.IN_PROGRESS if forced and section is SummarySection.DONE else section
        self._spent[of] += price
        self._code += price if candidate.is_code else 0
        self.used += heading + price
        return True

    def append(self, candidate: LineCandidate, up_to: int) -> bool:
        """Takes a line from the end of the span, whatever its section holds already, if it fits into `up_to` units."""
        price = utf16_length(candidate.text) + 3 + self.headings_cost(candidate)
        if self.used + price > min(self.size, up_to):
            return False
        self.used += price
        self.put(candidate)
        return True

    def put(self, candidate: LineCandidate) -> None:
        """Takes a line that was paid for."""
        self.taken[candidate.section].append(candidate)
        if _is_apart(candidate):
            self._provenances.add(candidate.provenance)

    def render(self) -> list[tuple[str, str, tuple[EntryIndex, ...]]]:
        """The lines of the text, each with its section and its sources."""
        lines: list[tuple[str, str, tuple[EntryIndex, ...]]] = []
        if self.empty:
            return lines
        for section in SummarySection:
            taken = self.taken.get(section, [])
            if section is SummarySection.PROGRESS:
                if not self.whole_outline and not any(self.taken[other] for other in _IN_PROGRESS):
                    continue
            elif not taken and not self.whole_outline:
                continue
            if lines:
                lines.append(("", "", ()))
            lines.append((section.heading, "", ()))
            under = _UNDER_NONE
            for candidate in grouped(sorted(taken, key=_order)):
                part, _ = _order(candidate)
                if part != under and self._provenances - {Provenance.RECORDED}:
                    lines += [("", "", ()), (candidate.provenance.heading, "", ())]
                under = part
                todo = "[ ] " if section is SummarySection.NEXT and not candidate.group else ""
                mark = f"- {'[x] ' if candidate.is_ticked else todo}"
                lines.append((mark + candidate.text, section.title, candidate.sources))
            if not taken and section is not SummarySection.PROGRESS:
                lines.append((f"- {_NOTHING}", section.title, ()))
        return lines


_UNDER_NONE = 0
_PARTS = {Provenance.EARLIER: 1, Provenance.DATED: 2, Provenance.SAID: 3, Provenance.RECORDED: 4}


def _is_apart(candidate: LineCandidate) -> bool:
    """Whether a line stands below the heading of its provenance: in the context all but pins and the state of the work."""
    return candidate.section is SummarySection.CONTEXT and candidate.place != FIRST_OF_ALL


def _order(candidate: LineCandidate) -> tuple[int, int]:
    """The place of a line in its section; in the context after pins and the state of the work what was said, then what is recorded."""
    return _PARTS[candidate.provenance] if _is_apart(candidate) else _UNDER_NONE, candidate.place


def _cut_to_units(text: str, units: int) -> str:
    """A line of at most so many UTF-16 units."""
    size = max(0, units)
    while utf16_length(line := cut(text, size)) > units and size:
        size -= 1
    return line
