"""The verbs `edit-context`, `graft` and `merge-summaries`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leafward.base.errors import Refused
from leafward.base.safe_text import safe, safe_line
from leafward.branches.diff.sides import sides
from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits, editable_in
from leafward.branches.transfer.graft import apply_graft, draft_graft
from leafward.branches.transfer.summary_merge import LostLine, MergeDraft, Side3, apply_merge, draft_merge
from leafward.cli.facts import id_of
from leafward.cli.move import remark, write_json
from leafward.cli.output import Page, compact, emit_json, indented, note, page, plural, say
from leafward.cli.plan import configured
from leafward.cli.selection import chosen_entries, opened
from leafward.context.model_context import context_at, context_window
from leafward.session import journal
from leafward.session.entries import EntryIndex
from leafward.session.headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.branches.transfer.context_edits import EditDraft
    from leafward.branches.transfer.graft import GraftDraft
    from leafward.session.session import Session


def _chosen(session: Session, named: Sequence[str], query: str | None) -> list[EntryIndex]:
    """The entries that are named, and those that a query chooses."""
    if not named and query is None:
        raise click.UsageError("name entries, or choose them with --select QUERY")
    found = [session.find(one) for one in named]
    if query is not None:
        found += sorted(map(EntryIndex, chosen_entries(session, query)))
        if not found:
            raise Refused("the query chooses no entry")
    return list(dict.fromkeys(found))


def edit_context(selector: str, named: Sequence[str], asked: Mapping[str, Any], as_json: bool) -> int:
    """`leafward edit-context`. `asked` holds the options as the command line names them."""
    text, keep = asked["text"], asked["keep"]
    if sum((asked["omit"], text is not None, keep is not None)) != 1:
        raise click.UsageError("say what is to become of it: one of --omit, --text and --keep")
    with opened(selector) as session:
        named_entries = [session.find(one) for one in named]
        chosen = _chosen(session, named, asked["query"])
        # A query may reach beyond what the model reads; an entry that is named is meant.
        held = set(editable_in(session, chosen))
        edits = [ContextEdit(one, text, keep) for one in chosen if one in held or one in named_entries]
        skipped = len(chosen) - len(edits)
        if not edits:
            raise Refused(
                "nothing that the query chooses can be edited in the context here; see context(leaf)"
            )
        draft = draft_edits(session, edits)
        written = apply_edits(session, draft, journal.Writing(dry_run=asked["dry_run"]))
        if as_json:
            freed = [
                {"entry": id_of(session, one.target), "tokens_before": one.before, "tokens_after": one.after}
                for one in draft.freed
            ]
            sizes = {
                "skipped": skipped,
                "freed": draft.saved,
                "tokens_estimated": draft.tokens_estimated,
                "tokens_before": draft.tokens_before,
                "tokens_after": draft.tokens_after,
            }
            emit_json({**write_json(session, written), "edits": freed, **sizes})
            return 0
        say(_edit_text(session, draft, written.dry_run, page()))
        if skipped:
            note(
                f"{plural(skipped, 'entry', 'entries')} of the query left as they are: not read by the model here"
            )
        remark(session, written)
    return 0


def _edit_text(session: Session, draft: EditDraft, dry_run: bool, page: Page) -> Iterator[str]:
    does = "would free" if dry_run else "freed"
    yield f"{does} {compact(draft.saved)} tokens, estimated: {compact(draft.tokens_estimated)} -> {compact(draft.tokens_after)}"
    for one in draft.freed:
        entry = safe_line(session.columns.id(one.target), 40)
        what = headline(session, one.target).text[:80]
        yield f"  {entry}  {compact(one.before)} -> {compact(one.after)}  {page.style(what, 'faint')}"


def graft(selector: str, named: Sequence[str], asked: Mapping[str, Any], as_json: bool) -> int:
    """`leafward graft`."""
    with opened(selector) as session:
        onto = session.find(asked["onto"]) if asked["onto"] is not None else None
        at = onto if onto is not None else session.leaf
        window = asked["window"] or context_window(session, context_at(session, at), configured()).tokens
        draft = draft_graft(session, _chosen(session, named, asked["query"]), onto, window=window)
        written = apply_graft(session, draft, journal.Writing(dry_run=asked["dry_run"]))
        if as_json:
            emit_json(
                {
                    **write_json(session, written),
                    "sources": [id_of(session, one) for one in draft.sources],
                    "added": [id_of(session, one) for one in draft.added],
                    "onto": id_of(session, draft.onto),
                    "tokens": draft.tokens,
                    "tokens_before": draft.tokens_before,
                    "tokens_after": draft.tokens_after,
                    "misfits": [
                        {"code": one.code, "text": one.text, "entry": id_of(session, one.entry)}
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
    count = plural(len(draft.sources), "entry", "entries")
    size = f"{compact(draft.tokens_before)} -> {compact(draft.tokens_after)}"
    yield f"{does} {count}, {compact(draft.tokens)} tokens; the context grows {size}"
    for source in draft.sources:
        mark = "+" if source in draft.added else " "
        yield f" {mark} {safe_line(session.columns.id(source), 40)}  {headline(session, source).text[:100]}"
    if draft.added:
        yield page.style("+ belongs to what was chosen: a call keeps its result", "faint")
    for one in draft.misfits:
        yield f"{page.style('!', 'warn')} {safe_line(one.text)}"


def merge_summaries(selector: str, a: str, b: str, asked: Mapping[str, Any], as_json: bool) -> int:
    """`leafward merge-summaries`."""
    with opened(selector) as session:
        onto = session.find(asked["onto"]) if asked["onto"] is not None else None
        draft = draft_merge(sides(session, session.find(a), session.find(b)), onto)
        choices = _choices(asked["choose"], len(draft.conflicts))
        rest = Side3(asked["prefer"]) if asked["prefer"] is not None else None
        undecided = [one for one in draft.conflicts if one.number not in choices and rest is None]
        # What is to be decided is shown; only the write is refused.
        text = None if undecided else draft.text(choices, rest)
        written = None
        lost = draft.lost(text) if text is not None else ()
        refused = bool(lost) and not asked["drop_lines"]
        if text is not None and not refused:
            written = apply_merge(session, draft, text, journal.Writing(dry_run=asked["dry_run"]))
        if as_json:
            emit_json(
                {
                    **(
                        write_json(session, written)
                        if written is not None
                        else {"op": None, "dry_run": asked["dry_run"]}
                    ),
                    "a": id_of(session, draft.sides.a.node),
                    "b": id_of(session, draft.sides.b.node),
                    "ancestor": id_of(session, draft.sides.ancestor),
                    "conflicts": [
                        {
                            "number": one.number,
                            "section": one.section,
                            "base": one.base,
                            "a": one.a,
                            "b": one.b,
                            "choice": choices.get(one.number, rest),
                        }
                        for one in draft.conflicts
                    ],
                    "lost": [{"from": one.source, "section": one.section, "text": one.text} for one in lost],
                    "summary": text,
                }
            )
        else:
            say(_merge_text(draft, choices, rest, text, page()))
            say(_lost_text(lost, page()))
            if written is not None:
                remark(session, written)
        if undecided and not asked["dry_run"]:
            number = plural(len(undecided), "conflict")
            note(f"{number} not decided: --choose N=a|b|both|base for each, or --prefer; nothing was written")
            return 1
        if refused and not asked["dry_run"]:
            number = plural(len(lost), "line")
            note(
                f"{number} would be dropped: --drop-lines writes the summary without them; nothing was written"
            )
            return 1
    return 0


def _choices(given: Sequence[str], conflicts: int) -> dict[int, Side3]:
    found: dict[int, Side3] = {}
    for one in given:
        number, _, side = one.partition("=")
        if not number.isdecimal() or len(number) > 9 or side not in tuple(Side3):
            raise click.UsageError(f"--choose takes N=a, N=b, N=both or N=base, not {safe_line(one, 60)}")
        if int(number) >= conflicts:
            raise click.UsageError(
                f"there is no conflict {number}: they are numbered from 0 to {conflicts - 1}"
            )
        found[int(number)] = Side3(side)
    return found


def _lost_text(lost: Sequence[LostLine], page: Page) -> Iterator[str]:
    if lost:
        yield ""
        yield f"{page.style('!', 'warn')} {plural(len(lost), 'line')} dropped"
    for one in lost:
        where = f"{one.source}, {safe_line(one.section)}" if one.section else one.source
        yield f"  {safe_line(one.text.strip())}  {page.style(where, 'faint')}"


def _merge_text(
    draft: MergeDraft, choices: Mapping[int, Side3], rest: Side3 | None, text: str | None, page: Page
) -> Iterator[str]:
    if text is not None:
        yield from indented(safe(text), "")
        return
    for one in draft.conflicts:
        chosen = choices.get(one.number, rest)
        state = chosen.value if chosen is not None else "not decided"
        yield f"{page.style(f'conflict {one.number}', 'bold')}  {safe_line(one.section)}  {page.style(state, 'faint')}"
        for letter, line in (("base", one.base), ("a", one.a), ("b", one.b)):
            yield from indented(f"{letter:<5}{safe_line(line) or '–'}")
