"""What the comparison does beside the screen: functions of values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError
from leafward.branches.diff.contents import Contents
from leafward.branches.diff.sides import sides
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import message_text, messages_of
from leafward_tui.compare.model.captions import (
    carried_over,
    compared_sides,
    looked_at,
    summaries,
    with_missing,
)
from leafward_tui.compare.model.content import arranged_content
from leafward_tui.compare.model.pages import spoken
from leafward_tui.ui.cells import counted
from leafward_tui.ui.saved_files import files_written, named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.branches.diff.contents import ContentDifference
    from leafward.branches.diff.file_sets import FileDifference
    from leafward.branches.diff.sides import Side, Sides
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward.branches.transfer import GraftDraft, MergeDraft
    from leafward.files.file_replay import Bases
    from leafward.session.session import Session
    from leafward_tui.compare.model.captions import Carried, ComparedSides, Overall
    from leafward_tui.compare.model.content import Shown, Wanted
    from leafward_tui.compare.model.content_lines import ContentLines
    from leafward_tui.compare.model.pages import Spoken
    from leafward_tui.ui.services import Job

__all__ = [
    "CarryDrafts",
    "HeldLines",
    "Summed",
    "carried_of",
    "carry_drafts",
    "document_written",
    "files_saved",
    "graft_draft",
    "laid_out",
    "lines_holding",
    "messages_holding",
    "patch_written",
    "same_files",
    "sides_of",
    "spoken_of",
    "summed",
    "whole_look",
]

_AT_ONCE = 32
"""Files that are rebuilt together to see whether they are the same on both sides."""


class Summed(NamedTuple):
    """The summaries of both sides, and what was carried over with what it lacks."""

    summaries: SummaryDifference
    carried: tuple[Carried, ...]


class HeldLines(NamedTuple):
    """The lines of a diff that hold what is searched for, and the folds that hide some of them."""

    hits: list[int]
    folds: frozenset[int]


class CarryDrafts(NamedTuple):
    """What could be carried over; in place of a draft why it cannot."""

    merge: MergeDraft | str
    grafts: Mapping[str, GraftDraft | str]
    """By the letter of the side, lower case, whose turns are grafted."""


# --- both sides -------------------------------------------------------------------------------------------------------


def sides_of(session: Session, a: int, b: int, mark: int, job: Job) -> ComparedSides:
    """Both sides as far as files say. Raises Cancelled, LeafwardError, OSError."""
    return compared_sides(sides(session, a, b, job.unwanted), mark)


def whole_look(first: ComparedSides, _job: Job) -> Overall:
    """The same with contexts and outcomes. Raises LeafwardError, OSError."""
    return looked_at(first)


def spoken_of(seen: Overall, job: Job) -> list[Spoken]:
    """The messages of both contexts in words. Raises Cancelled, LeafwardError, OSError."""
    return spoken(seen.sides.session, seen.contexts, job.unwanted)


def carried_of(both: Sides, job: Job) -> tuple[Carried, ...]:
    """The branch summaries that one side has of the other. Raises Cancelled, LeafwardError, OSError."""
    return carried_over(both, job.unwanted)


def summed(both: Sides, carried: tuple[Carried, ...], job: Job) -> Summed:
    """The summaries of both sides. Raises Cancelled, LeafwardError, OSError."""
    difference = summaries(both, job.unwanted)
    return Summed(difference, with_missing(both, carried, difference))


# --- files ------------------------------------------------------------------------------------------------------------


def same_files(
    both: Sides,
    files: Sequence[FileDifference],
    bases: Bases | None,
    found: Callable[[dict[str, bool | None]], object],
    job: Job,
) -> None:
    """Rebuilds files, some at a time; reports to `found` which are the same on both sides (`Contents.same`), by path.

    Raises Cancelled, LeafwardError, OSError.
    """
    contents = Contents(both, job.unwanted, bases)
    candidates = [file for file in files if file.changed or contents.swept]
    for begin in range(0, len(candidates), _AT_ONCE):
        some = candidates[begin : begin + _AT_ONCE]
        if job.unwanted():
            raise Cancelled
        same = zip((file.path for file in some), contents.same(some), strict=True)
        job.report(partial(found, dict(same)))


def laid_out(
    wanted: Wanted, file: FileDifference, known: ContentDifference | None, contents: Contents, job: Job
) -> Shown:
    """A file laid out; rebuilt before, unless its contents are known. Raises Cancelled, LeafwardError, OSError."""
    difference = contents.of(file) if known is None else known
    if job.unwanted():
        raise Cancelled
    return arranged_content(difference, wanted.show, wanted.opened, fold=wanted.fold, based=wanted.based)


# --- searching --------------------------------------------------------------------------------------------------------


def lines_holding(lines: ContentLines, words: str, job: Job) -> HeldLines:
    """The lines of a diff that hold words."""
    hits, folds = lines.holding(words, job.unwanted)
    return HeldLines(hits, frozenset(folds))


def messages_holding(session: Session, messages: Sequence[Spoken], words: str, job: Job) -> list[int]:
    """The messages that hold words, by number. Raises Cancelled, LeafwardError, OSError."""
    lowered, kinds = words.lower(), session.columns.kind
    holding = set()
    entries = sorted({one.entry for one in messages if one.entry >= 0})
    for index, body in session.bodies(map(EntryIndex, entries)):
        if job.unwanted():
            raise Cancelled
        texts = (message_text(message) for message in messages_of(body or {}, Kind(kinds[index])))
        if any(lowered in text.lower() for text in texts):
            holding.add(index)
    return [at for at, one in enumerate(messages) if one.entry in holding or lowered in one.text.lower()]


# --- written files ----------------------------------------------------------------------------------------------------


def document_written(both: Sides, form: str, path: Path, bases: Bases | None, job: Job) -> str:
    """Writes the comparison as a document. Raises Cancelled, LeafwardError, OSError."""
    from leafward.export.comparison import comparison_of
    from leafward.export.comparison_document import document
    from leafward.export.output_file import write_new_document

    found = comparison_of(both, bases=bases, stop=job.unwanted)
    write_new_document(path, document(found, form))
    return f"exported to {path}"


def patch_written(both: Sides, side: Side, path: Path, bases: Bases | None, job: Job) -> str:
    """Writes what one side changed as a patch. Raises Cancelled, LeafwardError, OSError."""
    from leafward.branches.diff.patches import patch_of
    from leafward.export.output_file import write_new_document

    made = patch_of(both, side, job.unwanted, bases)
    write_new_document(path, made.text)
    files, left_out = counted(len(made.files), "file"), [path for path, _ in made.left_out]
    return f"exported to {path}: {files}{named('left out', left_out)}{named('taken to be new', made.taken_as_new)}"


def files_saved(session: Session, node: int, folder: str, bases: Bases | None, job: Job) -> tuple[str, bool]:
    """Writes the files of a node into a folder; what became of it, and whether that is a problem."""
    return files_written(session, node, folder, bases, job.unwanted)


# --- carrying over ----------------------------------------------------------------------------------------------------


def carry_drafts(both: Sides, config: Config, job: Job) -> CarryDrafts:
    """What could be carried over to the leaf. Raises Cancelled."""
    from leafward.branches.transfer import draft_merge

    merge: MergeDraft | str
    try:
        merge = draft_merge(both, stop=job.unwanted)
    except Cancelled:
        raise
    except (LeafwardError, OSError) as error:
        merge = str(error)
    grafts: dict[str, GraftDraft | str] = {}
    for letter, side in (("a", both.a), ("b", both.b)):
        try:
            grafts[letter] = graft_draft(both.session, side.entries, config, job)
        except Cancelled:
            raise
        except (LeafwardError, OSError) as error:
            grafts[letter] = str(error)
    return CarryDrafts(merge, grafts)


def graft_draft(session: Session, entries: Sequence[int], config: Config, job: Job) -> GraftDraft:
    """What grafting entries onto the leaf would do. Raises Cancelled, LeafwardError, OSError."""
    from leafward.branches.transfer import draft_graft
    from leafward.context.model_context import context_at, context_window

    window = context_window(session, context_at(session), config).tokens
    return draft_graft(session, entries, window=window, stop=job.unwanted)
