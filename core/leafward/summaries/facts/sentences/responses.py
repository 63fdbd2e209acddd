"""What a prompt says to the answer before it: agreement, refusal, praise, correction; and what that answer offered."""

from __future__ import annotations

import re
from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.prose import REMEMBERED, sentences
from leafward.summaries.facts.sentences.questions import asks

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
    r"(?i)^(?:(?:hm+|sorry|wait|wtf|um+|ok(?:ay)?|well|but|actually|no|nope|nah|nein|nee|doch|non|mais|aber|nie|ale)[\s,.!]+)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was|s)? (?:just |simply |completely |totally )?(?:not (?:right|true|correct|it|the case|what|how|the (?:problem|cause|reason|issue))"
    r"|wrong|incorrect|false|nonsense|horrible)\b|you(?:['’]re| are) (?:wrong|mistaken)\b|wrong\b|(?:das |es )?(?:stimmt|geht|funktioniert|klappt|passt) (?:so |immer noch |noch immer |weiterhin |leider |noch |auch )?nicht\b"
    r"|(?:das ist |du liegst )?falsch\b|c['’]est faux\b|ça ne (?:marche|fonctionne) (?:toujours )?pas\b"
    r"|(?:to (?:jest )?)?(?:źle|zle|błędn[aey]|nieprawda|nie tak)\b|(?:(?:to|nadal|dalej|wciąż|ciągle) )*nie (?:działa|dziala)\b|(?:nadal|dalej|wciąż) (?:ten sam|to samo)\b"
    r"|不对|不是这样|不是这个意思|错了|不行|没用|(?:还是|仍然|依然|还)(?:不行|不对|没用|报错|失败|有问题|一样)|違う|違います|いいえ)"
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
    r"(?i)(?>(?:(?:this|that|it)(?:['’]s| is| was| looks)? (?:really |very |so |super |absolutely |just |exactly )*(?:helpful|great|good|perfect|excellent|awesome|amazing|wonderful|fantastic|fascinating|impressive|beautiful|incredible|brilliant|what i (?:needed|wanted|meant))"
    r"|(?:thank you|thanks|thx|cheers|danke|merci|gracias)(?: (?:so|very) much| a lot| for [^.!?\n]{1,80}| you)?|(?:great|good|nice|excellent|awesome) (?:job|work|stuff)"
    r"|wow|oh|ok(?:ay)?|yes|great|perfect|nice|cool|super|awesome|excellent|lovely)[\s,.!…:)]*)++"
)
"""A prompt of words of praise, thanks and agreement alone."""
_PRAISING = late(
    r"(?i).*(?:helpful|great|good|perfect|excellent|awesome|amazing|wonderful|fantastic|fascinating|impressive|beautiful|incredible|brilliant|nice|lovely|needed|wanted|thank|thx|cheers|danke|merci|gracias)"
)
"""Words of praise, of which such a prompt holds one."""
_APPROVES = late(
    r"(?i)(?>(?:(?:das |es )?(?:sieht|schaut) (?:sehr |richtig )?gut aus|passt(?: so| alles)?|(?:alles |sehr )?gut(?: so)?|alles klar|(?:das |es |jetzt )*(?:klappt|läuft|funktioniert)(?: jetzt)?"
    r"|super|toll|prima|perfekt|klasse|(?:vielen )?dank|danke(?: dir| schön| sehr)?|ok(?:ay|ej)?|ja|tak|dobrze|dobra|(?:jest |wygląda )?(?:super|świetnie|dobrze|ok)|idealnie|w porządku"
    r"|(?:to |teraz |już |wszystko )*(?:działa|dziala)(?: teraz)?|dzięki|dzieki|dziękuję)\b[\s,.!…]*"
    r"|(?:好的?|嗯|很好|不错|完美|太好了|太棒了|可以了?|没问题了?|好了|能用了|正常了|搞定了?|就这样|谢谢[你您]?|多谢|辛苦了)[\s，,。.！!、…~]*)++"
)
"""A prompt of such words alone in other languages."""
_APPROVING = late(
    r"(?i)\W*(?!ja\b|tak\b|好的?(?:[\s，,。！!]|$)|ok)(?:.*(?:gut|passt|klappt|läuft|funktioniert|klar|super|toll|prima|perfekt|klasse|dank|świetnie|dobrze|idealnie|porządku|działa|dziala|dzięki|dzieki|dziękuję)"
    r"|.*(?:很好|不错|完美|太好了|太棒了|了$|谢|就这样))"
)
"""Approval in it: a mere yes, with thanks or without, may accept an offer."""
_AGREES = late(
    r"(?i)(?:(?:yes|yeah|yep|yup|ok(?:ay)?|sure|please|agreed?|sounds good|do|go|let['’]s|use|that (?:was|is) the idea|ja|gerne|mach|oui|d['’]accord|vas-?y|s[ií]"
    r"|tak|jasne|pewnie|dobra|okej|zrób|zrob)\b|好|可以|是的|对[,，]|嗯|同意|没问题|はい|お願い|네|응(?!\w)|그래(?!\w)|그렇게 (?:해|하자|진행)|좋아(?!\w))"
)
_DENIES = late(r"(?i)^(?:no|nope|nah|nein|non|nie)[,.!]+\s")
_OFFERS = late(
    r"(?i)\b(?:(?:do you |would you )?(?:want|like|prefer)(?: for)? me to|shall (?:i|we)|should (?:i|we)|may i|can i|ready to|is it ok(?:ay)? (?:to|if)"
    r"|soll(?:en)? (?:ich|wir)|möchtest du|möchten sie|willst du|dois-je|veux-tu|voulez-vous|(?:tu veux|vous voulez) que|souhaite[sz]|quier[eé]s que|querés que|debo|¿lo |chcesz,? żebym|chcecie,? żebym|czy (?:mam|mogę|mamy|chcesz|chcecie)|mam (?:zacząć|dodać|zrobić|to|też)|vuoi che|devo|quer que eu|posso)\b"
    r"|(?:要不要|需要我|要我|是否需要|可以吗)|(?:しましょうか|しますか)"
)
"""A question that offers something."""
_OFFERS_MORE = late(
    r"(?i)\bwould you like\b|\b(?:want|like) me to (?:also|help|add (?:any|more|other))\b|\b(?:shall|should|can|may) i (?:also )?help\b|\b(?:anything|something|any(?:thing)?) (?:else|other|more|additional)\b"
    r"|\bnoch etwas\b|\bsonst noch\b|\bautre chose\b|\balgo más\b|还有(?:什么|其他)|他に"
    r"|\b(?:soll(?:en)?|darf|kann) (?:ich|wir) (?:auch|noch)\b|\b(?:dois-je|veux-tu|voulez-vous|souhaite[sz])\b.*\baussi\b|\b(?:quieres|debo)\b.*\btambién\b"
    r"|(?:要不要|需要我|是否).*(?:顺便|也|再)|も.{1,16}(?:しますか|しましょうか)"
)
"""A question that offers more than was asked for."""
_DECLINES = late(
    r"(?i)^n\W*$|^(?:no|nope|nah|nein|nee|nie|non|нет)\b(?!\s+(?:idea|clue|problem|worries|rush|doubt)\b)|^(?:not (?:now|yet|really|needed|necessary)|(?:please )?(?:don['’]?t|do not)|lass (?:das|es)"
    r"|lieber nicht|laisse|pas maintenant|mejor no|zostaw|lepiej nie)\b|^(?:不用|不要|先不|不需要|不必|不了|没必要|暂时不|别|不[,，。！!\s]*$)|^(?:いいえ|結構です|大丈夫です|いりません|不要です)"
)


_COURTESY = late(
    r"(?i)\b(?:no|nope|nein|nee|nie|non|нет|thanks?(?: you)?|danke|dzięki|dziękuję|merci|gracias|спасибо|that(?:['’]s| is) (?:all|enough|fine|it)|das (?:reicht|wär['’]?s|war['’]?s)(?: so)?|passt(?: so| schon)?"
    r"|(?:to )?wystarczy|ça suffit|c['’]est bon|es suficiente)\b|谢谢|够了|就这样"
)
"""Words around a refusal that ask for nothing."""


def only_refuses(prompt: str) -> bool:
    """Whether a prompt declines an offer in whatever many words, and says nothing else."""
    return _DECLINES.match(prompt) is not None and not content_words(_COURTESY.sub(" ", prompt))


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


_OBJECTS = late(
    r"(?i)^(?:u[hm]+|er+m?|eh+|hm+|ähm*|euh+)[\s,.!…]+(?:no|nope|nah|nein|nee|non)\b(?!\W+(?:problem|worr|thank|need|idea|merci|danke))"
)


def objects(prompt: str) -> bool:
    """Whether a prompt hesitates and then says no: behind an answer that asked nothing it turns that answer down."""
    return _OBJECTS.match(prompt) is not None


_REDOES = late(
    r"(?i)^(?:(?:ok(?:ay)?|no|hm+|actually|please|sorry|better|and|but|nein|nie)[\s,.]+)*(?:(?:make|turn|do|put|write|build|call|name) (?:that|it|this|them)\b.{1,80}\binstead\W*$"
    r"|(?:mach|bau|schreib)(?:e)? (?:das|es) (?:lieber|stattdessen)\b|fais(?:-le| ça) plutôt\b|(?:把它)?(?:改成|换成))"
)


def redoes(prompt: str) -> bool:
    """Whether a prompt wants the work before it done in another way: `make that a subcommand instead`."""
    return _REDOES.match(prompt) is not None


_WITHDRAWS = late(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|sure|no|actually|please|and|but|well|then|also|let['’]s|you can|we can)[\s,.]+)*"
    r"(?:skip|forget(?: about)?|leave (?:out|aside|away)|cancel|scrap|never ?mind|no need (?:for|to)|let['’]s not|(?:we |you )?(?:don['’]t|do not) (?:need(?: to)?|bother (?:with|to|about)))\b"
)
_NOT_NEEDED = late(
    r"(?i)^(?:(?:ok(?:ay)?|no|actually|and|but|well)[\s,.]+)*(?:the )?(.{3,60}?) (?:is|are) (?:not|n['’]t|no longer) (?:needed|necessary|required|wanted)(?: any ?more)?\W*$"
)
_ALL_STEPS = late(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|no|nope|hm+|wait|stop|actually|please|and|but|well|so|then|sorry|you know what|on second thought)[\s,.!–—-]+)*(?:"
    r"(?:forget|scrap|drop|abandon|discard|ignore)(?: about)? (?:(?:the|your|this|that|our|my) (?:whole |entire |old |original )?(?:plan|(?:next |remaining )?steps|approach|list|todos?)\b|everything\b(?! (?:in|from|about|below|above)\b)|all (?:of )?(?:that|this)\b)"
    r"|(?:let['’]?s |we |please |can we |can you )*(?:start|begin) (?:over|afresh|anew|from (?:scratch|zero|the (?:beginning|start|zero)))\b(?! (?:on|in|at)\b)"
    r"|change of plans?\b|(?:let['’]?s|we(?:['’]ll| should)?) (?:take|try|go|do|use) (?:in )?(?:an?(?:other)? )?(?:completely |totally )?(?:different|new|other)? ?(?:approach|direction|route)(?= *$| *[,:;.!–—])"
    r"|(?:vergiss|verwirf) (?:den|deinen|diesen) plan\b|(?:lass uns |wir )?(?:noch ?mal )?von vorne? (?:anfangen|beginnen)|fang(?:en wir)? (?:noch ?mal )?von vorne? an\b|planänderung\b"
    r"|oublie[rz]? (?:le|ton|votre|ce) plan\b|(?:on )?repar(?:t|tons|s) (?:de|à) zéro\b|changement de plan\b"
    r"|olvida (?:el|tu|ese) plan\b|(?:empecemos|empieza|empezar|volvamos a empezar) (?:de|desde) (?:cero|nuevo)\b|cambio de planes?\b|esque[cç]e o plano\b|(?:vamos )?começar do zero\b|mudança de planos?\b)"
    r"|^(?:我们)?(?:重新开始|从头(?:开始|再来)|重来吧|换(?:个|一个)(?:方案|思路|方向))"
)
_IT = late(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|no|nope|nah|hm+|actually|please|and|but|well|then|sorry)[\s,.!–—-]+)*(?:(?:forget|scrap|skip|drop)(?: about)? (?:that|it|this|those|them|these)|never ?mind(?: that| it)?|leave (?:that|it) out"
    r"|vergiss (?:das|es)|lass (?:das|es) (?:weg|sein|bleiben)|oublie[rz]? (?:ça|cela)|laisse[rz]? tomber|olvídalo|olvida eso|déjalo|esque[cç]e isso|deixa pra lá|算了|不用了)(?= *$| *[,:;.!–—，。])"
)
_PUTS_OFF = late(r"(?i)\b(?:yet|until|till|before|now|first|unless|if|when|later|today)\b")

_LETS_BE = late(
    r"(?i)^(?:(?:you|we|i|can|just|ok(?:ay)?|yeah|yes|no)[\s,.!]+)*(?:(?:leave|keep) (?:it|that|this|them|those|these)\b|(?:fine|good) (?:as (?:it|that) is|like (?:this|that))\b"
    r"|(?:lass|behalte?) (?:es|das|sie)\b|(?:laisse|garde)[rz]?(?:-| )(?:le|la|les|ça|comme)\b|déja(?:lo|la)\b)|^(?:留着|保留|不用改)"
)

_DID_IT = late(
    r"(?i)^(?:[\w’']+[\s,.!]+){0,3}?i(?:['’]ve| have)? (?:\w+ )?(?:fixed|did|done|solved|removed|added|changed|made|mended|committed|pushed|deleted|renamed|moved) (?:it|that|this|them|those)(?: all)?"
    r" (?:myself|by hand|manually|already)\b|^(?:das )?hab(?:e)? ich (?:schon |jetzt )?selbst\b|^je l['’]ai fait moi-même\b|^我自己(?:已经)?.{0,8}了"
)


def did_it(prompt: str) -> bool:
    """Whether the user says that he did himself what was asked for."""
    return _DID_IT.match(prompt) is not None


def lets_be(prompt: str) -> bool:
    """Whether a prompt answers a question by leaving a thing as it is."""
    return _LETS_BE.match(prompt) is not None


def withdrawn(sentence: str) -> str:
    """The work that a user's sentence cancels; empty where it cancels none, or only postpones it."""
    unneeded = _NOT_NEEDED.match(sentence)
    if unneeded is not None and not asks(sentence):
        return unneeded[1]
    found = _WITHDRAWS.match(sentence)
    if found is None or asks(sentence) or _PUTS_OFF.search(sentence):
        return ""
    return re.split(r"[,;:]", sentence[found.end() :], maxsplit=1)[0].strip(" .!")


def drops_steps(sentence: str) -> bool:
    """Whether a user's sentence turns away from all that was planned: `forget the plan`, `let us start over`."""
    return _ALL_STEPS.match(sentence) is not None and not asks(sentence)


def drops_it(sentence: str) -> bool:
    """Whether a user's sentence cancels what the answer before it told, and names nothing: `forget that`."""
    return _IT.match(sentence) is not None and not asks(sentence)


_CALLS_OFF = late(
    r"(?i)^(?:(?:no|stop|wait|hold on|ok(?:ay)?|please|sorry|actually|nein|stopp|halt|bitte|non|arrête)[\s,.!–—-]+)*"
    r"(?:(?:do not|don['’]?t|no longer|stop|let['’]s not|never ?mind)\s+([^.,;:!?\n]{3,80})|(?:lass|lasst|lassen sie) (?:das |den |die |es )?(.{3,60}?) (?:sein|bleiben)\b|(?:ne |n['’])?([a-zéèê]+(?:-(?:le|la|les))?) (?:pas|plus) ([^.,;:!?\\n]{2,60}))"
)
_INSTEAD = late(
    r"(?i)\b(?:instead of|rather than|not|no more|statt|anstelle von|anstatt|au lieu (?:de |d['’])|en lugar de|en vez de) ([^.,;:!?\n]{2,60})|(?:而不是|不用|不要)([^。,，;；!?\n]{2,20})"
)
_TURNS = late(
    r"(?i)^(?:(?:no|ok(?:ay)?|hm+|wait|well|but|sorry|please|nein|ach|non)[\s,.!–—-]+)*(?:actually|on second thought|let['’]?s|let us|i(?:['’]d| would) (?:rather|prefer)|we (?:should|will|want)|change of plan|eigentlich|doch|lieber|mach|finalement|en fait|mejor|mieux)\b|^(?:不|还是|改)"
)
"""The beginning of a prompt that takes another way."""


def calls_off(prompt: str, asked: str) -> bool:
    """Whether a prompt calls off what an earlier one asked for: `stop, do not port it` of `Port the lexer`."""
    found = [match for match in map(_CALLS_OFF.match, sentences(prompt)) if match is not None]
    if not found:
        return False
    wanted = frozenset(content_words(asked))
    called_off = (content_words(" ".join(filter(None, match.groups()))) for match in found)
    return any(words and wanted.issuperset(words) for words in called_off)


_ACCEPTS = late(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|no|well|ah|oh)[\s,.!]+)*(?:(?:that|this|it)(?:['’]s| is)|das ist|c['’]est|está) (?:fine|ok(?:ay)?|all ?right|expected|intended|in ordnung|gut so|richtig so|normal|bien)\b(?! (?:for now|but|if|when|only)\b)"
)


def accepts(prompt: str) -> bool:
    """Whether a prompt begins by accepting a result as it is: `that is fine`."""
    return _ACCEPTS.match(prompt) is not None


def turns_from(prompt: str, asked: str) -> bool:
    """Whether a prompt wants another way in place of the one that an earlier prompt named: `let us do REST instead of GraphQL`."""
    if _TURNS.match(prompt) is None:
        return False
    wanted = frozenset(content_words(asked))
    left = (content_words(next(filter(None, found))) for found in _INSTEAD.findall(prompt))
    return any(words and wanted.issuperset(words) for words in left)


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


@lru_cache(maxsize=REMEMBERED)
def only_praises(prompt: str) -> bool:
    """Whether a prompt is nothing but praise and thanks."""
    if len(prompt) > _PRAISE:
        return False
    if _PRAISES.fullmatch(prompt) is not None:
        return _PRAISING.match(prompt) is not None
    return _APPROVES.fullmatch(prompt) is not None and _APPROVING.match(prompt) is not None


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


_WITH_THE_WORK = (
    r"(?> ?,? (?:(?:on|with|from|mit|con|com|avec|met|od|с|z) ){0,2}+"
    r"(?:(?:the|your|this|that|these|those|der|die|das|dem|den|la|el|le|les|il|lo|o|a|het) )?+"
    r"(?:(?:remaining|next|other|last) )?+"
    r"(?:tasks?|work|job|plan|rest|steps?|it|this|that|(?:where|what) (?:you|we) (?:left(?: it)?|stopped|were|had)(?: (?:off|doing|working on))?"
    r"|aufgaben?|arbeit|tarea|trabajo|tarefa|trabalho|tâche|travail|compito|lavoro|zadani[ea]|pracę|prac[aey]|taak|werk|работу|задачу|задание|работой)\b)?"
)
"""What is gone on with, in one of the languages of `_GOES_ON`: it names no subject."""
_GOES_ON = late(
    # In Spanish and Portuguese `resume` asks for a summary.
    r"(?i)^(?:(?>(?:go on|go ahead|keep going|keep (?:at it|working)|carry on|pick up|proceed|resume(?! (?:el|la|lo|o|a)\b)|retry|try again|continue[rz]?|(?:mach )?weiter(?:machen)?|fahre? fort"
    r"|poursui[st]|reprends|contin[uú]a[rd]?|contin[uú]e|sigue|siga|prosigue|prossiga|prossegue|(?:pode )?(?:continuar|seguir|prosseguir)|segue|vai avanti|prosegui|procedi|kontynuuj|ga (?:verder|door)|devam et|продолжай(?:те)?)\b"
    rf"{_WITH_THE_WORK}|(?:and|then|now|yes|yep|yeah|ok(?:ay)?|please|pls|just|do it|sure|go|don['’]?t stop|no pares|nicht aufhören|não pare|então|entonces|alors|dann|ja|bitte|oui|d['’]accord"
    r"|vas-?y|s[ií]|por favor|adelante|да|давай|дальше|dalej)\b)(?:[\s,.!]++|$))++"
    r"(?:(?:i(?:['’]ve| have)? (?:now )?(?:gave|given|granted) you|you (?:now )?have) (?:\w+ ){0,3}(?:permissions?|access|rights)\b.{0,20})?$"
    r"|^(?:(?>ok(?:ay)?|好的?|行|嗯|那|请|可以|(?:不要|别)停(?:下来)?|(?:继续|接着)(?:完成|执行|进行|做)?(?:之前的|剩下的|剩余的)?(?:任务|工作)?吧?|(?:(?:作業|タスク)を?)?(?:続けて|続行して)(?:ください|下さい)?"
    r"|お願いします|はい|네|계속(?: ?(?:진행)?해(?:줘|주세요)?)?)[，,，。、！!\s]*+)++(?:[我已经给你了现在有到开]{0,6}(?:授权|权限)[给你了吧开到]{0,4}[。！!]?)?$"
)


def keeps_going(prompt: str) -> bool:
    """Whether a prompt only asks to go on."""
    return _GOES_ON.match(prompt) is not None
