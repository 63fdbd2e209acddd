"""Codex: going back, segments, forks and what they are based on, in shapes that the corpora do not hold."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.store import called_in
from leafward.context.recorded_usage import usage_total
from leafward.session.entries import Damage
from leafward.session.headlines.session_title import title_of
from tests.codex_rollout import CODEX, THREADS, Rollout, opened, zstd
from tests.foreign_sessions import entries_by_text, problems, prompts_of, said
from tests.sources import foreign

if TYPE_CHECKING:
    from pathlib import Path


ONE, TWO, THREE, FOUR = THREADS[:4]


def base(rollout: Rollout, ordinal: int) -> dict[str, Any]:
    """The base that a segment names."""
    return {"thread_id": rollout.segment, "end_ordinal_exclusive": ordinal, "end_byte_offset": 0}


def paginated(home: Path, thread: str = ONE, first: int = 0, **given: Any) -> Rollout:
    return Rollout(home, thread, first=first, history_mode="paginated", **given)


def going_on(first: Rollout, home: Path, thread: str = ONE, **given: Any) -> Rollout:
    """A minute later a segment, or a fork, that is based on all of another."""
    end = first.ordinal or 0
    return paginated(home, thread, end, minute=1, history_base=base(first, end), **given)


# --- rollbacks ---


# --- segments, forks, what they are based on ---


def test_a_fork_of_a_fork_of_a_reverted_thread_holds_all_that_came_before(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    cut = first.ordinal or 0
    first.turn("b", "B")
    revert = paginated(tmp_path, segment=TWO, minute=1, first=cut, history_base=base(first, cut))
    revert.turn("c", "C")
    fork = paginated(
        tmp_path,
        THREE,
        minute=2,
        first=revert.ordinal or 0,
        forked_from_id=ONE,
        history_base=base(revert, revert.ordinal or 0),
    )
    fork.turn("d", "D")
    again = paginated(
        tmp_path,
        FOUR,
        minute=3,
        first=fork.ordinal or 0,
        forked_from_id=THREE,
        history_base=base(fork, fork.ordinal or 0),
    )
    again.turn("e", "E")
    assert prompts_of(revert.opened()) == ["a", "c"]
    assert prompts_of(fork.opened()) == ["a", "c", "d"]
    session = again.opened()
    assert prompts_of(session) == ["a", "c", "d", "e"]
    assert "b" not in entries_by_text(session)
    assert session.inherited == entries_by_text(session)["D"] + 1
    assert not problems(session)


def test_a_cut_in_the_middle_of_a_segment_takes_what_lies_before_it(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    cut = first.ordinal or 0
    first.turn("b", "B")
    fork = paginated(tmp_path, TWO, minute=1, first=cut, forked_from_id=ONE, history_base=base(first, cut))
    fork.turn("c", "C")
    session = fork.opened()
    assert prompts_of(session) == ["a", "c"]
    assert [path.name for path in foreign(session).transcript.files] == [fork.path.name, first.path.name]
    raw = b"\n".join(session.raw(index) for index in range(session.inherited))
    assert raw + b"\n" == first.path.read_bytes()[: len(raw) + 1]


def test_a_segment_in_the_archive_is_found(tmp_path: Path) -> None:
    first = paginated(tmp_path, folder="archived_sessions")
    first.turn("a", "A")
    fork = going_on(first, tmp_path, TWO, forked_from_id=ONE)
    fork.turn("b", "B")
    assert prompts_of(fork.opened()) == ["a", "b"]


def test_a_missing_base_is_said_and_marked(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    fork = paginated(tmp_path, TWO, minute=1, first=9, forked_from_id=ONE, history_base=base(first, 9))
    fork.turn("b", "B")
    first.path.unlink()
    session = fork.opened()
    assert prompts_of(session) == ["b"]
    assert session.columns.damage[0] is Damage.MISSING_BASE
    assert problems(session) == {"missing-base": 1}


def test_a_base_that_is_shorter_than_its_cut_is_said(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    fork = paginated(tmp_path, TWO, minute=1, first=99, forked_from_id=ONE, history_base=base(first, 99))
    fork.turn("b", "B")
    session = fork.opened()
    assert prompts_of(session) == ["a", "b"]
    assert problems(session) == {"base-short": 1}


def test_segments_that_are_based_on_each_other_end_somewhere(tmp_path: Path) -> None:
    first = paginated(tmp_path, history_base={"thread_id": TWO, "end_ordinal_exclusive": 5})
    first.turn("a", "A")
    second = paginated(tmp_path, TWO, minute=1, history_base=base(first, 5))
    second.turn("b", "B")
    for rollout in (first, second):
        session = rollout.opened()
        assert problems(session).get("missing-base") == 1
        assert len(session)
    itself = paginated(
        tmp_path, THREE, minute=2, history_base={"thread_id": THREE, "end_ordinal_exclusive": 3}
    )
    itself.turn("c", "C")
    assert prompts_of(itself.opened()) == ["c"]


@pytest.mark.parametrize("mode", ["paginated", "legacy"])
def test_of_a_paginated_file_with_two_threads_the_second_is_sent(tmp_path: Path, mode: str) -> None:
    """Codex reads such a file backwards to its last description (tried with 0.153 and 0.171); a legacy one is one conversation."""
    one, two = (Rollout(tmp_path, thread, first=0, history_mode=mode) for thread in (ONE, TWO))
    one.turn("Count the pears", "Seven.")
    two.turn("Prune the trees", "Pruned.")
    one.raw(two.path.read_bytes())
    two.path.unlink()
    session = one.opened()
    second = ["Prune the trees", "Pruned."]
    sent = [text for _, text in said(session)]
    assert sent == (second if mode == "paginated" else ["Count the pears", "Seven.", *second])
    assert problems(session) == {"another-session" if mode == "paginated" else "joined-session": 1}
    assert {"Count the pears", "Seven.", *second} <= set(entries_by_text(session)), "nothing is lost"


def test_what_an_old_fork_copied_is_told_apart(tmp_path: Path) -> None:
    source = Rollout(tmp_path)
    source.turn("a", "A")
    source.count(100)
    source.turn("b", "B")
    fork = Rollout(tmp_path, TWO, minute=1, forked_from_id=ONE)
    copied = source.path.read_bytes().split(b"\n")[:6]
    fork.raw(b"\n".join(copied) + b"\n")
    fork.turn("c", "C")
    session = fork.opened()
    assert prompts_of(session) == ["a", "c"]
    assert session.inherited == entries_by_text(session)["A"] + 1
    assert session.header["parentSession"] == str(source.path)
    source.path.unlink()
    assert problems(opened(fork.path)) == {"fork-source-missing": 1}


def test_a_fork_by_a_newer_version_writes_the_copied_lines_anew(tmp_path: Path) -> None:
    """0.171 gives the items of older threads ids, fills in empty fields, and leaves out turns and events that it does not know."""
    source = Rollout(tmp_path, cli_version="0.47.0")
    source.turn("a", "A")
    source.line("turn_context", cwd="/home/ada/orchard", sandbox_policy={"mode": "danger-full-access"})
    source.event("exec_command_end", call_id="call_1", turn_id="one")
    source.call("shell", {"command": ["ls"]}, "pears")
    source.count(100)
    source.turn("b", "B")
    fork = Rollout(tmp_path, TWO, minute=1, forked_from_id=ONE, cli_version="0.171.0")
    rest = len(source.path.read_bytes().splitlines()) - 3
    for number, raw in enumerate(source.path.read_bytes().splitlines()[:rest]):
        line = json.loads(raw)
        if line["type"] != "turn_context" and line["payload"].get("type") != "exec_command_end":
            line["payload"] |= {"phase": None} if line["type"] == "session_meta" else {"id": f"id_{number}"}
            written = json.dumps(line | {"timestamp": fork.stamp}, separators=(",", ":"))
            fork.raw(written.encode() + b"\n")
    fork.event("task_started", turn_id="one")
    fork.turn("b", "another B")
    session = fork.opened()
    assert session.inherited > entries_by_text(session)["A"]
    assert session.inherited <= entries_by_text(session)["b"]


def spawned(home: Path, **given: Any) -> Rollout:
    """A sub-agent that was given the conversation of ONE."""
    link = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}
    meta = {"forked_from_id": ONE, "source": link, "thread_source": "subagent", **given}
    return Rollout(home, TWO, minute=1, **meta)


def parent(home: Path, **given: Any) -> Rollout:
    source = Rollout(home, **given)
    source.event("task_started", turn_id="one")
    source.prompt("a")
    source.count(100)
    source.call("exec_command", {"cmd": "ls"}, "pears")
    source.reply("A", 300)
    source.event("task_started", turn_id="two")
    source.prompt("b")
    source.call("spawn_agent", {"message": "c"}, "{}", "call_2")
    source.count(500)
    return source


def copied_by_a_subagent(source: Rollout, child: Rollout) -> None:
    """As Codex 0.125 to 0.142 copies: events and prompts, but no items of replies, no calls and no outputs."""
    for line in source.path.read_bytes().splitlines()[1:]:
        record = json.loads(line)["payload"]
        if (
            record["type"] not in ("function_call", "function_call_output")
            and record.get("role") != "assistant"
        ):
            child.raw(line + b"\n")


def test_what_a_subagent_was_given_is_its_parents(tmp_path: Path) -> None:
    """In Codex 0.125 and 0.142 lines are left out on the way; what is left of a reply, its event, is not sent."""
    source = parent(tmp_path)
    child = spawned(tmp_path)
    copied_by_a_subagent(source, child)
    child.event("task_started", turn_id="three")
    child.prompt("c")
    child.reply("C", 40)
    session = child.opened()
    assert said(session) == [("user", "a"), ("user", "b"), ("user", "c"), ("assistant", "C")]
    assert session.inherited == entries_by_text(session)["c"] - 1
    assert session.source.task == entries_by_text(session)["c"]
    own = usage_total(session, range(session.inherited, len(session)))
    assert own.total == 100


def test_a_subagent_whose_description_says_where_its_own_begins(tmp_path: Path) -> None:
    """From Codex 0.153 on; the parent need not be there."""
    source = parent(tmp_path, first=0, history_mode="paginated")
    lines = [json.loads(line) for line in source.path.read_bytes().splitlines()[1:]]
    given = [
        line["payload"]
        for line in lines
        if line["payload"].get("role") == "user" or line["payload"]["type"] == "task_started"
    ]
    child = spawned(
        tmp_path, first=0, history_mode="paginated", subagent_history_start_ordinal=1 + len(given)
    )
    for payload in given:
        child.line("event_msg" if payload["type"] == "task_started" else "response_item", **payload)
    child.event("task_started", turn_id="three")
    child.said("c")
    child.said("C", "assistant")
    source.path.unlink()
    session = child.opened()
    assert prompts_of(session) == ["a", "b", "c"]
    assert session.inherited == entries_by_text(session)["c"] - 1
    assert session.source.task == entries_by_text(session)["c"]
    assert not problems(session)


def test_a_subagent_is_called_by_its_own_task(tmp_path: Path) -> None:
    """Up to Codex 0.142 its database calls it by the first prompt in the file, which is the parent's."""
    source = parent(tmp_path)
    child = spawned(tmp_path)
    copied_by_a_subagent(source, child)
    child.event("task_started", turn_id="three")
    child.turn("count the plums", "Seven.")
    with sqlite3.connect(tmp_path / "state_5.sqlite") as base:
        base.execute("CREATE TABLE threads (id TEXT, rollout_path TEXT, title TEXT, first_user_message TEXT)")
        base.execute("CREATE TABLE thread_spawn_edges (parent_thread_id TEXT, child_thread_id TEXT)")
        base.executemany(
            "INSERT INTO threads VALUES (?, ?, 'a', 'a')",
            [(rollout.thread, str(rollout.path)) for rollout in (source, child)],
        )
        base.execute("INSERT INTO thread_spawn_edges VALUES (?, ?)", (ONE, TWO))
    base.close()
    assert title_of(child.opened()) == "count the plums"
    assert title_of(source.opened()) == "a"


def test_what_a_subagent_does_meanwhile_is_no_row(tmp_path: Path) -> None:
    """Codex 0.169 tells the parent's log of it."""
    source = parent(tmp_path)
    before = len(source.opened())
    source.event("item_completed", item={"type": "SubAgentActivity", "id": "call_2", "kind": "started"})
    session = source.opened()
    assert len(session) == before
    assert not problems(session)


def state(home: Path, rows: dict[str, str], generation: int = 5) -> Path:
    path = home / f"state_{generation}.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE threads (id TEXT, rollout_path TEXT, name TEXT)")
        made.executemany("INSERT INTO threads VALUES (?, ?, NULL)", rows.items())
    made.close()
    return path


def test_the_database_of_the_newest_generation_knows_the_live_segment(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    cut = first.ordinal or 0
    for minute, (segment, text) in enumerate(((TWO, "b"), (THREE, "c")), start=1):
        made = paginated(tmp_path, segment=segment, minute=minute, first=cut, history_base=base(first, cut))
        made.turn(text, text.upper())
    assert prompts_of(first.opened()) == ["a", "c"]
    state(tmp_path, {ONE: str(first.path)}, 4)
    older = next(tmp_path.rglob(f"*{TWO}.jsonl"))
    state(tmp_path, {ONE: f"/elsewhere/{older.name}"}, 12)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert prompts_of(first.opened()) == ["a", "b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_write_ahead_log_is_respected_and_left_alone(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    second = going_on(first, tmp_path, segment=TWO)
    second.turn("b", "B")
    path = state(tmp_path, {ONE: second.path.name})
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("UPDATE threads SET rollout_path = ?", (first.path.name,))
    writer.commit()
    with_index = sorted(one.name for one in tmp_path.iterdir())
    assert prompts_of(first.opened()) == ["a"]
    log = path.with_name(path.name + "-wal").read_bytes()
    content = path.read_bytes()
    writer.close()
    path.write_bytes(content)
    path.with_name(path.name + "-wal").write_bytes(log)
    assert f"{path.name}-shm" in with_index
    alone = sorted(one.name for one in tmp_path.iterdir())
    assert f"{path.name}-shm" not in alone
    assert prompts_of(first.opened()) == ["a"]
    assert sorted(one.name for one in tmp_path.iterdir()) == alone


def test_a_broken_database_hides_nothing(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    (tmp_path / "state_5.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    session = rollout.opened()
    assert prompts_of(session) == ["a"]
    assert problems(session) == {"database": 1}


def test_a_view_in_the_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    """Its rows may have no end."""
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    with sqlite3.connect(state(tmp_path, {ONE: str(rollout.path)})) as made:
        made.execute("ALTER TABLE threads RENAME TO others")
        made.execute(
            "CREATE VIEW threads AS WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more)"
            " SELECT id || '' AS id, rollout_path, name FROM others, more"
        )
    made.close()
    session = rollout.opened()
    assert prompts_of(session) == ["a"]
    assert problems(session) == {"database": 1}
    assert called_in(str(tmp_path)) == {}


def test_a_compressed_rollout_reads_as_the_plain_one(tmp_path: Path) -> None:
    first = paginated(tmp_path, folder="archived_sessions")
    first.turn("a", "A")
    fork = going_on(first, tmp_path, TWO, forked_from_id=ONE)
    fork.turn("b", "B")
    plain = first.opened()
    cold = first.path.with_name(first.path.name + ".zst")
    cold.write_bytes(zstd.compress(first.path.read_bytes()))
    first.path.unlink()
    session = opened(cold)
    assert bytes(session.columns.ids) == bytes(plain.columns.ids)
    assert said(session) == said(plain)
    assert session.header["archived"] is True
    assert prompts_of(fork.opened()) == ["a", "b"]
    trouble: list[Any] = []
    found = {
        name for listing in CODEX.discover((tmp_path,), lambda: False, trouble) for name in listing.files
    }
    assert found == {cold.name, fork.path.name}
    assert CODEX.recognises(cold.read_bytes()[:4096])


def test_a_plain_file_wins_over_its_compressed_copy(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.path.with_name(rollout.path.name + ".zst").write_bytes(b"\x28\xb5\x2f\xfdnonsense")
    found = [name for listing in CODEX.discover((tmp_path,), lambda: False, []) for name in listing.files]
    assert found == [rollout.path.name]
