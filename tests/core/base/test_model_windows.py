"""The window of a model: configured, recorded by the agent, known by its name, or assumed."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from leafward.agents.model_window import context_window
from leafward.base.config import DEFAULT_WINDOW, Config, parse
from leafward.base.model_windows import WindowSource, known_window
from leafward.context.model_context import context_at
from tests.claude_transcript import Transcript
from tests.codex_rollout import CODEX, DATA, Rollout, opened


@pytest.mark.parametrize(
    ("model", "used", "window"),
    [
        ("gpt-5", 0, 272_000),
        ("openai/gpt-4o-mini", 0, 128_000),
        ("gpt-5-2025-08-07", 0, 272_000),
        ("claude-sonnet-4-5-20250929", 0, 200_000),
        ("claude-opus-4-6", 0, 200_000),
        ("claude-opus-4-6", 210_000, 1_000_000),
        ("claude-opus-4-6[1m]", 0, 1_000_000),
        ("anthropic/claude-that-comes-later", 0, 200_000),
        ("pear-1", 0, None),
        (None, 0, None),
        ("", 0, None),
    ],
)
def test_common_models_are_known_by_their_names(model: str | None, used: int, window: int | None) -> None:
    assert known_window(model, used) == window


def test_what_is_configured_wins_then_what_the_agent_recorded() -> None:
    def found(config: Config, model: str | None = "gpt-5", recorded: int | None = 258_400) -> tuple[int, str]:
        window = config.window_for(model, recorded)
        return window.tokens, window.source.value

    assert found(Config()) == (258_400, "recorded")
    assert found(Config(), recorded=None) == (272_000, "known model")
    assert found(Config(), "pear-1", None) == (DEFAULT_WINDOW, "assumed")
    assert found(Config(), None, None) == (DEFAULT_WINDOW, "assumed")
    assert found(Config(windows={"gpt-5": 9_000})) == (9_000, "configured")
    assert found(Config(window=50_000)) == (50_000, "configured")
    same, _ = parse("window = 200000", Path("config.toml"))
    assert found(same) == (200_000, "configured"), "also where it is what would be assumed"


def test_codex_says_its_window(tmp_path: Path) -> None:
    (path,) = (DATA / "0.142").rglob("rollout-*.jsonl")
    with closing(CODEX.open(path)) as session:
        window = context_window(session, context_at(session, session.leaf), Config())
        assert window == (121_600, WindowSource.RECORDED)
    made = Rollout(tmp_path)
    made.event("task_started", turn_id="one", model_context_window=100_000)
    made.prompt("Compare")
    made.reply("They differ.")
    made.event("task_started", turn_id="two", model_context_window=50_000)
    made.prompt("Compare again")
    made.reply("They differ still.")
    thread = opened(made.path)
    first = next(index for index in range(len(thread)) if b"They differ." in thread.raw(index))
    assert thread.source.recorded_window(thread.leaf) == 50_000
    assert thread.source.recorded_window(first) == 100_000
    assert thread.source.recorded_window(-1) is None


def test_a_window_is_read_whatever_the_spacing(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.event("task_started", turn_id="one", model_context_window=100_000)
    made.prompt("Compare")
    made.reply("They differ.")
    lines = [json.dumps(json.loads(line)) for line in made.path.read_text().splitlines()]
    made.path.write_text("\n".join(lines) + "\n")
    thread = opened(made.path)
    assert thread.source.recorded_window(thread.leaf) == 100_000


def test_the_table_holds_each_model_once_with_its_window() -> None:
    from tests.data.make_windows import TARGET

    rows = [line.split("\t") for line in TARGET.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(rows) > 200
    assert [row[0] for row in rows] == sorted({row[0] for row in rows})
    assert all(len(row) == 3 and int(row[1]) > 0 and int(row[2]) >= 0 for row in rows)


@pytest.mark.parametrize(
    ("version", "model", "window"),
    [
        ("2.1.332", "claude-opus-5-5", 1_000_000),
        ("2.1.332", "claude-opus-4-7", 1_000_000),
        ("2.1.332", "claude-sonnet-4-6", 200_000),
        ("2.1.332", "claude-opus-4-20250514", 200_000),
        ("2.1.332", "claude-3-5-sonnet-20241022", 200_000),
        ("2.1.283", "claude-opus-4-7", 200_000),
        ("2.1.285", "claude-opus-4-7", 1_000_000),
        ("2.1.332", "claude-that-comes-later", 200_000),
    ],
)
def test_claude_code_gives_newer_models_their_long_window_unasked(
    tmp_path: Path, version: str, model: str, window: int
) -> None:
    """As its /context says: 2.1.283 and before 200k for each of them, 2.1.285 and later the long one from 4.7 on."""
    transcript = Transcript(tmp_path)
    transcript.defaults["version"] = version
    transcript.prompt("Hello")
    said = {"id": "m1", "role": "assistant", "model": model, "content": [{"type": "text", "text": "Hi."}]}
    transcript.row("assistant", message={**said, "usage": {"input_tokens": 10, "output_tokens": 5}})
    session = transcript.opened()
    context = context_at(session)
    assert context.model == model
    assert context_window(session, context, Config()).tokens == window
