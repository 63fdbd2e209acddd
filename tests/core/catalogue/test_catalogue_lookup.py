"""A session is found by its id, a prefix of it, its file name or its path; or the refusal says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import NotFound
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.lookup import find_session
from tests.core.catalogued import config, fill
from tests.core.listed_sessions import Draft

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.base.config import Config


@pytest.fixture
def known(store: Path) -> Config:
    fill(store, 12)
    draft = Draft("custom.id-7", cwd="/home/ada/p0")
    draft.named("By hand")
    draft.write(store / "mine.jsonl")
    return config(store)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("text", ["custom.id-7", "cust", "mine", "mine.jsonl"])
def test_a_session_is_found_by_id_prefix_or_file_name(
    known: Config, store: Path, text: str, indexed: bool
) -> None:
    if indexed:
        Catalogue(known).refresh()
    assert find_session(text, known) == store / "mine.jsonl"
    assert find_session(str(store / "mine.jsonl"), known) == store / "mine.jsonl"


def test_a_session_is_found_by_a_path_seen_from_here(
    known: Config, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    assert find_session("mine.jsonl", known) == store / "mine.jsonl"


def test_an_id_that_begins_others_is_itself(known: Config, store: Path) -> None:
    draft = Draft("custom")
    path = draft.write(store / "short.jsonl")
    assert find_session("custom", known) == path


def test_several_that_fit_are_named(known: Config) -> None:
    with pytest.raises(NotFound) as refused:
        find_session("0000", known)
    text = str(refused.value)
    assert text.startswith(
        "several sessions start with '0000': 00000011-aaaa (prompt 11), 00000010-aaaa (prompt 10), "
    )
    assert text.endswith(", 7 more")
    assert text.count("(prompt") == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("zzz", "no session 'zzz'; `leafward ls` lists them"),
        ("", "no file ''"),
        ("/no/such/file.jsonl", "no file '/no/such/file.jsonl'"),
        (".", ". is a folder; name a session in it"),
    ],
)
def test_what_is_not_there_is_refused_with_the_reason(known: Config, text: str, reason: str) -> None:
    with pytest.raises(NotFound) as refused:
        find_session(text, known)
    assert str(refused.value).startswith(reason)
