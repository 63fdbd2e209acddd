"""Claude Code: every version that lies in the corpora, and the same shapes in small."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from leafward.agents import agent_of, recognised
from leafward.catalog import Catalogue
from leafward.config import Config
from leafward.context import usage_total
from leafward.entries import DAMAGE_CODE, Kind, text_of
from leafward.errors import NotASession, Refused
from leafward.files import working_set
from leafward.headline import headline, title_of
from leafward.messages import prompt_text
from tests.claude_transcript import (
    CLAUDE,
    DATA,
    IDS,
    Recorded,
    Transcript,
    agree,
    opened,
    problems,
    projected,
)

if TYPE_CHECKING:
    from leafward.catalog import Card

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
PUBLIC = CORPORA / "public"
needs_corpora = pytest.mark.skipif(
    not (CORPORA / "claude").is_dir(), reason="the corpora are not beside the project"
)


class Expected(NamedTuple):
    """What a session of the corpora holds, from the specification and from looking at its rows."""

    session: str
    prompts: int
    replies: int
    branches: int = 0
    compactions: int = 0
    relation: str | None = None
    parent: str = ""
    inherited_prompts: int = 0
    name: str | None = None
    tokens: int | None = None
    """Input, cache and output of the last reply on the path."""


EXPECTED = {
    "v2.0.65": [
        Expected("0977d252", 3, 9, 0, 1),
        Expected("38715a80", 1, 2),
        Expected("46bd280c", 2, 4, 0, 1, "inferred", "0977d252", 1),
        Expected("4fced97c", 4, 6, 0, 1),
        Expected("5a83c760", 3, 11),
        Expected("6cdc705e", 1, 3),
        Expected("a17153cf", 4, 13, 0, 0, "inferred", "5a83c760", 3),
        Expected("d73d43c3", 1, 4),
        Expected("e776025b", 1, 2),
        Expected("f89f1ebd", 4, 13, 0, 0, "inferred", "5a83c760", 3),
    ],
    "v2.1.330": [
        Expected("1dd894bd", 2, 4, 0, 1, "fork", "67ca6781", 1),
        Expected("3bc992cf", 1, 3),
        Expected("5016a1ec", 3, 9, 1, 0, name="tree-demo"),
        Expected("50299cd4", 4, 13, 0, 0, "fork", "dd0209fa", 3),
        Expected("6546aa27", 4, 7),
        Expected("67ca6781", 3, 8, 0, 1),
        Expected("7c64f94e", 4, 7, 0, 1, name="auto-compact"),
        Expected("9fbc1b4d", 1, 3),
        Expected("bb91a5aa", 1, 2),
        Expected("d379888c", 5, 14, 1, 2, "fork", "5016a1ec", 2, "recursive-branch"),
        Expected("dd0209fa", 3, 11),
        Expected("e462ea94", 3, 9, name="calc-tree"),
        Expected("f572c2ad", 1, 4, name="Named session"),
        Expected("fea435c8", 4, 13, 0, 0, "fork", "dd0209fa", 3),
    ],
}
HELPERS = {"v2.0.65": (37, {"38715a80": "af760e7"}), "v2.1.330": (1, {"3bc992cf": "a0e0388fcd36a31b3"})}
"""Sub-agents of each version, and of those that were asked something whose they are."""


def cards_of(place: Path, index: Path) -> list[Card]:
    catalogue = Catalogue(Config(roots={"pi": (), "codex": ()}), [place], index_path=index)
    catalogue.refresh()
    assert not catalogue.trouble
    return catalogue.cards()


def tree_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything in a folder, to see that nothing was left in it."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@needs_corpora
@pytest.mark.parametrize("version", EXPECTED)
def test_every_session_of_the_corpora_with_its_branches(version: str, tmp_path: Path) -> None:
    before = tree_of(CORPORA / "claude" / version)
    cards = cards_of(CORPORA / "claude" / version / ".claude", tmp_path / "i")
    sessions = {card.id[:8]: card for card in cards if card.relation != "subagent"}
    assert sorted(sessions) == sorted(one.session for one in EXPECTED[version])
    paths = {card.path: card.id[:8] for card in cards}
    for one in EXPECTED[version]:
        card = sessions[one.session]
        assert (card.agent, card.problem, card.damage) == ("claude", None, 0), one
        assert (card.branches, card.compactions, card.relation, card.name, card.turns) == (
            one.branches,
            one.compactions,
            one.relation,
            one.name,
            one.prompts,
        ), one
        assert paths.get(card.parent or "", "") == one.parent
        session = opened(Path(card.path))
        kinds = session.columns.kind
        assert (kinds.count(Kind.USER), kinds.count(Kind.ASSISTANT)) == (one.prompts, one.replies), one
        assert kinds.count(Kind.USER, 0, session.inherited) == one.inherited_prompts, one
        assert Kind.UNKNOWN not in kinds
        assert set(problems(session)) <= {"missing-base"}, one
        assert len(list(session.tree.leaves())) == one.branches + 1
    helpers = [card for card in cards if card.relation == "subagent"]
    count, asked = HELPERS[version]
    assert len(helpers) == count
    assert all(card.problem is None and card.parent for card in helpers)
    awake = {
        Path(card.parent or "").stem[:8]: card.id.removeprefix("agent-")
        for card in helpers
        if not card.archived
    }
    assert awake == asked
    assert tree_of(CORPORA / "claude" / version) == before


@needs_corpora
def test_contexts_of_the_corpora_are_the_requests_that_were_recorded() -> None:
    compared = 0
    for path in sorted((CORPORA / "claude" / "v2.1.330").rglob("*.jsonl")):
        if path.name != "history.jsonl":
            compared += compare_with_requests(path)
    assert compared == 78


def compare_with_requests(path: Path) -> int:
    """Compares the context above every reply whose request was recorded with that request; returns how many there are."""
    session, recorded = opened(path), Recorded(path)
    compared = 0
    for index, kind in enumerate(session.columns.kind):
        if kind != Kind.ASSISTANT:
            continue
        reference = (session.body(index) or {})["source"].get("requestRef")
        if reference in recorded.requests:
            sent, ours = recorded.pieces(reference), projected(session, session.columns.parent[index])
            assert agree(sent, ours), (path.name, index)
            compared += 1
    return compared


def test_contexts_are_the_requests_that_were_recorded() -> None:
    paths = [path for path in sorted((DATA / "2.1.330").rglob("*.jsonl")) if path.stat().st_size]
    assert sum(map(compare_with_requests, paths)) == 38


PUBLIC_EXPECTED = {
    "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/large.jsonl": (4, 5, 0, {}),
    "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/schema_drift.jsonl": (1, 1, 0, {}),
    "daaain__claude-code-log/test/test_data/representative_messages.jsonl": (4, 5, 0, {"unterminated": 1}),
    "daaain__claude-code-log/test/test_data/todowrite_examples.jsonl": (2, 6, 0, {"unterminated": 1}),
    "daaain__claude-code-log/test/test_data/session_b.jsonl": (2, 1, 0, {"unterminated": 1}),
    "zippoxer__recall/tests/fixtures/.claude/projects/test-project/session.jsonl": (2, 2, 0, {}),
    "simonw__claude-code-transcripts/tests/sample_session.jsonl": (2, 3, 0, {}),
    "wesm__agentsview/internal/parser/testdata/claude/valid_session.jsonl": (2, 2, 0, {}),
    "kenn-io__agentsview/internal/parser/testdata/claude/truncated.jsonl": (1, 1, 0, {"malformed": 1}),
    "es617__claude-replay/test/fixture.jsonl": (3, 4, 0, {}),
    "ryoppippi__ccusage/apps/ccusage/test/fixtures/claude/projects/project-alpha/session-alpha/chat.jsonl": (
        0, 3, 0, {},
    ),
    "Dicklesworthstone__coding_agent_session_search/tests/fixtures/html_export/malformed/invalid_json.jsonl": (
        1, 2, 0, {"malformed": 2},
    ),
    "Dicklesworthstone__cross_agent_session_resumer/tests/fixtures/claude_code/cc_complex.jsonl": (1, 3, 0, {}),
    "Dicklesworthstone__cross_agent_session_resumer/tests/fixtures/claude_code/cc_malformed.jsonl": (
        2, 2, 0, {"malformed": 2},
    ),
}  # fmt: skip
"""Files of other projects: prompts, replies, branches, damage."""


@needs_corpora
@pytest.mark.parametrize("name", PUBLIC_EXPECTED)
def test_files_of_other_projects(name: str) -> None:
    prompts, replies, branches, damage = PUBLIC_EXPECTED[name]
    path = PUBLIC / name
    assert agent_of(path).name == "claude"
    session = opened(path)
    kinds = session.columns.kind
    found: dict[str, int] = {}
    for one in session.columns.damage.values():
        found[DAMAGE_CODE[one]] = found.get(DAMAGE_CODE[one], 0) + 1
    assert (kinds.count(Kind.USER), kinds.count(Kind.ASSISTANT), session.tree.branches(), found) == (
        prompts, replies, branches, damage,
    )  # fmt: skip
    problems(session)


@needs_corpora
def test_no_transcript_of_other_projects_is_too_much() -> None:
    for path in sorted(PUBLIC.rglob("*.jsonl")):
        if agent_of(path).name == "claude":
            session = opened(path)
            for index in range(len(session)):
                session.entry(index)
            problems(session)
            working_set(session)


# --- where sessions lie ---


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "2.0.65", tmp_path / ".claude"))


def test_roots_come_from_configuration_environment_and_home(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "x")}
    assert CLAUDE.roots(Config(), env) == (tmp_path / ".claude", tmp_path / "x" / "claude")
    env["CLAUDE_CONFIG_DIR"] = "~/one"
    assert CLAUDE.roots(Config(), env) == (tmp_path / "one",)
    env["CLAUDE_CONFIG_DIR"] = f"~/one,{tmp_path}/two"
    assert CLAUDE.roots(Config(), env) == (tmp_path / "one", tmp_path / "two")
    assert CLAUDE.roots(Config(roots={"claude": ("~/mine",)}), env) == (tmp_path / "mine",)


def test_a_store_is_found_by_its_roots_and_under_a_folder_that_is_named(home: Path, tmp_path: Path) -> None:
    by_root = Catalogue(
        Config(roots={"pi": (), "codex": (), "claude": (str(home),)}), index_path=tmp_path / "a"
    )
    by_root.refresh()
    found = {card.id for card in by_root.cards()}
    assert len(found) == 7
    assert "ce09c631-fb6a-462d-ab50-811d2929fb16" not in found
    for place in (tmp_path, home, home / "projects", home / "projects" / "-tmp-demo-project"):
        assert {card.id for card in cards_of(place, tmp_path / place.name)} == found


def test_sub_agents_of_all_layouts_hang_under_their_sessions(tmp_path: Path) -> None:
    main = Transcript(tmp_path)
    main.turn("go", "gone")
    beside = Transcript(tmp_path, "agent-12ab34")
    beside.defaults = {"isSidechain": True, "agentId": "12ab34", "sessionId": IDS[0]}
    beside.turn("look around", "seen")
    below = Transcript(tmp_path, "agent-77", folder=f"projects/-home-ada-orchard/{IDS[0]}/subagents")
    below.defaults = {"isSidechain": True, "agentId": "77", "sessionId": IDS[0]}
    below.turn("dig", "dug")
    deeper = Transcript(
        tmp_path, "agent-88", folder=f"projects/-home-ada-orchard/{IDS[0]}/subagents/workflows/w1"
    )
    deeper.turn("delve", "delved")
    sleeping = Transcript(tmp_path, "agent-99")
    sleeping.defaults = {"isSidechain": True, "agentId": "99", "sessionId": IDS[5]}
    sleeping.prompt("Warmup")
    (tmp_path / "history.jsonl").write_text("{}\n")
    cards = {card.id: card for card in cards_of(tmp_path, tmp_path / "i")}
    assert sorted(cards) == [IDS[0], "agent-12ab34", "agent-77", "agent-88", "agent-99"]
    for name, prompt in (("agent-12ab34", "look around"), ("agent-77", "dig"), ("agent-88", "delve")):
        card = cards[name]
        assert (card.relation, card.parent, card.title, card.branches) == (
            "subagent", str(main.path), prompt, 0,
        )  # fmt: skip
        assert not card.archived
    assert cards["agent-99"].archived
    with pytest.raises(Refused, match="sub-agent"):
        CLAUDE.resume(opened(below.path), {})


def test_a_side_line_in_the_file_is_no_branch_of_the_conversation(tmp_path: Path) -> None:
    main = Transcript(tmp_path)
    main.prompt("delegate")
    tip = main.call("Task", "c1", prompt="survey")
    main.defaults = {"isSidechain": True}
    main.prompt("survey", parentUuid=None)
    main.reply("two files")
    main.defaults = {}
    main.tip = tip
    main.result("c1", "two files")
    main.reply("done")
    session = main.opened()
    kinds = session.columns.kind
    assert kinds.count(Kind.USER) == 1
    roots = [index for index in range(len(session)) if session.columns.parent[index] < 0]
    assert len(roots) == 2
    assert (session.body(roots[1]) or {})["customType"] == "claude.subagent-prompt"
    assert session.place == len(session) - 1
    assert session.tree.branch_points() == []


def test_empty_and_merely_described_sessions(tmp_path: Path) -> None:
    empty = Transcript(tmp_path)
    with pytest.raises(NotASession, match="is empty"):
        CLAUDE.open(empty.path)
    told = Transcript(tmp_path, IDS[1])
    told.row("custom-title", customTitle="Only a name")
    told.row("mode", mode="normal")
    [card] = cards_of(tmp_path, tmp_path / "i")
    assert (card.id, card.title, card.messages, card.problem) == (IDS[1], "Only a name", 0, None)


# --- what is said of a session ---


def test_titles_in_their_order(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)

    def titled() -> tuple[str | None, str]:
        [card] = cards_of(tmp_path, tmp_path / f"i{transcript.number}")
        return card.name, card.title

    transcript.row("last-prompt", lastPrompt="what was typed last")
    assert titled() == (None, "what was typed last")
    leaf = transcript.turn("plant a tree", "planted")
    assert titled() == (None, "plant a tree")
    transcript.row("summary", summary="Another session", leafUuid="00000001-1111-4111-8111-000000000000")
    assert titled() == (None, "plant a tree")
    transcript.row("summary", summary="Trees", leafUuid=leaf)
    assert titled() == (None, "Trees")
    transcript.row("ai-title", aiTitle="Planting trees")
    assert titled() == (None, "Planting trees")
    transcript.row("agent-name", agentName="gardener")
    assert titled() == ("gardener", "gardener")
    transcript.row("custom-title", customTitle="Orchard")
    transcript.row("agent-name", agentName="gardener")
    assert titled() == ("Orchard", "Orchard")


def test_the_first_look_says_what_the_whole_says(tmp_path: Path) -> None:
    for path in sorted(DATA.rglob("*.jsonl")):
        if not path.stat().st_size:
            continue
        listing = next(one for one in CLAUDE.discover((path.parent,), lambda: False, []))
        if path.name not in listing.files:
            continue
        seen = CLAUDE.peek(listing.candidate(path.name))
        session = opened(path)
        assert seen is not None
        assert (seen.id, seen.name, seen.project) == (session.id, session.name, session.cwd)
        assert seen.relation in (session.header.get("relation"), None)


def test_a_session_that_begins_with_a_command_is_called_by_it(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    parts = ["<command-message>review is running…</command-message>", "<command-name>/review</command-name>"]
    transcript.prompt("\n".join([*parts, "<command-args>the  pears</command-args>"]))
    transcript.prompt("What /review expands to.", isMeta=True)
    transcript.reply("Fine.")
    listing = next(one for one in CLAUDE.discover((transcript.path.parent,), lambda: False, []))
    seen = CLAUDE.peek(listing.candidate(transcript.path.name))
    assert seen is not None
    assert seen.prompt == "/review the  pears"
    session = transcript.opened()
    assert headline(session, 0).text == title_of(session) == "/review the pears"
    catalogue = Catalogue(Config(), [tmp_path], index_path=tmp_path / "index")
    catalogue.refresh()
    assert [card.title for card in catalogue.cards()] == ["/review the pears"]
    transcript.turn("Thanks", "Welcome.")
    assert title_of(transcript.opened()) == "Thanks", "what was said counts first"


@pytest.mark.parametrize("apart", [False, True])
def test_what_an_editor_put_before_a_prompt_is_not_its_title(tmp_path: Path, *, apart: bool) -> None:
    """The model sees it all; titles, rows and what is offered again are what somebody typed."""
    put = "<ide_opened_file>The user opened\npears.ts in the IDE.</ide_opened_file>"
    transcript = Transcript(tmp_path)
    parts = [put, "Count the pears"]
    content = [{"type": "text", "text": part} for part in parts] if apart else "\n".join(parts)
    transcript.row("user", message={"role": "user", "content": content})
    transcript.reply("Seven.")
    transcript.turn("<ide_selection>alone</ide_selection>", "Fine.")
    listing = next(one for one in CLAUDE.discover((transcript.path.parent,), lambda: False, []))
    seen = CLAUDE.peek(listing.candidate(transcript.path.name))
    assert seen is not None
    assert seen.prompt == "Count the pears"
    session = transcript.opened()
    first, second = (index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER)
    assert headline(session, first).text == title_of(session) == "Count the pears"
    assert prompt_text(session.body(first) or {}) == "Count the pears"
    assert put in text_of((session.body(first) or {})["message"]["content"])
    assert headline(session, second).text == "<ide_selection>alone</ide_selection>"


def test_a_session_is_resumed_in_its_folder(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.reply("gone", cwd="/home/ada/elsewhere")
    resume = CLAUDE.resume(transcript.opened(), {"LEAFWARD_HOME": "x", "PATH": "y"})
    assert (resume.argv, resume.cwd) == (("claude", "--resume", IDS[0]), "/home/ada/orchard")
    assert resume.env_remove == ("LEAFWARD_HOME",)


def test_usage_is_that_of_the_last_row_of_a_reply_and_counts_once(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    for number in (1, 2, 9):
        usage = {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": number}
        transcript.block({"type": "text", "text": str(number)}, "msg_one", "end_turn", usage)
    session = transcript.opened()
    total = usage_total(session, range(len(session)))
    assert (total.input, total.cache_read, total.output, total.total) == (100, 50, 9, 159)


def test_what_is_recognised() -> None:
    assert recognised(b'{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"us') is CLAUDE
    assert recognised(b'{"type":"summary","summary":"x","leafUuid":"y"}\n') is CLAUDE
    assert recognised(b'{"type":"queue-operation","operation":"dequeue","sessionId":"s"}\n') is CLAUDE
    assert recognised(b'{"type": "user", "message": {"content": "hi"}}\n') is CLAUDE
    assert recognised(b'{"type":"user","message":{}}\n') is None
    pi = b'{"type":"session","version":3,"id":"a"}\n{"type":"message","message":{"role":"user","content":"x"}}\n'
    assert recognised(pi) is not CLAUDE
    assert recognised(b'{"timestamp":"t","type":"session_meta","payload":{"type":"user"}}\n') is not CLAUDE


# --- files ---


def test_files_by_the_tools_of_claude(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Read", {"file_path": "/home/ada/orchard/read.py"}),
        ("Write", {"file_path": "/home/ada/orchard/written.py", "content": "a\nb\n"}),
        ("Edit", {"file_path": "/home/ada/orchard/edited.py", "old_string": "a", "new_string": "b"}),
        ("MultiEdit", {"file_path": "many.py", "edits": [{"old_string": "a", "new_string": "b"}]}),
        ("NotebookEdit", {"notebook_path": "note.ipynb", "new_source": "x"}),
        ("Bash", {"command": "cat one.py"}),
        ("Bash", {"command": "sed -n 1,5p two.py"}),
        ("Bash", {"command": "rm three.py && cat four.py"}),
        ("Grep", {"pattern": "x", "path": "src"}),
        ("Glob", {"pattern": "*.py"}),
        ("Read", {"file_path": "missing.py"}),
    ]
    for number, (name, given) in enumerate(calls):
        transcript.call(name, f"c{number}", **given)
        transcript.result(f"c{number}", failed="missing" in str(given))
    found = working_set(transcript.opened())
    assert [one.path for one in found.read] == ["one.py", "read.py", "two.py"]
    assert [one.path for one in found.modified] == ["edited.py", "many.py", "note.ipynb", "written.py"]


def test_files_touched_are_found_in_bytes_too(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.call("Read", "c1", file_path="a.py")
    transcript.call("Bash", "c2", command="head -3 b.py")
    transcript.call("Edit", "c3", file_path="c.py", old_string="x", new_string="y")
    touched = [tuple(one) for one in CLAUDE.touched(transcript.path.read_bytes())]
    assert touched == [("a.py", False), ("b.py", False), ("c.py", True)]


def test_the_patch_of_an_edit_has_its_line_numbers(tmp_path: Path) -> None:
    from leafward.edits import hunks, table_of
    from leafward.entries import tool_calls

    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.call("Edit", "c1", file_path="a.py", old_string="x", new_string="y")
    hunk = {"oldStart": 40, "oldLines": 2, "newStart": 40, "newLines": 2, "lines": [" keep", "-x", "+y"]}
    transcript.result("c1", toolUseResult={"filePath": "a.py", "structuredPatch": [hunk]})
    session = transcript.opened()
    [call] = tool_calls((session.body(1) or {})["message"])
    [shown] = hunks(call, session.body(2), table_of(session))
    assert [(line.sign, line.number, line.text) for line in shown.lines] == [
        (" ", 40, "keep"), ("-", 41, "x"), ("+", 41, "y"),
    ]  # fmt: skip
    assert shown.exact
