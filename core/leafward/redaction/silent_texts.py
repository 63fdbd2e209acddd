"""Texts without secrets, told from many at once: names of files, of which a working set has hundreds.

In texts of letters, digits and the signs of paths most rules find nothing: they need a blank, a quote, a bracket or a second line.
The others are asked once about all texts together, and a text in which one of them may find something counts as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.rules import named_files, printed, private_keys
from leafward.redaction.rules.aws_keys import may_be_bare
from leafward.redaction.rules.commands import literals_in
from leafward.redaction.rules.encoded_texts import may_be_encoded
from leafward.redaction.rules.provider_keys import matching_runs
from leafward.redaction.signs import IN_SMALL_LETTERS, PORTS, WALLETS, commands_of, signs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = late(r"[A-Za-z0-9_./-]+")
_LITERALS = tuple(
    literal
    for literal in (*private_keys.LITERALS, *printed.LITERALS, *named_files.NAMES)
    if _PLAIN.fullmatch(literal) is not None
)
"""Texts without which these rules find nothing and expect nothing of the next text."""


def silent_among(texts: Iterable[str]) -> frozenset[str]:
    """Those of some texts that certainly hold no secret, nor say that the text behind them is one.

    What rules remember of words is told of the other texts too, so that no expression for many words is compiled for these.
    """
    every = dict.fromkeys(texts)
    plain = [text for text in every if _PLAIN.fullmatch(text) is not None]
    joined = "\n".join(plain)
    _, together = signs_of("\n".join(every), once=True)
    literals = [literal for literal in _LITERALS if literal in joined]
    if together:
        literals += matching_runs(together)
        if may_be_bare(together) or may_be_encoded(together):
            literals += [run for run in together.split("\n") if may_be_bare(run) or may_be_encoded(run)]
    return frozenset(
        text
        for text in plain
        if not _may_hold(text, signs_of(text, once=True)[0]) and not any(map(text.__contains__, literals))
    )


def _may_hold(text: str, signs: int) -> bool:
    """Whether a rule that goes by signs may find something."""
    if signs & (IN_SMALL_LETTERS | PORTS | WALLETS):
        return True
    return any(literals_in(text, pair) for pair in commands_of(signs))
