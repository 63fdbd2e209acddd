"""Words that are searched for on the pages of the inspector: what holds them unfolds, where they stand is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward_tui.inspector.controllers.pages import build_page
from leafward_tui.inspector.model.search_phrase import SearchPhrase
from leafward_tui.inspector.page import Page, PageLine
from leafward_tui.inspector.page_request import Goal, PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.text.spans import Span
from tests.tui.inspector_data import call, reply, result, thinking, turn, user, write_session
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def lines(*texts: str) -> list[PageLine]:
    return [PageLine((Span(text),)) for text in texts]


def test_words_are_found_over_the_end_of_a_line_and_in_any_case() -> None:
    page = lines("you  once The", "     Needle, and ", "     the", "", "     needle")
    assert SearchPhrase("the  needle").places(page) == {
        0: [(10, 13)],
        1: [(5, 11)],
        2: [(5, 8)],
        4: [(5, 11)],
    }
    assert SearchPhrase("Ça").places(lines("voici ça", "et c\u0327a")) == {0: [(6, 8)], 1: [(3, 6)]}
    assert SearchPhrase("pin").places(page) == {}


def test_what_holds_words_may_be_lists_and_objects() -> None:
    sought = SearchPhrase("needle")
    assert sought.is_in([{"a": [1, {"b": "a needle"}]}])
    assert not sought.is_in([{"needle": None}, 5, "hay"])


@pytest.fixture
def session(tmp_path: Path) -> Session:
    calls = [call("bash", f"c{at}", command=f"make {at}", note=f"seed-note-{at}.") for at in range(20)]
    edit = call("edit", "e", path="src/e.py", oldText="seed-before", newText="seed-after")
    reads = [call("read", f"r{at}", path=f"src/{at}.py") for at in range(20)]
    texts = "\n\n".join(f"paragraph {at}" for at in range(60))
    return write_session(
        tmp_path / "s.jsonl",
        user(f"{texts} seed-prompt"),
        reply(thinking("seed-thought"), "interim seed-remark", *calls, *reads, edit),
        *(result("bash", f"c{at}", f"output seed-output-{at}.") for at in range(20)),
        *(result("read", f"r{at}", f"content seed-content-{at}.") for at in range(20)),
        result("edit", "e", "seed-result"),
        reply(f"{texts} seed-reply"),
    )


def page_for(
    session: Session, words: str, tab: Tab = Tab.ENTRY, toggled: frozenset[str] = frozenset()
) -> Page:
    request = PageRequest(tab, turn(session), 60, 20, UNICODE, Config(), toggled, None, Goal(words))
    return build_page(request, WANTED)


@pytest.mark.parametrize(
    "words",
    [
        "seed-prompt",
        "seed-remark",
        "seed-thought",
        "seed-output-0.",
        "seed-note-17.",
        "seed-result",
        "seed-output-19.",
        "seed-content-3.",
        "seed-content-18.",
        "seed-reply",
    ],
)
def test_what_holds_the_words_is_unfolded(words: str, session: Session) -> None:
    folded, page = page_for(session, ""), page_for(session, words)
    assert words not in folded.text
    assert not folded.hits
    (at,) = page.hits
    ((start, stop),) = page.hits[at]
    assert page.lines[at].text[start:stop] == words
    assert len(page.lines) < len(folded.lines) + 130, "nothing else is unfolded"


def test_of_words_all_over_a_turn_the_first_places_are_unfolded(session: Session) -> None:
    page = page_for(session, "output")
    assert 10 < len(page.hits) < 20
    assert len(page.lines) < len(page_for(session, "").lines) + 60


def test_what_was_unfolded_can_be_folded_again(session: Session) -> None:
    assert page_for(session, "seed-thought").hits
    assert not page_for(session, "seed-thought", toggled=frozenset({"thoughts"})).hits


@pytest.mark.parametrize("tab", list(Tab))
def test_every_tab_can_be_searched(tab: Tab, session: Session) -> None:
    page = page_for(session, "paragraph 7", tab)
    for at, spans in page.hits.items():
        assert [page.lines[at].text[start:stop] for start, stop in spans] == ["paragraph 7"]
    assert bool(page.hits) == (tab in (Tab.ENTRY, Tab.RAW))


def test_a_page_whose_lines_are_made_when_seen_knows_what_to_light(session: Session) -> None:
    assert page_for(session, "seed-prompt", Tab.CONTEXT).words == "seed-prompt"
    assert not page_for(session, "seed-prompt", Tab.ENTRY).words
