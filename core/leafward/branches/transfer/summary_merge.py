"""Two branch summaries merged, section by section: both add to the summary above their common ancestor.

A summary of one branch does not speak for what it leaves out, so a line of the ancestor's summary stays unless a side adds to
it. Where one side alone does, its line is taken. Where a side changes what the line says, or both add to it differently, that is
a conflict: two similar lines may be two rules. Lines are carried as they are stored, byte for byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.cancellation import unless_cancelled
from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.branches.diff.summaries import SideSummary, summaries_of
from leafward.compaction.stored_summary.current_file_names import current_file_names
from leafward.compaction.stored_summary.file_lists import FileLists, stored_lists
from leafward.compaction.stored_summary.stored_summary import (
    file_section,
    kept_section,
    stored_parts,
    stored_text,
)
from leafward.compaction.stored_summary.summary_comparison import (
    LISTS,
    LineRelation,
    paired,
    summary_at,
    titled_lines,
)
from leafward.compaction.stored_summary.summary_lines import SummaryPart, bare, box_of, stored_lines
from leafward.files.working_set import touched
from leafward.session.entries import MARK, NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.placement import Place, milliseconds, place_at, stamped, usage_body
from leafward.session.journal.write import Write, Writing, write
from leafward.session.messages import message_in
from leafward.summaries.facts.sentences.negation import negated
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from leafward.branches.diff.sides import Sides
    from leafward.session.session import Session

_DEFAULT = Writing()
_FILE_UNITS = 4_000
"""UTF-16 units that the file lists may take."""
_SINGLE = frozenset({"goal"})
"""Sections that hold a single statement: two of them are a conflict."""
_SAID = re.compile(r"\w+|[^\w\s.,;:]")
"""Words, and signs that change what is said."""
_EMPTY = frozenset({"", "(none)", "none"})
_MADE_ANEW = frozenset({SummaryPart.READ, SummaryPart.MODIFIED, SummaryPart.INJECTED})
"""Parts of a stored summary that a merge makes anew, or that are not summary."""


def _says_nothing(line: str) -> bool:
    return bare(line).casefold() in _EMPTY


def _alike(one: str, other: str) -> bool:
    """Whether two stored lines differ at most in list marks and emphasis. A ticked box is a difference."""
    return bare(one) == bare(other) and box_of(one) == box_of(other)


def _adds_to(new: str, old: str) -> bool:
    """Whether a stored line says all that another one does, in the same words and their order, and does not deny it."""
    words = iter(_SAID.findall(bare(new).casefold()))
    return negated(bare(old)) == negated(bare(new)) and all(
        word in words for word in _SAID.findall(bare(old).casefold())
    )


class MergeChoice(StrEnum):
    """The choice for a place where the sides differ."""

    A = "a"
    B = "b"
    BOTH = "both"
    BASE = "base"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that needs a choice. Texts are lines as stored, empty where a side has none; not safe to show."""

    number: int
    section: str
    base: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class LostLine:
    """A line of one of the three summaries that the merged one lacks. As stored, not safe to show."""

    source: str
    """`base`, `a` or `b`."""
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class MergedSection:
    """A section of the merged summary: settled lines, and the numbers of conflicts at their places."""

    title: str
    items: tuple[str | int, ...]
    replaced: tuple[str, ...] = ()
    """Stored lines in whose place a side's wording of the same line stands; none of conflicts."""


@dataclass(frozen=True, slots=True)
class MergeDraft:
    """A merge that is not yet written."""

    sides: Sides
    a: SideSummary
    b: SideSummary
    base: SideSummary
    sections: tuple[MergedSection, ...]
    conflicts: tuple[Conflict, ...]
    read: tuple[str, ...]
    """Files of both branches, the most recent first."""
    modified: tuple[str, ...]
    place: Place

    def text(self, choices: Mapping[int, MergeChoice], rest: MergeChoice | None = None) -> str:
        """The merged summary as it would be stored. `rest` settles conflicts without a choice. Raises Refused for open ones."""
        left = [one for one in self.conflicts if one.number not in choices and rest is None]
        if left:
            number = counted(len(left), "conflict is", "conflicts are")
            raise Refused(f"{number} not decided: choose a, b, both or base for each")
        parts = []
        for section in self.sections:
            lines = [line for item in section.items for line in self._lines(item, choices, rest)]
            if lines:
                heading = f"## {section.title}\n" if section.title else ""
                parts.append(heading + "\n".join(lines))
        if not parts:
            raise Refused("the merged summary is empty: nothing to carry over")
        words = "\n\n".join(parts)
        files = file_section(self.read, self.modified, words, self.sides.session.cwd, _FILE_UNITS)
        return stored_text(words, kept=self._quoted(), files=files)

    def _lines(
        self, item: str | int, choices: Mapping[int, MergeChoice], rest: MergeChoice | None
    ) -> list[str]:
        if isinstance(item, str):
            return [item]
        one = self.conflicts[item]
        chosen = {
            MergeChoice.A: [one.a],
            MergeChoice.B: [one.b],
            MergeChoice.BOTH: [one.a, one.b],
            MergeChoice.BASE: [one.base],
        }[choices.get(item, rest or MergeChoice.BOTH)]
        return list(dict.fromkeys(line for line in chosen if line))

    def _quoted(self) -> str:
        """The user's messages that the three summaries hold word for word, each once."""
        texts = [stored_parts(one.text).kept for one in (self.base, self.a, self.b)]
        return kept_section(dict.fromkeys(message for kept in texts for message in kept))

    def lost(self, text: str) -> tuple[LostLine, ...]:
        """The lines that a merged text lacks, except those that a decided conflict or a new wording replaced."""
        there = {line.strip() for line in text.split("\n")}
        there.update(line.strip() for one in self.conflicts for line in (one.base, one.a, one.b))
        there.update(line.strip() for section in self.sections for line in section.replaced)
        found: dict[str, LostLine] = {}
        for source, summary in (("base", self.base), ("a", self.a), ("b", self.b)):
            for line in stored_lines(summary.text):
                words = line.text.strip()
                if (
                    line.level
                    or line.mark
                    or line.part in _MADE_ANEW
                    or words in there
                    or _says_nothing(words)
                ):
                    continue
                found.setdefault(words, LostLine(source, line.heading, line.text))
        return tuple(found.values())

    def line(self, text: str, writing: Writing) -> Body:
        """The entry to append."""
        moment, _ = milliseconds(writing.now)
        session = self.sides.session
        merged = [session.columns.id_at(side.entry) for side in (self.sides.a, self.sides.b)]
        fields: Body = {
            "fromId": self.place.leaf if self.place.leaf is not None else "root",
            "summary": text,
            "details": {
                **stored_lists(self.read, self.modified),
                "leafward": {
                    "merged": merged,
                    "ancestor": session.columns.id_at(self.sides.ancestor),
                    "summaries": [session.columns.id_at(one.entry) for one in (self.a, self.b, self.base)],
                },
            },
            "usage": usage_body(None, None),
            "fromHook": False,
        }
        made = stamped("branch_summary", self.place, moment, fields)
        made[MARK]["merged"] = merged
        return made


def draft_merge(
    sides: Sides, onto: int | None = None, stop: Callable[[], bool] = lambda: False
) -> MergeDraft:
    """Merges the summaries of two sides; `onto` is the place of the result (the leaf by default). Nothing is written.

    A side's own compaction is its summary where it has one; otherwise one is made on the spot. Raises Refused where neither
    side has anything to summarise, Cancelled once `stop` turns true.
    """
    session = sides.session
    if sides.a.entry == sides.b.entry:
        raise Refused(f"both are {session.columns.id(sides.a.entry)}: a merge needs two branches")
    a, b = summaries_of(sides, stop=stop)
    if not a.text and not b.text:
        raise Refused("neither branch has anything to summarise")
    above = base_of(session, sides.ancestor)
    base = SideSummary(summary_at(session, above), above)
    sections, conflicts = merge(base.text, a.text, b.text)
    read, modified = _files(session, sides, stop)
    here = EntryIndex(session.leaf if onto is None else onto)
    return MergeDraft(sides, a, b, base, sections, conflicts, read, modified, place_at(session, here))


def base_of(session: Session, ancestor: int) -> EntryIndex:
    """The last compaction or branch summary on the path to the common ancestor; -1 where there is none."""
    kinds = session.columns.kind
    if ancestor < 0:
        return NO_ENTRY
    found = (
        at
        for at in reversed(session.tree.path(ancestor))
        if kinds[at] in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
    )
    return EntryIndex(next(found, NO_ENTRY))


def merge(base: str, a: str, b: str) -> tuple[tuple[MergedSection, ...], tuple[Conflict, ...]]:
    """Three stored summaries merged, line by line. Pure."""
    three = [titled_lines(text) for text in (base, a, b)]
    titles: dict[str, str] = {}
    for summary in (three[1], three[2], three[0]):
        for key, (title, _) in summary.items():
            if title not in LISTS.values():
                titles.setdefault(key, title)
    sections: list[MergedSection] = []
    conflicts: list[Conflict] = []
    # Lines under no heading come first, or they would belong to the section before them.
    for key, title in sorted(titles.items(), key=lambda one: one[0] != ""):
        olds, ours, theirs = (
            [line for line in summary.get(key, ("", []))[1] if not _says_nothing(line)] for summary in three
        )
        section = _merged(title, key, olds, ours, theirs, conflicts)
        if section.items:
            sections.append(section)
    return tuple(sections), tuple(conflicts)


def _merged(
    title: str, key: str, olds: list[str], ours: list[str], theirs: list[str], conflicts: list[Conflict]
) -> MergedSection:
    """One section; conflicts are numbered and added to the list."""
    items: list[str | int] = []
    replaced: list[str] = []

    def settle(base: str, a: str, b: str) -> None:
        """Adds the line that is settled, or a conflict."""
        changed = next((line for line in (a, b) if line != base), base)
        differ = base not in (a, b) and not _alike(a, b)
        if differ or (base and not _adds_to(changed, base)):
            conflicts.append(Conflict(len(conflicts), title, base, a, b))
            items.append(len(conflicts) - 1)
            return
        items.append(changed)
        replaced.extend(line for line in (base, a, b) if line not in ("", changed))

    mine, added_a = _against(olds, ours)
    other, added_b = _against(olds, theirs)
    if key in _SINGLE and len(olds) <= 1 and len(added_a) <= 1 and len(added_b) <= 1 and (added_a or added_b):
        old = olds[0] if olds else ""
        a, b = (
            added[0] if added else (now.get(0) or old) for added, now in ((added_a, mine), (added_b, other))
        )
        settle(old, a, b)
    else:
        for place, old in enumerate(olds):
            settle(old, mine.get(place, old), other.get(place, old))
        for a, b in _pairs(added_a, added_b):
            settle("", a, b)
    return MergedSection(title, tuple(items), tuple(replaced))


def _against(olds: list[str], news: list[str]) -> tuple[dict[int, str], list[str]]:
    """The old lines that have a similar new one, by place, with that one; and the lines that are new."""
    became: dict[int, str] = {}
    added: list[str] = []
    places: dict[str, list[int]] = {}
    for place, old in enumerate(olds):
        places.setdefault(old, []).append(place)
    for old, new in _pairs(olds, news):
        place = places[old].pop(0) if old else -1
        if not old:
            added.append(new)
        elif new and new != old:
            became[place] = new
    return became, added


def _pairs(olds: list[str], news: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of stored lines with equal or nearly equal meaning; one is empty where only one side has the line."""
    left, right = _by_words(olds), _by_words(news)
    for pair in paired([bare(line) for line in olds], [bare(line) for line in news]):
        old = left[pair.before].pop(0) if pair.mark is not LineRelation.ADDED else ""
        new = right[pair.after].pop(0) if pair.mark is not LineRelation.REMOVED else ""
        yield old, new


def _by_words(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(bare(line), []).append(line)
    return found


def _files(
    session: Session, sides: Sides, stop: Callable[[], bool]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files that the branches read and modified, the most recent first, under their names at the end of each branch.

    A modified file is not listed as read.
    """
    read: dict[str, None] = {}
    changed: dict[str, None] = {}
    for side in sorted((sides.a, sides.b), key=lambda side: -side.entry):
        last_read: dict[str, int] = {}
        last_changed: dict[str, int] = {}
        for path, use in touched(session, side.entries, stop=stop).items():
            if use.modified:
                last_changed[path] = use.modified[-1]
            elif use.read:
                last_read[path] = use.read[-1]
        messages = (
            SpanMessage(EntryIndex(index), message)
            for index, body in session.bodies(side.entries)
            if (message := message_in(body or {}))
        )
        looked_at, modified = current_file_names(
            sorted(last_read, key=lambda path: -last_read[path]),
            sorted(last_changed, key=lambda path: -last_changed[path]),
            unless_cancelled(messages, stop),
            session.cwd,
            FileLists(tuple(last_read), tuple(last_changed)),
        )
        read |= dict.fromkeys(looked_at)
        changed |= dict.fromkeys(modified)
    return tuple(path for path in read if path not in changed), tuple(changed)


def apply_merge(session: Session, draft: MergeDraft, text: str, writing: Writing = _DEFAULT) -> Write:
    """Appends the merged summary as a branch summary that names its sources; an undo moves the leaf back.

    Raises Refused where the conversation went on since the draft was made, or the file cannot be written.
    """
    refuse_changed(session)
    ready = replace(draft, place=place_at(session, draft.place.parent, draft.place))
    return write(session, OperationKind.MERGE, ready.line(text, writing), draft.place.parent, writing)
