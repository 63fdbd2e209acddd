"""Claude Code: sub-agents that were started by sub-agents."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude import subagents as spawning
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.claude.lineage import SourceFinder
from leafward.agents.claude.store import transcripts_in
from leafward.agents.claude.subagents import Spawners
from leafward.agents.claude.transcript import ClaudeReader
from leafward.base.config import Config
from leafward.catalogue.lineage import parents
from leafward.catalogue.listing import Catalogue
from leafward.context.model_context import context_at
from tests.claude_transcript import IDS, Transcript
from tests.foreign_sessions import problems

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = f"projects/-home-ada-orchard/{IDS[0]}/subagents"


def helper(home: Path, name: str, depth: int | None = None, call: str = "", below: str = "") -> Transcript:
    """A sub-agent of the first session, with what lies beside its transcript."""
    made = Transcript(home, f"agent-{name}", folder=FOLDER + below)
    made.defaults = {"isSidechain": True, "agentId": name, "sessionId": IDS[0]}
    made.turn("dig", "dug")
    if depth is not None:
        said = {"agentType": "x", "toolUseId": call, "spawnDepth": depth}
        made.path.with_suffix(".meta.json").write_text(json.dumps(said))
    return made


def starts(one: Transcript, call: str, name: str | None) -> None:
    """A call that starts a sub-agent, and its result where it has one."""
    one.call("Agent", call, prompt="dig")
    if name is not None:
        one.result(call, toolUseResult={"agentId": name, "status": "completed"})


def above(home: Path, index: Path) -> dict[str, str]:
    """Whom each sub-agent hangs under."""
    catalogue = Catalogue(Config(), [home], index_path=index)
    catalogue.refresh()
    names = {card.path: card.id for card in catalogue.cards()}
    return {names[path]: names[parent] for path, (parent, _) in parents(catalogue.cards()).items()}


def test_a_reply_below_a_row_that_was_never_written_follows_the_orders(tmp_path: Path) -> None:
    """2.1.48 and 2.1.77 keep what a SubagentStart hook added in memory only, and the first reply names it."""
    made = Transcript(tmp_path, "agent-a1", folder=FOLDER)
    made.defaults = {"isSidechain": True, "agentId": "a1", "sessionId": IDS[0]}
    made.prompt("dig")
    made.reply("let me see", "m1", parentUuid=IDS[18])
    made.call("Bash", "c1", "m1", command="ls")
    made.result("c1", "pears")
    made.reply("dug")
    session = made.opened()
    assert list(session.columns.parent) == [-1, 0, 1, 2]
    assert session.branches == 0
    assert problems(session) == {"orphan": 1}


@pytest.mark.parametrize("told", ["result", "call", "result alone", "clash"])
def test_a_sub_agent_hangs_under_the_one_that_started_it(tmp_path: Path, told: str) -> None:
    main = Transcript(tmp_path)
    main.prompt("go")
    starts(main, "toolu_1", "a1")
    with_meta = told != "result alone"
    first = helper(tmp_path, "a1", 1 if with_meta else None, "toolu_1")
    call = "toolu_1" if told == "clash" else "toolu_2"
    starts(first, call, None if told == "call" else "b2")
    helper(tmp_path, "b2", 2 if with_meta else None, call, "/workflows/w1")
    helper(tmp_path, "c3", 1 if with_meta else None, "toolu_3")
    assert above(tmp_path, tmp_path / "i") == {"agent-a1": IDS[0], "agent-b2": "agent-a1", "agent-c3": IDS[0]}


@pytest.mark.parametrize("by_shapes", [True, False])
def test_a_fork_goes_on_in_the_conversation_of_its_parent_and_counts_only_its_own_use(
    tmp_path: Path, *, by_shapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 2.1.332 writes it: a reference, the call that started it out of its parent's reply with all counts, and its orders."""
    if not by_shapes:
        monkeypatch.setattr(Rows, "feed", Rows.decode)
    main = Transcript(tmp_path)
    main.prompt("go " * 4000)
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "Agent",
        "input": {"prompt": "dig", "subagent_type": "fork"},
    }
    counted = {"input_tokens": 90_000, "output_tokens": 10}
    main.block(call, "msg_parents", usage=counted)
    made = Transcript(tmp_path, "agent-f1", folder=FOLDER)
    made.row(
        "fork-context-ref", agentId="f1", parentSessionId=IDS[0], parentLastUuid=main.tip, contextLength=2
    )
    made.defaults = {"isSidechain": True, "agentId": "f1", "sessionId": IDS[0]}
    made.block(call, "msg_parents", usage=counted)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "started"}
    made.row(
        "user",
        message={
            "content": [
                result,
                {
                    "type": "text",
                    "text": "<fork-boilerplate>\nYou are a fork.\n</fork-boilerplate>\n\nOrders: dig",
                },
            ]
        },
    )
    made.block(
        {"type": "text", "text": "dug"}, "msg_own", "end_turn", {"input_tokens": 91_000, "output_tokens": 5}
    )
    session = made.opened()
    assert context_at(session).missing == "earlier conversation, system prompt, tools"
    assert context_at(session).total == 91_005
    assert list(session.columns.damage) == []
    catalogue = Catalogue(Config(), [tmp_path], index_path=tmp_path / "i")
    catalogue.refresh()
    [card] = [one for one in catalogue.cards() if one.id == "agent-f1"]
    assert card.title == "dig"
    assert sum(day.tokens for day in catalogue.spent(card.path) if not day.copied) == 91_005


def test_who_wrote_to_it_later_did_not_start_it(tmp_path: Path) -> None:
    main = Transcript(tmp_path)
    main.prompt("go")
    first, second = helper(tmp_path, "a1", 1, "toolu_1"), helper(tmp_path, "b2", 2, "toolu_2")
    third = helper(tmp_path, "c3", 3, "toolu_3")
    starts(first, "toolu_2", "b2")
    starts(second, "toolu_3", "c3")
    starts(third, "toolu_4", "b2")
    starts(second, "toolu_5", "a1")
    assert above(tmp_path, tmp_path / "i") == {
        "agent-a1": IDS[0],
        "agent-b2": "agent-a1",
        "agent-c3": "agent-b2",
    }


def test_who_wrote_to_it_while_it_ran_did_not_start_it(tmp_path: Path) -> None:
    Transcript(tmp_path).turn("go", "gone")
    first = helper(tmp_path, "a1", 1, "toolu_1")
    helper(tmp_path, "b2", 2, "toolu_2")
    other = helper(tmp_path, "c3", 2, "toolu_3")
    starts(first, "toolu_2", None)
    starts(first, "toolu_3", "c3")
    starts(other, "toolu_4", "b2")
    assert above(tmp_path, tmp_path / "i")["agent-b2"] == "agent-a1"


@pytest.mark.parametrize("meta", ["", "[]", '{"spawnDepth": "2"}', '{"spawnDepth": 2, "toolUseId": null}'])
def test_where_nothing_says_who_it_is_the_session(tmp_path: Path, meta: str) -> None:
    Transcript(tmp_path).turn("go", "gone")
    helper(tmp_path, "a1", 1)
    helper(tmp_path, "b2").path.with_suffix(".meta.json").write_text(meta)
    assert above(tmp_path, tmp_path / "i") == {"agent-a1": IDS[0], "agent-b2": IDS[0]}


def test_the_folder_is_looked_through_once_and_what_did_not_change_is_not_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    opened: list[str] = []
    look, read = transcripts_in, spawning._read

    def looked(folder: str, *, of_subagents: bool) -> list[str]:
        looks.append(folder)
        return look(folder, of_subagents=of_subagents)

    def reads(path: str) -> spawning._Names:
        opened.append(os.path.basename(path))
        return read(path)

    monkeypatch.setattr(spawning, "transcripts_in", looked)
    monkeypatch.setattr(spawning, "_read", reads)
    now = 0.0
    spawners = Spawners(lambda: now)
    helpers = [helper(tmp_path, f"a{number}", 1 + (number > 0), f"toolu_{number}") for number in range(5)]
    for number in range(1, 5):
        starts(helpers[0], f"toolu_{number}", f"a{number}")

    def found() -> set[str]:
        names = set()
        for one in helpers[1:]:
            with closing(ClaudeReader(one.path, SourceFinder().origin, spawners.spawner)) as reader:
                names.add(str(reader.read(lambda: False).header.get("parentSession")))
        return names

    assert found() == {str(helpers[0].path)}
    assert (len(looks), len(opened)) == (1, 5)
    now = 60.0
    helpers[3].turn("more", "done")
    assert found() == {str(helpers[0].path)}
    assert (len(looks), opened[5:]) == (2, ["agent-a3.jsonl"])
