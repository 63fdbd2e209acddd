"""Messages as pi writes them, decoded from the lines of a native file into declared shapes; other fields are skipped.

A line that does not fit, whoever wrote it, is decoded whole. A test compares both ways.
"""

from __future__ import annotations

from codecs import utf_16_le_encode
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, final

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.json import Decoder
from orjson import dumps

from leafward.session.entries import MOST_TOKENS, Kind
from leafward.session.lines.line_decoding import decode_line
from leafward.session.tokens import CHARS_PER_TOKEN, IMAGE_CHARS, utf16_length

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from leafward.session.entries import Body
    from leafward.session.native_file import NativeFile

_AT_ONCE = 64
"""Lines decoded with one call; if one of them does not fit, each is tried by itself."""
_MORE = CHARS_PER_TOKEN - 1
"""Added before a division that rounds up."""

# JavaScript writes larger numbers differently, and fractions too; neither fits a shape here.
_Whole = Annotated[int, Meta(ge=-(2**53), le=2**53)]
_Plain = str | _Whole | bool | None


@final
class SaidText(Struct, gc=False, tag_field="type", tag="text"):
    """A block of text."""

    text: str


@final
class Thinking(Struct, gc=False, tag_field="type", tag="thinking"):
    """A block of thinking."""

    thinking: str


@final
class Image(Struct, gc=False, tag_field="type", tag="image"):
    """An image: every image counts the same."""


@final
class DeclaredCall(Struct, gc=False, tag_field="type", tag="toolCall"):
    """A call of a tool."""

    name: str
    arguments: dict[str, _Plain | list[_Plain | dict[str, _Plain]]]


@final
class DeclaredUsage(Struct, gc=False, rename="camel"):
    """Tokens of a request and its reply."""

    total_tokens: Annotated[int, Meta(gt=0, lt=MOST_TOKENS)]
    output: int


@final
class Reply(Struct, gc=False, rename="camel", tag_field="role", tag="assistant"):
    """A message of the model that is sent on."""

    content: list[SaidText | Thinking | DeclaredCall]
    stop_reason: Literal["stop", "toolUse", "length"] | None = None
    usage: DeclaredUsage | None = None
    timestamp: int | str | None = None
    never_sent: UnsetType = UNSET

    def tokens(self) -> int:
        """Estimated tokens, equal to those of `tokens.message_tokens`."""
        units = 0
        for block in self.content:
            if type(block) is SaidText:
                text = block.text
            elif type(block) is DeclaredCall:
                text = block.name
                written = dumps(block.arguments)
                units += len(written) if written.isascii() else utf16_length(written.decode())
            else:
                text = block.thinking
            units += len(text) if text.isascii() else len(utf_16_le_encode(text)[0]) // 2
        return (units + _MORE) // CHARS_PER_TOKEN


class _Given(Struct, gc=False, rename="camel"):
    """Fields that a message of the user and a result have in common."""

    content: list[SaidText | Image] | str
    never_sent: UnsetType = UNSET

    def tokens(self) -> int:
        """Estimated tokens, equal to those of `tokens.message_tokens`."""
        content = self.content
        if len(content) == 1 and type(block := content[0]) is SaidText:
            # Nearly all messages have a single block of text.
            text = block.text
            units = len(text) if text.isascii() else len(utf_16_le_encode(text)[0]) // 2
            return (units + _MORE) // CHARS_PER_TOKEN
        if type(content) is str:
            return (utf16_length(content) + _MORE) // CHARS_PER_TOKEN
        units = 0
        for block in content:
            if type(block) is SaidText:
                text = block.text
                units += len(text) if text.isascii() else utf16_length(text)
            else:
                units += IMAGE_CHARS
        return (units + _MORE) // CHARS_PER_TOKEN


@final
class Prompt(_Given, gc=False, tag_field="role", tag="user"):
    """A message of the user."""

    def images(self) -> int:
        """The number of images in it."""
        return sum(type(block) is Image for block in self.content)


@final
class Result(_Given, gc=False, rename="camel", tag_field="role", tag="toolResult"):
    """Result of a tool that called no other tool."""

    tool_name: str = ""
    is_error: bool = False
    nested_calls: UnsetType = UNSET


Declared = Reply | Prompt | Result


class _Line(Struct, gc=False):
    message: Declared


_decoder = Decoder(_Line)
_SHAPES: dict[int, type] = {Kind.ASSISTANT: Reply, Kind.USER: Prompt, Kind.TOOL_RESULT: Result}


def declared(
    file: NativeFile, entries: array[int], whole: AbstractSet[int]
) -> Iterator[tuple[Sequence[int], list[Declared] | Body | None]]:
    """Entries in the order asked for, as runs of neighbours with their messages, if all of these fit their shapes.

    Otherwise single entries, each with its decoded line if its message does not fit, or None if the line is no object. Entries
    in `whole` are always given as decoded lines. The file must be of the current version and without overlong lines.
    """
    starts, kinds = file.columns.start, file.columns.kind
    for run, block in file.stretches(entries, _AT_ONCE):
        first, last = run[0], run[-1]
        try:
            messages = [line.message for line in _decoder.decode_lines(block)]
        except (ValueError, RecursionError):
            messages = []
        shapes = list(map(_SHAPES.get, kinds[first : last + 1]))
        # The scan saw that each line ends with a brace and the next begins with one, so no value continues across lines.
        if list(map(type, messages)) == shapes and (not whole or whole.isdisjoint(run)):
            yield run, messages
            continue
        cuts = [*(start - starts[first] for start in starts[first : last + 1]), len(block)]
        for index, shape, (start, end) in zip(run, shapes, pairwise(cuts), strict=True):
            message = _message(block[start:end])
            if message is not None and type(message) is shape and index not in whole:
                yield [index], [message]
            else:
                yield [index], decode_line(bytes(block[start:end]))


def _message(line: memoryview) -> Declared | None:
    try:
        return _decoder.decode(line).message
    except (ValueError, RecursionError):
        return None
