"""Messages as pi writes them, told from the lines of a native file: declared shapes, and nothing that they do not name.

A line that does not fit, by whatever version or hand it was written, is decoded whole. A test compares both.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, final

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.json import Decoder
from orjson import dumps

from leafward.session.entries import MOST_TOKENS, Kind
from leafward.session.line_decoding import decode_line
from leafward.session.tokens import CHARS_PER_TOKEN, IMAGE_CHARS, utf16_length

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from leafward.session.entries import Body
    from leafward.session.native_file import NativeFile

_AT_ONCE = 64
"""Lines decoded with one call: where one of them does not fit, each is tried by itself."""
_MORE = CHARS_PER_TOKEN - 1
"""Added before a division that rounds up."""

# JavaScript writes longer numbers in another way, and so it does fractions, which fit into no shape here.
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
    """An image: each counts the same."""


@final
class Call(Struct, gc=False, tag_field="type", tag="toolCall"):
    """A call of a tool."""

    name: str
    arguments: dict[str, _Plain | list[_Plain | dict[str, _Plain]]]


@final
class Usage(Struct, gc=False, rename="camel"):
    """What a request took, in tokens."""

    total_tokens: Annotated[int, Meta(gt=0, lt=MOST_TOKENS)]
    output: int


@final
class Reply(Struct, gc=False, rename="camel", tag_field="role", tag="assistant"):
    """A message of the model's that is sent on."""

    content: list[SaidText | Thinking | Call]
    stop_reason: Literal["stop", "toolUse", "length"] | None = None
    usage: Usage | None = None
    timestamp: int | str | None = None
    never_sent: UnsetType = UNSET

    def tokens(self) -> int:
        """Estimated, as `tokens.message_tokens` counts them."""
        units = 0
        for block in self.content:
            if type(block) is Call:
                name = block.name
                units += len(name) if name.isascii() else utf16_length(name)
                written = dumps(block.arguments)
                units += len(written) if written.isascii() else utf16_length(written.decode())
            else:
                text = block.text if type(block) is SaidText else block.thinking
                units += len(text) if text.isascii() else utf16_length(text)
        return (units + _MORE) // CHARS_PER_TOKEN


class _Given(Struct, gc=False, rename="camel"):
    """What a message of the user's and a result have in common."""

    content: list[SaidText | Image] | str
    never_sent: UnsetType = UNSET

    def tokens(self) -> int:
        """Estimated, as `tokens.message_tokens` counts them."""
        content = self.content
        if len(content) == 1 and type(block := content[0]) is SaidText:
            # What nearly all have.
            text = block.text
            return ((len(text) if text.isascii() else utf16_length(text)) + _MORE) // CHARS_PER_TOKEN
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
    """A message of the user's."""

    def images(self) -> int:
        """How many it shows."""
        return sum(type(block) is Image for block in self.content)


@final
class Result(_Given, gc=False, rename="camel", tag_field="role", tag="toolResult"):
    """What a tool gave back that called no other."""

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
    """Entries in the order asked for: of some that lie side by side the messages, where all of them fit.

    Else a single one, with the line as an object where its message does not fit; None where that is none. Those in `whole`
    are given as objects. The file is of the present version, and no line of it is too long.
    """
    starts, kinds = file.columns.start, file.columns.kind
    for run, block in file.stretches(entries, _AT_ONCE):
        first, last = run[0], run[-1]
        try:
            messages = [line.message for line in _decoder.decode_lines(block)]
        except (ValueError, RecursionError):
            messages = []
        shapes = list(map(_SHAPES.get, kinds[first : last + 1]))
        # The scan saw that each line ends with a brace and the next begins with one: no value goes on in between.
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
