"""Searches over folders, by every road there is, for tests."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.catalogue.lookup import sighted
from leafward.query.search.corpus import Corpus
from leafward.query.search.prefilter import ripgrep
from leafward.query.search.text_search import TextSearch
from leafward.query.search.typed_query import parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.text_search import SessionHits

NOW = int(time.time() * 1000)
ROADS = ("rg", "scan", "all")
"""With ripgrep, with our own scan, and without leaving any session unopened."""


def cards_in(*paths: Path) -> list[Card]:
    return list(sighted(Config(), paths, os.environ, []))


def searching(text: str, cards: Iterable[Card], road: str = "scan") -> TextSearch:
    query = parse(text, NOW, whole=True)
    assert query.wrong is None, query.wrong
    program = ripgrep() if road == "rg" else None
    if road == "rg" and program is None:
        pytest.skip("ripgrep is not installed")
    search = TextSearch(Corpus(list(cards)), query, program=program)
    if road == "all":
        search.matcher.needle = lambda: None  # type: ignore[method-assign]
        search.matcher._pick = None
    return search


def found(text: str, *paths: Path, road: str = "scan") -> list[SessionHits]:
    return list(searching(text, cards_in(*paths), road).run())


def entries(sessions: Iterable[SessionHits]) -> list[tuple[str, str, str, int]]:
    """Session, entry, part and number of places of every hit."""
    return [
        (session.card.path, hit.entry, hit.part, hit.count) for session in sessions for hit in session.hits
    ]


def parts(text: str, *paths: Path) -> list[tuple[str, str]]:
    """Part and text found of every hit."""
    return [(hit.part, hit.matched) for session in found(text, *paths) for hit in session.hits]
