"""New sessions of opencode: documents for its own import, with fresh ids, and the commands that go with them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward import forking
from leafward.agents import agent_named
from leafward.agents.forking import Terms
from leafward.agents.opencode.documents import Ids
from leafward.agents.opencode.places import store_variables
from leafward.catalog import Catalogue
from leafward.catalog.keeping import keep
from leafward.config import Config
from leafward.context import context_at, message_body
from leafward.entries import Kind
from leafward.errors import Refused
from leafward.messages import message_text
from tests.opencode_store import (
    FOLDER,
    OPENCODE,
    START,
    Conversation,
    Database,
    call,
    files_of,
    opened,
    said,
    write_tree,
)

if TYPE_CHECKING:
    from leafward.session import Session

CORPORA = Path(__file__).parents[3] / "shared" / "corpora" / "opencode"
NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
STAMP = round(NOW.timestamp() * 1000)
_ID = re.compile(r"(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}\Z")


def terms(injected: str = "", **env: str) -> Terms:
    return Terms({"HOME": os.environ["HOME"], **env}, Config(), NOW, injected)


def draft(
    session: Session, entry: int, given: Terms | None = None, *, source: str = "opencode"
) -> forking.Fork:
    return forking.fork(session, entry, OPENCODE, given or terms(), agent_named(source))


def document(made: forking.Fork) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(made.draft.content()))
    return found


def imported(body: dict[str, Any], root: Path) -> Session:
    """What the import makes of a document, read again."""
    talk = Conversation(body["info"]["id"], at=body["info"]["time"]["created"])
    talk.info = {"directory": FOLDER, "title": body["info"]["title"], "version": body["info"]["version"]}
    talk.messages = [(one["info"], one["parts"]) for one in body["messages"]]
    return opened(Database(root).write(talk))


def at(session: Session, text: str, kind: Kind = Kind.USER) -> int:
    for index, found in enumerate(session.columns.kind):
        if found == kind and text in message_text((session.body(index) or {}).get("message", {})):
            return index
    raise LookupError(text)


def texts(session: Session, entry: int) -> list[tuple[str, str]]:
    context = context_at(session, entry)
    return [(one.role, message_text(message_body(session, one))) for one in context.messages]


def strings(value: object) -> set[str]:
    """Every text in a document."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in strings(one)}
    if isinstance(value, list):
        return {text for one in value for text in strings(one)}
    return {value} if isinstance(value, str) else set()


def busy() -> Conversation:
    """A session with calls made together, a compaction that keeps a tail, and turns behind it."""
    talk = Conversation()
    talk.ask(
        "Look at both", {"type": "file", "mime": "text/plain", "url": "data:text/plain,hi", "filename": "a"}
    )
    talk.reply(
        said("Both."),
        call("read", "aaa", number=1, filePath="/a"),
        call("read", "bbb", number=2, filePath="/b", attachments=[{"id": "prt_x", "messageID": "m", "sessionID": "s", "type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}]),
    )  # fmt: skip
    talk.reply(said("Seen."))
    tail = talk.turn("Keep")
    talk.compaction("So far: both.", tail)
    talk.turn("After")
    talk.turn("Last")
    return talk


# --- ids ---


def test_ids_ascend_in_the_order_they_are_asked_for() -> None:
    ids = Ids(b"seed")
    made = []
    for stamp in (START, START, START + 1, START - 5):
        made.append(ids.message(stamp, 3))
        made += [ids.part() for _ in range(3)]
    assert all(_ID.match(name) for name in made)
    numbers = [name.partition("_")[2][:12] for name in made]
    assert numbers == sorted(numbers)
    assert len(set(made)) == len(made)
    assert int(ids.message(START + 100)[4:16], 16) == (START + 100) * 4096 % (1 << 48)


def test_newer_sessions_sort_first_and_no_two_are_alike() -> None:
    one, two = Ids(b"one"), Ids(b"two")
    assert one.session(START + 1000) < one.session(START)
    assert one.session(START) != two.session(START)


def test_ids_of_one_message_never_begin_again_from_zero() -> None:
    wrap = (1 << 48) // 4096
    ids = Ids(b"seed")
    ids.message(wrap * 5 - 1, 4)
    ids = Ids(b"seed")
    name = ids.message(wrap * 5 - 1, 5000)
    parts = [ids.part() for _ in range(5000)]
    assert [name[4:16], *(part[4:16] for part in parts)] == sorted(
        [name[4:16], *(part[4:16] for part in parts)]
    )


# --- documents ---


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
        assert all(_ID.match(name) for name in (info["id"], *names))
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


def test_inside_a_turn_only_behind_all_results(tmp_path: Path) -> None:
    source = opened(Database(tmp_path).write(busy()))
    results = [index for index, kind in enumerate(source.columns.kind) if kind == Kind.TOOL_RESULT]
    with pytest.raises(Refused, match=r"1 tool call has no result here.*nearest legal entry"):
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
    body = document(draft(source, source.leaf, terms("Mind the pears.")))
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


# --- commands ---


def test_the_import_runs_in_the_folder_of_the_session(tmp_path: Path) -> None:
    source = opened(Database(tmp_path / "opencode").write(busy()))
    made = draft(source, source.leaf)
    found = made.draft.imported
    assert found is not None
    assert found.command.argv == ("opencode", "import", str(made.draft.file))
    assert found.undo.argv == ("opencode", "session", "delete", made.draft.id)
    assert found.command.cwd == found.undo.cwd == made.draft.resume.cwd == FOLDER
    assert made.draft.resume.argv == ("opencode", "-s", made.draft.id)
    assert dict(found.command.env_set) == dict(made.draft.resume.env_set) == {"XDG_DATA_HOME": str(tmp_path)}
    assert made.draft.path == tmp_path / "opencode" / "opencode.db" / made.draft.id
    assert made.draft.file.parent.is_relative_to(os.environ["LEAFWARD_HOME"])


@pytest.mark.parametrize(
    ("database", "env", "removed", "given"),
    [
        ("data/opencode/opencode.db", {}, (), {}),
        ("data/opencode/opencode.db", {"OPENCODE_DB": "other.db"}, ("OPENCODE_DB",), {}),
        ("data/opencode/other.db", {"OPENCODE_DB": "other.db"}, (), {}),
        ("data/opencode/opencode-dev.db", {}, (), {"OPENCODE_DB": "data/opencode/opencode-dev.db"}),
        ("else/opencode/opencode.db", {}, (), {"XDG_DATA_HOME": "else"}),
        ("else/store/opencode.db", {}, (), {"OPENCODE_DB": "else/store/opencode.db"}),
    ],
)
def test_variables_say_which_store_is_meant(
    tmp_path: Path, database: str, env: dict[str, str], removed: tuple[str, ...], given: dict[str, str]
) -> None:
    usual = str(tmp_path / "data" / "opencode")
    found = store_variables(str(tmp_path / database), usual, env)
    assert found == (removed, tuple((name, str(tmp_path / value)) for name, value in given.items()))


_STUB = """#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], os.getcwd(), os.environ["PWD"]]) + "\\n")
sys.stderr.write("it does not fit")
sys.exit(1 if sys.argv[1] == "import" and os.path.exists({fails!r}) else 0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the stub is a script")
def test_a_failed_import_is_taken_back(tmp_path: Path) -> None:
    folder, programs = tmp_path / "orchard", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    log, fails = tmp_path / "log", tmp_path / "fails"
    stub = programs / "opencode"
    stub.write_text(_STUB.format(python=sys.executable, log=str(log), fails=str(fails)), encoding="utf-8")
    stub.chmod(0o755)
    talk = busy()
    talk.info["directory"] = str(folder)
    source = opened(Database(tmp_path / "opencode").write(talk))
    made = draft(source, source.leaf)
    forking.store(source, made.draft)
    env = {"PATH": str(programs), "HOME": str(tmp_path)}
    forking.import_now(made.draft, env)
    fails.touch()
    with pytest.raises(Refused, match="it does not fit"):
        forking.import_now(made.draft, env)
    told = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    doing = [argv[0] for argv, _, _ in told]
    assert doing == ["import", "import", "session"]
    assert {(cwd, pwd) for _, cwd, pwd in told} == {(str(folder), str(folder))}
    assert json.loads(made.draft.file.read_bytes())["info"]["id"] == made.draft.id
    assert made.draft.file.stat().st_mode & 0o777 == 0o600


# --- from elsewhere ---


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


def test_what_another_agent_said_is_told_with_all_results(tmp_path: Path) -> None:
    pi = agent_named("pi")
    source = pi.open(Path(__file__).parents[1] / "data" / "pi" / "sessions" / "branches.jsonl")
    legal = [
        index
        for index, kind in enumerate(source.columns.kind)
        if kind in (Kind.ASSISTANT, Kind.TOOL_RESULT)
        and forking.cuts(source, index, (OPENCODE,))["opencode"].legal
    ]
    made = draft(source, legal[-1], terms(HOME=str(tmp_path)), source="pi")
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
    source = agent_named("pi").open(Path(__file__).parents[1] / "data" / "pi" / "sessions" / "branches.jsonl")
    made = draft(source, source.leaf, Terms({"HOME": str(tmp_path)}, Config(), NOW), source="pi")
    models = [one["info"]["model"] for one in document(made)["messages"] if one["info"]["role"] == "user"]
    assert models
    assert all(model == {"providerID": "grove", "modelID": "plum-2"} for model in models)
    assert "model" not in {remark.code for remark in made.remarks}
    source.close()


# --- stored sessions ---


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not beside the project")
def test_at_every_end_of_the_stored_sessions_the_context_is_the_same(tmp_path: Path) -> None:
    base = Path(shutil.copy(CORPORA / "v1.18.33" / "opencode" / "opencode.db", tmp_path / "opencode.db"))
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
