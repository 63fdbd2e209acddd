"""Objections to work and answers: requests that the user takes back, answers that the user or the model calls wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of
from leafward.summaries.facts.calls.outcomes import files_changed
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.responses import denies, refutes, takes_back, undid
from leafward.summaries.facts.sentences.subjects import Subjects
from leafward.summaries.summarizers.extractive.candidates import Evidence, add
from leafward.summaries.summarizers.extractive.state.belied_answers import claims_success
from leafward.summaries.summarizers.outline import SummarySection, harmless, named_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_ONCE_MORE = late(
    r"(?i)\b(?:again|anew|once more|try|retry|redo|start over|another (?:go|attempt)|noch ?mal|nochmals|erneut|neu|encore|refais|recommence|réessaie|otra vez|de nuevo|vuelve)\b|重新|再|もう一度|やり直"
)
"""Words that ask for the same work again."""
_NO_CAUSE = late(
    r"(?i)(?:^|[,;:] )(?:(?:so|then|but|thus|hence|also|therefore),? )*(?:the |a |an |that |this )?([^.,;:!?\n]{2,80}?) (?:is|was|are|were|has been)(?: not|n['’]t) (?:actually |really |after all )?"
    r"(?:the |a |its |to )?(?:real |actual |root )?(?:cause|culprit|problem|reason|issue|bug|it|blame)\b"
    r"|(?:^|[,;:] )(?:also )?(?:der|die|das) ([^.,;:!?\n]{2,80}?) (?:ist|war|sind|waren) (?:also |doch |es )?nicht (?:die ursache|der grund|das problem|schuld|es)\b"
    r"|(?:^|[,;:] )(?:donc )?(?:le |la |les |l['’])([^.,;:!?\n]{2,80}?) n['’](?:est|était|étaient|sont) pas (?:la cause|le problème|la raison)\b"
)
"""An explanation that is given up, by what is not the cause."""
_DENYING = (" not ", "n't ", "n’t ", "cht ", " pas ")
"""Of these each such explanation holds one, without regard to case. None has an i, of which `casefold` keeps some apart."""
_CAUSE = late(
    r"(?i)\b(?:cause[sd]?|culprit|reason|because|due to|to blame|comes from|(?:the )?problem is|ursache|grund|liegt an|weil|cause|raison|à cause|porque|causa)\b|原因|因为"
)
"""Words of a sentence that explains something."""
CLAIMS = frozenset({SummarySection.DECISIONS, SummarySection.CONTEXT, SummarySection.NEXT})
"""Sections whose lines are claims of the model."""
_GUARDED = frozenset({SummarySection.CONSTRAINTS, SummarySection.NEXT})
_LEAD = r"(?i)^\W*(?:(?:ah|oh|ok(?:ay)?|hm+|sorry|yes|no|wait|nein|ja|non|oui|s[ií])[\s,.!–—-]+)*"
_ADMITS = late(
    _LEAD
    + r"(?:i(?:['’]m| am) not (?:\w+ )?(?:sure|certain)\b|i (?:was|am) (?:wrong|mistaken)\b|i (?:misread|misunderstood|misspoke)\b"
    r"|my (?:mistake|bad|error)\b|i (?:just )?(?:assumed|guessed)\b|ich (?:bin mir nicht sicher|lag falsch|habe mich geirrt)\b|mein fehler\b"
    r"|je (?:ne suis pas s[ûu]r|me suis tromp[ée])|mon erreur\b|no estoy segur[oa]\b|me equivoqu[ée]|mi error\b)"
    r"|^\W*(?:是我(?:错|弄错|搞错)|我(?:不确定|错了|搞错了)|私の(?:間違い|ミス))"
)
"""A reply that takes back what the model claimed before."""


def taken_back(turns: Sequence[Turn]) -> dict[int, int]:
    """The number of the prompt that takes a turn back, by the number of that turn."""
    return {number - 1: number for number, turn in enumerate(turns) if number and takes_back(turn.text)}


def take_back(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], cwd: str) -> None:
    """Leaves out the work that the user took back, and adds a line about that; the last of the turns may follow the messages."""
    taken = taken_back(turns)
    for number, by in taken.items():
        turn, words = turns[number], turns[by]
        entries = {entry for entry, _ in messages[turn.first : words.first]}
        evidence.candidates = [
            candidate
            for candidate in evidence.candidates
            if candidate.first
            or not candidate.sources
            or not entries.issuperset(candidate.sources)
            # What the kept messages take back they show themselves; the gate asks for rules and steps of the span.
            or (words.entry not in evidence.position and candidate.section in _GUARDED)
        ]
        text = f"{harmless(turn.text, 100)} ({harmless(words.text, 160)})"
        lead = "Taken back: "
        if undid(words.text):
            lead = "Undone by the user: "
            evidence.undo(range(turn.first, min(words.first, len(messages))), cwd)
            undone = messages[turn.first : words.first]
            changed = [path for _, done in undone for path in files_changed(done, evidence.failed_calls, cwd)]
            if changed:
                text = f"{named_files(list(dict.fromkeys(changed)))}, changed for: {text}"
                since = messages[words.first :]
                if _ONCE_MORE.search(words.own) and set(changed).issubset(
                    path for _, done in since for path in files_changed(done, evidence.failed_calls, cwd)
                ):
                    lead = "Done anew after the user undid it: "
        sources = (turn.entry, words.entry)[: 1 + (words.entry in evidence.position)]
        add(evidence, SummarySection.DECISIONS, text, sources, 1.0, lead=lead)


def refute(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Leaves out answers that the user called wrong, or the model itself once the user asked about them."""
    _give_up(evidence, messages, turns)
    _give_up_causes(evidence, turns)
    wrong: dict[EntryIndex, frozenset[str]] = {}
    spared: set[EntryIndex] = set()
    """Answers that the kept messages call wrong: the gate asks for the steps of the span."""
    for number, turn in enumerate(turns[1:]):
        before = turns[number]
        if before.answer and (
            refutes(turn.own) or (denies(turn.own) and not before.answer.rstrip("*_ )").endswith(("?", "？")))
        ):
            wrong[messages[before.last].entry] = frozenset(content_words(turn.own))
            if turn.entry not in evidence.position:
                spared.add(messages[before.last].entry)
    if wrong:
        evidence.candidates = [
            candidate
            for candidate in evidence.candidates
            if not candidate.sources
            or not wrong.keys() >= set(candidate.sources)
            or (candidate.section in _GUARDED and not spared.isdisjoint(candidate.sources))
            or not (
                (candidate.section in CLAIMS and not candidate.reports)
                # Other work stays.
                or (candidate.tells_work and wrong[candidate.sources[0]] & _words(candidate.text))
            )
        ]


def doubt(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Leaves out the success that a run belies."""
    belied = {(messages[turn.last].entry,) for turn in turns if turn.belied}
    evidence.candidates = [
        candidate
        for candidate in evidence.candidates
        if candidate.sources not in belied or candidate.asks or not claims_success(candidate.text)
    ]


def _give_up(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Leaves out the claims of an answer that the reply to the next request takes back."""
    given_up = {
        (messages[before.last].entry,)
        for before, turn in pairwise(turns)
        if before.answer and _ADMITS.match(_first_words(messages, turn))
    }
    if given_up:
        evidence.candidates = [
            candidate
            for candidate in evidence.candidates
            if candidate.section not in CLAIMS or candidate.sources not in given_up
        ]


def _give_up_causes(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Leaves out explanations that a later answer calls wrong: `the pool was not the cause`."""
    given_up: Subjects[int] = Subjects()
    for turn in turns:
        for found in _causes_in(turn.answer):
            given_up.add(_words(next(filter(None, found))), turn.last)
    if not given_up:
        return
    ended = {turn.entry: turn.last for turn in turns}
    left = []
    for candidate in evidence.candidates:
        came = candidate.came
        place = ended.get(candidate.sources[0], -1) if candidate.asks else evidence.place_of(candidate)
        over = _CAUSE.search(came) is not None and any(at > place for at in given_up.named_in(_words(came)))
        if over and candidate.asks:
            candidate.lose_outcome()
        if not over or candidate.asks or candidate.section not in CLAIMS | {SummarySection.DONE}:
            left.append(candidate)
    evidence.candidates = left


def _causes_in(answer: str) -> list[tuple[str, ...]]:
    """The matches of `_NO_CAUSE` in an answer."""
    folded = answer.casefold()
    return _NO_CAUSE.findall(answer) if any(map(folded.__contains__, _DENYING)) else []


def _first_words(messages: Sequence[SpanMessage], turn: Turn) -> str:
    """The first words of the model's after a request."""
    said = (
        text_of(message.get("content"))
        for _, message in messages[turn.first + 1 : turn.last + 1]
        if message.get("role") == "assistant"
    )
    return next((text for text in said if text.strip()), "")


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text))
