"""A model on loopback for the real Codex: the Responses API, streaming, answered by a script, with usage that tells replies apart."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.oracle.loopback import Endpoint, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Item = dict[str, Any]
SUMMARY = "Fruit was compared, the list is written."


@dataclass(slots=True)
class Exchange:
    """One request and what was answered."""

    number: int
    request: dict[str, Any]
    items: list[Item]
    input_tokens: int
    compacts: bool
    """Whether it asked for a summary of the conversation."""

    @property
    def marks(self) -> set[str]:
        """Ids of its calls, or its text: what its reply is told by in a session."""
        calls = {str(item["call_id"]) for item in self.items if "call_id" in item}
        return calls or {part["text"] for item in self.items for part in item.get("content", ())}


@dataclass(slots=True)
class ResponsesModel:
    """Answers a prompt by the steps whose words it contains, else with one sentence."""

    steps: dict[str, list[list[Item]]] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    """Words of prompts whose last reply claims that the window is nearly full."""
    exchanges: list[Exchange] = field(default_factory=list)
    url: str = ""

    def answer(self, request: dict[str, Any]) -> Exchange:
        """The next reply."""
        number = len(self.exchanges) + 1
        given = request.get("input") or []
        asked = [words_in(item) for item in given]
        place, words = next(
            (
                (place, words)
                for place in range(len(given) - 1, -1, -1)
                if given[place].get("role") == "user"
                for words in self.steps
                if words in asked[place]
            ),
            (-1, ""),
        )
        last = next((text for text in reversed(asked) if text), "")
        compacts = "ummar" in last and SUMMARY not in last and not (words and words in last)
        items = [said(f"Understood. ({number})")]
        if compacts:
            items = [said(SUMMARY)]
        elif words:
            answered = {
                item.get("call_id") for item in given[place:] if str(item.get("type")).endswith("_output")
            }
            left = [step for step in self.steps[words] if not {one.get("call_id") for one in step} & answered]
            items = left[0] if left else items
        size = 1_000 * number
        if words in self.large and not any("call_id" in item for item in items):
            self.large.discard(words)
            size += 100_000
        made = Exchange(number, request, items, size, compacts)
        self.exchanges.append(made)
        return made


def words_in(item: Item) -> str:
    """The texts of an item."""
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def said(text: str) -> Item:
    """An assistant's message."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": f"msg_{abs(hash(text))}", "role": "assistant", "content": [part]}


def thought(text: str) -> Item:
    """Reasoning with a summary that can be read."""
    return {
        "type": "reasoning",
        "id": f"rs_{abs(hash(text))}",
        "summary": [{"type": "summary_text", "text": text}],
    }


def compacting(model: ResponsesModel, project: Path) -> str:
    """Codex's configuration for a model: it does all in a project without asking, and compacts by itself at 90,000 tokens."""
    return (
        'model = "gpt-5.1-codex"\nmodel_provider = "fake"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n'
        "model_context_window = 128000\nmodel_auto_compact_token_limit = 90000\n"
        f'[model_providers.fake]\nname = "fake"\nbase_url = "{model.url}"\nwire_api = "responses"\n'
        "request_max_retries = 0\nstream_max_retries = 0\n[analytics]\nenabled = false\n"
        f'[projects.{json.dumps(str(project))}]\ntrust_level = "trusted"\n'
    )


@contextmanager
def answering(model: ResponsesModel) -> Iterator[ResponsesModel]:
    """Serves a model while the block runs."""

    class Scripted(Endpoint):
        def do_POST(self) -> None:
            request = json.loads(self.read() or b"{}")
            if not self.path.endswith("/responses"):
                self.answer(b"{}")
                return
            made = model.answer(request)
            usage = {
                "input_tokens": made.input_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": made.input_tokens + 10,
            }
            head = {"id": f"resp_{made.number}", "object": "response", "output": []}
            events: list[dict[str, Any]] = [
                {"type": "response.created", "response": head | {"status": "in_progress"}}
            ]
            for place, item in enumerate(made.items):
                events += [
                    {"type": f"response.output_item.{stage}", "output_index": place, "item": item}
                    for stage in ("added", "done")
                ]
            done = head | {"status": "completed", "output": made.items, "usage": usage}
            events.append({"type": "response.completed", "response": done})
            self.stream((str(one["type"]), one) for one in events)

    with serving(Scripted) as address:
        model.url = f"{address}/v1"
        yield model
