"""The rules that providers answer requests by: what is wrong with a request, in the order in which it stands there.

Anthropic's Messages, and OpenAI's Chat Completions and Responses, as their documents and error messages have them in November
2026. Strict on purpose: pairing and order of calls and results, roles, empty content, images, thinking.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

import imagesize

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE_LIMIT = 5 << 20
_MANY_IMAGES, _MOST_IMAGES = 20, 100
_LONGEST_TOOL = 200
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL = re.compile(r"[a-zA-Z0-9_-]+")
_HALF = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-f]{2}(?!\\u[dD][c-fC-F])")
_BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def messages_errors(body: dict[str, Any]) -> list[str]:
    """Of a request to Anthropic's Messages."""
    return list(_messages_errors(body.get("messages") or []))


def _messages_errors(messages: list[dict[str, Any]]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield "messages.0: the first message must have the user role"
    called: set[str] = set()
    joined = list(_joined(messages))
    if any(_HALF.search(json.dumps(message)) for message in messages):
        yield "the request body is not valid JSON: no low surrogate in string"
    sides = [side for _, blocks in joined for side in _image_sides(blocks)]
    if len(sides) > _MOST_IMAGES:
        yield f"too many images: {len(sides)}"
    if len(sides) > _MANY_IMAGES and max(sides) > 2000:
        yield "image: dimensions exceed max allowed size for many-image requests: 2000 pixels"
    for place, (role, blocks) in enumerate(joined):
        where = f"messages.{place}"
        if role not in ("user", "assistant"):
            yield f"{where}: role {role}"
        if not blocks:
            yield f"{where}: content is empty"
        before = _calls(joined[place - 1][1]) if place and joined[place - 1][0] == "assistant" else []
        answered = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if role == "assistant" and answered:
            yield f"{where}: tool_result blocks only in user messages"
        for name in answered:
            if name not in before:
                yield f"{where}: unexpected tool_use_id {name}: no tool_use in the message before"
        for name in {name for name in answered if answered.count(name) > 1}:
            yield f"{where}: several tool_result blocks with id {name}"
        for name in before:
            if name not in answered:
                yield f"{where}: tool_use {name} without a tool_result right after"
        found = {str(block.get("tool_use_id")) for block in blocks}
        for block in blocks:
            if block.get("type") == "server_tool_use" and block.get("id") not in found:
                yield f"{where}: server_tool_use {block.get('id')} without its result"
        if answered and any(block.get("type") != "tool_result" for block in blocks[: len(answered)]):
            yield f"{where}: tool_result blocks have to come first"
        for name in _calls(blocks):
            if role != "assistant":
                yield f"{where}: tool_use blocks only in assistant messages"
            if name in called:
                yield f"{where}: tool_use ids must be unique: {name}"
            called.add(name)
        yield from (f"{where}: {error}" for block in blocks for error in _block_errors(block))
    if joined[-1][0] == "assistant" and _calls(joined[-1][1]):
        yield "the last message has tool_use without tool_result"


def _joined(messages: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Messages of one role in a row are one, as the provider takes them."""
    role, blocks = str(messages[0].get("role")), _blocks(messages[0].get("content"))
    for message in messages[1:]:
        if message.get("role") == role:
            blocks = [*blocks, *_blocks(message.get("content"))]
            continue
        yield role, blocks
        role, blocks = str(message.get("role")), _blocks(message.get("content"))
    yield role, blocks


def _calls(blocks: list[dict[str, Any]]) -> list[str]:
    return [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]


def _image_sides(blocks: list[dict[str, Any]]) -> Iterator[int]:
    """The longer side of each image, in pixels."""
    for block in blocks:
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            yield from _image_sides(block["content"])
        source = block.get("source") or {}
        if block.get("type") == "image" and source.get("type") == "base64":
            try:
                yield max(imagesize.get(BytesIO(base64.b64decode(str(source.get("data") or "")))))
            except binascii.Error:
                yield 0


def _block_errors(block: dict[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind == "tool_use":
        name = str(block.get("name") or "")
        if not 0 < len(name) <= _LONGEST_TOOL:
            yield f"tool_use.name: String should have 1 to {_LONGEST_TOOL} characters"
        if not _ID.fullmatch(str(block.get("id") or "")):
            yield "tool_use.id: String should match pattern"
        if not isinstance(block.get("input"), dict):
            yield "tool_use.input: Input should be a valid dictionary"
    if kind == "document":
        yield from _document_errors(block.get("source") or {})
    if kind == "text" and not str(block.get("text") or "").strip():
        yield "text content blocks must be non-empty"
    elif kind == "thinking" and not block.get("signature"):
        yield "thinking: signature is missing"
    elif kind == "image":
        source = block.get("source") or {}
        if source.get("type") == "base64":
            yield from _image_errors(str(source.get("media_type")), str(source.get("data") or ""))
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for one in block["content"]:
            yield from _block_errors(one)


def _document_errors(source: dict[str, Any]) -> Iterator[str]:
    if source.get("media_type") == "application/pdf":
        content = base64.b64decode(str(source.get("data") or ""))
        if not content.startswith(b"%PDF-") or b"startxref" not in content:
            yield "pdf: The PDF specified was not valid"
        if b"/Encrypt" in content:
            yield "pdf: The PDF specified is password protected"


def _image_errors(kind: str, data: str) -> Iterator[str]:
    if kind not in _BEGINNINGS:
        yield f"image: media type {kind}"
        return
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        yield "image: data is no base64"
        return
    if not content.startswith(_BEGINNINGS[kind]):
        yield f"image: could not be read as {kind}"
    if max(imagesize.get(BytesIO(content))) > 8000:
        yield "image: dimensions exceed max allowed size: 8000 pixels"
    if len(data) > IMAGE_LIMIT:
        yield "image: exceeds 5 MB maximum"


def chat_errors(body: dict[str, Any]) -> list[str]:
    """Of a request to OpenAI's Chat Completions."""
    found: list[str] = []
    waiting: list[str] = []
    for place, message in enumerate(body.get("messages") or []):
        role, where = message.get("role"), f"messages.{place}"
        if role == "tool":
            name = str(message.get("tool_call_id"))
            if name in waiting:
                waiting.remove(name)
            else:
                found.append(f"{where}: tool message {name} answers no call before it")
            continue
        found += [f"{where}: call {name} was not answered" for name in waiting]
        waiting = [str(call.get("id")) for call in message.get("tool_calls") or []]
        if len(set(waiting)) < len(waiting):
            found.append(f"{where}: two calls have one id")
        if role not in ("system", "developer", "user", "assistant"):
            found.append(f"{where}: role {role}")
        for call in message.get("tool_calls") or []:
            if not _TOOL.fullmatch(str(call["function"].get("name") or "")):
                found.append(f"{where}: name of a call does not match pattern")
            found += [f"{where}: {error}" for error in _arguments_errors(call["function"].get("arguments"))]
        if role == "user" and not message.get("content"):
            found.append(f"{where}: content is empty")
        if role == "assistant" and not message.get("content") and not waiting:
            found.append(f"{where}: neither content nor calls")
    return found + [f"at the end: call {name} was not answered" for name in waiting]


def _arguments_errors(arguments: Any) -> Iterator[str]:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        yield "arguments of a call are no JSON object"


def responses_errors(body: dict[str, Any]) -> list[str]:
    """Of a request to OpenAI's Responses."""
    items = body.get("input") or []
    found: list[str] = []
    calls: set[str] = set()
    answered: set[str] = set()
    for place, item in enumerate(items):
        kind, name, where = str(item.get("type")), str(item.get("call_id")), f"input.{place}"
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            if name in calls:
                found.append(f"{where}: call {name} is there already")
            calls.add(name)
            if kind == "function_call":
                if not _TOOL.fullmatch(str(item.get("name") or "")):
                    found.append(f"{where}: name of a call does not match pattern")
                found += [f"{where}: {error}" for error in _arguments_errors(item.get("arguments"))]
        elif kind.endswith("_call_output"):
            if name not in calls:
                found.append(f"{where}: no call was found for output {name}")
            if name in answered:
                found.append(f"{where}: output {name} is there already")
            answered.add(name)
        elif kind == "message" and not item.get("content"):
            found.append(f"{where}: content is empty")
    return found + [f"no output was found for call {name}" for name in sorted(calls - answered)]
