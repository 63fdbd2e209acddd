"""What a user says of the present behaviour of a thing in the words of a rule: `it always shows the old sum`."""

from __future__ import annotations

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import OTHER_SCRIPT

_OUGHT = late(
    r"\b(?:must|should|shall|ought|let['’]?s|please|use|prefer|(?:has|have|needs?|wants?) to|i(?:['’]d)? (?:want|need|like)|make sure|ensure"
    r"|muss|müssen|soll\w*|darf|dürfen|bitte|doi[stv]\w*|devr\w+|faut|faudra\w*|veuillez"
    r"|deb[eo]\w*|ten\w+ que|tiene\w* que|hay que|quiero|deve\w*|precisa\w*|quero|por favor"
    r"|долж\w+|нельзя|надо|нужно)\b"
)
"""Words that ask for something in whatever surroundings."""
_SUBJECT = r"^(?:it|this|that|there|these|those|they|(?:the(?! users?\b)|my|your|our|this|that|these|those) (?:[\w'’-]+ ){1,6}?)"
"""The beginning of a statement; what the user of a program never sees is rather a rule."""
_ARISES = late(
    r"^(?:when(?:ever)?|each time|every time|if|once|after) (?:i|we) \w+ .{0,120}?\b(?:i|we|it) (?:get|got|see|saw|shows?|says?|crash\w*|fail\w*)\b"
    r"|^(?:al (?:intentar|tratar de)|cuando intent\w+|ao tentar|quando tent\w+|(?:quand|lorsque) j['’]essa[iy]e|en essayant|beim versuch|при попытке)\b"
)
"""The beginning of what happens when somebody tries something: the message that comes up may hold any words."""
_SHOWS = late(
    # What a text or a screen says.
    r"^(?:it|this|that|he|she) (?:shows?|says?|said|means?|tells?|looks|seems?|appears?) (?:that|like|as if|to be|me|us)\b"
    rf"|{_SUBJECT}(?:['’]s| is| are)?\s*\b(?:still|always|never|constantly) (?:[a-z-]+ly )?\w+(?<![su])s\b"
    # Where a thing is, beside where it is expected.
    rf"|{_SUBJECT}.*\b(?:instead of|rather than)\b|\bstill\b.*\b(?:instead of|rather than)\b"
    r"|^(?!when|if|once)[^,]*\b(?:show|display|get|open|go|render|load|appear|print)(?:e?s|ing)\b.*\b(?:instead of|rather than)\b"
    r"|^(?:currently|(?:when(?:ever)?|if|it|this|that|the|there|these|those)\b.*\b(?:is|are) currently)\b"
    # German: the verb stands before the word, in small letters as all of the sentence.
    r"|^(?:es|das|die|der|dies\w*|er|sie|hier|da|beim|wenn)\b(?: [\w-]+){0,8}? (?:\w+t|wird|sind|werden|bleiben|kommen|zeigen|gehen|haben|fehlen)(?: \w+){0,3}? (?:immer|nie|niemals)\b"
    r"|^(?:ça|ca|cela|c['’]|ils?|elles?|on)\b.*\b(?:toujours|jamais)\b"
    r"|^(?:l[ea]s? |l['’]|ce(?:tte|s)? |m(?:on|a|es) |quand )[^.]*?\b(?:n['’]?e? ?\w+ (?:toujours |jamais\b)|(?:est|sont|a|ont|reste\w*|affiche\w*|marche\w*|fonctionne\w*|renvoie\w*|retourne\w*|plante\w*|appara\w+|montre\w*|donne\w*|fait|font|revien\w+|bloque\w*|échoue\w*|charge\w*|ouvre\w*) (?:toujours|jamais)\b)"
    r"|^(?:el|las?|los|esto|eso|es[ae]|est[ae]|mi|cuando|al|os?|as?|isso|ele|ela|quando|meu|minha)\b.*?(?:\b(?:siempre|nunca|sempre) (?:(?:se|me|le|l[oa]) )?\w+[ae]n?\b|\b\w+[ae]n? (?:siempre|nunca|sempre)\b)"
    r"|^(?:siempre|nunca|sempre) (?:aparece|sale|falla|falha|queda|fica|trava|tarda|está|es|é|dá|me \w+|se \w+)\b"
)
_SHOWS_ELSEWHERE = late(
    r"\b(?:всегда|никогда не|вс[её] время) (?:\w+ )?\w+(?:[еиюя]т|[еиюя]тся)\b"
    r"|(?:还是|仍然|依然|总是|一直|老是)(?!.*(?:必须|不要|请|务必|禁止|一定要))|不能(?:正常)?(?:点击|滚动|滑动|拖动|加载|播放|识别|刷新|生效|启动|连接)(?:了|啊|吗)?\W*$"
    r"|(?:必ず|いつも|毎回|常に)(?!.*(?:ください|下さい|ように|こと|べき)).{0,40}(?:エラー|失敗|落ち|になりま?す|になる|てしまう|しまいます|ません|出ます|出る|表示されます|表示される)"
    r"|(?:항상|계속|매번|절대)(?!.*(?:세요|해 ?줘|해야|하지 ?마|금지)).{0,40}(?:에러|오류|실패|나와|나요|납니다|나옵니다|떠요|뜹니다|안 ?[돼되됩나])"
)
"""The same in other scripts."""


def complains(sentence: str) -> bool:
    """Whether a sentence in small letters says what a thing does now, and asks for nothing."""
    if OTHER_SCRIPT.search(sentence) is not None and _SHOWS_ELSEWHERE.search(sentence) is not None:
        return _OUGHT.search(sentence) is None
    if _ARISES.match(sentence) is not None:
        return True
    return _SHOWS.search(sentence) is not None and _OUGHT.search(sentence) is None
