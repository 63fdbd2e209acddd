"""Makes core/leafward/data/windows.tsv: the context windows of common models, out of the list that litellm ships.

Run it again after litellm was updated: ``python -m tests.data.make_windows``. Nothing of litellm is read when Leafward runs.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[2] / "core" / "leafward" / "data" / "windows.tsv"
_LIST = "litellm/model_prices_and_context_window_backup.json"
_PROVIDERS = (
    "openai",
    "anthropic",
    "gemini",
    "xai",
    "deepseek",
    "mistral",
    "moonshot",
    "zai",
    "dashscope",
    "minimax",
    "meta_llama",
    "cohere_chat",
    "groq",
    "github_copilot",
)
"""Whose models are taken; of models with one name the first provider's counts."""


def rows(models: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Window and longest answer in tokens (0: not known) by the bare name of a model."""
    found: dict[str, tuple[int, int]] = {}
    for provider in _PROVIDERS:
        for name, told in models.items():
            if told.get("litellm_provider") != provider or told.get("mode") not in ("chat", "responses"):
                continue
            window, answer = told.get("max_input_tokens"), told.get("max_output_tokens")
            if isinstance(window, int) and window > 0:
                bare = name.rpartition("/")[2].lower()
                found.setdefault(bare, (window, answer if isinstance(answer, int) else 0))
    return found


def render() -> str:
    """The file's text."""
    file = importlib.metadata.distribution("litellm").locate_file(_LIST)
    models = json.loads(Path(str(file)).read_text("utf-8"))
    head = (
        "# model\\tcontext window\\tlongest answer, in tokens; made by tests/data/make_windows.py\n".replace(
            "\\t", "\t"
        )
    )
    return head + "".join(
        f"{name}\t{window}\t{answer}\n" for name, (window, answer) in sorted(rows(models).items())
    )


def main() -> int:
    """Writes the file."""
    TARGET.write_text(render(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
