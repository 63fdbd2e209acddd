"""opencode: every generation that lies in the corpora, and the same shapes in small."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from leafward.agents.opencode.tools import OPENCODE_TOOLS
from leafward.catalog import Catalogue, parents, with_parents
from leafward.config import Config
from leafward.context import context_at, usage_total
from leafward.edits import hunks
from leafward.entries import Kind, tool_calls
from leafward.files import changed_files, working_set
from tests.opencode_store import (
    FOLDER,
    OPENCODE,
    Conversation,
    Database,
    call,
    files_of,
    opened,
    problems,
    said,
    shape,
    texts,
    write_tree,
)
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents import Listing
    from leafward.catalog import Card

NEWEST = CORPORA / "opencode" / "v1.18.33" / "opencode"
OLDER = CORPORA / "opencode" / "v1.0.185" / "opencode"


class Expected(NamedTuple):
    """What a session of the corpora holds, from the specification and from looking at its rows."""

    session: str
    prompts: int
    branches: int = 0
    compactions: int = 0
    relation: str | None = None
    inherited_prompts: int = 0
    edits: int = 0
    archived: bool = False


EXPECTED = {
    NEWEST: [
        Expected("ses_e0019d59", 3),
        Expected("ses_e0019b66", 4, relation="inferred", inherited_prompts=3),
        Expected("ses_e0019ad1", 4, relation="inferred", inherited_prompts=3),
        Expected("ses_e0019a3a", 1),
        Expected("ses_e0019948", 1),
        Expected("ses_e001983f", 1),
        Expected("ses_e00197c8", 1, relation="subagent"),
        Expected("ses_e001974a", 1),
        Expected("ses_e0019672", 3, compactions=1),
        Expected("ses_e0019387", 6, compactions=2),
        Expected("ses_e0019264", 2, relation="inferred", inherited_prompts=1),
        Expected("ses_e0019257", 7, compactions=2, relation="inferred", inherited_prompts=6),
        Expected("ses_e0019245", 3, branches=1),
        Expected("ses_e0019204", 3, branches=1),
        Expected("ses_e00191d7", 1, archived=True),
        Expected("ses_e00191c9", 1),
        Expected("ses_e00191ad", 4, edits=1),
        Expected("ses_e0018a69", 4, compactions=1, edits=1),
    ],
    OLDER: [
        Expected("ses_e0016bdf", 3),
        Expected("ses_e0016b51", 1),
        Expected("ses_e0016b4d", 1, relation="subagent"),
        Expected("ses_e0016b22", 1),
        Expected("ses_e0016af1", 3, compactions=1),
    ],
}


def cards_in(place: Path, tmp_path: Path) -> list[Card]:
    catalogue = Catalogue(Config(), [place], index_path=tmp_path / "index")
    catalogue.refresh()
    assert not catalogue.trouble
    cards = catalogue.cards()
    return with_parents(cards, parents(cards))


def session_in(place: Path, name: str) -> Path:
    found = [Path(one.folder, file) for one in _listed(place) for file in one.files if file.startswith(name)]
    assert len(found) == 1
    return found[0]


def _listed(*roots: Path) -> list[Listing]:
    return list(OPENCODE.discover(roots, lambda: False, []))


@needs_corpora
@pytest.mark.parametrize("store", EXPECTED)
def test_every_session_of_the_corpora_with_its_branches(store: Path, tmp_path: Path) -> None:
    before = files_of(store)
    cards = {card.id[:12]: card for card in cards_in(store, tmp_path)}
    assert sorted(cards) == sorted(one.session for one in EXPECTED[store])
    for one in EXPECTED[store]:
        card = cards[one.session]
        assert (card.agent, card.problem, card.damage) == ("opencode", None, 0), one
        assert (card.branches, card.compactions, card.turns) == (
            one.branches,
            one.compactions,
            one.prompts,
        ), one
        assert (card.relation, card.archived) == (one.relation, one.archived), one
        assert card.size > 0
        session = opened(Path(card.path))
        kinds = session.columns.kind
        assert kinds.count(Kind.USER) == one.prompts, one
        assert kinds.count(Kind.USER, 0, session.inherited) == one.inherited_prompts, one
        assert kinds.count(Kind.CONTEXT_EDIT) == one.edits, one
        assert problems(session) == [], one
        for index in range(len(session)):
            assert session.entry(index).body
    assert files_of(store) == before


@needs_corpora
def test_forks_and_subagents_name_the_session_they_come_from(tmp_path: Path) -> None:
    cards = {card.id[:12]: card for card in cards_in(NEWEST, tmp_path)}

    def above(session: str) -> str:
        return Path(str(cards[session].parent)).name[:12]

    assert above("ses_e0019b66") == above("ses_e0019ad1") == "ses_e0019d59"
    assert above("ses_e0019264") == above("ses_e0019257") == "ses_e0019387"
    assert above("ses_e00197c8") == "ses_e001983f"


@needs_corpora
def test_the_kept_tail_follows_the_summary() -> None:
    sent = texts(opened(session_in(NEWEST, "ses_e0018a69")))
    assert sent[0] == "custom: What did we do so far?"
    assert sent[1].startswith("compactionSummary: ## Objective")
    assert sent[2].startswith("assistant: bash(")
    assert sent[3].startswith("toolResult: log 0")
    assert [line for line in sent if line.startswith("user")] == [
        "user: Explain what src/calc.py does",
        "user: What is left to do?",
        "user: Try the recursive approach to factorial",
    ]


@needs_corpora
def test_a_summary_without_a_tail_stands_for_everything_before_it() -> None:
    for place, session in ((NEWEST, "ses_e0019672"), (OLDER, "ses_e0016af1")):
        sent = texts(opened(session_in(place, session)))
        assert sent[0] == "custom: What did we do so far?"
        assert sent[1].startswith("compactionSummary: ## ")
        assert sent[2].startswith("custom: Continue if you have next steps")
        assert not any("Fill the context" in line for line in sent)


@needs_corpora
def test_pruned_outputs_are_cleared_from_when_they_were_pruned() -> None:
    session = opened(session_in(NEWEST, "ses_e00191ad"))
    cleared = [line for line in texts(session) if line.startswith("toolResult: [Old tool result")]
    assert len(cleared) == 5
    first_edit = session.columns.kind.index(Kind.CONTEXT_EDIT)
    assert not any("[Old tool" in line for line in texts(session, context_at(session, first_edit - 1)))


@needs_corpora
def test_files_of_the_corpora() -> None:
    used = working_set(opened(session_in(NEWEST, "ses_e0019a3a")))
    assert not used.modified
    assert "does_not_exist.py" not in [one.path for one in used.read]
    used = working_set(opened(session_in(NEWEST, "ses_e0019d59")))
    assert [one.path for one in used.modified] == ["README.md", "src/calc.py"]


@needs_corpora
def test_public_samples_open(tmp_path: Path) -> None:
    samples = {
        "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/opencode": 3,
        "Dicklesworthstone__coding_agent_session_search/tests/fixtures/opencode_json": 1,
    }
    for name, count in samples.items():
        catalogue = Catalogue(Config(), [CORPORA / "public" / name], index_path=tmp_path / name)
        catalogue.refresh()
        cards = catalogue.cards()
        assert [card.agent for card in cards] == ["opencode"] * count
        for card in cards:
            session = opened(Path(card.path))
            assert len(session) >= 2
            assert (context_at(session).size.total > 0) == ("drift" not in card.id)
            problems(session)


# --- the same shapes in small ---


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "opencode"


def in_database(root: Path, talk: Conversation) -> Path:
    return Database(root).write(talk)


def in_old_database(root: Path, talk: Conversation) -> Path:
    return Database(root, old=True).write(talk)


def in_files(root: Path, talk: Conversation) -> Path:
    return write_tree(root, talk)


def in_oldest_files(root: Path, talk: Conversation) -> Path:
    return write_tree(root, talk, nested=True)


EVERYWHERE = pytest.mark.parametrize("write", [in_database, in_old_database, in_files, in_oldest_files])


@EVERYWHERE
def test_a_message_is_an_entry_and_so_is_the_result_of_each_call(
    write: Callable[[Path, Conversation], Path], root: Path, tmp_path: Path
) -> None:
    talk = Conversation()
    talk.ask("Prune the trees", {"type": "agent", "name": "general"})
    talk.reply(
        {"type": "reasoning", "text": "Which ones?"},
        said("I look."),
        call("read", "1: pears", filePath=f"{FOLDER}/trees.txt", number=1),
        call("glob", "trees.txt", pattern="*", number=2),
        {"type": "patch", "hash": "abc", "files": []},
    )
    talk.reply(said("Done."), {"type": "hologram", "shape": "pear"})
    path = write(root, talk)
    before = files_of(root)
    session = opened(path)
    assert shape(session) == [
        "user -1", "assistant 0", "toolResult 1", "toolResult 2", "assistant 3", "unknown 4",
    ]  # fmt: skip
    assert [session.columns.id(index) for index in (0, 1, 4)] == [body["id"] for body, _ in talk.messages]
    assert session.columns.id(2) == talk.messages[1][1][3]["id"]
    reply = session.entry(1)
    assert [block["type"] for block in reply.message["content"]] == [
        "thinking",
        "text",
        "toolCall",
        "toolCall",
    ]
    assert (reply.message["provider"], reply.message["model"]) == ("grove", "pear-1")
    assert reply.message["stopReason"] == "toolUse"
    assert [part["type"] for part in reply.body["source"]["parts"]] == ["step-start", "patch"]
    assert session.entry(0).body["source"]["parts"][0]["name"] == "general"
    assert session.entry(2).message["toolName"] == "read"
    assert session.entry(5).type == "opencode.hologram"
    assert session.entry(5).body["data"]["shape"] == "pear"
    assert session.cwd == FOLDER
    assert (session.id, session.title, session.name) == ("ses_one", "Prune the pear trees", None)
    usage = usage_total(session, range(len(session)))
    assert (usage.input, usage.cache_read, usage.total, usage.cost) == (200, 80, 300, 0.5)
    assert b"hologram" in session.raw(5)
    assert session.reader.origin(4).path.exists()
    assert [one.path for one in working_set(session).read] == ["trees.txt"]
    assert problems(session) == ["unknown-record"]
    assert session.notes[0].text == "records that are not known, kept as they are: part hologram (1)"
    card = cards_in(root, tmp_path)[0]
    assert (card.id, card.turns, card.messages, card.entries, card.title) == (
        "ses_one", 1, 5, 6, "Prune the pear trees",
    )  # fmt: skip
    assert files_of(root) == before


def test_what_nobody_typed_is_told_apart(root: Path) -> None:
    talk = Conversation()
    talk.message(
        "user",
        [said("Read trees.txt", synthetic=True), said("What is it?"), said("Mind the bees", synthetic=True)],
    )
    talk.reply(said("A list."))
    talk.message("user", [said("The following tool was executed by the user", synthetic=True)])
    talk.reply(call("bash", "trees.txt", command="ls"))
    talk.message(
        "user", [{"type": "subtask", "prompt": "Count", "description": "Count trees", "agent": "general"}]
    )
    talk.message("user", [said("A notice", ignored=True), said("Go on")])
    session = opened(Database(root).write(talk))
    assert shape(session) == [
        "injected -1", "user 0", "injected 1", "assistant 2", "custom_message 3", "assistant 4",
            "toolResult 5", "custom_message 6", "user 7",
    ]  # fmt: skip
    assert session.entry(0).body["customType"] == "opencode.synthetic"
    assert session.entry(4).body["customType"] == "opencode.shell"
    assert session.entry(7).body["customType"] == "opencode.subtask"
    assert session.entry(7).body["details"]["description"] == "Count trees"
    assert texts(session)[-1] == "user: Go on"
    assert session.entry(8).body["source"]["parts"][0]["text"] == "A notice"


def test_attachments(root: Path) -> None:
    talk = Conversation()
    picture = {
        "type": "file",
        "mime": "image/png",
        "filename": "tree.png",
        "url": "data:image/png;base64,iVBO",
    }
    talk.ask(
        "Look",
        picture,
        {"type": "file", "mime": "application/pdf", "filename": "map.pdf", "url": "file:///map.pdf"},
    )
    talk.reply(call("read", "Image read", filePath="tree.png", attachments=[picture]))
    session = opened(Database(root).write(talk))
    content = session.entry(0).message["content"]
    assert content[1] == {"type": "image", "data": "iVBO", "mimeType": "image/png", "name": "tree.png"}
    assert content[2]["text"] == "[file map.pdf, application/pdf]"
    assert session.entry(2).message["content"][1]["type"] == "image"


def test_order_is_that_of_time_also_where_ids_begin_again(root: Path) -> None:
    turn = (1 << 36) * 26
    talk = Conversation(at=turn - 2500)
    for name in ("one", "two", "three"):
        talk.turn(name)
    names = [body["id"] for body, _ in talk.messages]
    assert names != sorted(names)
    for path in (Database(root).write(talk), write_tree(root / "files", talk)):
        sent = texts(opened(path))
        assert sent == [
            line for name in ("one", "two", "three") for line in (f"user: {name}?", f"assistant: {name}.")
        ]


def test_parts_of_a_message_stay_in_order_where_ids_begin_again(root: Path) -> None:
    talk = Conversation()
    talk.message("user", [said("first"), said("second"), said("third")])
    for part, number in zip(
        talk.messages[0][1], ("ffffffffffff", "000000000001", "000000000002"), strict=True
    ):
        part["id"] = f"prt_{number}00000000000000"
    assert texts(opened(Database(root).write(talk))) == ["user: first second third"]


def test_failed_and_stopped_replies(root: Path) -> None:
    talk = Conversation()
    talk.ask("Edit it")
    talk.reply(
        call("edit", filePath="a.txt", oldString="a", newString="b", number=1),
        call("bash", status="error", error="Tool execution aborted", command="cat b.txt",
             metadata={"interrupted": True, "output": "half of it"}, number=2),
        error={"name": "MessageAbortedError", "data": {"message": "stopped"}},
    )  # fmt: skip
    talk.ask("Again")
    talk.reply(said("I began"), error={"name": "APIError", "data": {"message": "overloaded"}})
    talk.ask("And again")
    talk.reply({"type": "reasoning", "text": "Hm"}, error={"name": "MessageAbortedError"})
    talk.ask("Now")
    session = opened(Database(root).write(talk))
    assert texts(session) == [
        "user: Edit it",
        "assistant: edit(filePath=a.txt, oldString=a, newString=b) bash(command=",
        "toolResult: done",
        "toolResult: half of it",
        "user: Again",
        "user: And again",
        "user: Now",
    ]
    stopped, failed = session.entry(1).message, session.entry(5).message
    assert (stopped["stopReason"], failed["stopReason"], failed["errorMessage"]) == (
        "aborted",
        "error",
        "overloaded",
    )
    assert [one.path for one in working_set(session).modified] == ["a.txt"]
    assert not working_set(session).read
    assert problems(session) == []


def test_calls_that_never_ended(root: Path) -> None:
    talk = Conversation()
    talk.ask("Run it")
    talk.reply(call("bash", status="running", command="cat a.txt"))
    store = Database(root)
    path = store.write(talk)
    session = opened(path)
    assert shape(session) == ["user -1", "assistant 0"]
    assert problems(session) == ["dangling-call"]
    talk.ask("And now?")
    store.write(talk)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    assert texts(session)[-2:] == ["toolResult: [Tool execution was interrupted]", "user: And now?"]
    assert not working_set(session).read


def test_tools_and_the_files_they_name(root: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.txt\n+pear\n*** Update File: old.txt\n@@\n-a\n+b\n*** End Patch"
    )
    talk = Conversation()
    talk.ask("Work")
    talk.reply(
        call("write", filePath=f"{FOLDER}/w.txt", content="a\nb\n", number=1),
        call("multiedit", filePath="m.txt", edits=[{"oldString": "a", "newString": "b"}], number=2),
        call("apply_patch", patchText=patch, number=3),
        call("bash", "a", command="cat c.txt", workdir="sub", number=4),
        call("bash", "a", command="sed -n 1,5p s.txt", number=5),
        call("bash", "", command="cat gone.txt", metadata={"exit": 1}, number=6),
        call("bash", "a", command="cat p.txt | wc", number=7),
        call("read", status="error", error="File not found", filePath="lost.txt", number=8),
        call("list", "a", path="listed", number=9),
        call("grep", "a", pattern="x", path="grepped", number=10),
    )
    session = opened(Database(root).write(talk))
    used = working_set(session)
    assert [one.path for one in used.modified] == ["m.txt", "new.txt", "old.txt", "w.txt"]
    assert [one.path for one in used.read] == ["s.txt", "sub/c.txt"]
    failed = session.entry(7).message
    assert (failed["isError"], failed["exitCode"]) == (True, 1)


def test_a_file_that_a_command_changed_is_known_by_the_snapshots(root: Path) -> None:
    talk = Conversation()
    talk.ask("Work")
    talk.reply(
        call("edit", filePath="m.txt", oldString="a", newString="b", number=1),
        call("bash", "", command="make list", metadata={"exit": 2}, number=2),
        {"type": "patch", "hash": "abc", "files": [f"{FOLDER}/m.txt", f"{FOLDER}/list.txt", 7]},
        {"type": "patch", "hash": "abc", "files": 7},
    )
    talk.reply(said("Done."), {"type": "patch", "hash": "abd", "files": [f"{FOLDER}/by-somebody.txt"]})
    session = opened(Database(root).write(talk))
    used = working_set(session)
    assert [(one.path, one.entries) for one in used.modified] == [("list.txt", (3,)), ("m.txt", (1,))]
    assert {one.path: one.edits for one in changed_files(session, range(len(session)))} == {
        "list.txt": 1,
        "m.txt": 1,
    }


def test_an_edit_is_shown_with_the_lines_of_the_file(root: Path) -> None:
    patch = "Index: a\n====\n--- a\n+++ a\n@@ -3,3 +3,4 @@\n one\n-two\n+zwei\n+drei\n four\n\\ No newline at end of file\n"
    talk = Conversation()
    talk.ask("Edit")
    talk.reply(call("edit", filePath="a", oldString="two", newString="zwei\ndrei", metadata={"diff": patch}))
    session = opened(Database(root).write(talk))
    result = session.entry(2)
    assert result.message["details"]["diff"] == " 3 one\n-4 two\n+4 zwei\n+5 drei\n 5 four"
    made = hunks(tool_calls(session.entry(1).message)[0], result.body, OPENCODE_TOOLS)
    assert [(line.sign, line.number, line.text) for line in made[0].lines][1:3] == [
        ("-", 4, "two"),
        ("+", 4, "zwei"),
    ]
    assert made[0].exact
    assert [(one.added, one.removed) for one in changed_files(session, range(3))] == [(2, 1)]
