"""What a sentence of an answer is by its form: it tells its reader what to do, points at the text before it, or is code."""

from __future__ import annotations

import re

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.questions import is_offered

_POINTS_BACK = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|or|also|now|then|still),? )?(?:with (?=those\b|these\b))?(?:(?:it|this|that|these|those|they|the (?:former|latter|same))\b"
    r"|(?:das|dies(?:e[mnrs]?)?|cela|ça|ceci|esto|eso|ello|ele|ela|eles|elas|isso|isto)\b|c['’]est\b|これ|それ|この|その|这|那|它|이것|그것|이는)"
)
"""The beginning of a sentence whose subject is in the text before it."""
_POINTS_AWAY = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|or|also|now|then),? )?(?:(?:the )?same (?:applies|goes|holds|is true|for|here|thing)\b|as (?:(?:i|we) )?(?:above|before|mentioned|described|noted|said|discussed|shown)\b"
    r"|the (?:above|(?:first|second|third|fourth|fifth|last|other|previous|remaining) (?:one|ones|two|three|four|option|approach|way|variant|point|item|half|case|reason|question|suggestion|alternative|choice|(?:is|are|was|were|has|have)(?= )))\b"
    r"|the (?:\w+ ){1,3}(?:above|below)\b|(?:both|all|none|neither|either|each|one|two|three|some|most|any|half) of (?:them|these|those|the (?:two|three|four|above|others))\b"
    r"|(?:both|each|neither|either|all (?:two|three|four|five|six)) (?:is|are|was|were|has|have|had|do|does|did|can|will|would|should|needs?|now)\b|each one\b"
    r"|(?:option|approach|variant|alternative|step|point|item|finding|question|suggestion|idea) (?:#?\d{1,2}|[A-D])\b(?!\W{0,3}(?:[:(–—]| - )| (?:is|was|has been) (?:now )?(?:implemented|done|built|in place|live|applied|merged|working)\b)"
    r"|i(?:['’]d| would)? (?:go(?:ing)? with|recommend|suggest|prefer|choose|pick|lean(?:ing)? towards?|use|do) (?:option|approach|variant|alternative) (?:#?\d{1,2}|[A-D])\b(?! ?[:(–—])"
    r"|(?:here|there),? (?:the|it|we|you|they|each|all)\b|(?:in|for|with|after|because of|without|like) (?:this|that|these|those|them|both(?: cases)?|either(?: case)?|each case)(?:,| case\b| \w+,)"
    r"|(?:in|inside|within|on|with|without|of|for|from|to|by|behind|under|besides?) (?:it|them)\b|(?:i|we)(?:['’]ve| have)? \w+ (?:it|them)\b)"
)
"""The beginning of a sentence about something that other text numbers, lists or shows."""
_NO_SUBJECT = re.compile(
    r"(?:Needs|Requires|Acceptable|Means|Returns|Happens|Applies|Works|Fails|Depends|Covers|Affects|Takes|Costs|Breaks|Shows|Uses|Handles|Untested|Unused|Peers)\b(?=[ :])"
)
"""The beginning of a sentence in the style of notes."""
_PRONOUN = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|or|also|now|then|still),? )?(?:it|they|that|this|these|those)(?:['’](?:s|re|ll)|n['’]t| (?:is|are|was|were|does|do|did|has|have|can|should|still|also|now|works?|looks?|needs?))\b"
)
"""A pronoun, and not a word before a noun."""
_NAMED_BEFORE = late(
    r"(?i)^\W*(?:その|それ|そっち|そちら|そこ|あれ|これ|こっち|こちら|(?:那|那么)?(?:这个|那个|这样|那样|这些|那些|它)(?!项目|仓库|目录|文件夹|工程|session)|그건|그거|그것|이건|이거|이것|그럼"
    r"|(?:(?:pero|y|e|mas|mais|et|aber|und|no|non|nein|não),? )?(?:eso|esto|ese (?:no|sí)|isso|isto|ça|cela|das (?:ist|war|geht|hat|soll|muss|kann|sieht|stimmt|passt|funktioniert))\b)"
)
"""The same in other languages, with words before a noun where they point at what was said."""
_OBJECT_BEFORE = late(
    r"(?i)^(?:[^\s,;:]*[^\s,;:.] ){1,5}?(?:(?:now|also|then|only) )?(?!(?:is|was|has|does|as|unless|this|always|plus|across|perhaps|less)\b)[a-z]+s (?:it|them)\b(?! (?:\w+s|possible|easy|easier|clear|clearer|hard|harder|likely)\b)"
)
"""A sentence that begins with what something does to a thing that it does not name: its subject is another one."""
_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:now|then|just|please|next(?: up| step)?)[,:]? )?(?:(?:in order )?to [^,;:]{3,80}, (?:\w+ly )?|(?:when|once|after) [^,;:]{3,60}, )?(?:run|set|use|add|try|install|change|update|replace|switch|move|enable|disable|configure|remove|delete|create|wait|keep|make|put|let|open|check"
    r"|consider|upgrade|pin|skip|merge|rebase|revert|rename|extract|split|paste|click|press|type|enter|select|tap|navigate|visit|copy|scroll|drag|hover|go to|log in|sign in|document|log|verify|ask|search|restart|rebuild|test|bump|(?:build|write|give|send|share|provide|start|stop|close|download|confirm|re-?try|say)(?= (?:an?|the|it|me|your|this|that|each|again|which|whether)\b| `))\b(?!-)"
)
_ASKS = late(
    r"(?i)^(?:(?:y|e|und|et|ahora|agora|dann|luego|ora)[, ]+)?(?:por favor|per favore|bitte|s['’]il (?:te|vous) plaît|veuillez|пожалуйста|proszę|lütfen)\b"
    r"|^(?:(?:ahora|agora|luego|depois|dann|jetzt|ensuite|puis),? )?(?:intent[ae]|prueb[ae]|reinici[ae]|tent[ae]|teste|versuch\w{0,2}|probier\w{0,2}|essa(?:ie|ye)[rz]?|попробуй\w{0,2}|spróbuj)\b(?! \w+ (?:es|est|ist|é)\b)"
    r"|^(?:请|請)(?!求)|(?:ください|下さい|お願いします|주세요)[。.!！]*$"
)
"""The same in other languages."""
_ADVISES = re.compile(
    r"(?i)^(?:[^:.]{1,60}: )?(?:(?:and|also|now|then|first|next|just|please|or)[\s,]+)*(?:check|try|open|search|look|compare|toggle|restart|reload|verify|inspect|re-?run|watch|confirm|ask|(?:say|tell me|pick|choose|decide) (?:which|what|one|how|whether|if))\b(?!-)"
    r"|^(?:the )?next time (?:you|it|this|that)\b|^(?:(?:i|we|you|one|it) )?(?:could|might) (?:also |then |instead )?(?!(?:be|have|not|only|lead|cause|mean|fail|break|explain)\b)[a-z]+\b"
)
_RECOMMENDS = late(
    r"(?i)\bi(?:['’]d| would)? (?:recommend|suggest|propose)\b|\bmy (?:recommendation|suggestion|proposal)\b|\bmeine empfehlung\b|\b(?:ich )?(?:empfehle|schlage vor)\b"
    r"|\bma recommandation\b|\bje (?:recommande|propose)\b|\b(?:mi|minha) (?:recomendaci[oó]n|recomendação|sugerencia|sugestão)\b|\b(?:recomiendo|recomendo|sugiero|sugiro)\b"
)
"""What the agent would do: nobody has chosen it."""
_LEAVES_IT = re.compile(
    # It begins with one class, so that the search passes over all other characters quickly.
    r"[IiWw](?<!\w.)(?i:(?<=i)f you(?:['’]d)? (?:want|like|need|prefer|wish)\b|(?<=w)orth (?:checking|trying|a (?:try|look))\b)"
)
"""What the reader of an answer was told to do, or could do, perhaps below words that say where."""


_CODE_ENDS = (";", "{", "}", "};", "=>")
_STOPS = (".", "!", "?", ":", "…")
_STATEMENT = re.compile(
    r"(?:SELECT .{1,300} FROM|INSERT INTO|UPDATE \S+ SET|DELETE FROM|(?:ALTER|DROP|TRUNCATE) (?:TABLE|INDEX|COLUMN)|CREATE (?:OR REPLACE |UNIQUE )?(?:TABLE|INDEX|VIEW|FUNCTION|POLICY|TRIGGER|EXTENSION|TYPE))\b"
    r"|(?:const|let|var) \w+(?:: \w+)? =|import .{1,200} from ['\"]|from \S+ import \w|(?:export (?:default )?)?(?:async )?(?:def|function|class|interface) \w+\b.{0,200}[({:]"
    r"|(?:if|for|while|switch) \(.{1,200}\)|@[\w.]+\(|\$ \S|[\w.]{1,100}\([^()]{0,200}\)$|[\w.\[\]]{1,100} [-+*]?= \S{1,200}$"
)
"""The beginning of a statement that stands in no fence."""
_HEADING = re.compile(
    r"[^\W\d_]+(?:-[^\W\d_]+)*(?:[.:]| ?!)?|[A-ZÀ-Þ][^\W\d_]+(?: [^\W\d_]+){1,3}(?<![.!?:)])"
)
"""One word, or a few without a stop, of letters alone."""
_LONG = 4
"""Letters of a longer word, and how many of them a heading has."""
_COURTESY = re.compile(
    r"(?i)\W*(?:you(?:['’]re| are) welcome|thanks?|thank you|i see|no problem|of course|sure|absolutely|certainly)\b"
)
"""The beginning of a sentence that only speaks to the user."""
_LOOKED = late(
    r"(?i)^\W*(?:(?:ok(?:ay)?|so|done|all right|alright)[,.:!]? )?(?:i|we)(?:['’]ve| have| just)? (?:(?:now|just|also|carefully|thoroughly|re-?) ?)*"
    r"(?:looked|checked(?! (?:in|out)\b)|read(?! (?:it|that|this) )|traced|profiled|counted|went|gone|walked|dug|reviewed|examined|inspected|searched|investigated|analy[sz]ed|explored|studied|gathered|compared|grepped|scanned|(?:had|took|taken) a (?:\w+ )?look"
    r"|(?:finished|completed|done|concluded) (?:the|my|an?) (?:\w+ ){0,2}(?:analysis|audit|investigation|research|review|search|check|exploration|comparison)|found (?:it|out|exactly|precisely|how|where|what|why|the (?:answer|place|spot)))\b(?! that\b)"
    r"(?:(?! (?:is|are|was|were|has|have|had|does|do|can|cannot|but|because|so|which)\b|n['’]t\b)[^:;–—]){0,150}(?: (?:how|where|what|whether|why|every\w*|all)\b[^:;,–—]{0,150})?[.!]$"
)
"""A sentence that only tells where the agent looked, and not what it saw there."""
_FOLLOWS = late(
    r"(?i)(?:^|^[^:;]{3,80}, )(?:here(?:['’]s| is| are) (?:what|how|why|the|my|an?|all|everything)\b|(?:i|we) (?:now )?(?:have|see|get|understand) (?:(?:a|the|your) )?(?:\w+ ){0,2}(?:picture|understanding|overview|confusion|situation|question|idea|flow)\b)"
    r"[^:;,–—]{0,60}[.!]$|^\W*(?:the|my|your) (?:\w+ )?(?:answer|explanation|reason|question) is (?:\w+ )?(?:simple|short|easy|straightforward|clear|twofold|a good one)[.!]$"
    r"|^\W*(?:found it|got it|there it is|understood|noted)[.!]$|[^:;：；]{0,60}(?:如下|以下(?:の通り|のとおり)(?:です)?)\W*$"
    r"|^\W*(?:the|my) (?:analysis|review|audit|investigation|evaluation|research|assessment) is (?:now )?(?:complete|done|finished)[.!]$"
    r"|^\W*(?:there (?:are|were) |i (?:found|see|have) )?(?:two|three|four|five|six|seven|a few|several|some|\d{1,2}) (?:\w+ ){0,2}(?:places|things|reasons|ways|options|causes|points|parts|cases|layers|aspects|answers|pieces|findings|observations)\b[^:;,–—]{0,60}[.!]$"
)
"""A sentence that says that something follows, or how many things."""
_LEADS_LIMIT = 160
"""Characters of such a sentence."""


def only_leads(sentence: str) -> bool:
    """Whether a sentence only leads to what is said behind it: where was looked, that something follows, how much of it."""
    return (
        len(sentence) <= _LEADS_LIMIT
        and ". " not in sentence
        and (_LOOKED.match(sentence) is not None or _FOLLOWS.match(sentence) is not None)
    )


def speaks_only(sentence: str) -> bool:
    """Whether a sentence is only said to be polite."""
    return _COURTESY.match(sentence) is not None


def bids(line: str) -> bool:
    """Whether a line of an answer tells its reader what to do."""
    return (
        is_imperative(line)
        or is_offered(line)
        or _ASKS.search(line) is not None
        or _RECOMMENDS.search(line) is not None
        or _ADVISES.match(line) is not None
        or _LEAVES_IT.search(line) is not None
    )


def is_imperative(line: str) -> bool:
    """Whether a line begins with what is to be done."""
    return _IMPERATIVE.match(line) is not None


def points_back(sentence: str) -> bool:
    """Whether the subject of a sentence is in the text before it, or what it does something to."""
    return (
        _POINTS_BACK.match(sentence) is not None
        or _POINTS_AWAY.match(sentence) is not None
        or ((" it" in sentence or " them" in sentence) and _OBJECT_BEFORE.match(sentence) is not None)
    )


def leaves_unnamed(request: str) -> bool:
    """Whether a request begins with something that only the words before it name."""
    return any(form.match(request) for form in (_POINTS_AWAY, _PRONOUN, _NAMED_BEFORE))


def lacks_subject(sentence: str) -> bool:
    """Whether a sentence begins with its verb, or with what its subject is like: the subject is in the one before it."""
    return _NO_SUBJECT.match(sentence) is not None


def is_code(sentence: str) -> bool:
    """Whether a sentence has hardly a word outside its code, comments some, or is a statement of a program or a database."""
    if sentence.startswith(("//", "/*")) or sentence.endswith(_CODE_ENDS):
        return True
    if not sentence.endswith(_STOPS) and _STATEMENT.match(sentence) is not None:
        return True
    outside = re.sub(r"`[^`]*`", " ", sentence) if "`" in sentence else sentence
    return len(content_words(outside)) == 0


def is_heading(text: str) -> bool:
    """Whether a text is but a heading or an exclamation, which tells nothing. In a script without blanks a sentence may be one word."""
    return _HEADING.fullmatch(text) is not None and text.casefold() != text.upper()


def is_title(line: str) -> bool:
    """Whether a line without a stop has all its longer words in capitals: a heading."""
    words = [word for word in line.split() if len(word) >= _LONG and word.isalpha()]
    return (
        len(words) >= _LONG
        and line.isascii()
        and not line.endswith(_STOPS)
        and "`" not in line
        and all(word[0].isupper() for word in words)
    )
