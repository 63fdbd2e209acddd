"""The preview: a session at a glance, beside the list. Painted from lines that are made when the model changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.figures import counted
from leafward.base.paths import is_kept
from leafward.base.shown_path import NO_PROJECT_FOLDER, split_path
from leafward.catalogue.retention import leaves_in
from leafward.catalogue.usage.totals import NOTHING
from leafward.query.search.cards import matches
from leafward.session.columns import MIDWAY
from leafward.session.entries import FORK, INFERRED
from leafward_tui.catalogue.model.preview_tree import Sign, TreeRow
from leafward_tui.catalogue.widgets.group_lines import group_lines, group_title, moved_lines, section_head
from leafward_tui.catalogue.widgets.session_row import is_live
from leafward_tui.ui.panes.side_pane import PaneLine, SidePane
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import count, exact, fit, fit_path, limit, money, right, shares, wrap
from leafward_tui.ui.text.hits import marked
from leafward_tui.ui.text.paths import fit_project, tilde
from leafward_tui.ui.text.times import moment_at, period_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.query import Query
    from leafward_tui.catalogue.model.listing import Listing, ListLine, Stock
    from leafward_tui.catalogue.model.session_preview import SessionPreview
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground

_LABEL = 5
_FILES = 6
_LEAST_PATH = 12
"""Cells below which a path is not worth showing."""


class Preview(SidePane):
    """Title, place and time, small tree, context, first and last words, files."""

    def __init__(self) -> None:
        super().__init__()
        self._card: Card | None = None
        self._preview: SessionPreview | None = None
        self._query: Query | None = None
        self._group: tuple[ListLine, Listing] | None = None
        """The group shown instead of a session."""
        self._stock: Stock | None = None
        """Facts about all sessions: costs, and expiry dates."""

    @property
    def card(self) -> Card | None:
        """The session shown."""
        return self._card

    @property
    def group(self) -> str | None:
        """The name of the group shown; None where none is."""
        return self._group[0].group if self._group is not None else None

    def show(
        self, card: Card | None, preview: SessionPreview | None, query: Query, stock: Stock | None = None
    ) -> None:
        """Replaces everything at once; without a preview, shows the card."""
        other = card is None or self._card is None or card.path != self._card.path
        self._card, self._preview, self._query, self._stock, self._group = card, preview, query, stock, None
        self.changed(from_top=other)

    def show_group(self, line: ListLine, listing: Listing) -> None:
        """Shows a group, such as a project, instead of a session."""
        other = self.group != line.group
        self._card, self._preview, self._group = None, None, (line, listing)
        self.changed(from_top=other)

    # --- lines --------------------------------------------------------------------------------------------------------

    def make_lines(self, width: int) -> tuple[list[PaneLine], list[PaneLine], int]:
        """The title stays, everything else scrolls."""
        services = services_of(self)
        ground, glyphs, card = services.styles_now.bg, services.glyphs, self._card
        if self._group is not None:
            (line, listing), now = self._group, services.clock().timestamp()
            keymap = services_of(self).keymap
            title = group_title(line.group, listing.view.grouping, width, now, glyphs.gap)
            head = self.title_lines(title, width, ground, glyphs)
            return head, list(group_lines(line, listing, width, now, ground, glyphs, keymap)), 0
        head = self.title_lines(card.title if card is not None else "", width, ground, glyphs)
        return head, list(self._body(card, width, ground, glyphs)) if card is not None else [], 0

    def _body(self, card: Card, width: int, ground: Ground, glyphs: Glyphs) -> Iterator[PaneLine]:
        yield from self._meta(card, width, ground, glyphs)
        preview = self._preview
        if preview is None:
            return
        if preview.problem:
            yield []
            yield [Segment(f"{glyphs.malformed} ", ground.bad), Segment("cannot be read", ground.sub)]
            for line in wrap(preview.problem, width, lines=6, ellipsis=glyphs.ellipsis):
                yield [Segment(line, ground.faint)]
            return
        yield from self._tree(card, preview, width, ground, glyphs)
        yield from self._gauge(card, preview.window, width, ground, glyphs)
        yield from self._words(preview, width, ground, glyphs)
        yield from self._files(preview, width, ground, glyphs)

    def _meta(self, card: Card, width: int, ground: Ground, glyphs: Glyphs) -> Iterator[PaneLine]:
        model = card.model or ""
        named = min(cell_len(card.agent), 8)
        room = max(0, width - named - 3 - (cell_len(model) + 2 if model else 0))
        where = tilde(card.project)
        # Where the model leaves no room for a path, the list shows the project.
        where = (
            fit_project(card.project, room, glyphs.gap) if room >= min(_LEAST_PATH, cell_len(where)) else ""
        )
        yield [
            Segment(fit(card.agent, named), ground.sub),
            Segment(f"   {where}", ground.faint),
            Segment(
                right(
                    fit(model, max(0, width - named - 4 - cell_len(where)), ellipsis=glyphs.ellipsis),
                    width - named - 3 - cell_len(where),
                ),
                ground.faint,
            ),
        ]
        written = self._stock.status.written.get(card.path, 0) if self._stock is not None else 0
        live = is_live(card, written, services_of(self).clock().timestamp())
        used = self._stock.used.get(card.path, NOTHING) if self._stock is not None else NOTHING
        price = money(used.cost) if used.priced else ""
        took_over = self._stock is not None and self._stock.parents.get(card.path, ("", ""))[1] in (
            FORK,
            INFERRED,
        )
        if price and took_over:
            # Entries that it took over count in the session they came from.
            price += " since fork"
        room = width - (cell_len(price) + 2 if price else 0)
        # The shortest has its place before the price.
        *longer, least = _times(card, live=live)
        times = next((one for one in longer if cell_len(one) <= room), least)
        left = width - cell_len(times)
        yield [
            Segment(fit(times, width, ellipsis=glyphs.ellipsis), ground.leaf if live else ground.sub),
            Segment(right(price, left) if cell_len(price) + 2 <= left else "", ground.sub),
        ]
        yield from self._stays(card, width, ground, glyphs)
        if card.damage:
            word, rest = problem_words(card.damage, width - 2)
            yield [Segment(f"{glyphs.malformed} {word}", ground.warn), Segment(rest, ground.faint)]
        if card.midway:
            words = f"{MIDWAY} of a conversation"
            yield [Segment(fit(words, width, ellipsis=glyphs.ellipsis), ground.sub)]

    def _stays(self, card: Card, width: int, ground: Ground, glyphs: Glyphs) -> Iterator[PaneLine]:
        """Whether the session is kept, expires soon, or belongs to a missing folder."""
        if self._stock is None:
            return
        status = self._stock.status
        services = services_of(self)
        if card.path in status.kept:
            words = "kept by Leafward; the original is gone" if is_kept(card.path) else "a copy is kept"
            yield [Segment(words, ground.sub)]
        elif (left := status.expires.get(card.path)) is not None:
            words = leaves_in(left, int(services.clock().timestamp() * 1000))
            key = services.keymap.label("session.keep")
            if words:
                yield [
                    Segment(words, ground.warn),
                    Segment(f"   {key}  keeps a copy" if key else "", ground.faint),
                ]
        if card.project in status.missing:
            yield [Segment(NO_PROJECT_FOLDER, ground.warn)]
            yield from moved_lines(status.moved.get(card.project), width, services.keymap, ground, glyphs)

    def _tree(
        self, card: Card, preview: SessionPreview, width: int, ground: Ground, glyphs: Glyphs
    ) -> Iterator[PaneLine]:
        if not preview.tree:
            return
        yield []
        yield section_head("Tree", counted(card.branches or 0, "branch", "branches"), width, ground)
        for row in preview.tree:
            yield _tree_row(row, width, ground, glyphs)

    def _gauge(
        self, card: Card, recorded: int | None, width: int, ground: Ground, glyphs: Glyphs
    ) -> Iterator[PaneLine]:
        if not card.tokens:
            return
        counted_by_model = 0 if card.estimated else card.tokens
        window = services_of(self).config.window_for(card.model, recorded, counted_by_model).tokens
        yield []
        used = f"{'~' if card.estimated else ''}{count(card.tokens)}"
        rest = f"{' + not in file' if card.lacks_prompt else ''} / {limit(window)}"
        yield [
            Segment("Context", ground.strong),
            Segment(" " * max(1, width - 7 - len(used) - len(rest)), ground.blank),
            Segment(used, ground.text),
            Segment(rest, ground.faint),
        ]
        full = min(card.tokens, window)
        there, free = shares([full, window - full], width)
        over = card.tokens > window
        yield [
            Segment(glyphs.block * there, ground.warn if over else ground.leaf),
            Segment(glyphs.block_free * free, ground.edge),
        ]

    def _words(
        self, preview: SessionPreview, width: int, ground: Ground, glyphs: Glyphs
    ) -> Iterator[PaneLine]:
        if preview.first and preview.first != preview.last:
            yield []
            yield [Segment("First", ground.strong)]
            yield from self._message("you", preview.first, width, ground, glyphs, ground.text)
        if preview.last or preview.reply:
            yield []
            yield [Segment("Last" if preview.first != preview.last else "Said", ground.strong)]
            yield from self._message("you", preview.last, width, ground, glyphs, ground.text)
            if preview.reply:
                yield from self._message("ai", preview.reply, width, ground, glyphs, ground.sub)
            else:
                yield from self._message("ai", "no reply yet", width, ground, glyphs, ground.faint)

    def _message(
        self, who: str, text: str, width: int, ground: Ground, glyphs: Glyphs, style: Style
    ) -> Iterator[PaneLine]:
        """A speaker, and the beginning of the message; nothing for an empty one."""
        lines = wrap(text, max(1, width - _LABEL), lines=2, ellipsis=glyphs.ellipsis) if text else []
        for number, line in enumerate(lines):
            label = Segment(fit(who if not number else "", _LABEL, pad=True), ground.faint)
            yield [label, *self._hits(line, style, ground)]

    def _hits(self, line: str, style: Style, ground: Ground) -> list[Segment]:
        """The line with the words of the filter marked."""
        if self._query is None or not self._query.words or self._card is None:
            return [Segment(line, style)]
        found = matches(self._card._replace(title=line), self._query)
        spans = found.spans.get("title", ()) if found is not None else ()
        return marked(line, line, spans, style, ground.hit)

    def _files(
        self, preview: SessionPreview, width: int, ground: Ground, glyphs: Glyphs
    ) -> Iterator[PaneLine]:
        names = [change.path for change in preview.changes] or list(reversed(preview.changed))
        if not names and not preview.read:
            return
        yield []
        facts = [f"{exact(len(names))} changed"] if names else []
        facts += [f"{exact(preview.read)} read"] if preview.read else []
        yield section_head("Files", "   ".join(facts), width, ground)
        if preview.changes:
            for change in preview.changes[:_FILES]:
                numbers = [
                    Segment(
                        right(f"+{change.added:,}" if change.added else glyphs.zero, 7),
                        ground.leaf if change.added else ground.edge,
                    ),
                    Segment(
                        right(f"{glyphs.minus}{change.removed:,}" if change.removed else glyphs.zero, 7),
                        ground.bad if change.removed else ground.edge,
                    ),
                ]
                yield [*_path(change.path, width - 14, ground, glyphs), *numbers]
        else:
            for name in names[:_FILES]:
                yield _path(name, width, ground, glyphs)
        if len(names) > _FILES:
            yield [Segment(f"{len(names) - _FILES} more", ground.faint)]


def _path(path: str, width: int, ground: Ground, glyphs: Glyphs) -> PaneLine:
    folder, name = split_path(fit_path(path, width, gap=glyphs.gap))
    pad = " " * max(0, width - cell_len(folder) - cell_len(name))
    return [Segment(folder, ground.faint), Segment(name + pad, ground.text)]


def _tree_row(row: TreeRow, width: int, ground: Ground, glyphs: Glyphs) -> PaneLine:
    tail = "" if row.number is None else f"  {counted(row.number, 'entry', 'entries')}"
    if row.sign is Sign.BRANCH and row.turns != 1:
        tail = f"  {counted(row.turns, 'turn')}{tail}"
    change = f"   {row.change.text(glyphs)}" if row.change is not None else ""
    text = fit(row.text + change, width - _LABEL - cell_len(tail), pad=True, ellipsis=glyphs.ellipsis)
    sign = {
        Sign.PROMPT: (glyphs.prompt, ground.leaf, ground.text),
        Sign.BRANCH: (f"{glyphs.branch}{glyphs.arm}{glyphs.folded}", ground.leaf, ground.sub),
        Sign.RUN: (glyphs.run, ground.leaf, ground.sub),
        Sign.COMPACTION: (glyphs.compaction, ground.memory, ground.memory),
        Sign.SUMMARY: (glyphs.branch_summary, ground.memory, ground.memory),
        Sign.LEAF: (glyphs.leaf, ground.leaf, ground.text),
    }[row.sign]
    glyph, ink, words = sign
    pieces = [Segment(glyph[:1], ink)]
    if len(glyph) > 1:
        pieces.append(Segment(glyph[1:], ground.faint))
    pieces.append(Segment(" " * (_LABEL - cell_len(glyph)), ground.blank))
    return [*pieces, Segment(text, words), Segment(tail, ground.faint)]


def _times(card: Card, *, live: bool) -> Iterator[str]:
    """The times of a session in words, the longest first."""
    state = "written just now" if live else f"last {moment_at(card.modified)}"
    if card.created is not None:
        # A copy has a header of its own, younger than the entries it took over; the list shows its age, too.
        copied = card.created > card.modified
        begun = f"{'copied' if copied else 'started'} {moment_at(card.created)}"
        if live or copied:
            yield f"{state}   {begun}"
        if copied and not live:
            yield begun
        period = period_at(card.created, card.modified)
        if " to " in period and not live:
            yield period
    yield state


def problem_words(damage: int, width: int) -> tuple[str, str]:
    """The number of a file's damaged entries, and words about them that fit `width` cells."""
    word = counted(damage, "damaged entry", "damaged entries")
    whole = (" in the file, the rest is readable", ", the rest is readable", "")
    return word, next(text for text in whole if not text or cell_len(word + text) <= width)
