"""A model's server on loopback, scripted: what it answers, how it fails, and whether the caller hung up.

It speaks Chat Completions, Responses, Anthropic's Messages and Ollama's chat, all of them streaming.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = """## Goal
Port the parser to the new lexer.

## Constraints & Preferences
- No new dependency.

## Progress
### Done
- [x] `src/lexer.py` rewritten

### In Progress
- [ ] `src/parser.py`

### Blocked
- (none)

## Key Decisions
- Tokens are tuples: half the memory.

## Next Steps
1. Run `pytest tests/parser`.

## Critical Context
- 41 of 44 tests pass."""
"""An answer as it was asked for."""


@dataclass(frozen=True)
class Reply:
    """One scripted answer."""

    text: str = WHOLE
    finish: str = "stop"
    """`stop`, `length`, `tool_calls` or `content_filter`, in the words of Chat Completions."""
    end: str = "whole"
    """`whole`; `quiet`: the connection is closed with no final event; `reset`; `broken`: in the middle of a chunk;
    `stall`: nothing more comes until the caller hangs up, or `Endpoint.release` is called."""
    after: int | None = None
    """Pieces of the text that are sent before the end."""
    usage: tuple[int, int] | None = (1200, 300)
    """Tokens in and out."""
    cached: int = 0
    """How many of those that went in came from a cache."""
    tool: bool = False
    status: int = 200
    error: str = ""
    code: object = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the caller closed the connection before the answer was whole."""
    answered: threading.Event = field(default_factory=threading.Event)

    @property
    def system(self) -> str:
        return "\n".join(text for role, text in self._said() if role in {"system", "developer"})

    @property
    def prompt(self) -> str:
        return "\n".join(text for role, text in self._said() if role == "user")

    @property
    def max_tokens(self) -> int | None:
        options = self.body.get("options") or {}
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        return next((self.body[name] for name in names if name in self.body), options.get("num_predict"))

    def _said(self) -> Iterator[tuple[str, str]]:
        for key in ("system", "instructions"):
            if key in self.body:
                yield "system", _text(self.body[key])
        asked = self.body.get("messages", self.body.get("input", []))
        for item in [{"role": "user", "content": asked}] if isinstance(asked, str) else asked:
            yield item.get("role", ""), _text(item.get("content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


Script = Reply | Callable[[Asked], Reply]


class Endpoint:
    """The server; `script` is used up reply by reply, the last of it for all further requests."""

    def __init__(self) -> None:
        self.script: list[Script] = [Reply()]
        self.asked: list[Asked] = []
        self.arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._release = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="endpoint", daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """For models of OpenAI's kind; the others take `root`."""
        return f"{self.root}/v1"

    def play(self, *script: Script) -> None:
        """A new script; what was asked before is forgotten."""
        self.script, self.asked = list(script), []
        self._loop.call_soon_threadsafe(self._release.clear)

    def release(self) -> None:
        """Replies that stall go on."""
        self._loop.call_soon_threadsafe(self._release.set)

    def wait_for(self, requests: int, seconds: float = 60) -> None:
        """Until so many requests have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.asked) >= requests, seconds), len(self.asked)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._client, "127.0.0.1", 0, backlog=128)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length") or 0))
        asked = Asked(first.split(" ")[1], headers, json.loads(raw) if raw else {}, raw)
        if asked.path == "/api/show":
            return await _json(writer, 200, {}, {})
        with self.arrived:
            self.asked.append(asked)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            self.arrived.notify_all()
        reply = step(asked) if callable(step) else step
        if reply.status != 200:
            error = {"message": reply.error or "scripted", "type": "scripted", "code": reply.code}
            return await _json(writer, reply.status, {"type": "error", "error": error}, reply.headers)
        watch = asyncio.ensure_future(reader.read(1))
        watch.add_done_callback(lambda done: _hung_up(done, asked))
        try:
            return await self._answer(asked, reply, writer, watch)
        except ConnectionError:
            asked.gone.set()
            raise
        finally:
            asked.answered.set()
            watch.cancel()

    async def _answer(
        self, asked: Asked, reply: Reply, writer: asyncio.StreamWriter, watch: asyncio.Future[bytes]
    ) -> bool:
        chunked = reply.end == "broken"
        kind = "application/x-ndjson" if asked.path.startswith("/api/") else "text/event-stream"
        if not asked.body.get("stream", asked.path.startswith("/api/")):
            kind = "application/json"
        framing = "Transfer-Encoding: chunked" if chunked else "Connection: close"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{framing}\r\n\r\n".encode())
        opening, pieces, closing = _events(asked, reply)
        sent = pieces if reply.after is None else pieces[: reply.after]
        for event in [*opening, *sent]:
            writer.write(b"%x\r\n%s\r\n" % (len(event), event) if chunked else event)
            await writer.drain()
        if reply.end == "stall":
            go_on = asyncio.ensure_future(self._release.wait())
            waiting: set[asyncio.Future[Any]] = {watch, go_on}
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                go_on.cancel()
        if reply.end == "reset":
            # Closing with no time to linger sends a reset instead of an end.
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        elif reply.end == "broken":
            writer.write(b"ff\r\ndata: {")
        elif reply.end in {"whole", "stall"} and not asked.gone.is_set():
            for event in [*pieces[len(sent) :], *closing]:
                writer.write(event)
        await writer.drain()
        return False


def _hung_up(done: asyncio.Future[bytes], asked: Asked) -> None:
    if not done.cancelled() and (done.exception() or not done.result()) and not asked.answered.is_set():
        asked.gone.set()


async def _json(writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str]) -> bool:
    raw = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Scripted", "Content-Type: application/json", f"Content-Length: {len(raw)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)
    await writer.drain()
    return True


Events = tuple[list[bytes], list[bytes], list[bytes]]


def _events(asked: Asked, reply: Reply) -> Events:
    pieces = re.findall(r".{1,40}", reply.text, re.DOTALL)
    if asked.path.endswith("/chat/completions"):
        return _chat(asked, reply, pieces)
    if asked.path.endswith("/responses") and not asked.body.get("stream"):
        whole = json.dumps(_response(asked, reply)).encode()
        return [], [whole[:100]], [whole[100:]]
    if asked.path.endswith("/responses"):
        return _responses(asked, reply, pieces)
    if asked.path.endswith("/messages"):
        return _messages(asked, reply, pieces)
    assert asked.path == "/api/chat", asked.path
    return _ollama(asked, reply, pieces)


def _sse(data: Any, name: str = "") -> bytes:
    event = f"event: {name}\n" if name else ""
    return f"{event}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _chat(asked: Asked, reply: Reply, pieces: list[str]) -> Events:
    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return _sse({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": asked.body["model"]}
                    | {"choices": choices} | more)  # fmt: skip

    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    closing = [chunk({"tool_calls": [call]})] if reply.tool else []
    closing.append(chunk({}, reply.finish))
    if reply.usage is not None:
        sent, said = reply.usage
        usage: dict[str, Any] = {
            "prompt_tokens": sent,
            "completion_tokens": said,
            "total_tokens": sent + said,
        }
        usage |= {"prompt_tokens_details": {"cached_tokens": reply.cached}}
        closing.append(chunk({}, None, choices=[], usage=usage))
    closing.append(_sse("[DONE]"))
    return (
        [chunk({"role": "assistant", "content": ""})],
        [chunk({"content": text}) for text in pieces],
        closing,
    )


def _response(asked: Asked, reply: Reply) -> dict[str, Any]:
    """A response as it is at its end."""
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    message = {"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [part]}
    output: list[dict[str, Any]] = [message]
    if reply.tool:
        call = {"type": "function_call", "id": "f", "call_id": "t", "name": "bash", "arguments": "{}"}
        output.append({**call, "status": "completed"})
    sent, said = reply.usage or (0, 0)
    usage: dict[str, Any] = {"input_tokens": sent, "output_tokens": said, "total_tokens": sent + said}
    usage |= {"input_tokens_details": {"cached_tokens": reply.cached}}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reply.finish)
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "status": "incomplete" if cut else "completed",
        "model": asked.body["model"],
        "output": output,
        "usage": usage,
        **({"incomplete_details": {"reason": cut}} if cut else {}),
    }


def _responses(asked: Asked, reply: Reply, pieces: list[str]) -> Events:
    number = iter(range(10_000))

    def event(kind: str, **more: Any) -> bytes:
        return _sse({"type": kind, "sequence_number": next(number), **more}, kind)

    final = _response(asked, reply)
    message, *calls = final["output"]
    place = {"item_id": "m", "output_index": 0, "content_index": 0}
    begun = {**message, "status": "in_progress", "content": []}
    opening = [
        event("response.created", response={**final, "status": "in_progress", "output": [], "usage": None}),
        event("response.output_item.added", output_index=0, item=begun),
        event("response.content_part.added", part={**message["content"][0], "text": ""}, **place),
    ]
    told = [event("response.output_text.delta", delta=text, **place) for text in pieces]
    closing = [
        event("response.output_text.done", text=reply.text, **place),
        event("response.output_item.done", output_index=0, item=message),
    ]
    for call in calls:
        closing.append(event("response.output_item.added", output_index=1, item=call))
        closing.append(event("response.output_item.done", output_index=1, item=call))
    closing.append(event(f"response.{final['status']}", response=final))
    return opening, told, closing


_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def _messages(asked: Asked, reply: Reply, pieces: list[str]) -> Events:
    def event(kind: str, **more: Any) -> bytes:
        return _sse({"type": kind, **more}, kind)

    sent, said = reply.usage or (0, 0)
    usage = {"input_tokens": sent - reply.cached, "cache_read_input_tokens": reply.cached, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": asked.body["model"], "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    opening = [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ]
    told = [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}) for text in pieces
    ]
    closing = [event("content_block_stop", index=0)]
    if reply.tool:
        block = {"type": "tool_use", "id": "t", "name": "bash", "input": {}}
        closing += [event("content_block_start", index=1, content_block=block)]
        closing += [event("content_block_stop", index=1)]
    delta = {"stop_reason": _STOPS[reply.finish], "stop_sequence": None}
    closing += [
        event("message_delta", delta=delta, usage={**usage, "output_tokens": said}),
        event("message_stop"),
    ]
    return opening, told, closing


def _ollama(asked: Asked, reply: Reply, pieces: list[str]) -> Events:
    def line(text: str, **more: Any) -> bytes:
        message = {"role": "assistant", "content": text}
        return (
            json.dumps({"model": asked.body["model"], "message": message, "done": False} | more).encode()
            + b"\n"
        )

    sent, said = reply.usage or (0, 0)
    counts = {"done": True, "done_reason": reply.finish, "prompt_eval_count": sent, "eval_count": said}
    return [], [line(text) for text in pieces], [line("", **counts)]
