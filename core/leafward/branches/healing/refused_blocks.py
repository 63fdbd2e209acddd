"""Blocks that a provider refuses: the reason, and their replacement.

The rules are those whose breach providers answer with an error (Anthropic's Messages and OpenAI's Responses and Chat Completions,
November 2026): nothing empty, whole characters, names and arguments of calls in the form of tools, ids in the form of the
provider, documents that can be read, images of known types, sizes and numbers.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from typing import TYPE_CHECKING, NamedTuple

import imagesize
import orjson

from leafward.session.entries import NO_ENTRY, Body, EntryIndex
from leafward.session.transcript import DOCUMENT, NAMESPACE, RESHAPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.agents.conversation import ConversationMessage

_IMAGE_LIMIT = 5 << 20
"""Bytes of an image as base64 (Anthropic's limit, the lowest)."""
_WIDEST = 8000
"""Pixels of an image on a side (Anthropic's)."""
_MANY, _WIDEST_OF_MANY = 20, 2000
"""A number of images in one request, and the pixels of each on a side where there are more (Anthropic's)."""
_MOST = 100
"""Images in one request (Anthropic's)."""
_ALL_BYTES = 30 << 20
"""Bytes of all images as base64: a request may have 32 MB (Anthropic's); the rest is for texts."""
_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
"""Names of tools that every provider accepts."""
_NOT_TOOL = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_TOOL = 64
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""Ids of calls that Anthropic accepts. Other providers have their own forms and expect them back unchanged."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, from a text that was cut in the middle of one."""
_SHOWN = 60
"""Code points of a name in the words of a change."""


class HealedDifference(NamedTuple):
    """One difference from the session."""

    code: str
    """Its kind, a word that does not change."""
    text: str
    """Words for a person, on one line."""
    entry: EntryIndex = NO_ENTRY
    """Its entry in the session; -1 for the whole session."""


def _is_anthropic(reply: ConversationMessage) -> bool:
    """Whether a reply came from a provider that follows Anthropic's rules."""
    return reply.provider.startswith("anthropic") or "claude" in reply.model


def accepted(one: ConversationMessage, changes: list[HealedDifference]) -> ConversationMessage | None:
    """A message with acceptable blocks; None where no block is left. Appends its changes."""
    kept: list[Body] = []
    calls: set[str] = set()
    for block in one.content:
        block = _whole(block, one, changes)
        kind = block.get("type")
        if kind == "text" and (why := block.get(DOCUMENT)):
            changes.append(
                HealedDifference("document", f"a document is replaced by a line of text: {why}", one.entry)
            )
            block = {"type": "text", "text": f"{block.get('text')} [left out: {why}]"}
        elif kind == "text" and not str(block.get("text") or "").strip():
            if one.role != "result":
                changes.append(HealedDifference("empty-text", "an empty text is left out", one.entry))
                continue
        elif kind == "image" and (why := _refused_image(block)) is not None:
            block = _instead(one, why, changes)
        elif kind == "toolCall":
            name = str(block.get("id") or "")
            if name in calls:
                changes.append(
                    HealedDifference(
                        "repeated-call", f"call {name} is in one reply twice: one is left out", one.entry
                    )
                )
                continue
            calls.add(name)
            block = _call(block, one, changes)
        kept.append(block)
    if not kept and one.role != "result":
        changes.append(HealedDifference("empty-message", "an empty message is left out", one.entry))
        return None
    return one._replace(content=tuple(kept), call=_HALF.sub("\ufffd", one.call))


def _whole(block: Body, one: ConversationMessage, changes: list[HealedDifference]) -> Body:
    """A block without halves of characters, which only JavaScript's JSON reader accepts."""
    try:
        orjson.dumps(block)
    except TypeError:
        try:
            whole, halves = _HALF.subn("\ufffd", json.dumps(block, ensure_ascii=False))
        except RecursionError:
            return block
        if halves:
            text = "broken characters, left by a cut, become \ufffd"
            changes.append(HealedDifference("half-character", text, one.entry))
            found: Body = json.loads(whole)
            return found
    return block


def _call(block: Body, one: ConversationMessage, changes: list[HealedDifference]) -> Body:
    """A call with an acceptable name, id and arguments."""
    name, call = str(block.get("name") or ""), str(block.get("id") or "")
    space = block.get(NAMESPACE)
    short = name.removeprefix(f"{space}.") if space else name
    if not _TOOL.fullmatch(short):
        fitting = _NOT_TOOL.sub("_", short).strip("_")[:_LONGEST_TOOL] or "unknown"
        shown = f"{name[:_SHOWN]}…" if len(name) > _SHOWN else name
        text = f'a tool\'s name is "{shown}" ({len(name):,} characters): it becomes {fitting}'
        changes.append(HealedDifference("tool-name", text, one.entry))
        block = {**block, "name": fitting}
    arguments = block.get("arguments")
    if block.get(RESHAPED) or not isinstance(arguments, dict):
        changes.append(
            HealedDifference(
                "arguments", f"the arguments of call {call} are not an object: they become one", one.entry
            )
        )
        block = {**block, "arguments": arguments if isinstance(arguments, dict) else {"input": arguments}}
    return block


def call_id(call: str, reply: ConversationMessage) -> str:
    """The id in the form of the reply's provider; unchanged where it fits."""
    if not call or not _is_anthropic(reply) or _CALL_ID.fullmatch(call):
        return call
    return _NOT_TOOL.sub("_", call)[:_LONGEST_TOOL]


def accepted_images(
    messages: Sequence[ConversationMessage], changes: list[HealedDifference]
) -> list[ConversationMessage]:
    """The messages with no more and no larger images than one request to Anthropic may have; all images for other providers."""
    fitting = list(messages)
    last = next((one for one in reversed(fitting) if one.role == "assistant"), None)
    if last is None or not _is_anthropic(last):
        return fitting
    for place, number, why in _too_many([*_images(fitting)], fitting):
        one = fitting[place]
        content = list(one.content)
        content[number] = _instead(one, why, changes)
        fitting[place] = one._replace(content=tuple(content))
    return fitting


def without_images(one: ConversationMessage, changes: list[HealedDifference]) -> ConversationMessage:
    """A message without its images, since the provider refused one of them."""
    why = "the provider could not use it"
    content = tuple(
        _instead(one, why, changes) if block.get("type") == "image" else block for block in one.content
    )
    return one._replace(content=content)


def _images(messages: Sequence[ConversationMessage]) -> Iterator[tuple[int, int]]:
    """The positions of the images: the message, and the block in it."""
    for place, one in enumerate(messages):
        for number, block in enumerate(one.content):
            if block.get("type") == "image":
                yield place, number


def _too_many(
    images: list[tuple[int, int]], messages: Sequence[ConversationMessage]
) -> Iterator[tuple[int, int, str]]:
    """The images to leave out of a request, with the reason; the earliest go first."""

    def data(image: tuple[int, int]) -> str:
        return str(messages[image[0]].content[image[1]].get("data") or "")

    for image in images[:-_MOST]:
        yield *image, f"there are more than {_MOST} images"
    images = images[-_MOST:]
    if len(images) > _MANY:
        kept: list[tuple[int, int]] = []
        for image in images:
            sides = _sides(base64.b64decode(data(image)))
            if max(sides) > _WIDEST_OF_MANY:
                yield (
                    *image,
                    f"{_pixels(sides)}, more than {_WIDEST_OF_MANY:,} among more than {_MANY} images",
                )
            else:
                kept.append(image)
        images = kept
    total = sum(len(data(image)) for image in images)
    for image in images:
        if total <= _ALL_BYTES:
            return
        yield *image, f"the images have {total / (1 << 20):.1f} MiB as base64, more than {_ALL_BYTES >> 20}"
        total -= len(data(image))


def _instead(one: ConversationMessage, why: str, changes: list[HealedDifference]) -> Body:
    """A line of text that replaces an image."""
    changes.append(HealedDifference("image", f"an image is replaced by a line of text: {why}", one.entry))
    return {"type": "text", "text": f"[image left out: {why}]"}


def _refused_image(block: Body) -> str | None:
    """Why a provider refuses an image; None where it accepts it."""
    kind, data = str(block.get("mimeType") or ""), str(block.get("data") or "")
    if kind not in _MAGIC:
        return f"type {kind or 'not known'}"
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "its data is broken"
    if not content:
        return "it has no data"
    if len(data) > _IMAGE_LIMIT:
        return f"{len(data) / (1 << 20):.1f} MiB as base64, more than {_IMAGE_LIMIT >> 20}"
    if not content.startswith(_MAGIC[kind]):
        return f"it is not a {kind.partition('/')[2]}"
    sides = _sides(content)
    return f"{_pixels(sides)}, more than {_WIDEST:,}" if max(sides) > _WIDEST else None


def _sides(content: bytes) -> tuple[int, int]:
    """Width and height in pixels; -1 where the image does not record them."""
    width, height = imagesize.get(io.BytesIO(content))
    return width, height


def _pixels(sides: tuple[int, int]) -> str:
    return f"{sides[0]:,} by {sides[1]:,} pixels"
