"""The verb `edit-context`: leaves entries out of the context, or shortens them in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leafward.base.errors import Refused
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.branches.transfer.context_edits import (
    ContextEdit,
    apply_edits,
    draft_edits,
    editable_in,
    last_editable,
)
from leafward.cli.output.page import Page, emit_json, note, page, say
from leafward.cli.output.write_report import remark, write_json
from leafward.cli.queries import named_or_chosen
from leafward.cli.selection import opened
from leafward.session.headlines.entry_headline import headline
from leafward.session.journal.write import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.transfer.context_edits import EditDraft
    from leafward.cli.options.branch_options import EditContextOptions
    from leafward.session.session import Session


def edit_context(
    selector: str, named: Sequence[str], options: EditContextOptions, dry_run: bool, as_json: bool
) -> int:
    """`leafward edit-context`."""
    text, keep = options.text, options.keep
    if sum((options.omit, text is not None, keep is not None)) != 1:
        raise click.UsageError("choose one of --omit, --text and --keep")
    with opened(selector) as session:
        # The leaf itself may be a line of Leafward, such as the previous edit.
        leaf = last_editable(session)
        named = [session.columns.id(leaf) if one == "leaf" and leaf >= 0 else one for one in named]
        named_entries = [session.find(one) for one in named]
        chosen = named_or_chosen(session, named, options.query)
        # A query may match entries outside of the context, which are skipped; a named entry is always meant.
        held = set(editable_in(session, chosen))
        edits = [ContextEdit(one, text, keep) for one in chosen if one in held or one in named_entries]
        skipped = len(chosen) - len(edits)
        if not edits:
            raise Refused(
                "the model reads no entry that matches the query here; context(leaf) selects what it reads"
            )
        draft = draft_edits(session, edits)
        written = apply_edits(session, draft, Writing(dry_run=dry_run))
        if as_json:
            emit_json({**write_json(session, written), **_edits_json(session, draft, skipped)})
            return 0
        say(_edit_text(session, draft, written.dry_run, page()))
        if skipped:
            note(
                f"{counted(skipped, 'entry', 'entries')} of the query left as they are: not read by the model here"
            )
        if draft.counted:
            # The rows of `tree` have the estimate.
            note(
                f"the provider counted {draft.counted} than the ~{short(draft.cut)} tokens estimated for the text"
            )
        remark(session, written)
    return 0


def _edits_json(session: Session, draft: EditDraft, skipped: int) -> dict[str, Any]:
    """The edits with their tokens; `skipped` entries of a query are not in the context."""
    return {
        "edits": [
            {
                "entry": session.columns.id_at(one.target),
                "tokens_before": one.before,
                "tokens_after": one.after,
            }
            for one in draft.freed
        ],
        "skipped": skipped,
        "freed": draft.saved,
        "tokens_estimated": draft.tokens_estimated,
        "tokens_before": draft.tokens_before,
        "tokens_after": draft.tokens_after,
    }


def _edit_text(session: Session, draft: EditDraft, dry_run: bool, page: Page) -> Iterator[str]:
    does = "would free" if dry_run else "freed"
    before, after = short(draft.tokens_before), short(draft.tokens_after)
    if before == after and draft.saved:
        # Both round to the same number, so the difference would not be visible.
        before, after = f"{draft.tokens_before:,}", f"{draft.tokens_after:,}"
    yield f"{does} ~{short(draft.saved)} tokens: {before} -> ~{after}"
    for one in draft.freed:
        entry = safe_line(session.columns.id(one.target), 40)
        what = page.fit(headline(session, one.target).text, 80)
        yield f"  {entry}  ~{short(one.before)} -> {'~' * bool(one.after)}{short(one.after)}  {page.style(what, 'faint')}"
