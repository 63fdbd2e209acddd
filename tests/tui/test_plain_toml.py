"""Plain TOML is read as the standard library reads it, and everything else by that."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import leafward_themes
from leafward_tui.ui.plain_toml import plain_values, read_toml

THEMES = sorted(Path(leafward_themes.__file__).parent.glob("*.toml"))
PIECES = st.sampled_from(
    ["a", "b-1", "A_", "é", " = ", "=", '"', "'", "\\", "\n", "\r", "[", "]", ".", "#", " ", "true", "false", "1", "\t", "\x00", "\x7f", "words"]
)  # fmt: skip


@pytest.mark.parametrize("path", THEMES, ids=lambda path: path.stem)
def test_every_built_in_theme_is_plain(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert plain_values(text) == tomllib.loads(text)


@given(st.lists(PIECES, max_size=12).map("".join))
@example('a = "x"\n[a]\n')
@example("[a]\nb = true\n[a]\n")
@example('a = "é"\n\n[b]\na = false')
@example('a = ""')
@example('a = "x" # note "')
@example('a = "x"\r\n')
def test_what_is_read_is_what_the_standard_library_reads(text: str) -> None:
    plain = plain_values(text)
    if plain is not None:
        assert plain == tomllib.loads(text)


def test_what_is_not_plain_is_read_all_the_same() -> None:
    assert read_toml("a = 'x' # a note\n[b.c]\nd = 1") == {"a": "x", "b": {"c": {"d": 1}}}
    with pytest.raises(ValueError, match="Invalid value"):
        read_toml("a = ")
