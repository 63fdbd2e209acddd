"""Plans a compaction before any model is asked: a pure function of the measured path and of settings."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused
from leafward.compaction.measure.measure import PathSizes, summary_size
from leafward.compaction.plan.growth import size_remarks
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.plan.trigger import Trigger, trigger_of
from leafward.compaction.stored_summary.file_lists import FileLists, file_lists
from leafward.compaction.strategies.cut_rules import CutLine, cut_lines
from leafward.compaction.strategies.division import (
    Diagnostic,
    Division,
    Shortened,
    count_in,
    entries_at,
    entry_at,
    messages_in,
    new_shortened,
)
from leafward.context.estimators import Estimator, image_tokens, text_tokens
from leafward.context.model_context import BEGINS_MIDWAY
from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import EntryIndex


@dataclass(frozen=True, slots=True)
class PlanTokens:
    """Tokens by part, by the estimator that all contexts are shown with, or by the one that the settings name.

    pi decides with `before`, its own size, and `after`, made of estimates alone. The sizes shown are `counted_before` and
    `counted_after`, which share one basis (`context.basis`).
    """

    before: int
    summarize: int
    turn_prefix: int
    kept: int
    """Tokens of the kept messages after shortening."""
    pruned: int
    """Tokens freed by shortening messages."""
    previous_summary: int
    system: int
    """Tokens of the system prompt, as far as the file holds it; it stays."""
    summary: int
    """Expected tokens of the summary, file lists included."""
    counted_before: int
    """Size of the context before, as it is shown."""
    before_sign: str
    """The sign before that size: empty if a provider counted it, else `~`."""
    counted_after: int
    """Size of the context after, as it is shown: kept messages keep their size, the rest is scaled as the contents are."""
    not_in_file: int
    """Tokens in both sizes that the agent sends but its file does not hold."""

    @property
    def parts(self) -> int:
        """Estimated tokens of the context before, by the same estimator as `after`."""
        inside = self.summarize + self.turn_prefix + self.kept + self.pruned
        return self.system + self.previous_summary + inside

    @property
    def error(self) -> int:
        """The estimation error: the size shown minus the estimates and the tokens not in the file."""
        return self.counted_before - self.parts - self.not_in_file

    @property
    def after(self) -> int:
        """Tokens of the context after: system prompt, summary and kept messages."""
        return self.system + self.summary + self.kept

    @property
    def estimation_error(self) -> int:
        """The size after as it is shown, minus the estimates of its parts and the tokens not in the file."""
        return self.counted_after - self.after - self.not_in_file


@dataclass(frozen=True, slots=True)
class Plan:
    """Effect of a compaction. Entries are given by index, in the order of the context."""

    settings: PlanSettings
    at: EntryIndex
    trigger: Trigger
    first_kept: EntryIndex
    """First entry of the kept tail; -1 if nothing is compacted or no tail is kept."""
    nothing: bool
    """Whether there is nothing to compact."""
    split_turn: bool
    summarize: array[int]
    turn_prefix: array[int]
    """The beginning of the turn that is split."""
    kept: array[int]
    pruned: tuple[Shortened, ...]
    """Messages of which only a part stays, or none."""
    previous_summary: str | None
    files: FileLists
    tokens: PlanTokens
    why: str
    diagnostics: tuple[Diagnostic, ...]
    sizes: PathSizes
    """The measured path that the plan was made from."""

    @property
    def estimator(self) -> Estimator:
        """The estimator of the rules."""
        return self.sizes.counting(self.settings.counting)

    @property
    def shown(self) -> Estimator:
        """The estimator for sizes that are shown; the same as in the tree unless the settings name one."""
        return self.sizes.counting(_shown(self.settings))

    @property
    def keeps(self) -> str:
        """The kept part: `all`, a `tail`, `messages` of the user, or `none`."""
        if self.nothing:
            return "all"
        if self.first_kept >= 0:
            return "tail"
        return "messages" if self.kept else "none"

    def cuts(self) -> Iterator[CutLine]:
        """Every possible cut in the path, oldest first, with the rule that holds there."""
        return cut_lines(self.sizes, _shown(self.settings), tail=self.settings.rules.keeps_tail)


@gc_paused()
def plan(sizes: PathSizes, settings: PlanSettings | None = None) -> Plan:
    """The plan for a measured path. Raises BadSettings, and IllegalCut if `settings.cut` is not legal."""
    settings = settings if settings is not None else PlanSettings()
    trigger = trigger_of(sizes, settings)
    division = settings.rules.divide(sizes, settings)
    division.shortened = _as_shown(sizes, settings, division.shortened)
    nothing = sizes.ends_compacted or division.nothing
    diagnostics = division.diagnostics
    if nothing:
        diagnostics = [Diagnostic("nothing-to-compact", _reason(sizes, division))]
        division = Division(why=division.why)
    reach = division.cut
    files, remark = _files(sizes, settings, reach)
    kept = division.chosen if division.chosen is not None else _tail(sizes, division)
    summarised = messages_in(sizes, division.start, division.history)
    if division.chosen is not None:
        whole = set(division.chosen) - {short.position for short in division.shortened}
        summarised = array("i", (position for position in summarised if position not in whole))
    tokens = _tokens(sizes, settings, division, kept, files)
    made = Plan(
        settings=settings,
        at=sizes.at,
        trigger=trigger,
        first_kept=entry_at(sizes, division.cut) if division.tail and not nothing else NO_ENTRY,
        nothing=nothing,
        split_turn=division.split,
        summarize=entries_at(sizes, summarised),
        turn_prefix=entries_at(sizes, messages_in(sizes, division.history, division.cut)),
        kept=entries_at(sizes, kept),
        pruned=tuple(division.shortened),
        previous_summary=sizes.previous_summary,
        files=files,
        tokens=tokens,
        why=division.why,
        diagnostics=(),
        sizes=sizes,
    )
    remarks = [*diagnostics, *([remark] if remark is not None and not nothing else []), *_size_remarks(made)]
    return replace(made, diagnostics=tuple(remarks))


def _reason(sizes: PathSizes, division: Division) -> str:
    if sizes.ends_compacted:
        return "nothing to compact: nothing came after the last compaction"
    if not sizes.spoken:
        return "nothing to compact: nothing was said yet"
    return f"nothing to compact: no message is before the cut. {division.why}"


def _tail(sizes: PathSizes, division: Division) -> array[int]:
    return messages_in(sizes, division.cut, len(sizes)) if division.tail else array("i")


def _tokens(
    sizes: PathSizes, settings: PlanSettings, division: Division, kept: array[int], files: FileLists
) -> PlanTokens:
    counts = sizes.counts_by(_shown(settings))

    def spoken(start: int, stop: int) -> int:
        system = sum(counts.tokens[position] for position in sizes.systems if start <= position < stop)
        return counts.between(start, stop) - system

    history, prefix = spoken(division.start, division.history), spoken(division.history, division.cut)
    held = spoken(division.cut, len(sizes)) if division.tail else 0
    if division.chosen is not None:
        held = sum(counts.tokens[position] for position in kept)
        history -= held
    saved = [short.tokens - short.left for short in division.shortened]
    of_prefix, of_tail = (
        bisect_left(division.shortened, end, key=itemgetter(0)) for end in (division.history, division.cut)
    )
    freed, cut = sum(saved), sum(saved[of_tail:])
    if division.chosen is not None:
        held -= freed
    else:
        history, prefix, held = (
            history - sum(saved[:of_prefix]),
            prefix - sum(saved[of_prefix:of_tail]),
            held - cut,
        )
    previous = summary_size(sizes, sizes.counting(_shown(settings)))
    if count_in(sizes, division.start, division.cut):
        summary = min(settings.summary_tokens, history + prefix + previous) + -(-files.size // 4)
    else:
        summary = previous
    # The scale is that of pi's estimates; other estimators see the same contents.
    mine, theirs = sum(sizes.counts[Estimator.PI].tokens), sum(counts.tokens)
    carry = sizes.carry._replace(scale=sizes.carry.scale * mine / theirs if theirs else sizes.carry.scale)
    took = sizes.took(division.cut) if division.tail else None
    took = took - round(carry.scale * cut) if took is not None else None
    after = carry.after_compaction(sizes.system_tokens + summary + held, held, took)
    return PlanTokens(
        before=sizes.size.total,
        summarize=history,
        turn_prefix=prefix,
        kept=held,
        pruned=freed,
        previous_summary=previous,
        system=sizes.system_tokens,
        summary=summary,
        counted_before=sizes.context.total,
        before_sign=sizes.context.sign,
        counted_after=max(0, after),
        not_in_file=carry.not_in_file,
    )


def _shown(settings: PlanSettings) -> Estimator:
    """The estimator for sizes that are shown. That of the rules only decides, or a message would have a size for each strategy."""
    return settings.estimator if settings.estimator is not None else Estimator.PI


def _as_shown(sizes: PathSizes, settings: PlanSettings, shortened: list[Shortened]) -> list[Shortened]:
    """Shortened messages with sizes by the estimator that is shown."""
    if settings.counting is _shown(settings):
        return shortened
    estimator = sizes.counting(_shown(settings))
    tokens, cleared = sizes.counts[estimator].tokens, settings.rules.cleared
    if cleared and shortened:
        positions, entries, _, _ = zip(*shortened, strict=True)
        before = list(map(tokens.__getitem__, positions))
        left = map(min, before, repeat(text_tokens(cleared, estimator)))
        return list(map(new_shortened, zip(positions, entries, before, left, strict=True)))
    found = []
    for short in shortened:
        whole = tokens[short.position]
        text = whole - sizes.images.get(short.position, 0) * image_tokens(estimator)
        found.append(short._replace(tokens=whole, left=min(whole, short.left, max(0, text))))
    return found


def _files(sizes: PathSizes, settings: PlanSettings, reach: int) -> tuple[FileLists, Diagnostic | None]:
    """The file lists that the compaction would carry, bounded if faults are mended."""
    whole = file_lists(sizes.touches, reach, sizes.previous_files, None)
    if whole.size <= settings.file_budget or not (settings.mends or settings.rules.bounds_files):
        return whole, None
    bounded = file_lists(sizes.touches, reach, sizes.previous_files, settings.file_budget)
    return bounded, Diagnostic(
        "file-lists",
        f"{bounded.omitted} of {len(whole.read) + len(whole.modified)} files left out of the lists, "
        f"the least recent first: they may take {settings.file_budget:,} characters",
        f"pi would list all of them, {whole.size:,} characters, and keep them for ever",
    )


_MIDWAY = (
    "the file begins in the middle of a conversation: the size afterwards is without system prompt and tools, "
    "whose size is not known"
)


def _size_remarks(made: Plan) -> list[Diagnostic]:
    """Remarks on the sizes of a plan."""
    remarks = []
    trigger, tokens = made.trigger, made.tokens
    about = "" if trigger.source == "usage" else "about "
    if not trigger.reached:
        remarks.append(
            Diagnostic(
                "below-trigger",
                f"the context is {about or ('about ' if trigger.about else '')}{-trigger.excess:,} tokens below "
                f"the threshold of {'about ' if trigger.about else ''}{trigger.threshold:,}",
            )
        )
    if made.nothing:
        return remarks
    if made.sizes.context.begins_midway:
        remarks.append(Diagnostic(BEGINS_MIDWAY, _MIDWAY))
    remarks += size_remarks(
        tokens.counted_before, tokens.counted_after, trigger.threshold, planned=tokens.summary
    )
    return remarks
