"""The purpose of a user's sentence: a question wants an answer, a rule holds from now on, the rest is talk or work.

Words identify a rule: some forbid or oblige in any surroundings (`never`, `must`), others only in a sentence of their own
that is neither a question, nor a guess, nor a remark on the state of things.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.marker_words import markers
from leafward.summaries.facts.prose import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

_REMEMBERED = 1 << 14
_CODE = late(r"`[^`]{0,200}`|[@\w.]{0,80}\([^()]{0,200}\)|\{[^{}]{0,400}\}|\"[^\"\n]{0,200}\"")
"""Quotes and asides in a sentence, which oblige nobody."""
_FILLER = late(
    r"(?i)(?:(?:ok(?:ay)?|alright|all right|btw|by the way|so|well|hm+|ah|oh|also|and|but|then|now|actually|wait|wtf|wow|dude|man"
    r"|yes|yeah|yep|yup|sure|please|great|good|perfect|cool|thanks)\b[\s,.!…:-]*)+"
)
_ASKED = late(
    r"(?:(?:why|how|where|when|who|which|what(?:['’]s)?)\s+(?:is|are|was|were|do|does|did|can|could|should|would|will|about|if|happens|happened|else)\b"
    r"|(?:can|could|do|does|did|is|are|was|were|should|would|will|have|has|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t"
    r"|couldn['’]t|shouldn['’]t|wouldn['’]t|won['’]t)\s+(?:we|you|i|it|this|that|they|there|he|she|these|those)\b"
    r"|any idea\b|what's\b|how come\b|(?:warum|wieso|weshalb|woran|pourquoi|por qué|perché|почему|зачем)\b"
    "|为什么|为何|为啥|怎么|なぜ|どうして|왜)"
)
_TAG = late(r"\b(?:no|right|correct|ok|yes)\s*[?？]+\s*$|[?？]\W*$")
_ASKED_LAST = late(r"(?:吗|呢|(?:です|ます)か)\W*$")
# All patterns except those of the first words are in lower case, like the text that they are matched with.
_OBLIGED = markers(
    r"\b(?:must|mustn['’]?t|never|always|mandatory|forbid(?:den)?|prohibited|under no circumstances|at (?:most|least)|no (?:more|longer|later) than"
    r"|niemals|nie|muss|musst|müsst|müssen|darf|darfst|dürft|dürfen|(?<!noch )(?<!wie )immer(?! noch| wieder| mehr| weniger)|jamais"
    r"|(?<!est )(?<!sont )(?<!marche )(?<!fonctionne )toujours(?! pas)|doi[st]|doivent|devez|il faut (?:toujours|absolument|impérativement|que)|il ne faut (?:pas|jamais)|nunca|siempre|debe|sempre|deve"
    r"|никогда|всегда|нельзя|должен|не надо)\b"
    "|必须|不要|不能(?!用|运行|工作|编译|通过|打开|显示|正常)|不得(?!不)|务必|禁止|一定要|应该(?!是|可以|没)|只能|请勿"
    "|(?<![特区级类分个识性])别(?![的名处人])|(?<=[わらかがさたなばまし])ないで(?:ください|下さい|くれ|ね|。|$)|しないで|必ず|してはいけない|하지 ?마|반드시|금지|해야",
    "must mustn mustnt never always mandatory forbid forbidden prohibited circumstances most least than niemals nie muss musst darf darfst "
    "immer jamais toujours dois doit doivent devez faut nunca siempre debe sempre deve",
)
_CONCLUDES = late(
    r"\bmust (?:have been|be (?:because|due|that|the|a)\b)|\bmust (?:now|still) be\b"
    r"|\b(?:always|never) (?:seem\w*|happens?|happened|fails|failed|works|worked|gets|got|was|were|did|does|had)\b"
)
"""Guesses in the words of rules."""
_BREAKS = late(
    r"\b(?:(?:does|do|did|is|are|was)(?:n['’]?t| not)|violates?|breaks?|ignores?)\b.{0,160}?\b(?:must|never|always|at (?:most|least))\b"
)
"""A statement that something breaks a rule: it reports a fault, and the rule is somebody else's."""
_FORBIDS = late(
    r"(?:^|[,;:.!–—-]\s*|\b(?:and|but|please|so|then|you|should|ok|also|just|we)\s+)(?:please\s+)?(?:do not|don['’]?t)\s+"
    r"(?!(?:understand|know|think|see|get|care|mind|feel|remember|believe|have to|need to|like|worry)\b)\w"
)
_RULES = late(
    r"\b(?:avoid|prefer(?:ably|red)?|make sure|ensure|instead of|rather than|before (?:we|you|i|any|every|each)|by default"
    r"|no (?:new|other|more|extra|additional|need for)\b|only (?:use|if|when|for|with|in|on|the)|use only"
    r"|should(?:n['’]t)?(?: not| only| always)? (?:\w+ )?(?:be(?! good| fine| ok| done)|stay|return|use|have(?! been)|keep|look|work|contain|show|not)\b"
    r"|(?:has|have|needs?) to (?:be|stay|have|contain|cover|work|survive|hold|keep|fit|run|pass|push)\b"
    r"|(?:want|wants) (?:it|them|all|every|no|only|the|to be|to keep)\b|(?:would|i['’]d) (?:only |prefer|like (?:it|them|all|every|no|only|the|to keep)\b)"
    r"|without (?:any new|adding|new|breaking|changing|touching|using|modifying|introducing|renaming|removing|losing)|nothing (?:may|should|is allowed to)"
    r"|leave (?:\S+ ){1,4}?(?:alone|untouched|unchanged|as (?:it is|is|they are))|(?:stay|remain|keep(?: it)?|be) (?:\w+[- ])?compatible|(?:we|you) (?:can['’]?t|cannot|may not) (?:use|add|depend|break) (?!it\b|that\b|this\b)\w+"
    r"|sin|sans|ohne|auf keinen fall|(?:kein|pas d)e(?:n|r|s)? (?:neu|weiter|ander|extern|zusätzlich|nouve|autre)\w+|нужно"
    r"|(?:bitte|soll(?:st|t|en|te)?) (?:\w+ ){0,6}nicht)\b"
)
_RULE_FIRST = late(
    r"^(?:(?:s['’]il (?:te|vous) plaît,? )?n(?:e |['’])(?:pas |\w+ (?:pas|rien|plus)\b)"
    r"|(?!(?:das|es|ich|er|sie|wir|ihr|du|die|der|dies\w*|hier|da|so|man|kann|geht|leider)\b)(?:\w+ ){1,4}nicht \w+en\W*$)"
    r"|^(?:please\s+)?(?:(?:only|keep(?!\s+(?:going|on|at it|it up|trying|working|pushing|digging|looking)\b)|use|without|stop using|stick to|throughout)\s+\w+"
    r"|[\w-]+(?: library)? only\b)"
    r"|^(?:please )?(?:answer|respond|reply|speak|talk)(?: (?:to me|me|only|please))* in (?!(?:the|a|an|this|that|one|two|json|markdown)\b)[a-z]+\b"
    r"|^(?:bitte )?antworte(?: mir| bitte| immer| nur)* (?:auf|in) \w+|^réponds?(?:ez)?(?:-moi)? (?:toujours )?en \w+|^respónd?e(?:me)? (?:siempre )?en \w+|^responde(?:me)? (?:siempre )?en \w+"
)
_RULE_BRIEF = late(
    r"^(?:stay|remain) (?:\w+[- ])?compatible\b|^without (?:any |adding |using )?(?:new|external|third[- ]party|extra|additional|other) \w+|^leave \S+(?: \S+)? (?:alone|untouched|unchanged)\b"
    r"|^(?:please )?(?:answer|respond|reply) in (?!(?:the|a|an|this|that|one|two|json|markdown)\b)[a-z]+\W*$|^antworte (?:auf|in) \w+\W*$|^réponds en \w+\W*$|用\w{1,4}(?:回答|回复|回覆)|\w{1,4}語で(?:答え|回答|返事|返答)"
)
"""Rules of so few words that only their first ones tell them."""
_STATES = late(
    r"\b(?:there(?:['’]s| is| are)|(?:it|that|this|they|you|and|we)(?:['’]s)?) only\b|\bonly (?:displays|shows|have|has|had|got|one|\d+)\b"
    r"|\b(?:does|do|did)(?:n['’]t| not) have to\b|\bdon['’]t need\b|\bno longer\b"
)
"""Statements of fact in the words of rules."""
_GUESSED = markers(
    r"\b(?:i(?:['’]m| am| would| actually| basically| just| also| still| really| kinda)?(?: not)? (?:think(?:ing)?|guess|suppose|bet|suspect|believe|assume|wonder|thought|hope)"
    r"|i (?:don['’]?t|do not) (?:think|know|understand|see|get)|i have a feeling|i feel like|maybe|perhaps|probably|not sure|sounds like|in theory"
    r"|ich (?:glaube|denke|vermute)|vielleicht|vermutlich|wahrscheinlich|je (?:crois|pense)|peut-être|quizás?|creo que)\b|也许|可能|大概|たぶん|かもしれ",
    "glaube denke vermute vielleicht vermutlich wahrscheinlich crois pense quizas quiza creo think thinking guess suppose bet suspect believe assume wonder thought hope know understand see get "
    "feeling feel maybe perhaps probably sure sounds theory",
)
_WORK = late(
    r"^let (?:me|us)\b[^,;]*|^let['’]s\b[^,;]*|\b(?:we|i|you)(?:['’]ll|['’]d)?(?: \w+)?(?: \w+)? (?:need|needs|have|want|wanted|would like) (?:you )?to\b|\bwe (?:\w+ )?need (?:a|an|some|the)\b"
)
"""Work for now is a request: it is done, and binds nothing afterwards."""
_TAKES_BACK = late(
    r"(?i)^(?:(?:ok(?:ay)?|yeah|yes|no|nah|nope|please|hm+|actually|wait|sorry)[\s,.!]+)*"
    r"(?:(?:can|could|would) (?:you|we) |you can |let['’]s |please |just ){0,4}"
    r"(?:undo|revert|roll back|take back|back out|never ?mind|scratch|forget)(?: about)? (?:that|this|it|those|these|them|the last|what you)\b"
    r"|^.{0,80}?\b(?:make|put|have|set) (?:it|that|this|them) (?:back|(?:look )?(?:like|as|how) (?:that|it was|they were|before)(?: again| before)\b)"
    r"|^(?:(?:nein|doch|nee|bitte|ach|non|s['’]il te plaît)[\s,.!]+)*(?:mach(?:e)? (?:das|es) (?:bitte )?(?:wieder )?rückgängig|vergiss (?:das|es)|annule(?:z)? (?:ça|cela)|oublie(?:z)? (?:ça|cela))\b"
    r"|^(?:不[,，]?)?(?:请)?(?:撤销|回退|还原|取消)(?:它|这|刚才|上)|^算了"
)
_REVERTS = late(
    r"(?i)(?:(?:so|please|then|let['’]s|just|bitte|also) )*(?:undo|revert|roll back|back out|take back) (?:that|this|it|those|these|them)\b(?! (?:if|when|once|unless)\b)"
    r"|(?:mach(?:e)? (?:das|es)) (?:bitte )?(?:wieder )?rückgängig\b|annule(?:z)? (?:ça|cela)\b|(?:请)?(?:撤销|回退|还原)(?:它|这|刚才|上)"
)
_SHORT = 300
"""Characters of a prompt in which a later sentence takes back the work."""
_UNDID = late(
    r"(?i)^.{0,120}?\b(?:i|we)(?:['’]ve| have)? (?:\w+ )?(?:undid|undone|reverted|discarded|rolled back|threw away) (?:all |most )?(?:of )?(?:your|these|those|that|them|it)\b(?! (?:commit|branch|back)\b)"
    r"|^.{0,120}?\b(?:ich habe|hab) (?:deine|ihre|die|alle) (?:\w+ )?(?:wieder )?(?:zurückgesetzt|rückgängig gemacht|verworfen)"
    r"|^.{0,120}?\bj['’]ai (?:annulé|supprimé) (?:tes|vos) |^.{0,60}?我(?:已经)?(?:把.{1,12})?(?:撤销|回退|还原)了"
)
"""A user who has undone the work already."""
_UNDOES = (
    *("undid", "undone", "reverted", "discarded", "rolled back", "threw away", "zurückgesetzt", "rückgängig"),
    *("verworfen", "annulé", "supprimé", "撤销", "回退", "还原"),
)
"""Its verbs in small letters: every such statement holds one."""
_REFUTES = late(
    r"(?i)^(?:(?:hm+|sorry|wait|wtf|um+|ok(?:ay)?|well|but|actually|no|nope|nah|nein|nee|doch|non|mais|aber)[\s,.!]+)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was|s)? (?:just |simply |completely |totally )?(?:not (?:right|true|correct|it|the case|what|how|the (?:problem|cause|reason|issue))"
    r"|wrong|incorrect|false|nonsense|horrible)\b|you(?:['’]re| are) (?:wrong|mistaken)\b|wrong\b|(?:das |es )?(?:stimmt|geht|funktioniert) (?:so |immer noch |noch immer |leider )?nicht\b"
    r"|(?:das ist |du liegst )?falsch\b|c['’]est faux\b|ça ne (?:marche|fonctionne) (?:toujours )?pas\b|不对|不是这样|错了|違う|違います|いいえ)"
)
"""A prompt that calls the answer before it wrong."""
_PLEASED = late(
    r"(?i)^(?:(?:wow|jesus|oh|ok(?:ay)?|yes|yeah|great|perfect|nice|cool|super|toll|prima|ja|oui|génial|parfait)[\s,.!]+)*"
    r"(?:(?:it|that|everything|all of it|this)(?: all| now)? works?(?: now| great| fine| perfectly| well)?|lgtm|looks (?:good|great|perfect)(?: to me)?"
    r"|(?:es|das|alles) (?:funktioniert|geht|passt)(?: jetzt)?|ça (?:marche|fonctionne)(?: maintenant| bien)?|(?:现在)?(?:可以了|好了|没问题了|完美))"
    r"(?:[.!,，。！]+(?! ?(?:but|aber|mais|except|但|we|now|still|let|can|could|please|i|then|next)\b)|\s*$)"
)
_PRAISE = 160
"""Characters up to which a prompt may be only praise."""
_PRAISES = late(
    r"(?i)(?=.*(?:helpful|great|good|perfect|excellent|awesome|amazing|wonderful|fantastic|brilliant|nice|lovely|needed|wanted|thank|thx|cheers|danke|merci|gracias))"
    r"(?>(?:(?:this|that|it)(?:['’]s| is| was| looks)? (?:really |very |so |super |absolutely |just |exactly )*(?:helpful|great|good|perfect|excellent|awesome|amazing|wonderful|fantastic|brilliant|what i (?:needed|wanted|meant))"
    r"|(?:thank you|thanks|thx|cheers|danke|merci|gracias)(?: (?:so|very) much| a lot| for [^.!?\n]{1,80}| you)?|(?:great|good|nice|excellent|awesome) (?:job|work|stuff)"
    r"|wow|oh|ok(?:ay)?|yes|great|perfect|nice|cool|super|awesome|excellent|lovely)[\s,.!…:)]*)++"
)
"""A prompt that is nothing but praise and thanks."""
_AGREES = late(
    r"(?i)(?:(?:yes|yeah|yep|yup|ok(?:ay)?|sure|please|agreed?|sounds good|do|go|let['’]s|use|that (?:was|is) the idea|ja|gerne|mach|oui|d['’]accord|vas-?y|s[ií])\b"
    r"|好|可以|是的|对[,，]|はい|お願い|네)"
)
_DENIES = late(r"(?i)^(?:no|nope|nah|nein|non)[,.!]+\s")
_OFFERS = late(
    r"(?i)\b(?:(?:do you |would you )?(?:want|like|prefer)(?: for)? me to|shall (?:i|we)|should (?:i|we)|may i|can i|ready to|is it ok(?:ay)? (?:to|if)"
    r"|soll(?:en)? (?:ich|wir)|möchtest du|möchten sie|willst du|dois-je|veux-tu|voulez-vous|souhaite[sz]|quieres que|debo|¿lo )\b"
    r"|(?:要不要|需要我|要我|是否需要|可以吗)|(?:しましょうか|しますか)"
)
"""A question that offers something."""
_OFFERS_MORE = late(
    r"(?i)\bwould you like\b|\b(?:want|like) me to (?:also|help|add (?:any|more|other))\b|\b(?:shall|should|can|may) i (?:also )?help\b|\b(?:anything|something|any(?:thing)?) (?:else|other|more|additional)\b"
    r"|\bnoch etwas\b|\bsonst noch\b|\bautre chose\b|\balgo más\b|还有(?:什么|其他)|他に"
)
"""A question that offers more than was asked for."""
_DECLINES = late(
    r"(?i)^(?:no|nope|nah|nein|nee|non|нет)\b(?!\s+(?:idea|clue|problem|worries|rush|doubt)\b)|^(?:not (?:now|yet|really|needed|necessary)|(?:please )?(?:don['’]?t|do not)|lass (?:das|es)"
    r"|lieber nicht|laisse|pas maintenant|mejor no)\b|^(?:不用|不要|先不|不需要|别)|^(?:いいえ|結構です)"
)
_APOSTROPHE = late(r"\s+|(?<=\b[cdjlmnst])['’]")
"""Separators between words, some of which are single letters."""
_LEAST_WORDS = 3
_LEAST_REVOKED = 2
_ONCE_WRITTEN = (
    r"(?:plan|document|doc|commit(?: message)?|pr|pull request|merge request|branch|issue|ticket|report|summary|e-?mail|message"
    r"|review|draft|dokument|bericht|zusammenfassung|rapport|résumé)"
)
"""Things that are written once: a wish about one holds until it exists."""
_ORDERS = late(
    r"(?:(?:please|can you|could you|bitte|dann|jetzt)[\s,]+)*(?:creat\w{1,2}|write|draft|make|prepare|produce|generate|compose|open|file"
    r"|erstelle?|schreib(?:e|en)?|crée[rz]?|écri[st]|rédige[rz]?)\b"
    rf"(?:\s+[\w./@'’-]+){{0,6}}?\s+{_ONCE_WRITTEN}\b"
    r"|(?:please |can you |could you )*(?:review|audit|summari[sz]e|explain|describe|compare|list)\b"
    r"|(?:请|帮我)*(?:写|创建|生成|制定|起草).{0,12}?(?:计划|文档|报告|总结|提交|方案)"
)
_OF_IT = late(
    rf"(?:it|they|(?:this|that|the) {_ONCE_WRITTEN}|er|sie|es|dieser? {_ONCE_WRITTEN}|il|elle|ce(?:tte)? {_ONCE_WRITTEN})\b"
    r"|它|(?:这|该)(?:个|份)?(?:计划|文档|报告|总结|提交|方案)"
)
_OF_ANSWER = late(
    r"^(?:findings?|results?|facts?|bullets?(?: points?)?|names?|numbers?|answers?|summary|headlines?) only\b|\bonly (?:the )?(?:findings?|results?|facts?|bullets?|names?|numbers?|headlines?)\b"
    r"|\b(?:worst|best|biggest|most important|newest|oldest) first\b|\b(?:no|not) (?:more|longer) than (?:\w+ )?(?:\w+) (?:lines?|words?|sentences?|bullets?|points?|paragraphs?|pages?)\b"
    r"|\b(?:at most|max(?:imum)?\.?) (?:\w+) (?:lines?|words?|sentences?|bullets?|points?|paragraphs?)\b|^(?:keep it )?(?:short|brief)\b"
)
"""A wish for the form of an answer."""
_OF_THIS = late(
    rf"(?:this|dieser?|ce(?:tte)?) {_ONCE_WRITTEN}\b|(?:这|该)(?:个|份)?(?:计划|文档|报告|总结|提交|方案)"
)
_THIS_ONCE = late(
    rf"\b(?:for|in|on|with) this {_ONCE_WRITTEN}\b|\b(?:just |only )?this (?:once|(?:one )?time)\b"
    rf"|\b(?:für diesen?|in diesem?|bei diesem) {_ONCE_WRITTEN}\b|\b(?:diesmal|dieses mal)\b"
    rf"|\b(?:pour|dans) ce(?:tte)? (?:{_ONCE_WRITTEN}|branche)\b|\bcette fois\b|这次|本次|这一次|今回"
)
_NOTHING_OF = late(
    r"^(?:please )?no (?:more )?(?!(?:problem|worr|thank|idea|clue|change|error|warning|question|comment|issue|result|difference|news|need)\w*\b)[\w-]+s(?: please)?\W*$"
    r"|^(?:please |with )?no (?:new|external|third[- ]party|breaking|extra|additional|other|runtime) (?:[\w-]+ )?(?!(?:errors?|warnings?|issues?|problems?|comments?|results?|messages?|failures?|findings?)\b)[\w-]+s(?: please)?\W*$"
)
"""A rule in a few words: no such things."""
_CORRECTS = late(r"^(?:(?:just|maybe) )?instead,? (?!of\b)|^stattdessen\b|^plutôt\b")
"""The beginning of another way for the work at hand."""
_HALF = late(r"^(?:should|needs?|has|have|must)\b")
"""A sentence that begins with its verb: its subject is elsewhere."""
_OF_NOW = late(
    r"\b(?:dimmer|darker|lighter|brighter|bolder|bigger|larger|smaller|shorter|wider|narrower|thicker|thinner|tighter|closer|cleaner|simpler|nicer)\b(?! than\b)"
    r"|\b(?:a (?:bit|little|tad)|slightly|ein (?:bisschen|wenig)|un (?:peu|poco))\b|もう?少し"
    r"|\b(?:the )?same (?:\w+ )?as\b|\b(?:we|you)(?:['’]ve| have)? (?:just |already )?(?:made|did|done|added|changed|wrote|written)\b"
    r"|\balso (?:be )?(?:used|shown|there|handled|updated|included|covered)\b"
    r"|\b(?:dunkler|heller|größer|kleiner|kürzer|länger|breiter|schmaler|dicker|dünner)\b(?! als\b)|\bgenauso \w+ wie\b|\bauch (?:verwendet|angezeigt|behandelt)\b"
    r"|\bplus (?:sombre|clair|grand|petit|court|long|large)e?s?\b(?! que\b)|\bpareil(?:le)? que\b"
    r"|\bmás (?:oscur|clar|grande|pequeñ|cort|larg|anch)\w*\b(?! que\b)|\bigual que\b"
    "|更[暗亮大小短长宽窄]|[暗亮大小短长宽窄]一点|[和跟与].{1,12}一样"
)
"""A wish relative to the present state: once it was met, it means nothing any more."""
_SPARES = late(
    r"^(?:keep|leave|retain|preserve|behalte|lass(?:e|t)?|garde[rz]?|laisse[rz]?|conserve[rz]?|mantén|deja)\b|^(?:保留|保持)"
)
_WORKS_ON = late(
    r"^(?:add|remove|delete|drop|rename|move|create|implement|fix|refactor|rewrite|revert|merge|split|replace|convert|get rid of|show|allow"
    r"|füge?|entfern\w*|lösch\w*|benenne?|erstell\w*|behebe?|ersetz\w*|ajoute[rz]?|supprime[rz]?|renomme[rz]?|crée[rz]?|corrige[rz]?|remplace[rz]?"
    r"|añade|agrega|elimina|quita|crea|corrige|reemplaza)\b|^(?:添加|增加|删除|去掉|移除|创建|修复|修改|替换)"
)
"""The beginning of an item in a request that is work to be done."""
_LASTS = late(
    r"\b(?:never|always|from now on|in general|every time|each time|nie|niemals|immer|ab jetzt|jamais|toujours|désormais)\b"
    "|永远|总是|以后|今后|从现在"
)


@lru_cache(maxsize=_REMEMBERED)
def asks(sentence: str) -> bool:
    """Whether a sentence is a question, with or without a question mark."""
    sentence = sentence.lower()
    if ("?" in sentence or "？" in sentence) and _TAG.search(sentence) is not None:
        return True
    if _ASKED.match(without_fillers(sentence)) is not None:
        return True
    return not sentence.isascii() and _ASKED_LAST.search(sentence) is not None


def without_fillers(sentence: str) -> str:
    """A sentence without the filler words at its beginning."""
    sentence = sentence.strip()
    found = _FILLER.match(sentence)
    return sentence[found.end() :] if found is not None else sentence


def guesses(sentence: str) -> bool:
    """Whether a sentence states an assumption rather than a fact."""
    return _GUESSED.stand_in(sentence)


def takes_back(prompt: str) -> bool:
    """Whether a prompt takes back the one before it, or says that the work on it was undone."""
    if _TAKES_BACK.match(prompt) is not None or undid(prompt):
        return True
    # What is wrong with the work may be said first.
    return len(prompt) <= _SHORT and any(map(_REVERTS.match, re.split(r"[.!;:–—,]\s+", prompt)[1:]))


def undid(prompt: str) -> bool:
    """Whether the user says that the work before was undone already; what was asked for may still be wanted."""
    # The pattern tests each of the first characters of a prompt, and few prompts hold such a verb.
    low = prompt.partition("\n")[0].casefold()
    return any(map(low.__contains__, _UNDOES)) and _UNDID.match(prompt) is not None


def refutes(prompt: str) -> bool:
    """Whether a prompt calls the answer before it wrong."""
    return _REFUTES.match(prompt) is not None


_WITHDRAWS = late(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|sure|no|actually|please|and|but|well|then|also|let['’]s|you can|we can)[\s,.]+)*"
    r"(?:skip|forget(?: about)?|never ?mind|no need (?:for|to)|let['’]s not|(?:we |you )?(?:don['’]t|do not) (?:need(?: to)?|bother (?:with|to|about)))\b"
)
_PUTS_OFF = late(r"(?i)\b(?:yet|until|till|before|now|first|unless|if|when|later|today)\b")


def withdrawn(sentence: str) -> str:
    """The work that a user's sentence cancels; empty where it cancels none, or only postpones it."""
    found = _WITHDRAWS.match(sentence)
    if found is None or asks(sentence) or _PUTS_OFF.search(sentence):
        return ""
    return re.split(r"[,;:]", sentence[found.end() :], maxsplit=1)[0].strip(" .!")


_REVOKES = late(
    r"(?i)^(?:(?:ok(?:ay)?|no|actually|well|but|and|so|fine|alright|then|nein|doch|also|bon|alors|bueno|vale)[\s,.]+)*(?:"
    r"(?:you|we) (?:can|may|could|are allowed to) (?=.*\b(?:now|again|after all|from now on|any ?way)\b)(?!now see)"
    r"|(?:it['’]s|it is) (?:now )?(?:ok(?:ay)?|fine|all ?right|allowed) (?:now |after all )?(?:to|if you|if we)\b"
    r"|(?:forget|ignore|drop|skip|scrap|lift) (?:about )?(?:what i said|(?:the|my|that|this) (?:\w+ ){0,2}(?:rule|restriction|constraint|requirement|limit|ban|instruction)s?)(?: (?:about|on|that|of|for|with))?"
    r"|(?:there(?:['’]s| is) )?no (?:more )?need to (?=.*\b(?:any ?more|any longer|after all|now)\b)"
    r"|(?:you |we )?(?:don['’]?t|do not|needn['’]?t)(?: need to| have to)? (?=.*\b(?:any ?more|any longer|after all)\b)"
    r"|du darfst (?=.*\b(?:jetzt|doch|wieder|nun)\b)|vergiss (?:die|meine) (?:\w+ )?regel\b|(?:die|meine) regel (?:mit|über|zu|von)\b(?=.*\b(?:nicht mehr|aufgehoben|hinfällig)\b)"
    r"|tu peux (?=.*\b(?:maintenant|finalement|de nouveau)\b)|oublie (?:la|ma) (?:règle|consigne)\b|ya puedes\b|olvida (?:la|mi) regla\b)"
    r"|^(?:现在|可以)?可以(?=.*了)|^(?:取消|忘掉|忽略)(?=.*(?:规则|限制|要求))|^不用再"
)
_ALLOWED = late(
    r"(?i)^(.{3,120}?) (?:is|are) (?:(?:ok(?:ay)?|fine|allowed|possible) (?:now|again|after all)|(?:now|again) (?:ok(?:ay)?|fine|allowed)"
    r"|(?:no longer|not) (?:needed|required|necessary|relevant|a requirement)(?! (?:for|in|on|when|if|here|by)\b))(?=[\s,.;:!—–-]|$)"
    r"|^(.{3,120}?) (?:ist|sind) (?:(?:jetzt|nun|doch|wieder) )+(?:ok(?:ay)?|erlaubt|in ordnung)(?=[\s,.;:!—–-]|$)"
    r"|^(.{3,120}?) (?:ist|sind|wird|werden) nicht mehr (?:nötig|notwendig|gebraucht|erforderlich)\b"
)


_SINCE_NOW = late(
    r"(?i)\b(?:now|again|any ?more|any longer|after all|anyway|jetzt|nun|doch|wieder|nicht mehr|maintenant|finalement|de nouveau|ya|ahora)\b|现在|了$"
)
_NAMES_RULE = late(
    r"(?i)\b(?:rule|restriction|constraint|requirement|limit|ban|instruction|regel|règle|consigne|regla)s?\b|规则|限制|要求"
)


@lru_cache(maxsize=_REMEMBERED)
def revoked(sentence: str) -> frozenset[str]:
    """The subject of a user's sentence that allows what a rule forbade, or drops its demand; empty for any other sentence."""
    if asks(sentence):
        return frozenset()
    found = _REVOKES.match(sentence)
    if found is not None:
        what = sentence[found.end() :]
    elif (allowed := _ALLOWED.match(sentence)) is not None:
        what = next(filter(None, allowed.groups()))
    else:
        return frozenset()
    what = re.split(r"[,;:，；：]\s?", what, maxsplit=1)[0]
    words = frozenset(content_words(_NAMES_RULE.sub(" ", _SINCE_NOW.sub(" ", what))))
    # A single common word is not enough unless the sentence calls it a rule.
    if len(words) < _LEAST_REVOKED and all(map(str.isalpha, words)) and not _NAMES_RULE.search(sentence):
        return frozenset()
    return words


_WORKS = late(
    r"(?i)^(?:[\w’']+[\s,.!]+){0,4}?(?:it|everything|all of (?:it|that)|all|that|this) (?:all |now |really |actually )?works\b"
    r"(?![ ,]+(?:on|with|for|like|by|as|in|only|but|except|unless)\b)|^(?:\w+,? ){0,2}works (?:great|fine|perfectly|nicely|now|well)\b"
)
_SAYS_NO = late(
    r"(?i)\b(?:if|when|until|unless|whether|how|why|not|n['’]t|never|almost|nearly|partly|hardly|make sure)\b"
)


def says_it_works(sentence: str) -> bool:
    """Whether a user's sentence says that the result works, and so was tried."""
    # The pattern tests each character of a sentence, and most sentences do not hold the word.
    return (
        "works" in sentence.casefold()
        and bool(_WORKS.search(sentence))
        and not asks(sentence)
        and not _SAYS_NO.search(sentence)
    )


def is_pleased(prompt: str) -> bool:
    """Whether a prompt approves of the result and wants nothing else."""
    return _PLEASED.search(prompt) is not None or only_praises(prompt)


@lru_cache(maxsize=_REMEMBERED)
def only_praises(prompt: str) -> bool:
    """Whether a prompt is nothing but praise and thanks."""
    return len(prompt) <= _PRAISE and _PRAISES.fullmatch(prompt) is not None


def offers(question: str) -> bool:
    """Whether a question of the model's offers to do something."""
    return _OFFERS.search(question) is not None


def offers_more(question: str) -> bool:
    """Whether a question of the model's offers something beside what was asked for, out of courtesy."""
    return _OFFERS_MORE.search(question) is not None


def without_offer(question: str) -> str:
    """A question of the model's without the words that make it an offer."""
    return _OFFERS.sub(" ", question)


def declines(prompt: str, question: str) -> bool:
    """Whether a prompt declines the offer in a question."""
    return offers(question) and _DECLINES.match(prompt) is not None


def agrees(prompt: str) -> bool:
    """Whether a prompt begins by accepting an offer."""
    return _AGREES.match(prompt) is not None


def denies(prompt: str) -> bool:
    """Whether a prompt begins with a no to an answer that asked nothing."""
    return _DENIES.match(prompt) is not None


@lru_cache(maxsize=_REMEMBERED)
def demands(sentence: str) -> bool:
    """Whether a user's sentence states a rule or a limit that holds from now on."""
    if asks(sentence) or refutes(sentence):
        return False
    sentence = sentence.lower()
    words = without_fillers(_CODE.sub(" ` ", sentence))
    if _NOTHING_OF.match(words) is not None:
        return True
    if revoked(sentence) and _FORBIDS.search(words) is None:
        return False
    if len(words) < len(sentence) and len(words.split()) < _LEAST_WORDS and words.isascii():
        return False
    guessed = guesses(words)
    if _OBLIGED.may_stand_in(words) and _OBLIGED.pattern.search(_CONCLUDES.sub(" ", words)) is not None:
        return not (guessed and _BREAKS.search(words) is not None)
    if guessed and not words.startswith(("i would only", "i'd only")):
        return False
    words = _STATES.sub(" ", words)
    if _FORBIDS.search(words) is not None:
        return True
    if denies(sentence) or _CORRECTS.match(words) is not None:
        # The sentence corrects one answer.
        return False
    words = _WORK.sub(" ", words)
    if _RULE_BRIEF.search(words) is not None:
        return True
    if len(words.split()) <= _LEAST_WORDS and len(_APOSTROPHE.split(words)) <= _LEAST_WORDS:
        return False
    return _RULE_FIRST.search(words) is not None or (_RULES.search(words) is not None and not _is_half(words))


def orders(sentence: str) -> bool:
    """Whether a sentence asks to write one thing: a plan, a commit, a report."""
    return _ORDERS.match(without_fillers(sentence.lower())) is not None


def is_for_once(sentence: str, *, ordered: bool, amid: Sequence[str]) -> bool:
    """Whether a demand binds one piece of work only. `ordered`: something was to be written just before.

    `amid` are the items of the list that contains it. A demand that names itself lasting is never for once.
    """
    sentence = sentence.lower()
    if _LASTS.search(sentence) is not None:
        return False
    words = without_fillers(sentence)
    if _THIS_ONCE.search(sentence) is not None or _ORDERS.match(words) or _OF_THIS.match(words):
        return True
    if (ordered and (_OF_IT.match(words) or _OF_ANSWER.search(words)) is not None) or _OF_NOW.search(
        words
    ) is not None:
        return True
    if _OBLIGED.stand_in(words):
        return False
    if "without " in words and _WORKS_ON.match(words) is not None:
        # It limits the work that it asks for.
        return True
    if not amid and _HALF.search(words) is not None:
        return True
    # Beside the work, such an item limits its extent.
    return _SPARES.search(words) is not None and any(_WORKS_ON.search(item.lower()) for item in amid)


def _is_half(words: str) -> bool:
    """Whether it begins with its verb, and nothing else in it can stand alone."""
    return _HALF.search(words) is not None and "," not in words
