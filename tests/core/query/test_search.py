from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.times import parse_time
from leafward.catalogue.cards.card import Details
from leafward.query.search.cards import CardShelf, matches
from leafward.query.search.query import Query
from leafward.query.search.typed_query import parse
from tests.core.catalogue.test_catalogue_lineage import card
from tests.core.linear_time import in_linear_time
from tests.core.listed_sessions import START
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = 86_400_000


def parsed(text: str) -> Query:
    return parse(text, START)


def test_words_phrases_and_terms_are_told_apart() -> None:
    query = parsed('Theme "dark Mode" file:theme.ts agent:PI project:~/work fix:')
    assert query.words == ("theme", "dark mode", "fix:")
    assert (query.files, query.agents, query.projects) == (("theme.ts",), ("pi",), ("~/work",))
    assert query.problems == ()
    assert query
    assert not parsed("  ")


@pytest.mark.parametrize("text", ["since:", "file:", "project:", '"', '""'])
def test_what_is_half_typed_is_no_problem(text: str) -> None:
    assert parsed(text).problems == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turns>3", "turns> is not a condition; searched for as text (column 1)"),
        ("theme tokens>2k", "tokens> is not a condition; searched for as text (column 7)"),
        ("since>=3", "since>= is not a condition; searched for as text (column 1)"),
        ("TODO:fix", "TODO: is not a condition; searched for as text (column 1)"),
        ("bogus:1", "bogus: is not a condition; searched for as text (column 1)"),
        ('"dark mode', "this quotation is never closed; read up to the end (column 1)"),
        ('project:"a b', "this quotation is never closed; read up to the end (column 9)"),
        ("/[/", "patterns work only in the search of all text; searched for as text (column 1)"),
    ],
)
def test_what_is_searched_for_as_text_is_said(text: str, said: str) -> None:
    query = parsed(text)
    assert query.problem == said
    assert query
    assert not query.broken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent:foo x", "agent: takes pi, codex, claude or opencode, not foo (column 1)"),
        ("since:lately x", "since: takes 12h, 7d, 3mo, today or a date, not lately (column 1)"),
        ("in:prompt x", "in: works only in the search of all text (column 1)"),
    ],
)
def test_a_condition_that_is_left_out_breaks_a_query(text: str, said: str) -> None:
    query = parsed(text)
    assert query.problem == said
    assert query.words == ("x",)
    assert query.broken


@pytest.mark.parametrize(
    "text",
    ["http://x/y?z=1", "std::vector", "C:/x", "fix:", "a>b", "/tmp/x/", "x=3", "agent:open", 'say:"', "-> x"],
)
def test_plain_words_with_signs_are_no_problem(text: str) -> None:
    assert parsed(text).problems == ()


def test_a_half_typed_phrase_is_looked_for() -> None:
    assert parsed('"dark mo').words == ("dark mo",)
    assert parsed('file:"my fi').files == ("my fi",)


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("30m", START - 30 * 60_000),
        ("12h", START - 12 * 3_600_000),
        ("30d", START - 30 * DAY),
        ("2w", START - 14 * DAY),
        ("1mo", START - 30 * DAY),
        ("1Y", START - 365 * DAY),
        ("today", START - 8 * 3_600_000),
        ("2026-01-01", START - 8 * 3_600_000 - 4 * DAY),
    ],
)
def test_since_takes_spans_and_dates(text: str, since: int) -> None:
    assert parsed(f"since:{text}").since == since


@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        ("2026-03-29T12:00+02:00", "2026-03-29T00:00+01:00"),
        ("2026-10-25T12:00+01:00", "2026-10-25T00:00+02:00"),
    ],
)
def test_today_begins_at_midnight_also_where_the_clock_has_changed_since(
    now: str, midnight: str, in_zone: Callable[[str], None]
) -> None:
    in_zone("Europe/Berlin")
    assert parse("since:today", sure(parse_time(now))).since == parse_time(midnight)


def test_bad_terms_are_named_and_left_out() -> None:
    query = parsed("since:whenever theme sice:30d since:2026-13-01")
    assert query.since is None
    assert query.words == ("theme", "sice:30d")
    takes = "since: takes 12h, 7d, 3mo, today or a date, not"
    assert [str(problem) for problem in query.problems] == [
        f"{takes} whenever (column 1)",
        "sice: is not a condition (did you mean since:?); searched for as text (column 22)",
        f"{takes} 2026-13-01 (column 31)",
    ]


def test_a_word_with_a_colon_is_a_word() -> None:
    assert parsed("http://x nonsense:y").words == ("http://x", "nonsense:y")


CARDS = [
    card(
        "one",
        title="Port the selectors to the theme system",
        prompt="read docs/theme.md",
        project="/home/ada/pi-mono",
    ),
    card(
        "two",
        title="Fix the idempotency bug",
        prompt="Fix the idempotency bug",
        project="/home/ada/payments",
        modified=9,
    ),
    card("three", title="Thème switch", prompt="Thème switch", agent="codex", project="/home/ada/dotfiles"),
]
FILES = {
    CARDS[0].path: Details(changed=("src/theme.ts",), read=("docs/theme.md",)),
    CARDS[1].path: Details(read=("src/Theme.ts",)),
}


def found(text: str) -> list[str]:
    return [one.id for one in CardShelf(CARDS, FILES).select(parse(text, 10))]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", ["one", "two", "three"]),
        ("theme", ["one"]),
        ("THÈME", ["three"]),
        ("fix bug", ["two"]),
        ('"fix bug"', []),
        ("docs/theme", ["one"]),
        ("pi-mono", ["one"]),
        ("file:theme.ts", ["one", "two"]),
        ("file:theme.ts file:docs", ["one"]),
        ("file:theme.ts idem", ["two"]),
        ("agent:co", ["three"]),
        ("agent:co agent:pi", ["one", "two", "three"]),
        ("project:ada project:pay", ["two"]),
        ("two", ["two"]),
        ("since:5m", ["one", "two", "three"]),
        ("(unclosed [brackets", []),
    ],
)
def test_every_word_and_every_term_must_hold(text: str, ids: list[str]) -> None:
    assert found(text) == ids


def test_since_is_measured_by_the_last_word_spoken() -> None:
    assert [one.id for one in CardShelf(CARDS).select(Query(since=5))] == ["two"]


def test_hits_are_marked_in_every_field() -> None:
    match = matches(CARDS[0], parsed("the selectors theme"))
    assert match is not None
    title = CARDS[0].title
    assert [title[start:stop] for start, stop in match.spans["title"]] == ["the", "selectors", "the", "theme"]
    assert [CARDS[0].prompt[start:stop] for start, stop in match.spans["prompt"]] == ["theme"]
    assert matches(CARDS[1], parsed("selectors")) is None


def test_files_found_are_named() -> None:
    match = matches(CARDS[0], parsed("file:theme"), FILES[CARDS[0].path])
    assert match is not None
    assert match.files == ("src/theme.ts", "docs/theme.md")
    assert matches(CARDS[0], parsed("file:theme")) is None


def test_ten_thousand_sessions_are_filtered_faster_than_a_key_is_pressed() -> None:
    cards = [
        card(str(number), title=f"Session {number} about the theme", project=f"/p/{number % 200}")
        for number in range(10_000)
    ]
    shelf = CardShelf(cards)
    for text in ("t", "theme", "session 99 theme", "project:/p/7 since:30d theme"):
        query = parsed(text)
        with in_linear_time(0.05):
            shelf.select(query)
