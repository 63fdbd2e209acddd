"""Facts in sentences: the user's demands, decisions with their reasons, work that is still to be done.

Marker words of several languages identify the sentences; the overlap of two sentences is counted in content words, for
scripts without spaces in pairs of characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.emphasis import without_emphasis
from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.questions import is_offered

if TYPE_CHECKING:
    from collections.abc import Iterator

SENTENCE_LIMIT = 400
"""Characters of a sentence that is read; longer ones are logs or data."""
_REMEMBERED = 1 << 14
"""Sentences whose classification is cached: each is needed for the summary and again for its survival."""

_FEW, _MESSAGE = 1 << 11, 4000
"""Texts whose sentences are cached, and the characters of the longest: a prompt is needed four times."""

_FENCE = late(r"^\s*(?:```|~~~)")
_LIST_MARK = late(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = late(r"^\s*#{1,6}\s+")
_AMID = late(
    r"(?i)(?<=\w),[ \t]*\n|\b(?:and|or|but|an?|the|of|with|for|from|which|(?:and|or|but|that|which|if|when) it|its|is|are|be|as|than|if|when|because"
    r"|und|oder|aber|der|das|dem|den|eine?|zu|mit|für|dass|wenn|et|ou|mais|les?|des?|une?|que|qui|pour|avec|y|pero|el|los|las|del|con|para)[ \t]*\n"
)
"""The end of a line amid a sentence: a comma, or a word that ends none."""
_MAY_GO_ON = late(r"\n[^\S\n]*[^\W\d_A-Z]")
"""The beginning of a line that may go on with the sentence of the one before."""
_END = 40
"""Characters of a line that tell how it ends."""
_CHECKBOX = late(r"^\s*(?:[-*+]\s*)?\[( |x|X|✓|-|~)\]\s+(.{3,400})$")
_BOX = late(r"\[[ xX✓~-]\]\s")
_SENTENCE_END = late(
    # It begins with one class, so that the search skips all other characters quickly.
    r"[.!?。！？](?:(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bapprox\.)(?<!\b[zdu]\.)(?<!\bz\.B\.)(?<!\bd\.h\.)(?<!\bu\.a\.)(?<!\bbzw\.)(?<!\bca\.)"
    r"(?<!\bggf\.)(?<!\binkl\.)(?<!\bevtl\.)(?<!\bvgl\.)(?<!\bNr\.)(?<!\bz\. B\.)(?<!\bd\. h\.)(?<!\bu\. a\.)(?<!\bp\. ex\.)(?<!\bp\. ej\.)(?<!\bej\.)(?<!\bp\.ej\.)\s+"
    # A date: `am 27.08. würde`; the end of a list amid a sentence.
    r"(?:(?<!\d\.\d\.\s)(?<!\d\.\d\d\.\s)(?<!\betc\.\s)|(?![a-zäöüß]))|(?<=[。！？]))"
)
"""The sign that ends a sentence before its line ends, and the space after it."""

_WORD = late(r"[^\W_]+(?:[._/'’-][^\W_]+)*|[_A-Za-z0-9]+")
_ASCII_WORD = late(r"[A-Za-z0-9]+(?:[._/'-][A-Za-z0-9]+)*|[_A-Za-z0-9]+")
"""`_WORD` for a text of ASCII, in half the time."""
_CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STOP_WORDS = (
    "a an and are as at avoid be because been but by can cannot could did do does dont for from get got had has have he her "
    "his how i if in into is it its itself just let like me more my never no not of ok on or our out she should since so "
    "some than that the their them then there these they this those to too up us was we were what when where which who "
    "why will with without would yes you your also all any now here about "
    "der die das und ist ein eine zu mit auf für les des une est pour que qui dans por los las una con para del"
)
_STOP = frozenset(_STOP_WORDS.split())

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
_TODO = markers(
    # Amid a sentence it names a mark in the code.
    r"^\W{0,6}(?:todo|fixme)\b(?! (?:comment|list|item|marker|file|app)s?\b)|\b(?:still (?:need|to do|missing|open)"
    r"|(?:remaining|outstanding) (?:work|steps?|tasks?|todos?|items?|pieces?|parts?|issues?|problems?|failures?|tests?)|remaining(?=:)"
    r"|next step|^next(?:(?=: )| steps(?=[^.?!\n]{0,30}: ))|next,? (?:we|i)|not yet(?! (?:staged|tracked|committed|pushed)\b)|left to do|needs? to be (?:done|fixed|added)"
    r"|(?<!appropriate for )(?<!suitable for )(?<!candidate for )(?<!candidates for )(?<!good )(?<!fine as )(?<!fine for )follow[- ]ups?(?! (?!(?:to|for|in|on|is|are|would|could|should|will|work|tasks?|steps?|items?)\b)\w))\b"
    r"|\b(?:als nächstes|nächste[rn]? schritt|steht noch aus|(?:muss|müssen|müsste) (?:\w+ ){0,2}noch|fehlt noch|noch (?:zu tun|offen)"
    r"|il reste à|reste à faire|prochaine étape|queda por|falta por|próximo paso|осталось)\b|待办|接下来|下一步|还需要|残り|次[はに]|다음 (?:단계|작업|할 일)|남은 (?:단계|작업|일)",
    "todo fixme still remaining outstanding next yet left need needs follow steht fehlt muss noch reste queda falta",
)
_NEGATION = markers(
    r"\b(?:no|not|never|none|without|avoid|stop|forbid(?:den)?|cannot|nicht|kein(?:e[nmrs]?)?|nie(?:mals)?|jamais|nunca|не|нельзя)\b"
    r"|n['’]t\b|\bdont\b|不|别|禁止|勿|ない|しないで|마세요|지 ?마|금지",
    "no not never none without avoid stop forbid forbidden cannot nicht kein keine keinen keinem keiner "
    "keines nie niemals jamais nunca t dont",
)


_ANNOUNCED = late(
    r"(?i)(?:let me|let's (?:see|look|check|start|first)|(?:before|once|when) i\b[^,.]{3,60}, i(?:['’]ll| will| need| want| have)\b|now\b[, ]+(?:let|i|we|update|add|fix|create|check)|i'll|i’ll|i will|i need to|i should"
    r"|first,? (?:let|i)|next,? (?:let|i)|good[,.!]|(?:good|fair) (?:call|point|catch|idea|question)\b|great\b|perfect\b|excellent\b|ok(?:ay)?\b[,.!]|you(?:['’]re| are) (?:absolutely |completely )?right|sorry\b|this will\b|(?:using|invoking|loading|applying) (?:the |my )?\S{1,60} skills?\b)"
)


_ONGOING = markers(
    r"\b(?:i['’]ll|i will|i['’]m (?:now |just |also |still )?(?!not\b)\w+ing|let me|i['’]m going to)\b"
    r"|\bso far\b|\bstill (?:running|pending|stuck|waiting|going)\b|\bremain(?:s|ing)? pending\b|\bdeep into\b|^\W*(?:stopping|running|waiting|checking|watching|back (?:through|to|on|in|at|with))\b",
    "ll will m me far still pending deep stopping running waiting checking watching back",
)
_MUSES = late(r"(?i)\W*(?:wait|hmm+|oh|aha|there it is|interesting|but there['’]s another)\b")


_HEDGED = markers(
    r"\b(?:likely|apparently|presumably|seems?|might|could be|should|would|will be|must be \w+ing|must have been|suspicion|suspect(?:ed|s)?)\b"
    r"|^\W*(?:but|wait|if|when)\b",
    "likely apparently presumably seem seems might could should would will must suspicion suspect suspected suspects but wait if when",
)


def hedges(sentence: str) -> bool:
    """Whether a sentence states a possibility or an intention rather than a fact."""
    return _HEDGED.stand_in(sentence)


@lru_cache(maxsize=_REMEMBERED)
def accompanies(sentence: str) -> bool:
    """Whether a sentence between calls describes the current action or thought: soon it no longer holds."""
    return _ONGOING.stand_in(sentence) or _MUSES.match(sentence) is not None


def announces(sentence: str) -> bool:
    """Whether a sentence only announces the next one, or the next call."""
    return sentence.endswith((":", "：")) or _ANNOUNCED.match(sentence) is not None


_REPORTS = late(
    r"(?i)^\W*(?:(?:all )?done|fixed|updated|added|created|removed|renamed|finished|committed|pushed"
    r"|erledigt|fertig|behoben|umgesetzt|eingebaut|hecho|listo|terminé|c['’]est fait|fait|corrigé)\b[.:!,]?\s|^\W*(?:已完成|完成了|搞定|已修复|已添加|已创建)"
    r"|^\W*(?:(?:your |the )?changes|both|handled|addressed)(?: (?:are|were|have been|is|now))* ?(?:committed|pushed|merged|saved|applied|in place|done)?\W*(?=[.!,;\n]|$)"
    r"|^\W*(?:all|everything)(?:,? [\w-]+){0,6} (?:addressed|answered|applied|committed|completed?|deleted|done|fixed|implemented|in place|merged|moved|pushed"
    r"|removed|renamed|resolved|restored|reverted|undone|updated)\b(?! (?:by|in|when|if|once|until|except|but)\b)"
)
"""The beginning of an answer that first reports completion, whatever it asks or proposes afterwards."""


def reports(answer: str) -> bool:
    """Whether an answer first reports completion, whatever it asks or proposes afterwards."""
    return _REPORTS.match(answer) is not None


_GOES_ON = late(
    r"(?i)^(?:(?:go on|go ahead|proceed|resume|retry|try again|(?:and|then)|yes|yep|yeah|ok(?:ay)?|please|do it|sure|go|ja|weiter|bitte|oui|d['’]accord|continue[rz]?"
    r"|vas-?y|s[ií]|adelante|да|давай|продолжай)(?:[\s,.!]+|$))+(?:(?:i(?:['’]ve| have)? (?:now )?(?:gave|given|granted) you|you (?:now )?have) (?:\w+ ){0,3}(?:permissions?|access|rights)\b.{0,20})?$"
    r"|^(?:(?:好的?|继续|请|可以|続けて(?:ください)?|お願いします|はい|네|계속)[，,、。！!\s]*)+(?:[我已经给你了现在有到开]{0,6}(?:授权|权限)[给你了吧开到]{0,4}[。！!]?)?$"
)


def keeps_going(prompt: str) -> bool:
    """Whether a prompt only asks to go on."""
    return _GOES_ON.match(prompt) is not None


def lines_outside_code(text: str, *, fences: bool = False) -> Iterator[str]:
    """The lines of a text outside fences of code, with those that begin some if `fences`."""
    lines = text.split("\n")
    if "```" not in text and "~~~" not in text:
        yield from lines
        return
    inside = False
    for line in lines:
        if _FENCE.match(line):
            if fences and not inside:
                yield line
            inside = not inside
        elif not inside:
            yield line


def unwrapped(text: str) -> str:
    """A text that somebody typed, with the lines joined of which the first ends amid a sentence."""
    if _MAY_GO_ON.search(text) is None:
        return text
    first, *others = text.split("\n")
    found, before = [first], first
    for line in others:
        goes_on = line.lstrip()[:1].islower() and _AMID.search(f"{before[-_END:]}\n") is not None
        found += (" ", line.strip()) if goes_on else ("\n", line)
        before = line
    return "".join(found)


def sentences(text: str) -> Iterator[str]:
    """Sentences of the prose in a text, without list marks, headings, emphasis and code."""
    return iter(_few_sentences(text)) if len(text) <= _MESSAGE else _sentences(text)


@lru_cache(maxsize=_FEW)
def _few_sentences(text: str) -> tuple[str, ...]:
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for line in lines_outside_code(text):
        line = line.strip()
        first = line[:1]
        if not first or first in "|><" or (first == "#" and _HEADING.match(line)):
            continue
        if first in "-*+•" or first.isdecimal():
            line = _LIST_MARK.sub("", line)
        line = without_emphasis(line).strip()
        for sentence in _parted(line):
            sentence = sentence.strip()
            if 8 <= len(sentence) <= SENTENCE_LIMIT or (len(sentence) >= 4 and _CJK.search(sentence)):
                yield sentence[:SENTENCE_LIMIT]


def list_items(text: str) -> list[str]:
    """The items of the lists in a text without their marks, in order."""
    return [
        without_emphasis(line[mark.end() :]).strip()
        for line in lines_outside_code(text)
        if (mark := _LIST_MARK.match(line)) is not None
    ]


def last_sentence(line: str) -> str:
    """The last sentence of a line, without list marks and emphasis."""
    return _parted(without_emphasis(_LIST_MARK.sub("", line)).strip())[-1].strip()


def _parted(line: str) -> list[str]:
    """The sentences of a line, each with the sign that ends it; the last one is empty where the line ends with a sign."""
    found = []
    start = 0
    for end in _SENTENCE_END.finditer(line):
        found.append(line[start : end.start() + 1])
        start = end.end()
    found.append(line[start:])
    return found


@lru_cache(maxsize=_REMEMBERED)
def content_words(text: str) -> tuple[str, ...]:
    """The content words of a sentence: without stop words, pairs of characters for scripts without spaces, in order."""
    found: dict[str, None] = {}
    text = text[: 4 * SENTENCE_LIMIT]
    for word in (_ASCII_WORD if text.isascii() else _WORD).findall(text):
        for term in _terms(word):
            found[term] = None
    return tuple(found)


@lru_cache(maxsize=_REMEMBERED)
def _terms(word: str) -> tuple[str, ...]:
    """The terms of one word: its stem, or its pairs of characters; none for a stop word."""
    word = word.casefold()
    if word.isascii():
        return (_stem(word),) if len(word) > 1 and word not in _STOP else ()
    runs = _CJK.findall(word)
    found = [run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))]
    word = _CJK.sub(" ", word).strip() if runs else word
    if len(word) > 1 and word not in _STOP:
        found.append(_stem(word))
    return tuple(found)


_IRREGULAR = {
    "written": "writ",
    "wrote": "writ",
    "made": "mak",
    "built": "build",
    "ran": "run",
    "kept": "keep",
    "sent": "send",
}


def _stem(word: str) -> str:
    """A word without English endings, so that `tests` and `test`, `moved` and `move` are equal."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if len(word) > 4 and word.endswith(("ied", "ies")):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=_REMEMBERED)
def sentence_key(text: str) -> str:
    """A sentence in comparable form: its content words, and whether it negates."""
    words = " ".join(content_words(text))
    return f"not {words}" if words and negated(text) else words


def shared(words: tuple[str, ...], among: frozenset[str]) -> float:
    """The share of the wanted words that is among the given, 0…1."""
    return sum(word in among for word in words) / len(words) if words else 0.0


_DENIED = 60
"""Characters after a negation that may hold the negated part."""


def negated(sentence: str) -> bool:
    """Whether a sentence forbids: it has an odd number of negations."""
    if not _NEGATION.may_stand_in(sentence):
        return False
    return len(_NEGATION.pattern.findall(sentence.lower())) % 2 == 1


def opposed(one: str, other: str) -> bool:
    """Whether one of two sentences about the same thing denies the other, which has the negated part without negation."""
    if negated(one) == negated(other):
        return False
    denying, saying = (one, other) if negated(one) else (other, one)
    said = frozenset(content_words(saying))
    behind = [
        content_words(denying[match.end() : match.end() + _DENIED])[:2]
        for match in _NEGATION.pattern.finditer(denying.lower())
    ]
    return any(not words or not said.isdisjoint(words) for words in behind)


@lru_cache(maxsize=_REMEMBERED)
def changes_mind(sentence: str) -> bool:
    """Whether a sentence of thinking takes back the choice before it."""
    return _BACK.match(sentence) is not None


@lru_cache(maxsize=_REMEMBERED)
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


_NAMED = 2
"""Content words, besides the marker, that make a step specific."""


_ADVISED = late(
    r"(?i)^\W*(?:(?:nit|minor|optional(?:ly)?|suggestion|possible(?: follow[- ]ups?)?)\b[^:]{0,40}:|(?:optionally|consider|could consider|might consider|worth considering)\b)"
)
"""The beginning of a piece of advice: nobody is to do it yet."""
_FORBIDS_YET = late(r"(?i)\bdo(?: not|n['’]?t)\b.{0,200}\bnot yet\W*$")
"""What is not to be done for now."""
ENGLISH = late(r"(?i)\b(?:the|is|are|was|were|has|have|and|of|it|this|that|now|with|from|for|(?-i:I)|you)\b")
"""Words that nearly every English sentence has one of."""
_ALL = late(r"\b[Tt]odo\b(?!s?:)")
"""The Spanish word for all, where the sentence is not English: it is no todo."""
_POINTS = late(r"(?i)^(?:this|that|it|these|those|they)(?:['’]s| is|['’]re| are| was| were)\b")


_OPENS, _CLOSES = frozenset('"“„«「『'), frozenset('"”“»」』')


@lru_cache(maxsize=_REMEMBERED)
def remains(sentence: str) -> bool:
    """Whether a sentence names work that is still to be done; one that only points at it, or quotes all of it, does not count."""
    if sentence[:1] in _OPENS and sentence[-1:] in _CLOSES:
        return False
    if "odo" in sentence and not ENGLISH.search(sentence):
        sentence = _ALL.sub(" ", sentence)
    if not _TODO.stand_in(sentence) or _POINTS.match(sentence) or _ADVISED.match(sentence):
        return False
    if is_offered(sentence) or _FORBIDS_YET.search(sentence):
        return False
    return len(content_words(_TODO.pattern.sub(" ", sentence.lower()))) >= _NAMED


def without_marker(sentence: str) -> str:
    """A sentence about remaining work without the marker words."""
    return _TODO.pattern.sub(" ", sentence.lower()) if _TODO.stand_in(sentence) else sentence


_CLAUSE = late(r"[;,:](?:\s+|$)| (?:but|aber|mais|pero) ")
_PLAIN_WORD = late(r"[a-z]+")
_SUPPOSES = late(r"(?i)\W*(?:if|once|when|after|until|unless|as soon as|before)\b")


class Past(NamedTuple):
    """What a sentence tells of the past."""

    words: frozenset[str]
    """Its content words."""
    verbs: frozenset[str]
    """Those of them that tell what was done; none in a sentence that tells nothing of the past."""

    def tells_done(self, step: str) -> bool:
        """Whether it tells what a step asks for: `the lexer is ported` of `Port the lexer`."""
        words = content_words(step)
        return len(words) >= _NAMED and words[0] in self.verbs and self.words.issuperset(words)


def past_in(sentence: str) -> Past:
    """What a sentence tells of the past."""
    if remains(sentence) or hedges(sentence) or _SUPPOSES.match(sentence):
        return Past(frozenset(), frozenset())
    told = affirmed(sentence)
    verbs = (
        _stem(word) for word in _PLAIN_WORD.findall(told.lower()) if word.endswith("ed") or word in _IRREGULAR
    )
    return Past(frozenset(content_words(told)), frozenset(verbs))


def affirmed(sentence: str) -> str:
    """The clauses of a sentence that negate nothing."""
    return "; ".join(part for part in _CLAUSE.split(sentence) if not negated(part))


_TO_TRY = late(
    r"(?i)\b(?:checklist|test(?:ing)? (?:plan|cases|scenarios)|(?:manual|acceptance|smoke) test(?:s|ing)?|acceptance criteria|verification)\b"
)


def is_to_try(heading: str) -> bool:
    """Whether a heading is of things to try in the end, rather than of steps of the work."""
    return _TO_TRY.search(heading) is not None


_PUT_OFF = late(
    r"(?i)(?:^\W*|[:(\[–—-]\s*)(?:skipped|cancelled|canceled|dropped|won['’]t (?:do|fix)|wontfix|not needed|no longer needed|obsolete|superseded|n/a)\b|^~~.*~~"
)
"""An item without a tick that says itself that it is not to be done."""


def is_put_off(item: str) -> bool:
    """Whether an item of a checklist says itself that it is not to be done."""
    return _PUT_OFF.search(item) is not None


def checkboxes(text: str) -> Iterator[tuple[str, bool, str]]:
    """Items of a checklist, whether each is still open, and the heading above it.

    A heading of things to try goes before the headings below it: `Testing checklist, Print mode`.
    """
    if _BOX.search(text) is None:
        return
    heading, fenced = "", False
    above: tuple[int, str] | None = None
    for line in text.split("\n"):
        match = _CHECKBOX.match(line)
        if match is not None:
            is_open = match[1] in {" ", "-", "~"} and not is_put_off(match[2])
            yield match[2].strip(), is_open, heading
        elif _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _HEADING.match(line):
            level = line.count("#", 0, 8)
            heading = _HEADING.sub("", line).strip()[:120]
            if above is not None and level > above[0]:
                heading = f"{above[1]}, {heading}"[:120]
            else:
                above = (level, heading[:60]) if is_to_try(heading) else None
