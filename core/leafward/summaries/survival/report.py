"""The survival report: what became of each fact of a replaced span, and what the summary says that nobody said."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from leafward.base.errors import Cancelled
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import as_typed, message_text
from leafward.summaries.earlier_statements import statements, unfinished
from leafward.summaries.facts import Fact, FactKind, FactReader, Known, Sighting, gather
from leafward.summaries.facts.demands import takes_back
from leafward.summaries.survival.bare_counts import bare_counts
from leafward.summaries.survival.spans import SpanMessage, replaced_by
from leafward.summaries.survival.text_match import FactMatch, Text, file_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.session.session import Session
    from leafward.summaries.facts.agent_plan import Items

_Item = TypeVar("_Item")


class Status(StrEnum):
    """What became of a fact."""

    VERBATIM = "verbatim"
    """The summary has it word for word."""
    PARAPHRASED = "paraphrased"
    """The summary has it in other words, or shortened."""
    INJECTED = "injected"
    """The context that is injected beside the summary has it."""
    KEPT = "kept"
    """The messages that stay have it."""
    LOST = "lost"
    CONTRADICTED = "contradicted"
    """The summary says otherwise."""
    INVENTED = "invented"
    """The summary says it and nothing before it does."""


SURVIVED = frozenset({Status.VERBATIM, Status.PARAPHRASED, Status.INJECTED, Status.KEPT})


@dataclass(frozen=True, slots=True)
class Fate:
    """A fact and what became of it."""

    fact: Fact
    status: Status


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of all facts of a span: by kind, those that weigh most first."""

    fates: tuple[Fate, ...]
    unreadable: bool = False
    """Whether the summary is encrypted (Codex): what is called lost is not in what can be read, and may stand in it."""

    @property
    def lost(self) -> int:
        """How many facts are gone for certain."""
        return 0 if self.unreadable else sum(fate.status is Status.LOST for fate in self.fates)

    def score(self) -> dict[FactKind, float]:
        """By kind the part of the facts that survived, 0…1, by weight; kinds of which there were none are left out."""
        return {
            kind: share
            for kind in FactKind
            if (share := self._share([fate for fate in self.fates if fate.fact.kind is kind])) is not None
        }

    def overall(self) -> float | None:
        """The same over all kinds; None where there were no facts."""
        return self._share(self.fates)

    def counts(self) -> dict[FactKind, dict[Status, int]]:
        """Facts by kind and status; only what occurs."""
        found: dict[FactKind, dict[Status, int]] = {}
        for fate in self.fates:
            row = found.setdefault(fate.fact.kind, {})
            row[fate.status] = row.get(fate.status, 0) + 1
        return found

    @staticmethod
    def _share(fates: Iterable[Fate]) -> float | None:
        there = [fate for fate in fates if fate.status is not Status.INVENTED]
        whole = sum(fate.fact.weight for fate in there)
        if not whole:
            return None
        return round(sum(fate.fact.weight for fate in there if fate.status in SURVIVED) / whole, 4)


_ORDER = {kind: place for place, kind in enumerate(FactKind)}
CHECKED = frozenset({FactKind.PATH, FactKind.COMMAND, FactKind.NUMBER, FactKind.IDENTIFIER, FactKind.URL})
"""Kinds of which it can be told that nobody said them before."""
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d[\d,_]*(?:\.\d+)?")
_ASCII_DIGITS = re.compile(_DIGITS.pattern, re.ASCII)
"""The same in a text of ASCII, four times as fast."""


def facts_of(
    messages: Iterable[SpanMessage],
    cwd: str,
    previous: str = "",
    previous_entry: int = NO_ENTRY,
    known: Known | None = None,
    plan: Items = (),
) -> list[Fact]:
    """The facts of a span that a compaction can lose: todos only while they are open, rules only while they hold.

    `plan` is the agent's own list before it; `known` holds what was read of texts already; see `FactReader`.
    """
    reader = FactReader(cwd, known)
    before = reader.earlier(previous, EntryIndex(previous_entry), plan)
    told = statements(previous, EntryIndex(previous_entry))
    reader.told.tell(told)
    spoken = list(messages)
    sightings: list[Sighting] = []
    turn = 0
    for entry, body in spoken:
        message = as_typed(body)
        if message.get("role") == "user":
            if takes_back(message_text(message).strip()):
                # A rule that was taken back binds nobody.
                sightings[turn:] = [seen for seen in sightings[turn:] if seen.kind is not FactKind.CONSTRAINT]
            turn = len(sightings)
        sightings += reader.read(entry, message)
    told = unfinished(told, spoken, reader, cwd)
    return [fact for fact in gather([*before, *told, *sightings]) if fact.is_open]


def survival(
    facts: Sequence[Fact],
    summary: str,
    *,
    injected: str = "",
    kept: str = "",
    sources: str = "",
    cwd: str = "",
    compaction: int = NO_ENTRY,
    stop: Callable[[], bool] = lambda: False,
) -> Survival:
    """What became of the facts of a span, given the texts that stand in its place.

    `sources` is everything the summary could have been made from; empty, nothing is called invented. What is invented has
    `compaction` as its entry. Raises Cancelled where `stop` turns true.
    """
    names = file_names(facts)
    retold, beside, tail = Text(summary, cwd), Text(injected, cwd), Text.of(kept, cwd)
    known = {(fact.kind, fact.key) for fact in facts}
    fates = [Fate(fact, _status(fact, retold, beside, tail, names, known)) for fact in _until(facts, stop)]
    if sources:
        fates += [Fate(fact, Status.INVENTED) for fact in _invented(retold, sources, known, compaction, stop)]
    fates.sort(key=lambda fate: (_ORDER[fate.fact.kind], -fate.fact.weight, fate.fact.entry, fate.fact.key))
    return Survival(tuple(fates))


_HELD = frozenset({FactMatch.VERBATIM, FactMatch.PARAPHRASED})


def _status(
    fact: Fact,
    retold: Text,
    beside: Text,
    tail: Text,
    names: dict[str, int],
    known: set[tuple[FactKind, str]],
) -> Status:
    held = retold.holds(fact, names)
    if held is FactMatch.VERBATIM:
        return Status.VERBATIM
    if held is FactMatch.PARAPHRASED:
        return Status.PARAPHRASED
    # Another count of the same that the span itself states as well is a later or an earlier one.
    if held is FactMatch.CONTRADICTED and not any(
        (FactKind.NUMBER, key) in known for key in retold.rivals(fact)
    ):
        return Status.CONTRADICTED
    # What is kept is no retelling: a name in other letters is another name there.
    there = {FactMatch.VERBATIM} if fact.kind is FactKind.IDENTIFIER else _HELD
    for text, status in ((beside, Status.INJECTED), (tail, Status.KEPT)):
        if text.text and text.holds(fact, names) in there:
            return status
    # Nor is a step that was done since: the model sees there that it was.
    if fact.kind is FactKind.TODO and tail.text and tail.holds(fact, names) is FactMatch.CONTRADICTED:
        return Status.KEPT
    return Status.LOST


def _invented(
    retold: Text,
    sources: str,
    known: set[tuple[FactKind, str]],
    compaction: int,
    stop: Callable[[], bool],
) -> list[Fact]:
    """What the summary states by form and nothing before it holds. Counts of occurrences are the summary's own."""
    amounts_named = {
        word for seen in retold.sightings if seen.kind is FactKind.NUMBER for word in seen.key.split()
    }
    others = [seen for seen in bare_counts(retold.text) if seen.key.partition(" ")[0] not in amounts_named]
    stated = [
        fact
        for fact in gather([*retold.sightings, *others])
        if fact.kind in CHECKED and (fact.kind, fact.key) not in known
    ]
    if not stated:
        return []
    amounts: set[str] = set()
    parts: list[str] = []
    missing = stated
    # Piece by piece: over all of it, each of these calls would hold the interpreter for a tenth of a second.
    for piece in _until(_pieces(sources), stop):
        folded = piece.casefold()
        parts.append(folded)
        if any(fact.kind is FactKind.NUMBER for fact in missing):
            written = set((_ASCII_DIGITS if folded.isascii() else _DIGITS).findall(folded))
            amounts.update(amount.replace(",", "").replace("_", "") for amount in written)
        missing = [fact for fact in missing if not _supported(fact, folded, amounts)]
        if not missing:
            return []
    # What no piece holds whole may stand in several.
    folded = "".join(parts)
    found = []
    for fact in _until(missing, stop):
        if not _supported(fact, folded, amounts):
            fact.entry = EntryIndex(compaction)
            fact.entries[:] = [fact.entry]
            found.append(fact)
    return found


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of some tens of thousands of characters, cut behind line breaks where there are any."""
    start = 0
    while start < len(text):
        stop = text.find("\n", start + _PIECE) + 1 or len(text)
        yield text[start:stop]
        start = stop


_PIECE = 1 << 15
"""Characters of a text that is read piece by piece, at least."""


def _supported(fact: Fact, folded: str, amounts: set[str]) -> bool:
    match fact.kind:
        case FactKind.PATH:
            return fact.key.strip("/").rsplit("/", 1)[-1].casefold() in folded
        case FactKind.COMMAND:
            return fact.key.casefold() in folded or all(
                _stands(word, folded) for word in _WORD.findall(fact.key.casefold())
            )
        case FactKind.NUMBER:
            if fact.key.endswith(" x"):
                return True
            digits = _DIGITS.findall(fact.text)
            amount = fact.key.partition(" ")[0]
            return amount in amounts or all(
                part.replace(",", "").replace("_", "") in amounts for part in digits
            )
        case _:
            # `SectionCards` are several of `SectionCard`.
            key = fact.key.casefold().removesuffix("s")
            # `WP14-WP20` is a range of what was named one by one.
            return key in folded or ("-" in key and all(_stands(part, folded) for part in _WORD.findall(key)))


def _stands(word: str, text: str) -> bool:
    """Whether a word stands in a text by itself."""
    at = text.find(word)
    while at >= 0:
        if not text[at - 1 : at].isalnum() and not text[at + len(word) : at + len(word) + 1].isalnum():
            return True
        at = text.find(word, at + 1)
    return False


def survival_of(session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Survival:
    """The survival report of a compaction that already happened.

    Raises Refused where the entry is none, Cancelled where `stop` turns true.
    """
    there = replaced_by(session, compaction)
    facts = facts_of(
        _until(there.messages, stop), session.cwd, there.previous, there.previous_entry, plan=there.plan
    )
    kept = "\n".join(message_text(message.message) for message in there.kept)
    sources = [message_text(message.message) for message in _until(there.messages, stop)]
    found = survival(
        facts,
        there.summary,
        injected=there.injected,
        kept=kept,
        sources="\n".join([*sources, there.previous, kept, there.injected, session.cwd, "."]),
        cwd=session.cwd,
        compaction=compaction,
        stop=stop,
    )
    return replace(found, unreadable=is_encrypted(session, compaction))


def is_encrypted(session: Session, compaction: int) -> bool:
    """Whether the summary of a compaction is encrypted (Codex), so that nobody can say what it holds."""
    return (session.body(EntryIndex(compaction)) or {}).get("encrypted") is True


def _until(items: Iterable[_Item], stop: Callable[[], bool]) -> Iterator[_Item]:
    for item in items:
        if stop():
            raise Cancelled("the report was cancelled")
        yield item
