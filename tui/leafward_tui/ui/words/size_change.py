"""The change of the context's size by a compaction: the same words at its row in the tree and in the preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import EntryIndex
from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from leafward.context.basis import Basis, Count
    from leafward_tui.ui.appearance.glyphs import Glyphs


class SizeChange(NamedTuple):
    """The context before and after a compaction."""

    before: Count
    after: Count
    lacks_prompt: bool
    """Whether the size of the system prompt that is sent with it is unknown."""

    @classmethod
    def of(cls, basis: Basis, compaction: int) -> SizeChange:
        """The change of size of a stored compaction."""
        before, after = basis.change(compaction)
        return cls(before, after, basis.lacks_prompt(EntryIndex(compaction)))

    def text(self, glyphs: Glyphs) -> str:
        """Both sizes with an arrow between them, and a remark where the context became larger."""
        size = f"{self.after.sign}{count(self.after.total, zero=glyphs.zero)}"
        size += " + not in file" if self.lacks_prompt else ""
        if not self.before.total:
            return size
        larger = ", larger than before" if self.after.total > self.before.total else ""
        return f"{self.before.sign}{count(self.before.total)} {glyphs.arrow} {size}{larger}"
