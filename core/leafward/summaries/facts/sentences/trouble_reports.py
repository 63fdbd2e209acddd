"""What a prompt says of a trouble that seemed over, or was under discussion: it came back, or it is solved."""

from __future__ import annotations

from leafward.base.late_pattern import late

_COMES_BACK = late(
    r"(?i)^.{0,60}?\b(?:(?:(?:it|this|that|the same(?: \w+)?)(?:['’]s|(?: is| has| was| just| only)){0,3} (?:happen|occurr?)(?:ed|s|ing)?|broken?|fail(?:ed|s|ing)?) again"
    r"|(?:it|this|that|the (?:same )?(?:error|problem|issue|bug|thing))(?:['’]s| is| has| just| only){0,2} (?:came|come|coming|is|['’]s)? ?back"
    r"|(?:(?:it|this|that|the same|all of it)(?:['’]s| is)? )?still (?:the same|fail(?:s|ing)?|hang(?:s|ing)?|crash(?:es|ing)?|broken|wrong|happen(?:s|ing)|(?:does|do|is)(?: not|n['’]t) (?:work|build|compile|start|load|run)\w*|not (?:\w+ing|fixed|right))"
    r"|(?:immer noch|noch immer) (?:kaputt|derselbe|der gleiche|falsch|ein fehler)|toujours (?:la même erreur|cass[ée]e?|en panne)|sigue (?:fallando|sin funcionar|igual)"
    r"|(?:schon )?wieder (?:passiert|aufgetreten|da|kaputt)|passiert (?:schon )?wieder|(?:s['’]est|c['’]est) (?:re)?produit (?:à nouveau|encore)|encore arrivé"
    r"|(?:ha )?v(?:uelto|olvió) a (?:ocurrir|pasar|fallar))\b|^.{0,30}?(?:又(?:发生|出现|坏)|还是(?:不行|失败|报错))"
)
"""A prompt that reports a trouble once more."""
_MORE = (
    *(" aga", "back", "ll ", "noch", "eder", "toujours", "encore", "produ", "gue ", "uelto", "olv"),
    *("又", "还是"),
)
"""Of these each such prompt holds one, without regard to case. None has an i, of which `casefold` keeps some apart."""
_SOLVED = late(
    r"(?i)^(?:[\w’'-]+[\s,.!]+){0,2}?(?:that(?:['’]s| was| is) it|that (?:did it|does it|fixed it|fixes it|solved it|was the (?:problem|cause|reason|issue))"
    r"|(?:(?:it|this|that)(?:['’]s| is)|all) (?:fixed|solved|working|resolved)(?: now)?)\b(?! (?:for|then|because|when|only|but|not)\b)(?!\s*[?？])"
    r"|^(?:\W*(?:ja|super|oh|ah|genau)\W+)?(?:das war(?:['’]s| es)|jetzt (?:geht|funktioniert|läuft) (?:es|das|alles)|c['’]était ça|maintenant ça marche|era eso|ahora funciona)\b"
)
"""A prompt that says that the trouble is over."""


_FAILS = late(
    r"(?i)^(?:\w+ ){0,2}errors?: |^(?:read|see|look at|check) the error\b"
    r"|^.{0,120}?\b(?:(?:does|do|did|is|are)(?: not|n['’]?t) (?:\w+ )?(?:work|help|fixed|any (?:better|different)|send|appear|show|open|load|save|update|submit|render|start|respond|connect|display)\w*|no longer (?:appear|work|show|load|open|send|start|respond|render)\w*|not working|still (?:not|cannot|can['’]?t|can not|could(?: not|n['’]t)|(?:does|do|is|are)(?: not|n['’]t))\b|no (?:change|luck|difference|effect)\b|(?:is|are) still (?:huge|there|too|very|large|big|small|missing|showing|visible|present|off|slow|empty|blank)\b|(?:got|get|gets|getting|threw|throws?|thr[eo]w|gives?|gave)(?: me)? (?:an?|the same|this|these|thse|still) (?:\w+ ){0,2}errors?\b|still getting\b|nothing (?:changed|happens|happened)\b"
    r"|(?:error|issue|problem|bug)s? (?:still )?persists?\b|(?:the |exact(?:ly)? )?same (?:error|issue|problem|bug|result|thing)\b|(?:i|we) (?:still|now) (?:see|get|have)\b|now (?:it |i get |there['’]s )\w*(?:fail|crash|error|break)"
    r"|funktioniert (?:\w+ ){0,2}nicht\b|geht (?:\w+ ){0,2}nicht\b|(?:marche|fonctionne) (?:toujours )?pas\b|toujours pareil\b|no (?:funciona|anda|sirve)\b|persiste\w*\b|(?:recibo|obtengo|aparece|sale) el (?:siguiente )?(?:error|mensaje)\b|sigue\w* (?:\w+[aei]ndo|igual|sin)\b"
    r"|(?:pasa|sucede|acontece) (?:lo mismo|o mesmo)\b|todav[ií]a (?:no|veo|falla|pasa)\b|não funcion\w+|ainda (?:não|dá|está)\b|continua (?:\w+ndo|igual)\b|не работает|вс[её] ещ[её]|nie działa)"
    r"|^.{0,40}?(?:不行|没用|没变|仍然|동작하지 않|안 ?(?:돼|되|됩)|여전히|그대로|まだ|動か|変わら|nahi chal|abhi bhi|अभी भी|नहीं (?:चल|हो))"
)
"""A prompt that says that the result does not work."""


def says_it_fails(prompt: str) -> bool:
    """Whether a prompt reports that what was told as done does not work, or that the trouble is still there."""
    return comes_back(prompt) or _FAILS.match(prompt) is not None


def is_solved(prompt: str) -> bool:
    """Whether a prompt says that the trouble under discussion is over."""
    return _SOLVED.search(prompt) is not None


def comes_back(prompt: str) -> bool:
    """Whether a prompt reports that a trouble that seemed over happened again."""
    folded = prompt.casefold()
    return any(map(folded.__contains__, _MORE)) and _COMES_BACK.search(prompt) is not None
