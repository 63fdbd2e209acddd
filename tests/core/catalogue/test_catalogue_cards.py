from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from leafward.agents.base import SessionCandidate
from leafward.base.times import iso_time, parse_time
from leafward.branches.transfer.graft import apply_graft, draft_graft
from leafward.catalogue.cards.card import EXCERPT, NO_MESSAGES, NOT_READ, Card, Reading
from leafward.catalogue.cards.card_fields import FILES_KEPT, brief
from leafward.catalogue.cards.full_card import read_whole
from leafward.catalogue.cards.grown_card import read_on
from leafward.catalogue.cards.quick_card import peek
from leafward.catalogue.index import Index
from leafward.catalogue.stored_values import fitted
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex
from leafward.session.journal.session_operations import move
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests.core.listed_sessions import START, Draft, dump


def candidate(path: Path) -> SessionCandidate:
    found = path.stat()
    return SessionCandidate(str(path), [found.st_size, found.st_mtime_ns, found.st_ino], "pi")


def whole(path: Path) -> Reading:
    reading = read_whole(candidate(path))
    assert reading is not None
    return reading


def card_of(draft: Draft, tmp_path: Path) -> Card:
    return whole(draft.write(tmp_path / "a.jsonl")).card


def pi_lists() -> list[dict[str, Any]]:
    data = Path(__file__).parents[2] / "data" / "pi"
    listed: list[dict[str, Any]] = json.loads((data / "listing.json").read_bytes())
    return [{**row, "file": data / "sessions" / row["path"]} for row in listed]


@pytest.mark.parametrize("listed", pi_lists(), ids=lambda row: row["path"])
def test_a_card_agrees_with_pis_own_list(listed: dict[str, Any]) -> None:
    card = whole(listed["file"]).card
    assert (card.id, card.project, card.name) == (listed["id"], listed["cwd"], listed["name"])
    assert card.parent == listed["parentSessionPath"]
    assert iso_time(card.created) == listed["created"]
    assert iso_time(card.modified) == listed["modified"]
    assert card.messages == listed["messageCount"]
    assert card.prompt == brief(listed["firstMessage"])


@pytest.mark.parametrize("listed", pi_lists(), ids=lambda row: row["path"])
def test_the_rest_of_a_card_agrees_with_the_session_itself(listed: dict[str, Any]) -> None:
    card = whole(listed["file"]).card
    session = Session.open(listed["file"])
    assert card.tokens == context_at(session).total
    assert card.entries == len(session)
    assert card.branches == session.branches
    assert (card.version, card.damage, card.problem) == (session.version, 0, None)
    session.close()


@pytest.mark.parametrize("name", ["branched", "branched-compacted", "large-session", "before-compaction"])
def test_large_real_sessions_count_as_the_session_does(name: str, corpora: Path) -> None:
    path = corpora / "pi" / f"{name}.jsonl"
    card = whole(path).card
    session = Session.open(path)
    assert (card.tokens, card.entries) == (context_at(session).total, len(session))
    assert card.branches == session.branches
    session.close()


def test_a_name_is_the_title_and_the_first_prompt_where_there_is_none(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("")
    draft.user("  fix\n\tthe \x1b[31mbug ")
    draft.assistant("Fixed.")
    card = card_of(draft, tmp_path)
    assert (card.name, card.title) == (None, "fix the ␛[31mbug")
    draft.named(" Bugs\x07 ")
    card = card_of(draft, tmp_path)
    assert (card.name, card.title, card.prompt) == ("Bugs\x07", "Bugs␇", "fix the ␛[31mbug")
    draft.named("")
    assert card_of(draft, tmp_path).title == "fix the ␛[31mbug"


def test_nobody_has_spoken(tmp_path: Path) -> None:
    card = card_of(Draft(start=START), tmp_path)
    assert (card.title, card.messages, card.turns, card.tokens) == (NO_MESSAGES, 0, 0, 0)
    assert card.modified == card.created == START


def test_modified_is_the_latest_word_else_the_header_else_the_file(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("hello")
    spoken = draft.clock
    draft.named("later")
    assert card_of(draft, tmp_path).modified == spoken
    only = Draft()
    only.lines[0] = dump({"type": "session", "version": 3, "id": "s", "timestamp": "someday", "cwd": "/"})
    path = only.write(tmp_path / "b.jsonl", mtime=123_456_000)
    card = whole(path).card
    assert (card.created, card.modified) == (None, 123_456_000)


def test_files_of_calls_are_kept_the_latest_last_and_not_without_end(tmp_path: Path) -> None:
    draft = Draft(cwd="/home/ada/orchard")
    draft.user("go")
    draft.assistant(
        calls=(("read", "/home/ada/orchard/a.py"), ("read", "/home/ada/orchard-b/c.py"), ("edit", "b.py"))
    )
    draft.assistant(calls=(("edit", "a.py"), ("read", "b.py"), ("read", "bad\nname")))
    details = whole(draft.write(tmp_path / "a.jsonl")).details
    assert details.changed == ("b.py", "a.py")
    assert details.read == ("/home/ada/orchard-b/c.py",)
    for number in range(FILES_KEPT + 10):
        draft.assistant(calls=(("write", f"{number}.py"),))
    changed = whole(draft.write(tmp_path / "a.jsonl")).details.changed
    assert (len(changed), changed[-1]) == (FILES_KEPT, f"{FILES_KEPT + 9}.py")


def test_last_words_are_those_on_the_way_to_the_leaf(tmp_path: Path) -> None:
    draft = Draft()
    start = draft.user("start")
    draft.assistant("hello")
    draft.user("aside")
    draft.assistant("aside, done")
    draft.user("main line", under=start)
    draft.assistant("going")
    draft.assistant("", calls=(("read", "x"),))
    reading = whole(draft.write(tmp_path / "a.jsonl"))
    assert (reading.details.last_prompt, reading.details.last_reply) == ("main line", "going")
    assert reading.card.branches == 1


@pytest.mark.parametrize("turns", [1, 20])
def test_grafted_turns_make_a_session_no_older(tmp_path: Path, turns: int) -> None:
    draft = Draft()
    draft.user("start")
    middle = draft.assistant("hello")
    for number in range(turns):
        draft.user(f"branch {number}")
        draft.assistant("done")
    draft.user("the last that was said", under=middle)
    path = draft.write(tmp_path / "a.jsonl")
    session = Session.open(path)
    before = whole(path).card.modified
    grafted = [EntryIndex(index) for index in range(2, 2 + 2 * turns)]
    apply_graft(session, draft_graft(session, grafted))
    session.close()
    assert whole(path).card.modified == before


def test_what_lies_below_the_leaf_is_a_branch_as_in_the_tree(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("start")
    middle = draft.assistant("hello")
    draft.user("go on")
    draft.assistant("done")
    path = draft.write(tmp_path / "a.jsonl")
    assert whole(path).card.branches == 0
    session = Session.open(path)
    move(session, session.columns.index(middle), Writing())
    assert (whole(path).card.branches, session.branches) == (1, 1)
    session.close()


def test_the_last_reply_is_said_without_signs_of_markdown(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("# not a heading of mine")
    draft.assistant("## Done\n\n**All** is green.\n```\nmake test\n```")
    reading = whole(draft.write(tmp_path / "a.jsonl"))
    assert reading.details.last_prompt == "# not a heading of mine"
    assert reading.details.last_reply == "Done All is green. make test"


def test_a_session_is_archived_as_a_whole_and_comes_back(tmp_path: Path) -> None:
    draft = Draft()
    first = draft.user("hello")
    draft.archived(True, target=first)
    assert not card_of(draft, tmp_path).archived
    draft.archived(True)
    assert card_of(draft, tmp_path).archived
    draft.archived(False, target=first)
    assert card_of(draft, tmp_path).archived
    draft.archived(False, target="session")
    assert not card_of(draft, tmp_path).archived


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\x00\x01\n", "is not a session: no line of it is a header or an entry"),
        (b'{"a":1}\n[1]\n', "is not a session: no line of it is a header or an entry"),
    ],
)
def test_a_file_that_is_no_session_is_a_card_with_the_reason(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "odd\x1b.jsonl"
    path.write_bytes(content)
    card = whole(path).card
    assert (card.problem, card.title, card.partial) == (problem, "odd␛.jsonl", False)
    assert card.as_json()["problem"] == problem


def test_a_file_that_cannot_be_read_is_a_card_with_the_reason(tmp_path: Path) -> None:
    missing = SessionCandidate(str(tmp_path / "a.jsonl"), [-1, 0], "pi")
    reading = read_whole(missing)
    assert reading is not None
    assert reading.card.problem == "cannot read: No such file or directory"
    assert peek(missing).problem == "cannot read: No such file or directory"
    assert (reading.card.size, peek(missing).partial) == (0, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"version":3', b'"version":1e400'),
        (b'"totalTokens":7', b'"totalTokens":1e400'),
        (b'"totalTokens":7', b'"totalTokens":123456789012345678901234567890'),
        (b'"timestamp":17', b'"timestamp":1e400,"x":17'),
        (b'"timestamp":17', b'"timestamp":-17'),
        (b'"timestamp":"2026', b'"timestamp":"9999999999'),
        (b'"content":[', b'"content":[null,[],{"type":"text"},'),
        (b'"message":{', b'"message":[],"x":{'),
        (b'"cwd":"/', b'"cwd":3,"x":"/'),
        (b'"id":"0', b'"id":{"a":1},"x":"0'),
    ],
)
def test_values_out_of_all_bounds_are_a_card_too(tmp_path: Path, old: bytes, new: bytes) -> None:
    draft = Draft()
    draft.user("hello")
    draft.assistant("hi", total=7)
    assert old in draft.text()
    path = tmp_path / "a.jsonl"
    path.write_bytes(draft.text().replace(old, new))
    reading = whole(path)
    index = Index(tmp_path / "index.json")
    index.put(candidate(path), reading)
    assert index.save()
    assert list(Index(index.path).cards) == [str(path)]
    assert json.dumps([reading.card.as_json(), peek(candidate(path)).as_json()])
    read_on(reading, candidate(path))


def test_a_number_out_of_bounds_becomes_the_nearest_one(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("hello")
    draft.assistant("hi", total=7)
    text = draft.text().replace(b'"version":3', b'"version":5000000000000000000')
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.replace(b'"totalTokens":7', b'"cost":{"total":-1e300},"totalTokens":7'))
    stored = fitted(whole(path))
    assert stored.card.version == 2**62
    ((_, tokens, cost, priced, _),) = stored.spent
    assert (tokens, cost, priced) == (7, -(2.0**62), 1)


def test_damage_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("hello")
    draft.lines.append(b"{broken")
    draft.assistant("hi")
    path = draft.write(tmp_path / "a.jsonl")
    with path.open("ab") as file:
        file.write(b'{"type":"mess')
    reading = whole(path)
    assert (reading.card.damage, reading.card.messages, reading.mark) == (2, 2, None)


def test_a_last_line_that_only_lacks_its_newline_is_no_damage(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("hello")
    path = draft.write(tmp_path / "a.jsonl")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    reading = whole(path)
    assert (reading.card.damage, reading.card.messages, reading.mark) == (0, 1, None)


def test_a_peek_that_shows_no_prompt_does_not_say_that_there_is_none(tmp_path: Path) -> None:
    draft = Draft()
    draft.assistant("word " * 4_000, total=1000)
    draft.user("far behind")
    draft.assistant("word " * 4_000, total=1000)
    path = draft.write(tmp_path / "a.jsonl")
    assert peek(candidate(path)).title == NOT_READ
    assert whole(path).card.title == "far behind"


def test_a_peek_says_what_stands_at_both_ends_and_counts_nothing(tmp_path: Path) -> None:
    draft = Draft(parent="/store/older.jsonl")
    draft.user("the first prompt")
    for number in range(40):
        draft.assistant("word " * 200, total=1000 + number)
    draft.named("Forty replies")
    path = draft.write(tmp_path / "a.jsonl")
    assert path.stat().st_size > 16_384
    quick, full = peek(candidate(path)), whole(path).card
    same = (
        "id",
        "agent",
        "path",
        "name",
        "title",
        "prompt",
        "project",
        "created",
        "modified",
        "parent",
        "relation",
    )
    for name in (*same, "size", "version"):
        assert getattr(quick, name) == getattr(full, name), name
    assert (quick.partial, full.partial) == (True, False)
    for name in ("entries", "messages", "turns", "branches", "compactions", "tokens"):
        assert getattr(quick, name) is None
        assert getattr(full, name) is not None


@pytest.mark.parametrize("seed", range(30))
def test_reading_on_finds_what_reading_whole_finds(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "a.jsonl"
    draft = Draft()
    draft.user("start")
    read_on_at_all = 0
    draft.write(path)
    known = whole(path)
    for _ in range(25):
        lines = rng.randint(1, 3)
        for _ in range(lines):
            _grow(draft, rng)
        draft.append_to(path, lines)
        expected = whole(path)
        found = read_on(known, candidate(path))
        if found is not None:
            read_on_at_all += 1
            assert found.card == expected.card
            assert found.details == expected.details
            assert found.mark == expected.mark
        known = found if found is not None and rng.random() < 0.8 else expected
    assert read_on_at_all


def _grow(draft: Draft, rng: random.Random) -> None:
    kind = rng.randrange(12)
    older = f"e{rng.randrange(draft.count):07x}"
    if kind < 3:
        draft.user(rng.choice(["", "next", "and then\nthis"]))
    elif kind < 6:
        total = rng.choice([0, 0, 4000 + draft.count])
        draft.assistant(rng.choice(["", "Reply."]), total=total, calls=(("edit", f"{rng.randrange(4)}.py"),))
    elif kind == 6:
        draft.named(rng.choice(["One", "Two", ""]))
    elif kind == 7:
        draft.archived(rng.random() < 0.5)
    elif kind == 8:
        draft.user("from an older place", under=older)
    elif kind == 9:
        data = {"from": draft.leaf, "target": older}
        draft.entry("custom", {"customType": "leafward.leaf", "data": data}, under=older, id_last=True)
    elif kind == 10:
        draft.entry("compaction", {"summary": "So far.", "firstKeptEntryId": older, "tokensBefore": 9})
    else:
        draft.entry("model_change", {"provider": "p", "modelId": rng.choice(["a", "b"])})


def appended(tmp_path: Path, *, damage: bytes = b"", replace: bool = False) -> Reading | None:
    draft = Draft()
    draft.user("hello " * 100)
    draft.assistant("hi")
    path = draft.write(tmp_path / "a.jsonl")
    known = whole(path)
    draft.user("more")
    if replace:
        os.replace(draft.write(tmp_path / "b.jsonl"), path)
    else:
        path.write_bytes(draft.text().replace(b"hello", damage or b"hello", 1 if damage else 0))
    return read_on(known, candidate(path))


def test_what_is_not_the_same_file_only_longer_is_read_whole(tmp_path: Path) -> None:
    assert appended(tmp_path) is not None
    assert appended(tmp_path, damage=b"HELLO") is not None, "far from both ends: as good as unchanged"
    assert appended(tmp_path, replace=True) is None


def test_an_unfinished_line_and_a_changed_end_are_read_whole(tmp_path: Path) -> None:
    draft = Draft()
    draft.user("hello")
    path = draft.write(tmp_path / "a.jsonl")
    known = whole(path)
    with path.open("ab") as file:
        file.write(b'{"type":"mess')
    assert read_on(known, candidate(path)) is None
    path.write_bytes(draft.text().replace(b"hello", b"HELLO") + b"\n\n")
    assert read_on(known, candidate(path)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-05T08:00:00.123Z", START + 123),
        ("2026-01-05T10:00:00+02:00", START),
        ("2026-01-05T08:00", START),
        ("2026-01-05", START - 8 * 3_600_000),
        ("soon", None),
        (7, None),
    ],
)
def test_times_are_read_as_javascript_reads_them(text: object, expected: int | None) -> None:
    assert parse_time(text) == expected


def test_a_time_out_of_range_is_no_time() -> None:
    assert iso_time(10**18) is None
    assert iso_time(None) is None
    assert iso_time(START + 7) == "2026-01-05T08:00:00.007Z"


def test_a_prompt_that_goes_on_says_so() -> None:
    assert brief("pear " * 24) == " ".join(["pear"] * 24), "it fits"
    long = brief("pear " * 30)
    assert long.endswith("pear…")
    assert len(long) <= EXCERPT
    assert len(brief("p" * 500)) == EXCERPT, "a word that ends nowhere near is cut"


@pytest.mark.parametrize("appended", [False, True])
def test_the_last_reply_is_one_to_the_last_prompt(tmp_path: Path, appended: bool) -> None:
    draft = Draft()
    draft.user("count the pears")
    draft.assistant("Seven.")
    path = draft.write(tmp_path / "a.jsonl")
    before = whole(path)
    draft.user("and the plums?")
    if appended:
        draft.append_to(path, 1)
        found = read_on(before, candidate(path))
        assert found is not None
    else:
        found = whole(draft.write(path))
    assert (before.details.last_prompt, before.details.last_reply) == ("count the pears", "Seven.")
    assert (found.details.last_prompt, found.details.last_reply) == ("and the plums?", "")
