"""New sessions of opencode: which messages and parts stand in the document for its own import."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.catalogue.backups import keep
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.lookup import sighted
from leafward.session.entries import Kind
from tests.forks import NOW, at_home, texts
from tests.opencode_forks import ID, at, busy, document, draft, imported
from tests.opencode_store import (
    OPENCODE,
    START,
    Conversation,
    Database,
    call,
    files_of,
    opened,
    said,
)
from tests.surroundings import CORPORA, THOROUGH, needs_corpora

STAMP = round(NOW.timestamp() * 1000)


def strings(value: object) -> set[str]:
    """Every text in a document."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in strings(one)}
    if isinstance(value, list):
        return {text for one in value for text in strings(one)}
    return {value} if isinstance(value, str) else set()


def test_before_a_prompt_the_document_holds_everything_before_it(tmp_path: Path) -> None:
    talk = busy()
    source = opened(Database(tmp_path).write(talk))
    made = draft(source, at(source, "After?"))
    body = document(made)
    assert made.prompt == "After?"
    assert len(body["messages"]) == 7
    for message, (old, parts) in zip(body["messages"], talk.messages, strict=False):
        info = message["info"]
        assert {**info, "id": "", "sessionID": "", "parentID": ""} == {
            **old,
            "id": "",
            "sessionID": "",
            "parentID": "",
        }
        assert info["sessionID"] == body["info"]["id"]
        assert [part["type"] for part in message["parts"]] == [part["type"] for part in parts]
        assert {part["messageID"] for part in message["parts"]} == {info["id"]}
        names = [part["id"] for part in message["parts"]]
        assert names == sorted(names)
        assert all(ID.match(name) for name in (info["id"], *names))
    copy = imported(body, tmp_path / "copy")
    assert texts(copy, copy.leaf) == texts(source, source.columns.parent[at(source, "After?")])


def test_no_id_of_the_source_is_left(tmp_path: Path) -> None:
    talk = busy()
    source = opened(Database(tmp_path).write(talk))
    body = document(draft(source, source.leaf))
    lineage = body["info"].pop("metadata")["leafward"]
    old = {body["id"] for body, _ in talk.messages} | {
        part["id"] for _, parts in talk.messages for part in parts
    }
    assert not (old | {talk.id, "prt_x"}) & strings(body)
    assert lineage == {"forkedFrom": talk.id, "at": source.columns.id(source.leaf)}
    requests = [
        part for message in body["messages"] for part in message["parts"] if part["type"] == "compaction"
    ]
    names = [message["info"]["id"] for message in body["messages"]]
    assert [names.index(part["tail_start_id"]) for part in requests] == [3]
    users = [message["info"]["id"] for message in body["messages"] if message["info"]["role"] == "user"]
    assert all(
        one["info"]["parentID"] in users for one in body["messages"] if one["info"]["role"] == "assistant"
    )


def test_a_fork_of_what_nobody_named_is_called_as_the_catalogue_calls_it(tmp_path: Path) -> None:
    talk = busy()
    talk.info |= {"title": "New session - 2026-11-22T10:00:00.000Z"}
    source = opened(Database(tmp_path).write(talk))
    (card,) = sighted(Config(), (tmp_path,), {}, [])
    title = document(draft(source, source.leaf))["info"]["title"]
    assert title == f"{card.title} (fork)"
    assert "session" not in title


def test_the_session_is_a_new_one_of_its_own(tmp_path: Path) -> None:
    talk = busy()
    talk.info |= {"title": "Pears", "parentID": "ses_above", "archived": 5, "compacting": 5}
    base = Database(tmp_path)
    source = opened(base.write(talk))
    base.execute(
        'UPDATE session SET share_url = \'x\', permission = \'[{"permission":"question"}]\', model = \'{"id":"p"}\''
    )
    info = document(draft(source, source.leaf))["info"]
    assert info["time"] == {"created": STAMP, "updated": STAMP}
    assert info["title"] == "Pears (fork)"
    assert info["permission"] == [{"permission": "question"}]
    assert info["model"] == {"id": "p"}
    assert not {"revert", "share", "parentID"} & info.keys()
    assert {"id", "slug", "projectID", "directory", "title", "version", "time"} <= info.keys()


def test_a_column_that_holds_no_text_is_not_copied(tmp_path: Path) -> None:
    base = Database(tmp_path)
    source = opened(base.write(busy()))
    base.execute("UPDATE session SET slug = x'fffe00', version = x'00', title = x'ff', project_id = 7.5")
    info = document(draft(source, source.leaf))["info"]
    assert all(isinstance(info[name], str) for name in ("slug", "version", "title", "projectID"))


def test_inside_a_turn_only_behind_all_results(tmp_path: Path) -> None:
    source = opened(Database(tmp_path).write(busy()))
    results = [index for index, kind in enumerate(source.columns.kind) if kind == Kind.TOOL_RESULT]
    with pytest.raises(Refused, match=r"1 tool call has no result here.*nearest entry that works"):
        draft(source, results[0])
    with pytest.raises(Refused, match="2 tool calls have no result"):
        draft(source, source.columns.parent[results[0]])
    body = document(draft(source, results[1]))
    assert len(body["messages"]) == 2
    copy = imported(body, tmp_path / "copy")
    assert texts(copy, copy.leaf) == texts(source, results[1])


def test_what_a_revert_hides_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("One")
    hidden = talk.turn("Two")
    talk.info["revert"] = {"messageID": hidden}
    source = opened(Database(tmp_path).write(talk))
    body = document(draft(source, source.leaf))
    assert len(body["messages"]) == 2
    assert "revert" not in body["info"]
    branch = document(draft(source, at(source, "Two.", Kind.ASSISTANT)))
    assert len(branch["messages"]) == 4


def test_of_a_message_that_is_taken_back_in_part_the_rest_stays(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask("Look")
    half = talk.reply(said("First."), said("Second."))
    talk.info["revert"] = {"messageID": half, "partID": talk.messages[-1][1][2]["id"]}
    source = opened(Database(tmp_path).write(talk))
    parts = document(draft(source, source.leaf))["messages"][1]["parts"]
    assert [part.get("text") for part in parts] == [None, "First."]


def test_messages_that_a_revert_deleted_can_be_gone_back_to(tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("One")
    gone = [talk.ask("Gone?"), talk.reply(said("Gone."))]
    base = Database(tmp_path)
    base.write(talk)
    base.remove(talk, *gone)
    talk.turn("Instead")
    source = opened(base.write(talk))
    body = document(draft(source, at(source, "Gone.", Kind.ASSISTANT)))
    assert [message["parts"][-1]["text"] for message in body["messages"]] == [
        "One?",
        "One.",
        "Gone?",
        "Gone.",
    ]
    live = document(draft(source, source.leaf))
    assert [message["parts"][-1]["text"] for message in live["messages"]] == [
        "One?",
        "One.",
        "Instead?",
        "Instead.",
    ]


def test_an_output_that_was_cleared_later_is_whole_before_that(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask("Log")
    talk.reply(call("bash", "long output", number=1, command="log", compacted=START + 4500))
    talk.reply(said("Logged."))
    talk.turn("Two")
    talk.turn("Three")
    source = opened(Database(tmp_path).write(talk))
    for text in ("Two?", "Three?"):
        prompt = at(source, text)
        copy = imported(document(draft(source, prompt)), tmp_path / text[:-1])
        assert texts(copy, copy.leaf) == texts(source, source.columns.parent[prompt])
    assert "long output" in str(texts(source, source.columns.parent[at(source, "Two?")]))
    assert "long output" not in str(texts(source, source.leaf))


def test_what_is_put_in_is_a_synthetic_message_at_the_end(tmp_path: Path) -> None:
    source = opened(Database(tmp_path).write(busy()))
    body = document(draft(source, source.leaf, at_home("Mind the pears.")))
    last = body["messages"][-1]
    assert last["info"]["role"] == "user"
    assert [(part["text"], part["synthetic"]) for part in last["parts"]] == [("Mind the pears.", True)]
    assert last["info"]["time"]["created"] == STAMP > body["messages"][-2]["info"]["time"]["created"]


def test_a_broken_part_is_left_out_and_a_lost_session_is_refused(tmp_path: Path) -> None:
    talk = busy()
    base = Database(tmp_path)
    source_path = base.write(talk)
    part = talk.messages[0][1][1]["id"]
    base.execute("UPDATE part SET data = '{broken' WHERE id = ?", part)
    source = opened(source_path)
    made = draft(source, source.leaf)
    assert len(document(made)["messages"][0]["parts"]) == 1
    base.execute("DELETE FROM session")
    with pytest.raises(Refused, match="no longer in"):
        document(made)


def test_the_store_is_only_read(tmp_path: Path) -> None:
    source = opened(Database(tmp_path / "store").write(busy()))
    before = files_of(tmp_path / "store")
    document(draft(source, source.leaf))
    assert files_of(tmp_path / "store") == before


def test_what_was_imported_names_the_session_it_was_made_from(tmp_path: Path) -> None:
    base = Database(tmp_path)
    source = opened(base.write(busy()))
    body = document(draft(source, at(source, "Last?")))
    talk = Conversation(body["info"]["id"], at=STAMP)
    talk.messages = [(one["info"], one["parts"]) for one in body["messages"]]
    path = base.write(talk)
    base.execute(
        "UPDATE session SET metadata = ? WHERE id = ?", json.dumps(body["info"]["metadata"]), talk.id
    )
    copy = opened(path)
    assert copy.header["relation"] == "fork"
    assert copy.header["parentSession"] == str(base.path / source.id)
    assert copy.inherited == len(copy.columns), "what was copied counts once"


# --- stored sessions ---


@needs_corpora
def test_at_every_end_of_the_stored_sessions_the_context_is_the_same(tmp_path: Path) -> None:
    base = Path(
        shutil.copy(CORPORA / "opencode" / "v1.18.33" / "opencode" / "opencode.db", tmp_path / "opencode.db")
    )
    base.chmod(0o600)
    inside = OPENCODE.within(str(base))  # type: ignore[attr-defined]
    ends = 0
    for name in inside.files:
        source = opened(base / name)
        for entry, kind in enumerate(source.columns.kind):
            if kind not in (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.COMPACTION):
                continue
            cut = forking.cuts(source, entry, (OPENCODE,))["opencode"]
            if not cut.legal:
                continue
            ends += 1
            if not THOROUGH and ends % 3:
                continue
            copy = imported(document(draft(source, entry)), tmp_path / f"copy{ends}")
            at = source.columns.parent[entry] if kind == Kind.USER else entry
            assert texts(copy, copy.leaf) == texts(source, at), (name, entry)
    assert ends > 100


def test_a_fork_of_a_kept_copy_goes_where_opencode_looks(tmp_path: Path) -> None:
    talk = Conversation("ses_one")
    talk.ask("hello")
    talk.reply(said("yes"))
    root = tmp_path / "opencode"
    path = Database(root).write(talk)
    catalogue = Catalogue(Config(roots={"opencode": (str(root),)}))
    catalogue.refresh()
    (card,) = (one for one in catalogue.cards() if one.path == str(path))
    copy = keep(card).path
    shutil.rmtree(root)
    session = opened(copy)
    made = draft(session, len(session) - 1)
    assert made.draft.path.parent == Path(os.environ["HOME"]) / ".local/share/opencode/opencode.db"
    assert not any(name in ("OPENCODE_DB", "XDG_DATA_HOME") for name, _ in made.draft.resume.env_set)
    assert {text for text in strings(document(made)) if text in ("hello", "yes")} == {"hello", "yes"}


# --- what the last reply counted ---

FULL = {"input": 121_000, "output": 400, "reasoning": 0, "cache": {"read": 600, "write": 0}, "total": 122_000}


def filled(*, auto: bool) -> Conversation:
    """Two turns, of which the second fills the context, and a compaction."""
    talk = Conversation()
    talk.turn("One")
    talk.ask("Fill it")
    talk.reply(said("It is full."), tokens=FULL)
    talk.ask("Go on")
    talk.compaction("So far: full.", auto=auto)
    talk.turn("Two")
    return talk


def last_counts(made: forking.Fork) -> dict[str, Any]:
    return next(
        one["info"]["tokens"]
        for one in reversed(document(made)["messages"])
        if one["info"]["role"] == "assistant"
    )


def test_before_an_automatic_compaction_the_copy_counts_what_is_sent_there(tmp_path: Path) -> None:
    source = opened(Database(tmp_path).write(filled(auto=True)))
    for entry in (at(source, "It is full.", Kind.ASSISTANT), at(source, "Go on")):
        made = draft(source, entry)
        counts = last_counts(made)
        assert 0 < counts["input"] == counts["total"] < 100
        assert counts["cache"] == {"read": 0, "write": 0}
        [remark] = [one for one in made.draft.remarks if one.code == "recounted"]
        assert "122,000" in remark.text


def test_elsewhere_the_counts_are_those_that_were_recorded(tmp_path: Path) -> None:
    source = opened(Database(tmp_path / "a").write(filled(auto=False)))
    made = draft(source, at(source, "It is full.", Kind.ASSISTANT))
    assert last_counts(made) == FULL
    assert made.draft.remarks == ()
    source = opened(Database(tmp_path / "b").write(filled(auto=True)))
    for text in ("One.", "Two."):
        made = draft(source, at(source, text, Kind.ASSISTANT))
        assert last_counts(made)["cache"]["read"] == 40
        assert not [one for one in made.draft.remarks if one.code in ("recounted", "compacts-again")]


def test_what_would_be_compacted_again_all_the_same_is_said(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask("Fill it " * 3000)
    talk.reply(said("It is full."), tokens={**FULL, "input": 900, "total": 1200})
    talk.compaction("So far: full.", auto=True)
    source = opened(Database(tmp_path).write(talk))
    made = draft(source, at(source, "It is full.", Kind.ASSISTANT))
    assert [one.code for one in made.draft.remarks] == ["compacts-again"]
    assert last_counts(made)["total"] == 1200


def test_of_a_message_of_several_steps_those_behind_the_place_are_left_out(tmp_path: Path) -> None:
    """In 0.5 all replies to a prompt are one message, and a database that took it over still has it so."""
    talk = Conversation()
    talk.ask("Look at both")
    talk.reply(
        call("read", "aaa", number=1, filePath="/a"),
        {"type": "step-finish"},
        {"type": "step-start"},
        call("read", "bbb", number=2, filePath="/b"),
        {"type": "step-finish"},
        {"type": "step-start"},
        said("Both seen."),
    )
    source = opened(Database(tmp_path).write(talk))
    (first, second) = (at for at, kind in enumerate(source.columns.kind) if kind == Kind.TOOL_RESULT)
    for place, outputs in ((first, ["aaa"]), (second, ["aaa", "bbb"])):
        body = document(draft(source, place))
        parts = [part for message in body["messages"] for part in message["parts"]]
        assert [part["state"]["output"] for part in parts if part["type"] == "tool"] == outputs
        assert "Both seen." not in strings(body)
        copy = imported(body, tmp_path / f"copy{place}")
        assert texts(copy, copy.leaf) == texts(source, place)
    assert "Both seen." in strings(document(draft(source, source.leaf)))
