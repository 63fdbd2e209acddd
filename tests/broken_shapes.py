"""Sessions in the shapes that providers refuse, as people reported them, told here with our own rows.

anthropics/claude-code #473, #1894, #9346: a call that was interrupted and never answered. #11042: a result whose call was lost.
#2104, #55200, #27090: an image that is too large, is no image, or has too many pixels. #21726: thinking without its signature.
Rows that were written twice, empty texts and a transcript without its beginning are what is left after killed writes and
after repairs by hand.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Any

from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Shape = Callable[[Transcript], None]

END = "Say when the pears are ripe"
"""The last prompt of each of them."""


def png(width: int = 1, height: int = 1, extra: int = 0) -> str:
    """A PNG in base64, with `extra` bytes behind its end."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    row = zlib.compress(b"\0" * (width + 1) * min(height, 2))
    made = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", row) + chunk(b"IEND", b"") + b"\0" * extra
    return base64.b64encode(made).decode()


def _image(file: Transcript, kind: str, data: str) -> None:
    source = {"type": "base64", "media_type": kind, "data": data}
    content = [{"type": "text", "text": "what is this?"}, {"type": "image", "source": source}]
    file.row("user", message={"role": "user", "content": content})
    file.reply("A pear.")


def open_call(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "toolu_one", command="ls pears")


def open_call_in_the_middle(file: Transcript) -> None:
    open_call(file)
    file.turn("never mind", "All right.")


def one_of_two_open(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "toolu_one", "msg_two", command="ls pears")
    file.call("Bash", "toolu_two", "msg_two", command="ls apples")
    file.result("toolu_one", "7")
    file.turn("never mind", "All right.")


def orphan_result(file: Transcript) -> None:
    file.prompt("count the pears")
    file.result("toolu_lost", "7")
    file.reply("Seven.")


def late_result(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "toolu_one", command="ls pears")
    file.prompt("and be quick")
    file.result("toolu_one", "7")
    file.reply("Seven.")


def repeated_result(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "toolu_one", command="ls pears")
    file.result("toolu_one", "7")
    file.result("toolu_one", "7")
    file.reply("Seven.")


def repeated_id(file: Transcript) -> None:
    for number in ("7", "8"):
        file.prompt(f"count the pears, now {number}")
        file.call("Bash", "call_0", command=f"ls pears{number}")
        file.result("call_0", number)
        file.reply(f"There are {number}.")


def empty_text(file: Transcript) -> None:
    file.prompt("count the pears")
    file.block({"type": "text", "text": ""}, "msg_e", None)
    file.block({"type": "text", "text": "Seven."}, "msg_e", "end_turn")
    file.row("user", message={"role": "user", "content": [{"type": "text", "text": ""}]})
    file.reply("What else?")


def large_image(file: Transcript) -> None:
    _image(file, "image/png", png(extra=4 << 20))


def wide_image(file: Transcript) -> None:
    _image(file, "image/png", png(9000, 2))


def broken_image(file: Transcript) -> None:
    _image(file, "image/png", "no base64 at all!")


def mistyped_image(file: Transcript) -> None:
    _image(file, "image/jpeg", png())


def unknown_image(file: Transcript) -> None:
    _image(file, "image/tiff", png())


def unsigned_thinking(file: Transcript) -> None:
    file.prompt("count the pears")
    file.block({"type": "thinking", "thinking": "seven, I think", "signature": ""}, "msg_t", None)
    file.block({"type": "text", "text": "Seven."}, "msg_t", "end_turn")


def no_beginning(file: Transcript) -> None:
    file.result("toolu_lost", "7")
    file.reply("Seven.")


SHAPES: dict[str, tuple[Shape, frozenset[str]]] = {
    shape.__name__: (shape, frozenset(codes))
    for shape, *codes in (
        (open_call, "open-call"),
        (open_call_in_the_middle, "open-call"),
        (one_of_two_open, "open-call"),
        (orphan_result, "orphan-result"),
        (late_result, "late-result"),
        (repeated_result, "repeated-result"),
        (repeated_id, "repeated-id"),
        (empty_text, "empty-text", "empty-message"),
        (large_image, "image"),
        (wide_image, "image"),
        (broken_image, "image"),
        (mistyped_image, "image"),
        (unknown_image, "image"),
        (unsigned_thinking, "unsigned-thinking"),
        (no_beginning, "orphan-result", "no-beginning"),
    )
}
"""By name: what writes it, and the codes of the changes that heal it."""


def written(name: str, home: Path, **where: Any) -> Transcript:
    """A transcript of a shape."""
    file = Transcript(home, **where)
    SHAPES[name][0](file)
    return file
