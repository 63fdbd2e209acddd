"""Orders to the agent about how it works, whatever it works on: how to commit, test, ask or answer, and what never to touch.

Their form tells them from what the thing made has to be, of which something else is the subject: they say first that they last,
or what the agent is not to do.
"""

from __future__ import annotations

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import markers

_LEADS = r"(?:please|remember|important|note|but|and|also|just|so|oh|ok(?:ay)?|for now|bitte|aber|und|por favor|pero|per favore|surtout|mais|s['’]il (?:te|vous) plaît)\b"
_LEAD = (
    # Between two such words only one part may match: else many of them take exponential time.
    rf"^(?:\W*{_LEADS}(?:\W*{_LEADS})*[\s,:!]*)?"
    r"(?:(?:when(?:ever)?|if|before|after|once|(?:every|each) time) (?:you|we)\b[^,;]{1,80}, ?)?"
)
_TOLD = (
    r"(?:(?:i(?:['’]d| would)? (?:want|like|need) you|remember|try) to |(?:(?:make|be) sure|ensure)(?: that)?(?: you(?: to)?| we| to)? "
    r"|(?:you|u|we)(?:['’]ll| (?:must|should|shall|will|can|may|have to|need to|are to)) )?"
)
_LASTING = r"(?:never|always|under no circumstances|nie|niemals|immer|jamais|toujours|nunca|jamás|siempre|sempre|никогда|всегда)\b"
_ACTS = r"(?:edit|modify|touch|commit|push|merge|rebase|deploy|publish|release|install|run|execute|delete|restart|start|implement|code|ask|jump)\b"
_REPORTS = r"(?:\w+[^s\W]s|the same|noch|wieder|wenn|le|la|les|un|une|el|il|lo|que|quando|cuando|quand)\b"
"""What follows such a word in a report: a verb of somebody else, or how it is again."""
_IN_GIT = r"(?:\w{0,4}(?:commit|push|rebase|deploy)\w{0,4}|\w{0,3}(?:пуш|коммит)\w{0,4})\b"
"""What programmers of many languages say for these acts."""
_NOT = r"(?:nicht|nichts|keine?n?|не)\b"
_OTHERS = r"(?!(?:i|it|he|she|we|you|they|the|this|that|there|ich|er|sie|es|wir|der|die|das|il|elle|je|le|la|on|el|yo|lo|o|a|io)\b)"
"""What begins no order."""
_KINDS = r"(?:new|external|third[- ]party|breaking|extra|additional|runtime) (?!(?:error|warning|issue|problem|comment|result|message|failure|finding)s?\b)[a-z]"
_UNWANTED = (
    r"i (?:really )?(?:do not|don['’]?t|never) want (?:you|u) to(?! (?:worry|think|feel|be)\b)|ich (?:will|möchte) nicht,? dass du|je ne (?:veux|voudrais|souhaite) pas que (?:tu|vous)"
    r"|no (?:quiero|quisiera) que(?= (?:me )?\w+[ae]s\b)|n[ãa]o quero que (?:você|voce|tu|vc)|non voglio che tu|nie chc[ęe],? (?:żebyś|zebys)|(?:я )?не хочу,? чтобы (?:ты|вы)"
)
"""What the user does not want the agent to do."""
_BY_MYSELF = (
    r"(?:i(?:['’]ll| will|['’]m going to| am going to| always)?|let me) (?:run|do|handle|make|commit|push|deploy|test|start|restart|build|publish|release|merge|execute|take care of)\b"
    r"(?!.*\b(?:it|this|that|them|these|those|now)\b)[^,;.?!]{0,60}\b(?:myself|on my own)\b(?!,? (?:and|but) (?:(?:then|still|now) )*(?:it|they|all|i|that|this|there|get|got|see|saw|fails?|breaks?)\b)"
    r"|ich (?:committe|commite|pushe|deploye|teste|starte|mache|führe)\b(?!.*\b(?:es|das|jetzt|gleich)\b)[^,;.?!]{0,60}\bselbst\b"
    r"|je (?:lance|fais|committe|pousse|déploie|teste)\b(?!.*\b(?:ça|cela|maintenant)\b)[^,;.?!]{0,60}\bmoi-même\b"
)
"""What the user does, so that the agent does not."""
ORDERS = markers(
    "|".join(
        (
            rf"{_LEAD}{_TOLD}{_LASTING} ?(?!be (?!sure)|{_REPORTS})\w",
            # In English what stands before these words is the subject of a report.
            rf"{_LEAD}{_OTHERS}[^\W\d_]+ (?!never|always|under){_LASTING} (?!{_REPORTS})\w",
            # Behind a condition it is of the thing made.
            r"^(?!(?:if|when|once)\b).{1,200}[,;:] (?:and |but )?never (?!(?:in|on|at|by|with|as|the|a|an|more|less|than|be)\b)\w",
            r"^(?:永远|总是|始终|一律|每次|いつも|常に|毎回|항상|언제나|매번)",
            rf"{_LEAD}{_TOLD}(?:not(?: to)?|do not|don['’]?t|let['’]?s not|you (?:must|should|can|may)(?:n['’]?t| not))(?: ever)? (?:(?:try|start|begin) (?:to )?)?{_ACTS}",
            rf"{_LEAD}(?:{_UNWANTED}) \w|{_LEAD}(?:{_BY_MYSELF})",
            rf"{_LEAD}(?:you|u)(?:['’]re| are)(?: not|n['’]?t| only) (?:allowed|permitted|supposed) to\b|{_LEAD}it(?:['’]s| is) (?:strictly )?(?:forbidden|prohibited) to\b",
            rf"{_LEAD}{_OTHERS}(?=(?:\w+ ){{0,2}}{_NOT})(?:\w+ ){{0,4}}{_IN_GIT}|{_LEAD}(?:no|não|non|ne) \w+ (?:\w+ ){{0,2}}{_IN_GIT}",
            r"^请?(?:不要|别|不能|不许|禁止)(?:自动|擅自|直接)?(?:提交|推送|部署|发布|合并)|^(?:コミット|プッシュ|デプロイ|マージ)は?しないで|^(?:커밋|푸시|배포|머지)하지 ?마",
            rf"{_LEAD}(?:only use|use only) [\w@./-]+\W*$|{_LEAD}(?:you|u|we)(?:['’]ll| (?:must|should|will)) only (?!(?:be|see|get|find)\b)\w",
            rf"{_LEAD}(?:the|every|each|all|your) (?:commit messages?|commits?|pull requests?|prs?)\b.{{0,20}} (?:must|should|ha(?:s|ve) to|needs? to)\b",
            rf"{_LEAD}{_TOLD}(?:ask|check with|tell) (?:me|us|first|for)\b.{{0,60}}\bbefore (?:you )?(?:any|every|each|\w+ (?:any|every|each)|{_IN_GIT}|(?:delet|remov|merg|publish|install)\w+)",
            r"^.{0,120}\bbefore (?:asking me|any|every|each|(?:you|we) (?:say|tell|claim|commit|push|merge|start|begin|touch|change|edit|finish|report))\b",
            rf"^(?!.*\b(?:if|whether)\b).{{0,120}}(?:\b(?:without(?: any)?|(?:add|use|introduce|with) no)|(?:\b(?:not|avoid|stop)|n['’]t) (?:add|us|introduc)(?:e|ing)?(?: any)?) {_KINDS}|^(?:please )?no {_KINDS}",
            rf"{_LEAD}{_TOLD}(?:answer|respond|reply|speak|talk)(?: to me| me)? in (?!(?:the|a|an|this|that|one|two|json|markdown)\b)[a-z]+\W*$",
            r"^(?:antworte (?:auf|in)|auf(?= \w+ antworten)|répond(?:s|ez) en|respónd?eme en|respond[ea](?:me)? e[nm]|odpowiadaj po|отвечай(?:те)? (?:на|по)) \w+(?: antworten)?\W*$",
            r"[用語어](?:(?<=用)\w{1,4}(?:回答|回复|回覆)|(?<=\w語)で(?:答え|回答|返事|返答|応答)|(?<=\w어)로 (?:답|대답|응답))",
            r"\b(?:from now on|in (?:the )?future|going forward|ab (?:jetzt|sofort)|künftig|in zukunft|désormais|dorénavant|a partir de (?:ahora|agora)|de ahora en adelante|d['’]ora in poi)\b|впредь|今后|从现在|以后都|今後",
        )
    ),
    "never always circumstances nie niemals immer jamais toujours nunca siempre sempre not dont don allowed permitted supposed forbidden prohibited nicht nichts kein keine keinen "
    "no non ne only ask check tell before without avoid stop answer respond reply speak talk antworte antworten responde respondeme responda odpowiadaj now future forward "
    "want dass veux voudrais souhaite quiero quisiera quero voglio chce myself own selbst moi "
    "lets let must should commit commits has have needs jetzt sofort zukunft partir adelante ora",
)
"""Such an order, in lower case."""
_OF_THE_WORK = late(
    r"\b(?:edit|change|update|modify|adjust|add|write|rewrite|put|create|fix|configure|extend|ändere|ergänze|schreib\w*|modifie\w*|ajoute\w*|change[rz]|cambia|añade|escribe)\b[^,;]{0,200}?"
    r"\b(?:to|that|which|who|so|it|they|damit|dass|d[eao]ss|que|pour|para)\b.{0,24}?\b(?:never|always|nie|niemals|immer|jamais|toujours|nunca|siempre)\b"
)
"""Lasting words about what is to be made: the sentence asks for the work."""


def orders_agent(sentence: str) -> bool:
    """Whether a sentence is an order to the agent about how it works."""
    return ORDERS.stand_in(sentence) and _OF_THE_WORK.search(sentence.lower()) is None
