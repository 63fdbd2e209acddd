"""The entry that a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.errors import NotFound
from leafward.base.safe_text import safe_line
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from leafward.session.lines.scan import Scan
    from leafward.session.tree.tree import SessionTree

_SHOWN = 80
"""Code points of an id in an error."""


def entry_named(selector: str, scan: Scan, tree: SessionTree) -> EntryIndex:
    """The entry that an id, a unique prefix of one, `leaf`, `root` or `#N` means; -1 for none. Raises NotFound for several."""
    columns = scan.columns
    if selector == "leaf":
        return scan.last
    if selector == "root":
        return EntryIndex(next(iter(tree.children(NO_ENTRY)), NO_ENTRY))
    # The application writes `#1,234`.
    digits = selector[1:].replace(",", "")
    if selector.startswith("#") and digits.isdecimal():
        # A number with more digits than any file has entries is not meant as one.
        number = int(digits[:20])
        return EntryIndex(number) if number < len(columns) else NO_ENTRY
    index = columns.index(selector)
    if index >= 0:
        return index
    close = columns.starting_with(selector)
    if len(close) > 1:
        some = " and ".join(safe_line(str(columns.id(index)), _SHOWN) for index in close)
        raise NotFound(f"several entries start with {selector!r}, such as {some}")
    return close[0] if close else NO_ENTRY
