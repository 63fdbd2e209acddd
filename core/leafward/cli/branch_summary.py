"""The summary of an abandoned branch, for `summarize`, `move --summary` and `fork --summary`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from leafward.cli.model_request import (
    asks_model,
    cancellable,
    chosen,
    outgoing_json,
    progress,
    refuse_cancelled,
    sent_by,
    tell_outgoing,
)
from leafward.cli.output.page import note, usage_json
from leafward.cli.settings import configured
from leafward.compaction.branch_summary import (
    BranchDraft,
    LeftBranch,
    left_branch,
    move_with_summary,
    summarize_branch,
)
from leafward.compaction.stored_summary.provenance import cost_of
from leafward.session.entries import Usage
from leafward.session.journal import session_operations
from leafward.session.journal.lock import busy
from leafward.session.journal.open_file import refuse_unwritable
from leafward.session.journal.targets import refuse_unreachable
from leafward.session.journal.write import Write, WriteRemark, Writing
from leafward.summaries.summarizers.choice import CONFIGURED
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.config import Config
    from leafward.cli.options.branch_options import ForkOptions, MoveOptions
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward.summaries.summarizers.summary import Summarizer


NOTHING_LEFT = WriteRemark(
    "nothing-left", "no abandoned branch to summarise; the leaf moves without a summary"
)


def window_of(summarizer: Summarizer, settings: Config) -> int:
    """Tokens that a request may have: the model's window, or the configured one if no model is asked."""
    if not asks_model(summarizer):
        return settings.window
    from leafward.summaries.summarizers.model.settings import window_of as window_of_model

    return window_of_model(summarizer.settings)


def summarised(
    branch: LeftBranch,
    summarizer: Summarizer,
    outgoing: Outgoing | None,
    focus: str,
    limit: int | None,
    stop: Callable[[], bool],
) -> BranchDraft:
    """The summary of a branch; what is sent for it is told first, and progress while it is made."""
    tell_outgoing(summarizer, outgoing)
    with progress() as show:
        return summarize_branch(branch, summarizer, focus=focus, max_tokens=limit, progress=show, stop=stop)


def branch_json(session: Session, branch: LeftBranch) -> dict[str, Any]:
    """The abandoned branch, as JSON."""
    return {
        "entries": [session.columns.id_at(entry) for entry in branch.entries],
        "ancestor": session.columns.id_at(branch.ancestor),
        "files": {"read": sorted(branch.read), "modified": sorted(branch.modified)},
        "left_out": branch.left_out,
    }


def draft_json(draft: BranchDraft) -> dict[str, Any]:
    """A branch summary, as JSON."""
    branch, summary = draft.branch, draft.summary
    return {
        "summary": draft.text,
        "summarizer": summary.summarizer,
        "focus": draft.focus,
        "tokens": {"branch": branch.tokens, "told": branch.summarised_tokens, "summary": draft.tokens},
        "usage": usage_json(summary.usage if summary.usage is not None else Usage()),
        "cost": cost_of(summary),
        "redacted": dict(summary.redacted),
        "diagnostics": [{"code": "summary", "text": remark} for remark in draft.remarks],
    }


@dataclass(frozen=True, slots=True)
class SummarizedMove:
    """A move with a summary, done or only tried."""

    written: Write
    draft: BranchDraft | None
    """None if there was no branch to summarise, or if a dry run asks no model."""
    outgoing: Outgoing | None
    remarks: tuple[WriteRemark, ...] = ()

    @property
    def entry(self) -> str | None:
        """The entry that holds the summary."""
        return self.written.entries[-1] if self.draft is not None and self.written.entries else None

    def as_json(self, session: Session) -> dict[str, Any]:
        """The part that `move --summary` adds to the document of a move."""
        document: dict[str, Any] = {
            "summary_entry": self.entry,
            "summary": None,
            "outgoing": outgoing_json(self.outgoing),
        }
        if self.draft is not None:
            summary = draft_json(self.draft)
            remarks = summary.pop("diagnostics")
            document["summary"] = {
                "text": summary.pop("summary"),
                **summary,
                **branch_json(session, self.draft.branch),
                "diagnostics": remarks,
            }
        return document


def move_carrying(session: Session, index: int, options: MoveOptions, dry_run: bool) -> SummarizedMove:
    """Moves the leaf with a summary of the abandoned branch. A dry run makes an offline summary; of a model's, only the request."""
    settings = configured()
    name = options.model or CONFIGURED if options.summary == "model" else Extractive.name
    summarizer = chosen(name, settings, options.base_url)
    focus = options.focus or ""
    if not dry_run:
        refuse_unwritable(session)
    refuse_unreachable(session, index)
    with busy(session.path, "a summary") as claim, cancellable() as stop:
        writing = Writing(dry_run=dry_run, claim=claim)
        branch = left_branch(session, session.leaf, index, window=window_of(summarizer, settings), stop=stop)
        if branch is None:
            return SummarizedMove(
                session_operations.move(session, index, writing), None, None, (NOTHING_LEFT,)
            )
        outgoing = sent_by(summarizer, branch.span(focus), branch.budget())
        if dry_run and outgoing is not None:
            tell_outgoing(summarizer, outgoing, would=True)
            note("nothing was sent")
            return SummarizedMove(session_operations.move(session, index, writing), None, outgoing)
        draft = summarised(branch, summarizer, outgoing, focus, None, stop)
        refuse_cancelled(stop)
        return SummarizedMove(move_with_summary(session, index, draft, writing), draft, outgoing)


def refuse_odd(options: MoveOptions) -> None:
    """Raises a usage error if options of `move` do not go together."""
    if options.summary == "none" and options.focus:
        raise click.UsageError("--focus needs --summary")
    refuse_model_alone(options)


def refuse_model_alone(options: MoveOptions | ForkOptions) -> None:
    """Raises a usage error if a model is named without `--summary model`."""
    if options.summary != "model" and (options.model is not None or options.base_url is not None):
        raise click.UsageError("--model and --base-url need --summary model")
