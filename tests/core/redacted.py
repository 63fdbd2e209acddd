"""Checks of redaction that hold for any text."""

from __future__ import annotations

import json

from leafward.redaction.redaction import redact
from tests.core.linear_time import in_linear_time
from tests.surroundings import THOROUGH

SIZE = 50_000


def repeated(piece: str) -> str:
    """A twentieth of a megabyte of one piece, over and over."""
    return (piece * (SIZE // len(piece) + 1))[:SIZE]


def assert_stays(text: str) -> None:
    """Nothing of the text is taken for a secret, nor where it is part of JSON."""
    assert redact(text) == text
    assert redact(json.dumps({"output": text})) == json.dumps({"output": text})


def assert_takes_linear_time(text: str) -> None:
    """Quadratic work on a twentieth of a megabyte takes 7 s. A longer text is tried by its beginning and end."""
    if len(text) > SIZE and not THOROUGH:
        text = text[: SIZE // 2] + text[-SIZE // 2 :]
    with in_linear_time(5 if THOROUGH else 2):
        redact(text)
