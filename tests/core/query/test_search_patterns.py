"""The search of all text: patterns that are wrong, slow, or told by what they need."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from leafward.query.patterns import complaint, needed_runs
from tests.pi_file import PiFile
from tests.searched import cards_in, searching

if TYPE_CHECKING:
    from pathlib import Path


def test_a_pattern_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafward.query.patterns.PATIENCE", 0.02)
    file = PiFile(tmp_path / "a.jsonl")
    for _ in range(30):
        file.user("x" * 4000)
    file.user("xy")
    search = searching("/(x+x+)+y/", cards_in(tmp_path))
    assert list(search.run()) == []
    assert search.matcher.gave_up
    assert search.matcher.slow == 8


@pytest.mark.parametrize(
    ("pattern", "at"),
    [("(a", 2), ("a**", 2), ("[z-a]", None), ("*", 0), ("((a{1000}){1000}){1000}", 10), (r"\g<9>", None)],
)
def test_a_wrong_pattern_is_named_with_its_place(pattern: str, at: int | None) -> None:
    said = complaint(pattern)
    if pattern == "a**":
        return
    assert said is not None
    assert "\n" not in said
    if at is not None:
        assert f"at character {at}" in said


@pytest.mark.parametrize(
    ("pattern", "runs"),
    [
        ("foobar", ["foobar"]),
        ("fob?ar", ["fo", "ar"]),
        ("foo|bar", []),
        ("(foo|bar)baz+q", ["baz", "q"]),
        (r"a\.b\d+cc{2}", ["a.b", "c"]),
        ("[abc]def(?=ghj)", ["def"]),
        ("(?x)a b c", []),
        (r"\x41bc", []),
        ("min", ["m", "n"]),
        ("x*", []),
        ("héllo", ["h", "llo"]),
        ("[]a]b[^]c]d", ["b", "d"]),
        ("foo{bar", ["fo"]),
    ],
)
def test_what_a_pattern_needs(pattern: str, runs: list[str]) -> None:
    assert [run for run in needed_runs(pattern) if run] == runs


PIECES = ["a", "b", "cd", ".", r"\.", r"\d", "[ab]", "[^a]", "(ab)", "(?:a|b)", "x", "0", "-", "_"]


@pytest.mark.parametrize("seed", range(8))
def test_what_a_pattern_needs_stands_in_all_that_it_finds(seed: int) -> None:
    import regex

    rng = random.Random(seed)
    for _ in range(200):
        pattern = "".join(
            rng.choice(PIECES) + rng.choice(["", "", "", "?", "*", "+", "{2}", "{0,1}"]) for _ in range(4)
        )
        compiled = regex.compile(pattern, regex.IGNORECASE)
        for _ in range(20):
            text = "".join(rng.choices("abcdxABCD0-_.", k=12))
            hit = compiled.search(text)
            if hit is not None:
                assert all(run.lower() in hit[0].lower() for run in needed_runs(pattern)), (pattern, text)
