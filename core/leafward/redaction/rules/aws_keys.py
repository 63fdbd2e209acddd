"""Keys without any name beside them, recognised by the even spread of their characters: secret keys of AWS."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.secret_values import entropy
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_AWS_SECRET = late(r"(?:(?<![A-Za-z0-9/+_-])|(?<=\\[nrt]))\+?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=_-])")
"""A leading plus sign may be that of a diff."""
_WORD = late(r"[a-z]{7}|[A-Z]{7}|[0-9]{6}|[A-Z][a-z]{5}")
"""Sequences in names and paths that forty random characters seldom have."""
_LEAST_LETTERS = 4
"""Fewest capitals, and fewest small letters."""
_LEAST_DIGITS = 2
_LEAST_ENTROPY = 4.2


def may_be_bare(together: str) -> bool:
    """Whether one of some runs may be such a key."""
    return _AWS_SECRET.search(together) is not None


def bare_keys(text: str, together: str) -> Iterator[Span]:
    """Runs of exactly forty base64 characters that are as random as a secret key of AWS. `together` are the text's runs."""
    if not may_be_bare(together):
        return
    for found in _AWS_SECRET.finditer(text):
        run = found[1]
        capitals, small, digits = (sum(map(test, run)) for test in (str.isupper, str.islower, str.isdigit))
        if (
            min(capitals, small) < _LEAST_LETTERS
            or digits < _LEAST_DIGITS
            or _WORD.search(run)
            or entropy(run) < _LEAST_ENTROPY
            or base64.b64decode(run).isascii()
        ):
            continue
        yield found.start(1), found.end(1), SecretKind.AWS_SECRET
