"""Counts that no request can have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leafward.cli.main import main
from leafward.session.entries import MOST_TOKENS, read_usage
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("field", ["input", "output", "cacheRead", "cacheWrite", "totalTokens"])
@pytest.mark.parametrize("value", [MOST_TOKENS, 2**63, 2**200, -(2**63), 1e300, -1, -0.5])
def test_a_count_beyond_all_requests_is_none(field: str, value: float) -> None:
    usage = read_usage({"input": 5, "output": 2, field: value})
    assert usage is not None
    assert usage.total == sum(kept for name, kept in (("input", 5), ("output", 2)) if name != field)


@pytest.mark.parametrize("verb", ["plan", "doctor", "compact", "heal", "context", "tree"])
def test_no_verb_stumbles_over_one(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"input": 1, "output": 1, "totalTokens": 2**70, "cost": {"total": 0}}
    lines: list[dict[str, object]] = [{**HEADER, "cwd": str(tmp_path)}]
    parent = None
    for number in range(8):
        role = "assistant" if number % 2 else "user"
        said: dict[str, object] = {
            "role": role,
            "content": [{"type": "text", "text": f"word {number} " * 30}],
        }
        if role == "assistant":
            said |= {"usage": usage, "stopReason": "stop", "provider": "p", "model": "m"}
        name = f"{number:08x}"
        lines.append({"type": "message", "id": name, "parentId": parent, "message": said})
        parent = name
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = {
        "plan": ["--keep-recent", "1"],
        "compact": ["--dry-run", "--keep-recent", "1"],
        "heal": ["--dry-run"],
    }
    assert main([verb, str(file), *options.get(verb, [])]) in (0, 1)
    assert "unforeseen" not in capsys.readouterr().err
