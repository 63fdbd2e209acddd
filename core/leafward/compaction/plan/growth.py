"""Messages about a compaction that frees too little or makes the context larger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.strategies.division import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROWS, _TOO_LARGE, _NO_GAIN = "grows", "still-too-large", "no-gain"
SIZE_CODES = frozenset({_GROWS, _TOO_LARGE, _NO_GAIN})
"""Codes of remarks on sizes: for a plan they are estimates, which no longer hold once there is a summary."""


def growth_words(before: int, after: int, about: str = "") -> str:
    """The message that a compaction makes the context larger, from its tokens before and after; empty if it does not.

    `about` is put before an estimate.
    """
    if after <= before:
        return ""
    return f"this compaction makes the context larger: {about}{after:,} tokens instead of {before:,}"


def planned_growth(remarks: Sequence[Diagnostic]) -> str:
    """The message among a plan's diagnostics that it makes the context larger; empty if there is none."""
    return next((one.text for one in remarks if one.code == _GROWS), "")


def size_remarks(before: int, after: int, threshold: int, *, planned: int | None = None) -> list[Diagnostic]:
    """Remarks on the sizes of a context, in estimated tokens as they are shown; agents compact above `threshold`.

    `planned` are the expected tokens of a summary that is not there yet.
    """
    remarks = []
    lead = f"with a summary of about {planned:,} tokens, " if planned is not None else ""
    if grows := growth_words(before, after, "about "):
        remarks.append(Diagnostic(_GROWS, f"{lead}{grows}"))
    if after > threshold:
        text = f"{lead}about {after:,} tokens would be left, over the threshold of {threshold:,}"
        remarks.append(Diagnostic(_TOO_LARGE, text))
    elif after == before:
        text = f"{lead}this compaction frees nothing: about {after:,} tokens stay"
        remarks.append(Diagnostic(_NO_GAIN, text))
    return remarks
