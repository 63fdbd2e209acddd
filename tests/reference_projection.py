"""Messages that a model receives at an entry, computed the slow and obvious way.

Dictionaries and lists only, nothing cached, nothing clever: the rules of pi 1.5.2 written down once
more, so that tests can compare the fast implementation with them on any tree. The goldens under
``data/pi/golden`` pin this module itself to the real program.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NamedTuple, NoReturn

Entry = dict[str, Any]
Message = dict[str, Any]

IMAGE_CHARS = 4800
"""Size that pi counts for any image, in UTF-16 units."""


class Projection(NamedTuple):
    """Messages at an entry, each with the index of its source entry, and the settings in force there."""

    messages: list[tuple[int, Message]]
    thinking: str
    model: tuple[str, str] | None


def load(text: str) -> tuple[Entry, list[Entry]]:
    """Header and entries of a session file's text, migrated to version 3; ``ValueError`` without a header."""
    parsed = [value for line in text.split("\n") if (value := _parse(line)) not in (None, False, 0, "")]
    parsed = [value if isinstance(value, dict) else {} for value in parsed]
    if not parsed or parsed[0].get("type") != "session" or not isinstance(parsed[0].get("id"), str):
        raise ValueError("no session header")
    version = parsed[0].get("version", 1)
    for place, entry in enumerate(parsed):
        if version < 2 and place:
            entry["id"], entry["parentId"] = f"line-{place}", f"line-{place - 1}" if place > 1 else None
            kept = entry.pop("firstKeptEntryIndex", None) if entry.get("type") == "compaction" else None
            if kept and kept < len(parsed):
                entry["firstKeptEntryId"] = f"line-{kept}"
        if version < 3 and entry.get("type") == "message" and entry["message"].get("role") == "hookMessage":
            entry["message"]["role"] = "custom"
    return parsed[0], [entry for entry in parsed if entry.get("type") != "session"]


def path_to(entries: list[Entry], at: int | None) -> list[int]:
    """Indexes of the entries from a root down to entry ``at``; ``None`` is the place before everything."""
    by_id = {entry.get("id"): index for index, entry in enumerate(entries)}
    path: list[int] = []
    while at is not None and at not in path:
        path.append(at)
        parent = entries[at].get("parentId")
        at = by_id.get(parent) if parent else None
    return path[::-1]


def project(entries: list[Entry], at: int | None) -> Projection:
    """The messages a model receives when the leaf is entry ``at``."""
    path = path_to(entries, at)
    thinking, model, compaction = "off", None, None
    for index in path:
        entry, message = entries[index], entries[index].get("message") or {}
        if entry.get("type") == "thinking_level_change":
            thinking = entry["thinkingLevel"]
        elif entry.get("type") == "model_change":
            model = (entry["provider"], entry["modelId"])
        elif entry.get("type") == "message" and message.get("role") == "assistant":
            model = (message.get("provider"), message.get("model"))
        elif entry.get("type") == "compaction":
            compaction = index
    selected = path
    if compaction is not None:
        place = path.index(compaction)
        first = entries[compaction].get("firstKeptEntryId")
        starts = [n for n in range(place) if entries[path[n]].get("id") == first]
        kept = [i for i in path[starts[0] : place] if not _is_system(entries[i])] if starts else []
        selected = [compaction, *kept, *path[place + 1 :]]
    edits = {
        entries[i]["targetId"]: entries[i]["replacement"]
        for i in selected
        if entries[i].get("type") == "context_edit"
    }
    messages: list[tuple[int, Message]] = []
    for index in selected:
        entry = entries[index]
        if entry.get("type") == "compaction" and index != compaction:
            continue
        for message in _messages_of(entry):
            if entry.get("id") in edits:
                if edits[entry["id"]] is None:
                    continue
                message = _edited(message, edits[entry["id"]]["content"])
            messages.append((index, message))
    return Projection(messages, thinking, model)


def _messages_of(entry: Entry) -> list[Message]:
    kind = entry.get("type")
    if kind == "message":
        message = entry["message"]
        if message.get("content") is None and message["role"] in (
            "system",
            "user",
            "assistant",
            "toolResult",
        ):
            return [{**message, "content": "" if message["role"] == "system" else []}]
        return [message]
    if kind == "custom_message":
        content = entry.get("content")
        return [{"role": "custom", "content": [] if content is None else content}]
    if kind == "branch_summary" and entry.get("summary"):
        return [{"role": "branchSummary", "summary": entry["summary"]}]
    if kind == "compaction":
        summary = {"role": "compactionSummary", "summary": entry["summary"]}
        return [entry["systemMessage"], summary] if entry.get("systemMessage") else [summary]
    return []


def _edited(message: Message, content: Any) -> Message:
    if message["role"] not in ("user", "assistant", "toolResult", "custom"):
        return message
    if message["role"] in ("assistant", "toolResult") and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def _is_system(entry: Entry) -> bool:
    return entry.get("type") == "message" and entry["message"].get("role") == "system"


def tokens(message: Message) -> int:
    """pi's estimate of one message: a quarter of its UTF-16 length, rounded up."""
    role, chars = message["role"], 0
    if role in ("system", "user", "custom", "toolResult"):
        chars = _content_chars(message["content"])
        if role == "system":
            chars += sum(_units(text) for text in (message.get("sections") or {}).values() if text)
            if message.get("toolsAdded") is not None:
                chars += _units(compact_json(message["toolsAdded"]))
    elif role == "assistant":
        for block in message["content"]:
            if block["type"] in ("text", "thinking"):
                chars += _units(block[block["type"]])
            elif block["type"] == "toolCall":
                chars += _units(block["name"]) + _units(compact_json(block["arguments"]))
    elif role == "bashExecution":
        chars = _units(message["command"]) + _units(message["output"])
    elif role in ("branchSummary", "compactionSummary"):
        chars = _units(message["summary"])
    return -(-chars // 4)


def context_size(entries: list[Entry], at: int | None) -> dict[str, int | None]:
    """Size of the context at ``at`` in tokens: the last trusted usage plus what follows it, else the estimates' sum."""
    projected = project(entries, at).messages
    sources = [index for index, _ in projected]
    messages = [message for _, message in projected]
    path = path_to(entries, at)
    for last in range(len(messages) - 1, -1, -1):
        used = _usage(messages[last])
        if not used:
            continue
        doubts = [n for n, i in enumerate(path) if entries[i].get("type") in ("context_edit", "compaction")]
        if path.index(sources[last]) <= (doubts[-1] if doubts else -1):
            break
        trailing = sum(tokens(message) for message in messages[last + 1 :])
        return {"total": used + trailing, "from_usage": used, "trailing": trailing, "usage_message": last}
    system = replay([message for message in messages if message["role"] == "system"])
    total = sum(tokens(message) for message in messages if message["role"] != "system")
    total += tokens(system) if system else 0
    return {"total": total, "from_usage": 0, "trailing": total, "usage_message": None}


def _usage(message: Message) -> int:
    usage = message.get("usage")
    if message["role"] != "assistant" or message.get("stopReason") in ("aborted", "error") or not usage:
        return 0
    parts = [usage.get(part) for part in ("input", "output", "cacheRead", "cacheWrite")]
    return usage.get("totalTokens") or (sum(parts) if None not in parts else 0)


def replay(messages: list[Message]) -> Message | None:
    """The one system message that a sequence of system messages amounts to.

    ``None`` without messages, and, as in pi, when none of them carries a time and no tool is left.
    """
    texts: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[str, Any] = {}
    for message in messages:
        texts.append(_text(message["content"]))
        for name, value in (message.get("sections") or {}).items():
            if value is None:
                sections.pop(name, None)
            else:
                sections[name] = value
        for tool in message.get("toolsRemoved") or []:
            tools.pop(tool["name"], None)
        for tool in message.get("toolsAdded") or []:
            tools[tool["name"]] = tool
    if not tools and all(message.get("timestamp") is None for message in messages):
        return None
    merged = {"role": "system", "content": "\n\n".join(text for text in texts if text), "sections": sections}
    return {**merged, "toolsAdded": list(tools.values())} if tools else merged


def canonical(message: Message) -> str | None:
    """The message as text; ``None`` when it is not sent at all.

    As the model receives it, but a summary, or the command and the output of a bash execution, stand bare.
    """
    role = message["role"]
    if role == "system":
        parts = [_text(message["content"]), *(message.get("sections") or {}).values()]
        return "\n\n".join(part for part in parts if part)
    if role == "bashExecution":
        return None if message.get("excludeFromContext") else f"{message['command']}\n{message['output']}"
    if role in ("compactionSummary", "branchSummary"):
        return str(message["summary"])
    if role not in ("user", "assistant", "toolResult", "custom"):
        return None
    if isinstance(message["content"], str):
        return message["content"]
    return "\n".join(_block_text(block) for block in message["content"])


def digest(message: Message) -> str | None:
    """First 16 hexadecimal digits of the SHA-1 of the canonical text; a lone surrogate counts as U+FFFD."""
    text = canonical(message)
    if text is None:
        return None
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hashlib.sha1(paired.encode()).hexdigest()[:16]


def _block_text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "thinking":
        return f"<thinking>{block['thinking']}"
    if block["type"] == "toolCall":
        return f"{block['name']} {compact_json(block['arguments'])}"
    if block["type"] == "image":
        return f"[image {block['mimeType']} {_units(block['data'])}]"
    return f"[{block['type']}]"


def _text(content: Any) -> str:
    return (
        content if isinstance(content, str) else "\n".join(b["text"] for b in content if b["type"] == "text")
    )


def _content_chars(content: Any) -> int:
    if isinstance(content, str):
        return _units(content)
    text = sum(_units(block.get("text") or "") for block in content if block["type"] == "text")
    return text + sum(IMAGE_CHARS for block in content if block["type"] == "image")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def compact_json(value: Any) -> str:
    """``value`` as ECMAScript's ``JSON.stringify`` writes it."""
    if isinstance(value, dict):
        numeric = [
            key
            for key in value
            if key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**32 - 1
        ]
        keys = sorted(numeric, key=int) + [key for key in value if key not in numeric]
        return "{" + ",".join(f"{compact_json(key)}:{compact_json(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact_json, value)) + "]"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction.rstrip("0")).lstrip("0")
    point = int(power or 0) + (
        len(whole) if whole != "0" else len(fraction.rstrip("0").lstrip("0")) - len(fraction.rstrip("0"))
    )
    digits = digits.rstrip("0") or "0"
    if 0 < point <= 21:
        body = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = "0." + "0" * -point + digits
    else:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        body = f"{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + body


def _parse(line: str) -> Any:
    try:
        return json.loads(line, parse_constant=_refuse)
    except ValueError:
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
