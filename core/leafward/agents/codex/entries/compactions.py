"""Entries that a compaction of Codex keeps in the context: items recorded in full, or a rule to make them.

Until about 0.9x a `compacted` line held the summary only: the initial context was built again, and the user's newest messages
were kept within a budget. Since then `replacement_history` holds everything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.codex.entries.items import item_text
from leafward.context.estimators import CODEX_KEPT_USER_TOKENS, utf8_length
from leafward.session.messages import ENCRYPTED_NOTE, SUMMARY_BASIS_TEXT, SummaryBasis
from leafward.session.tokens import SUMMARY_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BYTES_PER_TOKEN = 4
_ENVELOPE = 650
"""Bytes of an encrypted text besides its words, as Codex assumes."""

SUMMARY_PREFIX = "Another language model started to solve this problem"
"""Beginning of a summary in the history since 0.5x."""
NO_SUMMARY = "(no summary available)"
"""The text that Codex sends for a compaction without a word (0.80 to 0.142)."""
SUMMARY_KIND = "compaction.summary"
ENCRYPTED = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items with a summary that only the provider can read."""


class KeptMessages(NamedTuple):
    """The entries beside a summary, in the order of the context."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    place: int
    """Of the summary in `replacement_history`; -1 where it is not in there."""


def kept_users(sizes: Sequence[int]) -> tuple[list[int], int | None]:
    """The user messages that a compaction keeps, by position, and the tokens to which the oldest of them is cut, if it is.

    `sizes` are the bytes of all messages, oldest first.
    """
    left = CODEX_KEPT_USER_TOKENS
    chosen: list[int] = []
    cut: int | None = None
    for position in range(len(sizes) - 1, -1, -1):
        if left <= 0:
            break
        tokens = -(-sizes[position] // _BYTES_PER_TOKEN)
        chosen.append(position)
        if tokens > left:
            cut = left
            break
        left -= tokens
    chosen.reverse()
    return chosen, cut


def cut_in_the_middle(text: str, tokens: int) -> str:
    """A text of at most `tokens` tokens: beginning and end, with a mark between them that tells how much is missing (Codex)."""
    raw = text.encode("utf-8", "surrogatepass")
    room = tokens * _BYTES_PER_TOKEN
    if len(raw) <= room:
        return text
    head = raw[: room // 2].decode("utf-8", "ignore")
    tail = raw[len(raw) - (room - room // 2) :].decode("utf-8", "ignore")
    gone = -(-(len(raw) - room) // _BYTES_PER_TOKEN)
    return f"{head}…{gone} tokens truncated…{tail}"


def summary_place(items: Sequence[dict[str, Any]], message: object) -> int:
    """The position of the summary in a replacement history; -1 without one."""
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        if str(item.get("type")) in ENCRYPTED:
            return number
        if item.get("type") not in (None, "message") or item.get("role") != "user":
            continue
        text = item_text(item)
        if (message and text == message) or text.startswith(SUMMARY_PREFIX) or SUMMARY_KIND in _kinds(item):
            return number
    return -1


def _kinds(item: dict[str, Any]) -> list[Any]:
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    return kinds if isinstance(kinds, list) else []


def _item(payload: dict[str, Any], place: int) -> dict[str, Any]:
    items = payload.get("replacement_history")
    item = items[place] if isinstance(items, list) and 0 <= place < len(items) else {}
    return item if isinstance(item, dict) else {}


def is_encrypted(payload: dict[str, Any], place: int) -> bool:
    """Whether only the provider can read the summary."""
    return str(_item(payload, place).get("type")) in ENCRYPTED


def summary_text(payload: dict[str, Any], place: int, size: EncryptedSize | None) -> str:
    """The summary; for an encrypted one, a note on it and the messages that Codex kept in plain text."""
    item, message = _item(payload, place), payload.get("message")
    text = message if isinstance(message, str) else ""
    if size is None:
        return text or item_text(item) or ("" if place >= 0 else NO_SUMMARY)
    length = len(str(item.get("encrypted_content") or ""))
    lines = [f"{ENCRYPTED_NOTE}: {length:,} characters that only the provider can read; {size.text}.]"]
    if text:
        lines += ["", text]
    lines += _retained(payload.get("retained_context"))
    return "\n".join(lines)


class EncryptedSize(NamedTuple):
    """The size of an encrypted summary in tokens, and the basis of that figure."""

    tokens: int
    """0 where it cannot be told."""
    basis: SummaryBasis

    @property
    def text(self) -> str:
        """The figure with its basis, in words."""
        if self.basis is SummaryBasis.UNKNOWN:
            return "how many tokens that are is unknown"
        return f"~{self.tokens:,} tokens, {SUMMARY_BASIS_TEXT[self.basis]}"


def encrypted_size(payload: dict[str, Any], place: int, prompt: str, counted: int) -> EncryptedSize:
    """The size of an encrypted summary: from its length, as Codex estimates it (0.169).

    Where somebody replaced it by a word, it is Codex's count right behind the compaction, less the system prompt and the other
    items. `counted` is 0 where Codex recorded no such count.
    """
    length = len(str(_item(payload, place).get("encrypted_content") or "")) * 3 // 4 - _ENVELOPE
    if length > 0:
        return EncryptedSize(-(-length // _BYTES_PER_TOKEN), SummaryBasis.LENGTH)
    items = payload.get("replacement_history")
    try:
        known = [
            json.dumps(item, ensure_ascii=False, separators=(",", ":"))
            for number, item in enumerate(items if isinstance(items, list) else ())
            if number != place
        ]
    except RecursionError:  # nested too deep to be written
        return EncryptedSize(0, SummaryBasis.UNKNOWN)
    left = counted - sum(-(-utf8_length(text) // _BYTES_PER_TOKEN) for text in (prompt, *known))
    if left > 0 and prompt:
        return EncryptedSize(left, SummaryBasis.COUNT)
    return EncryptedSize(0, SummaryBasis.UNKNOWN)


def count_behind(records: Iterable[dict[str, Any]]) -> int:
    """The size of the context as Codex counted it right after the compaction; 0 where it recorded none.

    Such a count names no request, since nothing was sent.
    """
    for record in records:
        payload = record.get("payload")
        if not isinstance(payload, dict) or payload.get("type") != "token_count":
            continue
        info = payload.get("info")
        last = info.get("last_token_usage") if isinstance(info, dict) else None
        if not isinstance(last, dict) or last.get("input_tokens") or last.get("output_tokens"):
            return 0
        total = last.get("total_tokens")
        return total if type(total) is int and 0 < total < SUMMARY_LIMIT else 0
    return 0


def _retained(kept: object) -> list[str]:
    """The messages that Codex keeps in full beside a compaction, in order."""
    quotes: list[tuple[int, str, str]] = []
    for name, who in (("user_messages", "user"), ("assistant_messages", "assistant")):
        listed = kept.get(name) if isinstance(kept, dict) else None
        for message in listed if isinstance(listed, list) else ():
            if isinstance(message, dict) and isinstance(message.get("text"), str):
                order = message.get("order")
                quotes.append((order if isinstance(order, int) else 0, who, message["text"]))
    if not quotes:
        return []
    quotes.sort(key=lambda one: one[0])
    return ["", "Kept readable beside it:"] + [f"{who}: {text}" for _, who, text in quotes]
