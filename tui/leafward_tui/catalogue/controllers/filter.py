"""The filter, and the way out of it."""

from __future__ import annotations

from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans


class Filter(CatalogueController):
    """The keys that go to the filter and leave it; typed text goes to `Arrangement.filter_by`."""

    def __init__(self, means: CatalogueMeans) -> None:
        super().__init__(means)
        self.actions = {
            "filter.edit": self.edit,
            "mode.leave": self.leave,
        }

    def edit(self) -> None:
        """Gives the keys to the filter."""
        self._view.panes.to_list()
        self._view.edit_filter()
        self._view.show_hints()

    def leave(self) -> None:
        """Leaves the preview on a narrow screen, else clears the filter."""
        if self._view.panes.side and not self._view.in_field:
            self._view.panes.to_list()
        else:
            self._view.clear_filter()
        self._view.focus_list()
