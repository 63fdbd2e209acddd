"""The verb `summarize`: the summary of the branch between two entries, which is written nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.cli.branch_summary import branch_json, draft_json, summarised, window_of
from leafward.cli.model_request import (
    cancellable,
    chosen,
    cost_text,
    outgoing_json,
    refuse_cancelled,
    request_text,
    sent_by,
    would_be_sent,
)
from leafward.cli.output.page import Page, emit_json, indented, note, page, say, usage_json
from leafward.cli.selection import opened
from leafward.cli.settings import configured
from leafward.compaction.branch_summary import (
    BranchDraft,
    left_branch,
)
from leafward.compaction.stored_summary.provenance import cost_of
from leafward.session.entries import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.cli.options.compaction_options import SummarizeOptions
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer


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
            draft = summarised(branch, summarizer, outgoing, focus, limit, stop)
            refuse_cancelled(stop)
        if as_json:
            emit_json(
                {
                    "from": session.columns.id_at(start),
                    "to": session.columns.id_at(to),
                    **branch_json(session, branch),
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


def _named(session: Session, index: int) -> str:
    return safe_line(session.columns.id_at(index) or "the start", 40)


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
