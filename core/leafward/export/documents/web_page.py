"""A session as one page: no script, nothing loaded from anywhere, its tree at the side, light and dark."""

from __future__ import annotations

import binascii
import html
import re
from base64 import b64decode
from typing import TYPE_CHECKING

from leafward import __version__
from leafward.export.documents.content import Content, EntryPart, ExportForm
from leafward.export.documents.web_style import STYLE
from leafward.redaction.redaction import listed
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import TASK, is_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.export.documents.lanes import Lane
    from leafward.session.lines.entry_decoding import Entry

_SPEAKERS = {
    Kind.USER: ("you", "you"),
    Kind.ASSISTANT: ("agent", "ai"),
    Kind.TOOL_RESULT: ("tool", ""),
    Kind.BASH: ("you", "you ran"),
    Kind.CUSTOM_ROLE: ("note", "note"),
    Kind.CUSTOM_MESSAGE: ("note", "note"),
    Kind.INJECTED: ("note", "injected"),
    Kind.SYSTEM: ("quiet", ""),
    Kind.COMPACTION: ("memory", "compaction"),
    Kind.BRANCH_SUMMARY: ("memory", "branch summary"),
    Kind.MALFORMED: ("bad", "damage"),
}
"""The class and the word of each kind; a kind that is missing is quiet and has no word."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_FENCED = re.compile(r"^(`{3,}+|~{3,}+)[^\n]*\n(.*?)(?:^\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_OPEN_LINES = 24
"""Lines of a result above which it starts folded."""


def web_page(content: Content) -> Iterator[str]:
    """The export in pieces."""
    title = _text(content.title)
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="leafward {_text(__version__)}">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
    yield from _sidebar(content)
    yield f'<main>\n<header>\n<h1>{title}</h1>\n<dl class="facts">\n'
    for name, value in content.facts():
        yield f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>\n"
    yield "</dl>\n</header>\n"
    for lane in content.lanes:
        yield from _lane(content, lane)
    yield "<footer>\n"
    found = content.redactor.found
    if found:
        yield f"<p>Redacted, each secret counted once: {_text(listed(found))}.</p>\n"
    yield "</footer>\n</main>\n</body>\n</html>\n"


def _text(text: str) -> str:
    return html.escape(text, quote=True)


def _landmarks(content: Content, lane: Lane) -> Iterator[tuple[int, str, str]]:
    """Entries of a lane in the sidebar (turns, summaries, damage), each as index, class and text."""
    kinds = content.session.columns.kind
    named = False
    for index in lane.entries:
        kind = Kind(kinds[index])
        if kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            yield index, "memory", _SPEAKERS[kind][1]
        elif kind is Kind.MALFORMED:
            yield index, "bad", "damage"
        elif kind in (Kind.USER, Kind.BASH, Kind.CUSTOM_ROLE, Kind.CUSTOM_MESSAGE) or (
            not named and kind is Kind.ASSISTANT
        ):
            yield index, "turn", content.headline(index)
        else:
            continue
        named = True


def _sidebar(content: Content) -> Iterator[str]:
    """The tree: the landmarks of each lane, each branch folded below the landmark that it leaves."""
    yield '<nav aria-label="Turns">\n'
    leaving: dict[int, list[Lane]] = {}
    roots: list[Lane] = []
    for lane in content.lanes:
        (leaving.setdefault(lane.after, []) if lane.after >= 0 else roots).append(lane)
    for root in roots:
        yield "<ul>\n"
        stack: list[Iterator[str | Lane]] = [_items(content, root, leaving)]
        closing = ["</ul>\n"]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                yield closing.pop()
            elif isinstance(item, str):
                yield item
            else:
                first = next((text for _, _, text in _landmarks(content, item)), "branch")
                yield f'<li class="branch"><details><summary>{_text(first)}</summary>\n<ul>\n'
                stack.append(_items(content, item, leaving))
                closing.append("</ul>\n</details></li>\n")
    yield "</nav>\n"


def _items(content: Content, lane: Lane, leaving: dict[int, list[Lane]]) -> Iterator[str | Lane]:
    marks = {index: (kind, text) for index, kind, text in _landmarks(content, lane)}
    waiting: list[Lane] = []
    for index in lane.entries:
        mark = marks.get(index)
        if mark is not None:
            yield from waiting
            waiting = []
            kind, text = mark
            label = content.label(index)
            chip = f' <span class="chip">{_text(label)}</span>' if label else ""
            yield f'<li class="{kind}"><a href="#e{index}">{_text(text)}</a>{chip}</li>\n'
        waiting.extend(leaving.get(index, ()))
    yield from waiting


def _lane(content: Content, lane: Lane) -> Iterator[str]:
    off = ' class="off"' if lane.depth else ""
    yield f'<section{off} style="--lane: {min(lane.depth, 8)}">\n'
    if lane.after >= 0:
        yield f'<h2>Branch from <a href="#e{lane.after}">{_text(content.name(lane.after))}</a></h2>\n'
    for entry in content.entries(lane):
        yield from _entry(content, entry)
    yield "</section>\n"


def _entry(content: Content, entry: Entry) -> Iterator[str]:
    style, word = _SPEAKERS.get(entry.kind, ("quiet", ""))
    if is_task(content.session, entry.index, entry.body):
        word = TASK
    yield f'<article class="{style}" id="e{entry.index}">\n'
    label = content.label(entry.index)
    head = f"<b>{word}</b>" if word else ""
    if label:
        head += f' <span class="chip">{_text(label)}</span>'
    if content.begins_turn(entry) and entry.timestamp:
        head += f" <time>{_text(content.time(entry))}</time>"
    if head:
        yield f'<p class="who">{head} <a class="id" href="#e{entry.index}">{_text(content.name(entry.index))}</a></p>\n'
    for part in content.parts(entry):
        yield from _part(part)
    yield "</article>\n"


def _part(part: EntryPart) -> Iterator[str]:
    if part.form is ExportForm.SAID:
        yield f'<div class="said">{_prose(part.text)}</div>\n'
    elif part.form is ExportForm.THOUGHT:
        yield f"<details><summary>thinking</summary><pre>{_text(part.text)}</pre></details>\n"
    elif part.form in {ExportForm.CALLED, ExportForm.RETURNED}:
        failed = ' class="failed"' if part.failed else ""
        title = f"{_text(part.title)}{' · failed' if part.failed else ''}"
        if not part.text:
            yield f"<p{failed}><code>{title}</code></p>\n"
            return
        lines = part.text.count("\n") + 1
        opened = " open" if lines <= _OPEN_LINES and part.title != "system prompt" else ""
        count = f' <span class="count">{lines:,} lines</span>' if lines > 1 else ""
        yield f"<details{opened}{failed}><summary><code>{title}</code>{count}</summary><pre>{_text(part.text)}</pre></details>\n"
    elif part.form is ExportForm.IMAGE:
        yield _picture(part)
    else:
        yield f'<p class="remark{" failed" if part.failed else ""}">{_text(part.text)}</p>\n'


def _prose(text: str) -> str:
    """A text as paragraphs, with fenced parts as code."""
    pieces = []
    at = 0
    for found in _FENCED.finditer(text):
        before = text[at : found.start()].strip("\n")
        if before:
            pieces.append(f"<p>{_text(before)}</p>")
        pieces.append(f"<pre>{_text(found[2].rstrip(chr(10)))}</pre>")
        at = found.end()
    rest = text[at:].strip("\n")
    if rest or not pieces:
        pieces.append(f"<p>{_text(rest)}</p>")
    return "".join(pieces)


def _picture(part: EntryPart) -> str:
    kind, data = part.media or ("", "")
    if kind in _PICTURES:
        try:
            b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            pass
        else:
            return f'<p><img alt="{_text(part.text)}" src="data:{kind};base64,{data}"></p>\n'
    return f'<p class="remark">{_text(part.text)}</p>\n'
