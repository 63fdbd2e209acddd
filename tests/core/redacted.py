"""Checks of redaction that hold for any text."""

from __future__ import annotations

import json
import time

from leafward.base.redact.redaction import redact

_SIZE = 250_000


def repeated(piece: str) -> str:
    """A quarter of a megabyte of one piece, over and over."""
    return (piece * (_SIZE // len(piece) + 1))[:_SIZE]


def assert_stays(text: str) -> None:
    """Nothing of the text is taken for a secret, nor where it is part of JSON."""
    assert redact(text) == text
    assert redact(json.dumps({"output": text})) == json.dumps({"output": text})


def assert_takes_linear_time(text: str) -> None:
    """Quadratic work on a quarter of a megabyte would take minutes."""
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 10
