"""The likelihood that a fact is needed again, by which a summary spends its room.

The weights are fitted on real sessions cut at several places, by `python -m tests.bench.fit_ranking`: whether a fact that
the kept messages did not hold came back afterwards. They lie beside the code as data, with their date and the sessions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from leafward.base.cancellation import never, unless_cancelled
from leafward.summaries.facts.values import Fact, FactKind, Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.summaries.summarizers.extractive.candidates import Evidence, FileWork

FEATURES = (
    "always",
    *(f"said by {voice.name.lower()}" for voice in Voice),
    "how late",
    "at the end",
    "in the last turn",
    "for how long",
    "entries",
    "times",
    "length",
    "in the user's words",
    "in an open step",
    "in an error",
    "file changed",
    "file read",
    "file at hand",
    "option or hash",
    "several words",
    "elsewhere",
    "passed",
    "failed",
)
"""The features in the order of a fact's row; a row's numbers are between 0 and about 1."""
_END = 25
"""Messages over which the bonus for the end fades."""
_MANY = 5.0
"""Doublings at which a count is large."""
_LONG = 60
"""Characters of a long fact."""
_AT_HAND = 0.8
"""The part of the span after which a changed file is still worked on."""
_LIKELIEST = 0.95
_VOICES = {voice: tuple(1.0 if voice is other else 0.0 for other in Voice) for voice in Voice}
"""The features of each voice."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Fitted weights."""

    date: str
    sessions: tuple[str, ...]
    """The sessions that they were fitted on."""
    end_share: float
    """The part of the room reserved for the span's end where no message of it is kept; it also gets all remaining room."""
    weights: Mapping[FactKind, tuple[float, ...]]
    """One weight for each feature, by kind; a kind without weights is never needed by its form."""

    @classmethod
    def read(cls, text: str) -> Ranking:
        """The weights in JSON, as `tests.bench.fit_ranking` writes it; features without a weight count as 0."""
        stored = json.loads(text)
        weights = {
            FactKind(kind): tuple(float(stored_weights.get(name, 0.0)) for name in FEATURES)
            for kind, stored_weights in stored["weights"].items()
        }
        return cls(stored["date"], tuple(stored["sessions"]), float(stored["end share"]), weights)


@cache
def fitted() -> Ranking:
    """The weights of the package, read for the first summary."""
    return Ranking.read((files("leafward.data") / "ranking.json").read_text("utf-8"))


def features(
    evidence: Evidence, stop: Callable[[], bool] = never
) -> Iterator[tuple[Fact, tuple[float, ...]]]:
    """Each fact of a span with its row. Messages after the span are not read. Raises Cancelled."""
    rows = _Rows(evidence)
    for fact in unless_cancelled(evidence.facts.values(), stop):
        yield fact, rows.of(fact)


class _Rows:
    """The rows of a span's facts."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._owner: dict[str, FileWork] = {}
        """The file into which each name was written last."""
        for work in evidence.files.values():
            for name, written in work.names.items():
                other = self._owner.get(name)
                if other is None or other.names[name] <= written:
                    self._owner[name] = work
        self._constraints = _words(evidence, lambda fact: fact.kind is FactKind.CONSTRAINT)
        self._steps = _words(evidence, lambda fact: fact.kind is FactKind.TODO and fact.is_open)
        self._errors = _words(evidence, lambda fact: fact.kind is FactKind.ERROR)

    def of(self, fact: Fact) -> tuple[float, ...]:
        """The row of a fact."""
        evidence, key, total = self._evidence, fact.key, max(1, self._evidence.size)
        last = evidence.position.get(fact.last, -1) + 1
        first = evidence.position.get(fact.entries[0], -1) + 1 if fact.entries else last
        about = evidence.files.get(key) if fact.kind is FactKind.PATH else self._owner.get(key)
        changes = about.changes if about is not None else 0
        at_hand = about is not None and about.changes > 0 and about.last >= _AT_HAND * total
        bare = key.strip("`")
        return (
            1.0,
            *_VOICES[fact.voice],
            last / total,
            math.exp((last - total) / _END),
            1.0 if last > evidence.last_turn else 0.0,
            (last - first) / total,
            min(1.0, math.log2(max(1, len(fact.entries))) / _MANY),
            min(1.0, math.log2(max(1, fact.count)) / _MANY),
            min(1.0, len(key) / _LONG),
            1.0 if bare in self._constraints else 0.0,
            1.0 if bare in self._steps else 0.0,
            1.0 if bare in self._errors else 0.0,
            min(1.0, math.log2(1 + changes) / _MANY),
            min(1.0, math.log2(1 + about.reads + about.named) / _MANY) if about is not None else 0.0,
            1.0 if at_hand else 0.0,
            1.0 if bare.startswith("-") or not bare[:1].isalpha() else 0.0,
            1.0 if "_" in bare.strip("_") or not bare[1:].islower() else 0.0,
            1.0 if bare.startswith(("/", "~", "../")) else 0.0,
            1.0 if fact.outcome == "exit 0" else 0.0,
            1.0 if fact.outcome not in {"", "exit 0"} else 0.0,
        )


def _words(evidence: Evidence, chosen: Callable[[Fact], bool]) -> frozenset[str]:
    """The words of some facts, as they are written."""
    return frozenset(
        word.strip(".,;:()`'\"")
        for fact in evidence.facts.values()
        if chosen(fact)
        for word in fact.text.split()
    )


class Chances(Mapping[tuple[FactKind, str], float]):
    """The likelihood of each fact of a span to be needed, 0…1; 0 where the kept messages hold it.

    Each is worked out when it is first asked for: most facts stand on no line that a summary could have.
    """

    def __init__(self, evidence: Evidence, held: Callable[[Fact], bool], ranking: Ranking) -> None:
        """`held` says whether the kept messages hold a fact."""
        self._facts, self._rows = evidence.facts, _Rows(evidence)
        self._held, self._weights = held, ranking.weights
        self._known: dict[tuple[FactKind, str], float] = {}

    def __getitem__(self, identity: tuple[FactKind, str]) -> float:
        """The likelihood of a fact."""
        chance = self._known.get(identity)
        if chance is None:
            chance = self._known[identity] = self._of(self._facts[identity])
        return chance

    def __contains__(self, identity: object) -> bool:
        """Whether it is a fact of the span."""
        return identity in self._facts

    def __iter__(self) -> Iterator[tuple[FactKind, str]]:
        """The facts, as they were found."""
        return iter(self._facts)

    def __len__(self) -> int:
        """The number of facts."""
        return len(self._facts)

    def _of(self, fact: Fact) -> float:
        weights = self._weights.get(fact.kind)
        if weights is None or self._held(fact):
            return 0.0
        row = self._rows.of(fact)
        score = sum(weight * value for weight, value in zip(weights, row, strict=True) if value)
        return min(_LIKELIEST, 1 / (1 + math.exp(-max(-30.0, min(30.0, score)))))
