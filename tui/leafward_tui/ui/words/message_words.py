"""A message of a context in words: the same in the tab Context and in the contexts of a comparison."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.context.message_columns import message_body
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import message_text
from leafward_tui.ui.text.cells import byte_size

if TYPE_CHECKING:
    from leafward.context.message_columns import ContextMessage
    from leafward.session.session import Session

MOST_DECODED = 4 << 20
"""Bytes of a line that is decoded while it is drawn; a longer one is described by its size."""
_LIMIT = 240
_WORDS = {
    "system": "system",
    "compactionSummary": "summary",
    "branchSummary": "summary",
}
_HEADING = re.compile(r"(?:(?<=\s)|^)#{1,6} ")


def message_words(session: Session, message: ContextMessage) -> tuple[str, str]:
    """The kind of a message in a word, as in the tree, and its first words; of a tool's result, those of its call."""
    word = _WORDS.get(message.role, "")
    size = line_bytes(session, message.entry)
    if size > MOST_DECODED:
        return word or "long", f"a line of {byte_size(size)}"
    if message.edited < 0 and not word:
        first_words = headline(session, message.entry)
        if message.role == "assistant" and first_words.word != "ai":
            # A reply that only calls: its results have the same words.
            return "ai", f"calls {first_words.word}  {first_words.text}"
        if message.role == "bashExecution":
            return "you", f"! {first_words.text}"
        return first_words.word, first_words.text
    text = safe_line(message_text(message_body(session, message)), _LIMIT)
    if message.role.endswith("Summary"):
        text = _HEADING.sub("", text)
    if not word:
        word = headline(session, message.entry).word
    if message.role == "system" and not text:
        text = "tools"
    return word, text or "(empty)"


def line_bytes(session: Session, entry: int) -> int:
    """The size of an entry's line in the file."""
    starts = session.columns.start
    following = entry + 1
    return (starts[following] if following < len(starts) else session.scan.end) - starts[entry]
