"""Makes the draft of a compaction from a plan and a summariser; accepting the draft appends one entry.

A draft is complete before anything is written: its text, its size afterwards, the facts that survive. Only `draft.accept`
writes, all in one call, so that a compaction abandoned at any moment leaves the file as it was.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from leafward.base.cancellation import never, unless_cancelled
from leafward.base.errors import Cancelled, Refused
from leafward.base.figures import counted as plural
from leafward.base.gc_pause import gc_paused
from leafward.base.safe_text import safe
from leafward.compaction.draft.draft import Draft, Ground
from leafward.compaction.draft.replacement import DividedPath, carried_text, joined_text, replacing, span_from
from leafward.compaction.plan.growth import SIZE_CODES, size_remarks
from leafward.compaction.stored_summary.current_file_names import current_file_names
from leafward.compaction.stored_summary.file_lists import FileLists, recent_first
from leafward.compaction.stored_summary.pins import carried_pins, clean_pins
from leafward.compaction.stored_summary.stored_summary import (
    FILE_SHARE,
    KEPT_HEADING,
    QUOTE_UNITS,
    file_section,
    fitted,
    kept_section,
    stored_text,
    with_pins,
)
from leafward.compaction.stored_summary.summary_lines import part_sizes
from leafward.compaction.strategies.division import Diagnostic
from leafward.context.basis import Basis
from leafward.session.entries import EntryIndex, Kind
from leafward.session.injected_block import split_enclosed
from leafward.session.journal.placement import Place, place_at
from leafward.session.messages import message_text
from leafward.session.tokens import CHARS_PER_TOKEN, message_tokens, utf16_length
from leafward.summaries.fates.report import facts_read, reading_of, survival
from leafward.summaries.summarizers.summary import Summary, SummaryLine, tokens_of
from leafward.summaries.survival.kept_state import kept_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.fates.report import Survival
    from leafward.summaries.summarizers.summary import Span, Summarizer


LEAST_SUMMARY = 40
"""Least tokens of a useful summary."""
SMALL_SUMMARY = 120
"""Tokens that a summary may take even if the span is smaller."""
_GAP = 2
"""UTF-16 units between two parts of the stored text."""


@gc_paused()
def draft(
    session: Session,
    plan: Plan,
    summarizer: Summarizer,
    *,
    pins: Sequence[str] = (),
    focus: str = "",
    injection: Injection | None = None,
    max_tokens: int | None = None,
    progress: Callable[[str], object] = lambda _text: None,
    stop: Callable[[], bool] = never,
) -> Draft:
    """Makes the compaction that a plan describes; writes nothing.

    Pins of earlier compactions on the path are carried on. `max_tokens` bounds the whole stored text, as pi 1.5.2 estimates
    tokens. Raises Refused if there is nothing to compact or no room for a summary, Cancelled if `stop` returns true, and the
    summariser's errors.
    """
    refuse_nothing(plan)
    place = place_at(session, plan.at)
    ground = ground_of(session, plan, max_tokens, stop)
    every = _every_pin(session, plan, ground, pins)
    budget = summary_budget(plan, ground, injection)
    span = span_from(session, ground.there, pins=every, focus=focus)
    replaced = unless_cancelled(ground.there.replaced, stop)
    read = cache(
        lambda: reading_of(
            replaced, ground.cwd, ground.previous, ground.there.previous_entry, span.known, span.plan
        )
    )
    made = summarizer.summarize(replace(span, read=read), budget, progress, stop)
    if stop():
        raise Cancelled("the compaction was cancelled; nothing was written")
    if not made.text.strip():
        raise Refused("the summary is empty: nothing of the span fits; nothing was written")
    reading = read()
    facts = facts_read(reading, ground.cwd)
    state = kept_state(reading, facts, ground.there.kept, ground.cwd, stop)
    ground = replace(ground, facts=state.left(facts), reading=reading, kept_state=state)
    return _assembled(plan, made, ground, injection, every, focus, place, stop=stop)


def prepared(
    session: Session,
    plan: Plan,
    *,
    pins: Sequence[str] = (),
    focus: str = "",
    injection: Injection | None = None,
    max_tokens: int | None = None,
) -> tuple[Span, int]:
    """Inputs that `draft` would give to a summariser: the span, and the tokens that the summary may take. Raises Refused."""
    refuse_nothing(plan)
    ground = ground_of(session, plan, max_tokens)
    every = _every_pin(session, plan, ground, pins)
    return span_from(session, ground.there, pins=every, focus=focus), summary_budget(plan, ground, injection)


def _every_pin(session: Session, plan: Plan, ground: Ground, pins: Sequence[str]) -> tuple[str, ...]:
    """The pins of earlier compactions on the path and new ones."""
    return clean_pins(
        [*carried_pins(session, plan.at), *pins], (message for _, message in ground.there.replaced)
    )


def edited(draft: Draft, summary_text: str) -> Draft:
    """The draft with the user's own summary; lists, sizes and survival are computed again.

    Raises Refused if the text is empty. Pins missing from the text are added again.
    """
    text = safe(summary_text).strip("\n")
    if not text.strip():
        raise Refused("an empty summary would lose everything that it replaces")
    known = {line.text: line for line in draft.summary.lines}
    lines = tuple(known.get(line, SummaryLine(line, "", ())) for line in text.split("\n"))
    made = replace(draft.summary, text=text, lines=lines)
    return _assembled(
        draft.plan,
        made,
        draft.ground,
        draft.injection,
        draft.pins,
        draft.focus,
        draft.place,
        changed=True,
    )


def refuse_nothing(plan: Plan) -> None:
    """Raises Refused, with the reason, if a plan comes to no compaction."""
    if plan.nothing:
        raise Refused(next((one.text for one in plan.diagnostics), "nothing to compact"))


def ground_of(
    session: Session,
    plan: Plan,
    max_tokens: int | None,
    stop: Callable[[], bool] = never,
) -> Ground:
    """All inputs that a draft needs of a session, decoded once, without the facts. Raises Cancelled."""
    there = replacing(session, plan, stop)
    limit = max_tokens * CHARS_PER_TOKEN if max_tokens is not None else None
    if limit is not None:
        there = replace(there, quoted=_newest(there.quoted, limit // 2 - len(KEPT_HEADING)))
    previous = split_enclosed(carried_text(session, plan))[0]
    reach = len(plan.sizes) if plan.first_kept < 0 else plan.sizes.position(plan.first_kept)
    read, modified = recent_first(plan.sizes.touches, reach, plan.sizes.previous_files)
    carried = {*plan.files.read, *plan.files.modified}
    kept = joined_text(there.kept)
    tokens = dict(zip(plan.sizes.context.messages.entry, plan.sizes.context.messages.tokens, strict=True))
    freed = sum(tokens[edit.entry] - edit.tokens for edit in there.edits)
    took = Basis.of(session).took(plan.first_kept, plan.at, freed) if plan.first_kept >= 0 else None
    listed = current_file_names(
        [path for path in read if path in carried],
        [path for path in modified if path in carried],
        [*there.unsent, *there.replaced],
        session.cwd,
        plan.sizes.previous_files or FileLists(),
    )
    return Ground(
        there,
        previous,
        kept,
        *listed,
        session.cwd,
        session.columns,
        limit,
        took,
        _named(session, plan, there),
    )


def _named(session: Session, plan: Plan, there: DividedPath) -> Sequence[EntryIndex] | None:
    """The entries that a compaction beside another agent's session must name as kept; None if pi's rule determines them."""
    if session.is_native or plan.first_kept < 0:
        return None
    kinds = session.columns.kind
    path = (entry for run in session.tree.path_runs(plan.at) for entry in range(run.start, run.stop))
    edits = (EntryIndex(entry) for entry in path if kinds[entry] == Kind.CONTEXT_EDIT)
    return tuple(dict.fromkeys((*(spoken.entry for spoken in there.kept), *edits)))


def _newest(texts: Sequence[str], units: int) -> tuple[str, ...]:
    """The last of some texts that fit into so many units."""
    kept: list[str] = []
    for text in reversed(texts):
        units -= utf16_length(text) + QUOTE_UNITS
        if units < 0:
            break
        kept.append(text)
    return tuple(reversed(kept))


def summary_budget(plan: Plan, ground: Ground, injection: Injection | None) -> int:
    """Tokens that the summary itself may take. Raises Refused if a limit leaves no room for one."""
    content = plan.tokens.summarize + plan.tokens.turn_prefix + plan.tokens.previous_summary
    if ground.limit is None:
        return min(plan.settings.summary_tokens, max(SMALL_SUMMARY, content))
    room = (_room(ground, ground.limit, injection) - _listed(ground, ground.limit)) // CHARS_PER_TOKEN
    if room < LEAST_SUMMARY:
        beside = " beside the injected context" if injection is not None and injection.text else ""
        raise Refused(
            f"{ground.limit // CHARS_PER_TOKEN:,} tokens leave no room for a summary{beside}; allow more"
        )
    return min(room, max(SMALL_SUMMARY, content))


def _room(ground: Ground, limit: int, injection: Injection | None) -> int:
    """Units of a limit that remain for the summary and the file lists."""
    others = (kept_section(ground.there.quoted), injection.text if injection is not None else "")
    return limit - sum(utf16_length(text) + _GAP for text in others if text)


def _listed(ground: Ground, limit: int) -> int:
    """Units to set aside for file lists under a limit."""
    whole = sum(utf16_length(path) + 1 for path in (*ground.read, *ground.modified))
    return min(limit // FILE_SHARE, whole + 80) if whole else 0


def _assembled(
    plan: Plan,
    summary: Summary,
    ground: Ground,
    injection: Injection | None,
    pins: tuple[str, ...],
    focus: str,
    place: Place,
    *,
    changed: bool = False,
    stop: Callable[[], bool] = never,
) -> Draft:
    """Assembles a draft: puts the text together, and computes its sizes and its survival. Raises Cancelled."""
    remarks = [Diagnostic("summary", remark) for remark in summary.remarks]
    words, added = with_pins(summary.text, pins)
    if ground.limit is not None and not changed:
        words, dropped = _within_limit(summary.text, pins, _room(ground, ground.limit, injection))
        if dropped:
            remarks.append(
                Diagnostic("shortened", f"{plural(dropped, 'line')} left out to stay within the limit")
            )
    if added and summary.usage is not None:
        remarks.append(
            Diagnostic("pins-added", f"added what the model left out: {plural(len(added), 'pin')}")
        )
    quoted = kept_section(ground.there.quoted)
    injected = injection.text if injection is not None else ""
    files = _files_beside(ground, words, quoted, injected)
    text = stored_text(words, kept=quoted, files=files, injected=injected)
    made = replace(summary, text=words)
    system = ground.there.system
    after = tokens_of(text) + ground.there.kept_tokens + (message_tokens(system) if system is not None else 0)
    counted = _counted(plan, after, ground)
    remarks += _remarks(plan, {**made.redacted, **ground.there.redacted}, counted, place)
    if ground.limit is not None and utf16_length(text) > ground.limit:
        remarks.append(
            Diagnostic("over-limit", f"the text takes {tokens_of(text):,} tokens, more than was allowed")
        )
    summary_tokens, quoted_tokens, _ = part_sizes(text)
    return Draft(
        plan,
        made,
        injection,
        pins,
        focus,
        text,
        plan.tokens.before,
        after,
        counted,
        summary_tokens,
        quoted_tokens,
        _survival(ground, text, injected, stop),
        (*(one for one in plan.diagnostics if one.code not in SIZE_CODES), *remarks),
        place,
        ground,
        changed,
    )


def _files_beside(ground: Ground, words: str, quoted: str, injected: str) -> str:
    """The lists of files that fit beside the other parts of the text."""
    others = sum(utf16_length(text) + _GAP for text in (words, quoted, injected) if text)
    most = ground.limit - others - _GAP if ground.limit is not None else None
    units = others // (FILE_SHARE - 1) - _GAP
    if most is not None:
        units = min(units, most)
    return file_section(ground.read, ground.modified, f"{words}\n{injected}", ground.cwd, units, most)


def _survival(ground: Ground, text: str, injected: str, stop: Callable[[], bool]) -> Survival:
    """The facts of the replaced span in a text, in what is injected with it and in the kept messages. Raises Cancelled."""
    beside = [split_enclosed(injected)[1]] if injected else []
    if ground.there.system is not None:
        beside.append(message_text(ground.there.system))
    replaced = (message_text(spoken.message) for spoken in ground.there.replaced)
    return survival(
        ground.facts,
        split_enclosed(text)[0],
        injected="\n".join(beside),
        kept=ground.kept,
        sources=chain(replaced, [ground.previous, ground.kept, *beside, ground.cwd, "."]),
        cwd=ground.cwd,
        stop=stop,
    )


def _within_limit(text: str, pins: tuple[str, ...], units: int) -> tuple[str, int]:
    """A summary with its pins in at most so many units, and the number of lines left out for that."""
    words, dropped = fitted(text, units)
    words, _ = with_pins(words, pins)
    if utf16_length(words) > units:
        words, dropped = fitted(text, units - sum(utf16_length(pin) + 3 for pin in pins) - 24)
        words, _ = with_pins(words, pins)
    if not words.strip() or utf16_length(words) > units:
        raise Refused("the pins alone need more tokens than are allowed; allow more")
    return words, dropped


def _counted(plan: Plan, after: int, ground: Ground) -> int:
    """Size of the context afterwards as it is shown, from its estimate."""
    messages, kept = plan.sizes.context.messages, {spoken.entry for spoken in ground.there.kept}
    unsent = sum(
        messages.tokens[at]
        for at in messages.unsent
        if messages.entry[at] in kept and messages.role(at) == "assistant"
    )
    counted = plan.sizes.carry.after_compaction(
        after - unsent, ground.there.kept_tokens - unsent, ground.took
    )
    return max(0, counted) + unsent


def _remarks(plan: Plan, redacted: Mapping[str, int], after: int, place: Place) -> list[Diagnostic]:
    remarks = []
    if redacted:
        count = sum(redacted.values())
        kinds = ", ".join(sorted(redacted))
        remarks.append(Diagnostic("redacted", f"{count} secret{'' if count == 1 else 's'} redacted: {kinds}"))
    if plan.tokens.not_in_file > 0:
        text = f"~{plan.tokens.not_in_file:,} tokens not in file (system prompt, tools), before and after"
        remarks.append(Diagnostic("not-in-file", text))
    remarks += size_remarks(plan.tokens.counted_before, after, plan.trigger.threshold)
    if place.moves:
        remarks.append(
            Diagnostic(
                "moves-leaf", f"the leaf moves: the compaction follows {place.parent_id}, not the leaf"
            )
        )
    return remarks
