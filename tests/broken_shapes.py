"""Sessions in the shapes that providers refuse, as people reported them, told here with our own rows.

anthropics/claude-code #473, #1894, #9346: a call that was interrupted and never answered. #11042: a result whose call was lost.
#2104, #55200, #27090: an image that is too large, is no image, or has too many pixels. #34120: more than twenty images, one of
them wide. #21726: thinking without its signature. #94799: a shell command as the name of a tool. #6695: arguments that are no
object. #6376: half of a character. #25202, #25323: documents with a password, or that are none. #68155: a call that the
provider runs itself, without its result. farion1231/cc-switch #1181: ids of another provider's calls.
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


def pdf(trailer: bytes = b"") -> bytes:
    """A PDF without pages; what its trailer says beside."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<<"
        + trailer
        + b"/Root 1 0 R>>\nstartxref\n0\n%%EOF\n"
    )


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


def wide_jpeg(file: Transcript) -> None:
    sides = struct.pack(">BHHB", 8, 9000, 16, 1) + b"\1\x11\0"
    frame = b"\xff\xc0" + struct.pack(">H", len(sides) + 2) + sides
    _image(file, "image/jpeg", base64.b64encode(b"\xff\xd8" + frame + b"\xff\xd9").decode())


def many_images(file: Transcript) -> None:
    for width in [2400] + [8] * 20:
        _image(file, "image/png", png(width, 2))


def too_many_images(file: Transcript) -> None:
    for _ in range(101):
        _image(file, "image/png", png())


def document(file: Transcript, content: bytes) -> None:
    """A PDF that was read, and a reply to it."""
    source = {
        "type": "base64",
        "media_type": "application/pdf",
        "data": base64.b64encode(content).decode(),
    }
    file.prompt("read the list of pears")
    file.row(
        "user", isMeta=True, message={"role": "user", "content": [{"type": "document", "source": source}]}
    )
    file.reply("It lists pears.")


def locked_document(file: Transcript) -> None:
    document(file, pdf(b"/Encrypt 5 0 R "))


def no_document(file: Transcript) -> None:
    document(file, b"%PDF-1.4 a list of pears\n")


def tool_name(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("ls pears | wc -l; " * 12, "toolu_one", command="")
    file.result("toolu_one", "No such tool available")
    file.reply("Seven.")


def unnamed_tool(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("", "toolu_one", command="ls pears")
    file.result("toolu_one", "No such tool available")
    file.reply("Seven.")


def foreign_ids(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "functions.Bash:0", "msg_two", command="ls pears")
    file.call("Bash", "functions.Bash|0", "msg_two", command="ls apples")
    file.result("functions.Bash:0", "7")
    file.result("functions.Bash|0", "8")
    file.reply("Seven.")


def shapeless_arguments(file: Transcript) -> None:
    file.prompt("count the pears")
    file.block({"type": "tool_use", "id": "toolu_one", "name": "Bash", "input": '{"command": "ls'}, "msg_a")
    file.result("toolu_one", "Invalid tool parameters")
    file.reply("Seven.")


def half_character(file: Transcript) -> None:
    file.prompt("count the pears")
    file.call("Bash", "toolu_one", command="ls pears")
    text = file.text_of(
        "user",
        message={
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_one", "content": "seven @HALF@"}],
        },
    )
    file.raw(text.replace("@HALF@", "\\ud83c").encode() + b"\n")
    file.reply("Seven.")


def open_server_call(file: Transcript) -> None:
    file.prompt("count the pears")
    call = {
        "type": "server_tool_use",
        "id": "srvtoolu_one",
        "name": "web_search",
        "input": {"query": "pears"},
    }
    file.block(call, "msg_s", None)
    file.block({"type": "text", "text": "Seven."}, "msg_s", "end_turn")


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
        (wide_jpeg, "image"),
        (many_images, "image"),
        (too_many_images, "image"),
        (locked_document, "document"),
        (no_document, "document"),
        (tool_name, "tool-name"),
        (unnamed_tool, "tool-name"),
        (foreign_ids, "call-id"),
        (shapeless_arguments, "arguments"),
        (half_character, "half-character"),
        (open_server_call, "open-call"),
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
