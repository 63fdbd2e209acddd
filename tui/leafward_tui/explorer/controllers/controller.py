"""The base of the explorer's controllers, their means, and the row of the cursor for those that work on one row only."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.explorer.display import ExplorerDisplay
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.folds import ShownLine
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.screens.screen_controller import Means
    from leafward_tui.ui.services import AppServices

ExplorerMeans: TypeAlias = "Means[ExplorerState, ExplorerDisplay]"
ExplorerController = ScreenController["ExplorerState", "ExplorerDisplay"]

HIDDEN = "these rows are hidden: go to one that is shown"
_FOLDED = "several rows are folded here: unfold them and choose one"


def single_row(state: ExplorerState, view: ExplorerDisplay) -> tuple[Exploration, ShownLine] | None:
    """The line of the cursor where it is a row, with its exploration; None, and a note, where it is not."""
    exploration, line = state.exploration, view.tree.line
    if exploration is not None and line is not None and line.kind is LineKind.ROW:
        return exploration, line
    text = "" if line is None else HIDDEN if line.kind is LineKind.HIDDEN else _FOLDED
    view.tell(text, "warn")
    return None


def tell_began(services: AppServices, view: ExplorerDisplay, text: str) -> bool:
    """Says that a new session began, wherever the user is by then; True where nothing lies over the explorer that wrote it."""
    if not view.on_top:
        services.say(text)
        return False
    view.tell(text, "leaf")
    return True


def tell_not_begun(services: AppServices, view: ExplorerDisplay, why: str) -> None:
    """Says why a new session could not be written, wherever the user is by then."""
    if view.on_top:
        view.fail(why)
    else:
        services.say(f"no new session: {why}", problem=True)
