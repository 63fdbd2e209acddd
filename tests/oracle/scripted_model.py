"""A model on loopback that answers by a script, for real agents: Anthropic's Messages and OpenAI's Chat Completions.

What is answered depends on the request alone: the newest user text that the script knows, and how many replies came after it.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.oracle.loopback import Endpoint, serving
from tests.oracle.provider_rules import chat_errors, messages_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

Call = tuple[str, dict[str, Any]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    counted: int = 100
    """The tokens of the request, as the service counts them."""


@dataclass(slots=True)
class Model:
    """Answers to give, and requests that came."""

    script: dict[str, list[Step]]
    """Steps of a turn, by words of its prompt."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    strict: bool = False
    """Whether a request that breaks the provider's rules is answered with an error, as the provider does."""
    sums_up: bool = True
    """Whether requests that offer no tools, as those for summaries, are answered; else with an error."""
    refused: list[str] = field(default_factory=list)
    """Faults of such requests."""

    def step(self, body: dict[str, Any]) -> Step:
        """The reply to a request."""
        said = [(one.get("role"), _words(one)) for one in _messages(body)]
        for place in range(len(said) - 1, -1, -1):
            role, text = said[place]
            if role != "user":
                continue
            for words, steps in self.script.items():
                if words in text:
                    made = [role for role, _ in said[place + 1 :]].count("assistant")
                    return steps[min(made, len(steps) - 1)]
        return Step("Understood.")

    def main(self, since: int = 0) -> list[dict[str, Any]]:
        """The requests of conversations: those that offer tools."""
        return [body for body in self.requests[since:] if body.get("tools")]


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    found = body.get("messages")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _words(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = [part for part in content or [] if isinstance(part, dict)]
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


_NUMBER = count(1)


def _anthropic(model: str, step: Step) -> Iterator[tuple[str, dict[str, Any]]]:
    blocks: list[dict[str, Any]] = []
    if step.thinking:
        blocks.append({"type": "thinking", "thinking": step.thinking, "signature": "c2lnbmVk"})
    if step.text:
        blocks.append({"type": "text", "text": step.text})
    blocks += [
        {"type": "tool_use", "id": f"toolu_{next(_NUMBER):020}", "name": name, "input": given}
        for name, given in step.calls
    ]
    usage = {
        "input_tokens": step.counted,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
    }
    message: dict[str, Any] = {
        "id": f"msg_{next(_NUMBER):020}",
        "type": "message",
        "role": "assistant",
        "model": model,
    }
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": message}
    for index, block in enumerate(blocks):
        place = {"index": index}
        kind = block["type"]
        begun: dict[str, dict[str, Any]] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        yield "content_block_start", {**place, "content_block": {**block, **begun[kind]}}
        deltas: dict[str, list[dict[str, Any]]] = {
            "text": [{"type": "text_delta", "text": block.get("text")}],
            "thinking": [
                {"type": "thinking_delta", "thinking": block.get("thinking")},
                {"type": "signature_delta", "signature": block.get("signature")},
            ],
            "tool_use": [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}],
        }
        for delta in deltas[kind]:
            yield "content_block_delta", {**place, "delta": delta}
        # Blocks that end within one millisecond lose a resumed Claude Code 2.0 and 2.1.61: it goes on from the first of them.
        time.sleep(0.004)
        yield "content_block_stop", place
    stop = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": usage}
    yield "message_stop", {}


def _chat(model: str, step: Step) -> Iterator[dict[str, Any]]:
    head = {
        "id": f"chatcmpl-{next(_NUMBER)}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    if step.thinking:
        yield chunk({"reasoning_content": step.thinking})
    if step.text:
        yield chunk({"content": step.text})
    for index, (name, given) in enumerate(step.calls):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"index": index, "id": f"call_{next(_NUMBER):020}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if step.calls else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield {**head, "choices": [], "usage": usage}


@contextmanager
def scripted(script: dict[str, list[Step]], *, strict: bool = False) -> Iterator[Model]:
    """A model that answers by a script, while the block runs; `strict` keeps the provider's rules."""
    model = Model(script, strict=strict)

    class Scripted(Endpoint):
        def do_POST(self) -> None:
            raw = self.read()
            path = self.path.partition("?")[0]
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {}
            if path.endswith("/count_tokens"):
                self.answer(json.dumps({"input_tokens": len(raw) // 4}).encode())
                return
            if not path.endswith(("/messages", "/chat/completions")):
                self.answer(b"{}")
                return
            errors = (messages_errors if path.endswith("/messages") else chat_errors)(body)
            if not (model.sums_up or body.get("tools")):
                errors = ["not now"]
            elif not model.strict:
                errors = []
            if errors:
                model.refused += errors
                error = {"type": "invalid_request_error", "message": errors[0]}
                self.answer(json.dumps({"type": "error", "error": error}).encode(), status=400)
                return
            model.requests.append(body)
            step, name = model.step(body), str(body.get("model"))
            if path.endswith("/messages"):
                self.stream((kind, {"type": kind, **data}) for kind, data in _anthropic(name, step))
            else:
                chunks = [f"data: {json.dumps(data)}\n\n" for data in _chat(name, step)]
                self.answer("".join([*chunks, "data: [DONE]\n\n"]).encode(), "text/event-stream")

    with serving(Scripted) as model.url:
        yield model
