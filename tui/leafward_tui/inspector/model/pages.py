"""The one way to build a page. Pure: may run in any thread.

The modules of a tab's page are imported when the first page is built: Markdown and highlighting are not loaded yet when
the screen is first painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.panes.inspector_tab import Tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.config import Config
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.panes.page import Gauge, Page, Selection


def build(
    tab: Tab,
    selection: Selection,
    width: int,
    glyphs: Glyphs,
    config: Config,
    *,
    height: int = 30,
    toggled: frozenset[str] = frozenset(),
    gauge: Gauge | None = None,
    words: str = "",
    stop: Callable[[], bool] = lambda: False,
) -> Page:
    """A tab's page for a selection, in lines of `width` cells.

    `config` decides about the injected context, `height` is the number of visible rows, `toggled` are the sections that
    the user opened or closed. Sections with `words` of a search are unfolded. Where `stop` turns true, the rest is left
    out. Raises the errors of reading the session (OSError where its file is gone).
    """
    if tab is Tab.CONTEXT:
        from leafward_tui.inspector.model.context import context_page

        return context_page(selection, width, height, glyphs, toggled, stop, gauge)
    if tab is Tab.COMPACTION:
        from leafward_tui.inspector.model.compaction import compaction_page

        return compaction_page(selection, width, height, glyphs, config, toggled, stop, words)
    if tab is Tab.FILES:
        from leafward_tui.inspector.model.files import files_page

        return files_page(selection, width, height, glyphs, toggled, stop)
    if tab is Tab.RAW:
        from leafward_tui.inspector.model.raw import raw_page as make
    else:
        from leafward_tui.inspector.model.entry import entry_page as make
    return make(selection, width, height, glyphs, toggled, stop, words)
