"""Entries that are no turns: compactions, summaries, edits, images, damage, and everything else by itself."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.stored_summary.summary_lines import part_sizes
from leafward.compaction.xray.xray import xray_of
from leafward.context.message_columns import LedgerSection
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex, Kind
from leafward_tui.inspector.tab import Tab
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.tui.inspector_data import (
    USAGE,
    headings,
    line_with,
    page,
    reply,
    single,
    turn,
    user,
    write_session,
)

if TYPE_CHECKING:
    from pathlib import Path


def image(data: bytes, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "mimeType": mime, "data": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (
            image(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + bytes(12_274)),
            "[image image/png, 12 KB, 640x480]",
        ),
        (
            image(b"GIF89a" + struct.pack("<HH", 3, 4) + b"\0", "image/gif"),
            "[image image/gif, 11 B, 3x4]",
        ),
        (
            image(
                b"\xff\xd8\xff\xe0\0\x10" + bytes(14) + b"\xff\xc2\0\x11\x08\0\x05\0\x07" + bytes(9),
                "image/jpeg",
            ),
            "[image image/jpeg, 38 B, 7x5]",
        ),
        (
            image(b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x1f\0\0\x0f\0\0", "image/webp"),
            "[image image/webp, 30 B, 32x16]",
        ),
        (image(b"\x89PNG\r\n\x1a\n"), "[image image/png, 8 B]"),
        ({"type": "image", "data": "%%%", "mimeType": "\x1b]52;c;x"}, "[image ␛]52;c;x"),
        ({"type": "image"}, "[image of unknown type, no data]"),
    ],
)
def test_images_are_described(tmp_path: Path, block: dict[str, Any], said: str) -> None:
    session = write_session(tmp_path / "s.jsonl", user([{"type": "text", "text": "look"}, block]))
    assert said in page(turn(session)).text


# --- entries that are no conversation ---------------------------------------------------------------------------------


def test_a_compaction_tells_what_it_did(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("first"),
        user("second"),
        {
            "type": "compaction",
            "summary": "## Goal\nShip it.",
            "firstKeptEntryId": "00000001",
            "tokensBefore": 130_576,
            "details": {"readFiles": ["a/b.ts"], "modifiedFiles": ["c.ts"]},
            "fromHook": True,
        },
    )
    shown = page(turn(session, 2))
    assert shown.text.split("\n")[1].startswith("Compaction  on the path")
    assert "130,576 → ~6" in shown.text
    kept = shown.lines[line_with(shown, "kept from")]
    assert kept.entry == 1
    assert kept.text.endswith("#1  you  second")
    assert "an extension" in shown.text
    goal = shown.lines[line_with(shown, "Goal")]
    assert goal.spans[0].ink == "strong_memory"
    assert "Modified  1 file\n  c.ts" in shown.text
    assert "Read  1 file\n  a/b.ts" in shown.text


def test_messages_that_a_compaction_of_codex_keeps_are_kept_on_every_page(tmp_path: Path) -> None:
    """Texts of a replacement history, word for word, in the order of the file."""
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>x</environment_context>")
    rollout.turn("first", "A")
    rollout.turn("second", "B")

    def message(text: str) -> dict[str, Any]:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    texts = ("first", "<environment_context>x</environment_context>", "second", "S")
    rollout.line("compacted", message="S", replacement_history=[message(text) for text in texts])
    session = rollout.opened()
    at = session.columns.kind.index(Kind.COMPACTION)
    kept = [one for one in context_at(session, at).messages if one.section is LedgerSection.KEPT]
    shown = page(turn(session, at))
    row = line_with(shown, "kept ")
    tokens = sum(one.tokens for one in kept)
    assert shown.lines[row].text == f"kept        3 messages, {tokens} tokens"
    assert [line.entry for line in shown.lines[row + 1 : row + 4]] == [one.entry for one in kept]
    xray = xray_of(session, at)
    after = [one.after for one in xray.rows if one.after is not None and one.after.tokens]
    assert [cell.entry for cell in after][: len(kept)] == [one.entry for one in kept], "the order of the file"
    assert after[len(kept)].role != "user", "the summary comes behind them"
    context = page(turn(session, at), Tab.CONTEXT)
    assert "Kept  3 messages" in context.text
    assert [title for _, title in headings(context)][-2:] == ["Kept", "Summary"]


def test_what_the_agent_counted_before_its_compaction_is_told_apart_from_what_is_shown(
    tmp_path: Path,
) -> None:
    """Of a context that a reply counted, the agent's note is another estimate of what came since."""
    measured = {**USAGE, "totalTokens": 9_000, "input": 8_995}
    entry = {
        "type": "compaction",
        "summary": "Ship it.",
        "firstKeptEntryId": "00000003",
        "tokensBefore": 9_400,
    }
    session = write_session(
        tmp_path / "s.jsonl", user("first"), reply("A", usage=measured), user("second"), user("third"), entry
    )
    for tab in (Tab.ENTRY, Tab.COMPACTION):
        shown = page(turn(session, 4), tab).text
        assert "9,004" in shown
        assert "9,400 before it, as the agent counted" in shown


def test_messages_that_are_not_sent_are_in_no_size_of_a_section(tmp_path: Path) -> None:
    """The ledger counts them in a row of their own."""
    command = {"role": "bashExecution", "command": "ls", "output": "x" * 400, "excludeFromContext": True}
    session = write_session(tmp_path / "s.jsonl", user("go" * 40), {"type": "message", "message": command})
    shown = page(single(session, 1), Tab.CONTEXT)
    assert "not sent" in shown.text
    ledger = context_at(session).ledger
    heading = shown.lines[line_with(shown, "Messages  2 messages")].text
    assert heading.split()[-1] == str(ledger.after)


def test_many_kept_messages_are_listed_when_somebody_opens_them(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    texts = [f"request {number}" for number in range(12)]
    for text in texts:
        rollout.turn(text, "done")
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in [*texts, "S"]
    ]
    rollout.line("compacted", message="S", replacement_history=history)
    session = rollout.opened()
    at = session.columns.kind.index(Kind.COMPACTION)
    shown = page(turn(session, at))
    assert "request 11" not in shown.text
    more = shown.lines[line_with(shown, "4 more")]
    assert "request 11" in page(turn(session, at), toggled={more.toggle}).text


def test_prompts_that_a_summary_holds_word_for_word_are_kept(tmp_path: Path) -> None:
    """Leafward's own compaction by the rules of Codex keeps no entry, but prompts within its summary."""
    text = "## Messages of the user, word for word\n\n<user-message>\nfirst\n</user-message>\n\n## Goal\nShip it."
    entry = {"type": "compaction", "summary": text, "firstKeptEntryId": "00000002", "tokensBefore": 12}
    session = write_session(tmp_path / "s.jsonl", user("first"), reply("A"), entry)
    shown = page(turn(session, 2)).text
    assert "kept        1 prompt within the summary" in shown
    summary, kept, injected = part_sizes(text)
    assert (summary + kept, injected) == (context_at(session).ledger.summary, 0)
    words = f"{summary} summarised, {kept} kept"
    assert f"text        {words}" in shown
    context = page(turn(session, 2), Tab.CONTEXT).text
    assert words in context
    assert "within the summary" in context


def test_what_is_set_behind_the_last_message_is_what_the_next_request_has(tmp_path: Path) -> None:
    """The verb `context` says so too."""
    level = {"type": "thinking_level_change", "thinkingLevel": "high"}
    session = write_session(
        tmp_path / "s.jsonl",
        user("first"),
        reply("A"),
        level,
        user("second"),
        reply("B"),
        {**level, "thinkingLevel": "off"},
    )
    assert "thinking off" in page(turn(session, 4), Tab.CONTEXT).text
    assert "thinking high" in page(single(session, 3), Tab.CONTEXT).text


def test_a_branch_summary_leads_to_the_leaf_it_left(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("root"),
        reply("left"),
        {"type": "branch_summary", "parentId": "00000000", "fromId": "00000001", "summary": "- tried"},
    )
    shown = page(turn(session, 2))
    assert shown.lines[line_with(shown, "left at")].entry == 1
    assert "summarises  1 message" in shown.text
    assert "- tried" in shown.text


@pytest.mark.parametrize(
    ("replacement", "said"),
    [(None, "omits"), ({"content": "shorter **now**"}, "shorter now"), ({"content": []}, "empty")],
)
def test_a_context_edit_says_what_it_changes(tmp_path: Path, replacement: object, said: str) -> None:
    edit = {"type": "context_edit", "targetId": "00000000", "replacement": replacement}
    session = write_session(tmp_path / "s.jsonl", user("long text"), edit)
    shown = page(turn(session, 1))
    assert said in shown.text
    assert shown.lines[line_with(shown, "long text")].entry == 0


def test_damage_is_shown_with_its_place_and_first_bytes(tmp_path: Path) -> None:
    bad = b'{"type":"message", \x1b]0;x\x07 broken \xff' + b"x" * 9000
    session = write_session(tmp_path / "s.jsonl", user("a"), bad, user("b"))
    shown = page(turn(session, 1)).text
    assert "Malformed line" in shown
    assert f"at byte     {session.columns.start[1]:,}" in shown
    assert "length      9,0" in shown
    assert "\\u001b]0;x\\u0007 broken \\xff" in shown.replace("\n", " ")
    assert "more bytes" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"type": "model_change", "provider": "openai", "modelId": "gpt-5"}, "openai/gpt-5"),
        ({"type": "thinking_level_change", "thinkingLevel": "high"}, "high"),
        ({"type": "session_info", "name": "Port it"}, "Port it"),
        ({"type": "label", "targetId": "00000000", "label": "here"}, "here  on #0"),
        (
            {
                "type": "usage",
                "kind": "cache_warm",
                "model": "m",
                "usage": {"totalTokens": 50_000, "cost": {"total": 0.02}},
            },
            "cache_warm, m, 50,000 tokens   $0.02",
        ),
        ({"type": "custom", "customType": "ext.state", "data": {"count": 501}}, '"count": 501'),
        ({"type": "brand_new", "field": [1, {"a": None}]}, '"a": null'),
        ({"type": "message", "message": {"role": "robot", "content": "hi"}}, '"role": "robot"'),
        (
            {"type": "custom_message", "customType": "ext.note", "content": "Keep it stable."},
            "by ext.note",
        ),
    ],
)
def test_every_other_entry_is_shown_by_itself(tmp_path: Path, entry: dict[str, Any], said: str) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a"), entry)
    assert said in page(single(session, 1)).text


def test_a_system_message_shows_its_sections_and_tools(tmp_path: Path) -> None:
    message = {
        "role": "system",
        "content": "Be good.",
        "sections": {"rules": "- one\n- two", "old": None},
        "toolsAdded": [{"name": "read"}],
    }
    session = write_session(tmp_path / "s.jsonl", {"type": "message", "message": message})
    text = page(single(session, 0)).text
    assert "Be good." in text
    assert "rules" in text
    assert "- two" in text
    assert "adds tools  read" in text
    assert "without     old" in text


def test_what_stands_before_the_first_prompt_says_so(tmp_path: Path) -> None:
    model = {"type": "model_change", "provider": "openai", "modelId": "gpt-5"}
    session = write_session(tmp_path / "s.jsonl", model, user("a"))
    assert "before turn 1" in page(replace(single(session, 0), turn=0)).text


def test_the_tokens_of_a_summary_are_called_those_of_the_summary(tmp_path: Path) -> None:
    made = {"type": "compaction", "summary": "Ship it.", "firstKeptEntryId": "00000000", "tokensBefore": 90}
    session = write_session(tmp_path / "s.jsonl", user("a"), made)
    assert "summary 2 tokens" in page(single(session, 1)).text


def test_a_summary_beside_a_system_prompt_has_the_size_that_it_has_in_the_context(tmp_path: Path) -> None:
    made = {"type": "compaction", "summary": "Ship it.", "firstKeptEntryId": "00000000", "tokensBefore": 90}
    prompt = {"role": "system", "content": "Obey. " * 20}
    session = write_session(tmp_path / "s.jsonl", user("a"), {**made, "systemMessage": prompt})
    assert context_at(session, EntryIndex(1)).ledger.summary == 2
    assert "summary 2, system 30 tokens" in page(single(session, 1)).text


# --- hostile input ----------------------------------------------------------------------------------------------------


def test_a_row_that_is_lost_before_an_entry_is_said_where_one_stands_on_it(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    transcript.reply("first", timestamp="2026-02-01T10:00:00.000Z")
    transcript.prompt("two", parentUuid="nowhere", timestamp="2026-02-01T10:00:06.000Z")
    session = transcript.opened()
    texts = ["\n".join(line.text for line in page(single(session, at)).lines) for at in range(3)]
    assert ["#2: the row that this one follows is not in this file" in text for text in texts] == [
        False,
        False,
        True,
    ]
