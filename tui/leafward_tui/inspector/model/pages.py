"""The one way to build a page. Pure: may run in any thread.

The modules of a tab's page are imported when the first page is built: Markdown and highlighting are not loaded yet when
the screen is first painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.inspector.tab import Tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.inspector.page import Page
    from leafward_tui.inspector.page_request import PageRequest


def build(request: PageRequest, stop: Callable[[], bool] = lambda: False) -> Page:
    """A page. Where `stop` turns true, the rest is left out.

    Raises the errors of reading the session (OSError where its file is gone).
    """
    if request.tab is Tab.CONTEXT:
        from leafward_tui.inspector.model.context import context_page

        return context_page(request)
    if request.tab is Tab.RAW:
        from leafward_tui.inspector.model.raw import raw_page

        return raw_page(request)
    if request.tab is Tab.COMPACTION:
        from leafward_tui.inspector.model.compaction import compaction_page as make
    elif request.tab is Tab.FILES:
        from leafward_tui.inspector.model.files import files_page as make
    else:
        from leafward_tui.inspector.model.entry import entry_page as make
    return make(request, stop)
