"""New threads of Codex: which lines of which segments are copied, and another agent's session told as a rollout."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote
from typing import Any
from uuid import UUID

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import cut_at
from leafward.agents.registry import agent_named
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from tests.acting import Acting, call, reading
from tests.codex_rollout import CODEX, THREADS, Rollout, opened, zstd
from tests.forks import context, digests, made, terms, writable_copy
from tests.surroundings import THOROUGH

VERSIONS = ["v0.80.0", "v0.125.0", "v0.169.0"]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def home(tmp_path: Path) -> Path:
    return tmp_path / ".codex"


def texts(path: Path) -> list[str]:
    """Texts of the message items of a rollout."""
    return [
        record["payload"]["content"][0]["text"]
        for record in records(path)
        if record["type"] == "response_item" and record["payload"]["type"] == "message"
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_at_every_entry_of_every_thread_the_context_is_that_of_the_source(
    corpora: Path, tmp_path: Path, version: str
) -> None:
    """Forks, reverts, forks of reverted threads, sub-agents, archived ones, rollbacks, compactions of all kinds."""
    root = writable_copy(corpora / "codex" / version / ".codex", home(tmp_path))
    before = digests(root)
    compared = 0
    for listing in list(CODEX.discover((root,), lambda: False, [])):
        for name in listing.files:
            session = opened(Path(listing.folder, name))
            for entry in range(0, len(session), 1 if THOROUGH else 3):
                cut = cut_at(session, session.find(f"#{entry}"), CODEX.may_end)
                if not cut.legal or not session.columns.kind[entry]:
                    continue
                fork = made(session, entry, "codex", terms(tmp_path), tmp_path)
                copy = CODEX.open(fork.draft.path)
                try:
                    inside = "inside-compaction" in {one.code for one in fork.remarks}
                    there = cut.end if cut.prompt >= 0 or inside else entry
                    assert context(copy, copy.leaf) == context(session, there)
                    assert not copy.columns.damage
                finally:
                    copy.close()
                meta, *rest = records(fork.draft.path)
                described = meta["payload"]
                assert described["id"] == fork.draft.id
                assert described["source"] == "cli"
                assert not {"history_base", "parent_thread_id", "forked_from_ordinal_exclusive"} & set(
                    described
                )
                assert all(line["type"] != "session_meta" for line in rest)
                if described["history_mode"] == "paginated":
                    assert [line["ordinal"] for line in (meta, *rest)] == list(range(len(rest) + 1))
                else:
                    assert all("ordinal" not in line for line in (meta, *rest))
                fork.draft.path.unlink()
                compared += 1
    assert digests(root) == before
    assert compared > (40 if THOROUGH else 10)


def test_lines_are_copied_as_they_stand_up_to_the_turn_of_the_prompt(tmp_path: Path) -> None:
    rollout = Rollout(home(tmp_path))
    rollout.event("task_started", turn_id="t1")
    rollout.turn("one", "first")
    rollout.line("something_new", value=1.50)
    rollout.event("task_complete", turn_id="t1")
    wanted = rollout.size
    rollout.event("task_started", turn_id="t2")
    rollout.line("turn_context", model="m")
    rollout.turn("two", "second")
    session = rollout.opened()
    prompt = next(
        entry
        for entry in range(len(session))
        if "two" in str(session.body(entry)) and session.columns.kind[entry] == 3
    )
    fork = made(session, prompt, "codex", terms(tmp_path), tmp_path)
    _, _, copied = fork.draft.path.read_bytes().partition(b"\n")
    _, _, source = rollout.path.read_bytes()[:wanted].partition(b"\n")
    assert copied == source
    assert fork.prompt == "two"
    assert fork.draft.resume.argv == ("codex", "resume", "-C", "/home/ada/orchard", fork.draft.id)
    assert UUID(fork.draft.id).version == 7
    assert fork.draft.path.name.endswith(f"-{fork.draft.id}.jsonl")
    assert fork.draft.path.parent.parent.parent == home(tmp_path) / "sessions" / "2026"


def test_a_rollback_counts_from_its_marker_on(tmp_path: Path) -> None:
    rollout = Rollout(home(tmp_path))
    rollout.turn("one", "first")
    rollout.turn("two", "second")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("three", "third")
    session = rollout.opened()
    at = {
        str(message["content"][0]["text"]): index
        for index in range(len(session))
        if (message := (session.body(index) or {}).get("message"))
    }
    after = made(session, at["three"], "codex", terms(tmp_path), tmp_path)
    assert b"thread_rolled_back" in after.draft.path.read_bytes()
    before = made(session, at["second"], "codex", terms(tmp_path), tmp_path)
    assert b"thread_rolled_back" not in before.draft.path.read_bytes()
    for fork, said in ((after, ["one", "first"]), (before, ["one", "first", "two", "second"])):
        copy = opened(fork.draft.path)
        assert [message["content"][0]["text"] for _, message in context(copy, copy.leaf)] == said


def chain(tmp_path: Path) -> tuple[Rollout, Rollout, Rollout]:
    """A thread, a fork of it, and a fork of that one: each based on a part of the one before."""
    first = Rollout(home(tmp_path), first=0, history_mode="paginated")
    first.turn("one", "first")
    first.turn("never", "seen")
    second = Rollout(
        home(tmp_path),
        THREADS[1],
        minute=1,
        first=0,
        history_mode="paginated",
        history_base={"thread_id": THREADS[0], "end_ordinal_exclusive": 5},
    )
    second.turn("two", "second")
    third = Rollout(
        home(tmp_path),
        THREADS[2],
        minute=2,
        first=0,
        history_mode="paginated",
        history_base={"thread_id": THREADS[1], "end_ordinal_exclusive": 5},
    )
    third.turn("three", "third")
    return first, second, third


def test_a_chain_of_three_becomes_one_file(tmp_path: Path) -> None:
    _, _, third = chain(tmp_path)
    session = third.opened()
    fork = made(session, session.place, "codex", terms(tmp_path), tmp_path)
    assert texts(fork.draft.path) == ["one", "first", "two", "second", "three", "third"]
    assert [line["ordinal"] for line in records(fork.draft.path)] == list(range(13))
    assert records(fork.draft.path)[0]["payload"]["forked_from_id"] == THREADS[2]


def test_of_two_threads_in_a_paginated_file_one_is_copied(tmp_path: Path) -> None:
    """Codex sends nothing of the first one with the second: a fork that held both would send more than its source."""
    folders = home(tmp_path), tmp_path / "other"
    one, two = (
        Rollout(folder, thread, first=0, history_mode="paginated")
        for folder, thread in zip(folders, THREADS, strict=False)
    )
    one.turn("Count the pears", "Seven.")
    two.turn("Prune the trees", "Pruned.")
    one.raw(two.path.read_bytes())
    session = one.opened()
    first = next(
        index
        for index in range(len(session))
        if session.columns.parent[index] >= 0 and b"Seven." in session.raw(index)
    )
    for entry, said in (
        (session.leaf, ["Prune the trees", "Pruned."]),
        (first, ["Count the pears", "Seven."]),
    ):
        fork = made(session, entry, "codex", terms(tmp_path), tmp_path)
        assert texts(fork.draft.path) == said


def test_a_base_that_is_missing_is_named(tmp_path: Path) -> None:
    first, _, third = chain(tmp_path)
    first.path.unlink()
    session = third.opened()
    with pytest.raises(Refused, match=THREADS[0]):
        forking.fork(session, session.place, CODEX, terms(tmp_path))


def test_compressed_and_archived_sources(tmp_path: Path) -> None:
    rollout = Rollout(home(tmp_path), folder="archived_sessions")
    rollout.turn("one", "first")
    packed = rollout.path.with_name(f"{rollout.path.name}.zst")
    packed.write_bytes(zstd.compress(rollout.path.read_bytes()))
    rollout.path.unlink()
    session = opened(packed)
    fork = made(session, session.place, "codex", terms(tmp_path), tmp_path)
    assert fork.draft.path.is_relative_to(home(tmp_path) / "sessions")
    assert texts(fork.draft.path) == ["one", "first"]


def test_what_is_broken_is_left_out_and_what_is_glued_is_taken_apart(tmp_path: Path) -> None:
    rollout = Rollout(home(tmp_path), first=0, history_mode="paginated")
    rollout.prompt("one")
    rollout.raw(b'{"timestamp":"2026-11-21T10:00:09.000Z","ordi\0\0\0\0')
    rollout.raw(rollout.text_of("event_msg", type="agent_message", message="first").encode() + b"\n")
    rollout.said("first", "assistant")
    session = rollout.opened()
    fork = made(session, session.place, "codex", terms(tmp_path), tmp_path)
    assert texts(fork.draft.path) == ["one", "first"]
    assert [line["ordinal"] for line in records(fork.draft.path)] == list(range(5))
    assert "damaged-lines" in {one.code for one in fork.remarks}


def test_a_store_that_is_not_the_usual_one_is_named_in_the_command(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / "elsewhere" / ".codex")
    rollout.turn("one", "first")
    session = rollout.opened()
    fork = forking.fork(session, session.place, CODEX, terms(tmp_path))
    store = (("CODEX_HOME", str(tmp_path / "elsewhere" / ".codex")),)
    assert fork.draft.resume.env_set == CODEX.resume(session, terms(tmp_path).env).env_set == store
    assert f"CODEX_HOME={quote(store[0][1])} codex resume" in fork.draft.resume.line()
    assert fork.draft.path.is_relative_to(tmp_path / "elsewhere")


def test_what_is_put_in_is_a_message_at_the_end(tmp_path: Path) -> None:
    for paginated in (False, True):
        rollout = Rollout(
            home(tmp_path),
            THREADS[paginated],
            first=0 if paginated else None,
            history_mode="paginated" if paginated else "legacy",
        )
        rollout.turn("one", "first")
        session = rollout.opened()
        fork = made(session, session.place, "codex", terms(tmp_path, "Mind the pears."), tmp_path)
        assert texts(fork.draft.path) == ["one", "first", "Mind the pears."]
        numbers = [line.get("ordinal") for line in records(fork.draft.path)]
        assert numbers == (list(range(6)) if paginated else [None] * 6)


class TestFromPi:
    def fork(self, tmp_path: Path, name: str) -> tuple[forking.Fork, list[str]]:
        source = Path(__file__).parents[3] / "data" / "pi" / "sessions" / f"{name}.jsonl"
        session = agent_named("pi").open(source)
        try:
            fork = made(session, session.place, "codex", terms(tmp_path), tmp_path)
            said = [
                str(block["text"])
                for one in Conversation(session, fork.cut).portable_messages()
                for block in one.content
                if block["type"] == "text" and one.role != "result"
            ]
            return fork, [text for text in said if text]
        finally:
            session.close()

    @pytest.mark.parametrize("name", ["branches", "compacted-twice", "edits-and-extras", "version-1"])
    def test_all_that_was_said_and_done_is_told_in_order(self, tmp_path: Path, name: str) -> None:
        fork, said = self.fork(tmp_path, name)
        lines = records(fork.draft.path)
        assert [
            part["text"]
            for line in lines
            if line["type"] == "response_item" and line["payload"]["type"] == "message"
            for part in line["payload"]["content"]
            if "text" in part
        ] == said
        items = [line["payload"] for line in lines if line["type"] == "response_item"]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        assert calls == [item["call_id"] for item in items if item["type"] == "function_call_output"]
        assert len(set(calls)) == len(calls)
        meta = lines[0]["payload"]
        assert {"id", "timestamp", "cwd", "originator", "cli_version", "model_provider"} <= set(meta)
        assert meta["history_mode"] == "legacy"
        assert all("timestamp" in line for line in lines)

    def test_what_a_person_typed_is_an_event_too(self, tmp_path: Path) -> None:
        fork, _ = self.fork(tmp_path, "branches")
        events = [line["payload"]["type"] for line in records(fork.draft.path) if line["type"] == "event_msg"]
        assert events.count("task_started") == events.count("user_message") == events.count("task_complete")

    @pytest.mark.parametrize(
        ("settings", "provider"),
        [
            ('model_provider = "grove"\n', "grove"),
            ('profile = "p"\nmodel_provider = "grove"\n[profiles.p]\nmodel_provider = "glade"\n', "glade"),
            ('model_provider = ""\n', "openai"),
            ("model_provider = 3\n", "openai"),
        ],
    )
    def test_the_provider_is_the_users_own(self, tmp_path: Path, settings: str, provider: str) -> None:
        home(tmp_path).mkdir()
        (home(tmp_path) / "config.toml").write_text(settings)
        fork, _ = self.fork(tmp_path, "branches")
        assert records(fork.draft.path)[0]["payload"]["model_provider"] == provider

    def test_leafward_reads_it_back(self, tmp_path: Path) -> None:
        fork, said = self.fork(tmp_path, "branches")
        copy = opened(fork.draft.path)
        assert not copy.columns.damage
        read = [
            str(block["text"])
            for role, message in context(copy, copy.leaf)
            if role in ("user", "assistant")
            for block in message["content"]
            if block["type"] == "text" and block["text"]
        ]
        assert read == said

    @pytest.mark.parametrize(("size", "shortened"), [(12_000, False), (12_001, True)])
    def test_results_that_codex_may_shorten_are_said(
        self, tmp_path: Path, size: int, shortened: bool
    ) -> None:
        file = Acting(tmp_path / "long.jsonl")
        file.user("Read it")
        file.said("", call("read", "c1", path="long.txt"))
        file.answered("c1", "read", "x" * size)
        file.said("Done.")
        with reading(file.path) as session:
            fork = made(session, session.place, "codex", terms(tmp_path), tmp_path)
        texts = [one.text for one in fork.draft.remarks if one.code == "long-results"]
        assert texts == (
            ["1 result of more than 12,000 bytes: Codex may cut out the middle"] if shortened else []
        )
