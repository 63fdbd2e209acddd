"""Matching of a query with the texts of a session, entry by entry."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.composed_text import composed
from leafward.files.tool_calls import table_of
from leafward.query.passages import KINDS, Passage, passages, title_passage
from leafward.query.patterns import Pattern, TooSlow, needed_runs
from leafward.query.search.call_files import FileCalls
from leafward.query.search.case_folding import folded, original_spans
from leafward.query.search.conjunction import texts_of
from leafward.query.search.literals import Needle, needle, one_held_by
from leafward.session.entries import NATIVE_ROLE, NATIVE_TYPE, EntryId, EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.query.search.query import Query
    from leafward.session.entries import Body
    from leafward.session.session import Session

KEPT = 200
"""Hits of one session that are kept by default; the rest are counted."""

_SPANS = 8
"""Hits marked in a snippet."""
_COUNTED = 10_000
"""Hits counted in one text."""
_BEFORE, _AFTER = 80, 240
"""Code points of a snippet before and after the first hit."""
_NEAR = 120
"""Code points within which several hits fit into one snippet."""
_SLOW_AT_MOST = 8
"""Texts on which a pattern may time out before it is given up."""
_SPACE = re.compile(r"\s+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that matches a query."""

    entry: EntryId
    kind: str
    """The entry's native type."""
    role: str | None
    part: str
    """The part of the entry that matches: one of `vocabulary.PARTS`."""
    tool: str
    """The tool of the call or of the result, else empty."""
    time: str | None
    text: str
    """The text around the first hit, on one line, cut; not made safe."""
    spans: tuple[Span, ...]
    """Hits in `text`, in code points, in order, without overlaps."""
    count: int
    """Hits in the whole entry; 0 where the query names no text, or only a file that the call of a result names."""
    failed: bool
    matched: str
    """The text of the first hit as written; empty where the query names no text."""


@dataclass(slots=True)
class Found:
    """The matches of a query in one session."""

    hits: list[Hit] = field(default_factory=list)
    """The first hits in file order, as many as are kept."""
    total: int = 0
    """The number of all hits."""
    left_out: int = 0
    """Further hits, in entries that were left out."""


class Matcher:
    """A prepared query.

    Words, patterns and files must match in one entry where any entry has them all, else across the whole session.
    """

    def __init__(self, query: Query, kept: int = KEPT) -> None:
        """`kept`: hits of one session that are kept; the rest are counted."""
        self.query = query
        self.kept = kept
        self._words = [Phrase(word) for word in query.words]
        self._patterns = [Pattern(pattern) for pattern in query.patterns]
        self._files = tuple(folded(name) for name in query.files)
        self._excluded = [Phrase(word) for word in query.excluded]
        self._sought = [Phrase(text) for text in texts_of(query.where)] if query.where is not None else []
        """Texts that are marked where they occur, while `where` decides about the match."""
        self._all = (1 << (len(self._words) + len(self._patterns) + len(self._files))) - 1
        kinds = {kind for part in query.parts or KINDS for kind in KINDS[part]}
        if query.failed:
            kinds &= {Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH}
        if query.tools:
            kinds &= {Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH}
        if not query.words and not query.patterns and query.files:
            kinds &= {Kind.ASSISTANT, Kind.TOOL_RESULT}
        self._kinds = bytes(sorted(kinds))
        self._by_call = query.failed and bool(self._files)
        """Whether a result is matched by the file of its call: the result tells the failure, the call names the file."""
        needles = [needle(runs) for runs in self._runs()]
        self._needles = [one for one in needles if one is not None]
        self._pick = self._may_hold if needles and None not in needles else None
        self.slow = 0
        """Texts on which a pattern timed out."""

    def _runs(self) -> list[list[str]]:
        """Runs of characters that every text must hold to match, one list for each wanted thing."""
        runs = [word.runs for word in self._words]
        runs += [needed_runs(pattern.source) for pattern in self._patterns]
        return runs + [re.split(r"[\\/]", name) for name in self._files]

    def needle(self) -> Needle | None:
        """The needle that a stored session must hold; None where every session has to be opened."""
        return needle(run for runs in self._runs() for run in runs)

    def _may_hold(self, _index: int, line: bytes) -> bool:
        """Whether a stored line may hold one of the wanted things; other lines are not decoded."""
        return one_held_by(self._needles, line)

    def find(
        self,
        session: Session,
        first: int,
        stop: Callable[[], bool],
        leave_out: Callable[[EntryIndex, Body], bool] | None = None,
        chosen: Callable[[EntryIndex], bool] | None = None,
    ) -> Found:
        """The hits among a session's entries from `first` on; hits in earlier entries only count as left out.

        `leave_out` and `chosen` decide about every entry found.
        """
        kinds = session.columns.kind
        read = self._kinds + bytes([Kind.ASSISTANT]) if self._by_call else self._kinds
        entries = [index for index in range(len(kinds)) if kinds[index] in read]
        table = table_of(session)
        answering = FileCalls(session, self._files) if self._by_call else None
        whole, partly = Found(), Found()
        mask = left_mask = left_whole = left_partly = 0
        names: set[str] = set()
        for number, (index, body) in enumerate(session.bodies(entries, self._picking(session, answering))):
            if number % 64 == 0 and stop():
                break
            if body is None:
                continue
            kind = Kind(kinds[index])
            if kind is Kind.SESSION_INFO and index >= first:
                # A name is one hit, even where the agent or an undo wrote it several times.
                if str(body.get("name")) in names:
                    continue
                names.add(str(body.get("name")))
            texts = passages(body, kind, table, with_paths=bool(self._files))
            concerned = [one for one in texts if self._concerns(one)] if kind in self._kinds else []
            if answering is not None and isinstance(message := body.get("message"), dict):
                if kind is Kind.ASSISTANT:
                    answering.note(message)
                elif kind is Kind.TOOL_RESULT and concerned:
                    paths = answering.paths(index, message)
                    concerned = [one._replace(paths=one.paths + paths) for one in concerned]
            found = self._in_entry(concerned)
            if found is None:
                continue
            if chosen is not None and not chosen(index):
                continue
            entirely = found.mask & self._all == self._all
            if index < first or (leave_out is not None and leave_out(index, body)):
                left_mask |= found.mask & self._all
                left_whole += entirely
                left_partly += not entirely
                continue
            mask |= found.mask & self._all
            into = whole if entirely else partly
            into.total += 1
            if len(into.hits) < self.kept:
                into.hits.append(_hit(session, index, kind, body, found))
        if chosen is None or chosen(EntryIndex(min(first, len(kinds) - 1))):
            mask |= self._called(session, first, whole, partly)
        given = whole if whole.total or mask != self._all else partly
        # Entries that match alone count; without any, the entries that match together do.
        given.left_out = left_whole or (
            left_partly if not whole.total and mask | left_mask == self._all else 0
        )
        return given

    def _picking(self, session: Session, answering: FileCalls | None) -> Callable[[int, bytes], bool] | None:
        """A test of which stored lines to decode; None to decode all."""
        pick, kinds = self._pick, session.columns.kind
        if pick is None or answering is None:
            return pick
        return lambda index, line: (
            pick(index, line) or (kinds[index] == Kind.TOOL_RESULT and answering.may_answer(line))
        )

    def _concerns(self, passage: Passage) -> bool:
        query = self.query
        return (
            (not query.parts or passage.part in query.parts)
            and (not query.failed or passage.failed)
            and (not query.tools or any(_is_tool(passage.tool, tool) for tool in query.tools))
        )

    def _in_entry(self, texts: list[Passage]) -> _Place | None:
        """The matches of the query in an entry, possibly partial; None where nothing matches or an excluded text occurs."""
        if not texts:
            return None
        if not self._all:
            texts = [one for one in texts if one.text] or (texts if self.query.failed else [])
        best: _Place | None = None
        mask = count = 0
        for passage in texts:
            place = self._in_text(passage)
            if place is None:
                return None
            mask |= place.mask
            count += place.count
            if place.mask.bit_count() > (best.mask.bit_count() if best is not None else -1):
                best = place
        if best is None or (self._all and not mask & self._all):
            return None
        return _Place(mask, best.passage, best.spans, count)

    def places(self, passage: Passage) -> tuple[Span, ...]:
        """The matches of the query in one text, in order; none where an excluded text occurs."""
        found = self._in_text(passage)
        return found.spans if found is not None else ()

    def _in_text(self, passage: Passage) -> _Place | None:
        text = passage.text
        low = folded(text)
        if any(word.is_in(low) for word in self._excluded):
            return None
        mask = count = 0
        spans: list[Span] = []
        for bit, one in enumerate(self._each(passage, low)):
            mask |= one.is_there << bit
            count += one.places
            spans += one.spans
        return _Place(mask, passage, tuple(_joined(spans)), count)

    def _each(self, passage: Passage, low: str) -> Iterator[_Sighting]:
        """The matches in a text of each wanted thing, in the order of the mask's bits; `low` is the text folded."""
        text = passage.text
        for word in self._words:
            yield _sighting(text, word.spans(low), keep_case=False)
        for pattern in self._patterns:
            yield _sighting(text, self._by_pattern(pattern, text), keep_case=True)
        for name in self._files:
            path = next((path for path in passage.paths if name in folded(path)), None)
            at = text.find(path) if path is not None else -1
            spans = [(at, at + len(path))] if path is not None and at >= 0 else []
            yield _Sighting(path is not None, len(spans), spans)
        for word in self._sought:
            yield _sighting(text, word.spans(low), keep_case=False)

    def _by_pattern(self, pattern: Pattern, text: str) -> list[Span]:
        if self.slow >= _SLOW_AT_MOST:
            return []
        try:
            return list(pattern.spans(composed(text), _COUNTED))
        except TooSlow:
            self.slow += 1
            return []

    def _called(self, session: Session, first: int, whole: Found, partly: Found) -> int:
        """Matches the title of a session where no entry holds it; returns the mask of the wanted things in it.

        The session's first entry represents it.
        """
        passage = title_passage(session, first)
        found = self._in_entry([passage]) if passage is not None and self._concerns(passage) else None
        if found is None:
            return 0
        kinds = session.columns.kind
        index = min(first, len(kinds) - 1)
        into = whole if found.mask & self._all == self._all else partly
        into.total += 1
        into.hits.insert(0, _hit(session, index, Kind(kinds[index]), session.body(index) or {}, found))
        return found.mask & self._all

    @property
    def gave_up(self) -> bool:
        """Whether a pattern timed out too often and is no longer tried."""
        return self.slow >= _SLOW_AT_MOST


class _Sighting(NamedTuple):
    """The matches in a text of one wanted thing."""

    is_there: bool
    places: int
    spans: list[Span]
    """The first of the hits, as spans of the text."""


def _sighting(text: str, found: list[Span], *, keep_case: bool) -> _Sighting:
    """A sighting from places in a folded (or composed) text."""
    return _Sighting(bool(found), len(found), original_spans(text, found[:_SPANS], keep_case=keep_case))


@dataclass(frozen=True, slots=True)
class _Place:
    """The matches in a text, or in all texts of an entry, with the passage that shows them."""

    mask: int
    """The wanted things that occur, a bit for each."""
    passage: Passage
    spans: tuple[Span, ...]
    count: int


class Phrase:
    """A word or phrase. White space in it matches any white space."""

    def __init__(self, word: str) -> None:
        text = folded(word).strip()
        self._text = text
        self.runs = text.split()
        self._pattern = re.compile(r"\s+".join(map(re.escape, self.runs)))

    def is_in(self, low: str) -> bool:
        """Whether it occurs in a folded text."""
        if len(self.runs) == 1:
            return self._text in low
        return bool(self.runs) and self._pattern.search(low) is not None

    def spans(self, low: str) -> list[Span]:
        """Its places in a folded text."""
        if not self.is_in(low):
            return []
        return [found.span() for found in islice(self._pattern.finditer(low), _COUNTED)]


def _is_tool(name: str, pattern: str) -> bool:
    """Whether a pattern names a tool, with or without the name of the tool's server."""
    low = name.lower()
    return bool(low) and (fnmatchcase(low, pattern) or fnmatchcase(low.rpartition("__")[2], pattern))


def _joined(spans: list[Span]) -> list[Span]:
    """Spans in order, overlapping ones merged."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _hit(session: Session, index: int, kind: Kind, body: Body, place: _Place) -> Hit:
    passage = place.passage
    text, spans = snippet(passage.text, place.spans)
    name = len(passage.tool) + 1
    if passage.part == "call" and text[:name] == f"{passage.tool} " and (not spans or spans[0][0] >= name):
        # The tool is named beside the text.
        text, spans = text[name:], tuple((start - name, stop - name) for start, stop in spans)
    first = place.spans[0] if place.spans else (0, 0)
    stamp = body.get("timestamp")
    return Hit(
        session.columns.id(index),
        NATIVE_TYPE.get(kind, str(body.get("type"))),
        NATIVE_ROLE.get(kind),
        passage.part,
        passage.tool,
        stamp if isinstance(stamp, str) else None,
        text,
        spans,
        place.count,
        passage.failed,
        passage.text[first[0] : min(first[1], first[0] + _AFTER)],
    )


def snippet(text: str, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """One line of text where most of the spans are near each other, and the spans in it.

    Runs of white space become one space each.
    """
    near = [sum(start <= other < start + _NEAR for other, _ in spans) for start, _ in spans]
    first = spans[near.index(max(near))][0] if spans else 0
    begin = max(0, first - _BEFORE)
    end = min(len(text), first + _AFTER)
    if 0 < begin < first:
        # The beginning of a cut word is left out.
        space = _SPACE.search(text, begin, first)
        begin = space.end() if space is not None and space.end() <= first else begin
    marks = [(max(start, begin), min(stop, end)) for start, stop in spans if start < end and stop > begin]
    pieces: list[str] = []
    size = 0
    moved: list[Span] = []
    at = begin
    for start, stop in nsmallest(_SPANS, marks):
        before = _flat(text[at:start], leading=not size)
        inside = _flat(text[start:stop], leading=not size and not before)
        moved.append((size + len(before), size + len(before) + len(inside)))
        pieces += (before, inside)
        size += len(before) + len(inside)
        at = stop
    pieces.append(_flat(text[at:end], leading=not size))
    line = "".join(pieces).rstrip()
    clipped = ((start, min(stop, len(line))) for start, stop in moved)
    return line, tuple(span for span in clipped if span[1] > span[0])


def _flat(text: str, *, leading: bool) -> str:
    line = _SPACE.sub(" ", text)
    return line.lstrip() if leading else line
