"""The verb `summarize`, and the summary that `move --summary` carries along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.cli.model_request import (
    asks_model,
    cancellable,
    chosen,
    cost_text,
    outgoing_json,
    progress,
    refuse_cancelled,
    request_text,
    sent_by,
    tell_outgoing,
    would_be_sent,
)
from leafward.cli.output.page import Page, emit_json, indented, note, page, say, usage_json
from leafward.cli.selection import opened
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
    from collections.abc import Callable, Iterator

    from leafward.base.config import Config
    from leafward.cli.options.branch_options import ForkOptions, MoveOptions
    from leafward.cli.options.compaction_options import SummarizeOptions
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward.summaries.summarizers.summary import Summarizer

NOTHING_LEFT = WriteRemark(
    "nothing-left", "no abandoned branch to summarise; the leaf moves without a summary"
)


def summarize(selector: str, options: SummarizeOptions, as_json: bool) -> int:
    """`leafward summarize`."""
    settings = configured()
    summarizer = chosen(options.model, settings, options.base_url)
    focus, limit = options.focus or "", options.max_tokens
    with opened(selector) as session:
        start, to = session.find(options.start), session.find(options.to)
        with cancellable() as stop:
            branch = left_branch(session, start, to, window=window_of(summarizer, settings), stop=stop)
            if branch is None:
                why = (
                    f"nothing to summarise: {_named(session, start)} is on the path to {_named(session, to)}"
                )
                if start == to:
                    why = f"nothing to summarise: --from and --to are both {_named(session, to)}"
                _nothing(session, start, to, summarizer, why, as_json)
                return 0
            request = branch.span(focus), branch.budget(limit)
            outgoing = sent_by(summarizer, *request)
            draft = _summarised(branch, summarizer, outgoing, focus, limit, stop)
            refuse_cancelled(stop)
        if as_json:
            emit_json(
                {
                    "from": session.columns.id_at(start),
                    "to": session.columns.id_at(to),
                    **_branch_json(session, branch),
                    **draft_json(draft),
                    "prompt": request_text(outgoing or would_be_sent(*request, settings.window)),
                    "outgoing": outgoing_json(outgoing),
                }
            )
        else:
            say(_text(draft, page()))
    return 0


def _nothing(
    session: Session, start: EntryIndex, to: EntryIndex, summarizer: Summarizer, why: str, as_json: bool
) -> None:
    """Reports that there is nothing to summarise, which is no failure; the JSON document is the usual one, empty."""
    if not as_json:
        note(why)
        return
    emit_json(
        {
            "from": session.columns.id_at(start),
            "to": session.columns.id_at(to),
            "entries": [],
            "ancestor": session.columns.id_at(session.tree.common_ancestor(start, to)),
            "files": {"read": [], "modified": []},
            "left_out": 0,
            "summary": "",
            "summarizer": summarizer.name,
            "focus": "",
            "tokens": {"branch": 0, "told": 0, "summary": 0},
            "usage": usage_json(Usage()),
            "cost": 0.0,
            "redacted": {},
            "diagnostics": [{"code": "nothing-left", "text": why}],
            "prompt": None,
            "outgoing": None,
        }
    )


def window_of(summarizer: Summarizer, settings: Config) -> int:
    """Tokens that a request may have: the model's window, or the configured one if no model is asked."""
    if not asks_model(summarizer):
        return settings.window
    from leafward.summaries.summarizers.model.settings import window_of as window_of_model

    return window_of_model(summarizer.settings)


def _named(session: Session, index: int) -> str:
    return safe_line(session.columns.id_at(index) or "the start", 40)


def _summarised(
    branch: LeftBranch,
    summarizer: Summarizer,
    outgoing: Outgoing | None,
    focus: str,
    limit: int | None,
    stop: Callable[[], bool],
) -> BranchDraft:
    tell_outgoing(summarizer, outgoing)
    with progress() as show:
        return summarize_branch(branch, summarizer, focus=focus, max_tokens=limit, progress=show, stop=stop)


def _branch_json(session: Session, branch: LeftBranch) -> dict[str, Any]:
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


def _text(draft: BranchDraft, page: Page) -> Iterator[str]:
    branch = draft.branch
    yield page.style(
        f"{counted(len(branch.entries), 'message')}, {short(branch.tokens)} tokens -> {short(draft.tokens)}   "
        f"by {safe_line(draft.summary.summarizer, 60)}   {cost_text(cost_of(draft.summary))}",
        "faint",
    )
    yield ""
    yield from indented(draft.text, "")
    for remark in draft.remarks:
        yield f"{page.style('!', 'warn')} {safe_line(remark, 400)}"


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
                **_branch_json(session, self.draft.branch),
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
        draft = _summarised(branch, summarizer, outgoing, focus, None, stop)
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
