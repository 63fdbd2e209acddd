"""Secrets that a sentence names from afar: `with … as the password`, `the token you need is …`, a value alone below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import ValueNotation, is_secret, stands_out
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.redaction.spans import Span

NAMES: tuple[tuple[str, Meaning], ...] = (
    ("password", Meaning.PASSWORD),
    ("passwd", Meaning.PASSWORD),
    ("passphrase", Meaning.PASSWORD),
    ("pass phrase", Meaning.PASSWORD),
    ("pwd", Meaning.PASSWORD),
    ("pw", Meaning.PASSWORD),
    ("token", Meaning.SECRET),
    ("secret", Meaning.SECRET),
    ("key", Meaning.SECRET),
    ("credentials", Meaning.PASSWORD),
    ("creds", Meaning.PASSWORD),
    ("login", Meaning.PASSWORD),
    ("mnemonic", Meaning.PASSWORD),
    ("seed phrase", Meaning.PASSWORD),
    ("recovery phrase", Meaning.PASSWORD),
    ("log in", Meaning.PASSWORD),
    ("backup phrase", Meaning.PASSWORD),
    ("2fa seed", Meaning.SECRET),
    ("mfa seed", Meaning.SECRET),
    ("otp seed", Meaning.SECRET),
    ("totp seed", Meaning.SECRET),
)
SIGNS = tuple(name for name, _ in NAMES)
_BEFORE = late(
    r"(?P<quote>[\"'`“*]{0,3})(?P<value>[^\s\"'`“”*]{6,100})[\"'`”*]{0,3} (?P<link>is|was|as|for|into) (?:(?:the|its|your|my|our|a|new|db|root|admin|database|user|default|temporary)[ ]){0,4}(?:\w{1,20} )?\Z"
)
_VALUE = r"(?P<value>[A-Za-z0-9!#$%&*+?@^~_./=-]{8,100}?)(?=[\"'`”*)\]}]{0,6}[.,;:!?]?(?:[\s)]|\\|$))"
_AHEAD = late(
    rf"(?:['’]?s)?(?:[,;](?=[ ][a-z]))?(?:(?:[ \t]{{1,2}}[(\"'`]?[a-z'’]{{1,12}}[)\"'`,]?){{1,6}}?:?)?[ \t]{{1,4}}[(\"'`“*]{{0,3}}(?P<who>[\w.@-]{{1,40}}[ ]?[:/][ ]?)?{_VALUE}"
)
_AND = late(rf"[\"'`”*]{{0,3}} (?:to|or|and) [\"'`“*]{{0,3}}{_VALUE}")
_CHANGED = late(
    r" (?:was |is )?(?:changed )?from [\"'`“*]{0,3}(?P<old>[^\s\"'`“”*]{6,100})[\"'`”*]{0,3} to [\"'`“*]{0,3}(?P<new>[^\s\"'`“”*]{6,100}?)(?=[\"'`”*)]{0,3}[.,;:!?]?(?:\s|$))"
)
_WORD = r"(?P<value>(?:[^\s\"'`“”*\\<>(]|\*(?=[^\s\"'`“”*\\<>()])){6,200}?)(?=[\"'`”*)\]}]{0,6}[.,;:!?]?(?:\s|\\|$))"
_OWN = late(
    rf"(?:['’]s|[ ]as[ ][\"'`“*]{{0,3}}[\w.@+-]{{1,60}}[\"'`”*]{{0,3}}[ ](?:with|using)[ ]|s?[ ]?(?:->|→|:|=| are| is)?[ ](?:\w{{1,12}}[ ]){{0,2}}?[\"'`“*]{{0,3}}[\w.@+-]{{1,60}}[\"'`”*]{{0,3}}[ ]?(?:/|:|[ ]and)[ ]?)[ ]?[\"'`“*]{{0,3}}{_WORD}"
)
"""`password's …`, `creds: ada / …`, `login as ada with …`."""
_ENTERING = ("log in", "login")
_USED = late(
    r"(?<![\w.@-])[\"'`“*]{0,3}[\w.@+-]{1,60}[\"'`”*]{0,3}[ ]?(?:/|:|[ ]and[ ])[ ]?[\"'`“*]{0,3}(?P<value>[^\s\"'`“”*/]{6,100})[\"'`”*]{0,3} to \Z"
)
"""`use ada / … to log in`."""
_LOGINS = ("credentials", "creds")
_ADMIN = late(
    r"(?i):[ ][\"'`“*]{0,3}(?:admin\w{0,10}|root|sa|sysadmin|superuser|postgres|user|demo|test)[\"'`”*]{0,3}[ ]?[/:]"
)
"""The users of a new installation: behind one of them stands a password, also one of words."""
_JOINED = late(r"[A-Z][a-z]{2,20}(?:[_-][A-Z]?[a-z]{2,20}){1,4}")
_FOR = late(
    rf"(?:[ ](?:for|of|to|on|in|für|fürs|von|vom|zum|del|della|di|do|da|du|de)[ ](?:the[ ]|key[ ])?[\w@.'\"/~-]{{1,60}}){{1,2}}(?:[ ](?:is|ist|est|es|è|é)(?=[ ])|[ ]?[:=])[ ]{{1,2}}[\"'`“*]{{0,3}}{_WORD}"
)
"""`password for ada: …`."""
_SURE = {name: Meaning.PERHAPS if name == "key" else meaning for name, meaning in NAMES}
_WALLET = late(
    r"(?:[^\n\\]{0,80}(?:\n|\\n)|[^\n\\:]{0,80}:)(?:[ \t\n\"'`>*]|\\n){0,12}(?P<value>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23}|1[.):]?[ ]{0,3}[a-z]{3,8}(?:(?:[ \t,]|\r?\n|\\n){1,12}[0-9]{1,2}[.):]?[ ]{0,3}[a-z]{3,8}){11,23})(?=[ \t]*(?:\r?\n|\\|\"|\Z))"
)
"""The words of a wallet on a line of their own, or numbered."""
_WALLETS = ("mnemonic", "seed phrase", "recovery phrase", "backup phrase")
_BELOW = late(
    r"(?:s|\(s\))?(?: [\w,.'’()`/-]{1,40}){0,16}[ \t]?:[ \t]{0,4}(?:(?:\r?\n|\\{1,7}n)[ \t]{0,12}){1,3}[\"'`*]{0,3}(?P<value>[A-Za-z0-9!#$%&*+?@^~_./=-]{8,200})[\"'`*]{0,3}[ \t]{0,4}(?=\r?\n|\\{1,7}n|\Z|\")"
)
"""The rest of a line that ends with a colon, and a value alone below it."""

_GROUPS = (
    r"(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{2,4}|[A-Z2-7]{32}|[A-Z2-7]{16}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{2,4}"
)
_SEED = late(rf"(?:[^\n:\\]{{0,60}}[:\n\\]n?|[ ])[ \t\n`\"'*]{{0,12}}(?P<value>{_GROUPS})(?![\w-])")
"""The seed of a generator of codes, in groups of four, as shown beside a QR code."""
_LINK = late(r" (?:as|is|was|for|into) ")
_ENDS = ".,;:!?)]}"
_NEAR = 60
_REACH = 160
_NO_SECRET = late(
    r"(?i)\b(?:public|hash|sha[0-9]*|digest|fingerprint|checksum|signature|uuid|ids?|named?|called|type|class|field|column|file|path|url)\b|sha[0-9]|hash"
)
"""Words near a name that give it another meaning."""
_GOES_ON = ("", " ", "\t", "'", "’", "s", "(", ":", ",", ";")
_PARTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_./:$@\\")
"""Characters before a word that make it part of a name."""


def sentences_in(text: str, low: str, names: Iterable[tuple[str, Meaning]]) -> Iterator[Span]:
    """The secrets at a distance of some words from their names.

    `low` is the text in small letters, `names` those of `NAMES` that it may hold.
    """
    for name, meaning in names:
        at = low.find(name)
        while at >= 0:
            end = at + len(name)
            if name in _ENTERING and low.startswith(" to ", at - 4):
                yield from _used(text, at)
            if at == 0 or low[at - 1] not in _PARTS:
                yield from _before(text, at, meaning)
                if text[end : end + 1] in _GOES_ON:
                    yield from _behind(text, at, end, name, meaning)
            elif low[at - 1] == "_":
                begin = text.rfind(" ", max(0, at - _NEAR), at) + 1
                if begin and text[begin:end].isupper():
                    yield from _before(text, begin, meaning)
                if meaning is Meaning.PASSWORD and text.startswith(" from ", end):
                    yield from _behind(text, at, end, name, meaning)
            at = low.find(name, end)


def _used(text: str, at: int) -> Iterator[Span]:
    """A name and a password that somebody is told to log in with."""
    found = _USED.search(text, max(0, at - _REACH), at)
    if found is not None and is_secret(found["value"], Meaning.PASSWORD, ValueNotation.INLINE):
        yield *found.span("value"), SecretKind.PASSWORD


def _before(text: str, at: int, meaning: Meaning) -> Iterator[Span]:
    found = (
        _BEFORE.search(text, max(0, at - _REACH), at) if _LINK.search(text, max(0, at - _NEAR), at) else None
    )
    if found is None:
        return
    sure = found["link"] == "as" and meaning is Meaning.PASSWORD
    if is_secret(found["value"], meaning, ValueNotation.INLINE) if sure else _is_value(found["value"]):
        yield *found.span("value"), SecretKind.PASSWORD


def _behind(text: str, at: int, end: int, name: str, meaning: Meaning) -> Iterator[Span]:
    for rule in (_OWN, _FOR) if meaning is Meaning.PASSWORD else (_FOR,):
        said = rule.match(text, end)
        if said is not None:
            value = said["value"].rstrip(_ENDS)
            if is_secret(value, _SURE[name], ValueNotation.INLINE) or (
                name in _LOGINS and _ADMIN.match(said[0]) and _chosen(value)
            ):
                yield said.start("value"), said.start("value") + len(value), SecretKind.PASSWORD
    changed = _CHANGED.match(text, end) if meaning is Meaning.PASSWORD else None
    for group in ("old", "new") if changed is not None else ():
        if changed is not None and is_secret(changed[group], meaning, ValueNotation.INLINE):
            yield *changed.span(group), SecretKind.PASSWORD
    seed = _SEED.match(text, end) if meaning is Meaning.SECRET else None
    if seed is not None and any(map(str.isdigit, seed["value"])):
        yield *seed.span("value"), SecretKind.ONE_TIME_SEED
    wallet = _WALLET.match(text, end) if name in _WALLETS else None
    if wallet is not None:
        yield *wallet.span("value"), SecretKind.WALLET_PHRASE
    yield from _ahead(text, at, end, meaning)
    below = _BELOW.match(text, end)
    if (
        below is not None
        and is_secret(below["value"], meaning, ValueNotation.LINE)
        and not below["value"].isdecimal()
    ):
        yield *below.span("value"), SecretKind.PASSWORD


def _chosen(value: str) -> bool:
    """Whether a word is a password that a person put together: capitals and a sign between words."""
    return is_secret(value, Meaning.PASSWORD, ValueNotation.SETTING) and _JOINED.fullmatch(value) is not None


def _ahead(text: str, at: int, end: int, meaning: Meaning) -> Iterator[Span]:
    """The values that follow some words after a name in a sentence."""
    found = _AHEAD.match(text, end)
    if (
        found is None
        or not _is_value(found["value"])
        or (found["who"] and meaning is not Meaning.PASSWORD)
        or _NO_SECRET.search(text, max(0, at - _NEAR), at)
        or _NO_SECRET.search(text, end, found.start("value"))
    ):
        return
    while found is not None and _is_value(found["value"]):
        yield *found.span("value"), SecretKind.PASSWORD
        found = _AND.match(text, found.end("value"))


def _is_value(value: str) -> bool:
    return stands_out(value.rstrip(_ENDS))
