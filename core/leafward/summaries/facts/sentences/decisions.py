"""Decisions with their reasons, and sentences that take one back."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.prose import REMEMBERED

# All patterns of words are in lower case, like the texts: matching without case would take twice as long.
_DECIDED = markers(
    r"\b(?:decided(?! ?/)|decision(?!-| (?:sentences?|reports?|logs?|records?|trees?|tables?|points?|engine|skill|making)\b)|we(?:'ll| will|’ll) (?:use|keep|go)|let'?s (?:use|keep|go with|stick)|going with|go with|chose|chosen|opt(?:ed|ing) (?:for|to)"
    r"|agreed|settled on|switch(?:ed|ing)? to|stick(?:ing)? with|entschieden|décidé|decidido)\b|决定|采用|改用|決めた|採用|결정(?![되된될됩돼])",
    "decided decision we let lets going go chose chosen opted opting agreed settled switch switched "
    "switching stick sticking entschieden decidido",
)
_OTHERS_WORDS = late(r"[\"“][^\"“”\n]{12,200}[\"”]")
_REASON = markers(
    r"\b(?:because|since|so that|so we|in order to|to avoid|due to|rather than|instead of|the reason|otherwise|weil|damit|parce que|porque|therefore"
    r"|which means)\b|因为|所以|以便|避免|から|ため|때문",
    "because since so order avoid due rather instead reason otherwise weil damit parce porque therefore means",
)
_BACK = late(
    r"(?i)\W*(?:(?:but|hm+|ok(?:ay)?|oh),? )?(?:wait ?[,.!:—–-]|no[,.]|on second thoughts?\b|scratch that\b|never ?mind\b|i keep going back and forth\b"
    r"|(?:let me|i should|i need to) (?:reconsider|rethink|step back|go back)\b|actually,? (?:no[,.]|wait ?[,.!:—–-]|let me (?:just )?(?:use|keep|follow|go|stick)\b"
    r"|(?:i|we)(?:['’]ll| will) (?:just )?(?:use|keep|follow|go|stick)\b))"
)
"""The beginning of a sentence that goes back on the choice before it."""
_SINCE_WHEN = late(
    r"\bsince\W*$|\bsince (?:then\b|(?:we|i|you|they|it) (?:last|first)\b|yesterday\b|v?\d|(?:the|its|our|that|last) (?:\w+ )?(?:commit|beginning|start|release|version|migration"
    r"|week|month|year|upgrade|update)\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b)"
    r"|\b(?:modified|changed|added|made|new|updated|happened) since\b"
    r"|\b(?:ha(?:s|ve|d)|i['’]ve|we['’]ve|it['’]s) (?:\w+ ){1,5}since\b"
)
"""A time in the word of a reason."""
_CHOICE = late(
    r"\b(?:use|uses|using|keep|keeps|kept|remove[sd]?|move[sd]?|rename[sd]?|replace[sd]?|split|extract(?:ed|s)?|make|made|put|store[sd]?|avoid(?:ed|s)?"
    r"|leave|left|skip(?:ped|s)?|drop(?:ped|s)?|add(?:ed|s)?|change[sd]?|return(?:s|ed)?|need(?:s|ed)?|should|must|fix(?:ed)?)\b|用|改|移|删|使"
)
_TAKEN = late(_CHOICE.pattern.replace("|uses", "").replace("|keeps", "").replace("(?:s|ed)", "(?:ed)"))
"""A word of a choice, without the forms that describe the behaviour of a thing."""
_OBSERVES = late(
    r"(?i)\W*(?:side note|observation|note|fyi|by the way|btw|nebenbei|übrigens|au passage|por cierto|附[帶带](?:[觀观]察|一提)?|順帶|顺带|顺便|備註|备注|补充|補充|なお|ちなみに)\W*[:：，,]"
    r"|\W*(?:(?:so|but|and|now|ok(?:ay)?|hm+),? )?(?:i(?:['’]ve)? (?:see|saw|found|hit|notice[d]?|got|ran into)\b|unless\b|because\b"
    r"|(?:the|this|one|another) (?:\w+ ){0,2}(?:issue|problem|bug|cause|reason|error|failure|difference|mismatch) (?:is|was|here|comes?|seems?)\b"
    r"|(?:that|this|it)(?:['’]s)? (?:feels?|felt|is|was|looks?|seems?|keeps?|means?|happens?|fails?|failed)\b|(?:that|it)['’]s\b"
    r"|th(?:e|is) (?:\S+ ){1,3}?(?:contains|lacks)\b|how (?:it|this|that) works\b"
    r"|there(?:['’]s| is| are| was| were)\b|the (?:\w+ ){1,3}(?:is|are|was|were|keeps?) (?:still |now )?(?:failing|broken|wrong|missing|stuck|hanging)\b"
    r"|(?:the )?(?:\S+ ){1,6}?(?:fails?|failed|passes|passed|breaks?|broke|hangs?|crashes|crashed|makes sense|supports? this|confirms?|(?:show|reveal|indicate|suggest|prove|demonstrate)(?:s|d|ed)? (?:that|how|why)|(?:zeigt?|zeigen|beweist|bedeutet),? dass|(?:montrent?|indiquent?|prouvent?|signifie) qu[e'’]|(?:muestran?|indican?|demuestran?|significa) que)\b|.{1,30}?(?:表明|说明|显示|意味着)"
    r"|(?:the )?commit `?[0-9a-f]{7,40}\b"
    r"|or\b|alternatively\b|(?:the (?:reason|timing|fact)|verify|check|confirm|make sure|see|look)\b|the user (?:was|is|asks?|asked|says|said|wants to know)\b)"
)
"""The beginning of a sentence that describes a state and its cause, or something to look at: not a decision."""


@lru_cache(maxsize=REMEMBERED)
def changes_mind(sentence: str) -> bool:
    """Whether a sentence of thinking takes back the choice before it."""
    return _BACK.match(sentence) is not None


@lru_cache(maxsize=REMEMBERED)
def decides(sentence: str, *, strictly: bool = False) -> bool:
    """Whether a sentence reports a decision, or an action with its reason.

    Strictly: it has both a choice and its reason.
    """
    if '"' in sentence or "“" in sentence:
        # Words of others decide nothing.
        sentence = _OTHERS_WORDS.sub(" ", sentence)
    decided = _DECIDED.stand_in(sentence)
    if decided and not strictly:
        return True
    if not _REASON.may_stand_in(sentence):
        return False
    if not decided and _OBSERVES.match(sentence) is not None:
        return False
    words = _SINCE_WHEN.sub(" ", sentence.lower())
    choice = _TAKEN if strictly else _CHOICE
    return _REASON.pattern.search(words) is not None and (decided or choice.search(words) is not None)
