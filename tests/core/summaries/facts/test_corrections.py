"""What the writer of a text takes back in the same text is not told."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.corrections import standing_part
from tests.core.linear_time import in_linear_time
from tests.core.told import ran, reply, span, summarize, user


@pytest.mark.parametrize(
    "words",
    [
        "Wait, no. Let me read it again.",
        "Wait — let me re-examine the frost table.",
        "Actually, let me reconsider this completely.",
        "Hmm, actually no, that's backwards too.",
        "Actually no - looking at `frost.py`, the rows are sorted.",
        "Hold on, I misread the table.",
    ],
)
def test_what_was_said_before_a_correction_stands_no_more(words: str) -> None:
    text = f"The bug is in `write_rows`: it swaps the frost table and the crates. {words}\n\nThe rows are sorted."
    assert standing_part(text) == f"{words}\n\nThe rows are sorted."
    asked = [user("Why are the rows of the frost table loose?"), *ran("a", "cat src/frost.py")]
    made = summarize(span(*asked, reply(text), user("ok, and the crates?"))).text
    assert "it swaps the frost table" not in made


@pytest.mark.parametrize(
    "text",
    [
        "The rows wait, no longer than a day, in the crate.",
        "We actually need no table here. Actually, no problem: it works.",
        "Wait for the frost, then let me re-read the rows.",
        "The server waits. It actually is not right to sort there.",
    ],
)
def test_another_text_stands_whole(text: str) -> None:
    assert standing_part(text) == text


def test_very_many_corrections() -> None:
    with in_linear_time():
        assert standing_part("The rows are loose. Wait, no. " * 20_000).startswith("Wait, no.")
        standing_part("wait " * 200_000)
        standing_part("hm, " * 100_000 + "wait")
