"""Compares two summaries: section by section, with the facts that only one of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.compaction.stored_summary.summary_lines import SummaryPart, stored_lines
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.messages import ENCRYPTED_NOTE
from leafward.summaries.facts.sentences.content_words import content_words, shared
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.facts.values import Voice, gather
from leafward.summaries.survival.text_match import SAME_SENTENCE, FactMatch, FactText, file_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.stored_summary.summary_lines import StoredLine
    from leafward.session.session import Session
    from leafward.summaries.facts.values import Fact

LISTS = {
    SummaryPart.READ: "Files read",
    SummaryPart.MODIFIED: "Files modified",
    SummaryPart.QUOTED: "Messages word for word",
}
"""Titles of the other lists in a stored summary."""
_PREFIX = "Split turn: "


class LineRelation(StrEnum):
    """Relation of a line of one summary to the other summary."""

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class PairedLine:
    """A line of one summary, of the other, or of both. Texts without list marks, not safe to show."""

    mark: LineRelation
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SectionDiff:
    """One heading with its lines, in the order of the later summary; removed lines are at their old place."""

    title: str
    mark: LineRelation
    """Added or removed if only one summary has the heading; same if all lines are the same."""
    lines: tuple[PairedLine, ...]


@dataclass(frozen=True, slots=True)
class SummaryDiff:
    """Comparison of two summaries. Injected context is left out, as it is no summary."""

    sections: tuple[SectionDiff, ...]
    only_before: tuple[Fact, ...]
    """Facts that the later summary does not state, the heaviest first."""
    only_after: tuple[Fact, ...]

    def count(self, mark: LineRelation) -> int:
        """Number of lines with a mark."""
        return sum(1 for section in self.sections for line in section.lines if line.mark is mark)


def compare_summaries(before: str, after: str, cwd: str = "") -> SummaryDiff:
    """Compares two stored summaries; `cwd` is the folder of the session. Pure."""
    old, new = sections_of(before), sections_of(after)
    order = list(new)
    for place, title in enumerate(old):
        if title not in new:
            # At its old place: after the section that it followed.
            above = [other for other in list(old)[:place] if other in order]
            order.insert(order.index(above[-1]) + 1 if above else 0, title)
    found = []
    for key in order:
        lines = paired(old.get(key, ("", []))[1], new.get(key, ("", []))[1])
        mark = LineRelation.SAME
        if key not in old or key not in new:
            mark = LineRelation.ADDED if key in new else LineRelation.REMOVED
        elif any(line.mark is not LineRelation.SAME for line in lines):
            mark = LineRelation.CHANGED
        title = (new.get(key) or old[key])[0]
        if lines or mark is not LineRelation.SAME:
            found.append(SectionDiff(title, mark, tuple(lines)))
    earlier, later = _own_text(before), _own_text(after)
    return SummaryDiff(tuple(found), _only(earlier, later, cwd), _only(later, earlier, cwd))


def sections_of(text: str) -> dict[str, tuple[str, list[str]]]:
    """Titles and lines of a stored summary, by case-folded title, in order; injected context is left out."""
    return _sections(text, lambda line: line.says)


def titled_lines(text: str) -> dict[str, tuple[str, list[str]]]:
    """Titles of a stored summary with their lines as stored, by case-folded title, in order."""
    return _sections(text, lambda line: line.text)


def _sections(text: str, text_of_line: Callable[[StoredLine], str]) -> dict[str, tuple[str, list[str]]]:
    found: dict[str, tuple[str, list[str]]] = {}
    for line in stored_lines(text):
        if line.mark or line.part is SummaryPart.INJECTED:
            continue
        title = LISTS.get(line.part, line.heading)
        if line.part is SummaryPart.PREFIX:
            title = f"{_PREFIX}{line.heading}" if line.heading else _PREFIX.strip(": ")
        lines = found.setdefault(title.casefold(), (title, []))[1]
        if not line.level:
            lines.append(text_of_line(line))
    return found


def paired(old: Sequence[str], new: Sequence[str]) -> list[PairedLine]:
    """Lines of both in order: the same lines are paired first, then similar ones; the rest is added or removed."""
    partners = _partners(old, new)
    removed = set(range(len(old))).difference(partners.values())
    found: list[PairedLine] = []
    added: list[str] = []
    passed = 0

    def gap(stop: int) -> None:
        """Adds the unpaired lines before the next pair: the old ones first."""
        nonlocal passed
        found.extend(
            PairedLine(LineRelation.REMOVED, old[place]) for place in range(passed, stop) if place in removed
        )
        found.extend(PairedLine(LineRelation.ADDED, "", text) for text in added)
        added.clear()
        passed = max(passed, stop)

    for at, text in enumerate(new):
        partner = partners.get(at)
        if partner is None:
            added.append(text)
            continue
        gap(partner)
        passed = max(passed, partner + 1)
        relation = LineRelation.SAME if old[partner] == text else LineRelation.CHANGED
        found.append(PairedLine(relation, old[partner], text))
    gap(len(old))
    return found


def _partners(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The place of the old line that each new one is paired with."""
    found: dict[int, int] = {}
    free = set(range(len(old)))
    by_text: dict[str, list[int]] = {}
    for at, text in enumerate(old):
        by_text.setdefault(text, []).append(at)
    for at, text in enumerate(new):
        places = by_text.get(text)
        if places:
            found[at] = places.pop(0)
            free.discard(found[at])
    words = {at: content_words(old[at]) for at in free}
    holding: dict[str, set[int]] = {}
    for at, theirs in words.items():
        for word in theirs:
            holding.setdefault(word, set()).add(at)
    for at, text in enumerate(new):
        if at in found:
            continue
        mine = content_words(text)
        own = frozenset(mine)
        best, part = -1, SAME_SENTENCE
        # A line that shares no word cannot be similar.
        near = set[int]().union(*(holding.get(word, ()) for word in own))
        for other in sorted(free & near):
            alike = min(shared(mine, frozenset(words[other])), shared(words[other], own))
            if alike >= part and (alike > part or best < 0):
                best, part = other, alike
        if best >= 0:
            found[at] = best
            free.discard(best)
    return found


def _own_text(text: str) -> str:
    lines = (line.text for line in stored_lines(text) if line.part is not SummaryPart.INJECTED)
    return "\n".join(line for line in lines if not line.startswith(ENCRYPTED_NOTE))


def _only(mine: str, other: str, cwd: str) -> tuple[Fact, ...]:
    facts = gather(TextFacts(cwd).prose(mine, Voice.TOLD, NO_ENTRY))
    names, there = file_names(facts), FactText(other, cwd)
    found = [fact for fact in facts if there.holds(fact, names) is FactMatch.ABSENT]
    return tuple(sorted(found, key=lambda fact: (-fact.weight, fact.kind, fact.key)))


def summary_at(session: Session, entry: int) -> str:
    """The stored summary of a compaction or of a branch; empty for every other entry."""
    body = session.body(entry) if entry >= 0 else None
    summary = body.get("summary") if body is not None else None
    return summary if isinstance(summary, str) else ""


def summaries_near(session: Session, at: int, besides: int) -> list[EntryIndex]:
    """The entries with a summary: those on the path to an entry first, compactions before branches, the latest first."""
    kinds = session.columns.kind
    summary_kinds = (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
    every = [
        EntryIndex(index) for index, kind in enumerate(kinds) if kind in summary_kinds and index != besides
    ]
    on_path = {
        index for run in session.tree.path_runs(at) for index in every if run.start <= index < run.stop
    }
    compactions = [index for index in reversed(every) if index in on_path and kinds[index] == Kind.COMPACTION]
    branches = [index for index in reversed(every) if index in on_path and kinds[index] != Kind.COMPACTION]
    return [*compactions, *branches, *(index for index in every if index not in on_path)]
