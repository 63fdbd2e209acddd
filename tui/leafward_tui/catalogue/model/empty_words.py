"""What stands in the catalogue where no session does. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.cells import counted
from leafward_tui.ui.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.catalogue.model.listing import Listing

__all__ = ["empty_words"]


def empty_words(
    listing: Listing,
    *,
    searching: bool,
    excluded: int,
    searched: Sequence[str],
    demo_key: str,
    search_key: str,
) -> list[tuple[str, str]]:
    """One sentence, where was looked, one key: each with the name of its ink."""
    if searching:
        return [("nothing", "looking for sessions")]
    hidden = listing.archived + listing.warm_ups
    what = "archived" if not listing.warm_ups else "archived, or sub-agents started without a task"
    if listing.view.text:
        other = counted(listing.total - hidden, "session")
        return [
            ("text", "Only hidden sessions match." if hidden else "No session matches."),
            ("nothing", f"{other} hidden by the filter"),
            ("faint", ""),
            *([("sub", f"a  shows {counted(hidden, 'match', 'matches')}: {what}")] if hidden else []),
            ("sub", "esc  clears the filter"),
            *([("sub", f"{search_key}  searches all text of all sessions")] if search_key else []),
        ]
    if hidden:
        return [
            ("text", f"All {counted(hidden, 'session')} are {what}."),
            ("sub", "a  shows them"),
        ]
    if excluded:
        return [
            ("text", f"All {counted(excluded, 'session')} are excluded."),
            ("sub", "exclude in config.toml names their folders"),
        ]
    return [
        ("text", "No sessions yet: they appear here once a coding agent has run."),
        ("faint", ""),
        ("faint", "Looked in"),
        *(("path", tilde(place)) for place in searched),
        ("faint", ""),
        *([("strong", f"{demo_key}  opens a demo session to look around in")] if demo_key else []),
    ]
