"""A page on the screen: virtual lines, a cursor that rests on lines with an effect, mouse, selection."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from leafward.base.safe_text import safe
from leafward_tui.ui.keys.intents import intent
from leafward_tui.ui.panes.line_scroll import LineScroll, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.hits import parted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events
    from textual.selection import Selection as TextSelection

    from leafward_tui.inspector.page import Page, PageLine
    from leafward_tui.ui.appearance.theme import Styles

MARGIN = 1
"""Cells left of the text: the cursor's."""

AIR = 1
"""Cells between the text and the scrollbar."""

_KEPT_STRIPS = 512
_MOST_COPIED = 5_000
"""The most lines that a text selection may span."""


def paint(
    line: PageLine, width: int, styles: Styles, *, cursor: str = "", hits: Sequence[tuple[int, int]] = ()
) -> Strip:
    """A line in `width` cells, with the cursor's sign in the margin where it is here, and its hits lit."""
    ground = styles.sel if cursor else styles.bg
    segments = [Segment(cursor or " " * MARGIN, ground.leaf)]
    at = 0
    for text, ink, named in line.spans:
        if text:
            on = getattr(styles, named) if named else ground
            segments += parted(text, at, hits, getattr(on, ink), on.strong_hit)
            at += len(text)
    return Strip(segments).adjust_cell_length(width, ground.blank)


def _leads_alike(line: PageLine | None, other: PageLine) -> bool:
    """Whether two lines, the first of which may be None, do the same on enter."""
    return line is not None and (line.toggle, line.entry) == (other.toggle, other.entry)


def _marked(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """A strip with the characters of `span` marked as selected; an end below 0 is that of the strip."""
    start, end = (at if at >= 0 else len(strip.text) for at in span)
    if start >= end:
        return strip
    segments, behind = list[Segment](), 0
    for text, own, _ in strip:
        first, last = (max(0, at - behind) for at in (start, end))
        parts = (text[:first], own), (text[first:last], style), (text[last:], own)
        segments += [Segment(part, ink) for part, ink in parts if part]
        behind += len(text)
    return Strip(segments, strip.cell_length)


def _selected(lines: Sequence[PageLine], selection: TextSelection) -> str:
    """The selected text, as on the screen, without the margin."""
    first = selection.start.y if selection.start is not None else 0
    last = selection.end.y if selection.end is not None else len(lines) - 1
    last = min(last, len(lines) - 1, first + _MOST_COPIED)
    found: list[str] = []
    for at in range(max(first, 0), last + 1):
        text = " " * MARGIN + lines[at].text
        start = selection.start.x if selection.start is not None and at == first else MARGIN
        end = selection.end.x if selection.end is not None and at == selection.end.y else len(text)
        found.append(text[max(start, MARGIN) : end].rstrip())
    return "\n".join(found)


def _bind(intent_id: str) -> Binding:
    known = intent(intent_id)
    return Binding(known.keys, known.action, known.hint, show=False, tooltip=known.title, id=known.id)


class PageView(LineScroll):
    """Shows one page at a time, line by line."""

    DEFAULT_CSS = "PageView { scrollbar-gutter: stable; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        _bind("row.down"),
        _bind("row.up"),
        _bind("page.down"),
        _bind("page.up"),
        _bind("half.down"),
        _bind("half.up"),
        _bind("row.top"),
        _bind("row.bottom"),
        _bind("copy.text"),
        Binding(
            "enter,space",
            "line_open",
            "open",
            show=False,
            tooltip="Open the entry or fold here",
            id="line.open",
        ),
        Binding("left", "tab_previous", "tab", show=False, tooltip="Previous tab", id="tab.previous"),
        Binding("right", "tab_next", "tab", show=False, tooltip="Next tab", id="tab.next"),
    ]

    class LineOpened(Message):
        """Enter or a click on a line that does something."""

        def __init__(self, line: PageLine) -> None:
            super().__init__()
            self.line = line

    class TabStepped(Message):
        """Another tab is wanted: the one before or behind."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class TextWanted(Message):
        """A copy of the line or the page is wanted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__()
        self.page: Page | None = None
        self._waiting = ""
        """The text on the screen while there is no page."""
        self._strips: OrderedDict[tuple[int, bool, int], Strip] = OrderedDict()
        self._painted_with: Styles | None = None
        self.rendered = 0
        """Lines painted so far; work counted for tests."""

    # --- content ------------------------------------------------------------------------------------------------------

    def show(self, page: Page | None, *, keep_place: bool, waiting: str = "") -> None:
        """Shows another page from its top or the first hit in it, or the same page made again at its place.

        Without a page the second row shows the text of `waiting`.
        """
        before, below = (self._line(self.cursor + at) if keep_place else None for at in (0, 1))
        length = len(self.page.lines) if self.page is not None else 0
        self.page, self._waiting = page, waiting
        self._strips.clear()
        if self.show_vertical_scrollbar:
            # A scrollbar stays once it has come: each time it comes or goes, the whole screen is laid out.
            self.styles.overflow_y = "scroll"
        set_extent(self, len(page.lines) if page is not None else 0, self.scrollable_content_region.width)
        if not keep_place:
            self.cursor = -1
            hit = max(0, page.goal) if page is not None else 0
            height = self.scrollable_content_region.height
            self.scroll_to(y=max(0, hit - height // 3) if hit >= height else 0, animate=False, force=True)
        elif before is not None and not _leads_alike(self._line(self.cursor), before):
            near = (at for at in range(*self._window()) if _leads_alike(self._line(at), before))
            self.cursor = next(near, -1)
        elif page is not None and len(page.lines) > length and before is not None and before.toggle:
            # A section opened at the lower edge would stand below it.
            opened, (top, bottom) = self._line(self.cursor + 1), self._window()
            height = self.scrollable_content_region.height
            changed = opened is not None and (below is None or opened.text != below.text)
            if changed and top + height * 2 // 3 <= self.cursor < bottom:
                self.scroll_to(y=self.cursor - height // 3, animate=False, force=True)
        # A page may come after the focus.
        self.focus_changed(focused=self.has_focus)
        self.refresh()

    def _line(self, at: int) -> PageLine | None:
        if self.page is None or not 0 <= at < len(self.page.lines):
            return None
        return self.page.lines[at]

    def _window(self) -> tuple[int, int]:
        """The first line on the screen and the one after the last."""
        top = self.scroll_offset.y
        count = len(self.page.lines) if self.page is not None else 0
        return top, min(count, top + max(1, self.scrollable_content_region.height))

    def _hits(self, at: int, line: PageLine) -> Sequence[tuple[int, int]]:
        """The hits of a line."""
        page = self.page
        if page is None or not page.words:
            return page.hits.get(at, ()) if page is not None else ()
        from leafward_tui.inspector.model.search_phrase import SearchPhrase

        return SearchPhrase(page.words).places([line]).get(0, ())

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        styles = services_of(self).styles_now
        if styles is not self._painted_with:
            self._strips.clear()
            self._painted_with = styles
        width = self.scrollable_content_region.width
        at = self.scroll_offset.y + y
        line = self._line(at)
        if line is None:
            if self._waiting and y == 1:
                words = [Segment(" " * MARGIN, styles.bg.blank), Segment(self._waiting, styles.bg.nothing)]
                return Strip(words).adjust_cell_length(width, styles.bg.blank)
            return Strip.blank(width, styles.bg.blank)
        chosen = at == self.cursor and self.has_focus
        key = (at, chosen, width)
        strip = self._strips.get(key)
        if strip is None:
            self.rendered += 1
            marked = chosen or (self.page is not None and at == self.page.goal)
            cursor = services_of(self).glyphs.cursor if marked else ""
            strip = paint(line, width, styles, cursor=cursor, hits=self._hits(at, line))
            self._strips[key] = strip
            if len(self._strips) > _KEPT_STRIPS:
                self._strips.popitem(last=False)
        selection = self.text_selection
        span = selection.get_span(at) if selection is not None else None
        if span is not None:
            strip = _marked(strip, span, styles.ghost_tint.text)
        return strip.apply_offsets(0, at)

    def notify_style_update(self) -> None:
        """Draws every line again for another theme."""
        super().notify_style_update()
        self._strips.clear()

    def focus_changed(self, *, focused: bool) -> None:
        """With the focus here the cursor rests on a line; draws it so."""
        if focused and self._line(self.cursor) is None:
            self.cursor = self._first_in_view()
        self.repaint(self.cursor)

    # --- text selection -----------------------------------------------------------------------------------------------

    def selection_updated(self, selection: TextSelection | None) -> None:  # noqa: ARG002  Textual's own name
        """Paints the selection."""
        self.refresh()

    def get_selection(self, selection: TextSelection) -> tuple[str, str] | None:
        """The selected text and its ending; None without a page."""
        if self.page is None:
            return None
        return _selected(self.page.lines, selection), "\n"

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_row_down(self) -> None:
        """Goes to the next line with an effect; where none is in sight, one line down."""
        top, bottom = self._window()
        start = self.cursor + 1 if top <= self.cursor < bottom else top
        self._move(self._target(range(start, bottom)), 1)

    def action_row_up(self) -> None:
        """Goes to the line with an effect before; where none is in sight, one line up."""
        top, bottom = self._window()
        start = self.cursor - 1 if top <= self.cursor < bottom else bottom - 1
        self._move(self._target(range(start, top - 1, -1)), -1)

    def _target(self, lines: range) -> int:
        if self.page is None:
            return -1
        return next((at for at in lines if self.page.lines[at].is_target), -1)

    def _first_in_view(self) -> int:
        return self._target(range(*self._window()))

    def _move(self, at: int, step: int) -> None:
        if at >= 0:
            self._set_cursor(at)
            return
        self.scroll_to(y=self.scroll_offset.y + step, animate=False)
        top, bottom = self._window()
        edge = bottom - 1 if step > 0 else top
        fresh = self._target(range(edge, edge + 1))
        if fresh >= 0:
            self._set_cursor(fresh)

    def _set_cursor(self, at: int) -> None:
        before, self.cursor = self.cursor, at
        if before != at:
            self.repaint(before)
            self.repaint(at)

    def _page(self, rows: int) -> None:
        top, bottom = self._window()
        offset = self.cursor - top if top <= self.cursor < bottom else 0
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False)
        top, bottom = self._window()
        target = min(top + offset, bottom - 1)
        near = self._target(range(target, bottom))
        if near < 0:
            near = self._target(range(target, top - 1, -1))
        self._set_cursor(near)
        self.refresh()

    def action_page_down(self) -> None:
        """Scrolls one screen down."""
        self._page(max(1, self.scrollable_content_region.height - 1))

    def action_page_up(self) -> None:
        """Scrolls one screen up."""
        self._page(-max(1, self.scrollable_content_region.height - 1))

    def action_half_down(self) -> None:
        """Scrolls half a screen down."""
        self._page(max(1, self.scrollable_content_region.height // 2))

    def action_half_up(self) -> None:
        """Scrolls half a screen up."""
        self._page(-max(1, self.scrollable_content_region.height // 2))

    def action_row_top(self) -> None:
        """Goes to the first line."""
        self.scroll_to(y=0, animate=False)
        self._set_cursor(self._first_in_view())
        self.refresh()

    def action_row_bottom(self) -> None:
        """Goes to the last line."""
        self.scroll_to(y=self.max_scroll_y, animate=False)
        top, bottom = self._window()
        self._set_cursor(self._target(range(bottom - 1, top - 1, -1)))
        self.refresh()

    def action_line_open(self) -> None:
        """Opens, closes or goes to the target of the cursor's line."""
        top, bottom = self._window()
        line = self._line(self.cursor) if top <= self.cursor < bottom else None
        if line is not None and line.is_target:
            self.post_message(self.LineOpened(line))

    def action_tab_previous(self) -> None:
        """Goes to the tab on the left."""
        self.post_message(self.TabStepped(-1))

    def action_tab_next(self) -> None:
        """Goes to the tab on the right."""
        self.post_message(self.TabStepped(1))

    def action_copy_text(self) -> None:
        """Asks for a copy of the cursor's line, or else of the page."""
        text = self.copied_text()
        if text:
            self.post_message(self.TextWanted(text))

    def copied_text(self) -> str:
        """The text that a copy takes now."""
        if self.page is None:
            return ""
        top, bottom = self._window()
        line = self._line(self.cursor) if self.has_focus and top <= self.cursor < bottom else None
        if line is not None:
            return line.copy or safe(line.text.strip())
        if self.page.copy:
            return self.page.copy
        seen = (self.page.lines[at].text.rstrip() for at in range(top, bottom))
        return safe("\n".join(seen).strip("\n"))

    # --- mouse --------------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Handles a click like enter on the line, except for one that ends a selection."""
        at = self.row_at(event)
        if at < 0 or (self.text_selection is not None and self.screen.get_selected_text()):
            return
        line = self._line(at)
        if line is None or not line.is_target:
            return
        event.stop()
        self._set_cursor(at)
        self.post_message(self.LineOpened(line))
