"""Claude Code: where sessions lie, what is said of them, and what their calls did to files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from leafward.agents.recognition import recognised
from leafward.base.config import Config
from leafward.base.errors import NotASession, Refused
from leafward.catalogue.listing import Catalogue
from leafward.cli.main import main
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.doctor.session_problems import check
from leafward.files.working_set import working_set
from leafward.session.entries import Kind, text_of
from leafward.session.headlines.entry_headline import headline
from leafward.session.headlines.session_title import title_of
from leafward.session.messages import prompt_text
from tests.claude_transcript import (
    CLAUDE,
    DATA,
    IDS,
    Transcript,
    opened,
)
from tests.core.catalogued import cards_by_id, cards_in


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
        assert {card.id for card in cards_in(place, tmp_path / place.name)} == found


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
    cards = cards_by_id(tmp_path, tmp_path / "i")
    assert sorted(cards) == [IDS[0], "agent-12ab34", "agent-77", "agent-88", "agent-99"]
    for name, prompt in (("agent-12ab34", "look around"), ("agent-77", "dig"), ("agent-88", "delve")):
        card = cards[name]
        assert (card.relation, card.parent, card.title, card.branches) == (
            "subagent", str(main.path), prompt, 0,
        )  # fmt: skip
        assert not card.warm_up
    assert cards["agent-99"].warm_up
    assert not cards["agent-99"].archived
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
    assert session.branches == 0
    assert headline(session, roots[1]).word == "task"
    assert "several-roots" not in [problem.code for problem in check(session)]


def test_empty_and_merely_described_sessions(tmp_path: Path) -> None:
    empty = Transcript(tmp_path)
    with pytest.raises(NotASession, match="is empty"):
        CLAUDE.open(empty.path)
    told = Transcript(tmp_path, IDS[1])
    told.row("custom-title", customTitle="Only a name")
    told.row("mode", mode="normal")
    [card] = cards_in(tmp_path, tmp_path / "i")
    assert (card.id, card.title, card.messages, card.problem) == (IDS[1], "Only a name", 0, None)
    # 1.0 to 2.0 write titles of other sessions so; nobody goes on there, so no folder is missed.
    titles = Transcript(tmp_path, IDS[2])
    titles.row("summary", summary="Trees", leafUuid="00000001-1111-4111-8111-000000000000")
    assert check(titles.opened()) == []


# --- what is said of a session ---


def test_titles_in_their_order(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)

    def titled() -> tuple[str | None, str]:
        [card] = cards_in(tmp_path, tmp_path / f"i{transcript.number}")
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


def test_a_thinking_level_that_the_agent_does_not_record_is_not_made_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("plant a tree", "planted")
    session = opened(transcript.path)
    assert context_at(session, session.leaf).thinking is None
    assert main(["context", str(transcript.path)]) == 0
    assert "thinking" not in capsys.readouterr().out


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
    assert title_of(transcript.opened()) == "/review the pears", "words behind a command are a prompt"


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
    assert recognised(b"\r\n\n \n\n" + b'{"type":"summary","summary":"x","leafUuid":"y"}\r\n') is CLAUDE
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


def test_the_patch_of_an_edit_has_its_line_numbers(tmp_path: Path) -> None:
    from leafward.files.tool_calls import table_of
    from leafward.session.entries import tool_calls
    from tests.call_hunks import call_hunks

    transcript = Transcript(tmp_path)
    transcript.prompt("go")
    transcript.call("Edit", "c1", file_path="a.py", old_string="x", new_string="y")
    hunk = {"oldStart": 40, "oldLines": 2, "newStart": 40, "newLines": 2, "lines": [" keep", "-x", "+y"]}
    transcript.result("c1", toolUseResult={"filePath": "a.py", "structuredPatch": [hunk]})
    session = transcript.opened()
    [call] = tool_calls((session.body(1) or {})["message"])
    [shown] = call_hunks(call, session.body(2), table_of(session))
    assert [(line.sign, line.number, line.text) for line in shown.lines] == [
        (" ", 40, "keep"), ("-", 41, "x"), ("+", 41, "y"),
    ]  # fmt: skip
    assert shown.exact
