"""The sheet a page is written on: rows with a right edge, headed sections, texts that fold."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import split_path
from leafward.session.entries import NO_ENTRY
from leafward_tui.inspector.page import Page, PageLine
from leafward_tui.ui.text.cells import fit_path, wrap
from leafward_tui.ui.text.spans import Span, aligned, cut, padded, shown, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward_tui.inspector.model.search_phrase import SearchPhrase
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs

LABEL = 5
"""Cells of the column in which labels hang."""

INDENT = 2
"""Cells by which rows of a section are indented from its heading."""

MOST_LINES = 2_000
"""The most lines shown of one text, opened or not."""

MOST_UNFOLDED = 16
"""The most sections of a page that a search opens: for a frequent word in a long turn the first hits are enough."""


_GAP = 2
"""Cells between the texts at the left and at the right."""


def _spaced(facts: Sequence[Sequence[Span]], gap: int = 3) -> list[Span]:
    """Facts side by side."""
    found: list[Span] = []
    for first, *rest in facts:
        found += [first._replace(text=" " * gap + first.text) if found else first, *rest]
    return found


class Sheet:
    """Lines of one page, written from the top."""

    def __init__(self, request: PageRequest) -> None:
        self.tab = request.tab
        self.width = max(request.width, 16)
        self.height = request.height
        """Rows that are visible at once; the limits of folded texts depend on it."""
        self.glyphs = request.glyphs
        self._toggled = request.toggled
        self._unfolded = 0
        """Sections that are open because of words in them."""
        self._sought: SearchPhrase | None = None
        if words := request.goal.words:
            from leafward_tui.inspector.model.search_phrase import SearchPhrase

            self._sought = SearchPhrase(words)
        self.lines: list[PageLine] = []

    def page(self, copy: str = "") -> Page:
        """The page with the lines written so far."""
        while self.lines and not self.lines[-1].spans:
            self.lines.pop()
        return Page(self.tab, self.lines, copy)

    def is_open(self, key: str, *, normally: bool = False, holding: Iterable[object] = ()) -> bool:
        """Whether a section is open; `normally` is its state until the user toggles it.

        It is open as well where the values it is `holding` contain the words of the search; only the first such
        sections of a page are.
        """
        opens = normally
        if not opens and self._unfolded < MOST_UNFOLDED and self.seeks(holding):
            opens = True
            self._unfolded += 1
        return (key in self._toggled) != opens

    def seeks(self, values: Iterable[object]) -> bool:
        """Whether some values contain the words of the search."""
        return self._sought is not None and self._sought.is_in(values)

    def blank(self) -> None:
        """Writes an empty row; never two, and at the top of the page only one."""
        if not self.lines or self.lines[-1].spans:
            self.lines.append(PageLine())

    def line(self, spans: Iterable[Span], *, toggle: str = "", entry: int = NO_ENTRY, copy: str = "") -> None:
        """Writes one line, cut at the right edge."""
        self.lines.append(
            PageLine(tuple(cut(list(spans), self.width, self.glyphs.ellipsis)), toggle, entry, copy)
        )

    def row(
        self,
        left: Sequence[Span],
        right: Sequence[Span] = (),
        *,
        toggle: str = "",
        entry: int = NO_ENTRY,
        copy: str = "",
        file: str = "",
    ) -> None:
        """Writes one line with `right` at its edge, for which `left` yields. `file` is the file that it is about."""
        spans = aligned(left, right, self.width, self.glyphs.ellipsis)
        self.lines.append(PageLine(tuple(spans), toggle, entry, copy, file))

    def facts(
        self,
        left: Sequence[Sequence[Span]],
        right: Sequence[Sequence[Span]] = (),
        *,
        gap: int = 3,
        entry: int = NO_ENTRY,
        spare: int = -1,
    ) -> None:
        """Writes one line of facts, each whole or left out: the first of `right` go first, then the last of `left`.

        The one at `spare` goes before the others of `left`. The first of them is cut where it does not fit alone. `gap`
        is the cells between those of `left`.
        """
        first, last = list(left), list(right)
        while width_of(chain(_spaced(first, gap), _spaced(last))) + (_GAP if last else 0) > self.width:
            if len(last) > 1:
                del last[0]
            elif len(first) > 1:
                del first[spare]
                spare = -1
            elif last:
                del last[0]
            else:
                break
        self.row(_spaced(first, gap), _spaced(last), entry=entry)

    def heading(self, title: str, about: str = "", right: Sequence[Span] = ()) -> None:
        """Writes the head of a section: an empty row, its title, quiet words beside it."""
        self.blank()
        spans = [Span(title, "strong")]
        if about:
            spans.append(Span(f"  {about}", "faint"))
        self.row(spans, right)

    def opening(self, key: str, title: str, about: str) -> bool:
        """Writes the head of a section that is folded until the user opens it; returns whether it is open."""
        opened = self.is_open(key)
        sign = self.glyphs.unfolded if opened else self.glyphs.folded
        self.blank()
        self.line([Span(f"{sign} ", "faint"), Span(title, "strong"), Span(f"  {about}", "faint")], toggle=key)
        return opened

    def labelled(
        self,
        label: str,
        body: Sequence[Sequence[Span]],
        *,
        entry: int = NO_ENTRY,
        copy: str = "",
    ) -> None:
        """Writes lines that hang beside a label."""
        for at, spans in enumerate(body):
            head = label if at == 0 else ""
            self.line(
                [*padded([Span(head, "faint")] if head else [], LABEL), *spans],
                entry=entry if at == 0 else NO_ENTRY,
                copy=copy,
            )

    def folded(
        self,
        key: str,
        body: Sequence[Sequence[Span]],
        limit: int,
        *,
        indent: int = 0,
        label: str = "",
        entry: int = NO_ENTRY,
        copy: str = "",
    ) -> None:
        """Writes lines of which at most `limit` are visible until the user opens the rest."""
        limit = max(limit, 1)
        total = len(body)
        # From the last visible line on: words may go on over its end.
        rest = "\n".join("".join(span.text for span in spans) for spans in body[limit - 1 :])
        opened = self.is_open(key, holding=(rest,))
        # A fold of one line would take a line itself.
        seen = total if total <= limit + 1 else min(total, MOST_LINES) if opened else limit
        margin = LABEL if label else indent
        for at in range(seen):
            head = padded([Span(label, "faint")] if label and at == 0 else [], margin)
            self.line([*head, *body[at]], entry=entry if label and at == 0 else NO_ENTRY, copy=copy)
        if total <= limit + 1:
            return
        pad = Span(" " * margin, "blank") if margin else Span("", "blank")
        if opened and seen < total:
            self.line([pad, Span(f"{counted(total - seen, 'more line')} not shown", "nothing")])
        words = "fewer lines" if opened else counted(total - seen, "more line")
        sign = self.glyphs.unfolded if opened else self.glyphs.folded
        self.line([pad, Span(f"{sign} {words}", "faint")], toggle=key, copy=copy)

    def note(self, text: str, *, indent: int = 0) -> None:
        """Writes a remark of ours, whole."""
        for line in wrap(text, max(1, self.width - indent)):
            self.line([Span(" " * indent + line, "nothing")])

    def pairs(self, label: str, value: str, *, ink: str = "text", width: int = 12) -> None:
        """Writes a quiet name and its value."""
        spans = padded([Span(label, "faint")], width)
        if width_of(spans) > width:
            spans.append(Span("  ", "blank"))
        lines = wrap(shown(value).replace("\n", " "), max(8, self.width - width_of(spans))) or [""]
        self.line([*spans, Span(lines[0], ink)])
        for line in lines[1:]:
            self.line([Span(" " * width_of(spans), "blank"), Span(line, ink)])

    def columns(self, texts: Sequence[tuple[str, str]], widths: Sequence[int]) -> list[Span]:
        """Numbers in columns, right-aligned: each a text and its ink."""
        spans: list[Span] = []
        for (text, ink), width in zip(texts, widths, strict=True):
            room = width - cell_len(text)
            spans.append(Span(" " * max(room, 0), "blank"))
            spans.append(Span(text, ink))
        return spans


def path_spans(path: str, width: int, glyphs: Glyphs, *, ink: str = "text") -> list[Span]:
    """A session's path in at most `width` cells; it gives up its middle first."""
    folder, name = split_path(fit_path(safe_line(path, 2_000), width, gap=glyphs.gap))
    return [Span(folder, "faint"), Span(name, ink)] if folder else [Span(name, ink)]
