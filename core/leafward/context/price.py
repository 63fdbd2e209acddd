"""The price of a leaf move before it is made: entries dropped and added, tokens that the model reads again, files that differ.

Only the tail of a context is looked at if a reply's usage covers the rest, and columns that are already filled
(`EntryMetrics`) are used as they are, so that a price keeps up with the cursor. Everything is computed from the session
itself: the rates come from the recorded costs of its own replies.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.base.times import milliseconds, parse_time
from leafward.context.basis import Basis, Count
from leafward.context.entry_metrics import FILES, EntryMetrics
from leafward.context.projection import begins_midway
from leafward.context.sizes import Outline, Sizes, entries_below, model_of
from leafward.files.file_names import utf16_order
from leafward.files.working_set import touched
from leafward.session.entries import BOOKKEEPING_BYTES, NO_ENTRY, Body, EntryId, EntryIndex, Kind, tool_calls
from leafward.session.messages import did_run, message_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.context.sizes import Model
    from leafward.session.session import Session
    from leafward.session.tree.tree import SessionTree


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for one token, by how it is sent; None if the rate is not known."""

    input: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def resend(self) -> float | None:
        """The rate of a token that is sent again: for writing to the cache if the provider bills that, else for plain input."""
        return self.cache_write if self.cache_write is not None else self.input


@dataclass(frozen=True, slots=True)
class PriceSide:
    """The entries of one side of the common ancestor: metadata included, Leafward's notes left out."""

    entries: int
    tokens: int
    """Estimated tokens of the entries themselves, including those that a compaction replaces."""
    in_context: bool = True
    """Whether these tokens are part of the context on that side; False if a compaction among the entries replaces some of them."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a move from the place to a target. Sizes in tokens, costs in US dollars."""

    target: EntryIndex
    """The nearest entry of the conversation at or above the one asked for; -1 is before everything."""
    ancestor: EntryId | None
    """The deepest entry on both paths; None if there is none."""
    left: PriceSide
    entered: PriceSide
    before: Count
    after: Count
    cached: int
    """Tokens of the common beginning of both contexts, which a provider's cache may still hold; 0 if the cache has expired."""
    expired: bool
    """Whether the last request is so long ago that no provider still caches it."""
    cost_again: float | None
    """Cost of sending the other tokens once; None if no rate is known."""
    cost_cached: float | None
    """Cost of reading the cached tokens once; None if no rate is known."""
    files_left: tuple[str, ...]
    """Files that leave the working set, sorted."""
    files_entered: tuple[str, ...]
    files_changed: tuple[str, ...]
    """Files in both working sets that were modified on only one side, or differently on both."""
    surprises: tuple[tuple[str, str], ...]
    """Unexpected consequences: a code, and a sentence to show."""
    summary: int = 0
    """Estimated tokens of a summary that `after` has besides."""

    @property
    def unsent(self) -> int:
        """Tokens of the context after the move that are counted but not sent: replies that were aborted or failed."""
        return self.after.unsent

    @property
    def sent_again(self) -> int:
        """Tokens of the context that no cache of this conversation holds; they cost the full price."""
        return max(0, self.after.sent - self.cached)

    @property
    def file_words(self) -> str:
        """How the files named on the path differ: `2 fewer, 1 more`; empty where they do not."""
        files = {
            "fewer": self.files_left,
            "more": self.files_entered,
            "with other changes": self.files_changed,
        }
        return ", ".join(f"{len(paths)} {word}" for word, paths in files.items() if paths)

    def size_of(self, side: PriceSide) -> tuple[str, int] | None:
        """The tokens of one side beside the sizes of the context, with their sign: `~` if estimated.

        A side alone is the change of the context's size. None if its tokens would contradict that: a compaction replaces a
        part of them, or they explain less than half of the change.
        """
        if not (side.entries and side.in_context and self._agrees):
            return None
        other = self.left if side is self.entered else self.entered
        if other.entries:
            return "~", side.tokens
        change = self._change if side is self.entered else -self._change
        sign = "" if self.before.recorded and self.after.recorded and not self.summary else "~"
        return (sign, change) if change > 0 else None

    @property
    def _change(self) -> int:
        return self.after.total - self.summary - self.before.total

    @property
    def _agrees(self) -> bool:
        """Whether the estimates of both sides explain most of the change of the context's size.

        The figure that a model counted at either end may differ from the estimates by more than the move changes.
        """
        if not (self.left.in_context and self.entered.in_context):
            return True
        told = self.entered.tokens - self.left.tokens
        return abs(told - self._change) <= max(abs(self._change) // 2, self.before.total // 100)

    def with_summary(self, tokens: int) -> Price:
        """The price if a summary of so many estimated tokens is added, which is in the context but in no cache."""
        after = self.after._replace(total=self.after.total + tokens, recorded=False)
        cost = self.cost_again
        if cost is not None and self.sent_again:
            cost *= (self.sent_again + tokens) / self.sent_again
        return replace(self, after=after, cost_again=cost, summary=tokens)

    def as_json(self) -> dict[str, Any]:
        """The `price` object of the command line."""
        return {
            "ancestor": self.ancestor,
            "left": {"entries": self.left.entries, "tokens": self.left.tokens},
            "entered": {"entries": self.entered.entries, "tokens": self.entered.tokens},
            "context": {"before": self.before.total, "after": self.after.total},
            "unsent": self.unsent,
            "cached": self.cached,
            "cache_expired": self.expired,
            "sent_again": self.sent_again,
            "cost": {"sent_again": self.cost_again, "cached": self.cost_cached},
            "files": {
                "left": list(self.files_left),
                "entered": list(self.files_entered),
                "changed": list(self.files_changed),
            },
            "surprises": [{"code": code, "text": text} for code, text in self.surprises],
        }


_ANSWERS = BOOKKEEPING_BYTES + bytes([Kind.CONTEXT_EDIT, Kind.TOOL_RESULT, Kind.INJECTED])
"""Kinds that may stand between a reply and the end of the results of its calls."""
_CACHED_FOR = 3_600_000
"""Milliseconds for which a provider may cache a request's beginning: five minutes or an hour at Anthropic, similar at others."""
_RATES_FROM = 200
"""Most replies that are looked at for rates."""
_RATE_KEYS = ("input", "cacheRead", "cacheWrite")
_SPEAKS = bytes(kind not in BOOKKEEPING_BYTES for kind in range(256))
_AT_ONCE = 4096
"""Entries processed between two checks of `stop`; a longer step would delay a key press."""


def _rates_in(message: Body) -> Iterator[tuple[str, float]]:
    usage = message.get("usage")
    cost = usage.get("cost") if isinstance(usage, dict) else None
    if not isinstance(usage, dict) or not isinstance(cost, dict):
        return
    for key in _RATE_KEYS:
        tokens, dollars = usage.get(key), cost.get(key)
        if (
            isinstance(tokens, (int, float))
            and isinstance(dollars, (int, float))
            and tokens > 0
            and dollars > 0
        ):
            yield key, dollars / tokens


def _rates(sizes: Sizes, at: EntryIndex, model: Model | None) -> Rates | None:
    """Rates of a model, from the costs of its last replies on the path to an entry; None if none records a cost."""
    found: dict[str, float] = {}
    looked = 0
    for run in sizes.session.tree.runs_upwards(at):
        reply = sizes.kinds.rfind(Kind.ASSISTANT, run.start, run.stop)
        while reply >= 0 and looked < _RATES_FROM and len(found) < len(_RATE_KEYS):
            body = sizes.body(reply)
            looked += 1
            if model_of(body) == model:
                for key, rate in _rates_in(message_in(body)):
                    found.setdefault(key, rate)
            reply = sizes.kinds.rfind(Kind.ASSISTANT, run.start, reply)
        if looked == _RATES_FROM or len(found) == len(_RATE_KEYS):
            break
    return Rates(*(found.get(key) for key in _RATE_KEYS)) if found else None


def rates_at(session: Session, index: EntryIndex) -> Rates | None:
    """Rates of the model at an entry, from its replies; None if none records a cost."""
    sizes = Basis.of(session).sizes
    return _rates(sizes, index, sizes.outline(index).model)


def price_of_move(
    session: Session,
    target: int,
    *,
    metrics: EntryMetrics | None = None,
    now: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Price:
    """The price of moving the leaf to an entry; -1 is before everything.

    `metrics` are filled as far as the price needs them; without any, they are made for this price alone. With `now`, in
    milliseconds, nothing counts as cached if the last request is more than an hour old. Raises Cancelled once `stop` turns true.
    """
    tree = session.tree
    sizes = Sizes(session, EntryMetrics(session) if metrics is None else metrics, stop)
    place, goal = session.place, tree.content_at(target)
    shared = tree.common_ancestor(place, goal)
    ancestor = tree.content_at(shared)
    left = entries_below(session, ancestor, place, sizes.check)
    entered = entries_below(session, ancestor, goal, sizes.check)
    here, there = sizes.outline(place), sizes.outline(goal)
    basis = Basis(sizes)
    before, after = basis.count(here, place), basis.count(there, goal)
    sent = max(0, after.sent)
    shared_size = min(sent, basis.shared(here, there, goal))
    asked = _asked_at(sizes, place) if shared_size and now is not None else None
    expired = asked is not None and now is not None and now - asked > _CACHED_FOR
    cached = 0 if expired else shared_size
    model = there.model or here.model
    known = _rates(sizes, goal, model) or _rates(sizes, place, model)
    gone, come = _is_beside(here.compaction, goal, tree), _is_beside(there.compaction, place, tree)
    # Metadata that both paths have below the ancestor is neither dropped nor added.
    both = len(session.columns.without_notes(entries_below(session, ancestor, shared)))
    parts = _part(sizes, left, both, in_context=not gone), _part(sizes, entered, both, in_context=not come)
    return Price(
        goal,
        session.columns.id_at(ancestor),
        *parts,
        before,
        after,
        cached,
        expired,
        _cost(sent - cached, known.resend() if known is not None else None),
        _cost(cached, known.cache_read if known is not None else None),
        *_files(sizes, ancestor, left, entered),
        tuple(_surprises(basis, place, goal, here, there, left)),
    )


def _asked_at(sizes: Sizes, place: EntryIndex) -> int | None:
    """Time of the last reply on the path to an entry, in milliseconds; None if there is none, or if it has no time."""
    for run in sizes.session.tree.runs_upwards(place):
        reply = sizes.kinds.rfind(Kind.ASSISTANT, run.start, run.stop)
        if reply >= 0:
            body = sizes.body(reply)
            return milliseconds(message_in(body).get("timestamp")) or parse_time(body.get("timestamp"))
    return None


def _cost(tokens: int, rate: float | None) -> float | None:
    return tokens * rate if rate is not None else None


def _is_beside(compaction: EntryIndex, entry: EntryIndex, tree: SessionTree) -> bool:
    """Whether there is a compaction that is not on the path to an entry."""
    return compaction >= 0 and not tree.is_ancestor(compaction, entry)


def _in_steps(sizes: Sizes, entries: array[int]) -> Iterator[tuple[array[int], bytes]]:
    """Entries in chunks, each with the kinds of its entries."""
    kind_of = sizes.kinds.__getitem__
    for start in range(0, len(entries), _AT_ONCE):
        sizes.check()
        some = entries[start : start + _AT_ONCE]
        yield some, bytes(map(kind_of, some))


def _part(sizes: Sizes, entries: array[int], both: int, *, in_context: bool) -> PriceSide:
    spoken = array("i")
    for some, kinds in _in_steps(sizes, entries):
        spoken.extend(compress(some, kinds.translate(_SPEAKS)))
    number = len(sizes.session.columns.without_notes(entries))
    return PriceSide(number - both, sizes.tokens(spoken), in_context)


def _reply_of(session: Session, index: int) -> EntryIndex:
    """The entry that the results at `index` answer: a reply, or another entry in its place; -1 if there is none."""
    parent, kinds = session.columns.parent, session.columns.kind
    while index >= 0 and kinds[index] in _ANSWERS:
        index = parent[index]
    return EntryIndex(index)


def _files(
    sizes: Sizes, ancestor: EntryIndex, left: array[int], entered: array[int]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Files that leave the working set, that enter it, and that are in both with different modifications."""
    session, kinds, flags = sizes.session, sizes.kinds, sizes.metrics.flags
    # A reply at the fork belongs to both sides: its calls may have failed on only one of them.
    fork = _reply_of(session, ancestor)
    if fork >= 0 and kinds[fork] == Kind.ASSISTANT:
        fork = EntryIndex(session.columns.parent[fork])
    shared = entries_below(session, NO_ENTRY, fork, sizes.check)
    middle = entries_below(session, fork, ancestor)

    def naming(entries: Iterable[int]) -> Iterator[int]:
        return (index for index in entries if not flags[index] or flags[index] & FILES)

    mine = touched(session, naming(middle + left), sizes.metrics.table, sizes.stop)
    theirs = touched(session, naming(middle + entered), sizes.metrics.table, sizes.stop)
    both = touched(session, naming(shared), sizes.metrics.table, sizes.stop) if mine or theirs else {}
    sizes.check()
    of_place, of_target = both.keys() | mine.keys(), both.keys() | theirs.keys()
    changed = {
        path
        for path in of_place & of_target
        if (mine[path].modified if path in mine else []) != (theirs[path].modified if path in theirs else [])
    }

    def ordered(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(paths, key=utf16_order))

    return ordered(of_place - of_target), ordered(of_target - of_place), ordered(changed)


def _surprises(
    basis: Basis, place: EntryIndex, goal: EntryIndex, here: Outline, there: Outline, left: array[int]
) -> Iterator[tuple[str, str]]:
    sizes = basis.sizes
    session, tree = sizes.session, sizes.session.tree
    if place == goal:
        return
    yield from _other_compactions(basis, place, goal, here, there, left)
    lost = [target for target, edit in here.edits.items() if there.edits.get(target) != edit]
    lost = [target for target in lost if tree.is_ancestor(target, goal)]
    if lost:
        yield (
            "edits",
            f"{counted(len(lost), 'context edit')} {'is' if len(lost) == 1 else 'are'} lost here; the original text returns",
        )
    if goal < 0:
        rest = (
            "only what was said before this file begins"
            if begins_midway(session, place)
            else "no conversation"
        )
        yield "empty", f"before the first entry: the model sees {rest}"
    elif session.columns.kind[goal] == Kind.USER:
        yield "two-prompts", "your next prompt would follow this one, with no reply between"
    missing = _unanswered(sizes, goal)
    if missing:
        names = safe_line(", ".join(sorted(set(missing))), 60)
        yield (
            "dangling-calls",
            f"{counted(len(missing), 'call')} of the reply here {'has' if len(missing) == 1 else 'have'} no result: {names}",
        )
    if here.model is not None and there.model is not None and here.model != there.model:
        named = safe_line(there.model[-1], 60)
        yield "model", f"nothing is cached for the model here, {named}"


def _other_compactions(
    basis: Basis, place: EntryIndex, goal: EntryIndex, here: Outline, there: Outline, left: array[int]
) -> Iterator[tuple[str, str]]:
    """The surprise of another compaction, or none, that is in force at the goal."""
    tree = basis.sizes.session.tree
    gone, come = _is_beside(here.compaction, goal, tree), _is_beside(there.compaction, place, tree)
    if gone and come:
        mine, theirs = _sizes(basis, here.compaction), _sizes(basis, there.compaction)
        yield "other-compaction", f"another compaction applies here: {theirs} instead of {mine}"
    elif gone:
        below = tree.is_ancestor(goal, here.compaction)
        number = sum(kinds.count(Kind.COMPACTION) for _, kinds in _in_steps(basis.sizes, left))
        if number > 1:
            # The sizes of one compaction would be read as those of all.
            lies = f"before the last {number}" if there.compaction >= 0 else f"before {number}"
            lies = f"{lies} compactions" if below else f"{number} compactions are not on this path"
        else:
            sizes_of = _sizes(basis, here.compaction)
            lies = (
                f"before the compaction {sizes_of}" if below else f"compaction {sizes_of} is not on this path"
            )
        # The context there may be smaller than the one here: only the text up to there comes back.
        since = "since the earlier compaction" if there.compaction >= 0 else "up to here"
        yield "above-compaction", f"{lies}: text {since} comes back in full"
    elif come:
        yield (
            "into-compaction",
            f"compaction {_sizes(basis, there.compaction)} applies here: the model sees its summary, not the full history",
        )


def _sizes(basis: Basis, compaction: EntryIndex) -> str:
    before, after = basis.change(compaction)
    return f"{_short(before)} → {_short(after)}" if before.total else f"to {_short(after)}"


def _unanswered(sizes: Sizes, goal: EntryIndex) -> list[str]:
    """Names of the tools called by the reply at the end of a path whose calls have no result on it."""
    session, kinds = sizes.session, sizes.kinds
    reply = _reply_of(session, goal)
    if reply < 0 or kinds[reply] != Kind.ASSISTANT:
        return []
    message = message_in(sizes.body(reply))
    if not did_run(message):
        return []
    results = (index for index in entries_below(session, reply, goal) if kinds[index] == Kind.TOOL_RESULT)
    answered = {str(message_in(sizes.body(index)).get("toolCallId")) for index in results}
    return [call.name for call in tool_calls(message) if call.id not in answered]


def _short(count: Count) -> str:
    return f"{count.sign}{short(count.total)}"
