"""opencode: rows and parts in shapes that the stored sessions do not have. All is shown, and one session hides no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.opencode.entries.parts import usage_of
from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from tests.opencode_store import START, Conversation, Database, call, opened, said, texts, write_tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("time", ["'2026-01-01'", "9e999", "1e300", "NULL", "X'00ff'", "-1"])
@pytest.mark.parametrize("column", ["message.time_created", "session.time_updated", "part.time_created"])
def test_a_time_that_is_none_hides_no_session(root: Path, tmp_path: Path, time: str, column: str) -> None:
    store = Database(root)
    talks = [Conversation("ses_one"), Conversation("ses_two", at=START + 60_000)]
    for talk in talks:
        talk.turn("Count pears")
        store.write(talk)
    table, name = column.split(".")
    which = "id" if table == "session" else "session_id"
    store.run(f"UPDATE {table} SET {name} = {time} WHERE {which} = 'ses_one'")
    catalogue = Catalogue(Config(), [root], index_path=tmp_path / "index")
    catalogue.refresh()
    catalogue.refresh()
    assert {card.id for card in catalogue.cards()} == {"ses_one", "ses_two"}
    for talk in talks:
        assert sorted(texts(opened(store.path / talk.id))) == [
            "assistant: Count pears.",
            "user: Count pears?",
        ]


def test_what_calls_are_given_and_return_need_be_no_objects_and_texts(root: Path) -> None:
    talk = Conversation()
    talk.ask("Count")
    one, two = call("count", number=1), call("count", number=2)
    one["state"].update(input="pears", output={"pears": 7})
    two["state"].update(input=None, output=None)
    talk.reply(one, two)
    assert texts(opened(Database(root).write(talk)))[1:] == [
        "assistant: count(input=pears) count()",
        'toolResult: {"pears":7}',
        "toolResult: ",
    ]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("it broke", "it broke"),
        ({"name": "APIError", "data": {"message": {"deep": 1}}}, "APIError"),
        ({"code": 5}, '{"code":5}'),
    ],
)
def test_errors_of_every_type_are_said(root: Path, error: Any, words: str) -> None:
    talk = Conversation()
    talk.ask("Count")
    talk.reply(said("I began"), error=error)
    message = opened(Database(root).write(talk)).entry(1).message
    assert (message["stopReason"], message["errorMessage"]) == ("error", words)


@pytest.mark.parametrize("cost", [-1, "0.5", None])
def test_what_is_no_cost_counts_as_none(root: Path, cost: Any) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.ask("two?")
    talk.reply(said("two."), cost=cost)
    session = opened(Database(root).write(talk))
    assert [session.entry(index).message["usage"]["cost"]["total"] for index in (1, 3)] == [0.25, 0]


@pytest.mark.parametrize("kind", [{}, ["text"], 5, None])
def test_a_type_need_be_no_text(root: Path, kind: Any) -> None:
    talk = Conversation()
    talk.ask("Count", {"type": kind, "text": "odd"})
    talk.reply(said("Seven."), {"type": kind})
    talk.message(kind, [said("odd")])
    assert texts(opened(Database(root).write(talk))) == ["user: Count", "assistant: Seven."]


@pytest.mark.parametrize("number", ["NULL", "'x'", "X'00'", "1.5"])
def test_events_without_a_number_are_passed_over(root: Path, number: str) -> None:
    store = Database(root)
    talk = Conversation()
    talk.turn("one")
    talk.turn("two")
    path = store.write(talk)
    store.remove(talk, *[body["id"] for body, _ in talk.messages[2:]])
    store.run(f"UPDATE event SET seq = {number} WHERE seq % 3 = 1")
    assert texts(opened(path)) == ["user: one?", "assistant: one."]


@pytest.mark.parametrize("name", ["../../elsewhere", "/elsewhere", "..", "a\0b", "\ud800", "", 5])
@pytest.mark.parametrize("nested", [False, True])
def test_an_id_that_names_no_folder_leads_nowhere(root: Path, name: Any, *, nested: bool) -> None:
    talk = Conversation()
    talk.turn("one")
    path = write_tree(root, talk, nested=nested)
    elsewhere = root / "elsewhere" / "prt_x.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text(json.dumps(said("secret")))
    for file in [path, *root.rglob("msg_*.json")]:
        file.write_text(json.dumps(json.loads(file.read_text()) | {"id": name}))
    assert texts(opened(path)) == ["user: one?", "assistant: one."]


def test_what_stands_in_a_message_of_an_unknown_role_is_shown(root: Path) -> None:
    talk = Conversation()
    talk.message("gardener", [said("Seven pears")])
    body = opened(Database(root).write(talk)).body(0) or {}
    assert [part["text"] for part in body["data"]["parts"]] == ["Seven pears"]


@pytest.mark.parametrize(
    ("tokens", "output", "total"),
    [
        ({"input": 100, "output": 20, "reasoning": 15}, 20, 120),
        ({"input": 100, "output": 20, "reasoning": 15, "total": 120}, 20, 120),
        ({"input": 100, "output": 20, "reasoning": 15, "total": 135}, 35, 135),
        ({"input": 100, "output": 20, "cache": {"read": 40}, "reasoning": 15, "total": 175}, 35, 175),
    ],
)
def test_reasoning_is_part_of_the_output_where_the_total_has_it_beside(
    tokens: dict[str, Any], output: int, total: int
) -> None:
    """Versions that record a total write the output without it; what is sent with a request is the total less the output."""
    usage = usage_of({"tokens": tokens})
    assert usage is not None
    assert (usage["output"], usage["totalTokens"], usage["reasoning"]) == (output, total, 15)


@pytest.mark.parametrize("field", ["input", "output", "reasoning", "total"])
def test_a_count_below_zero_is_none(field: str) -> None:
    usage = usage_of(
        {"tokens": {"input": 100, "output": 20, "reasoning": 0, "cache": {"write": -3}, field: -1}}
    )
    assert usage is not None
    parts = [usage[key] for key in ("input", "output", "cacheRead", "cacheWrite")]
    assert min(parts) >= 0
    assert usage["totalTokens"] == sum(parts)
