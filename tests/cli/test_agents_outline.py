"""Output of `tree` and its kin for other agents' sessions: ids that can be typed, tasks of sub-agents, endless compacting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.export.documents.lanes import Lanes
from tests.claude_transcript import IDS, NO_USAGE, Transcript
from tests.codex_rollout import THREADS, Rollout, over_and_over
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_ids_that_begin_alike_are_shown_as_far_as_they_differ(done: Run, tmp_path: Path) -> None:
    """Ids of opencode begin with the time: eight characters name none of them."""
    file = PiFile(tmp_path / "alike.jsonl")
    parent = None
    for number in range(4):
        name = f"msg_1ffe6d9{number}a001ioPpQImADB2PkH"
        message = {"role": "user", "content": f"Count pear {number}", "timestamp": 1}
        file.entry("message", parent, id=name, message=message)
        parent = name
    for verb in ("tree", "context"):
        lines = [line for line in done(verb, file.path).out.splitlines() if "Count pear" in line]
        names = [line.split()[0] for line in lines[-4:]]
        assert names == [f"msg_1ffe6d9{number}" for number in range(4)]
    shown = done("show", file.path, "msg_1ffe6d92").out
    assert "Count pear 2" in shown


def test_a_cost_that_nobody_recorded_is_not_said_to_be_nothing(done: Run, tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    rollout.reply("Seven.", 3000)
    out = done("context", rollout.path).out
    assert "spent on this path 100 tokens, in the session 100 tokens" in out
    assert "$" not in out
    assert "inherited" not in out


def test_both_sizes_of_a_compaction_hold_what_is_not_in_the_file(done: Run, tmp_path: Path) -> None:
    """Claude Code sends a prompt and tools, which its transcripts do not hold: the first count tells how large they are."""
    counted = Transcript(tmp_path)
    counted.turn("Count the pears", "Seven.")
    counted.boundary("Pears were counted.")
    assert "compaction  15 → ~14" in done("tree", counted.path).out
    noted = Transcript(tmp_path, IDS[1])
    noted.prompt("Count the pears")
    noted.reply("Seven.", usage=NO_USAGE)
    noted.boundary("Pears were counted.")
    assert "compaction  900 → ~5 + not in file" in done("tree", noted.path).out


def test_a_turn_that_compacts_over_and_over_is_folded(done: Run, tmp_path: Path) -> None:
    rollout = over_and_over(tmp_path)
    out = done("tree", rollout.path).out
    assert "380 compactions more" in out
    assert out.count("◆") == 2
    assert "How many are there?" in out
    entries = done("tree", rollout.path, "--entries").out
    assert entries.count("◆") == 382


def test_compactions_that_something_is_said_of_keep_their_rows(done: Run, tmp_path: Path) -> None:
    """The leaf, a label and a place where a branch leaves are no repetition."""
    file = PiFile(tmp_path / "often.jsonl")
    first = file.user("Count the pears")
    last = [file.entry("compaction", summary="Pears.", firstKeptEntryId=first) for _ in range(30)][-1]
    middle = f"{16:08x}"
    file.entry("label", targetId=middle, label="the one")
    out = done("tree", file.path).out
    assert "[the one]" in next(line for line in out.splitlines() if line.startswith(middle))
    assert "12 compactions more" in out
    assert any(line.startswith(last) and "◎" in line for line in out.splitlines())


def test_the_prompt_of_a_sub_agent_is_its_task(done: Run, tmp_path: Path) -> None:
    """Another agent wrote it: it is not the user who speaks there."""
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": THREADS[1], "depth": 1}}}
    rollout = Rollout(tmp_path, source=spawned)
    rollout.turn("List the pears", "Seven.")
    rollout.turn("And the apples?", "Two.")
    lines = done("tree", rollout.path).out.splitlines()
    assert any("task  List the pears" in line for line in lines)
    assert not any("task  And the apples?" in line for line in lines)
    assert "## Task" in done("export", rollout.path, "--format", "md").out
    plain = Rollout(tmp_path, THREADS[2])
    plain.turn("List the pears", "Seven.")
    assert "task" not in done("tree", plain.path).out


def test_a_session_without_a_name_is_called_by_its_first_prompt(done: Run, tmp_path: Path) -> None:
    file = PiFile(tmp_path / "nameless.jsonl")
    file.user("Count the pears " * 20)
    head = done("tree", file.path).out.splitlines()[0]
    assert head.startswith("Count the pears Count the pears")
    assert str(HEADER["cwd"]) in head


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_what_lies_below_a_leaf_in_the_middle_is_a_branch_and_ends(
    done: Run, tmp_path: Path, turns: int
) -> None:
    """A rewind that nobody went on from: the conversation stands in the middle of one line."""
    transcript = Transcript(tmp_path)
    early = transcript.turn("Plant pears", "Planted.")
    for number in range(turns):
        transcript.turn(f"Plant plums {number}", "Planted.")
    transcript.row("last-prompt", leafUuid=early, explicit=True, rewound=True, cutUuid=early)
    session = transcript.opened()
    assert session.columns.id(session.place) == early[:8]
    lanes = list(Lanes(session, session.place).lanes())
    assert [lane.after for lane in lanes] == [-1, session.place]
    assert sorted(index for lane in lanes for index in lane.entries) == list(range(len(session)))
    for options in ((), ("--entries",)):
        out = done("tree", transcript.path, *options).out
        assert all(out.count(f"Plant plums {number}") == 1 for number in range(turns))
