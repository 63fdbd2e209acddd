"""A path in spans: folders quiet, the name bright."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.cells import fit_path, split_path
from leafward_tui.ui.page import Span
from leafward_tui.ui.spans import shown_line

if TYPE_CHECKING:
    from leafward_tui.ui.glyphs import Glyphs


def path_spans(path: str, width: int, glyphs: Glyphs, *, ink: str = "text") -> list[Span]:
    """A session's path in at most `width` cells; it gives up its middle first."""
    folder, name = split_path(fit_path(shown_line(path, 2_000), width, gap=glyphs.gap))
    return [Span(folder, "faint"), Span(name, ink)] if folder else [Span(name, ink)]
