"""Whether a sentence is a question or a guess, and its words without the fillers before them."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.prose import REMEMBERED

_OFFERED = late(
    r"(?i)\W*(?:(?:and|or|also|but|next)[, ]+)?(?:if you(?:['’]d| would)? (?:want|like|prefer|wish|need|agree|approve)|if (?:that|this)(?:['’]s| is| looks| sounds| works)|let me know if|(?:wenn|falls) (?:du|sie|gewünscht)|auf wunsch"
    r"|si (?:tu|vous) (?:veux|voulez|souhaites|souhaitez|préfères|préférez|es d['’]accord|êtes d['’]accord)|si (?:lo |te |le )?(?:parece|estás de acuerdo|está de acuerdo|quieres|quiere|deseas|desea|prefieres|prefiere)"
    r"|se (?:quiser|concordar|vuoi|preferisci|sei d['’]accordo)|jeśli (?:chcesz|się zgadzasz)|если (?:хотите|хочешь|(?:вы |ты )?не против|(?:вы |ты )?соглас\w+))\b"
    r"|\W*(?:(?:如果|若)(?:你|您)?(?:也|都)?(?:想|需要|愿意|希望|同意|认可|确认|觉得|(?:没|沒)有?(?:问题|意见|异议))|(?:你|您)?(?:需要|想|愿意|同意|没问题)的话|よろし(?:ければ|い(?:なら|であれば))|よければ|ご希望|問題な(?:ければ|いようなら)|必要(?:であれば|なら)|원하(?:면|시면|신다면)|동의하(?:면|시면)|괜찮(?:으면|으시면)|필요하(?:면|시면))"
)
"""The beginning of an offer."""
_FILLER = late(
    r"(?i)(?:(?:ok(?:ay)?|alright|all right|btw|by the way|so|well|hm+|ah|oh|also|and|but|then|now|actually|wait(?! for\b| until\b| till\b)|wtf|omf?g|damn|wow|(?:my )?dude|man"
    r"|yes|yeah|yep|yup|sure|please|thanks"
    r"|(?:great|good|perfect|cool)(?: (?:approach|idea|plan|point|catch|job|work|stuff|question))?(?=\s*(?:[,.!…:-]|$)|\s+(?:now|so|then|and|but|also|please|let)\b))\b[\s,.!…:-]*)+"
)
_ASKED = late(
    r"(?:(?:why|how|where|when|who|which|what(?:['’]s)?)\s+(?:is|are|was|were|do|does|did|can|could|should|would|will|about|if|happens|happened|else)\b"
    r"|(?:can|could|do|does|did|is|are|was|were|should|would|will|have|has|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|can['’]t"
    r"|couldn['’]t|shouldn['’]t|wouldn['’]t|won['’]t)\s+(?:we|you|i|it|this|that|they|there|he|she|these|those)\b"
    r"|any idea\b|what's\b|how come\b|(?:warum|wieso|weshalb|woran|pourquoi|por qué|perché|почему|зачем)\b"
    "|为什么|为何|为啥|怎么|なぜ|どうして|왜)"
)
_TAG = late(r"[?？][^\w?？]*$")
_ASKED_LAST = late(
    r"[吗呢か](?:(?<=[吗呢])|(?<=ですか)|(?<=ますか))\W*$|(?:でしょう|かな)(?:(?<=どうでしょう)|(?<=かな))\W*$"
)
_GUESSED = markers(
    r"\b(?:i(?:['’]m| am| would| actually| basically| just| also| still| really| kinda)?(?: not)? (?:think(?:ing)?|guess|suppose|bet|suspect|believe|assume|wonder|thought|hope|hypothesi[sz]e|presume|reckon|imagine|speculate|doubt)"
    r"|i (?:don['’]?t|do not) (?:think|know|understand|see|get)|i have a feeling|i feel like|maybe|perhaps|probably|not sure|sounds like|in theory"
    r"|ich (?:glaube|denke|vermute)|vielleicht|vermutlich|wahrscheinlich|je (?:crois|pense)|peut-être|quizás?|creo que)\b|也许|可能|大概|たぶん|かもしれ",
    "glaube denke vermute vielleicht vermutlich wahrscheinlich crois pense quizas quiza creo think thinking guess suppose bet suspect believe assume wonder thought hope know understand see get "
    "hypothesize hypothesise presume reckon imagine speculate doubt feeling feel maybe perhaps probably sure sounds theory",
)


@lru_cache(maxsize=REMEMBERED)
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
    return sentence[found.end() :].lstrip("，、。！") if found is not None else sentence


def is_offered(sentence: str) -> bool:
    """Whether a sentence leaves what it names to its reader's wish: nobody is to do it yet."""
    return _OFFERED.match(sentence) is not None


def guesses(sentence: str) -> bool:
    """Whether a sentence states an assumption rather than a fact."""
    return _GUESSED.stand_in(sentence)
