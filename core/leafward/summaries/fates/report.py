"""The survival report: the fate of each fact in a replaced span, and statements of the summary without a source."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

from leafward.base.cancellation import never, unless_cancelled
from leafward.context.projection import begins_midway
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import message_text
from leafward.summaries.facts.sentences.responses import takes_back
from leafward.summaries.facts.user_words import user_words
from leafward.summaries.facts.values import ANSWERED, Fact, FactKind, Reach, Sighting, Voice, gather
from leafward.summaries.fates.earlier_statements import statements, unfinished
from leafward.summaries.summarizers.outline import unframed
from leafward.summaries.survival.bare_counts import bare_counts
from leafward.summaries.survival.kept_state import kept_state
from leafward.summaries.survival.span_reading import SpanReading, read_span
from leafward.summaries.survival.spans import SpanMessage, replaced_by
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.facts.known_texts import Known


class Status(StrEnum):
    """The fate of a fact."""

    VERBATIM = "verbatim"
    """The summary has it word for word."""
    PARAPHRASED = "paraphrased"
    """The summary has it in other words, or shortened."""
    INJECTED = "injected"
    """The injected context beside the summary has it."""
    KEPT = "kept"
    """The kept messages have it."""
    LOST = "lost"
    CONTRADICTED = "contradicted"
    """The summary contradicts it."""
    INVENTED = "invented"
    """The summary has it and nothing before it does."""


SURVIVED = frozenset({Status.VERBATIM, Status.PARAPHRASED, Status.INJECTED, Status.KEPT})


@dataclass(frozen=True, slots=True)
class Fate:
    """A fact and its fate."""

    fact: Fact
    status: Status


@dataclass(frozen=True, slots=True)
class Survival:
    """The fates of all facts of a span: by kind, the heaviest first."""

    fates: tuple[Fate, ...]
    unreadable: bool = False
    """Whether the summary is encrypted (Codex): a fact that counts as lost is only missing in the readable part."""
    partial: bool = False
    """Whether the file does not hold all that the summary was made from: nothing counts as invented."""

    @property
    def lost(self) -> int:
        """The number of facts that are certainly gone."""
        return 0 if self.unreadable else sum(fate.status is Status.LOST for fate in self.fates)

    def score(self) -> dict[FactKind, float]:
        """The share of surviving facts by kind, 0…1, by weight; kinds without facts are left out."""
        return {
            kind: share
            for kind in FactKind
            if (share := self._share([fate for fate in self.fates if fate.fact.kind is kind])) is not None
        }

    def overall(self) -> float | None:
        """The share of surviving facts of all kinds, 0…1, by weight; None where there were no facts."""
        return self._share(self.fates)

    def counts(self) -> dict[FactKind, dict[Status, int]]:
        """Facts by kind and status; only those that occur."""
        found: dict[FactKind, dict[Status, int]] = {}
        for fate in self.fates:
            row = found.setdefault(fate.fact.kind, {})
            row[fate.status] = row.get(fate.status, 0) + 1
        return found

    def alive(self) -> tuple[int, int]:
        """How many facts survived, of how many that were there."""
        there = [fate for fate in self.fates if fate.status is not Status.INVENTED]
        return sum(fate.status in SURVIVED for fate in there), len(there)

    @staticmethod
    def _share(fates: Iterable[Fate]) -> float | None:
        there = [fate for fate in fates if fate.status is not Status.INVENTED]
        whole = sum(fate.fact.weight for fate in there)
        if not whole:
            return None
        return round(sum(fate.fact.weight for fate in there if fate.status in SURVIVED) / whole, 4)


_ORDER = {kind: place for place, kind in enumerate(FactKind)}
CHECKED = frozenset({FactKind.PATH, FactKind.COMMAND, FactKind.NUMBER, FactKind.IDENTIFIER, FactKind.URL})
"""Kinds for which a missing source can be proved."""
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d[\d,_]*(?:\.\d+)?")
_ASCII_DIGITS = re.compile(_DIGITS.pattern, re.ASCII)
"""`_DIGITS` for a text of ASCII, four times as fast."""


def facts_of(
    messages: Iterable[SpanMessage],
    cwd: str,
    previous: str = "",
    previous_entry: int = NO_ENTRY,
    known: Known | None = None,
    plan: Items = (),
    kept: Sequence[SpanMessage] = (),
) -> list[Fact]:
    """The facts of a span that a compaction can lose: todos only while open, rules only while they hold.

    `plan` is the agent's own list before the span, `kept` are the messages kept behind it; `known` is the cache of texts read
    already; see `FactReader`.
    """
    reading = reading_of(messages, cwd, previous, previous_entry, known, plan)
    facts = facts_read(reading, cwd)
    return kept_state(reading, facts, kept, cwd).left(facts)


def reading_of(
    messages: Iterable[SpanMessage],
    cwd: str,
    previous: str,
    previous_entry: int,
    known: Known | None = None,
    plan: Items = (),
) -> SpanReading:
    """A span read for its facts: of the summary before it also what that lists as bare lines."""
    before = EntryIndex(previous_entry)
    return read_span(messages, cwd, previous, before, known, plan, statements(previous, before))


def facts_read(reading: SpanReading, cwd: str) -> list[Fact]:
    """The facts of a span that was read, whatever was kept behind it: see `facts_of`.

    A demand that binds no more than an answered request has that as its outcome.
    """
    sightings: list[Sighting] = []
    turn = 0
    for (_, body), found in zip(reading.messages, reading.found, strict=True):
        if (said := user_words(body)) is not None:
            if takes_back(said.strip()):
                # A revoked rule binds nobody.
                sightings[turn:] = [seen for seen in sightings[turn:] if seen.kind is not FactKind.CONSTRAINT]
            turn = len(sightings)
        sightings += found
    told = unfinished(reading.told, reading.messages, reading.reader, cwd)
    before = reading.before
    if reading.reader.plan.is_worked_through:
        # Steps of an earlier summary were part of the plan, or given up for it.
        before = [seen for seen in before if seen.kind is not FactKind.TODO]
    facts = [fact for fact in gather([*before, *told, *sightings]) if fact.is_open]
    for fact in facts:
        if fact.kind is FactKind.CONSTRAINT and fact.voice is Voice.USER:
            binds = reading.reader.requests.reach_of(fact) in (Reach.LASTING, Reach.OPEN)
            fact.outcome = "" if binds else ANSWERED
    return facts


def survival(
    facts: Sequence[Fact],
    summary: str,
    *,
    injected: str = "",
    kept: str = "",
    sources: Iterable[str] = (),
    cwd: str = "",
    compaction: int = NO_ENTRY,
    stop: Callable[[], bool] = never,
) -> Survival:
    """The fates of a span's facts, given the texts that replace it.

    `sources` are all texts that the summary could have been made from, read as far as needed; without any, nothing counts as
    invented. Invented facts have `compaction` as their entry. Raises Cancelled where `stop` turns true.
    """
    names = file_names(facts)
    retold, beside, tail = FactText.of(summary, cwd), FactText.of(injected, cwd), FactText.of(kept, cwd)
    known = {(fact.kind, fact.key) for fact in facts}
    fates = [
        Fate(fact, _status(fact, retold, beside, tail, names, known))
        for fact in unless_cancelled(facts, stop, "report")
    ]
    if sources:
        fates += [Fate(fact, Status.INVENTED) for fact in _invented(retold, sources, known, compaction, stop)]
    fates.sort(key=lambda fate: (_ORDER[fate.fact.kind], -fate.fact.weight, fate.fact.entry, fate.fact.key))
    return Survival(tuple(fates))


_HELD = frozenset({FactMatch.VERBATIM, FactMatch.PARAPHRASED})


def _status(
    fact: Fact,
    retold: FactText,
    beside: FactText,
    tail: FactText,
    names: dict[str, int],
    known: set[tuple[FactKind, str]],
) -> Status:
    held = retold.holds(fact, names)
    if held is FactMatch.VERBATIM:
        return Status.VERBATIM
    if held is FactMatch.PARAPHRASED:
        return Status.PARAPHRASED
    # A different count that the span itself has as well is an earlier or a later state of the same thing.
    if held is FactMatch.CONTRADICTED and not any(
        (FactKind.NUMBER, key) in known for key in retold.rivals(fact)
    ):
        return Status.CONTRADICTED
    # Kept messages are not a paraphrase: a name in other letters is another name there.
    there = {FactMatch.VERBATIM} if fact.kind is FactKind.IDENTIFIER else _HELD
    for text, status in ((beside, Status.INJECTED), (tail, Status.KEPT)):
        match = text.holds(fact, names) if text.text else FactMatch.ABSENT
        by_chance = (
            match is FactMatch.PARAPHRASED and fact.kind is FactKind.TODO and not text.tells_step(fact)
        )
        if match in there and not by_chance:
            return status
    # A step that the kept messages show as done is not lost: the model sees that it was done.
    if fact.kind is FactKind.TODO and tail.text and tail.holds(fact, names) is FactMatch.CONTRADICTED:
        return Status.KEPT
    return Status.LOST


def _invented(
    retold: FactText,
    sources: Iterable[str],
    known: set[tuple[FactKind, str]],
    compaction: int,
    stop: Callable[[], bool],
) -> list[Fact]:
    """Statements of the summary by their form without a source before it. Counts of occurrences are the summary's own."""
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
    # Piece by piece: on the whole text, each of these calls would hold the interpreter for a tenth of a second.
    for piece in unless_cancelled(_pieces(sources), stop, "report"):
        folded = piece.casefold()
        parts.append(folded)
        if any(fact.kind is FactKind.NUMBER for fact in missing):
            written = set((_ASCII_DIGITS if folded.isascii() else _DIGITS).findall(folded))
            amounts.update(amount.replace(",", "").replace("_", "") for amount in written)
        missing = [fact for fact in missing if not _supported(fact, folded, amounts)]
        if not missing:
            return []
    # A fact that no single piece holds may span several.
    folded = "".join(parts)
    found = []
    for fact in unless_cancelled(missing, stop, "report"):
        if not _supported(fact, folded, amounts):
            fact.entry = EntryIndex(compaction)
            fact.entries[:] = [fact.entry]
            found.append(fact)
    return found


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Texts, one below the other, in pieces of some tens of thousands of characters, cut after line breaks."""
    rest = ""
    for text in texts:
        rest += f"{text}\n"
        start = 0
        while len(rest) - start > _PIECE:
            stop = rest.index("\n", start + _PIECE) + 1
            yield rest[start:stop]
            start = stop
        rest = rest[start:]
    yield rest


_PIECE = 1 << 15
"""The least characters of a piece."""


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
            # A name in the plural is supported by its singular.
            key = fact.key.casefold().removesuffix("s")
            if key.startswith("#"):
                # An issue or a pull request, which an address or a call names by its number alone.
                return _stands(key[1:], folded)
            # `WP14-WP20` is a range of names that occur one by one.
            return key in folded or ("-" in key and all(_stands(part, folded) for part in _WORD.findall(key)))


def _stands(word: str, text: str) -> bool:
    """Whether a word occurs in a text by itself."""
    at = text.find(word)
    while at >= 0:
        if not text[at - 1 : at].isalnum() and not text[at + len(word) : at + len(word) + 1].isalnum():
            return True
        at = text.find(word, at + 1)
    return False


def survival_of(session: Session, compaction: int, stop: Callable[[], bool] = never) -> Survival:
    """The survival report of a compaction in the session.

    Raises Refused where the entry is not one, Cancelled where `stop` turns true.
    """
    there = replaced_by(session, compaction)
    facts = facts_of(
        unless_cancelled(there.messages, stop, "report"),
        session.cwd,
        there.previous,
        there.previous_entry,
        plan=there.plan,
        kept=there.kept,
    )
    kept = "\n".join(message_text(message.message) for message in there.kept)
    sources = (message_text(message.message) for message in there.messages)
    partial = there.previous_entry < 0 and begins_midway(session, compaction)
    beside = [there.previous, kept, there.injected, session.cwd, "."]
    found = survival(
        facts,
        unframed(there.summary),
        injected=there.injected,
        kept=kept,
        sources=() if partial else chain(sources, beside),
        cwd=session.cwd,
        compaction=compaction,
        stop=stop,
    )
    return replace(found, unreadable=is_encrypted(session, compaction), partial=partial)


def is_encrypted(session: Session, compaction: int) -> bool:
    """Whether the summary of a compaction is encrypted (Codex), so that its content is unknown."""
    return (session.body(EntryIndex(compaction)) or {}).get("encrypted") is True
