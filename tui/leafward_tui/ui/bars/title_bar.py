"""The first row: the place at the left, its figures at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import exact, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style

    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground, Styles

_GAP = 4
_NARROW = 100
_LEAST_TITLE = 40
_LEAST_CRUMB = 8
_PROGRESS_CELLS = 11


class Fact(NamedTuple):
    """One group at the right: `678 entries`."""

    value: str
    unit: str = ""
    short: str | None = None
    """The words for both below 100 columns; None where there is no shorter form."""
    keep: int = 0
    """The rank: the lowest goes first when there is no room."""
    hue: str = ""
    """Name of a hue for the value; quiet where empty."""


class Progress(NamedTuple):
    """Background work: `indexing 1,904 / 2,318`; without a known total, `reading 300 MB`."""

    verb: str
    done: int | None
    total: int
    unit: str = ""


class TitleBar(Painted):
    """`leafward  project › Title` and facts. One row, without focus."""

    DEFAULT_CSS = "TitleBar { height: 1; width: 1fr; background: $lw-panel; }"
    GROUND = "panel"

    def __init__(self) -> None:
        super().__init__()
        self._crumb = ""
        self._title = ""
        self._note = ""
        self._facts: tuple[Fact, ...] = ()
        self._progress: Progress | None = None

    def show(self, title: str, *, crumb: str = "", note: str = "", facts: Sequence[Fact] = ()) -> None:
        """Sets everything but the progress; texts are expected to be safe. `crumb` is the parent of the title."""
        content = (title, crumb, note, tuple(facts))
        if content != (self._title, self._crumb, self._note, self._facts):
            self._title, self._crumb, self._note, self._facts = content
            self.refresh()

    def progress(self, progress: Progress | None) -> None:
        """Shows work that goes on; None ends it."""
        if progress != self._progress:
            self._progress = progress
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        """The bar at the widget's width."""
        glyphs, styles = services_of(self).glyphs, services_of(self).styles_now
        narrow = width < _NARROW
        left: list[Segment] = [Segment(" ", ground.blank), Segment("leafward", ground.strong_leaf)]
        gap = "  " if narrow else "   "
        lead = sum(segment.cell_length for segment in left) + len(gap)
        least = min(cell_len(self._title), _LEAST_TITLE)
        crumb = self._crumb if not narrow else ""
        behind = cell_len(crumb) + 3 if crumb else 0
        # The cells of the title and crumb beside whole words; the short forms are for where there is no room.
        before = cell_len(self._title) + (cell_len(self._crumb) + 3 if self._crumb else 0) + 2
        facts = self._shown_facts(
            width - lead - behind - least - 1, width - lead - before - 1, narrow, styles, glyphs
        )
        taken = sum(segment.cell_length for segment in facts)
        room = max(0, width - lead - behind - taken - (2 if taken else 0) - 1)
        if narrow:
            # Facts and title come first here; the rest goes to the project, or to the whole crumb.
            spare = room - least - 3
            project = self._crumb.partition(f" {glyphs.crumb} ")[0]
            crumb = self._crumb if cell_len(self._crumb) <= spare else project
            crumb = (
                fit(crumb, spare, ellipsis=glyphs.ellipsis)
                if spare >= min(cell_len(crumb), _LEAST_CRUMB)
                else ""
            )
            room -= cell_len(crumb) + 3 if crumb else 0
        if crumb:
            left += [Segment(f"{gap}{crumb} ", ground.faint), Segment(f"{glyphs.crumb} ", ground.sub)]
        else:
            left.append(Segment(gap, ground.blank))
        title = fit(self._title, room, ellipsis=glyphs.ellipsis)
        left.append(Segment(title, ground.strong))
        rest = room - cell_len(title)
        if self._note and rest >= cell_len(self._note) + 3:
            left.append(Segment(f"   {self._note}", ground.faint))
        used = sum(segment.cell_length for segment in left)
        left.append(Segment(" " * max(0, width - used - taken - 1), ground.blank))
        return [*left, *facts, Segment(" ", ground.blank)]

    def _shown_facts(
        self, room: int, whole_room: int, narrow: bool, styles: Styles, glyphs: Glyphs
    ) -> list[Segment]:
        """The facts that fit `room`; below 100 columns in short, but for those whose words fit `whole_room`."""
        ground = styles.panel
        gap = 2 if narrow else _GAP
        groups: list[tuple[int, list[Segment]]] = []
        spelt = self._spelt_out(whole_room, gap) if narrow else frozenset(self._facts)
        if self._progress is not None:
            groups.append((1 << 30, _progress(self._progress, narrow, styles, glyphs)))
        for fact in self._facts:
            style: Style = getattr(ground, fact.hue) if fact.hue else ground.sub
            if fact not in spelt and fact.short is not None:
                pieces = [Segment(fact.short, style)] if fact.short else []
            else:
                pieces = [Segment(fact.value, style)]
                if fact.unit:
                    pieces.append(Segment(f" {fact.unit}", ground.faint))
            if pieces:
                groups.append((fact.keep, pieces))
        while groups and sum(_width(pieces) + gap for _, pieces in groups) > room:
            groups.remove(min(groups, key=lambda group: group[0]))
        shown: list[Segment] = []
        for number, (_, pieces) in enumerate(groups):
            if number:
                shown.append(Segment(" " * gap, ground.blank))
            shown += pieces
        return shown

    def _spelt_out(self, room: int, gap: int) -> frozenset[Fact]:
        """The facts that are shown in whole words where all of them have to share `room`, the weightiest first."""
        told = [fact for fact in self._facts if fact.short != ""]
        left = room - sum(cell_len(_whole(fact) if fact.short is None else fact.short) + gap for fact in told)
        found = []
        for fact in sorted(told, key=lambda fact: -fact.keep):
            more = cell_len(_whole(fact)) - cell_len(fact.short or "")
            if fact.short is not None and more <= left and self._progress is None:
                found.append(fact)
                left -= more
        return frozenset(found)


def _whole(fact: Fact) -> str:
    return f"{fact.value} {fact.unit}" if fact.unit else fact.value


def _width(pieces: list[Segment]) -> int:
    return sum(segment.cell_length for segment in pieces)


def _progress(progress: Progress, narrow: bool, styles: Styles, glyphs: Glyphs) -> list[Segment]:
    ground, unit = styles.panel, f" {progress.unit}" if progress.unit else ""
    if progress.done is None:
        return [
            Segment(progress.verb, ground.faint),
            Segment(f" {exact(progress.total)}{unit}", ground.sub),
        ]
    done = min(progress.done, progress.total)
    cells = 6 if narrow else _PROGRESS_CELLS
    reached = cells * done // progress.total if progress.total else 0
    count = f"{exact(done)} / {exact(progress.total)}" if progress.total else exact(progress.done)
    return [
        Segment(glyphs.thin * reached, ground.leaf),
        Segment(glyphs.thin_rest * (cells - reached), ground.edge),
        Segment("" if narrow else f" {progress.verb}", ground.faint),
        Segment(f" {count}{unit}", ground.sub),
    ]
