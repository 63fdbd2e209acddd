"""What an edit of the context would free."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.branches.transfer.context_edits import EDITABLE, ContextEdit, draft_edits
from leafward.session.entries import EntryIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.transfer import EditDraft
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class EditDrafts(NamedTuple):
    """What edits of a row would free: left out, then shortened; in place of a draft why it is refused."""

    targets: tuple[EntryIndex, ...]
    omitted: EditDraft | str
    short: EditDraft | str


def edit_drafts(session: Session, entries: Sequence[int], keep: int, _job: Job) -> EditDrafts:
    """Drafts that leave out the entries of a row, and that shorten each to `keep` tokens."""
    kinds = session.columns.kind
    targets = tuple(EntryIndex(at) for at in entries if kinds[at] in EDITABLE)

    def draft(tokens: int | None) -> EditDraft | str:
        if not targets:
            return "the model reads nothing here that could be edited"
        try:
            return draft_edits(session, [ContextEdit(one, None, tokens) for one in targets])
        except (LeafwardError, OSError) as error:
            return str(error)

    return EditDrafts(targets, draft(None), draft(keep))
