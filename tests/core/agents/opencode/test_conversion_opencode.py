"""Sessions of other agents or of an older opencode, converted to a document for opencode's own import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.fork_draft import ForkTerms
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.branches import fork as forking
from leafward.session.entries import Kind
from tests.forks import NOW, PI_SESSIONS, at_home, texts
from tests.opencode_forks import busy, document, draft, imported
from tests.opencode_store import (
    OPENCODE,
    Conversation,
    Database,
    call,
    opened,
    said,
    write_tree,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_session_in_older_files_is_told_in_the_present_form(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask("Look")
    talk.reply(
        said("I look."),
        call("read", "aaa", number=1, filePath="/a"),
        call("bash", number=2, status="error", error="no", command="x"),
    )
    talk.reply(said("Seen."))
    for nested in (False, True):
        source = opened(write_tree(tmp_path / str(nested), talk, nested=nested))
        made = draft(source, source.place)
        body = document(made)
        assert "older-files" in {remark.code for remark in made.remarks}
        assert [message["info"]["role"] for message in body["messages"]] == ["user", "assistant", "assistant"]
        states = [part["state"] for part in body["messages"][1]["parts"] if part["type"] == "tool"]
        assert [state["status"] for state in states] == ["completed", "error"]
        assert (states[0]["output"], states[1]["error"]) == ("aaa", "no")
        copy = imported(body, tmp_path / f"copy{nested}")
        assert [text for _, text in texts(copy, copy.leaf)] == [
            text for _, text in texts(source, source.place)
        ]


def test_a_fork_of_older_files_says_that_only_the_context_comes_along(tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("Look")
    talk.compaction("A tree stands.")
    talk.turn("Feed it")
    source = opened(write_tree(tmp_path, talk))
    made = forking.fork(source, source.place, OPENCODE, ForkTerms({}, Config(), NOW), OPENCODE)
    assert made.holds == "3 messages of the context, the summary included"
    codes = {remark.code for remark in made.remarks}
    assert "counts-left" in codes
    assert "inherited-usage" not in codes
    copied = opened(Database(tmp_path / "newer").write(talk))
    made = forking.fork(copied, copied.place, OPENCODE, ForkTerms({}, Config(), NOW), OPENCODE)
    assert made.holds.endswith(", the history before the compaction included")
    assert "inherited-usage" in {remark.code for remark in made.remarks}


def test_what_another_agent_said_is_told_with_all_results(tmp_path: Path) -> None:
    pi = agent_named("pi")
    source = pi.open(PI_SESSIONS / "branches.jsonl")
    legal = [
        index
        for index, kind in enumerate(source.columns.kind)
        if kind in (Kind.ASSISTANT, Kind.TOOL_RESULT)
        and forking.cuts(source, index, (OPENCODE,))["opencode"].legal
    ]
    made = draft(source, legal[-1], at_home(HOME=str(tmp_path)), source="pi")
    body = document(made)
    required = {"parentID", "mode", "agent", "path", "cost", "tokens", "modelID", "providerID", "time"}
    stamps = [message["info"]["time"]["created"] for message in body["messages"]]
    assert stamps == sorted(stamps)
    for message in body["messages"]:
        info = message["info"]
        assert (
            required <= info.keys()
            if info["role"] == "assistant"
            else {"agent", "model", "time"} <= info.keys()
        )
        for part in message["parts"]:
            assert part["type"] in ("text", "tool", "file")
            if part["type"] == "tool":
                assert part["state"]["status"] in ("completed", "error")
    assert made.draft.path.parent == tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    copy = imported(body, tmp_path / "copy")
    results = [text for role, text in texts(source, legal[-1]) if role == "toolResult"]
    assert [text for role, text in texts(copy, copy.leaf) if role == "toolResult"] == results
    assert "model" in {remark.code for remark in made.remarks}
    source.close()


def test_the_model_that_goes_on_is_the_one_used_last(tmp_path: Path) -> None:
    base = Database(tmp_path / ".local" / "share" / "opencode")
    base.write(busy())
    base.execute("""UPDATE session SET model = '{"id":"plum-2","providerID":"grove"}'""")
    source = agent_named("pi").open(PI_SESSIONS / "branches.jsonl")
    made = draft(source, source.leaf, ForkTerms({"HOME": str(tmp_path)}, Config(), NOW), source="pi")
    models = [one["info"]["model"] for one in document(made)["messages"] if one["info"]["role"] == "user"]
    assert models
    assert all(model == {"providerID": "grove", "modelID": "plum-2"} for model in models)
    assert "model" not in {remark.code for remark in made.remarks}
    source.close()
