"""The preview of the session under the cursor."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.catalogue.model.listing import LineKind

if TYPE_CHECKING:
    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.listing import Catalogue
    from leafward_tui.catalogue.model.session_preview import SessionPreview
    from leafward_tui.ui.jobs import Job

_KEPT = 64
"""Number of previews that are kept."""


class Previews(CatalogueController):
    """Reads the previews of sessions, one for each version of a session."""

    def __init__(self, means: CatalogueMeans) -> None:
        super().__init__(means)
        self._stores = self._state.stores
        self._kept: OrderedDict[Card, SessionPreview] = OrderedDict()
        self._read = ""
        """The path of the session that was read last, or is being read."""

    def look(self) -> None:
        """Shows the preview of the session or group under the cursor, reading the session where it is not known yet."""
        card = self._view.card
        line = self._view.line
        if line is not None and line.kind is LineKind.GROUP:
            self._jobs.cancel("preview")
            self._view.show_group(line)
        elif card is None:
            self._view.clear_preview()
        elif self._view.preview_shown:
            known = self._kept.get(card)
            if known is not None:
                self._view.show_preview(card, known)
            elif self._jobs.running("preview") and self._read == card.path:
                # A session that grows faster than it is read would never show a preview.
                self._jobs.after("preview", self.look)
            elif self._stores.catalogue is not None:
                self._read = card.path
                work = partial(preview_of, self._stores.catalogue, card)
                self._jobs.latest("preview", work, partial(self._seen, card))

    def _seen(self, card: Card, preview: SessionPreview | None) -> None:
        if preview is None:
            return
        self._kept[card] = preview
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        self._view.show_preview(card, preview)


def preview_of(catalogue: Catalogue, card: Card, job: Job) -> SessionPreview | None:
    """The preview of a session; None where it was stopped."""
    from leafward_tui.catalogue.model.session_preview import read_preview

    return read_preview(card, catalogue.details(card.path), job.unwanted)
