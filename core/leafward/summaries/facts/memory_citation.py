"""The block with which Codex (0.171) closes a reply that used its memory: it names lines of memory files, and says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import blocks_of

if TYPE_CHECKING:
    from leafward.session.entries import Body

_TAG = "<oai-mem-citation>"
_BLOCK = late(r"(?ms)(?<!\s)\s*^[ \t]*<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)")
"""A block begins a line; Codex itself takes one that is not closed to reach to the end of the reply."""


def without_citation(message: Body) -> Body:
    """A message without such blocks; the same message where a reply has none, and any other message."""
    if message.get("role") != "assistant":
        return message
    blocks = blocks_of(message.get("content"))
    if not any(_TAG in str(block["text"]) for block in blocks if "text" in block):
        return message
    said = [
        {**block, "text": _BLOCK.sub("", text)} if isinstance(text := block.get("text"), str) else block
        for block in blocks
    ]
    return {**message, "content": said}
