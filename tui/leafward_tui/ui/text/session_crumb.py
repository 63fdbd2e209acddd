"""The name of a session in the title of a screen that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name
from leafward.session.headlines.session_title import title_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs


def session_crumb(session: Session, cells: int, glyphs: Glyphs) -> str:
    """`project › title` in about so many cells; without a title the first prompt, without that the name of the file."""
    title = title_of(session) or session.path.stem
    project = project_name(session.cwd, 30)
    named = fit(safe_line(title, 200), max(16, cells - cell_len(project)), ellipsis=glyphs.ellipsis)
    return f"{project} {glyphs.crumb} {named}" if project else named
