"""Secrets that their text names in one place and repeats in another, without a name: `DB_PASS=…`, later only the password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.secret_values import is_code
from leafward.redaction.spans import merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.redaction.spans import Span

_SHORTEST = 8
"""Fewest characters of a secret that is looked for: shorter ones are also words."""
_NAME = late(
    r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z]+[0-9]{0,3}(?:_+[A-Za-z]+[0-9]{0,3})+|[A-Z]+(?:-[A-Z0-9]+)+|[\w./-]+:[0-9.]+[a-z-]*|.*://.*"
)
"""Names of code, algorithms and images, and addresses: what is wrong in one place must not be wrong in all."""
_MOST = 32
"""Most secrets of a text that are looked for: each of them costs a search of the text."""


def note_distinct(text: str, spans: Iterable[Span], kinds: dict[str, str], most: int = _MOST) -> None:
    """Adds the secrets at `spans` to `kinds` whose characters are their own: letters with digits, neither words nor numbers.

    `kinds` gets no more than `most`.
    """
    for start, end, kind in spans:
        if len(kinds) >= most:
            return
        secret = text[start:end]
        if len(secret) >= _SHORTEST and secret not in kinds and _is_distinct(secret):
            kinds[secret] = kind


def places_of(kinds: dict[str, str], text: str) -> Iterator[Span]:
    """All places of some secrets in a text; their kinds are given."""
    for secret, kind in kinds.items():
        at = text.find(secret)
        while at >= 0:
            end = at + len(secret)
            if not _is_word(text[end : end + 1]) and (
                not _is_word(text[at - 1 : at]) or text[at - 2 : at - 1] == "\\"
            ):
                yield at, end, kind
            at = text.find(secret, end)


def with_repeated(text: str, spans: list[Span]) -> list[Span]:
    """The spans, and the other places of the same secrets."""
    kinds: dict[str, str] = {}
    note_distinct(text, spans, kinds)
    again = list(places_of(kinds, text))
    return list(merged([*spans, *again])) if len(again) > len(kinds) else spans


def _is_distinct(secret: str) -> bool:
    return (
        any(map(str.isdigit, secret))
        and any(map(str.isalpha, secret))
        and "\n" not in secret
        and not is_code(secret)
        and _NAME.fullmatch(secret) is None
    )


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
