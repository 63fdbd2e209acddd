"""A JSON document says the same after it was made safe, and holds nothing that a terminal acts on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.base.safe_text import safe, safe_json

ACTED_ON = ("\x7f", "\x9b31m", "\x85", "\u202e", "\u2066", "\u2028", "\u200b", "\ufeff", "\U000e0041")


@pytest.mark.parametrize("text", ACTED_ON)
def test_what_a_terminal_acts_on_is_escaped(text: str) -> None:
    document = json.dumps({"text": f"a{text}b"}, ensure_ascii=False).encode()
    made = safe_json(document)
    assert made != document
    assert json.loads(made) == json.loads(document)
    assert text[0] not in made.decode()


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_every_text_means_the_same_and_is_safe(text: str) -> None:
    made = safe_json(json.dumps([text], ensure_ascii=False).encode()).decode()
    assert json.loads(made) == [text]
    assert safe(made) == made
