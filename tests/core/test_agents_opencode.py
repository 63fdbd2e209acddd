"""opencode: every generation that lies in the corpora, and the same shapes in small."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from leafward.agents import agent_of, names_one, recognised, within
from leafward.agents.opencode.tools import OPENCODE_TOOLS
from leafward.catalog import Catalogue, find_session, parents, with_parents
from leafward.config import Config
from leafward.context import context_at, usage_total
from leafward.edits import hunks
from leafward.entries import Kind, tool_calls
from leafward.errors import NotFound, Refused
from leafward.files import changed_files, working_set
from tests.opencode_store import (
    FOLDER,
    OPENCODE,
    START,
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents import Listing
    from leafward.catalog import Card

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
NEWEST = CORPORA / "opencode" / "v1.18.33" / "opencode"
OLDER = CORPORA / "opencode" / "v1.0.185" / "opencode"
needs_corpora = pytest.mark.skipif(not NEWEST.is_dir(), reason="the corpora are not beside the project")


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
        catalogue = Catalogue(
            Config(), [CORPORA / "public" / name], index_path=tmp_path / name.replace("/", "-")
        )
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
    assert (session.id, session.name) == ("ses_one", "Prune the pear trees")
    usage = usage_total(session, range(len(session)))
    assert (usage.input, usage.cache_read, usage.total, usage.cost) == (200, 80, 300, 0.5)
    assert b"hologram" in session.raw(5)
    assert session.reader.origin(4).path.exists()
    assert [one.path for one in working_set(session).read] == ["trees.txt"]
    assert problems(session) == []
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
        "custom_message -1", "user 0", "custom_message 1", "assistant 2", "custom_message 3", "assistant 4",
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


def test_titles_that_nobody_gave_are_none(root: Path, tmp_path: Path) -> None:
    talk = Conversation(title="New session - 2026-01-01T00:00:00.000Z")
    talk.turn("Which pears")
    assert opened(Database(root).write(talk)).name is None
    assert cards_in(root, tmp_path)[0].title == "Which pears?"
    glimpse = OPENCODE.peek(_listed(root)[0].candidate("ses_one"))
    assert glimpse is not None
    assert (glimpse.name, glimpse.prompt, glimpse.project) == (None, "Which pears?", FOLDER)


def test_where_stores_are_looked_for(tmp_path: Path) -> None:
    config, home = Config(), {"HOME": str(tmp_path)}
    usual = tmp_path / ".local" / "share" / "opencode"
    assert OPENCODE.roots(config, home) == (usual,)
    assert OPENCODE.roots(config, {**home, "XDG_DATA_HOME": "/data"}) == (Path("/data/opencode"),)
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": ":memory:"}) == (usual,)
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": "/other/mine.sqlite"}) == (
        usual,
        Path("/other/mine.sqlite"),
    )
    assert OPENCODE.roots(config, {**home, "OPENCODE_DB": "mine.sqlite"}) == (usual, usual / "mine.sqlite")
    assert OPENCODE.roots(Config(roots={"opencode": ("~/x",)}), home) == (tmp_path / "x",)


def test_databases_of_all_channels_and_one_named_by_the_environment(root: Path) -> None:
    for number, name in enumerate(("opencode.db", "opencode-dev.db", "mine.sqlite")):
        talk = Conversation(f"ses_{number}")
        talk.turn("one")
        Database(root, name=name).write(talk)
    Database(root, name="other.db")
    found = {
        (Path(one.folder).name, name) for one in _listed(root, root / "mine.sqlite") for name in one.files
    }
    assert found == {("opencode.db", "ses_0"), ("opencode-dev.db", "ses_1"), ("mine.sqlite", "ses_2")}


def test_a_session_in_both_is_the_databases_and_files_alone_are_listed_too(
    root: Path, tmp_path: Path
) -> None:
    store = Database(root)
    both, alone, hollow = Conversation("ses_both"), Conversation("ses_alone"), Conversation("ses_hollow")
    for talk in (both, alone, hollow):
        talk.turn("one")
        write_tree(root, talk)
    store.write(both)
    store.write(hollow, keep=0)
    cards = {card.id: card for card in cards_in(root, tmp_path)}
    assert cards["ses_both"].path == str(store.path / "ses_both")
    assert cards["ses_alone"].path.endswith("storage/session/global/ses_alone.json")
    assert cards["ses_hollow"].path.endswith("storage/session/global/ses_hollow.json")
    assert len(cards) == 3
    env = {"HOME": str(tmp_path)}
    assert OPENCODE.resume(opened(Path(cards["ses_both"].path)), env).argv == ("opencode", "-s", "ses_both")
    with pytest.raises(Refused, match="older opencode"):
        OPENCODE.resume(opened(Path(cards["ses_alone"].path)), env)


def test_a_half_imported_session_says_so(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.turn("two")
    write_tree(root, talk)
    session = opened(Database(root).write(talk, keep=2))
    assert problems(session) == ["half-imported"]
    assert "2 messages" in session.notes[0].text


def test_resume_runs_in_the_sessions_folder(root: Path) -> None:
    talk = Conversation(directory=str(root))
    talk.turn("one")
    session = opened(Database(root).write(talk))
    resume = OPENCODE.resume(session, {"LEAFWARD_HOME": "x", "PATH": "y"})
    assert (resume.argv, resume.cwd, resume.env_remove) == (
        ("opencode", "-s", "ses_one"),
        str(root),
        ("LEAFWARD_HOME",),
    )
    assert session.read_only is None


def test_a_path_into_a_database_names_a_session(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    store = Database(root)
    path = store.write(talk)
    assert agent_of(path) is OPENCODE
    assert agent_of(store.path) is OPENCODE
    assert names_one(path)
    assert not names_one(store.path)
    listing = within(store.path)
    assert listing is not None
    assert list(listing.files) == ["ses_one"]
    assert within(store.path / "ses_two") is None
    config = Config(roots={"opencode": (str(root),), "codex": (), "pi": ()})
    assert find_session(str(path), config).path == path
    assert find_session("ses_on", config).path == path
    with pytest.raises(NotFound, match="holds 1 session"):
        find_session(str(store.path), config)
    with pytest.raises(NotFound):
        find_session(str(store.path / "ses_two"), config)


def test_only_files_that_describe_sessions_are_recognised(root: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    path = write_tree(root, talk)
    assert recognised(path.read_bytes()[:4096]) is OPENCODE
    for other in root.rglob("msg_*.json"):
        assert recognised(other.read_bytes()[:4096]) is None
    for other in root.rglob("prt_*.json"):
        assert recognised(other.read_bytes()[:4096]) is None
    assert OPENCODE.recognises(b'{"id":"ses_x","title":"t","summary":{"diffs":[' + b" " * 5000)


def test_a_listing_of_an_unchanged_store_reads_no_session(root: Path, tmp_path: Path) -> None:
    store = Database(root)
    talks = [Conversation(f"ses_{number}", at=START + number) for number in range(3)]
    for talk in talks:
        talk.turn("one")
        store.write(talk)
    write_tree(root, Conversation("ses_file"))

    def work() -> int:
        catalogue = Catalogue(Config(), [root], index_path=tmp_path / "index")
        catalogue.refresh()
        assert len(catalogue.cards()) == 4
        return catalogue.work.read_whole

    assert work() == 4
    assert work() == 0
    talks[1].turn("two")
    store.write(talks[1])
    assert work() == 1
    store.execute("UPDATE session SET time_archived = 5 WHERE id = 'ses_2'")
    assert work() == 1
    # What lies elsewhere stays in the index as long as its database is there.
    elsewhere = Catalogue(Config(), [tmp_path / "nothing"], index_path=tmp_path / "index")
    elsewhere.index.changed = True
    elsewhere.save()
    assert work() == 0


def test_only_the_session_that_changed_is_read_again(root: Path) -> None:
    store = Database(root)
    one, two = Conversation("ses_one"), Conversation("ses_two", at=START + 5)
    for talk in (one, two):
        talk.turn("first")
    session = opened(store.write(one))
    store.write(two)
    assert not session.changed_on_disk()
    assert session.refresh() is None
    one.turn("second")
    store.write(one)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    os.unlink(store.path)
    assert not session.changed_on_disk()
    assert session.gone
    assert texts(session)[-1] == "assistant: second."


def test_a_tree_of_files_that_grows_is_followed(root: Path) -> None:
    talk = Conversation()
    talk.turn("first")
    session = opened(write_tree(root, talk))
    assert session.refresh() is None
    talk.turn("second")
    write_tree(root, talk)
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
