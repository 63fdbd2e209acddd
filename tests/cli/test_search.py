"""`leafward search`."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.codex_rollout import Rollout
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from leafward.catalogue.cards.card import Card
    from tests.cli.conftest import Run


@pytest.fixture
def store(isolated_environment: Path) -> Path:
    """Two sessions of pi and one of Codex, each in its agent's own folder."""
    root = isolated_environment / ".pi" / "agent" / "sessions"
    for name in ("orchard", "pasture"):
        folder = root / f"--home-ada-{name}--"
        folder.mkdir(parents=True)
        file = PiFile(folder / f"{name}.jsonl", HEADER | {"id": f"{name}-0001", "cwd": f"/home/ada/{name}"})
        file.user(f"Which {name}? caf\u00e9")
        file.reply("the needle \x1b[31m of the hay")
    rollout = Rollout(isolated_environment / ".codex", cwd="/home/ada/meadow")
    rollout.turn("find the needle", "found")
    return root


def test_the_document(store: Path, done: Run) -> None:
    found = done("search", "NEEDLE", "--json").document
    parts = {"pi": "reply", "codex": "prompt"}
    assert [(hit["session"], hit["part"]) for hit in found["hits"]] == [
        (session["id"], parts[session["agent"]]) for session in found["sessions"]
    ]
    assert {session["agent"] for session in found["sessions"]} == {"pi", "codex"}
    assert (found["searched"], found["diagnostics"]) == (3, [])
    for hit in found["hits"]:
        ((start, stop),) = hit["spans"]
        assert hit["text"][start:stop].lower() == "needle"
    (hit,) = done("search", "which orchard", "--json").document["hits"]
    assert (hit["session"], hit["entry"], hit["kind"], hit["role"], hit["count"]) == (
        "orchard-0001", "00000001", "message", "user", 2,
    )  # fmt: skip
    assert done("show", hit["session"], hit["entry"], "--json").document["id"] == hit["entry"]


def test_what_people_read(store: Path, done: Run) -> None:
    lines = done("search", "needle", "--agent", "pi").out.splitlines()
    assert lines[0].startswith("orchard-  pi  ")
    assert lines[0].endswith("  orchard  Which orchard? café  1 hit")
    assert lines[1] == "  00000002  reply             the needle ␛[31m of the hay"
    assert lines[-1] == "2 hits in 2 sessions, 2 sessions searched"
    assert done("search", "nowhere").out == "nothing found in 3 sessions\n"


def test_where_nothing_is_found_the_stores_are_not_listed_for_short_ids(
    store: Path, done: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []

    def ids(cards: Iterable[Card], *_: object) -> dict[str, str]:
        listed.append(1)
        return {card.id: card.id for card in cards}

    monkeypatch.setattr("leafward.cli.verbs.search.typed_ids", ids)
    assert done("search", "nowhere", store).out == "nothing found in 2 sessions\n"
    assert not listed
    done("search", "needle", store)
    assert len(listed) == 1


def test_a_session_that_no_list_knows_yet_has_its_title(isolated_environment: Path, done: Run) -> None:
    """Its name stands where a look at the two ends of the file does not reach."""
    folder = isolated_environment / ".pi" / "agent" / "sessions" / "--home-ada-orchard--"
    folder.mkdir(parents=True)
    file = PiFile(folder / "orchard.jsonl", HEADER | {"id": "orchard-0001", "cwd": "/home/ada/orchard"})
    for name in ("", "Prune the trees", ""):
        if name:
            file.entry("session_info", name=name)
        for _ in range(4):
            file.reply("needle " + "hay " * 1000)
    (session,) = done("search", "needle", "--json").document["sessions"]
    assert session["title"] == "Prune the trees"
    assert "  Prune the trees  12 hits" in done("search", "needle").out.splitlines()[0]


def test_it_can_be_narrowed(store: Path, done: Run) -> None:
    def sessions(*arguments: str) -> list[str]:
        return [one["id"] for one in done("search", *arguments, "--json").document["sessions"]]

    assert sessions("needle", "--project", "orch") == ["orchard-0001"]
    assert sessions("needle project:past") == ["pasture-0001"]
    assert sessions("needle", str(store / "--home-ada-orchard--")) == ["orchard-0001"]
    assert len(sessions("needle agent:co")) == 1
    assert len(sessions("needle not:hay")) == 1
    assert sessions("cafe\u0301 orchard") == ["orchard-0001"]


def test_hits_beyond_the_limit_are_told(store: Path, done: Run, run: Run) -> None:
    found = done("search", "needle", "--limit", "1", "--json").document
    assert len(found["hits"]) == 1
    assert found["diagnostics"] == [
        {"code": "limit", "text": "1 hit listed, 2 sessions not searched: --limit"}
    ]
    assert "not searched" in run("search", "needle", "--limit", "1").err


def test_as_many_hits_as_the_limit_says_are_listed_of_one_session_too(tmp_path: Path, run: Run) -> None:
    file = PiFile(tmp_path / "many.jsonl")
    for number in range(210):
        file.user(f"needle {number}")
    whole = run("search", "needle", str(file.path), "--limit", "1000", "--json").document
    assert (len(whole["hits"]), whole["searched"], whole["diagnostics"]) == (210, 1, [])
    cut = run("search", "needle", str(file.path), "--limit", "205", "--json").document
    assert (len(cut["hits"]), cut["sessions"][0]["hits"], cut["searched"]) == (205, 210, 1)
    (remark,) = cut["diagnostics"]
    assert remark["text"] == "205 hits listed, 5 more hits in these sessions: --limit"
    told = run("search", "needle", str(file.path), "--limit", "5").out.splitlines()
    assert told[-1] == "210 hits in 1 session, 1 session searched"


@pytest.mark.parametrize(
    ("query", "said"),
    [("/a(/", "at character 2"), ("re:*", "at character 0"), ("re:(?P<x", "invalid pattern")],
)
def test_a_wrong_pattern_is_refused(store: Path, run: Run, query: str, said: str) -> None:
    outcome = run("search", query, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    what, shown, mark = outcome.err.splitlines()
    assert said in what
    assert (shown.strip(), mark) == (query, "  ^")


@pytest.mark.parametrize(
    ("query", "said", "shown"),
    [
        (
            "needle since:xx",
            "since: takes 12h, 7d, 3mo, today or a date, not xx (column 8)",
            "needle since:xx",
        ),
        ("needle in:soup", "not soup (column 8)", "needle in:soup"),
        (
            "foo:1 needle & agent:zz",
            "agent: takes pi, codex, claude or opencode, not zz (column 16)",
            "agent:zz",
        ),
    ],
)
def test_a_broken_condition_is_refused(store: Path, run: Run, query: str, said: str, shown: str) -> None:
    """The hits of the other terms alone are not what was asked for."""
    for options in ((), ("--json",)):
        outcome = run("search", query, *options)
        assert (outcome.code, outcome.out) == (2, "")
        what, line, mark = outcome.err.splitlines()
        assert said in what
        assert shown in line
        assert line[len(mark) - 1 :].startswith(query[query.rindex(" ") + 1 :])


def test_problems_are_diagnostics(store: Path, done: Run, isolated_environment: Path) -> None:
    (store / "--home-ada-orchard--" / "broken.jsonl").write_bytes(b"needle, but no session\n")
    base = isolated_environment / ".local" / "share" / "opencode"
    base.mkdir(parents=True)
    with sqlite3.connect(base / "opencode.db") as connection:
        connection.execute("CREATE TABLE session (id)")
    connection.close()
    document = done("search", "needle sinze:7d tol:x", "--json").document
    assert document["hits"] == []
    assert [one["code"] for one in document["diagnostics"]] == ["query", "query", "unreadable"]
    codes = [one["code"] for one in done("search", "needle", "--json").document["diagnostics"]]
    assert codes == ["unreadable", "unreadable"]
    assert done("search", "since:7d", "--json").document["diagnostics"][0]["code"] == "query"


def test_a_path_that_is_not_there_is_refused(run: Run) -> None:
    outcome = run("search", "needle", "/nowhere/at/all")
    assert (outcome.code, outcome.out) == (1, "")


def test_hits_of_forks_that_are_not_listed_are_told_and_a_narrower_search_has_them(
    isolated_environment: Path, done: Run, run: Run
) -> None:
    root = isolated_environment / ".pi" / "agent" / "sessions"
    for name in ("orchard", "pasture"):
        (root / f"--home-ada-{name}--").mkdir(parents=True)
    first = PiFile(
        root / "--home-ada-orchard--" / "a.jsonl", HEADER | {"id": "a", "cwd": "/home/ada/orchard"}
    )
    first.user("a needle")
    for name in ("b", "c"):
        header = HEADER | {"id": name, "cwd": "/home/ada/pasture", "parentSession": str(first.path)}
        fork = PiFile(root / "--home-ada-pasture--" / f"{name}.jsonl", header)
        fork.raw(first.path.read_text().splitlines()[1])
    answer = run("search", "needle")
    assert answer.out.endswith("1 hit in 1 session, 3 sessions searched\n")
    assert (
        "2 more hits in 2 forks and copies not listed: they repeat a session that was searched too; "
        "a search without that session (--project or PATH) lists such hits\n" in answer.err
    )
    (remark,) = done("search", "needle", "--json").document["diagnostics"]
    assert remark["code"] == "copies"
    narrow = done("search", "needle", "--project", "pasture", "--json").document
    assert sorted(hit["session"] for hit in narrow["hits"]) == ["b", "c"]
    assert {remark["code"] for remark in narrow["diagnostics"]} <= {"copies"}
    (hit,) = done("search", "needle", root / "--home-ada-pasture--" / "b.jsonl", "--json").document["hits"]
    assert hit["session"] == "b"


def test_search_and_select_find_a_phrase_in_the_same_entries(tmp_path: Path, done: Run) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    first = file.user("a needle")
    file.entry(
        "message",
        message={
            "role": "assistant",
            "content": [],
            "model": "scripted-1",
            "stopReason": "error",
            "errorMessage": "400: no needle",
            "timestamp": 2,
        },
    )
    file.entry(
        "compaction",
        summary="so far",
        firstKeptEntryId=first,
        tokensBefore=10,
        systemMessage={"role": "system", "content": "find the needle"},
    )
    file.user("none")
    found = done("search", "needle", file.path, "--json").document["hits"]
    chosen = done("select", file.path, '"needle"', "--json").document["entries"]
    assert len(chosen) == 3
    assert sorted(hit["entry"] for hit in found) == sorted(one["id"] for one in chosen)


def test_a_session_whose_id_is_another_one_once_it_is_read(tmp_path: Path, done: Run) -> None:
    """A first look at a damaged header may find another id than the whole file tells."""
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("find the needle", "found")
    first, *rest = rollout.path.read_text("utf-8").splitlines(keepends=True)
    meta = json.loads(first)
    meta["payload"]["x"] = float("inf")
    rollout.path.write_text(json.dumps(meta) + "\n" + "".join(rest), "utf-8")
    assert "find the needle" in done("search", "needle", rollout.path).out
