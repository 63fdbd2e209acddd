"""Codex: going back, forks, compactions, in shapes that the corpora do not hold."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from leafward.context import context_at
from leafward.entries import Damage, Kind
from leafward.files import working_set
from tests.codex_rollout import CODEX, THREADS, Rollout, opened, problems, said, zstd

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.foreign import ForeignSession

ONE, TWO, THREE, FOUR = THREADS[:4]


def base(rollout: Rollout, ordinal: int) -> dict[str, Any]:
    """What a segment says it is based on."""
    return {"thread_id": rollout.segment, "end_ordinal_exclusive": ordinal, "end_byte_offset": 0}


def paginated(home: Path, thread: str = ONE, first: int = 0, **given: Any) -> Rollout:
    return Rollout(home, thread, first=first, history_mode="paginated", **given)


def prompts(session: ForeignSession, at: int | None = None) -> list[str]:
    return [text for role, text in said(session, at) if role == "user"]


def texts(session: ForeignSession) -> dict[str, int]:
    """Entries by the text they say."""
    found = {}
    for index, body in session.bodies(range(len(session))):
        content = ((body or {}).get("message") or {}).get("content") or ()
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                found[block["text"]] = int(index)
    return found


# --- rollbacks ---


@pytest.mark.parametrize(
    ("turns", "left"),
    [(1, ["a", "b", "d"]), (2, ["a", "d"]), (3, ["d"]), (9, ["d"]), (0, ["a", "b", "c", "d"])],
)
def test_a_rollback_is_a_branch(tmp_path: Path, turns: int, left: list[str]) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>here</environment_context>")
    for text in "abc":
        rollout.event("task_started", turn_id=text)
        rollout.turn(text, text.upper())
    rollout.event("thread_rolled_back", num_turns=turns)
    rollout.turn("d", "D")
    session = rollout.opened()
    assert prompts(session) == left
    assert said(session)[0][0] == "custom"
    assert len(list(session.tree.leaves())) == (2 if turns else 1)
    assert "C" in texts(session)
    if turns:
        assert prompts(session, texts(session)["C"]) == ["a", "b", "c"]


def test_rollbacks_add_up(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    for text in "ab":
        rollout.turn(text, text.upper())
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("c", "C")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("d", "D")
    assert prompts(rollout.opened()) == ["d"]


def test_a_rollback_at_the_end_leaves_the_place_before_what_was_dropped(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    session = rollout.opened()
    assert said(session) == [("user", "a"), ("assistant", "A")]
    assert session.place == texts(session)["A"]


def test_the_model_is_named_again_where_a_rollback_took_its_naming_away(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.line("turn_context", model="beta")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.line("turn_context", model="beta")
    rollout.turn("c", "C")
    assert context_at(rollout.opened()).model == "beta"


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
    assert prompts(revert.opened()) == ["a", "c"]
    assert prompts(fork.opened()) == ["a", "c", "d"]
    session = again.opened()
    assert prompts(session) == ["a", "c", "d", "e"]
    assert "b" not in texts(session)
    assert session.inherited == texts(session)["D"] + 1
    assert not problems(session)


def test_a_cut_in_the_middle_of_a_segment_takes_what_lies_before_it(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    cut = first.ordinal or 0
    first.turn("b", "B")
    fork = paginated(tmp_path, TWO, minute=1, first=cut, forked_from_id=ONE, history_base=base(first, cut))
    fork.turn("c", "C")
    session = fork.opened()
    assert prompts(session) == ["a", "c"]
    assert [path.name for path in session.transcript.files] == [fork.path.name, first.path.name]
    raw = b"\n".join(session.raw(index) for index in range(session.inherited))
    assert raw + b"\n" == first.path.read_bytes()[: len(raw) + 1]


def test_a_segment_in_the_archive_is_found(tmp_path: Path) -> None:
    first = paginated(tmp_path, folder="archived_sessions")
    first.turn("a", "A")
    fork = paginated(
        tmp_path,
        TWO,
        minute=1,
        first=first.ordinal or 0,
        forked_from_id=ONE,
        history_base=base(first, first.ordinal or 0),
    )
    fork.turn("b", "B")
    assert prompts(fork.opened()) == ["a", "b"]


def test_a_missing_base_is_said_and_marked(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    fork = paginated(tmp_path, TWO, minute=1, first=9, forked_from_id=ONE, history_base=base(first, 9))
    fork.turn("b", "B")
    first.path.unlink()
    session = fork.opened()
    assert prompts(session) == ["b"]
    assert session.columns.damage[0] is Damage.MISSING_BASE
    assert problems(session) == {"missing-base": 1}


def test_a_base_that_is_shorter_than_its_cut_is_said(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    fork = paginated(tmp_path, TWO, minute=1, first=99, forked_from_id=ONE, history_base=base(first, 99))
    fork.turn("b", "B")
    session = fork.opened()
    assert prompts(session) == ["a", "b"]
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
    assert prompts(itself.opened()) == ["c"]


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
    assert prompts(session) == ["a", "c"]
    assert session.inherited == texts(session)["A"] + 1
    assert session.header["parentSession"] == str(source.path)
    source.path.unlink()
    assert problems(opened(fork.path)) == {"fork-source-missing": 1}


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
    assert prompts(first.opened()) == ["a", "c"]
    state(tmp_path, {ONE: str(first.path)}, 4)
    older = next(tmp_path.rglob(f"*{TWO}.jsonl"))
    state(tmp_path, {ONE: f"/elsewhere/{older.name}"}, 12)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert prompts(first.opened()) == ["a", "b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_write_ahead_log_is_respected_and_left_alone(tmp_path: Path) -> None:
    first = paginated(tmp_path)
    first.turn("a", "A")
    second = paginated(
        tmp_path,
        segment=TWO,
        minute=1,
        first=first.ordinal or 0,
        history_base=base(first, first.ordinal or 0),
    )
    second.turn("b", "B")
    path = state(tmp_path, {ONE: second.path.name})
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("UPDATE threads SET rollout_path = ?", (first.path.name,))
    writer.commit()
    with_index = sorted(one.name for one in tmp_path.iterdir())
    assert prompts(first.opened()) == ["a"]
    log = path.with_name(path.name + "-wal").read_bytes()
    content = path.read_bytes()
    writer.close()
    path.write_bytes(content)
    path.with_name(path.name + "-wal").write_bytes(log)
    assert f"{path.name}-shm" in with_index
    alone = sorted(one.name for one in tmp_path.iterdir())
    assert f"{path.name}-shm" not in alone
    assert prompts(first.opened()) == ["a"]
    assert sorted(one.name for one in tmp_path.iterdir()) == alone


def test_a_broken_database_hides_nothing(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    (tmp_path / "state_5.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    session = rollout.opened()
    assert prompts(session) == ["a"]
    assert problems(session) == {"database": 1}


def test_a_compressed_rollout_reads_as_the_plain_one(tmp_path: Path) -> None:
    first = paginated(tmp_path, folder="archived_sessions")
    first.turn("a", "A")
    fork = paginated(
        tmp_path,
        TWO,
        minute=1,
        first=first.ordinal or 0,
        forked_from_id=ONE,
        history_base=base(first, first.ordinal or 0),
    )
    fork.turn("b", "B")
    plain = first.opened()
    cold = first.path.with_name(first.path.name + ".zst")
    cold.write_bytes(zstd.compress(first.path.read_bytes()))
    first.path.unlink()
    session = opened(cold)
    assert bytes(session.columns.ids) == bytes(plain.columns.ids)
    assert said(session) == said(plain)
    assert session.header["archived"] is True
    assert prompts(fork.opened()) == ["a", "b"]
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


# --- compactions ---


def message(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}], **more}


def test_a_message_cut_to_fit_is_an_entry_of_its_own(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("long " * 100, "A")
    rollout.turn("short", "B")
    cut = "long …90 tokens truncated…long "
    rollout.line("compacted", message="S", replacement_history=[message(cut), message("short"), message("S")])
    rollout.turn("next", "C")
    session = rollout.opened()
    assert said(session)[:4] == [
        ("custom", cut),
        ("user", "short"),
        ("compactionSummary", "S"),
        ("user", "next"),
    ]
    literal = session.columns.parent[session.columns.kind.index(Kind.COMPACTION)]
    assert (session.body(literal) or {})["injected"] is True
    rollout.line("compacted", message="T", replacement_history=[message(cut), message("next"), message("T")])
    assert said(rollout.opened()) == [("custom", cut), ("user", "next"), ("compactionSummary", "T")]


def test_without_history_the_newest_messages_within_the_budget_are_kept(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>x</environment_context>")
    rollout.turn("first", "A")
    rollout.turn("m" * 40_000, "B")
    rollout.turn("n" * 60_000, "C")
    rollout.line("compacted", message="the summary")
    session = rollout.opened()
    roles = said(session)
    assert [role for role, _ in roles] == ["custom", "custom", "user", "compactionSummary"]
    assert roles[2][1] == "n" * 60_000
    assert roles[1][1] == "m" * 10_000 + "…5000 tokens truncated…" + "m" * 10_000
    assert roles[3][1] == "the summary"


def test_an_encrypted_summary_shows_what_was_kept_in_plain_text(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.line(
        "compacted",
        message="",
        replacement_history=[message("a"), {"type": "compaction", "encrypted_content": "x" * 77}],
        retained_context={
            "user_messages": [{"order": 0, "text": "a"}],
            "assistant_messages": [{"order": 1, "text": "A"}],
        },
    )
    session = rollout.opened()
    role, text = said(session)[-1]
    assert role == "compactionSummary"
    assert "77 characters that only the provider can read" in text
    assert text.endswith("user: a\nassistant: A")
    body = session.body(session.columns.kind.index(Kind.COMPACTION)) or {}
    assert body["encrypted"] is True


def test_a_rollback_past_a_compaction_brings_back_what_it_replaced(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.turn("b", "B")
    rollout.line("compacted", message="S", replacement_history=[message("a"), message("S")])
    rollout.turn("c", "C")
    rollout.event("thread_rolled_back", num_turns=2)
    rollout.turn("d", "D")
    assert said(rollout.opened()) == [("user", "a"), ("assistant", "A"), ("user", "d"), ("assistant", "D")]


# --- calls and files ---


def test_only_calls_that_went_well_count(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    rollout.call("exec_command", {"cmd": "cat a.txt"}, "Process exited with code 0\nOutput:\nx", "1")
    rollout.call("exec_command", {"cmd": "cat b.txt"}, "Process exited with code 1\nOutput:\n", "2")
    rollout.call(
        "shell",
        {"command": ["bash", "-lc", "sed -n 1,5p c.txt"], "workdir": "sub"},
        json.dumps({"output": "x", "metadata": {"exit_code": 0}}),
        "3",
    )
    rollout.call("exec_command", {"cmd": "cat d.txt | wc"}, "Process exited with code 0", "4")
    rollout.item(
        "custom_tool_call", name="apply_patch", input=patch.format("e.txt"), call_id="5", status="completed"
    )
    rollout.item(
        "custom_tool_call_output",
        call_id="5",
        output=json.dumps({"output": "Success", "metadata": {"exit_code": 0}}),
    )
    rollout.call(
        "apply_patch", {"input": patch.format("f.txt")}, "Success. Updated the following files:", "6"
    )
    rollout.call("exec_command", {"cmd": f"apply_patch <<'X'\n{patch.format('g.txt')}X"}, "Exit code: 0", "7")
    rollout.item("custom_tool_call", name="apply_patch", input=patch.format("h.txt"), call_id="8")
    rollout.event("patch_apply_end", call_id="8", success=False, changes={})
    rollout.item("custom_tool_call_output", call_id="8", output="verification failed")
    rollout.call("view_image", {"path": "i.png"}, "attached", "9")
    rollout.item(
        "local_shell_call",
        call_id="10",
        status="completed",
        action={"type": "exec", "command": ["cat", "j.txt"]},
    )
    rollout.item("function_call_output", call_id="10", output="x")
    found = working_set(rollout.opened())
    assert [use.path for use in found.read] == ["a.txt", "i.png", "j.txt", "sub/c.txt"]
    assert [use.path for use in found.modified] == ["e.txt", "f.txt", "g.txt"]


def test_what_codex_says_a_command_printed_counts(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    rollout.item(
        "function_call", name="exec_command", arguments=json.dumps({"cmd": "ls && cat a.txt"}), call_id="1"
    )
    parsed = [
        {"type": "list_files", "cmd": "ls"},
        {"type": "read", "cmd": "cat a.txt", "name": "a.txt", "path": "a.txt"},
    ]
    rollout.event(
        "exec_command_end", call_id="1", exit_code=0, parsed_cmd=parsed, cwd="/home/ada/orchard/sub"
    )
    rollout.item("function_call_output", call_id="1", output="x")
    assert [use.path for use in working_set(rollout.opened()).read] == ["sub/a.txt"]


def test_calls_and_results_say_which_tool_and_how_it_ended(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("go")
    for call in "12":
        rollout.item("function_call", name="exec_command", arguments='{"cmd":"false"}', call_id=call)
    for call in "21":
        rollout.event("exec_command_end", call_id=call, exit_code=int(call))
        rollout.item("function_call_output", call_id=call, output="x")
    session = rollout.opened()
    assert session.columns.kind.count(Kind.ASSISTANT) == 1
    results = [
        session.body(index) or {}
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.TOOL_RESULT
    ]
    assert [(body["message"]["toolCallId"], body["message"]["toolName"], body["message"]["exitCode"], body["message"]["isError"]) for body in results] == [("2", "exec_command", 2, True), ("1", "exec_command", 1, True)]  # fmt: skip
    assert not problems(session)


def test_images_keep_their_data_and_lose_their_frame(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    content = [
        {"type": "input_text", "text": '<image name=[Image #1] path="/x.png">'},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "what is it"},
    ]
    rollout.item("message", role="user", content=content)
    rollout.event("user_message", message="what is it")
    session = rollout.opened()
    index = session.columns.kind.index(Kind.USER)
    assert (session.body(index) or {})["message"]["content"] == [
        {"type": "image", "data": "AAAA", "mimeType": "image/png", "name": 'name=[Image #1] path="/x.png"'},
        {"type": "text", "text": "what is it"},
    ]
