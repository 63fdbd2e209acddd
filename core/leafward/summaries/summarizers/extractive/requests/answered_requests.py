"""Whether a request is over by its answer: with a result, or with what it asked for, and nothing left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.content_words import ENGLISH
from leafward.summaries.facts.sentences.demands import orders
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.requests.exchange import closing, reports_result, verdict_of
from leafward.summaries.summarizers.extractive.turns import (
    SUBSTANTIAL,
    Turn,
    asks_back,
    is_answered,
    keeps_going,
    only_declines,
    position,
    question_of,
)
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Sequence

ACHIEVED = late(
    r"(?i)^\W*(?:(?:(?:all )?done|finished|erledigt|fertig|terminé|c['’]est fait|listo|hecho|готово)\b|✅|已?(?:全部)?完成|搞定|完了)"
)
_STILL = (
    r"still (?:\w+ly )?(?:fail\w*|need\w*|miss\w*|open|broken|to|not|remain\w*|pending|running|waiting|wrong|red|happens?|occurs?"
    r"|unclear|unsolved|outstanding|in progress|lack\w*|has to|have to|must|requires?|crash\w*|hang\w*|slow\w*|doesn|isn|can['’]?t|cannot)"
)
"""What lasts: something that `still` looks good leaves nothing open."""
_REMAINS = r"remain(?:s(?! (?:in(?! (?:progress|review|doubt)\b)|at|within|inside|under|part of)\b)|ing)?\b(?! (?:un(?:committed|staged|changed|touched)|intact|in place|the same|as)\b)"
"""What remains to be done: something that remains as it is, or where it is, leaves nothing open."""
_ELSEWHERE = (
    r"|\b(?:noch nicht|noch offen|fehlt noch|steht noch aus|pas encore|reste(?:nt)? à|todavía no|aún no|falta(?:n)? por|queda(?:n)? por|als nächstes|prochaine étape|próximo paso)\b"
    r"|(?:\bвс[её] ещ[её]|\bещ[её] не|\bпока не|\bосталось)\b|还没|尚未|还需要|接下来|下一步|まだ|残って|次[はに]"
)
"""The same in other languages."""
FAILS = late(
    rf"(?i)\b(?:fail(?:s|ing)?|broken|{_STILL}|not yet|{_REMAINS})\b{_ELSEWHERE}"
    r"|\b(?:schlägt (?:\w+ )?fehl|schlagen (?:\w+ )?fehl|fehlgeschlagen|échou\w+|fall(?:a|an|ando)|пада(?:ет|ют)|не проход(?:ит|ят))\b|失败(?![时時后的率])|未通过|失敗(?=し|です|中|[。！!)]|$)"
)
"""A sign that an answer leaves something unfinished."""
_CASES = late(
    r"(?i)\b(?:if|when(?:ever)?|in case|unless|won['’]t|will (?:not|never)|never|instead of|no longer)\b[^,.;)]*"
)
"""A part of a sentence about what may happen, or does not."""
_LEAVES = late(rf"(?i)\b(?:but|aber|mais|pero|{_STILL}|not yet|{_REMAINS})\b{_ELSEWHERE}|但|ただし")
"""A sign that a report of work leaves something unfinished; it may well tell of a failure that is over."""
_STUCK = late(
    r"(?i)\b(?:i|we) (?:can['’]t|cannot|can not|am unable to|are unable to|could not|couldn['’]t) (?:go on|continue|proceed|finish|complete|do (?:it|this|that)|push|publish|deploy|merge|access|reach|connect)\b"
    r"|\b(?:needs?|requires?|lacks?|waits? for|is waiting for|waiting on) (?:an? |the |your )?(?:\w+ )?(?:approvals?|permissions?|credentials|token|review)\b|\buntil (?:someone|somebody)\b|\buntil you(?:['’]ve| have)? (?:approv|confirm|provid|grant|giv|review|merg|decid|log|sign|set|add|enabl|tell|told|run|install|fix|push|accept|choos|pick|answer|repl|creat|sen)\w*"
    r"|\bkann (?:ich )?(?:nicht|erst)\b.*\b(?:weiter|fortfahren|bis|wenn)\w*|\bje ne peux pas (?:continuer|terminer)\b|\bno puedo (?:continuar|seguir|terminar)\b|无法继续"
)
"""A sign that the work is stuck."""
CHANGES = late(
    r"(?i)^(?:(?:ok(?:ay)?|please|now|and|also|so|then|first|but|hi|hey|yes|no|just|actually|bitte|jetzt|dann|nun)[\s,.]+)*(?:(?:can|could|would|will) (?:you|we) |(?:i|we)(?:['’]d| would)? (?:want|like|need)(?: you)? to |let['’]?s |you should |kannst du |peux-tu )?(?:please |also |now |bitte |just )*"
    r"(?:add|fix|port|move|rename|remove|delete|drop|implement|make|create|write|rewrite|update|upgrade|refactor|change|replace|convert|build|merge|split|migrate|extract|restore|revert|clean|set|install|deploy|publish|push|commit|release"
    r"|turn|switch|use|let|allow|support|handle|extend|improve|simplify|speed|optimi[sz]e|draw|show .{1,60} (?:in|on|as|with|beside)|document|address|resolve|solve|get rid|put|bring|go on|continue|start|try|do(?! (?:we|you|they|i|these|those)\b)|finish|complete|apply|enable|disable"
    r"|füge?|entfern\w*|lösch\w*|benenne?|erstell\w*|beheb\w*|ersetz\w*|änder\w*|mach\w*|schreib\w*|baue?|bau|korrigier\w*|ajoute\w*|supprime\w*|renomme\w*|cré\w*|corrige\w*|remplace\w*|fais|modifie\w*|añade|agrega|elimina|quita|crea|reemplaza|cambia|haz)\b"
    r"|^(?:请|帮我|把|将)*.{0,12}(?:添加|增加|删除|去掉|移除|创建|修复|修改|替换|改成|改为|实现|重构|写)|(?:して|追加|修正|変更|作って)(?:ください|下さい)?[。.]?$"
)
"""The beginning of a request for work."""
_INQUIRES = late(
    r"(?i)^(?:/|(?:ok(?:ay)?|please|now|and|also|so|then|first|bitte|can you|could you|let['’]s|por favor|s['’]il te plaît)[\s,.]+)*"
    r"(?:review|audit|analy[sz]e|explain|describe|compare|list|summari[sz]e|investigate|inspect|find out|figure out|check|look|show|tell|read|count|estimate|research"
    r"|prüfe?|erklär\w*|analysier\w*|vergleich\w*|zeig\w*|liste?|such|untersuch\w*|beschreib\w*|explique\w*|analyse[rz]?|compare[rz]?|montre\w*|vérifie\w*|explica\w*|analiza\w*|compara\w*|muestra\w*|revisa\w*)\b"
    r"|^(?:请|帮我)*(?:先)?(?:分析|解释|检查|看看|看一下|查看|对比|比较|介绍|说明|总结|评审)|(?:説明して|調べて|確認して|教えて|比較して)(?:ください|下さい)?[。.]?$|(?:분석|설명|확인|비교|검토)(?:해|해줘|해주세요)[.]?$|(?:봐줘|알려줘)[.]?$"
)
"""A request for information, in the mood of an order."""
_AND = late(
    r"(?i)(?<=[.!?;。！？；]) ?|,? (?:and|then|und|dann|et|puis|y|luego) |[,，]\s*(?:and |then |und |然后|并)?"
)
"""What stands between the parts of a request."""
_DENIED = late(r"(?i)\W*(?:(?:no|nope|nein|non|нет)\b|不|没有|いいえ)")
"""The beginning of an answer that says no."""
OWN_COMMAND = late(
    r"/(?:add-dir|agents|bug|changelog|clear|compact|config|context|copy|cost|doctor|exit|export|fork|help|hooks|hotkeys|ide|login|logout|mcp|memory|model|models"
    r"|name|new|permissions|quit|resume|session|sessions|settings|share|status|statusline|terminal-setup|theme|themes|thinking|tree|undo|redo|usage|vim)(?:\s|$)"
)
"""A command that an agent carries out itself: nothing waits for a reply to it."""
_OF_OFFER = 1
"""Sentences of an answer that may be but the question at its end and what leads to that."""
_UNDONE = late(
    r"(?i)\bi(?:['’]ll| will|['’]m going to) (?:\w+ ){0,3}?(?:check back|come back|get back|report back|follow up|keep (?!you|that in mind)\w+|monitor|poll|watch|wait|babysit)\b"
    r"|\bich (?:warte|beobachte|melde mich|schaue|prüfe)\b.{0,60}\b(?:weiter|wieder|sobald|bis|später)\b|\bje (?:surveille|reviens)\b|(?:我会|将)(?:继续|持续)|稍后(?:再|会)"
    r"|\b(?:(?:i|we) (?:have|had|did)(?: not|n['’]t) [^.,;:]{1,50}|(?:is|are)(?: not|n['’]t) \w+ed) yet\b|\b(?:is|are|comes?) next[.!]?$"
)
"""Work that an answer says it did not do, or goes on with."""
_GOES_ON = late(
    r"(?i)^\W*(?:(?:now|next|then)[\s,]+)?i(?:['’]ll| will) (?:(?:now|then|also|next) )?(?!not\b|never\b|only\b|also\b|be\b|let\b|leave\b|stop\b|stay\b|wait\b"
    r"|keep\b|hold\b|need\b|assume\b|treat\b|remember\b|avoid\b|skip\b|do (?:it|so|that)\b)[a-z]+ (?!.*\b(?:if|when(?:ever)?|once|after you|until|unless|from now on|next time|in future)\b)"
)
"""A sentence that promises work: it is still to come, whatever the answer tells beside it."""
_PROMISES = late(
    r"(?i)\W*(?:(?:ok(?:ay)?|sure|now|first)[\s,.!]+)*(?:i['’]ll|i will|i am going to|i['’]m going to|let me)\b"
)
"""The beginning of a sentence that promises work: an answer of such sentences alone, without work, ends nothing."""
_DID = late(
    r"(?i)^i(?:['’]ve| have)? (?:also |now |then )?(?!need)\w+ed\b|\b(?:previously|formerly|no longer|used to) (?:\w+ ){0,2}(?:fail|broke)\w*"
)
"""A sentence that tells work, or that a failure is over."""


_PLAN = late(r"(?i)\bplan\b|计划|方案")
_PARTS = late(r"[,.!]\s+|[，。！]")


def settles(turns: Sequence[Turn], last: Turn | None, *, changed: bool) -> bool:
    """Whether the last request that tells its subject is over: answered with a result or what it asked, and nothing is left.

    `changed` says that the work on it changed a file: such an answer need not say that it is done.
    """
    if last is None:
        return False
    end = closing(turns, last)
    since = turns[position(turns, last) :]
    for number, turn in enumerate(since):
        if is_answered(turn) or (number and responses.is_pleased(turn.own)):
            continue
        if turn.works and responses.offers_more(question_of(turn.answer)) and reports_result(turn.answer):
            # What was asked for is there, and the offer is about something else.
            continue
        if answers_and_offers(turn, looked=turn is last and not changed):
            continue
        if number and turn.waits and OWN_COMMAND.match(turn.own):
            continue
        if turn.first < end.first and not turn.answer and keeps_going(since[number + 1]):
            # It was broken off, and the user said to go on.
            continue
        if 0 < number < len(since) - 1 and turn.words < SUBSTANTIAL and is_answered(since[-1]):
            # A word amid, behind which other things were answered.
            continue
        declined = any(only_declines(turns, one) for one in since[max(1, number) : number + 2])
        if not declined and (turn.first >= end.first or not asks_back(turn.answer)):
            return False
    last = end
    if not last.works and all(map(_PROMISES.match, prose.sentences(last.answer))):
        return False
    if verdict_of(last):
        return True
    sections = [(one, section_of_sentence(one)) for one in quotable(last.answer, shortest=8)]
    # An answer without work is what was asked for, such as a text: it may well tell of a failure.
    if any(
        section is SummarySection.NEXT
        or (_LEAVES if _tells_work(one, section) or not last.works else FAILS).search(_CASES.sub(" ", one))
        or _STUCK.search(one)
        or _UNDONE.search(one)
        or (last.works and _GOES_ON.match(one))
        for one, section in sections
    ):
        return False
    if changed or not last.works or ACHIEVED.match(last.answer) or reports(last.answer):
        return True
    if questions.asks(last.text) and _DENIED.match(last.answer):
        # Whether it can be done was asked, and it cannot.
        return True
    if not asks_for_work(last.text):
        # No work was asked for, so its answer is all that was wanted.
        return True
    # How a result is told is known of English best: in another language a sign that something is left decides.
    return any(section is SummarySection.DONE for _, section in sections) or not ENGLISH.search(last.answer)


def asks_for_work(request: str) -> bool:
    """Whether a request, or a sentence of it, asks for work."""
    return any(map(CHANGES.match, [request, *prose.sentences(request)]))


def asks_for_plan(request: str) -> bool:
    """Whether a request asks for a plan, which is made without any work."""
    return any(orders(one) and _PLAN.search(one) for one in _PARTS.split(request))


def tells_outcome(request: Turn, end: Turn, *, changed: bool, looked: bool) -> bool:
    """Whether the answer that ends an exchange tells what came of a request: reports work, or gives what was asked for.

    A plan, or a question asked back, does neither. `changed` says that the work changed a file, `looked` that its calls only
    looked something up, or that the last one failed: then only information and plans are told.
    """
    if end.doubted or not end.answer:
        return False
    # In other languages nothing here tells an order for work from one for information.
    told = questions.asks(request.text) or _inquires(request.text) or asks_for_plan(request.text)
    if looked and not (changed or told) and ENGLISH.search(request.text) is not None:
        return False
    if changed or reports_result(end.answer) or verdict_of(end):
        return True
    if not end.works and end.answer.startswith("#"):
        # The text that was asked for.
        return True
    if asks_back(end.answer):
        return not asks_for_work(request.text) and responses.offers(question_of(end.answer))
    return not asks_for_work(request.text) or ENGLISH.search(end.answer) is None


def is_looked_up(turn: Turn) -> bool:
    """Whether a question for information was answered from what calls showed: whatever the answer tells of, nothing was asked to be done.

    It holds of work that changed no file.
    """
    asks = questions.asks(turn.text) and not CHANGES.match(turn.text)
    if not is_answered(turn) or not (asks or _inquires(turn.text)):
        return False
    return not any(
        _UNDONE.search(one) or _GOES_ON.match(one) or _STUCK.search(one)
        for one in quotable(turn.answer, shortest=8)
    )


def _inquires(request: str) -> bool:
    """Whether every sentence of a request asks for information, and no part of it for work."""
    if any(map(CHANGES.match, _AND.split(request))):
        return False
    said = list(prose.sentences(request)) or [request]
    return all(_INQUIRES.match(one) or questions.asks(one) for one in said)


def answers_and_offers(turn: Turn, *, looked: bool = False) -> bool:
    """Whether a question was answered without any work, and the answer then offers some: that waits for the user, not for the agent.

    `looked` says that its calls only looked something up.
    """
    if turn.works and (not looked or CHANGES.match(turn.text)):
        return False
    if not questions.asks(turn.text) or _STUCK.search(turn.answer) is not None:
        return False
    question = question_of(turn.answer)
    return responses.offers(question) and len(quotable(turn.answer, shortest=8)) > _OF_OFFER


def _tells_work(sentence: str, section: SummarySection) -> bool:
    """Whether a sentence tells what was done, or what was wrong before: a failure in it is over."""
    return section is SummarySection.DONE or _DID.search(sentence) is not None


def obstacle(turns: Sequence[Turn], *, since: bool) -> str:
    """What the last answer says the work waits for; empty where it says nothing, or where `since` the user spoke again."""
    if since or not turns:
        return ""
    return next((one for one in quotable(turns[-1].answer, shortest=8) if _STUCK.search(one)), "")
