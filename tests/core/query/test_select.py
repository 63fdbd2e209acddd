"""The query language: what it chooses, beside a slow and plain reading of the same words; what it refuses."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.context.model_context import context_at
from leafward.query.grammar import parse
from leafward.query.lexer import QueryError
from leafward.query.select.evaluator import select
from leafward.query.vocabulary import FIELDS, FUNCTIONS
from leafward.session.entries import Kind
from leafward.session.session import Session
from tests.acting import Acting, call, reading, usage, wild
from tests.core.linear_time import in_linear_time
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path


def chosen(session: Session, query: str) -> set[int]:
    return set(select(session, query))


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_gives_what_walking_it_gives(tmp_path: Path, seed: int) -> None:
    wild(tmp_path / "s.jsonl", seed)
    rng = random.Random(seed)
    with closing(Session.open(tmp_path / "s.jsonl")) as session:
        parent = session.columns.parent
        every = set(range(len(session)))

        def path(index: int) -> set[int]:
            found = set()
            while index >= 0:
                found.add(index)
                index = parent[index]
            return found

        paths = {index: path(index) for index in every}
        for _ in range(12):
            a, b = rng.choice(sorted(every)), rng.choice(sorted(every))
            below = {index for index in every if a in paths[index]}
            assert chosen(session, f"ancestors(#{a})") == paths[a]
            assert chosen(session, f"descendants(#{a})") == below
            assert chosen(session, f"children(#{a})") == {index for index in every if parent[index] == a}
            assert chosen(session, f"ancestors(#{a}) - ancestors(#{b})") == paths[a] - paths[b]
            assert chosen(session, f"ancestors(#{a}) & ancestors(#{b})") == paths[a] & paths[b]
            assert chosen(session, f"!ancestors(#{a}) | #{a}") == (every - paths[a]) | {a}
            assert chosen(session, f"between(#{a}, #{b})") == below & paths[b]
            two = f"descendants(#{a} | #{b})"
            assert chosen(session, two) == {index for index in every if {a, b} & paths[index]}
        assert chosen(session, "descendants(all()) ") == every
        kinds = session.columns.kind
        assert chosen(session, "replies()") == {index for index in every if kinds[index] == Kind.ASSISTANT}
        assert chosen(session, "branchpoints()") == set(session.tree.branch_points())
        assert chosen(session, "leaves()") == set(session.tree.leaves())


@pytest.fixture
def session(tmp_path: Path) -> Session:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Please fix the Café timeout")
    file.said("looking", call("read", "r1", path="src/a.py"), tokens=usage(500, cost={"total": 0.25}))
    file.answered("r1", "read", "x = 1\n" * 400)
    file.said("changing", call("edit", "e1", path="src/a.py", edits=[{"oldText": "1", "newText": "2\n3"}]))
    file.answered("e1", "edit", "replaced")
    file.said("once more", call("edit", "e2", path="docs/b.md", edits=[{"oldText": "1", "newText": "2"}]))
    file.answered("e2", "edit", "no such file", failed=True)
    file.said("done")
    return Session.open(file.path)


@pytest.mark.parametrize(
    ("query", "entries"),
    [
        ('"café"', {0}),
        ("'CAFÉ' | done", None),
        ('"x = 1"', {2}),
        ("/time(d|out)/", {0}),
        ("tool(read)", {1, 2}),
        ("tool(e*) & replies()", {3, 5}),
        ('file("src/**")', {1, 3}),
        ("file(src/a.py)", {1, 3}),
        ('file("*.md")', set()),
        ("changed()", {3}),
        ("error()", {6}),
        ("tokens>500", {2}),
        ("tokens >= 0.5k & results()", {2}),
        ("added=2", {3}),
        ("edits>0", {3}),
        ("cost>0.1", {1}),
        ("index<2", {0, 1}),
        ("depth=7", {7}),
        ("turn(#3)", set(range(8))),
        ("prompts() & index=0", {0}),
        ("time>=2026-11-21 & time<2026-11-22 & prompts()", {0}),
        ("hidden()", set()),
        ("context() & replies()", {1, 3, 5, 7}),
        ("siblings(#1)", set()),
        ("parents(#1)", {0}),
        ("labelled()", set()),
        ("!(replies() | results())", {0}),
        ("!!prompts()", {0}),
    ],
)
def test_what_a_query_chooses(session: Session, query: str, entries: set[int] | None) -> None:
    with closing(session):
        if entries is None:
            with pytest.raises(QueryError):
                select(session, query)
        else:
            assert chosen(session, query) == entries


@pytest.mark.parametrize(
    ("query", "column", "says"),
    [
        ("", 0, "expected a condition at the end"),
        ("foo()", 0, "there is no foo()"),
        ("branchpoint()", 0, "did you mean branchpoints()"),
        ("ancestors(", 10, "expected a condition at the end"),
        ("(prompts()", 0, "never closed"),
        ('"open', 0, "never closed"),
        ("prompts() replies()", 10, 'expected & or | before "replies"'),
        ("prompts() &", 11, "expected a condition at the end"),
        ("tokens>many", 0, "takes a number"),
        ("colour=3", 0, "no field"),
        ("tool()", 0, "takes 1 argument"),
        ("tool(prompts())", 0, "a name or a text"),
        ("#99", 0, "no entry"),
        ("/(/", 0, "invalid pattern"),
        ("age>soon", 0, "takes a span"),
        ("time>soon", 0, "takes a date"),
        ("(" * 70 + "prompts()" + ")" * 70, 61, "too deep"),
        ("a" * 5_000, 4_000, "at most"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(session: Session, query: str, column: int, says: str) -> None:
    with closing(session), pytest.raises(QueryError) as caught:
        select(session, query)
    assert says in str(caught.value)
    assert caught.value.column == column


def test_columns_answer_before_bodies_are_decoded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    bodies = Session.bodies

    def counted(self: Session, entries: object) -> object:
        listed = list(entries)  # type: ignore[call-overload]  # whatever can be gone through
        decoded.extend(listed)
        return bodies(self, listed)

    monkeypatch.setattr(Session, "bodies", counted)
    with closing(session):
        assert chosen(session, '"x = 1" & results() & index<3') == {2}
    assert decoded == [2]


def test_everything_that_is_listed_can_be_asked(session: Session) -> None:
    with closing(session):
        for name in FUNCTIONS:
            word, _, arguments = name.partition("(")
            given = {"x)": "leaf", "a, b)": "#0, leaf", "name)": "read", "path)": "src/*"}.get(arguments, "")
            select(session, f"{word}({given})")
        for field in FIELDS:
            select(session, f"{field}>{'1d' if field == 'age' else '2020-01-01' if field == 'time' else 1}")


def test_no_text_ends_in_anything_but_an_answer_or_a_query_error(session: Session) -> None:
    rng = random.Random(3)
    words = [
        "prompts()",
        "(",
        ")",
        "&",
        "|",
        "!",
        "-",
        ",",
        '"a"',
        "/a/",
        "tokens",
        ">",
        "2k",
        "leaf",
        "#1",
        "tool(",
        "\x00",
        "é",
        "'",
    ]
    with closing(session):
        for _ in range(600):
            query = " ".join(rng.choices(words, k=rng.randrange(8)))
            try:
                parse(query)
                select(session, query)
            except QueryError:
                pass


def test_a_label_is_found_by_a_part_of_it(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("a")
    file.reply("b")
    file.entry("label", targetId=first, label="Good start")
    with reading(file.path) as session:
        assert chosen(session, 'labelled("START")') == {0}
        assert chosen(session, 'labelled("other")') == set()


def test_no_pattern_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafward.query.patterns.PATIENCE", 0.02)
    file = Acting(tmp_path / "s.jsonl")
    file.user("x" * 4000)
    with reading(file.path) as session:
        with pytest.raises(QueryError, match="takes too long"):
            select(session, "/(x+x+)+y/")
        with pytest.raises(QueryError, match="repeats"):
            select(session, "/((a{99}){99}){99}/")
        assert chosen(session, "/^x+$/") == {0}


_ATOMS = (
    "prompts()",
    "replies()",
    "index<20",
    "#7",
    "descendants(#11)",
    "tokens>9",
    "!results()",
    "error()",
    '"out"',
)


@pytest.mark.parametrize("seed", range(10))
def test_signs_bind_as_the_help_says(tmp_path: Path, seed: int) -> None:
    """`!` before `&` before `-` before `|`: whatever is written without brackets is what fully bracketed sets give."""
    wild(tmp_path / "s.jsonl", seed)
    rng = random.Random(seed)
    with closing(Session.open(tmp_path / "s.jsonl")) as session:
        atoms = {atom: frozenset(chosen(session, atom)) for atom in _ATOMS}
        every = frozenset(range(len(session)))

        def grown(depth: int) -> tuple[str, frozenset[int], int]:
            """A query, what it chooses, and how tightly it binds."""
            if depth == 0:
                atom = rng.choice(_ATOMS)
                return atom, atoms[atom], 4
            if rng.random() < 0.2:
                text, entries, binds = grown(depth - 1)
                return f"!{text if binds == 4 else f'({text})'}", every - entries, 4
            level = rng.choice((1, 2, 3))
            text, entries, binds = grown(depth - 1)
            text = text if binds >= level else f"({text})"
            for _ in range(rng.randint(1, 2)):
                other, more, tight = grown(rng.randrange(depth))
                other = other if tight > level else f"({other})"
                sign = {1: "|", 2: "-", 3: "&"}[level]
                text = rng.choice((f"{text} {sign} {other}", f"{text}\n{sign}\t{other}"))
                entries = {1: entries | more, 2: entries - more, 3: entries & more}[level]
            return text, entries, level

        for _ in range(40):
            query, entries, _ = grown(3)
            assert chosen(session, query) == entries, query


@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_at_many_nodes_is_what_is_read_at_each(tmp_path: Path, seed: int) -> None:
    wild(tmp_path / "s.jsonl", seed, 200)
    rng = random.Random(seed)
    with closing(Session.open(tmp_path / "s.jsonl")) as session:
        for size in (1, 2, 5, 40):
            nodes = rng.sample(range(len(session)), size)
            each = [set(context_at(session, node).messages.entry) for node in nodes]
            assert chosen(session, f"context({' | '.join(f'#{node}' for node in nodes)})") == set().union(
                *each
            )


def test_a_turn_of_thousands_of_entries(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("before")
    file.user("go")
    for _ in range(12_000):
        file.reply("on")
    file.user("behind")
    with closing(Session.open(file.path)) as session, in_linear_time():
        assert chosen(session, "turn(all() - #0 - #12002)") == set(range(1, 12_002))
