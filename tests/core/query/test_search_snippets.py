"""The search of all text: letters that count as the same, and the line that is shown of a hit."""

from __future__ import annotations

import sys

import pytest

from leafward.query.search.case_folding import folded, original_spans
from leafward.query.search.text_match import Phrase, snippet


def test_only_ascii_is_folded_to_ascii() -> None:
    for code in range(0x80, sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            assert all(char > "\x7f" for char in folded(chr(code))) or code in {0x149, 0x1F0}, hex(code)


@pytest.mark.parametrize(
    ("text", "wanted", "spans"),
    [
        ("xxÉy", "é", [(2, 3)]),
        ("xxE\u0301y", "é", [(2, 4)]),
        ("e\u0301e\u0301", "é", [(0, 2), (2, 4)]),
        ("🌳 Ünder", "ünder", [(2, 7)]),
        ("\u1112\u1161\u11abx", "한x", [(0, 4)]),
        ("\u0958x", "x", [(1, 2)]),
        ("\u0958 É, é", "é", [(2, 3), (5, 6)]),
    ],
)
def test_spans_are_those_of_the_text_itself(text: str, wanted: str, spans: list[tuple[int, int]]) -> None:
    low = folded(text)
    at = [place for place in range(len(low)) if low.startswith(wanted, place)]
    assert original_spans(text, [(place, place + len(wanted)) for place in at], keep_case=False) == spans


def test_white_space_alone_is_nothing_to_find() -> None:
    assert not Phrase("  ").is_in("a b")
    assert Phrase("  ").spans("a b") == []


def test_a_snippet_is_one_line_with_its_places() -> None:
    text = "w " * 300 + "the\n\n needle,\ta needle" + " v" * 300
    at = text.index("needle")
    line, spans = snippet(text, [(at, at + 6), (at + 10, at + 16)])
    assert [line[start:stop] for start, stop in spans] == ["needle", "needle"]
    assert "the needle, a needle v" in line
    assert len(line) < 400
    assert snippet("", []) == ("", ())
    assert snippet("  \n needle", [(4, 10)]) == ("needle", ((0, 6),))
