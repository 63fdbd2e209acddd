"""The section of a model's sentence in a summary: a decision, a result, remaining work, or none of these."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import questions
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.decisions import decides
from leafward.summaries.facts.sentences.labels import names_cause
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.facts.sentences.replies import hedges
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from leafward.summaries.facts.sentences.marker_words import Markers

_MORE_FINISHED = (
    "deployed|rebased|reverted|restored|installed|uninstalled|published|squashed|bumped|upgraded|downgraded|configured|enabled|disabled"
    "|tagged|restarted|migrated|reworked|restructured|simplified|dropped|documented|translated|shortened|reformatted|formatted"
    "|adjusted|corrected|resolved|inlined|exposed|wrapped|wired|tightened|cherry-picked|logged|filed|submitted"
)
_STATES = (
    "fixed|added|created|updated|implemented|removed|renamed|moved|replaced|refactored|completed|finished|committed|pushed|extracted"
    f"|converted|rewritten|written|ported|changed|deleted|switched|merged|released|done|gone|built|shipped|live|in place|{_MORE_FINISHED}"
)
_OF_A_THING = (
    r"(?! (?!(?:what|that|how|where|so|it|this|all|both)\b)[\w-]+(?: [\w-]+)? (?:is|are|was|were|has|have|should|must|can(?:not)?|needs?|do|does|come|comes|break|breaks|fail|fails|stays?|never|still)\b)"
    r"(?! by (?:the|an?|default|design)\b)(?! in v?\d+\.\d)(?! files?:)\b"
)
"""Not before what makes a participle the quality of a thing, about which the sentence then says something, or tells its origin."""
_RIGHTLY = (
    r"(?:now (?!(?:fails?|crashes|hangs|breaks|throws|errors|loops|times out|returns (?:an? )?(?:[45]\d\d|error|null|undefined|nothing|empty))\b)"
    r"|no longer (?!(?:works?|passes|compiles|builds|loads|starts|responds|renders)\b))"
)
"""Before what something does since the work, or does no more, unless that is trouble: a finding."""
_FINISHED = markers(
    r"(?i)^\W{0,3}(?:i(?:['’]ve| have)? )?(?:successfully )?(?:fixed|added|created|updated|implemented|removed|renamed|moved|replaced|refactored|completed"
    rf"|committed|pushed|extracted|converted|rewrote|rewritten|wrote|written|ported|changed|deleted|switched|merged|released|{_MORE_FINISHED}){_OF_A_THING}"
    r"|^the (?:fix|solution) was\b|^(?:[\w#-]+ ){1,3}(?:created|opened|merged|pushed|published): "
    rf"|^(?:\S+ ){{0,5}}{_RIGHTLY}(?:\w+s|will|have|are|works?|passes)\b"
    r"|^now,? (?!.*: |that\b|i\b|we\b|you\b|it\b|let\b)(?:[\w`./()-]+ ){1,4}?(?:will|shows?|has|have|uses?|works?|supports?)\b|完成(?![时時后後前的之度结結])|已(?:经|經)?(?:成功|全部|[将將把为為完修改添加增删刪移創创更替实實推提写寫建部重优優清升合配换換生记記恢撤])|(?:改|写|做|修|加|弄|搬|换|更新|处理)好了"
    r"|^(?:behoben|erledigt|umgesetzt|eingebaut|hinzugefügt|geändert|c['’]est fait|corrigé|ajouté|hecho|listo|corregido|añadido|arreglado)\b ?[:.,–—-]"
    r"|\b(?:hinzugefügt|ergänzt|gelöscht|verschoben|korrigiert|angepasst|überarbeitet|ersetzt|behoben|entfernt|umbenannt|angelegt|erstellt|aktualisiert|implementiert|eingebaut|umgestellt|geändert)(?:\W*$|, )"
    r"|\b(?:est|sont|a été|ont été) (?:maintenant |bien |aussi )?(?:ajouté|corrigé|remplacé|supprimé|créé|renommé|modifié|validé|terminé|traduit)e?s?(?:\W*$|[,;] )"
    rf"|^(?:j['’]ai|nous avons|on a) (?:ajouté|corrigé|remplacé|supprimé|créé|implémenté|renommé|mis à jour)\b|ました。?$",
    "opened fixed added created updated implemented removed renamed moved replaced refactored completed committed pushed extracted converted "
    "rewrote rewritten wrote written ported changed deleted switched merged released passes fix solution "
    + " ".join(_MORE_FINISHED.replace("-", "|").split("|"))
    + " now longer ergänzt gelöscht verschoben korrigiert angepasst überarbeitet behoben erledigt umgesetzt eingebaut fait hecho listo corregido arreglado ersetzt entfernt umbenannt angelegt erstellt "
    "aktualisiert implementiert umgestellt",
)
"""A result, by the finished work or by the new state; approval alone is not a result. `Split` may be a proposal as well."""
_STATED = late(
    # Without a stop behind it, the participle describes what the code does: is written in `a.go`, is created by the hook.
    rf"(?i)^(?!no )(?:[^\s,;:]+ ){{1,8}}?(?:is|are|has been|have been) (?:now |all |also |both )?(?:{_STATES})(?: and (?:now )?(?:(?:{_STATES})|(?:tested|verified|working)(?: on `[^`]{{1,60}}`)?))?(?: now| too| again| as well)?[.;,!]?(?:$|(?<=[;,]) )"
)
"""A new state of the work, told from its first word on."""
_NOW = late(
    r"(?i)^(?!.*n['’]t\b)(?!.*\b(?:fail\w*|broken|(?:is|are|was|were) \w+ing|still|not|nothing|until|slow|slower|wrong|i|we|you|your|let)\b)[^:?]{12,200}(?<!\bfor)(?<!\bright)(?<!\bby)(?<!\buntil)(?<!\bjust)(?<!\bfrom) now\.?$"
)
"""What something does now, so that it does not fail."""
_SIGNS = (" is ", " are ", " been ")
"""Every such sentence holds one."""
_SO_I = late(
    r"(?i)\b(?:so|and) i(?:['’]ve| have)? (?:also |then )?(?:opened|fixed|added|created|updated|implemented|removed|renamed|moved|replaced|committed|pushed|merged|rewrote|changed|deleted)\b"
)
"""Work told behind its reason."""
_PASSED = markers(
    r"(?i)^(?:all|everything)(?: \w+){0,2} (?:pass(?:es|ed|ing)|green)\b|\b\d+ passed\b"
    r"|\b(?:all|\d+)(?: the)? (?:\w+ )?(?:tests?|checks?)(?: (?:on|in|of) [^\s,.;:]+(?: #?\d+)?)? (?:now )?(?:pass|passed|are green|green)\b"
    r"|\btests? (?:all )?pass(?:es|ed)?\b(?! (?:`|an? |the |its? |in |to ))",
    "pass passes passed passing green",
)
"""The outcome of runs in a reply's words. A later run may have another one, and the runs themselves are recorded."""
_CONTRAST = re.compile(
    r"(?i)\b(?:instead of|rather than|so (?:that )?(?:i|we|you|it|they) (?:can|could)|in order to)\b"
)
_OFFERS = re.compile(r"(?i)\b(?:happy|glad) to\b")
"""What is left to the reader's wish."""
_OPENING = re.compile(r"(?i)\W*(?:done|ok(?:ay)?|good|great|perfect|excellent|all set)[,.:!]+\s+(?=\S)")


def reached(sentence: str) -> bool:
    """Whether a sentence reports a result."""
    return section_of_sentence(sentence) is SummarySection.DONE


def without_opening(sentence: str) -> str:
    """A sentence without the word of satisfaction at its beginning."""
    found = _OPENING.match(sentence)
    return sentence[found.end() :] if found is not None else sentence


def is_guessed(sentence: str) -> bool:
    """Whether a sentence says what may be."""
    return questions.guesses(sentence) or hedges(sentence)


def is_finished(sentence: str) -> bool:
    """Whether a sentence tells finished work, the state that it led to, or runs that passed."""
    if _found(_FINISHED, sentence) or _found(_PASSED, sentence):
        return True
    if any(sign in sentence for sign in _SIGNS) and _STATED.match(sentence) is not None:
        return True
    if sentence.endswith((" now.", " now")) and _NOW.match(sentence) is not None:
        return True
    return (" so I" in sentence or " and I" in sentence) and _SO_I.search(sentence) is not None


def tells_runs(sentence: str) -> bool:
    """Whether a sentence tells that runs passed."""
    return _found(_PASSED, sentence)


def tells_runs_alone(sentence: str) -> bool:
    """Whether a sentence tells the outcome of runs, and no work."""
    return tells_runs(sentence) and not _found(_FINISHED, without_opening(sentence))


def _found(result: Markers, sentence: str) -> bool:
    """Whether a sentence matches as it stands, capitals included."""
    return result.may_stand_in(sentence) and result.pattern.search(sentence) is not None


def _names_enough(sentence: str) -> bool:
    """Whether a report says of what it is: with three words, or two of which one is a name."""
    words = content_words(sentence)
    return len(words) > 2 or (len(words) == 2 and not all(map(str.isalpha, words)))


@lru_cache(maxsize=1 << 14)
def section_of_sentence(sentence: str) -> SummarySection:
    """The section of a model's sentence; context where it reports no decision, result or remaining work."""
    if questions.asks(sentence) or names_cause(sentence):
        # A cause has its reason, and decides nothing.
        return SummarySection.CONTEXT
    guessed = is_guessed(sentence)
    finished = is_finished(without_opening(sentence)) and not guessed and _names_enough(sentence)
    # A report of finished work tells a decision only with its reason: that something was there before is none.
    decided = decides(_CONTRAST.sub(" ", sentence), strictly=True) if finished else decides(sentence)
    if decided and not guessed and _OFFERS.search(sentence) is None:
        return SummarySection.DECISIONS
    if finished:
        return SummarySection.DONE
    if remains(sentence):
        return SummarySection.NEXT
    return SummarySection.CONTEXT
