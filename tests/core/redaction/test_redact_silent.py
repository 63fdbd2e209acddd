"""Texts that are told from many at once to hold no secret: redaction finds none there, in any order and behind any text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.redaction import redaction
from leafward.redaction.redaction import Redactor, secrets_in
from leafward.redaction.rules.provider_keys import LEAST_RUN
from leafward.redaction.signs import SIGNS
from leafward.redaction.silent_texts import silent_among
from tests.bench.generate import WORDS
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    import pytest

TOKEN = "ghp_" + "a1B2" * 9


def test_an_id_asks_no_rule_that_goes_by_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_text: str) -> tuple[int, str]:
        raise AssertionError("the signs of an id were looked for")

    monkeypatch.setattr(redaction, "signs_of", asked)
    assert secrets_in("toolu_01K3bYtq7Zp9WxVfRdL2mNcA") == []
    assert [kind for _, _, kind in secrets_in(TOKEN)] == ["github token"]


_PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(["token", "secret", "key", "auth", "pass", "id_rsa", "mysql", "-p", "get-access-token", "pwgen", "psk.txt"]),
    st.sampled_from([TOKEN, "AKIA" + "Z7" * 8, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzqw3KEY0a", "c2VjcmV0X2tleT1hYmNkZWYxMjM0NTY3ODkwYWJjZA", "LS0tLS1CRUdJTi"]),
    st.text("abcXYZ019_./-", min_size=1, max_size=24),
)  # fmt: skip
_PATHS = st.builds("".join, st.lists(st.one_of(_PIECES, st.sampled_from(["/", ".", "-", "_"])), max_size=8))
_OTHERS = st.sampled_from(
    [
        "gh auth token",
        f"export GITHUB_TOKEN={TOKEN}",
        "cat secrets/psk.txt",
        "PASSWORD=hunter2-Orchard",
        "go on",
    ]
)


@settings(max_examples=1000 if THOROUGH else 150)
@given(st.lists(st.one_of(_PATHS, _PATHS, _OTHERS), max_size=12))
def test_a_silent_text_is_redacted_as_any_other(texts: list[str]) -> None:
    one_by_one, together = Redactor(), Redactor(silent=silent_among(texts))
    assert [together.text(text) for text in texts] == [one_by_one.text(text) for text in texts]
    assert together.found == one_by_one.found


def test_names_of_files_are_silent_and_tokens_among_them_are_not() -> None:
    names = ["src/parser.py", "tests/core/session/test_tree.py", "docs/a-b_c.md"]
    told = f"src/{TOKEN}/key.ts"
    assert silent_among([*names, told, "get-access-token", "psk.txt", "with a blank.py"]) == frozenset(names)


_IN_WORDS = [TOKEN, *sorted({sign for sign in SIGNS.bits if sign.isascii() and sign.isidentifier()})]


@settings(max_examples=1000 if THOROUGH else 150)
@given(
    st.lists(
        st.one_of(st.sampled_from(_IN_WORDS), st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True)),
        min_size=1,
        max_size=6,
    )
)
def test_no_rule_finds_anything_in_a_short_word(parts: list[str]) -> None:
    """A short word is passed over, so it stands on a line here: without the line's end no rule would be asked."""
    word = "".join(parts)[: LEAST_RUN - 1]
    assert secrets_in(f"{word}\n") == []
    assert Redactor().text(word) == word
