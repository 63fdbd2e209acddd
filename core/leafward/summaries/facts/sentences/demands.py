"""The purpose of a user's sentence: a question wants an answer, a rule holds from now on, the rest is talk or work.

Words identify a rule: some forbid or oblige in any surroundings (`never`, `must`), others only in a sentence of their own
that is neither a question, nor a guess, nor a remark on the state of things.
"""

from __future__ import annotations

import re
from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.complaints import complains
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.labels import names_cause
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.prose import REMEMBERED, sentences
from leafward.summaries.facts.sentences.questions import asks, guesses, without_fillers
from leafward.summaries.facts.sentences.responses import denies, refutes
from leafward.summaries.facts.sentences.standing_orders import ORDERS, orders_agent

_CODE = late(r"`[^`]{0,200}`|[@\w.]{0,80}\([^()]{0,200}\)|\{[^{}]{0,400}\}|\"[^\"\n]{0,200}\"")
"""Quotes and asides in a sentence, which oblige nobody."""
_QUOTES = late(r"[`({\"]")
"""A sign that each of them has."""
# All patterns except those of the first words are in lower case, like the text that they are matched with.
_OBLIGED = markers(
    r"\b(?:must|mustn['’]?t|never|always|mandatory|forbid(?:den)?|prohibited|under no circumstances|at (?:most|least)|no (?:more|longer|later) than"
    r"|niemals|nie|muss|musst|müsst|müssen|darf|darfst|dürft|dürfen|(?<!noch )(?<!wie )immer(?! noch| wieder| mehr| weniger)|jamais"
    r"|(?<!est )(?<!sont )(?<!marche )(?<!fonctionne )toujours(?! pas)|doi[st]|doivent|devez|il faut (?:toujours|absolument|impérativement|que)|il ne faut (?:pas|jamais)|nunca|debe|deve"
    r"|(?<!\bestá )(?<!\besta )(?<!\bes )(?<!\bé )(?<!\bè )(?<!\bfica )(?:siempre|sempre)(?! \w+ndo\b)"
    r"|никогда|всегда|нельзя|должен|не надо)\b"
    "|必须|不要|(?<!能)不能(?!用|运行|工作|编译|通过|打开|显示|正常)|不得(?!不)|务必|禁止|一定要|应该(?!是|可以|没)|只能|请勿"
    "|(?<![特区级类分个识性])别(?![的名处人])|(?<=[わらかがさたなばまし])ないで(?:ください|下さい|くれ|ね|。|$)|しないで|必ず|してはいけない|하지 ?마|반드시|금지|항상|절대",
    "must mustn mustnt never always mandatory forbid forbidden prohibited circumstances most least than niemals nie muss musst darf darfst "
    "immer jamais toujours dois doit doivent devez faut nunca siempre debe sempre deve",
)
_ASSUMED = late(
    r"^(?:previously|formerly|originally|früher|ursprünglich|auparavant|antes)\b|\b(?:we|i|wir|ich|on|nous) (?:had |wrongly )?(?:assumed|believed|hatten? angenommen|pensions|supposions)\b|^(?:以前|之前|原来)"
)
"""What was thought before: it holds no more."""
_TROUBLE = late(
    r"(?i)\W*(?:(?:the|my|a|another|das|le|el|o) )?(?:(?:main|only|real|whole|eigentliche) )?(?:problem|issue|trouble|bug|point|problème|problema|проблема)[eo]?s? (?:is|are|was|ist|war|est|était|es|era|é|è|в том)\b|问题(?:是|在于)|問題は|문제는"
)
"""The beginning of a sentence that says what is wrong, or what something is for."""
_POLISH = late(
    r"[ąćęłńśźż]|^nie[,.! ]+(?:to|tak|nie)\b|\b(?:czy|się|sie|jest|już|juz|ale|tylko|jeszcze|też|dziala|nadal|dalej|przez|jak|co|po) ?\b"
)
"""Letters and words of Polish, where `nie`, in German never, only denies."""
_CONCLUDES = late(
    r"\bmust (?:have been|be (?:because|due|that|the|a)\b)|\bmust (?:now|still) be\b"
    r"|(?<!we )(?<!you )\b(?:is|are|was|were)(?: now| just| still)? (?:always|never) \w+ing\b|\b(?:always|never) (?:seem\w*|happens?|happened|fails|failed|works|worked|gets|got|was|were|did|does|had)\b"
)
"""Guesses in the words of rules."""
_BREAKS = late(
    r"\b(?:(?:does|do|did|is|are|was)(?:n['’]?t| not)|violates?|breaks?|ignores?)\b.{0,160}?\b(?:must|never|always|at (?:most|least))\b"
)
"""A statement that something breaks a rule: it reports a fault, and the rule is somebody else's."""
_LOGGED = late(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\b")
"""A line of a log among a user's words, which rules nothing."""
_FORBIDS = late(
    r"(?:^|[,;:.!–—-]\s*|\b(?:and|but|please|so|then|you|should|ok|also|just|we)\s+)(?:please\s+)?(?:do not|don['’]?t|let['’]?s not(?!\s+(?:\w+ ){0,2}(?:that|this|it|so)\W*$))\s+"
    r"(?!(?:understand|know|think|see|get|care|mind|feel|remember|believe|have to|need to|like|worry)\b)\w"
)
_RULES = late(
    r"\b(?:avoid|prefer(?:ably|red)?|make sure|ensure|instead of|rather than|before (?:we|you|i|any|every|each)|by default"
    r"|no (?:new|other|more|extra|additional|need for)\b|only (?:use|if|when|for|with|in|on|the)|use only"
    r"|(?<!that )(?<!which )should(?:n['’]t)?(?: not| only| always)? (?:\w+ )?(?:be(?! good| fine| ok| done)|stay|return|use|have(?! been|\W*$)|keep|look|work|contain|show|not)\b"
    r"|(?:has|have|needs?) to (?:be|stay|have|contain|cover|work|survive|hold|keep|fit|run|pass|push)\b"
    r"|(?:want|wants) (?:it|them|all|every|no|only|the|to be|to keep)\b|(?:would|i['’]d) (?:only |prefer|like (?:it|them|all|every|no|only|the|to keep)\b)"
    r"|without (?:any new|adding|new|breaking|changing|touching|using|modifying|introducing|renaming|removing|losing)|nothing (?:may|should|is allowed to)"
    r"|leave (?:\S+ ){1,4}?(?:alone|untouched|unchanged|as (?:it is|is|they are))|(?:stay|remain|keep(?: it)?|be) (?:\w+[- ])?compatible|(?:we|you) (?:can['’]?t|cannot|may not) (?:use|add|depend|break) (?!it\b|that\b|this\b)\w+"
    r"|from now on|ab jetzt|désormais|de ahora en adelante|sin|sans|ohne|auf keinen fall|(?:kein|pas d)e(?:n|r|s)? (?:neu|weiter|ander|extern|zusätzlich|nouve|autre)\w+|нужно"
    r"|(?:bitte|soll(?:st|t|en|te)?) (?:\w+ ){0,6}nicht)\b|, (?:sonst nichts|rien d['’]autre|nada más)\W*$"
)
_RULE_FIRST = late(
    r"^(?:(?:s['’]il (?:te|vous) plaît,? )?n(?:e |['’])(?:pas |\w+ (?:pas|rien|plus)\b)"
    r"|(?!(?:das|es|ich|er|sie|wir|ihr|du|die|der|dies\w*|hier|da|so|man|kann|geht|leider)\b)(?:\w+ ){1,4}nicht \w+en\W*$)"
    r"|^(?:please\s+)?(?:(?:only|keep(?!\s+(?:going|on|at it|it up|trying|working|pushing|digging|looking)\b)|use|without|stop using|stick to|throughout)\s+\w+"
    r"|[\w-]+(?: library)? only(?=\W*$|[,;.:]|\W+(?:please|for|in|from|no|not)\b))"
    r"|^(?:please )?(?:answer|respond|reply|speak|talk)(?: (?:to me|me|only|please))* in (?!(?:the|a|an|this|that|one|two|json|markdown)\b)[a-z]+\b"
    r"|^(?:bitte )?antworte(?: mir| bitte| immer| nur)* (?:auf|in) \w+|^réponds?(?:ez)?(?:-moi)? (?:toujours )?en \w+|^respónd?e(?:me)? (?:siempre )?en \w+|^responde(?:me)? (?:siempre )?en \w+"
)
_REPLY_IN = late(
    r"^(?:please )?(?:answer|respond|reply) in (?!(?:the|a|an|this|that|one|two|json|markdown)\b)[a-z]+\W*$"
    r"|^(?:antworte (?:auf|in)|auf(?= \w+ antworten)|répond(?:s|ez) en|respónd?eme en|respond[ea](?:me)? e[nm]|odpowiadaj po|отвечай(?:те)? (?:на|по)) \w+(?: antworten)?\W*$"
)
"""The language of all answers."""
_RULE_BRIEF = late(
    r"^(?:stay|remain) (?:\w+[- ])?compatible\b|^without (?:any |adding |using )?(?:new|external|third[- ]party|extra|additional|other) \w+|^leave \S+(?: \S+)? (?:alone|untouched|unchanged)\b"
    rf"|{_REPLY_IN.pattern}"
)
"""Rules of so few words that only their first ones tell them."""
_ANSWERED_IN = late(
    r"[用語어](?:(?<=用)\w{1,4}(?:回答|回复|回覆)|(?<=\w語)で(?:答え|回答|返事|返答|応答)|(?<=\w어)로 (?:답|대답|응답))"
)
"""The same in scripts without blanks, where it may stand anywhere."""
_STATES = late(
    r"\b(?:there(?:['’]s| is| are)|(?:it|that|this|they|you|and|we)(?:['’]s)?) only\b|\bonly (?:displays|shows|have|has|had|got|one|\d+)\b"
    r"|\b(?:does|do|did)(?:n['’]t| not) have to\b|\bdon['’]t need\b|\bno longer\b"
)
"""Statements of fact in the words of rules."""
_OF_STATES = ("only", "have to", "need", "no longer")
"""Parts of such statements, of which each has one."""
_WORK = late(
    r"^let (?:me|us)\b[^,;]*|^let['’]s\b(?! not\b)[^,;]*|\b(?:we|i|you)(?:['’]ll|['’]d)?(?: \w+)?(?: \w+)? (?:need|needs|have|want|wanted|would like) (?:you )?to\b|\bwe (?:\w+ )?need (?:a|an|some|the)\b"
    r"|\bhelps? (?:[\w-]+ ){0,5}?avoid\b|(?<!try )(?<!need )(?<!needs )(?<!have )(?<!has )(?<!want )\bto avoid\b|\b(?:as|since|because) i prefer\b"
)
"""Work for now is a request: it is done, and binds nothing afterwards. A purpose and a reason oblige nobody either."""
_OF_WORK = ("let", "need", "have", "want", "like", "avoid", "prefer")
"""Parts of such words, of which each has one."""
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
_JUST_THIS = late(
    r"^(?:do not|don['’]?t|never) (?!\w+ (?:any|anything|code)\b)[^,;.]{1,80}[,;] (?:but )?(?:just|only|simply) (?!(?:if|when|after|use|ask)\b)[a-z]+"
)
"""A ban that says how far the work goes which it asks for: `don't change it, just rewrap`."""
_OF_THIS = late(
    rf"(?:this|dieser?|ce(?:tte)?) {_ONCE_WRITTEN}\b|(?:这|该)(?:个|份)?(?:计划|文档|报告|总结|提交|方案)"
)
_THIS_ONCE = late(
    rf"\b(?:for|in|on|with) this {_ONCE_WRITTEN}\b|\b(?:just |only )?this (?:once|(?:one )?time)\b"
    rf"|\b(?:für diesen?|in diesem?|bei diesem) {_ONCE_WRITTEN}\b|\b(?:diesmal|dieses mal)\b"
    rf"|\b(?:pour|dans) ce(?:tte)? (?:{_ONCE_WRITTEN}|branche)\b|\bcette fois\b|这次|本次|这一次|今回"
)
_FOR_NOW = late(
    r"\b(?:for now|for the moment|for the time being|vorerst|fürs erste|pour l['’]instant|pour le moment|por ahora|de momento|por enquanto)\b|暂时|とりあえず"
)
"""A wish for the present: what is to be done then is over once it is done, what is to be left may last."""
_POINTS = late(
    r"\b(?:this|these|those) (?!(?:project|repo(?:sitory)?|codebase|session|conversation|workspace|folder|director(?:y|ies)|machine|team|rules?)\b)\w"
    r"|\bto \w+ (?:it|them|this|that)\b|\bdies(?:e[nmrs]?)? (?!(?:projekt|repo|ordner|sitzung)\b)\w|\b(?:cet(?:te)?|ces) (?!(?:projet|dépôt|session)\b)\w"
    r"|\b(?:est[aeo]s?|es[aeo]s?|ess[ae]s?|isso|isto) (?!(?:proyecto|projeto|repo\w*|sesión|sessão)\b)\w|这(?:个|些|里)(?!项目|仓库)|(?:この|その)(?!プロジェクト|リポジトリ)"
)
"""A sentence that points at something of the work at hand."""
_NOTHING_OF = late(
    r"^(?:please )?no (?:more )?(?!(?:problem|worr|thank|idea|clue|change|error|warning|question|comment|issue|result|difference|news|need)\w*\b)[\w-]+s(?: please)?\W*$"
    r"|^(?:please |with )?no (?:new|external|third[- ]party|breaking|extra|additional|other|runtime) (?:[\w-]+ )?(?!(?:errors?|warnings?|issues?|problems?|comments?|results?|messages?|failures?|findings?)\b)[\w-]+s(?: please)?\W*$"
    r"|^no (?:[\w-]+ )(?!(?:conflict|crash|error|fail|issue|leak|problem|regression|sign|warning)\w*\b)[\w-]+s ?!+$"
)
"""A rule in a few words: no such things."""
_OTHERWISE = markers(
    # A dash before a demand is no sign of it.
    "|".join(
        one.pattern for one in (_NOTHING_OF, _FORBIDS, _RULE_BRIEF, _ANSWERED_IN, _RULE_FIRST, _RULES)
    ).replace("–—", ""),
    "adelante answer antworte antworten avoid before bitte can cannot cant compatible default désormais do don dont ensure has have instead jetzt keep kein keine keinen keiner "
    "keines leave let lets like make may nada need needs nicht no nothing now ohne only pas plus prefer preferably preferred rather remain reply respond "
    "odpowiadaj responda respondame responde respondeme rien sans should shouldn sin soll sollen sollst sollt sollte sonst speak stay stick stop talk throughout use want wants without",
)
"""Every other demand."""
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
_TAKES_OUT = late(
    r"^(?:drop|remove|delete|rename|revert|undo|get rid of|take out|entfern\w*|lösch\w*|supprime[rz]?|enl[èe]ve[rz]?|renomme[rz]?|elimina|quita|borra)\b|^(?:删除|去掉|移除)"
)
"""The beginning of work that is over once it was done."""
_CLAUSES = late(r"[,;，；]\s*(?:(?:and|then|und|dann|et|puis|y|luego)\s+)?")
"""What stands between the clauses of a demand."""
_BANS = late(r"\w+ (?:no|nothing|nichts|keine?n?|rien|nada)\b")
"""The beginning of a clause whose verb of work has no object."""
_VERB_OF_IT = late(
    r"\b([^\W\d_]+) (?:it|them|es|sie|ihn)\b|\b(?:ne (?:le |la |les |l['’])|no (?:lo|la|los|las) )([^\W\d_]+)\b"
)
"""A verb with nothing but a pronoun for its object."""
_GIVES = late(
    r"(?i)\b(?:prompts?|templates?|messages?|texts?|e-?mails?|posts?|letters?|examples?|snippets?|drafts?|issues?|tickets?|vorlagen?|nachrichten?|beispiele?|texte|modèle|exemple|plantilla|mensaje|texto|ejemplo)\b[^:：]{0,40}[:：]$"
    r"|(?:提示词|模板|邮件|消息|文案|示例|プロンプト|テンプレート|メール|例文|프롬프트|템플릿)[^:：]{0,20}[:：]$"
)
"""The end of a sentence that gives a text: what stands there is not said to the agent."""
_LASTS = late(
    r"\b(?:never|always|from now on|in (?:general|future|the future)|going forward|(?:every|each|any) ?time|whenever|at all times|without exception|under no circumstances|(?:is|are|be|['’]s|strictly) (?:forbidden|prohibited)"
    r"|nie|niemals|immer|ab (?:jetzt|sofort)|künftig|in zukunft|grundsätzlich|jedes ?mal|auf keinen fall|jamais|toujours|désormais|dorénavant|à chaque fois|en aucun cas"
    r"|nunca|jamás|siempre|cada vez|a partir de ahora|en ningún caso|sempre|non (?:\w+ ){1,2}mai|d['’]ora in poi|a partir de agora)\b"
    "|никогда|всегда|впредь|каждый раз|永远|总是|始终|一律|以后|今后|从现在|每次|任何时候|严禁|禁止|いつも|常に|毎回|今後|絶対に?|항상|언제나|매번|앞으로|절대"
)
"""A demand that says that it lasts."""
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
_VERBS = late(r" (?i:is|are|ist|sind|wird|werden) ")
"""A verb that each of them has."""
_SINCE_NOW = late(
    r"(?i)\b(?:now|again|any ?more|any longer|after all|anyway|jetzt|nun|doch|wieder|nicht mehr|maintenant|finalement|de nouveau|ya|ahora)\b|现在|了$"
)
_CANCELS = late(r"never ?mind\b|laisse(?:z)? tomber\b|vergiss es\b|olvídalo\b|不用管|算了")
"""The beginning of a sentence that takes a request back in words of a rule."""
_NAMES_RULE = late(
    r"(?i)\b(?:rule|restriction|constraint|requirement|limit|ban|instruction|regel|règle|consigne|regla)s?\b|规则|限制|要求"
)

_LIMITS = late(
    r"(?i)^\W*(?:(?:and|but|also|just|oh|wait|ok(?:ay)?|please|bitte|und|aber|et|mais|y|pero|por favor)\b[\s,.…:]*)*"
    r"(?:(?:make sure|be sure|ensure|take care|be careful|see to it)\b.{0,24}?\b(?:not|n['’]t|never|nothing|no|only)\b|(?:do not|don['’]?t|never|only|without|nothing but)\b"
    r"|(?:nur|nichts außer|ohne|keine?n?|niemals|seulement|uniquement|rien que|sans|ne \w+ pas|solo|sólo|únicamente|nada más que|sin)\b"
    r"|.{1,80}\b(?:nothing (?:else|more)|sonst nichts|rien d['’]autre|nada más)\b)"
    r"|^\W*(?:请)?(?:只|不要|不能|别)"
)
"""The beginning of a sentence that limits work: what else it is to leave alone."""
_OTHERS = late(
    r"(?i)\b(?:instead|stattdessen|plutôt|en su lugar)\b|[,;:.–—-]\s+(?:but |and |then |rather )*(?:add|use|write|make|create|fix|move|rename|do|try|go|run|put|take|keep|let|change|replace|build|show)\b"
)
"""Other work in such a sentence."""


def only_limits(prompt: str) -> bool:
    """Whether a prompt only limits the work that was asked for: each sentence is a rule that forbids, and none asks for work."""
    said = list(sentences(prompt)) or [prompt]
    return all(_LIMITS.match(one) and not _OTHERS.search(one) and demands(one) for one in said)


@lru_cache(maxsize=REMEMBERED)
def revoked(sentence: str) -> frozenset[str]:
    """The subject of a user's sentence that allows what a rule forbade, or drops its demand; empty for any other sentence."""
    if asks(sentence):
        return frozenset()
    found = _REVOKES.match(sentence)
    if found is not None:
        what = sentence[found.end() :]
    elif _VERBS.search(sentence) is not None and (allowed := _ALLOWED.match(sentence)) is not None:
        what = next(filter(None, allowed.groups()))
    else:
        return frozenset()
    what = re.split(r"[,;:，；：]\s?", what, maxsplit=1)[0]
    words = frozenset(content_words(_NAMES_RULE.sub(" ", _SINCE_NOW.sub(" ", what))))
    # A single common word is not enough unless the sentence calls it a rule.
    if len(words) < _LEAST_REVOKED and all(map(str.isalpha, words)) and not _NAMES_RULE.search(sentence):
        return frozenset()
    return words


@lru_cache(maxsize=REMEMBERED)
def demands(sentence: str) -> bool:
    """Whether a user's sentence states a rule or a limit."""
    if not any(one.may_stand_in(sentence) for one in (_OBLIGED, _OTHERWISE, ORDERS)):
        return False
    if asks(sentence) or refutes(sentence) or _LOGGED.search(sentence) is not None or names_cause(sentence):
        return False
    if sentence.count('"') % 2 or _TROUBLE.match(sentence) is not None:
        # A piece of a quotation, or what is wrong now.
        return False
    sentence = sentence.lower()
    words = without_fillers(_CODE.sub(" ` ", sentence) if _QUOTES.search(sentence) is not None else sentence)
    if _NOTHING_OF.match(words) is not None:
        return True
    if _ASSUMED.search(words) is not None or complains(words):
        return False
    if _CANCELS.match(words) or (revoked(sentence) and _FORBIDS.search(words) is None):
        return False
    if orders_agent(words) and not guesses(words):
        return True
    if len(words) < len(sentence) and len(words.split()) < _LEAST_WORDS and words.isascii():
        return False
    if "nie" in words and _POLISH.search(words) is not None:
        # There it only denies; the other marks of a rule are none of that language.
        return False
    guessed = guesses(words)
    if _OBLIGED.may_stand_in(words) and _OBLIGED.pattern.search(_CONCLUDES.sub(" ", words)) is not None:
        return not (guessed and _BREAKS.search(words) is not None)
    if guessed and not words.startswith(("i would only", "i'd only")):
        return False
    words = _without(words, _STATES, _OF_STATES)
    if _FORBIDS.search(words) is not None:
        return True
    if denies(sentence) or _CORRECTS.match(words) is not None:
        # The sentence corrects one answer.
        return False
    words = _without(words, _WORK, _OF_WORK)
    if _RULE_BRIEF.match(words) is not None:
        return True
    if not words.isascii() and _ANSWERED_IN.search(words) is not None:
        return True
    if len(words.split()) <= _LEAST_WORDS and len(_APOSTROPHE.split(words)) <= _LEAST_WORDS:
        return False
    return _RULE_FIRST.match(words) is not None or (_RULES.search(words) is not None and not _is_half(words))


def gives_text(sentence: str) -> bool:
    """Whether a text follows a sentence that is to be written, sent or looked at: what it demands is no rule of its giver."""
    return sentence.endswith((":", "：")) and _GIVES.search(sentence) is not None


def _without(words: str, pattern: re.Pattern[str], parts: tuple[str, ...]) -> str:
    """Some words without the matches of a pattern; each match holds one of some parts."""
    return pattern.sub(" ", words) if any(map(words.__contains__, parts)) else words


def orders(sentence: str) -> bool:
    """Whether a sentence asks to write one thing: a plan, a commit, a report."""
    return _ORDERS.match(without_fillers(sentence.lower())) is not None


def is_work(item: str) -> bool:
    """Whether an item of a list begins like work that is to be done."""
    return _WORKS_ON.search(item.lower()) is not None


def is_for_once(sentence: str, *, ordered: bool, amid: bool = False, beside_work: bool = False) -> bool:
    """Whether a demand binds one piece of work only. `ordered`: something was to be written just before.

    `amid`: it is an item of a list; `beside_work`: in which another one is work. A demand that names itself lasting is never
    for once.
    """
    sentence = sentence.lower()
    if _LASTS.search(sentence) is not None:
        return False
    words = without_fillers(sentence)
    if _POINTS.search(words) is not None or (
        _FOR_NOW.search(words) is not None and _FORBIDS.search(words) is None
    ):
        return True
    if any(one.match(words) is not None for one in (_ORDERS, _OF_THIS, _JUST_THIS)) or _THIS_ONCE.search(
        sentence
    ):
        return True
    if (ordered and (_OF_IT.match(words) or _OF_ANSWER.search(words)) is not None) or _OF_NOW.search(
        words
    ) is not None:
        return True
    if _OBLIGED.stand_in(words):
        return False
    if any(map(_begins_work, _CLAUSES.split(words))):
        # It limits the work that it asks for, or says why.
        return True
    if not amid and _HALF.search(words) is not None:
        return True
    # Beside the work, such an item limits its extent.
    return beside_work and _SPARES.search(words) is not None


def is_general(sentence: str) -> bool:
    """Whether a demand binds more than what it was said to: it says that it lasts, obliges, bans a thing or names a language."""
    words = without_fillers(sentence.lower())
    if _LASTS.search(words) is not None or _OBLIGED.stand_in(words):
        return True
    return any(one.search(words) is not None for one in (_NOTHING_OF, _RULE_BRIEF, _ANSWERED_IN))


def limits_work(demand: str, beside: str) -> bool:
    """Whether a demand says how far work goes that the words beside it ask for: it has their verb, and a pronoun for their object."""
    found = _VERB_OF_IT.search(without_fillers(demand.lower()))
    if found is None or _LASTS.search(demand.lower()) is not None:
        return False
    verb = content_words(next(filter(None, found.groups())))
    return bool(verb) and not _begun(beside).get(verb, frozenset()) <= {demand.lower()}


@lru_cache(maxsize=4)
def _begun(prompt: str) -> dict[tuple[str, ...], set[str]]:
    """The sentences of a prompt by the first words of their clauses: read once for all demands of the prompt."""
    begun: dict[tuple[str, ...], set[str]] = {}
    for one in sentences(prompt.lower()):
        for clause in _CLAUSES.split(one):
            begun.setdefault(content_words(clause)[:1], set()).add(one)
    return begun


def _begins_work(clause: str) -> bool:
    """Whether a clause of a demand begins like work, and forbids none."""
    begins = _WORKS_ON.match(clause) is not None or _TAKES_OUT.match(clause) is not None
    return begins and _BANS.match(clause) is None


def _is_half(words: str) -> bool:
    """Whether it begins with its verb, and nothing else in it can stand alone."""
    return _HALF.search(words) is not None and "," not in words
