"""Sentences whose first words say what they are: the cause of a trouble, or the conclusion of an answer."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late

_CAUSE = late(
    r"(?i)\W*(?:(?:the|die|der|la|le|el) )?(?:(?:real|actual|root|eigentliche|vraie|verdadera) )?(?:cause|culprit|ursache|causa|причина)"
    r"(?: (?:confirmed|found|identified|bestätigt|gefunden|confirmée|trouvée|confirmada|encontrada))?(?:\W{0,3}[:：—–-]\W| (?:is|was|ist|war|est|était|es|era) )"
    r"|\W*(?:(?:根本)?原因(?:[:：]|是|は)|(?:근본 ?)?원인(?::|은 ))"
)
_CONCLUDES = late(
    r"(?i)\W*(?:(?:the )?(?:short|honest|quick) answer|in short|tl;?dr|bottom line|conclusion|verdict|kurz(?: gesagt)?|fazit|en résumé|en bref|en resumen"
    r"|conclusión|итог|вывод)\W{0,3}[:：—–-]\W"
    r"|\W*(?:结论|总之|简而言之|結論|要するに|결론)(?:[:：，、]|은 |は)"
)


@lru_cache(maxsize=1 << 12)
def names_cause(sentence: str) -> bool:
    """Whether a sentence begins by calling what it tells the cause: that stays true when the trouble is mended."""
    return _CAUSE.match(sentence) is not None


@lru_cache(maxsize=1 << 12)
def concludes(sentence: str) -> bool:
    """Whether a sentence begins by calling what it tells the answer in short."""
    return _CONCLUDES.match(sentence) is not None
