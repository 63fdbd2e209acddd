"""The field of the filter: terms such as `file:` are set apart from words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.highlighter import Highlighter
from textual.widgets import Input

from leafward.query.vocabulary import TERMS, TEXT_TERMS
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from rich.text import Text

_TERM = r"(?i)(?<!\S)(?:" + "|".join(TERMS) + r"):"
_WHOLE = r"(?i)(?<!\S)(?:" + "|".join((*TERMS, *TEXT_TERMS)) + r"):"


class _Terms(Highlighter):
    """Colours the name of a term, up to its colon."""

    def __init__(self, field: QueryInput) -> None:
        self._field = field

    def highlight(self, text: Text) -> None:
        style = services_of(self._field).styles_now.raised.ghost
        text.highlight_regex(_WHOLE if self._field.whole else _TERM, style)


class QueryInput(Input):
    """One line without a frame."""

    def __init__(self, text: str = "", *, whole: bool = False) -> None:
        """`whole`: whether the query is for a search of all text."""
        self.whole = whole
        super().__init__(text, compact=True, select_on_focus=False, highlighter=_Terms(self))
