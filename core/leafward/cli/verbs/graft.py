"""The verb `graft`: appends entries of one branch again under another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.model_window import context_window
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.branches.transfer.graft import apply_graft, draft_graft
from leafward.cli.output.page import Page, emit_json, page, say
from leafward.cli.output.write_report import remark, write_json
from leafward.cli.queries import named_or_chosen
from leafward.cli.selection import opened
from leafward.cli.settings import configured
from leafward.context.model_context import context_at
from leafward.session.headlines.entry_headline import headline
from leafward.session.journal.write import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.transfer.graft import GraftDraft
    from leafward.cli.options.branch_options import GraftOptions
    from leafward.session.session import Session


def graft(selector: str, named: Sequence[str], options: GraftOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward graft`."""
    with opened(selector) as session:
        onto = session.find(options.onto) if options.onto is not None else None
        at = onto if onto is not None else session.leaf
        window = options.window or context_window(session, context_at(session, at), configured()).tokens
        draft = draft_graft(session, named_or_chosen(session, named, options.query), onto, window=window)
        written = apply_graft(session, draft, Writing(dry_run=dry_run))
        if as_json:
            emit_json(
                {
                    **write_json(session, written),
                    "sources": [session.columns.id_at(one) for one in draft.sources],
                    "added": [session.columns.id_at(one) for one in draft.added],
                    "onto": session.columns.id_at(draft.onto),
                    "tokens": draft.tokens,
                    "tokens_before": draft.tokens_before,
                    "tokens_after": draft.tokens_after,
                    "misfits": [
                        {"code": one.code, "text": one.text, "entry": session.columns.id_at(one.entry)}
                        for one in draft.misfits
                    ],
                }
            )
            return 0
        say(_graft_text(session, draft, written.dry_run, page()))
        remark(session, written)
    return 0


def _graft_text(session: Session, draft: GraftDraft, dry_run: bool, page: Page) -> Iterator[str]:
    does = "would append" if dry_run else "appended"
    count = counted(len(draft.sources), "entry", "entries")
    size = f"{short(draft.tokens_before)} -> ~{short(draft.tokens_after)}"
    yield f"{does} {count}, ~{short(draft.tokens)} tokens; the context grows {size}"
    for source in draft.sources:
        mark = "+" if source in draft.added else " "
        yield f" {mark} {safe_line(session.columns.id(source), 40)}  {page.fit(headline(session, source).text, 100)}"
    if draft.added:
        yield page.style("+ added because calls and results belong together", "faint")
    for one in draft.misfits:
        yield f"{page.style('!', 'warn')} {safe_line(one.text)}"
