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
    listing: Listing, *, searching: bool, excluded: int, searched: Sequence[str], demo_key: str
) -> list[tuple[str, str]]:
    """One sentence, where was looked, one key: each with the name of its ink."""
    if searching:
        return [("nothing", "looking for sessions")]
    if listing.view.text:
        return [
            ("text", "No session matches."),
            ("nothing", f"{counted(listing.total, 'session')} hidden by the filter"),
            ("faint", ""),
            ("sub", "esc  clears the filter"),
        ]
    if listing.archived:
        return [
            ("text", f"All {counted(listing.archived, 'session')} are archived."),
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
