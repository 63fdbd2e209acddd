"""The one basis of all sizes shown: the provider's counts, carried over compactions and context edits.

A provider counts more than a session file holds: the system prompt, the tools, and whatever the estimate of the contents
misses. pi's own sizes (`Sizes.size`) include that up to the last reply, but not after a compaction or an edit. Here both
sides of a compaction are sized alike:

- "Not in file" is the first request's count minus the estimate of the contents sent with it. It is carried along, so that both
sides of a compaction have the same. The first request after a compaction changes it in two cases only: where nothing could be
carried (or more than was sent), and where the agent sends files again that it does not store. If the file begins in the middle of a
conversation, it includes the missing messages: a compaction keeps an unknown part of them, so nothing of it is carried.
- The estimation error is the remainder. It shrinks with the contents: messages that a compaction keeps have their size from
before, everything else is scaled as the contents before the compaction were.
- A context that no reply measures yet has the next request's count, if one is recorded. That is a count and proves nothing about
what is carried; `carried` gives the size that is derived without it.
- Usage of a reply that is older than a compaction or an edit above it is inherited, and is not trusted.

Everything is a function of the session's tree alone.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from leafward.context.entry_metrics import FILES, EntryMetrics
from leafward.context.projection import begins_midway, latest
from leafward.context.recorded_usage import believed
from leafward.context.sizes import Sizes, replayed_tokens
from leafward.session.entries import CONTEXT_CHANGES, NO_ENTRY, EntryIndex, Kind, Usage
from leafward.session.foreign import usages
from leafward.session.messages import encrypted_tokens, leaves_files_unstored, message_in, trusted_usage
from leafward.session.tokens import replayed_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.context.sizes import ContextSize, Outline
    from leafward.session.lines.scan import Scan
    from leafward.session.session import Session

_COMPACTION = frozenset({Kind.COMPACTION})
_AHEAD = 512
"""Most entries that are searched for the next request."""


class Count(NamedTuple):
    """Size of a context, in tokens."""

    total: int
    unsent: int
    """Estimated tokens of replies that pi counts but does not send; they are included in the total."""
    recorded: bool
    """Whether a provider counted it, apart from messages since or in between. Otherwise it is derived, and shown with `~`."""

    @property
    def sent(self) -> int:
        """Tokens that are sent with the next prompt."""
        return self.total - self.unsent

    @property
    def sign(self) -> str:
        """The sign before the total: empty if a provider counted it, else `~`."""
        return "" if self.recorded else "~"


@dataclass(frozen=True, slots=True)
class Footprint:
    """Size of a context in tokens, and its parts."""

    count: Count
    contents: int
    """Estimated tokens of the sent messages that are in the file."""
    not_in_file: int
    """Tokens that the agent sends but its file does not hold: system prompt, tools, files that it put in."""
    counted_to: EntryIndex
    """The reply up to which a provider counted; -1 if there is none."""

    @property
    def error(self) -> int:
        """The estimation error: the provider's count of the contents minus their estimate."""
        return self.count.sent - self.contents - self.not_in_file


class Carry(NamedTuple):
    """Values that a context passes on to the context that replaces it."""

    not_in_file: int = 0
    scale: float = 1.0
    """Tokens that the provider counts for one estimated token."""

    def after_compaction(self, contents: int, kept: int, took: int | None) -> int:
        """The size of a context after a compaction of this one.

        `contents` and `kept` are estimates, and the kept messages are among the contents; `took` is the counted size of the kept
        messages before the compaction.
        """
        counted = self.scale * kept if took is None else took
        return self.not_in_file + round(counted + self.scale * (contents - kept))


@dataclass(frozen=True, slots=True)
class _Carried:
    """Values that a compaction took over, the size derived from them, and the estimate of its contents."""

    carry: Carry
    total: int
    contents: int


@dataclass(frozen=True, slots=True)
class _Request:
    """A request whose reply reported its usage."""

    reply: EntryIndex
    usage: Usage

    @property
    def prompt(self) -> int:
        """Tokens of the request without those of its reply."""
        return max(0, self.usage.total - self.usage.output)


class _Memo:
    """Results cached for a session. They stay valid while the session grows: entries above a compaction do not change."""

    def __init__(self, session: Session) -> None:
        self.metrics = EntryMetrics(session)
        self.spoken = array("i", bytes(4 * len(session)))
        self.carried: dict[int, _Carried] = {}
        self.damage = len(session.columns.damage)

    @classmethod
    def of(cls, session: Session) -> _Memo:
        """The memo of a session. It is kept while the session grows, and replaced if the session is read again or proves damaged."""
        memo = _memos.get(session.scan)
        if memo is None or memo.damage != len(session.columns.damage):
            memo = _memos[session.scan] = cls(session)
        elif len(memo.metrics) < len(session):
            memo.metrics.grow(session)
        if len(memo.spoken) < len(session):
            memo.spoken.frombytes(bytes(4 * (len(session) - len(memo.spoken))))
        return memo


_memos: WeakKeyDictionary[Scan, _Memo] = WeakKeyDictionary()


def spoken_sizes(session: Session) -> array[int]:
    """The column `Sizes.spoken` of a session, to be filled by code that decodes the messages of a context."""
    return _Memo.of(session).spoken


class Basis:
    """The sizes of one session's contexts on one basis."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._tells = usages(sizes.session)
        self._carried = _Memo.of(sizes.session).carried

    @classmethod
    def of(cls, session: Session) -> Basis:
        """The basis of a session whose entries have not been counted yet."""
        memo = _Memo.of(session)
        return cls(Sizes(session, memo.metrics, spoken=memo.spoken))

    def at(self, index: EntryIndex) -> Footprint:
        """The context at an entry with its parts; -1 is the empty context."""
        return self.footprint(self.sizes.outline(index), index)

    def count_at(self, index: EntryIndex) -> Count:
        """Size of the context at an entry."""
        return self.count(self.sizes.outline(index), index)

    def took(self, first: EntryIndex, index: EntryIndex, freed: int = 0) -> int | None:
        """Tokens of the messages between two entries, as part of the context at the second; None if that is not known.

        If nothing was sent since the last compaction, they are part of it with their estimates. `freed` are estimated tokens of
        them that edits are about to free.
        """
        compaction = latest(self.sizes.session, index, _COMPACTION)
        if first <= compaction:
            return None
        above = EntryIndex(self.sizes.session.columns.parent[first])
        if self._last(compaction, index) is None:
            sizes = self.sizes
            return max(0, sizes.contents(sizes.outline(index)) - sizes.contents(sizes.outline(above)) - freed)
        start = self.count_at(above)
        took = self.count_at(index).sent - round(freed * self.carry(index).scale) - start.sent
        return took if start.recorded and took >= 0 else None

    def freed(self, index: EntryIndex, cuts: Iterable[tuple[EntryIndex, int]]) -> int:
        """Tokens by which the context at an entry shrinks if estimated tokens are cut from some of its entries."""
        last = self._last(latest(self.sizes.session, index, _COMPACTION), index)
        counted = estimated = 0
        for entry, tokens in cuts:
            # Entries after the last request were never counted, so their estimate is their size.
            if last is not None and entry <= last.reply:
                counted += tokens
            else:
                estimated += tokens
        return estimated + (round(counted * self.carry(index).scale) if counted else 0)

    def change(self, compaction: int) -> tuple[Count, Count]:
        """Sizes before and after a compaction; the size before is the one that the agent recorded if the file does not show it."""
        place = leaf_before(self.sizes.session, compaction)
        before = self.count_at(place)
        noted = self.sizes.body(compaction).get("tokensBefore")
        above = latest(self.sizes.session, place, _COMPACTION)
        if above < 0 and not before.recorded and isinstance(noted, int) and noted > before.total:
            before = Count(max(0, noted), 0, recorded=True)
        return before, self.count_at(EntryIndex(compaction))

    def lacks_prompt(self, index: EntryIndex) -> bool:
        """Whether the size of something that the agent sends at an entry, but does not store, is unknown.

        That is its system prompt, or files that it put in again after a compaction. Always False for a native session, whose sizes
        are pi's.
        """
        if self.sizes.session.is_native:
            return False
        found = self.at(index)
        return not found.count.recorded and (found.not_in_file <= 0 or self.lacks_files(index))

    def lacks_files(self, index: EntryIndex) -> bool:
        """Whether files were put in again after the latest compaction, are not stored, and no request shows their size."""
        compaction = latest(self.sizes.session, index, _COMPACTION)
        if compaction < 0 or not leaves_files_unstored(self.sizes.body(compaction)):
            return False
        if self._last(compaction, index) or self._ahead(index) or self._ahead(compaction):
            return False
        above = self.sizes.outline(EntryIndex(self.sizes.session.columns.parent[compaction])).entries
        self.sizes.metrics.fill(self.sizes.session, above, self.sizes.stop)
        return any(self.sizes.metrics.flags[entry] & FILES for entry in above)

    def footprint(self, outline: Outline, index: EntryIndex) -> Footprint:
        """The parts of a context that is already outlined."""
        sizes = self.sizes
        contents = sizes.contents(outline)
        return self.parts(outline.compaction, index, sizes.size(outline), sizes.unsent(outline), contents)

    def parts(
        self, compaction: EntryIndex, index: EntryIndex, size: ContextSize, unsent: int, contents: int
    ) -> Footprint:
        """The parts of a context, from pi's count (`size`), the part of it that is not sent, and the estimate of its contents."""
        last = self._last(compaction, index)
        count = self.measured(compaction, index, size, unsent)
        if last is None:
            surprise = count.sent - self._worked_out(index, None)
            return Footprint(count, contents, self._missing(compaction, count.sent, surprise), NO_ENTRY)
        return Footprint(count, contents, self._not_in_file(compaction, index), last.reply)

    def count(self, outline: Outline, index: EntryIndex) -> Count:
        """Size of a context that is already outlined. If a reply on its path measures it, only its end is looked at."""
        return self.measured(outline.compaction, index, self.sizes.size(outline), self.sizes.unsent(outline))

    def measured(self, compaction: EntryIndex, index: EntryIndex, size: ContextSize, unsent: int) -> Count:
        """Size of a context, from pi's count (`size`) and the part of it that is not sent."""
        last = self._last(compaction, index)
        if last is not None and size.from_usage:
            return Count(size.total, unsent, recorded=True)
        return self._unmeasured(index, last)

    def _unmeasured(self, index: EntryIndex, last: _Request | None) -> Count:
        """Size of a context that no reply on its path measures: from the next request, else derived."""
        outline, ahead = self.sizes.outline(index), self._ahead(index)
        recorded = ahead is not None
        if ahead is None and last is None:
            # A request of another branch after the same compaction shows the tokens that are not in the file.
            ahead = self._ahead(outline.compaction)
        counted = sum(1 for entry in outline.entries if last is not None and entry <= last.reply)
        unsent = self.sizes.broken_off(outline, counted, len(outline.entries))
        if ahead is not None:
            between = self.sizes.contents(self._sent(ahead)) - self.sizes.contents(outline)
            return Count(max(0, ahead.prompt - between) + unsent, unsent, recorded)
        return Count(max(0, self._worked_out(index, last)) + unsent, unsent, recorded=False)

    def beginning(self, outline: Outline, index: EntryIndex, until: int) -> int:
        """Tokens sent for the first entries of a context, including those not in the file."""
        sizes = self.sizes
        size = sizes.size(outline, until)
        if size.from_usage and self._last(outline.compaction, index) is not None:
            return size.total - sizes.unsent(outline, until)
        whole = self.footprint(outline, index)
        first = sizes.contents(outline, until)
        error = 0 if sizes.size(outline).from_usage else whole.error
        return whole.not_in_file + first + (round(error * first / whole.contents) if whole.contents else 0)

    def shared(self, here: Outline, there: Outline, index: EntryIndex) -> int:
        """Tokens of the common beginning of two contexts, sized as in the second one, the context at `index`.

        0 if the models differ: no provider's cache serves two models.
        """
        if here.model is not None and there.model is not None and here.model != there.model:
            return 0
        same = 0
        for one, two in zip(here.entries, there.entries, strict=False):
            if one != two or here.edits.get(one) != there.edits.get(two):
                break
            same += 1
        if same:
            return self.beginning(there, index, same)
        # Even if another compaction comes first, the system prompt before it may be the same.
        mine, theirs = ([message for _, message in outline.systems] for outline in (here, there))
        return replayed_tokens(theirs) if replayed_system(mine) == replayed_system(theirs) else 0

    def _not_in_file(self, compaction: EntryIndex, index: EntryIndex) -> int:
        """Tokens that are sent and not in the file, in a context after a compaction; -1 stands for the start of the session."""
        first, known = self._first(compaction, index), self._carry(compaction)
        if first is None:
            return known.carry.not_in_file
        expected = known.total + self.sizes.contents(self._sent(first)) - known.contents
        return self._missing(compaction, first.prompt, first.prompt - expected)

    def _missing(self, compaction: EntryIndex, sent: int, surprise: int) -> int:
        """Tokens not in the file, of `sent` tokens of which `surprise` are more than was expected after a compaction."""
        carried = self.carried_not_in_file(compaction)
        if not carried or carried > sent:
            return max(0, carried + surprise)
        unstored = leaves_files_unstored(self.sizes.body(compaction))
        return carried + max(0, surprise) if unstored else carried

    def carried_not_in_file(self, compaction: EntryIndex) -> int:
        """Tokens not in the file that a compaction took over from the context before it; 0 if they are unknown."""
        return self._carry(compaction).carry.not_in_file

    def carried(self, compaction: EntryIndex) -> int:
        """The size after a compaction, derived from the counts before it alone; messages that are not sent are left out."""
        return self._carry(compaction).total

    def _sent(self, request: _Request) -> Outline:
        """The context sent by a request."""
        return self.sizes.outline(EntryIndex(self.sizes.session.columns.parent[request.reply]))

    def _worked_out(self, index: EntryIndex, last: _Request | None) -> int:
        """The size derived from the counts recorded above the entry."""
        outline = self.sizes.outline(index)
        contents = self.sizes.contents(outline)
        if last is None:
            known = self._carry(outline.compaction)
            return known.total + contents - known.contents
        counted = self.sizes.contents(self.sizes.outline(last.reply))
        since = array("i", (entry for entry in outline.entries if entry > last.reply))
        trailing = self.sizes.tokens(since) + sum(outline.shifts.get(entry, 0) for entry in since)
        trailing -= self.sizes.broken_off(outline, len(outline.entries) - len(since), len(outline.entries))
        freed = counted + trailing - contents
        return last.usage.total + trailing - round(freed * self.carry(index).scale)

    def carry(self, index: EntryIndex) -> Carry:
        """The values that the context at an entry passes on."""
        compaction = latest(self.sizes.session, index, _COMPACTION)
        last = self._last(compaction, index)
        if last is None:
            # As in the size of the context: the next request shows what is not in the file.
            missing = self.footprint(self.sizes.outline(index), index).not_in_file
            scale = self._carry(compaction).carry.scale
        else:
            missing = self._not_in_file(compaction, last.reply)
            contents = self.sizes.contents(self.sizes.outline(last.reply))
            scale = max(0, last.usage.total - missing) / contents if contents else 1.0
        unknown = compaction < 0 and begins_midway(self.sizes.session, index)
        return Carry(0 if unknown else missing, scale)

    def _carry(self, compaction: EntryIndex) -> _Carried:
        """The values that a compaction took over; for compactions above it they are derived first, from the top down."""
        if compaction < 0:
            return _Carried(Carry(), 0, 0)
        parent = self.sizes.session.columns.parent
        last, waiting = compaction, list[EntryIndex]()
        while compaction >= 0 and compaction not in self._carried:
            waiting.append(compaction)
            compaction = latest(self.sizes.session, parent[compaction], _COMPACTION)
        for one in reversed(waiting):
            self._carried[one] = self._over(one)
        return self._carried[last]

    def _over(self, compaction: EntryIndex) -> _Carried:
        sizes = self.sizes
        above = EntryIndex(sizes.session.columns.parent[compaction])
        before, after = sizes.outline(above), sizes.outline(compaction)
        contents, carry = sizes.contents(after), self.carry(above)
        if encrypted_tokens(sizes.body(compaction)):
            # The reasoning before it was encrypted too: counted, but not estimated, and none of it is left.
            carry = carry._replace(scale=1.0)
        kept = [at for at, entry in enumerate(after.entries) if entry != compaction]
        estimated = sum(sizes.estimate_between(after, at, at + 1) for at in kept)
        estimated -= sizes.broken_off(after, 0, len(after.entries))
        first = EntryIndex(after.entries[kept[0]]) if kept else compaction
        end = [entry for entry in before.entries if entry >= first and sizes.kinds[entry] != Kind.SYSTEM]
        took = self.took(first, above) if kept and end == [after.entries[at] for at in kept] else None
        return _Carried(carry, carry.after_compaction(contents, estimated, took), contents)

    def _since(self, compaction: EntryIndex, index: EntryIndex) -> list[range]:
        """The path to an entry, from the entry after a compaction on; the whole path for -1."""
        found: list[range] = []
        for run in self.sizes.session.tree.runs_upwards(index):
            if run.start <= compaction < run.stop:
                found.append(range(compaction + 1, run.stop))
                break
            found.append(range(run.start, run.stop))
        return found[::-1]

    def _last(self, compaction: EntryIndex, index: EntryIndex) -> _Request | None:
        """The last request on a path since the latest compaction, if its usage can be trusted."""
        kinds = self.sizes.kinds
        for span in reversed(self._since(compaction, index)):
            reply = kinds.rfind(Kind.ASSISTANT, span.start, span.stop)
            while reply >= 0:
                usage = self._usage(reply)
                if usage is not None:
                    found = EntryIndex(reply)
                    return _Request(found, usage) if believed(self.sizes.session, found) else None
                reply = kinds.rfind(Kind.ASSISTANT, span.start, reply)
        return None

    def _first(self, compaction: EntryIndex, index: EntryIndex) -> _Request | None:
        """The first request with trusted usage on a path since the latest compaction."""
        kinds = self.sizes.kinds
        for span in self._since(compaction, index):
            reply = kinds.find(Kind.ASSISTANT, span.start, span.stop)
            while reply >= 0:
                usage = self._usage(reply)
                if usage is not None and believed(self.sizes.session, EntryIndex(reply)):
                    return _Request(EntryIndex(reply), usage)
                reply = kinds.find(Kind.ASSISTANT, reply + 1, span.stop)
        return None

    def _ahead(self, index: EntryIndex) -> _Request | None:
        """The next request: the nearest one below an entry with no compaction or edit in between."""
        return next(filter(None, islice(self._below(index), _AHEAD)), None)

    def _below(self, index: EntryIndex) -> Iterator[_Request | None]:
        tree, kinds = self.sizes.session.tree, self.sizes.kinds
        waiting = list(reversed(tree.children(index)))
        while waiting:
            at = waiting.pop()
            if kinds[at] in CONTEXT_CHANGES:
                yield None
                continue
            usage = self._usage(at) if kinds[at] == Kind.ASSISTANT else None
            yield _Request(at, usage) if usage is not None and believed(self.sizes.session, at) else None
            if usage is None:
                waiting.extend(reversed(tree.children(at)))

    def _usage(self, reply: int) -> Usage | None:
        if self._tells is not None and self._tells(reply) is None:
            # Programs without counts leave a whole path of such replies: none of them is translated for that.
            return None
        return trusted_usage(message_in(self.sizes.body(reply)))


def planned_at(session: Session, compaction: int) -> EntryIndex:
    """The entry at which a compaction was planned: its parent, or the entry above the edits appended with the compaction."""
    # Imported here: a listing sizes contexts too, and must not load the code that writes.
    from leafward.session.journal.operation_log import marks

    columns = session.columns
    own = columns.id(EntryIndex(compaction))
    place = EntryIndex(columns.parent[compaction])
    while (
        place >= 0
        and columns.kind[place] == Kind.CONTEXT_EDIT
        and marks(session.body(place) or {}).get("op") == own
    ):
        place = EntryIndex(columns.parent[place])
    return place


def leaf_before(session: Session, compaction: int) -> EntryIndex:
    """The entry whose context a compaction replaced: the place where it was planned.

    A compaction that summarised the entries after an earlier place (`fromId`) replaced the context of the leaf it left.
    """
    left = (session.body(EntryIndex(compaction)) or {}).get("fromId")
    leaf = session.columns.index(left) if isinstance(left, str) else NO_ENTRY
    return leaf if leaf >= 0 else planned_at(session, compaction)
