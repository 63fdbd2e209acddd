"""How pi 1.5.2 writes JSON, counts tokens and adds up what a request cost."""

from __future__ import annotations

import json
import math
from typing import Any

Entry = dict[str, Any]

PRICES = {  # dollars per million tokens: input, output, cache read, cache write
    "claude-sonnet-4-5": (3.0, 15.0, 0.30, 3.75),
    "claude-opus-4-5": (5.0, 25.0, 0.50, 6.25),
}


def js(value: Any) -> str:
    """JSON exactly as JavaScript's JSON.stringify prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value == int(value):
            return str(int(value))
        return f"{value:.9f}".rstrip("0")
    if isinstance(value, list):
        return "[" + ",".join(map(js, value)) + "]"
    return "{" + ",".join(f"{js(key)}:{js(item)}" for key, item in value.items()) + "}"


def utf16(text: str) -> int:
    """Length in UTF-16 units, which is what pi divides by four."""
    return len(text.encode("utf-16-le")) // 2


def content_chars(content: Any) -> int:
    """UTF-16 units of a message's content."""
    if isinstance(content, str):
        return utf16(content)
    return sum(utf16(block["text"]) for block in content)


def estimate(message: Entry) -> int:
    """Pi's estimate of a message in tokens (1.5.2: UTF-16 units / 4, rounded up)."""
    role = message["role"]
    if role == "system":
        chars = content_chars(message["content"])
        chars += sum(utf16(text) for text in message["sections"].values() if text)
        chars += utf16(js(message["toolsAdded"]))
    elif role == "assistant":
        chars = 0
        for block in message["content"]:
            if block["type"] == "text":
                chars += utf16(block["text"])
            else:
                chars += utf16(block["name"]) + utf16(js(block["arguments"]))
    elif role == "compactionSummary":
        chars = utf16(message["summary"])
    else:
        chars = content_chars(message["content"])
    return math.ceil(chars / 4)


def usage_record(model: str, own: int, out: int, cached: int, written: int) -> Entry:
    """The usage of a request in tokens, with its price."""
    prices = PRICES[model]
    cost = [tokens * price / 1e6 for tokens, price in zip((own, out, cached, written), prices, strict=True)]
    return {
        "input": own,
        "output": out,
        "cacheRead": cached,
        "cacheWrite": written,
        "totalTokens": own + out + cached + written,
        "cost": {
            "input": cost[0],
            "output": cost[1],
            "cacheRead": cost[2],
            "cacheWrite": cost[3],
            "total": sum(cost),
            "totalFromProvider": False,
        },
        "cacheWrite1h": 0,
    }
