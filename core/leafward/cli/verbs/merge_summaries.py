"""The verb `merge-summaries`: one summary of two branches, carried over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.branches.diff.sides import sides
from leafward.branches.transfer.summary_merge import (
    LostLine,
    MergeChoice,
    MergeDraft,
    apply_merge,
    draft_merge,
)
from leafward.cli.output.page import Page, emit_json, indented, note, page, say
from leafward.cli.output.write_report import remark, unwritten_json, write_json
from leafward.cli.selection import opened
from leafward.session.journal.write import Writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.cli.options.branch_options import MergeOptions
    from leafward.session.session import Session


def merge_summaries(
    selector: str, a: str, b: str, options: MergeOptions, dry_run: bool, as_json: bool
) -> int:
    """`leafward merge-summaries`."""
    with opened(selector) as session:
        onto = session.find(options.onto) if options.onto is not None else None
        draft = draft_merge(sides(session, session.find(a), session.find(b)), onto)
        choices = _choices(options.choices, len(draft.conflicts))
        rest = MergeChoice(options.prefer) if options.prefer is not None else None
        undecided = [one for one in draft.conflicts if one.number not in choices and rest is None]
        # Undecided conflicts are shown; only the write is refused.
        text = None if undecided else draft.text(choices, rest)
        written = None
        lost = draft.lost(text) if text is not None else ()
        refused = bool(lost) and not options.drop_lines
        if text is not None and not refused:
            written = apply_merge(session, draft, text, Writing(dry_run=dry_run))
        missing = ""
        if undecided:
            number = counted(len(undecided), "conflict")
            missing = f"{number} not decided: --choose N=a|b|both|base for each, or --prefer"
        elif refused:
            number = counted(len(lost), "line")
            missing = f"{number} would be dropped: --drop-lines writes the summary without them"
        if as_json:
            document = (
                write_json(session, written)
                if written is not None
                else unwritten_json(session, dry_run=dry_run)
            )
            if missing:
                code = "undecided" if undecided else "dropped-lines"
                document["diagnostics"].append({"code": code, "text": missing})
            emit_json({**document, **_merge_json(session, draft, choices, rest, lost), "summary": text})
        else:
            say(_merge_text(draft, choices, rest, text, page()))
            say(_lost_text(lost, page()))
            if written is not None:
                remark(session, written)
        if missing and not as_json:
            note(f"{missing}; nothing was written")
    return 1 if missing and not dry_run else 0


def _merge_json(
    session: Session,
    draft: MergeDraft,
    choices: Mapping[int, MergeChoice],
    rest: MergeChoice | None,
    lost: Sequence[LostLine],
) -> dict[str, Any]:
    """The draft of a merge: its sides, conflicts with what was chosen, and the lines that it would drop."""
    return {
        "a": session.columns.id_at(draft.sides.a.entry),
        "b": session.columns.id_at(draft.sides.b.entry),
        "ancestor": session.columns.id_at(draft.sides.ancestor),
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
    }


def _choices(texts: Sequence[str], conflicts: int) -> dict[int, MergeChoice]:
    found: dict[int, MergeChoice] = {}
    for one in texts:
        number, _, side = one.partition("=")
        if not number.isdecimal() or len(number) > 9 or side not in tuple(MergeChoice):
            raise click.UsageError(f"--choose takes N=a, N=b, N=both or N=base, not {safe_line(one, 60)}")
        if not conflicts:
            raise click.UsageError("the branches have no conflict: leave out --choose")
        if int(number) >= conflicts:
            raise click.UsageError(
                f"there is no conflict {number}: they are numbered from 0 to {conflicts - 1}"
            )
        found[int(number)] = MergeChoice(side)
    return found


def _lost_text(lost: Sequence[LostLine], page: Page) -> Iterator[str]:
    if lost:
        yield ""
        yield f"{page.style('!', 'warn')} {counted(len(lost), 'line')} dropped"
    for one in lost:
        where = f"{one.source}, {safe_line(one.section)}" if one.section else one.source
        yield f"  {safe_line(one.text.strip())}  {page.style(where, 'faint')}"


def _merge_text(
    draft: MergeDraft,
    choices: Mapping[int, MergeChoice],
    rest: MergeChoice | None,
    text: str | None,
    page: Page,
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
