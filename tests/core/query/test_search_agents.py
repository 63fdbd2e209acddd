"""The search of all text in the stores of every agent; what was copied or forked is found once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from leafward.base import unpacking
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout, zstd
from tests.opencode_store import Conversation, Database, call, files_of, said, write_tree
from tests.pi_file import HEADER, PiFile
from tests.searched import ROADS, cards_in, entries, found, parts, searching


def test_the_segments_of_a_thread_are_searched_packed_ones_too(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    rollout = Rollout(home)
    rollout.turn("the needle of before", "yes")
    rollout.call("shell", {"command": ["bash", "-lc", "grep 'needle' /etc/hay"]}, "needle!")
    packed = Rollout(home, thread="01a1ffe0-0000-7000-8000-000000000009", minute=3)
    packed.turn("a needle, packed", "ok")
    data = packed.path.read_bytes()
    packed.path.unlink()
    packed.path.with_name(packed.path.name + ".zst").write_bytes(zstd.compress(data))
    for road in ROADS:
        sessions = found("needle", tmp_path, road=road)
        assert [len(session.hits) for session in sessions] == [1, 3]
        assert [hit.part for hit in sessions[1].hits] == ["prompt", "call", "result"]


def test_a_torn_archive_is_opened_to_know(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / ".codex")
    for number in range(400):
        rollout.turn(f"question {number} " + os.urandom(300).hex(), f"needle-{number}")
    data = zstd.compress(rollout.path.read_bytes())
    rollout.path.unlink()
    rollout.path.with_name(rollout.path.name + ".zst").write_bytes(data[: len(data) // 2])
    assert entries(found("needle-3", tmp_path)) == entries(found("needle-3", tmp_path, road="all"))


def test_a_small_archive_that_unpacks_to_a_huge_one_is_searched_as_far_as_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_FREE", 1 << 20)
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("a question", "the needle")
    data = rollout.path.read_bytes()
    rollout.path.unlink()
    rollout.path.with_name(rollout.path.name + ".zst").write_bytes(zstd.compress(data + b"x" * (8 << 20)))
    assert entries(found("needle", tmp_path)) == entries(found("needle", tmp_path, road="all"))


def test_claude_and_its_sub_agents(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("look for the needle")
    transcript.call("Bash", "c1", command="grep needle hay")
    transcript.result("c1", "needle not found", failed=True)
    transcript.boundary("## Summary\nthe needle")
    (session,) = found("needle", tmp_path)
    assert [hit.part for hit in session.hits] == ["prompt", "call", "result", "summary"]
    assert parts("needle error: tool:bash", tmp_path) == [("result", "needle")]


@pytest.mark.parametrize("road", ROADS)
def test_opencode_in_databases_and_files(tmp_path: Path, road: str) -> None:
    root = tmp_path / "opencode"
    talk = Conversation("ses_one")
    talk.ask("where is the needle?")
    talk.reply(said("in the hay"), call("bash", "the needle: 3\n", command="grep -c needle hay"))
    other = Conversation("ses_two")
    other.turn("nothing")
    database = Database(root)
    database.write(talk)
    database.write(other)
    old = Conversation("ses_old")
    old.ask("an old needle")
    write_tree(tmp_path / "older", old)
    before = files_of(root)
    hits = [(Path(path).name, part) for path, _, part, _ in entries(found("needle", tmp_path, road=road))]
    assert sorted(hits) == [
        ("ses_old.json", "prompt"), ("ses_one", "call"), ("ses_one", "prompt"), ("ses_one", "result"),
    ]  # fmt: skip
    assert files_of(root) == before


def test_messages_that_a_revert_deleted_are_found(tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    second = talk.ask("the needle")
    database = Database(tmp_path / "opencode")
    database.write(talk)
    database.remove(talk, second)
    for road in ROADS:
        assert [part for _, _, part, _ in entries(found("needle", tmp_path, road=road))] == ["prompt"]


def test_a_session_of_an_agent_that_nobody_knows_is_told(tmp_path: Path) -> None:
    PiFile(tmp_path / "a.jsonl").user("needle")
    (card,) = cards_in(tmp_path)
    search = searching("needle", [card._replace(agent="later")])
    assert list(search.run()) == []
    assert [one.reason for one in search.unread] == ["no agent 'later'"]


# --- copies and forks ---


def test_what_was_copied_is_found_where_it_was_said(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("the needle", "seen")
    original = transcript.path.read_bytes()
    source = transcript.path.stem
    copy = transcript.path.with_name("99999999-aaaa-4bbb-8ccc-dddddddddddd.jsonl")
    rows = [json.loads(line) for line in original.splitlines()]
    for row in rows:
        row["sessionId"] = copy.stem
        row["forkedFrom"] = {"sessionId": source, "messageUuid": row.get("uuid")}
    last = dict(rows[-1], uuid="99999999-0000-4000-8000-000000000000", parentUuid=rows[-1]["uuid"])
    last.pop("forkedFrom")
    last["message"] = {
        **last["message"],
        "id": "m9",
        "content": [{"type": "text", "text": "a needle of its own"}],
    }
    copy.write_text("".join(json.dumps(row) + "\n" for row in [*rows, last]))
    for road in ROADS:
        assert {
            Path(path).stem: part for path, _, part, _ in entries(found("needle", tmp_path, road=road))
        } == {
            source: "prompt",
            copy.stem: "reply",
        }
        search = searching("needle", cards_in(tmp_path), road)
        assert len(list(search.run())) == 2
        assert (search.copied_hits, search.copies) == (1, 1)
        # Searched alone, it is all there is.
        assert [part for _, _, part, _ in entries(found("needle", copy, road=road))] == ["prompt", "reply"]


def test_entries_that_only_share_an_id_are_no_copies(tmp_path: Path) -> None:
    first = PiFile(tmp_path / "first.jsonl", HEADER | {"id": "first"})
    first.user("a needle")
    fork = PiFile(tmp_path / "fork.jsonl", HEADER | {"id": "fork", "parentSession": str(first.path)})
    fork.user("another needle")
    assert {Path(path).stem for path, *_ in entries(found("needle", tmp_path))} == {"first", "fork"}


def test_a_fork_of_pi_repeats_nothing(tmp_path: Path) -> None:
    first = PiFile(tmp_path / "first.jsonl", HEADER | {"id": "first"})
    first.user("a needle")
    first.reply("yes")
    fork = PiFile(tmp_path / "fork.jsonl", HEADER | {"id": "fork", "parentSession": str(first.path)})
    lines = first.path.read_text().splitlines()[1:]
    for line in lines:
        fork.raw(line)
    fork.count, fork.leaf = 2, "00000002"
    fork.user("another needle")
    for road in ROADS:
        hits = entries(found("needle", tmp_path, road=road))
        assert sorted((Path(path).stem, entry) for path, entry, _, _ in hits) == [
            ("first", "00000001"), ("fork", "00000003"),
        ]  # fmt: skip
        assert len(entries(found("needle", fork.path, road=road))) == 2
        search = searching("needle", cards_in(tmp_path), road)
        assert len(list(search.run())) == 2
        assert (search.copied_hits, search.copies) == (1, 1)
        # Nor is what the words are only together found for told less.
        both = searching("needle yes", cards_in(tmp_path), road)
        assert [len(one.hits) for one in both.run()] == [2]
        assert (both.copied_hits, both.copies) == (2, 1)


@pytest.mark.parametrize("road", ROADS)
def test_a_command_of_claude_is_found_as_it_was_typed(tmp_path: Path, road: str) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(
        "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the pears</command-args>"
    )
    transcript.reply("They are ripe.")
    for query in ('"/review the pears"', '"review the pears"', "pears"):
        hits = [hit for one in found(query, tmp_path, road=road) for hit in one.hits]
        assert [hit.part for hit in hits] == ["prompt"], query
