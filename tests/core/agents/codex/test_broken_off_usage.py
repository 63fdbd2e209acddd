"""A reply of Codex that was broken off has no usage of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.session.entries import Kind
from tests.codex_rollout import Rollout

if TYPE_CHECKING:
    from pathlib import Path


def test_a_count_behind_a_reply_that_was_broken_off_is_that_of_the_one_before(tmp_path: Path) -> None:
    """0.171 stores what was said by then, records no usage for it, and repeats the count of the thread."""
    file = Rollout(tmp_path, cli_version="0.171.0")
    spent = {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100}
    for text, recorded in (("First.", True), ("Sec", False), ("Third.", True)):
        file.prompt("Go on")
        file.said(text, "assistant")
        if recorded:
            file.line("token_usage_record", usage=spent)
        file.count(100 if text != "Third." else 200)
    session = file.opened()
    told: list[Any] = [
        ((session.body(index) or {})["message"].get("usage") or {}).get("input")
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.ASSISTANT
    ]
    assert told == [90, None, 90]
    assert session.columns.kind.count(Kind.USAGE) == 0
