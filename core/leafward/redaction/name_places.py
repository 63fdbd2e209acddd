"""The meaning of a name at its place: what the words around it add to what the name says by itself."""

from __future__ import annotations

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning, meaning_of

_KEY_OF = late(
    r"(?i)\b(?:api|private|secret|access|encryption|master|account|auth|signing|license|shared|service)[ \t]\Z"
)
"""Words that make a following `key` a secret."""
_WALLET = late(r"(?i)\b(?:seed|recovery|secret|pass)[ \t]\Z")
_SECTION = late(r"(?i)(?:jwt|auth|signing|encryption)\w{0,20}\\{0,7}\"[ \t]{0,4}:\s{0,4}\{[^{}]{0,120}\Z")
"""The beginning of a section of settings whose `Key` is a secret."""
_KEY_ID = late(r"[ ](?:ID[ ])?(?:0x)?[0-9A-F]{8,40}\b")
"""The number of a public key, as GnuPG shows it."""
_KIND_OF_KEY = late(r"\b([A-Za-z]{2,20})[ \t]\Z")
"""The word before `key` in a sentence: if `names` knows the pair as a secret, a value that is clearly random is one."""
_OF_QUERIES = ("key", "sig", "signature", "code", "appid", "jsessionid", "phpsessid")
"""Names that mean a secret in the query of an address."""


def meaning_at(text: str, start: int, end: int, name: str) -> Meaning | None:
    """The kind of value that the name between two places announces; None where it is not a secret."""
    meaning = meaning_of(name)
    low = name.lower()
    if meaning is None:
        if text[start - 1 : start] in ("?", "&", ";") and low in _OF_QUERIES:
            meaning = Meaning.PERHAPS
        elif low == "phrase" and _WALLET.search(text, max(0, start - 16), start):
            meaning = Meaning.PASSWORD
    if name == "Key" and text.startswith(" Content ", end):
        # The output of Windows for a wireless network.
        return Meaning.PASSWORD
    if meaning in (None, Meaning.KEY) and low == "key" and _KEY_OF.search(text, max(0, start - 16), start):
        return Meaning.SECRET
    if meaning is not Meaning.KEY:
        return meaning
    if name == "Key" and _SECTION.search(text, max(0, start - 160), start):
        return Meaning.PERHAPS
    if _KEY_ID.match(text, end):
        return None
    if (sort := _KIND_OF_KEY.search(text, max(0, start - 24), start)) is not None:
        pair = meaning_of(f"{sort[1]}_key")
        return pair if pair is Meaning.PASSWORD else Meaning.PERHAPS if pair is Meaning.SECRET else meaning
    return meaning
