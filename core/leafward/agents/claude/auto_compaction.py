"""When Claude Code compacts by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ANSWER = 20_000
"""Left free for a summary."""
_BUFFER = 13_000
"""Left free besides. Versions 2.1.7 to 2.1.14 seem to leave 45,000 in all: their compactions are stored at 155,066 and more of 200,000."""


def _unasked(session: Session, compaction: EntryIndex) -> bool:
    details = (session.body(compaction) or {}).get("details")
    return isinstance(details, dict) and details.get("trigger") == "auto"


RULE = AutoCompaction(
    source="Claude Code 2.1.332",
    rule="at the window less 33,000",
    changed_by=(
        "`autoCompactEnabled` and `autoCompactWindow` of its settings, `CLAUDE_CODE_AUTO_COMPACT_WINDOW`, "
        "`CLAUDE_AUTOCOMPACT_PCT_OVERRIDE`, `DISABLE_AUTO_COMPACT`, `DISABLE_COMPACT`"
    ),
    threshold=lambda window, _model, _reserve: window.tokens - _ANSWER - _BUFFER,
    inclusive=True,
    unasked=_unasked,
)
