"""Markdown in lines of spans. Links are shown, never followed; HTML is text; images are words."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich.cells import cell_len

from leafward_tui.ui.text.code import fitted, highlighted
from leafward_tui.ui.text.spans import Span, joined, padded, shown, width_of, wrapped, wrapped_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

    from leafward_tui.ui.appearance.glyphs import Glyphs

MOST_PARSED = 48_000
"""Characters that are read as Markdown; a longer text is shown as it stands."""

MOST_CHARACTERS = 240_000
"""Characters of one text that are shown at all."""

_NARROWEST = 12
"""Cells that nesting leaves for text."""

_BREAK = Span("\n")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def rendered(
    text: str, width: int, glyphs: Glyphs, *, ink: str = "text", heading: str = "strong"
) -> list[list[Span]]:
    """Session text as Markdown, in lines of at most `width` cells, in the given inks."""
    over = len(text) - MOST_CHARACTERS
    text = shown(text[:MOST_CHARACTERS].strip("\n"))
    lines = (
        _Renderer(width, glyphs, ink, heading).render(text)
        if len(text) <= MOST_PARSED
        else wrapped_text(text, width, ink)
    )
    if over > 0:
        lines.append([Span(f"{over:,} more characters are not shown here", "nothing")])
    return lines


class _Renderer:
    """One walk over the tokens of one text."""

    def __init__(self, width: int, glyphs: Glyphs, ink: str, heading: str) -> None:
        self.width = width
        self.glyphs = glyphs
        self.ink = ink
        self.heading = heading
        self.lines: list[list[Span]] = []
        self._prefix: list[list[Span]] = []
        """Spans before every line: quotation bars and the indentation of lists."""
        self._bullet: tuple[int, list[Span]] | None = None
        """Spans before the next line only, instead of the prefixes from this one on."""
        self._after_heading = -1
        """The line after the last heading: a block that begins there follows without a gap."""
        self._tight: list[bool] = []
        self._numbers: list[int] = []

    def render(self, text: str) -> list[list[Span]]:
        tokens = _parser().parse(text)
        at = 0
        while at < len(tokens):
            at = self._block(tokens, at)
        while self.lines and not width_of(self.lines[-1]):
            self.lines.pop()
        return self.lines

    def _room(self) -> int:
        return max(_NARROWEST, self.width - sum(width_of(part) for part in self._prefix))

    def _emit(self, body: Sequence[Sequence[Span]]) -> None:
        for spans in body:
            head = [span for part in self._prefix for span in part]
            if self._bullet is not None:
                kept, sign = self._bullet
                head = [span for part in self._prefix[:kept] for span in part] + sign
                self._bullet = None
            self.lines.append(joined([*head, *spans]))

    def _gap(self) -> None:
        """Adds an empty line before a block, unless it opens the text or a list item, or the list is a tight one."""
        if not self.lines or self._bullet is not None or not width_of(self.lines[-1]):
            return
        if (self._tight and self._tight[-1]) or self._after_heading == len(self.lines):
            return
        self.lines.append([span for part in self._prefix for span in part if not span.text.isspace()])

    def _block(self, tokens: list[Token], at: int) -> int:
        token = tokens[at]
        kind = token.type
        if kind == "inline":
            self._paragraph(self._inline(token, self.ink))
        elif kind == "paragraph_open":
            if not token.hidden:
                self._gap()
        elif kind == "heading_open":
            self._after_heading = -1
            self._gap()
            spans = self._inline(tokens[at + 1], self.heading)
            self._paragraph([span if span is _BREAK else span._replace(ink=self.heading) for span in spans])
            self._after_heading = len(self.lines)
            return at + 3
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._list(tokens, at)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._tight.pop()
            self._numbers.pop()
        elif kind == "list_item_open":
            self._item(token)
        elif kind == "list_item_close":
            if self._bullet is not None:
                self._emit([[]])
            self._prefix.pop()
        elif kind == "blockquote_open":
            self._gap()
            bar = [Span(self.glyphs.divider + " ", "faint")]
            self._prefix.append(bar if self._room() > _NARROWEST + 2 else [])
        elif kind == "blockquote_close":
            self._prefix.pop()
        elif kind == "hr":
            self._gap()
            self._emit([[Span(self.glyphs.hairline * min(self._room(), 24), "line")]])
        elif kind == "table_open":
            return self._table(tokens, at)
        elif token.content:
            self._gap()
            self._emit(wrapped_text(token.content.rstrip("\n"), self._room(), "sub"))
        return at + 1

    def _paragraph(self, spans: list[Span]) -> None:
        """Writes a paragraph and keeps its line breaks: people and models mean them."""
        line: list[Span] = []
        for span in [*spans, _BREAK]:
            if span is _BREAK:
                self._emit(wrapped(line, self._room()))
                line = []
            else:
                line.append(span)

    def _list(self, tokens: list[Token], at: int) -> None:
        nested = bool(self._tight)
        token = tokens[at]
        # markdown-it hides the paragraphs of a tight list.
        tight = any(t.type == "paragraph_open" and t.hidden for t in tokens[at + 1 : at + 4])
        if not (nested and tight):
            self._gap()
        self._tight.append(tight)
        start = token.attrs.get("start", 1) if token.type == "ordered_list_open" else -1
        self._numbers.append(int(start))

    def _item(self, token: Token) -> None:
        if not self._tight[-1]:
            self._gap()
        number = self._numbers[-1]
        mark = f"{token.info}{token.markup}" if number >= 0 and token.info else "-"
        if number >= 0:
            self._numbers[-1] += 1
        sign = [Span(mark + " ", "faint")]
        if self._room() <= _NARROWEST + width_of(sign):
            self._prefix.append([])
            return
        place = len(self._prefix)
        if self._bullet is not None:
            # An item that begins with another list: both signs on one line.
            place, before = self._bullet
            sign = [*before, *sign]
        self._prefix.append([Span(" " * cell_len(mark + " "), "blank")])
        self._bullet = (place, sign)

    def _code(self, token: Token) -> None:
        self._gap()
        language = token.info.split()[0] if token.info.split() else ""
        room = self._room() - 2
        body: list[list[Span]] = []
        for line in highlighted(token.content.rstrip("\n"), language=language, ink=self.ink):
            body.extend([Span("  ", "blank"), *part] for part in fitted(line, room))
        self._emit(body)

    def _inline(self, token: Token, ink: str) -> list[Span]:
        spans: list[Span] = []
        inks = [ink]
        targets: list[tuple[str, int]] = []
        for child in token.children or ():
            kind = child.type
            if kind == "text":
                spans.append(Span(child.content, inks[-1]))
            elif kind == "code_inline":
                spans.append(Span(child.content, inks[-1], "raised"))
            elif kind in ("softbreak", "hardbreak"):
                spans.append(_BREAK)
            elif kind == "strong_open":
                inks.append("strong")
            elif kind in ("strong_close", "em_close"):
                inks.pop()
            elif kind == "em_open":
                inks.append(inks[-1])
            elif kind == "link_open":
                targets.append((str(child.attrs.get("href", "")), len(spans)))
            elif kind == "link_close":
                href, start = targets.pop()
                text = "".join(span.text for span in spans[start:])
                if href and href not in (text, f"mailto:{text}"):
                    spans.append(Span(f" ({shown(href)})", "faint"))
            elif kind == "image":
                spans.append(
                    Span(f"[image {child.content or shown(str(child.attrs.get('src', '')))}]", "faint")
                )
            elif child.content:
                spans.append(Span(child.content, inks[-1]))
        return [
            span if span is _BREAK else span._replace(text=span.text.replace("\n", " ")) for span in spans
        ]

    def _table(self, tokens: list[Token], at: int) -> int:
        rows: list[list[list[Span]]] = []
        rights: list[bool] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                if token.type == "th_open":
                    rights.append("right" in str(token.attrs.get("style", "")))
                ink = "sub" if token.type == "th_open" else self.ink
                cell = self._inline(tokens[at + 1], ink)
                rows[-1].append([Span(" ") if span is _BREAK else span for span in cell])
            at += 1
        self._gap()
        self._emit(_grid(rows, rights, self._room(), self.glyphs))
        return at + 1


def _grid(rows: list[list[list[Span]]], rights: list[bool], room: int, glyphs: Glyphs) -> list[list[Span]]:
    """A table: columns as wide as they need, the widest giving way; cells wrap; a hairline under the head.

    One of more columns than there is room for is a text for each row.
    """
    count = len(rows[0]) if rows else 0
    if not count:
        return []
    gap = 2
    widths = [max(1, *(width_of(row[at]) for row in rows if at < len(row))) for at in range(count)]
    gaps = gap * (count - 1)
    available = max(count * 3, room - gaps)
    if min(sum(widths), available) + gaps > room + gap:
        return [
            line
            for row in rows
            for line in wrapped([span for cell in row for span in [*cell, Span("  ", "blank")]], room)
        ]
    if sum(widths) > available:
        most = (
            bisect_right(range(available), available, key=lambda cap: sum(min(cap, one) for one in widths))
            - 1
        )
        spare = available - sum(min(most, one) for one in widths)
        for at in reversed(range(count)):
            if widths[at] > most:
                widths[at] = most + (spare > 0)
                spare -= 1
    found: list[list[Span]] = []
    body = [[wrapped(cell, widths[at]) for at, cell in enumerate(row[:count])] for row in rows]
    wraps = any(len(cell) > 1 for cells in body for cell in cells)
    for number, cells in enumerate(body):
        if number > 1 and wraps:
            found.append([])
        for part in range(max((len(cell) for cell in cells), default=0)):
            line: list[Span] = []
            for at, cell in enumerate(cells):
                spans = cell[part] if part < len(cell) else []
                if rights[at]:
                    spans = [Span(" " * (widths[at] - width_of(spans)), "blank"), *spans]
                if at < count - 1:
                    spans = [*padded(spans, widths[at]), Span(" " * gap, "blank")]
                line.extend(spans)
            found.append(line)
        if number == 0:
            found.append([Span(glyphs.hairline * min(room, sum(widths) + gaps), "line")])
    return found
