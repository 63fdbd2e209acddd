"""Demands on the one thing that a request is about: they are part of that request, and are over with it."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.demands import demands, is_general, is_work
from leafward.summaries.facts.sentences.prose import REMEMBERED
from leafward.summaries.facts.sentences.questions import without_fillers

_WISHES = late(
    r"\b(?:make|be) sure(?: that)?\b|\bensure\b"
    r"|\bshould (?!not\b|never\b|only\b|always\b)(?:\w+ )?(?:be|return|have|look|work|contain|show)\b"
    r"|\bneeds? to (?:be|have|contain|cover|work|hold|fit|run|pass|push)\b"
    r"|\b(?:want|wants|would like|i['’]d like) (?:it|them|all|every|the|to be)\b"
    r"|\b(?:instead of|rather than)\b|\bby default\b"
)
"""Words that ask for a property of something; other words of a demand say how to work, or what to leave alone."""
_GENERAL = late(
    # Of every one of a kind, or of a kind by its plural alone.
    r"^(?:(?:(?:make|be) sure|ensure|i want|we want)(?: that)? )?(?:all|every|each|any|no)\b"
    r"|^(?!(?:the|this|these|those|its|his|my|your|our|their|both|also)\b)(?:[a-z-]+ ){0,2}?[a-z-]+(?<!s)s should\b"
    r"|^you (?:should (?!be able\b)|need to )"
    r"|\b(?:make|be) sure\b.{0,24}?(?:\b(?:not|never|nothing|no)\b|n['’]t\b)"
    r"|\bbefore (?:we|you|i|any|every|each)\b|\bafter (?:any|every|each)\b|\b(?:every|each) time\b|\bwhenever\b|\b(?:in|for|of|at|to) every\b|\bevery single\b|\b100 ?%"
    r"|\b(?:than|under|over|below|above|within|up to) \d|(?<!\bbe )\b(?:use|using|prefer|avoid)\b"
)
"""A demand on more than the thing at hand, on how to work, or on a measure."""
_ORDERS_ONLY = late(
    # A file that is named is one of the thing at hand.
    r"^(?:please )?use\s+(?:the\s+)?[\"'`]?[\w./-]{1,120}\.[a-z]{1,5}\b.{0,80}? (?:as|in|on|for) (?:the |a |an )?\w"
    r"|^(?:please )?(?!(?:use|do|ask|answer|respond|reply|speak|talk|write|comment|work)\b)[a-z-]+ only(?! (?:if|when|after|once|use|with|please)\b) \w|^(?:请)?把(?!.*(?:以后|永远|总是|今后|每次))"
)
"""An order with its extent: `run only the failing tests`."""


_WORK_ON_IT = late(
    r"[,;.]\s+(?:and |but |und |aber |et |mais |y |pero )?(?:it|they|this|that|es|er|sie|ils?|elles?|ça) (?:must|should|has to|have to|needs? to|muss|müssen|soll\w*|darf|dürfen|(?:ne )?doi(?:t|vent))\b"
)
"""A demand on the outcome of the work that its sentence asks for."""
_PIECE = late(
    r"^(?:because|so that|which|whose|including|e\.g\.|i\.e\.|weil|damit|parce que|pour que|porque|para que)\b"
)
"""The beginning of a clause without its sentence."""
_EXTENT = late(
    r"^(?:only|just|without|except|instead of|nur|ohne|seulement|sans|sólo|solo|sin|只)\b(?! (?:use|do|edit|change|touch|ask|commit|push|run|write|add|if|when|after)\b)"
)
"""The beginning of an item that says how far the work goes which its list is about."""


@lru_cache(maxsize=REMEMBERED)
def is_wish(demand: str, *, amid: bool = False) -> bool:
    """Whether a demand only says how the thing is to be that was asked for, or how far an order goes: `the title should be below it`.

    `amid`: it is an item of a list.
    """
    words = without_fillers(demand.lower())
    if is_work(words) and _WORK_ON_IT.search(words) is not None:
        return True
    if _ORDERS_ONLY.match(words) is not None or _PIECE.match(demand.lower()) is not None:
        return True
    if amid and _EXTENT.match(words) is not None and not is_general(demand):
        return True
    rest = _WISHES.sub(" ", words)
    return len(rest) < len(words) and _GENERAL.search(words) is None and not demands(rest)
