"""New transcripts of Claude Code: which rows they hold, where they may end, and what is said of what cannot be copied."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward import forking
from leafward.agents import agent_named
from leafward.agents.claude.rewriting import with_field
from leafward.agents.forking import Cut, Terms
from leafward.config import Config
from leafward.context import context_at, message_body
from leafward.entries import Kind
from leafward.errors import Refused
from leafward.messages import message_text
from tests.claude_transcript import CLAUDE, DATA, IDS, Transcript, opened, said

if TYPE_CHECKING:
    from leafward.foreign import ForeignSession
    from leafward.session import Session

CORPORA = Path(__file__).parents[3] / "shared" / "corpora" / "claude"
NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
PI = agent_named("pi")
PI_SESSIONS = Path(__file__).parents[1] / "data" / "pi" / "sessions"


def terms(injected: str = "", **env: str) -> Terms:
    return Terms({"HOME": os.environ["HOME"], **env}, Config(), NOW, injected)


def draft(
    session: Session, entry: int, given: Terms | None = None, *, source: str = "claude"
) -> forking.Fork:
    return forking.fork(session, entry, CLAUDE, given or terms(), agent_named(source))


def rows_of(made: forking.Fork) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(made.draft.content()).splitlines()]


def uuids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["uuid"] for row in rows if "uuid" in row]


def written(made: forking.Fork, folder: Path) -> ForeignSession:
    """A fork in another folder, so that the source's is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / made.draft.path.name
    path.write_bytes(b"".join(made.draft.content()))
    return opened(path)


def prompt(session: Session, text: str) -> int:
    """The prompt that says a text."""
    for index, kind in enumerate(session.columns.kind):
        if kind == Kind.USER and text in message_text((session.body(index) or {})["message"]):
            return index
    raise LookupError(text)


def parallel(talk: Transcript) -> list[str]:
    """A reply with three calls whose results hang each on its own row, and the reply behind them."""
    talk.prompt("Look at all three")
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "All at once."}]
    blocks += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "Read", "input": {"file_path": f"/{n}"}}
        for n in "abc"
    ]
    rows = [talk.block(block, "msg_three") for block in blocks]
    results = [
        talk.result(f"toolu_{n}", n * 3, parentUuid=row) for n, row in zip("abc", rows[1:], strict=True)
    ]
    return [*rows, *results, talk.reply("All the same.")]


# --- which rows ---


def test_before_a_prompt_the_fork_holds_what_the_prompt_follows(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [
        talk.prompt("One?"),
        talk.attachment("Rules."),
        talk.reply("One."),
        talk.row("system", subtype="turn_duration"),
    ]
    talk.row("last-prompt", lastPrompt="One?", leafUuid=kept[-1])
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, prompt(source, "Two?"))
    assert made.prompt == "Two?"
    rows = rows_of(made)
    assert uuids(rows) == kept
    assert made.draft.path == talk.path.with_name(f"{made.draft.id}.jsonl")
    assert {row["sessionId"] for row in rows} == {made.draft.id}
    assert [row["forkedFrom"] for row in rows] == [
        {"sessionId": talk.session, "messageUuid": name} for name in kept
    ]
    assert made.draft.resume.argv == ("claude", "--resume", made.draft.id)
    assert made.draft.resume.cwd == "/home/ada/orchard"
    # Behind the reply is the same file.
    assert uuids(rows_of(draft(source, source.columns.parent[prompt(source, "Two?")]))) == kept


def test_every_call_of_a_reply_keeps_its_result(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("Begin", "Begun.")
    rows = parallel(talk)
    talk.turn("More", "More.")
    source = talk.opened()
    made = draft(source, prompt(source, "More"))
    assert set(rows) <= set(uuids(rows_of(made)))
    assert said(written(made, tmp_path / "copy")) == said(
        source, source.columns.parent[prompt(source, "More")]
    )


def test_results_below_rows_of_progress_come_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.prompt("Look")
    first = talk.call("Read", "toolu_a", "msg_two", file_path="/a")
    second = talk.call("Read", "toolu_b", "msg_two", file_path="/b")
    progress = talk.row("progress", data={"type": "hook_progress"}, parentUuid=first)
    late = talk.result("toolu_a", "aaa")
    talk.result("toolu_b", "bbb", parentUuid=second)
    talk.reply("Both.")
    talk.turn("More", "More.")
    source = talk.opened()
    made = rows_of(draft(source, prompt(source, "More")))
    assert {first, second, progress, late} <= set(uuids(made))


def test_each_branch_of_a_rewound_session_by_itself(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    fork = talk.turn("One?", "One.")
    left = [talk.prompt("Left?"), talk.reply("Left.")]
    right = [talk.prompt("Right?", parentUuid=fork), talk.reply("Right.")]
    source = talk.opened()
    for mine, other in ((left, right), (right, left)):
        reply = source.columns.index(mine[1][:8])
        names = uuids(rows_of(draft(source, reply)))
        assert names[-2:] == mine
        assert not set(other) & set(names)


def test_past_compactions_everything_before_is_kept(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    first = [talk.prompt("One?"), talk.reply("One.")]
    kept = [talk.prompt("Two?"), talk.reply("Two.")]
    preserved = {"anchorUuid": "", "uuids": kept, "allUuids": kept}
    talk.boundary("So far: one.", preservedMessages=preserved)
    second = talk.turn("Three?", "Three.")
    talk.boundary("So far: three.", preservedMessages={**preserved, "allUuids": [second], "uuids": [second]})
    talk.turn("Four?", "Four.")
    talk.turn("Five?", "Five.")
    source = talk.opened()
    made = draft(source, prompt(source, "Five?"))
    names = uuids(rows_of(made))
    assert {*first, *kept, second} <= set(names)
    assert names == [row["uuid"] for row in map(json.loads, talk.path.read_text().splitlines())][: len(names)]
    copy = written(made, tmp_path / "copy")
    assert said(copy) == said(source, source.columns.parent[prompt(source, "Five?")])
    # Before the compaction the conversation is whole again.
    early = draft(source, prompt(source, "Two?"))
    assert uuids(rows_of(early)) == first


def test_what_a_compaction_kept_comes_along_where_its_chain_is_gone(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [talk.prompt("Two?", parentUuid=None), talk.reply("Two.")]
    missing = "ffffffff-0000-4000-8000-00000000dead"
    talk.boundary("So far.", missing, preservedMessages={"anchorUuid": "", "uuids": kept, "allUuids": kept})
    talk.turn("Three?", "Three.")
    source = talk.opened()
    assert set(kept) <= set(uuids(rows_of(draft(source, source.place))))


def test_rows_outside_the_chain_stay_behind_but_replaced_results(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.prompt("Look")
    talk.call("Read", "toolu_a", file_path="/a")
    talk.result("toolu_a", "a" * 50)
    talk.row(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "toolu_a", "replacement": "cut"}],
    )
    talk.reply("Seen.")
    talk.prompt("Again")
    talk.call("Read", "toolu_b", file_path="/b")
    talk.result("toolu_b", "b" * 50)
    talk.row(
        "content-replacement",
        replacements=[{"kind": "tool-result", "toolUseId": "toolu_b", "replacement": "cut"}],
    )
    talk.reply("Seen too.")
    for kind in ("queue-operation", "ai-title", "file-history-snapshot", "mode"):
        talk.row(kind, messageId="m")
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Again")))
    assert [row["type"] for row in rows] == ["user", "assistant", "user", "content-replacement", "assistant"]
    assert rows[3]["replacements"][0]["toolUseId"] == "toolu_a"
    assert {row["sessionId"] for row in rows} == {rows[0]["sessionId"]}


def test_a_name_says_that_it_is_a_fork(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.row("custom-title", customTitle="Pears")
    source = talk.opened()
    made = draft(source, source.place)
    assert rows_of(made)[-1] == {
        "type": "custom-title",
        "customTitle": "Pears (fork)",
        "sessionId": made.draft.id,
    }
    forking_path = written(made, talk.path.parent)
    again = draft(forking_path, forking_path.place)
    assert rows_of(again)[-1]["customTitle"] == "Pears (fork)"


def test_a_fork_of_a_fork_names_the_one_it_was_made_from(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    kept = [talk.prompt("One?"), talk.reply("One.")]
    source = talk.opened()
    first = draft(source, source.place)
    copy = written(first, talk.path.parent)
    assert copy.header["relation"] == "fork"
    assert copy.header["parentSession"] == str(talk.path)
    assert copy.inherited == len(copy.columns)
    rows = rows_of(draft(copy, copy.place))
    assert uuids(rows) == kept
    assert {row["forkedFrom"]["sessionId"] for row in rows} == {first.draft.id}


def test_what_is_put_in_is_an_attachment_behind_the_last_row(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    last = talk.turn("One?", "One.")
    source = talk.opened()
    rows = rows_of(draft(source, source.place, terms("Mind the pears.")))
    assert rows[-1]["parentUuid"] == last
    assert rows[-1]["attachment"]["content"] == "Mind the pears."
    copy = written(draft(source, source.place, terms("Mind the pears.")), tmp_path / "copy")
    assert said(copy)[-1] == ("custom", "Mind the pears.") or ("custom", "Mind the pears.") in said(copy)


# --- where it may end ---


def test_inside_a_turn_it_is_refused_and_the_nearest_end_is_named(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    talk.prompt("Look")
    talk.block({"type": "thinking", "thinking": "Hm.", "signature": "s"}, "msg_x", None)
    talk.block({"type": "text", "text": "I look."}, "msg_x")
    talk.call("Read", "toolu_a", "msg_x", file_path="/a")
    talk.result("toolu_a", "aaa")
    end = talk.reply("Seen.")
    source = talk.opened()
    kinds = source.columns.kind
    places = {Kind(kind): index for index, kind in enumerate(kinds)}
    calling, result = source.columns.parent[places[Kind.TOOL_RESULT]], places[Kind.TOOL_RESULT]
    for index in (calling, result):
        cut = forking.cuts(source, index, (CLAUDE,))["claude"]
        assert not cut.legal
        assert "inside a turn" in str(cut.rule)
        nearest = forking.cuts(source, cut.nearest, (CLAUDE,))["claude"]
        assert nearest.legal
        with pytest.raises(Refused, match=r"inside a turn.*nearest legal entry"):
            draft(source, index)
    assert forking.cuts(source, source.columns.index(end[:8]), (CLAUDE,))["claude"].legal
    first = forking.cuts(source, prompt(source, "One?"), (CLAUDE,))["claude"]
    assert not first.legal
    assert "nothing is said before it" in str(first.rule)


def test_right_behind_a_compaction_what_it_left_comes_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    summary = talk.boundary("So far.")
    behind = [
        talk.prompt("<local-command-caveat>Run here.</local-command-caveat>", isMeta=True),
        talk.prompt("<command-name>/compact</command-name>"),
        talk.prompt("<local-command-stdout>Compacted</local-command-stdout>"),
        talk.attachment("A file again.", "file"),
    ]
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, source.columns.index(summary[:8]))
    assert uuids(rows_of(made))[-5:] == [summary, *behind]
    assert uuids(rows_of(draft(source, prompt(source, "Two?"))))[-5:] == [summary, *behind]


def test_a_notice_at_the_end_is_kept_and_said(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    notice = talk.prompt([{"type": "text", "text": "[Request interrupted by user]"}])  # type: ignore[arg-type]
    talk.turn("Two?", "Two.")
    source = talk.opened()
    made = draft(source, prompt(source, "Two?"))
    assert uuids(rows_of(made))[-1] == notice
    assert "notice" in {remark.code for remark in made.remarks}
    behind = draft(source, source.tree.content_at(source.columns.index(uuids(rows_of(made))[1][:8])))
    assert notice not in uuids(rows_of(behind))
    assert "notice" not in {remark.code for remark in behind.remarks}


def test_a_command_that_nobody_answered_stays_behind(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    command = talk.prompt("<command-message>review</command-message>")
    source = talk.opened()
    made = draft(source, source.columns.index(command[:8]))
    assert command not in uuids(rows_of(made))


def test_of_a_sub_agent_there_is_nothing_to_resume(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    side = talk.reply("From beside.", isSidechain=True)
    source = talk.opened()
    with pytest.raises(Refused, match="sub-agent"):
        draft(source, source.columns.index(side[:8]))
    helper = talk.path.with_name("agent-a1b2c3.jsonl")
    shutil.copy(talk.path, helper)
    with pytest.raises(Refused, match="sub-agent"):
        draft(opened(helper), 1)


# --- where it lies, how it is opened ---


def test_the_store_is_named_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    usual = Transcript(home / ".claude")
    other = Transcript(tmp_path / "else", IDS[1])
    for talk in (usual, other):
        talk.turn("One?", "One.")

    def variables(talk: Transcript, **env: str) -> tuple[Any, Any]:
        resume = draft(talk.opened(), 1, terms(**{"HOME": str(home), **env})).draft.resume
        return resume.env_set, "CLAUDE_CONFIG_DIR" in resume.env_remove

    assert variables(usual) == ((), False)
    assert variables(other) == ((("CLAUDE_CONFIG_DIR", str(tmp_path / "else")),), False)
    assert variables(other, CLAUDE_CONFIG_DIR=str(tmp_path / "else")) == ((), False)
    assert variables(usual, CLAUDE_CONFIG_DIR=str(tmp_path / "else")) == ((), True)
    plain = CLAUDE.resume(other.opened(), {"HOME": str(home)})
    assert plain.env_set == (("CLAUDE_CONFIG_DIR", str(tmp_path / "else")),)


def test_a_transcript_outside_of_a_store_is_forked_into_the_usual_one(tmp_path: Path) -> None:
    talk = Transcript(tmp_path, folder="loose")
    talk.turn("One?", "One.")
    made = draft(talk.opened(), 1, terms(HOME=str(tmp_path / "home")))
    assert made.draft.path.parent == tmp_path / "home" / ".claude" / "projects" / "-home-ada-orchard"
    assert "elsewhere" in {remark.code for remark in made.remarks}


def test_it_is_written_beside_its_source_which_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "orchard"
    folder.mkdir()
    talk = Transcript(tmp_path / ".claude")
    talk.defaults["cwd"] = str(folder)
    talk.turn("One?", "One.")
    before = hashlib.sha256(talk.path.read_bytes()).digest()
    source = talk.opened()
    made = draft(source, source.place)
    assert forking.store(source, made.draft) == made.draft.path
    assert sorted(path.name for path in talk.path.parent.iterdir()) == sorted(
        [talk.path.name, made.draft.path.name]
    )
    assert made.draft.path.stat().st_mode & 0o777 == 0o600
    assert hashlib.sha256(talk.path.read_bytes()).digest() == before


def test_a_file_that_is_another_by_now_is_refused(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("One?", "One.")
    source = talk.opened()
    size = talk.size
    talk.turn("Two?", "Two.")
    assert len(uuids(rows_of(draft(source, source.place)))) == 2, "what was appended is not copied"
    made = draft(source, source.place)
    with talk.path.open("r+b") as file:
        file.seek(size - 30)
        file.write(b" ")
    with pytest.raises(Refused, match="not what was read"):
        b"".join(made.draft.content())
    with talk.path.open("r+b") as file:
        file.truncate(size - 1)
    with pytest.raises(Refused, match="not what was read"):
        draft(source, source.place)


# --- damage ---


def test_damaged_rows_do_not_stand_in_the_way(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    first = talk.prompt("One?")
    talk.raw(b'{"type":"user","uuid":"torn\n\0\0\0\0\n')
    glued = [talk.text_of("system", subtype="turn_duration", note="x")]
    names = [first, talk.tip]
    glued.append(
        talk.text_of(
            "assistant",
            message={"role": "assistant", "id": "m", "content": [{"type": "text", "text": "One."}]},
        )
    )
    names.append(talk.tip)
    talk.raw("".join(glued).encode() + b"\n")
    talk.turn("Two?", "Two.")
    talk.raw(b'{"type":"assist')
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Two?")))
    assert uuids(rows) == names


def test_rows_of_one_id_come_all_along(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    twice = talk.prompt("First wording")
    talk.reply("One.")
    tip = talk.tip
    talk.prompt("Second wording", uuid=twice, parentUuid=None)
    talk.tip = tip
    talk.turn("Two?", "Two.")
    source = talk.opened()
    rows = rows_of(draft(source, prompt(source, "Two?")))
    assert uuids(rows).count(twice) == 2


def test_a_circle_and_a_missing_parent_end_the_chain(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    one = talk.prompt("One?", parentUuid="eeeeeeee-0000-4000-8000-00000000dead")
    two = talk.reply("One.")
    talk.turn("Two?", "Two.")
    source = talk.opened()
    assert uuids(rows_of(draft(source, prompt(source, "Two?")))) == [one, two]
    circle = Transcript(tmp_path, IDS[2])
    circle.prompt(
        "One?", uuid="aaaaaaaa-0000-4000-8000-000000000001", parentUuid="aaaaaaaa-0000-4000-8000-000000000002"
    )
    circle.reply("One.", uuid="aaaaaaaa-0000-4000-8000-000000000002")
    circle.turn("Two?", "Two.")
    again = circle.opened()
    assert len(uuids(rows_of(draft(again, prompt(again, "Two?"))))) == 2


# --- a field in its bytes ---


@pytest.mark.parametrize(
    ("raw", "changed"),
    [
        (b'{"a":{"sessionId":"x"},"sessionId":"x"}', b'{"a":{"sessionId":"x"},"sessionId":"new"}'),
        (b'{"a":"\\"sessionId\\":\\"x\\"","sessionId" : "x" ,"b":1e400}', b'{"a":"\\"sessionId\\":\\"x\\"","sessionId" : "new" ,"b":1e400}'),
        (b'{ "sessionId":"x", "big":123456789012345678901234567890 }', b'{ "sessionId":"new", "big":123456789012345678901234567890 }'),
        (b'{"a":"sessionId"}', b'{"a":"sessionId","sessionId":"new"}'),
        (b"{}", b'{"sessionId":"new"}'),
        (b'{"u":"\\u00e9\\ud800","sessionId":null}', b'{"u":"\\u00e9\\ud800","sessionId":"new"}'),
    ],
)  # fmt: skip
def test_only_the_field_is_changed(raw: bytes, changed: bytes) -> None:
    assert with_field(raw, "sessionId", "new") == changed


def test_a_row_that_cannot_be_changed_in_place_is_written_anew() -> None:
    raw = b'{"session\\u0049d":"x","a":"\\ud800"}'
    assert json.loads(with_field(raw, "sessionId", "new")) == {"sessionId": "new", "a": "\ud800"}


# --- stored sessions ---


def stored() -> list[Path]:
    found = sorted(DATA.rglob("*.jsonl"))
    if CORPORA.is_dir():
        found += sorted(CORPORA.glob("*/.claude/projects/*/*.jsonl"))
    return [path for path in found if path.stat().st_size and not path.name.startswith("agent-")]


@pytest.mark.parametrize("path", stored(), ids=lambda path: path.stem[:8])
def test_at_every_end_of_a_stored_session_the_context_is_the_same(path: Path, tmp_path: Path) -> None:
    source = opened(path)
    before = hashlib.sha256(path.read_bytes()).digest()
    lines = {
        row.get("uuid"): row for row in map(json.loads, path.read_text("utf-8").splitlines()) if "uuid" in row
    }
    ends = 0
    for entry, kind in enumerate(source.columns.kind):
        if kind not in (Kind.USER, Kind.ASSISTANT, Kind.COMPACTION):
            continue
        cut: Cut = forking.cuts(source, entry, (CLAUDE,))["claude"]
        if not cut.legal:
            continue
        made = draft(source, entry)
        ends += 1
        rows = rows_of(made)
        named = [row for row in rows if "uuid" in row]
        for row in named:
            was = lines[row["uuid"]]
            assert {**row, "sessionId": was.get("sessionId"), "forkedFrom": was.get("forkedFrom")} == {
                "forkedFrom": None,
                **was,
            }
        order = list(lines)
        assert [order.index(row["uuid"]) for row in named] == sorted(
            order.index(row["uuid"]) for row in named
        )
        copy = written(made, tmp_path)
        at = source.columns.parent[entry] if kind == Kind.USER else entry
        if kind != Kind.COMPACTION:
            assert texts(copy, copy.leaf) == texts(source, at)
    assert ends or len(source.columns) < 30
    assert hashlib.sha256(path.read_bytes()).digest() == before


def texts(session: Session, at: int) -> list[tuple[str, str]]:
    context = context_at(session, at)
    return [(one.role, message_text(message_body(session, one))) for one in context.messages]


# --- from another agent ---


def test_what_another_agent_said_is_told_in_rows(tmp_path: Path) -> None:
    source = PI.open(PI_SESSIONS / "branches.jsonl")
    end = next(
        index
        for index in range(len(source.columns) - 1, -1, -1)
        if forking.cuts(source, index, (CLAUDE,))["claude"].legal
    )
    made = draft(source, end, terms(HOME=str(tmp_path)), source="pi")
    rows = rows_of(made)
    assert made.draft.path.parent.parent == tmp_path / ".claude" / "projects"
    chain = [row for row in rows if "uuid" in row]
    assert [row["parentUuid"] for row in chain] == [None, *(row["uuid"] for row in chain[:-1])]
    asked: list[str] = []
    for row in chain:
        content = row["message"]["content"]
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                asked.append(block["id"])
            elif block["type"] == "tool_result":
                asked.remove(block["tool_use_id"])
            assert block["type"] != "thinking"
            assert block.get("text") != ""
    assert asked == []
    assert chain[-1]["type"] == "assistant"
    copy = written(made, made.draft.path.parent)
    assert (copy.header["parentSession"], copy.header["relation"]) == (source.id, "fork")
    assert copy.inherited == 0, "nobody else counts what was said there in this form"
    spoken = [text for role, text in texts(copy, copy.leaf) if role == "toolResult"]
    assert spoken == [text for role, text in texts(source, end) if role == "toolResult"]
    source.close()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_folder_reached_by_a_link_is_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "orchard").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "orchard")
    source = PI.open(PI_SESSIONS / "branches.jsonl")
    source.header["cwd"] = str(tmp_path / "link")
    end = next(
        index
        for index in range(len(source.columns))
        if forking.cuts(source, index, (CLAUDE,))["claude"].legal
    )
    made = draft(source, end, terms(HOME=str(tmp_path)), source="pi")
    assert made.draft.path.parent.name.endswith("-orchard")
    source.close()


def test_ids_and_images_that_anthropic_does_not_take_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    calls: list[dict[str, Any]] = [
        {"type": "toolCall", "id": name, "name": "a.b c", "arguments": {}}
        for name in ("call|fc_1", "ok_1", "ok_1")
    ]
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    odd = {"type": "image", "data": "AAAA", "mimeType": "image/tiff"}
    usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": {"total": 0}}
    assistant = {"role": "assistant", "provider": "openai", "model": "gpt-5", "usage": usage, "timestamp": 3}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "See"}, image, odd], "timestamp": 1},
        {**assistant, "content": [{"type": "thinking", "thinking": "Hm"}, *calls[:2]], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": "call|fc_1", "toolName": "a", "content": [], "isError": True, "timestamp": 4},
        {"role": "toolResult", "toolCallId": "ok_1", "toolName": "a", "content": [{"type": "text", "text": "x"}], "isError": False, "timestamp": 5},
        {**assistant, "content": [calls[2]], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": "ok_1", "toolName": "a", "content": [{"type": "text", "text": "y"}], "isError": False, "timestamp": 6},
        {**assistant, "content": [{"type": "text", "text": "Done."}], "stopReason": "stop"},
    ]  # fmt: skip
    lines: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": "s",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/home/ada",
        }
    ]
    above = None
    for number, message in enumerate(messages):
        lines.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": above,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": message,
            }
        )
        above = f"{number:08x}"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    source = PI.open(path)
    made = draft(source, 6, terms("Mind the pears.", HOME=str(tmp_path)), source="pi")
    rows = rows_of(made)
    uses = [block for row in rows for block in blocks(row) if block["type"] == "tool_use"]
    results = [block for row in rows for block in blocks(row) if block["type"] == "tool_result"]
    assert [block["id"] for block in uses] == [block["tool_use_id"] for block in results]
    assert len({block["id"] for block in uses}) == 3
    assert uses[1]["id"] == "ok_1"
    assert {block["name"] for block in uses} == {"a_b_c"}
    assert [block["content"] for block in results] == ["(empty)", "x", "y"]
    assert [block.get("is_error", False) for block in results] == [True, False, False]
    seen = rows[0]["message"]["content"]
    assert [block["type"] for block in seen] == ["text", "image", "text"]
    assert rows[1]["message"]["model"] == "gpt-5"
    assert rows[-1]["attachment"]["content"] == "Mind the pears."
    assert "reasoning-left" in {remark.code for remark in made.remarks}
    source.close()


def blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = (row.get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def test_right_behind_another_agents_summary_no_reply_stands_yet() -> None:
    source = PI.open(PI_SESSIONS / "compacted-twice.jsonl")
    seen = 0
    for index, kind in enumerate(source.columns.kind):
        if kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            continue
        seen += 1
        last = context_at(source, index).messages[-1]
        stop = ((source.body(last.entry) or {}).get("message") or {}).get("stopReason")
        answered = kind == Kind.COMPACTION and last.kind is Kind.ASSISTANT and stop == "stop"
        assert forking.cuts(source, index, (CLAUDE,))["claude"].legal == answered
    assert seen
    source.close()
