"""One grammar for filter, search and `select`: what is read alike everywhere, and what stays text where text is searched."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import pytest

from leafward.query.grammar import (
    AllOf,
    AnyOf,
    Not,
    QueryCall,
    QueryPattern,
    QueryWord,
    SearchedText,
    parse,
    parse_find,
    parse_search,
)
from leafward.query.lexer import QueryError, QueryPlace
from leafward.query.search.cards import CardShelf
from leafward.query.search.typed_query import parse as parse_query
from leafward.query.select.evaluator import select
from leafward.query.vocabulary import FIELDS, FUNCTIONS, TERMS, TEXT_TERMS
from tests.acting import Acting, call, reading
from tests.core.catalogue.test_catalogue_lineage import card
from tests.core.listed_sessions import START
from tests.searched import ROADS, cards_in, found, searching

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.query.grammar import Expression


def without_columns(expression: Expression | None) -> object:
    """An expression as it can be compared: without places, and a term the same as its function."""
    match expression:
        case QueryCall(name, arguments):
            return name, *(
                one.text if isinstance(one, (SearchedText, QueryWord)) else one for one in arguments
            )
        case SearchedText(text):
            return text
        case Not(inner):
            return "!", without_columns(inner)
        case QueryPattern(source):
            return "/", source
        case AllOf(parts) | AnyOf(parts):
            return type(expression).__name__, *map(without_columns, parts)
    return expression


@pytest.mark.parametrize(
    ("term", "function"),
    [
        ("tool:bash", "tool(bash)"),
        ('tool:"my tool"', 'tool("my tool")'),
        ("error:", "error()"),
        ("error:boom", 'error() & "boom"'),
        ('not:"two words"', '!"two words"'),
        ("re:a.c", "/a.c/"),
        ('"a phrase" tool:bash', '"a phrase" & tool(bash)'),
        ("tool:a tool:b", "tool(a) | tool(b)"),
        ("!tool:bash", "!tool(bash)"),
        ('("a" | "b") & tool:x', '("a" | "b") & tool(x)'),
    ],
)
def test_a_term_is_its_function_in_another_notation(term: str, function: str) -> None:
    expected = without_columns(parse(function))
    assert without_columns(parse(term)) == expected
    assert without_columns(parse_search(term, QueryPlace.SEARCH)[0]) == expected
    assert without_columns(parse_search(function, QueryPlace.SEARCH)[0]) == expected


@pytest.mark.parametrize(
    "query",
    [
        "tool(edit) & error()",
        "tokens>2k",
        "tokens > 2k",
        '"tool(edit)"',
        "!error() - prompts()",
        '"rate limit" & replies()',
        "/timed? ?out/ & results()",
        "!(replies() | results())",
        "tokens>2k|error()",
        "replies()-error()",
        "ancestors(#1 | leaf) & since:7d",
    ],
)
def test_a_query_is_read_alike_wherever_functions_are_understood(query: str) -> None:
    expected = parse(query)
    assert parse_search(query, QueryPlace.FIND)[0] == expected
    assert parse_search(query, QueryPlace.SEARCH)[0] == expected
    assert parse_find(query) == expected


PLAIN = [
    "R & D",
    "cat a | grep b",
    "x > 3",
    "a - b",
    "what is (this)",
    "nothing(x)",
    "tool(ed",
    "return children()",
    "!important -v --flag",
    "int|str",
    "x[1] {y} (unclosed",
    "http://x/y?z=1&a=2",
    "don't",
    "((",
    "))",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_looked_for_as_it_is_typed(text: str) -> None:
    assert parse_find(text) is None
    for place in (QueryPlace.SEARCH, QueryPlace.FILTER):
        expression, problems = parse_search(text, place)
        parts = expression.parts if isinstance(expression, AllOf) else (expression,)
        assert [part.text for part in parts if isinstance(part, SearchedText)] == text.split()
        assert not problems


@pytest.mark.parametrize("place", [QueryPlace.SEARCH, QueryPlace.FILTER, QueryPlace.FIND])
@pytest.mark.parametrize(("text", "name"), [("bogus:1", "bogus:"), ("turns>3", "turns>")])
def test_an_unknown_condition_is_said_in_the_same_words_everywhere(
    place: QueryPlace, text: str, name: str
) -> None:
    problems = parse_search(text, place)[1]
    assert [str(one) for one in problems] == [f"{name} is not a condition; searched for as text (column 1)"]
    assert all(one.as_text for one in problems)


@pytest.mark.parametrize("text", ['"a" |', '| "a"', 'since:soon | "a"', '"a" &'])
def test_a_sign_that_waits_for_its_other_side_is_no_word(text: str) -> None:
    assert without_columns(parse_search(text, QueryPlace.SEARCH)[0]) == "a"
    assert without_columns(parse_search(text, QueryPlace.FILTER)[0]) == "a"


@pytest.mark.parametrize(
    "text",
    [
        "error: cannot open",
        "tool(edit) &",
        "& tool(edit)",
        "/tmp/",
        'say "x" now',
        "file:///tmp/a.py",
        "file: a.py",
        "see tool:bash",
    ],
)
def test_in_one_session_paths_and_what_stands_beside_plain_words_are_text(text: str) -> None:
    assert parse_find(text) is None


@pytest.mark.parametrize(
    "query",
    [
        "tool:bash",
        "file:a.py",
        "error:",
        "error: file:go",
        "error: tool:bash",
        "in:prompt stash",
        "/ti?me/",
        "re:a.c",
    ],
)
def test_in_one_session_a_term_is_one_by_itself_as_in_the_search_of_all_text(query: str) -> None:
    assert parse_find(query) == parse_search(query, QueryPlace.SEARCH)[0]


def test_a_filter_of_sessions_knows_no_functions() -> None:
    query = parse_query("tool(edit) tokens>2k /tmp/x/", START)
    assert query.words == ("tool(edit)", "tokens>2k", "/tmp/x/")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("prompts() tool(x)", 'expected & or | before "tool" (column 11)'),
        ('prompts() "x"', 'expected & or | before "x" (column 11)'),
        ("#1 #2", 'expected & or | before "#2" (column 4)'),
        ("tool:", "expected a value after tool: (column 1)"),
        ("tokens > ", "expected a value after tokens > (column 10)"),
        ("since:soon", "since: takes 12h, 7d, 3mo, today or a date, not soon (column 1)"),
        ("in:nowhere", f"in: takes {TEXT_TERMS['in']}, not nowhere (column 1)"),
        ("prompts() & )", 'expected a condition before ")" (column 13)'),
    ],
)
def test_every_error_says_what_was_expected_and_where(query: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("typed", "at", "words"),
    [
        ("tool(edit) & tokens>abc", 13, "tokens takes a number"),
        ("tool(edit) & age>soon", 13, "age takes a span"),
        ("error() & time<never", 10, "time takes a date"),
        ("ancestors()", 0, "takes 1 argument"),
        ("prompts(leaf)", 0, "takes 0 arguments"),
        ("turn(anscestors(leaf))", 5, "did you mean ancestors()?"),
        ("turn(tokens>much)", 5, "tokens takes a number"),
        ("tool(leaf & leaf)", 0, "takes a name or a text"),
    ],
)
def test_what_no_session_can_answer_is_said_before_any_is_asked(typed: str, at: int, words: str) -> None:
    asked = parse_query(typed, START, whole=True)
    assert asked.wrong is not None
    assert words in str(asked.wrong)
    assert asked.wrong.column == at


def test_what_is_wrong_in_a_search_is_said_like_anywhere_else() -> None:
    for text, said in (
        ("tool(a b)", 'expected & or | before "b" (column 8)'),
        ("/(/", "invalid pattern at character 1: missing ) (column 1)"),
    ):
        assert parse_query(text, START, whole=True).problem == said


def column_of_error(read: Callable[[], object]) -> int:
    """Where a text cannot be read; 0 where it can."""
    try:
        read()
    except QueryError as error:
        return error.column
    return 0


def test_no_text_ends_in_anything_but_an_answer_or_a_query_error() -> None:
    rng = random.Random(7)
    atoms = [
        *("foo", "(", ")", "&", "|", "-", "!", '"', '"a b"', "'", "/a/", "/", "\\", "tokens>", "2k", "#1", "é", "\0"),
        *(name.partition("(")[0] + "(" for name in FUNCTIONS),
        *(f"{name}:" for name in (*TERMS, *TEXT_TERMS)),
        *FIELDS,
    ]  # fmt: skip
    for _ in range(4000):
        text = rng.choice(("", " ")).join(rng.choices(atoms, k=rng.randrange(10)))
        for place in (QueryPlace.FILTER, QueryPlace.SEARCH, QueryPlace.FIND):
            assert 0 <= column_of_error(partial(parse_search, text, place)) <= len(text), text
        parse_query(text, START, whole=True)
        assert 0 <= column_of_error(partial(parse, text)) <= len(text), text


@pytest.mark.parametrize("piece", ["(", "tool(", '("a" ', "!", "a | ", "(a ", '"x" & (', "tool(a "])
def test_long_texts_are_read_without_a_stack(piece: str) -> None:
    for text in (piece * (3_900 // len(piece)), piece * 5_000):
        for place in (QueryPlace.FILTER, QueryPlace.SEARCH, QueryPlace.FIND):
            try:
                parse_search(text, place)
            except QueryError:
                pass


CARDS = [
    card("one", title="Port the theme", agent="pi", project="/home/ada/orchard"),
    card("two", title="Fix the webhook", agent="codex", project="/home/ada/payments"),
    card("three", title="Theme of the webhook", agent="claude", project="/home/ada/payments"),
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('"theme" | agent:codex', ["one", "two", "three"]),
        ('"theme" & "webhook"', ["three"]),
        ('"theme" - agent:claude', ["one"]),
        ("!agent:pi webhook", ["two", "three"]),
        ('("port" | "fix") project:ada', ["one", "two"]),
        ("!(project:orchard | agent:claude)", ["two"]),
    ],
)
def test_sessions_are_filtered_by_the_same_signs(text: str, ids: list[str]) -> None:
    assert [one.id for one in CardShelf(CARDS).select(parse_query(text, START))] == ids


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Please fix the timeout")
    file.said("looking at the timeout", call("bash", "b1", command="grep -rn timeout src"))
    file.answered("b1", "bash", "src/a.py: timeout = 1")
    file.said("changing", call("edit", "e1", path="src/a.py", edits=[{"oldText": "1", "newText": "2"}]))
    file.answered("e1", "edit", "no match for timeout", failed=True)
    return file


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("timeout & prompts()", [0]),
        ("timeout & index>2", [4]),
        ("timeout - results()", [0, 1]),
        ('"looking" | "no match"', [1, 4]),
        ("timeout tool:bash", [1, 2]),
        ("timeout & tool(bash)", [1, 2]),
        ("timeout & !tool(bash)", [0, 4]),
        ("error()", [4]),
        ("timeout & descendants(#3)", [4]),
    ],
)
def test_functions_choose_among_what_a_search_finds(
    file: Acting, tmp_path: Path, text: str, entries: list[int], road: str
) -> None:
    (session,) = found(text, tmp_path, road=road)
    assert [hit.entry for hit in session.hits] == [f"{entry + 1:08x}" for entry in entries]
    assert session.total == len(entries)


def test_what_either_side_finds_is_shown_where_it_stands(file: Acting, tmp_path: Path) -> None:
    (session,) = found('"looking" | "no match"', tmp_path)
    assert [hit.text[start:end] for hit in session.hits for start, end in hit.spans] == [
        "looking",
        "no match",
    ]


def test_a_function_opens_no_session_that_lacks_the_text(file: Acting, tmp_path: Path) -> None:
    Acting(tmp_path / "other.jsonl").user("nothing of it")
    search = searching("timeout & prompts()", cards_in(tmp_path))
    assert [one.total for one in search.run()] == [1]
    assert (search.work.sifted, search.work.opened) == (2, 1)


def test_what_a_function_cannot_mean_in_a_session_is_said(file: Acting, tmp_path: Path) -> None:
    search = searching("timeout & ancestors(nobody)", cards_in(tmp_path))
    assert not list(search.run())
    assert [(one.code, "nobody" in one.reason) for one in search.unread] == [("select", True)]


@pytest.mark.parametrize("name", ["added", "add", "injected", "inj"])
def test_text_that_the_agent_added_is_chosen_by_the_word_of_the_screens_and_by_that_of_json(
    tmp_path: Path, name: str
) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.entry("custom_message", customType="note", content="mind the pears", display=True)
    with reading(file.path) as session:
        assert select(session, f"in:{name}") == (1,)


@pytest.mark.parametrize(
    ("query", "entries"),
    [
        ("tool:bash", {1, 2}),
        ("file:A.py", {3}),
        ("error: file:a.py", {4}),
        ("error: file:b.py", set()),
        ("error: file:a.py | tool:edit", {3, 4}),
        ("in:prompt", {0}),
        ("in:call", {1, 3}),
        ('error:"no match"', {4}),
        ('"timeout" not:looking', {0, 2, 4}),
        ("since:2000-01-01 prompts()", None),
        ("since:2000-01-01 & prompts()", {0}),
        ("since:1d", set()),
        ("agent:pi & prompts()", {0}),
        ("agent:codex", set()),
        ("project:nowhere", set()),
        ("re:time.ut & replies()", {1}),
        ("tool:bash tool:edit & results()", {2, 4}),
    ],
)
def test_entries_are_chosen_by_terms_too(file: Acting, query: str, entries: set[int] | None) -> None:
    with reading(file.path) as session:
        if entries is None:
            with pytest.raises(QueryError, match=r"expected & or \|"):
                select(session, query)
        else:
            assert set(select(session, query)) == entries
