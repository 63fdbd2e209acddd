"""The end of a span in its own words: it fills the room of a summary where no message is kept after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import Body, blocks_of, text_of, tool_calls
from leafward.summaries.facts.calls.call_arguments import FOLDER_ARGUMENTS, OLD_ARGUMENTS, changes_text
from leafward.summaries.facts.calls.declined_calls import said_against
from leafward.summaries.facts.memory_citation import without_citation
from leafward.summaries.summarizers.extractive.candidates import LineCandidate
from leafward.summaries.summarizers.extractive.turns import by_machine
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.redaction.redaction import Redactor
    from leafward.summaries.survival.spans import SpanMessage

LEAD = "At the end, "
"""The beginning of every line from the end: with the next summary it is no longer the end."""
_PIECE = LINE_LIMIT - 60
_PIECES = {"the user": 4, "reply": 4, "result": 2}
"""The most lines of one text; a longer text loses its middle."""
_PIECES_OF_A_CALL = 6
_SHORT = 40
"""Characters of a last piece that takes some of the one before it."""
_LEAST = 3
"""Characters of the shortest piece."""
_ADDED = re.compile(
    r"(?s)<system-reminder>.*?(?:</system-reminder>|\Z)|(?<![ ])[ ]{2,}+\d++→"
    # Where a command that failed printed nothing, this tells nothing.
    r"|\A(?:(?:Chunk ID: \w+|Wall time:? [\d.]+ seconds?|Process exited with code \d+|Original token count: \d+|Output:)\s*+)+\Z"
    r"|\A(?:(?:Chunk ID: \w+|Script completed|Wall time:? [\d.]+ seconds?|(?:Process exited with code|Exit code:) 0|Total output lines: \d+"
    r"|Original token count: \d+|Output:)\n)+"
)
"""An agent's additions to a result, such as Codex's head of an output, and the line numbers of a file."""
_UNTOLD = frozenset({*OLD_ARGUMENTS, *FOLDER_ARGUMENTS})
_FIRST_PLACE = 1 << 31


def end_of(messages: Sequence[SpanMessage], redactor: Redactor) -> Iterator[LineCandidate]:
    """The last messages as lines without secrets, from the last one backwards; each names the speaker, none comes twice."""
    told: set[str] = set()
    changing = frozenset(
        call.id for _, message in messages for call in tool_calls(message) if changes_text(call.arguments)
    )
    for place in range(len(messages) - 1, -1, -1):
        entry = messages[place].entry
        message = redactor.value(
            {key: value for key, value in messages[place].message.items() if key != "details"}
        )
        lines = [
            (who, piece) for who, text, most in _texts(message, changing) for piece in _pieces(text, most)
        ]
        for number in range(len(lines) - 1, -1, -1):
            who, piece = lines[number]
            text = f"{LEAD}{who}: {piece}"
            if text in told:
                continue
            told.add(text)
            at = _FIRST_PLACE + (place << 8) + number
            yield LineCandidate(SummarySection.CONTEXT, text, at, (entry,))


def _texts(message: Body, changing: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """Speaker, text and the most lines of each text. The replaced text of an edit, and its result, are left out."""
    role = message.get("role")
    if role == "user" and not by_machine(message):
        yield "the user", text_of(message.get("content")), _PIECES["the user"]
    elif said := said_against(message):
        yield "the user", said, _PIECES["the user"]
    elif role == "toolResult":
        if message.get("isError") or str(message.get("toolCallId")) not in changing:
            yield "result", text_of(message.get("content")), _PIECES["result"]
    elif role == "assistant":
        for block in blocks_of(without_citation(message).get("content")):
            if block.get("type") == "text":
                yield "reply", str(block.get("text") or ""), _PIECES["reply"]
        for call in tool_calls(message):
            texts = " ".join(_new_texts(call.arguments))
            yield f"`{harmless(call.name or 'a tool', 40)}`", texts, _PIECES_OF_A_CALL


def _new_texts(arguments: Body) -> Iterator[str]:
    """The texts of a call's arguments, and of a list of edits in them; without folders and texts that are replaced."""
    for name, value in arguments.items():
        if isinstance(value, str) and name not in _UNTOLD:
            yield value
        elif isinstance(value, list):
            for edit in blocks_of(value):
                if any(key in edit for key in OLD_ARGUMENTS):
                    yield from _new_texts(edit)


def _pieces(text: str, most: int) -> list[str]:
    """A text in lines, cut between words; all but the first say that they go on."""
    words = _ADDED.sub(" ", text[: 1 << 16]).split()
    lines: list[str] = []
    line = ""
    for word in words:
        if line and len(line) + len(word) >= _PIECE:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    if line and lines and len(line) < _SHORT:
        # A word or two alone tell nothing.
        both = f"{lines.pop()} {line}"
        middle = both.find(" ", len(both) // 2)
        lines += [both[:middle], both[middle + 1 :]]
    elif line:
        lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most // 2], *lines[len(lines) - (most - most // 2) :]]
    pieces = [harmless(line, _PIECE) for line in lines]
    return [f"… {one}" if number else one for number, one in enumerate(pieces) if len(one) >= _LEAST]
