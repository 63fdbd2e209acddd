"""The one way to build a page. Pure: may run in any thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.widgets.inspector.context import context_page
from leafward_tui.widgets.inspector.entry import entry_page
from leafward_tui.widgets.inspector.files import files_page
from leafward_tui.widgets.inspector.model import Gauge, Page, Selection, Tab
from leafward_tui.widgets.inspector.raw import raw_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.glyphs import Glyphs


def build(
    tab: Tab,
    selection: Selection,
    width: int,
    glyphs: Glyphs,
    *,
    height: int = 30,
    toggled: frozenset[str] = frozenset(),
    gauge: Gauge | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Page:
    """A tab's page for a selection, in lines of `width` cells.

    `height` is what is seen at once, `toggled` the sections the user opened or closed. Where `stop` turns true, the rest is
    left out. Raises what reading the session raises (OSError where its file is gone).
    """
    if tab is Tab.CONTEXT:
        return context_page(selection, width, height, glyphs, toggled, stop, gauge)
    make = {Tab.ENTRY: entry_page, Tab.FILES: files_page, Tab.RAW: raw_page}[tab]
    return make(selection, width, height, glyphs, toggled, stop)
