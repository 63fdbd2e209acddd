"""The search within one session: text in all that is said, a query where one is typed, and the same words taken literally."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.query.search.in_session import EntryHits, find
from leafward.session.session import Session
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path


def found(path: Path, text: str, *, literal: bool = False) -> EntryHits:
    with closing(Session.open(path)) as session:
        return find(session, text, lambda: False, lambda _hits: None, literal=literal)


def test_a_text_a_query_and_the_same_words_as_text(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("Count the Pears")
    file.user("what is pears & prompts()?")
    text = found(file.path, "pears")
    query = found(file.path, "pears & prompts()")
    literal = found(file.path, "pears & prompts()", literal=True)
    assert (len(text.entries), text.by_query) == (2, False)
    assert (len(query.entries), query.by_query) == (2, True)
    assert (list(literal.entries), literal.by_query) == (list(text.entries)[1:], False)
