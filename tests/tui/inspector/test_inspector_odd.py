"""The Entry tab with what nobody expects: hostile text, odd contents and entries, megabytes, wide characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from leafward_tui.inspector.page import Selection, SelectionKind
from leafward_tui.inspector.tab import Tab
from tests.tui.inspector_data import (
    call,
    opened,
    page,
    reply,
    result,
    single,
    turn,
    user,
    write_session,
)

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "\x1b]52;c;aGk=\x07 [/nope] [bold red]x[/] \x9b31m \u202egnp.exe\u202c \x00 \ud800 <script>\tend"


def test_hostile_text_is_shown_and_never_acts(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_session(path, user("x")).close()
    blob = HOSTILE.encode("utf-8", "surrogatepass")
    escaped = "".join(f"\\u{ord(char):04x}" for char in HOSTILE)
    line = (
        '{"type":"message","id":"00000001","parentId":"00000000","timestamp":"%s","message":{"role":"assistant","model":"%s",'
        '"stopReason":"error","errorMessage":"%s","content":[{"type":"text","text":"%s"},{"type":"thinking","thinking":"%s"},'
        '{"type":"%s"},{"type":"toolCall","id":"c","name":"%s","arguments":{"path":"%s","%s":"%s"}},'
        '{"type":"toolCall","id":"d","name":"bash","arguments":{"command":"%s"}}]}}\n'
    ) % ((escaped,) * 11)
    path.write_bytes(path.read_bytes() + line.encode() + b"not json " + blob + b"\n")
    session = opened(path)
    for selection in (
        turn(session),
        single(session, 1),
        single(session, 2),
        Selection(session, (range(3),), 0, SelectionKind.FOLD),
    ):
        for tab in Tab:
            shown = page(selection, tab, toggled={"thoughts", "remarks", "step0", "step1"})
            for line_ in shown.lines:
                assert not any(
                    ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000
                    for char in line_.text
                )
                assert "\u202e" not in line_.text
                assert not any(ord(char) < 32 and char != "\n" for char in line_.copy)
    assert "[/nope] [bold red]x[/]" in page(turn(session)).text


@pytest.mark.parametrize(
    "content",
    [None, "just a string", [], [None, 3, {"no": "type"}], {"a": 1}, 7, [{"type": "text", "text": None}]],
)
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult", "system", "custom", "bashExecution"])
def test_odd_contents_do_not_break_it(tmp_path: Path, role: str, content: object) -> None:
    session = write_session(
        tmp_path / "s.jsonl", user("a"), {"type": "message", "message": {"role": role, "content": content}}
    )
    for tab in Tab:
        assert page(single(session, 1), tab).text.strip()
        assert page(turn(session), tab).text.strip()


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "compaction"},
        {
            "type": "compaction",
            "summary": 5,
            "tokensBefore": "many",
            "firstKeptEntryId": 3,
            "details": {"readFiles": [1, None]},
        },
        {"type": "branch_summary", "fromId": None, "summary": None},
        {"type": "context_edit", "targetId": None, "replacement": "text"},
        {"type": "context_edit"},
        {"type": "label", "targetId": 4, "label": {"a": 1}},
        {"type": "custom"},
        {"type": "custom_message", "content": None, "customType": None},
        {"type": "usage", "usage": "none"},
        {"type": "session"},
        {"type": 5},
        {"type": "message", "message": None},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "toolCall", "arguments": "x"},
                    {"type": "toolCall", "name": "edit", "arguments": {"path": 3}},
                ],
            },
        },
    ],
)
def test_odd_entries_do_not_break_it(tmp_path: Path, entry: dict[str, Any]) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a"), entry)
    for tab in Tab:
        for selection in (
            single(session, 1),
            turn(session, 1),
            Selection(session, (range(2),), 0, SelectionKind.FOLD),
        ):
            assert page(selection, tab).text.strip()


def test_megabytes_are_cut_with_a_notice(tmp_path: Path) -> None:
    huge = "word " * 400_000
    session = write_session(
        tmp_path / "s.jsonl",
        user(huge),
        reply("x" * 300_000, call("bash", "c1", command=huge)),
        result("bash", "c1", huge),
    )
    shown = page(turn(session), toggled={"you0", "ai", "step0", "step0/output"})
    assert "more lines not shown" in shown.text
    assert len(shown.lines) < 12_000


@pytest.mark.parametrize("width", [8, 20, 41, 62, 140])
def test_nothing_is_wider_than_the_page(corpora: Path, width: int) -> None:
    session = opened(corpora / "pi" / "branched.jsonl")
    for head in (0, 3, 40, 215, 250, 333, 363, 454, 521, 622):
        for tab in Tab:
            shown = page(
                turn(session, head), tab, width=width, toggled={"thoughts", "remarks", "step0", "step1"}
            )
            for line in list(shown.lines)[:300]:
                assert sum(cell_len(span.text) for span in line.spans) <= max(width, 16), line.text


def test_wide_characters_are_measured(tmp_path: Path) -> None:
    text = "# 標題\n\n你好世界，這是一個很長的句子，需要換行才能放進去。👩‍💻 🏳️‍🌈 e\u0301\n\n| 名 | x |\n|--|--|\n| 很長的內容很長的內容很長的內容 | 👍🏽 |\n\n```py\nx = '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字'\n```"
    session = write_session(tmp_path / "s.jsonl", user(text))
    for width in range(16, 50):
        for line in page(turn(session), width=width).lines:
            assert sum(cell_len(span.text) for span in line.spans) <= width
