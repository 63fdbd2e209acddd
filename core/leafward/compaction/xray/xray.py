"""The context before and after a compaction, aligned: the fate of every message, and the sources of the summary.

`xray_of` shows a stored compaction of any session, `xray_planned` a planned one, and `xray_edited` context edits, which leave
out or shorten messages without a summary. Sizes are those of `context`; tokens that no message explains have rows of their
own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.compaction.stored_summary.provenance import stored_provenance
from leafward.compaction.stored_summary.summary_lines import (
    StoredLine,
    SummaryPart,
    standing_for,
    stored_lines,
)
from leafward.compaction.xray.xray_builder import XRayBuilder
from leafward.context.basis import Basis, leaf_before
from leafward.context.model_context import Context, context_at
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.journal.operation_log import marks
from leafward.session.messages import encrypted_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.xray.alignment import XRay
    from leafward.session.session import Session


_TURN_STARTS = frozenset({"user", "bashExecution", "custom", "branchSummary"})
"""Roles that begin a turn (pi 1.5.2); the summary of a compaction does not."""


def xray_of(session: Session, compaction: int) -> XRay:
    """The X-ray of a stored compaction. Raises Refused if the entry is not a compaction."""
    index = EntryIndex(compaction)
    body = session.body(index) if 0 <= index < len(session) else None
    if body is None or session.columns.kind[index] != Kind.COMPACTION:
        raise Refused(f"#{compaction} is not a compaction")
    before = context_at(session, leaf_before(session, index))
    after = context_at(session, index)
    messages = before.messages
    stayed = {message.entry: message for message in after.messages if message.entry != index}
    summary = body.get("summary")
    text = summary if isinstance(summary, str) else ""
    lines, size = stored_lines(text), encrypted_tokens(body)
    lines = standing_for(lines, size) if size is not None else lines
    builder = XRayBuilder(session, before)
    builder.order(after, index)
    builder.system(after)
    spoken = [at for at in range(len(messages)) if messages.role(at) != "system"]
    split = _split(before, spoken, stayed, lines)
    for at in spoken:
        there = stayed.get(EntryIndex(messages.entry[at])) if messages.role(at) != _SUMMARY else None
        if there is not None:
            builder.keep(at, there.tokens, there.edited)
        elif at in messages.unsent:
            builder.drop(at)
        else:
            builder.replace(at, prefix=0 <= split <= at)
    old = {messages.entry[at] for at in spoken}
    for message in stayed.values():
        if message.entry not in old and message.role != "system":
            builder.bring_back(message)
    builder.add_summary(lines, index)
    # If the agent copied only the compaction's context, the size that it recorded covers the missing part.
    basis = Basis.of(session)
    was = basis.change(index)[0]
    noted = was.total - before.total
    builder.beyond((before.ledger.not_in_file + noted, before.error), (after.ledger.not_in_file, after.error))
    xray = builder.xray(
        index,
        (was.total, after.total),
        (len(messages), len(after.messages)),
        text,
        lines,
        counted=(was.recorded, after.ledger.recorded),
        recorded=_recorded(session, body),
    )
    return replace(xray, lacks_files=basis.lacks_files(index))


def xray_planned(
    session: Session, plan: Plan, draft: Draft | None = None, injection: Injection | None = None
) -> XRay:
    """The X-ray of a planned compaction.

    Without a draft, its summary has its expected size, and `injection` is the text to be injected; a draft has its own.
    """
    before = plan.sizes.context
    text, injected = "", 0
    if draft is not None:
        text = draft.text
    elif injection is not None and not plan.nothing:
        text, injected = injection.text, injection.tokens
    lines = stored_lines(text)
    builder = XRayBuilder(session, before)
    builder.system(before)
    _sort_planned(builder, plan, draft)
    if draft is not None:
        builder.add_summary(lines, NO_ENTRY)
    elif not plan.nothing:
        builder.expect(plan.tokens.summary, lines)
    missing = before.ledger.not_in_file
    after = before.total
    if not plan.nothing:
        missing = plan.tokens.not_in_file
        after = draft.counted_after if draft is not None else plan.tokens.counted_after + injected
    builder.beyond(
        (before.ledger.not_in_file, before.error), (missing, after - missing - builder.after_tokens)
    )
    return builder.xray(
        NO_ENTRY,
        (before.total, after),
        (len(before.messages), builder.messages_after),
        text,
        lines,
        counted=(before.ledger.recorded, plan.nothing and before.ledger.recorded),
        recorded=_recorded(session, {"details": draft.details()}) if draft is not None else {},
    )


def _sort_planned(builder: XRayBuilder, plan: Plan, draft: Draft | None) -> None:
    """Adds each message before a planned compaction by its fate."""
    messages = plan.sizes.context.messages
    tail = set(plan.kept) if plan.first_kept >= 0 else set()
    chosen, prefix, summarised = set(plan.kept) - tail, set(plan.turn_prefix), set(plan.summarize)
    left = {short.entry: short.left for short in plan.pruned}
    if draft is not None:
        left.update({edit.entry: edit.tokens for edit in draft.ground.there.edits})
    for at in range(len(messages)):
        entry, tokens = EntryIndex(messages.entry[at]), messages.tokens[at]
        role = messages.role(at)
        if role == "system":
            continue
        if plan.nothing:
            builder.keep(at, tokens, messages.edited.get(at, NO_ENTRY))
        elif entry in tail:
            builder.keep(at, left.get(entry, tokens), messages.edited.get(at, NO_ENTRY))
        elif draft is None and entry in chosen:
            builder.keep(at, min(tokens, left.get(entry, tokens)), NO_ENTRY)
        elif role == _SUMMARY or entry in chosen or entry in summarised or entry in prefix:
            cut = tokens - min(tokens, left.get(entry, tokens)) if entry not in chosen else 0
            builder.replace(at, prefix=entry in prefix, cut=cut)
        else:
            builder.drop(at)


def xray_edited(session: Session, edit: int) -> XRay:
    """The X-ray of a context edit and the others of the same operation. Raises Refused for another entry."""
    index = EntryIndex(edit)
    body = session.body(index) if 0 <= index < len(session) else None
    if body is None or session.columns.kind[index] != Kind.CONTEXT_EDIT:
        raise Refused(f"#{edit} is not a context edit")
    first, last = _edits_with(session, index, marks(body).get("op"))
    before = context_at(session, EntryIndex(session.columns.parent[first]))
    after = context_at(session, last)
    messages = before.messages
    stayed = {message.entry: message for message in after.messages}
    builder = XRayBuilder(session, before)
    builder.system(after)
    for at in range(len(messages)):
        if messages.role(at) == "system":
            continue
        there = stayed.pop(EntryIndex(messages.entry[at]), None)
        if there is not None:
            builder.keep(at, there.tokens, there.edited)
        else:
            builder.drop(at)
    for message in stayed.values():
        if message.role != "system":
            builder.bring_back(message)
    builder.beyond((before.ledger.not_in_file, before.error), (after.ledger.not_in_file, after.error))
    return builder.xray(
        last,
        (before.total, after.total),
        (len(messages), len(after.messages)),
        "",
        (),
        counted=(before.ledger.recorded, after.ledger.recorded),
        recorded={},
        of_edits=True,
    )


def _edits_with(session: Session, edit: EntryIndex, operation: object) -> tuple[EntryIndex, EntryIndex]:
    """The first and the last of the context edits that an operation made around one; that one itself where it has no operation."""
    columns, tree = session.columns, session.tree

    def belongs(entry: int) -> bool:
        own = operation is not None and entry >= 0 and columns.kind[entry] == Kind.CONTEXT_EDIT
        return own and marks(session.body(EntryIndex(entry)) or {}).get("op") == operation

    first = last = edit
    while belongs(columns.parent[first]):
        first = EntryIndex(columns.parent[first])
    while (below := next(filter(belongs, tree.children(last)), NO_ENTRY)) >= 0:
        last = EntryIndex(below)
    return first, last


_SUMMARY = "compactionSummary"


def _split(
    before: Context, spoken: Sequence[int], stayed: Mapping[EntryIndex, object], lines: Iterable[StoredLine]
) -> int:
    """The position of the turn that the cut splits; -1 if it splits none."""
    messages = before.messages
    kept = (at for at in spoken if messages.entry[at] in stayed and messages.role(at) != _SUMMARY)
    first = next(kept, -1)
    if first < 0:
        return -1
    told_apart = any(line.part is SummaryPart.PREFIX for line in lines)
    if messages.role(first) in _TURN_STARTS and not told_apart:
        return -1
    return max((at for at in spoken if at < first and messages.role(at) in _TURN_STARTS), default=-1)


def _recorded(session: Session, summary: Body) -> dict[int, tuple[EntryIndex, ...]]:
    """The source entries of a summary's lines, by line number, as Leafward stores them with it."""
    listed = stored_provenance(summary).get("sources")
    found: dict[int, tuple[EntryIndex, ...]] = {}
    for noted in listed if isinstance(listed, list) else ():
        if not isinstance(noted, list) or not noted or not isinstance(noted[0], int):
            continue
        entries = (session.columns.index(name) for name in noted[1:] if isinstance(name, str))
        known = tuple(entry for entry in entries if entry >= 0)
        if known:
            found[noted[0]] = known
    return found
