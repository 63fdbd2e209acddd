"""Surviving facts: a thin line for each kind, the facts that the summary invents, then the lost ones with the pin keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted, first_few, percent
from leafward.base.safe_text import safe_line
from leafward.compaction.draft.gate import LONGEST_PIN, pin_text, unseen
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import SURVIVED, Status
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.survival_cache import PLURAL
from leafward_tui.ui.text.cells import fit, fit_apart, fit_path, right
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.summaries.fates.report import Survival
    from leafward_tui.ui.appearance.glyphs import Glyphs

_TITLE = "Facts kept"
_NAME = 12
_COUNTS = 12
_NAMED = 4
"""Invented facts that a sentence names."""
_LEAST_LOST = 4
"""Rows of lost facts, for which the lines above them move closer together."""


@dataclass(frozen=True, slots=True)
class LostFact:
    """A fact that is missing in the context afterwards, or was pinned for that reason."""

    text: str
    """Safe, on one line."""
    entry: int
    status: Status
    pin: str
    """The text that pinning adds to the summary."""
    pinned: bool = False
    path: bool = False
    rule: bool = False
    weight: float = 1e9
    """The harm of its loss; a fact that was pinned without being looked up comes first."""


def as_pinned(pins: Iterable[str], known: Iterable[LostFact] = ()) -> list[LostFact]:
    """Pins as facts; `known` ones stay as they are."""
    by_pin = {fact.pin: fact for fact in known}
    return [by_pin.get(pin) or LostFact(pin, -1, Status.LOST, pin, pinned=True) for pin in pins]


def lost_facts(survival: Survival, pinned: Sequence[LostFact] = ()) -> list[LostFact]:
    """The lost or contradicted facts, by weight, the highest first; pinned facts keep their places."""
    # A token is pinned as the sentence around it, and listed as itself.
    pins = {fact.pin for fact in pinned} | {fact.text for fact in pinned}
    found = [
        LostFact(
            safe_line(fate.fact.text, LONGEST_PIN),
            int(fate.fact.entry),
            fate.status,
            pin_text(fate.fact),
            path=fate.fact.kind is FactKind.PATH,
            rule=fate.fact.kind is FactKind.CONSTRAINT,
            weight=fate.fact.weight,
        )
        for fate in survival.fates
        if fate.status in (Status.LOST, Status.CONTRADICTED)
    ]
    every = [*pinned, *(fact for fact in found if fact.pin not in pins and fact.text not in pins)]
    return sorted(every, key=lambda fact: (-fact.weight, fact.entry, fact.pin))


def unseen_facts(survival: Survival) -> list[LostFact]:
    """The facts that stop a compaction from being accepted, by weight, the highest first."""
    return lost_facts(replace(survival, fates=unseen(survival)))


def invented(survival: Survival) -> list[str]:
    """Facts of the summary that nothing before it states, by weight, the highest first; each safe, on one line."""
    found = [fate.fact for fate in survival.fates if fate.status is Status.INVENTED]
    found.sort(key=lambda fact: -fact.weight)
    return list(dict.fromkeys(safe_line(fact.text, 300) for fact in found))


def invented_words(survival: Survival) -> str:
    """`2 facts of the summary are invented: src/a.py, 41 of 44`; empty where none is."""
    found = invented(survival)
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    facts, named = counted(len(found), "fact"), first_few(found, _NAMED)
    return f"{facts} of the summary {verb} invented (nothing before says so): {named}"


def kept_by_kind(survival: Survival) -> list[tuple[FactKind, int, int]]:
    """For each kind of fact: how many survive, and how many there were."""
    found = []
    for kind, row in survival.counts().items():
        whole = sum(count for status, count in row.items() if status is not Status.INVENTED)
        if whole:
            found.append((kind, sum(row.get(status, 0) for status in SURVIVED), whole))
    return sorted(found, key=lambda row: list(FactKind).index(row[0]))


def fate_lines(
    survival: Survival | None,
    pinned: Sequence[LostFact],
    width: int,
    height: int,
    glyphs: Glyphs,
    *,
    keys: tuple[str, str] = ("", ""),
    waiting: bool = False,
) -> Block:
    """Survival by kind, then the lost facts, in lines of `width` cells for a pane of some height.

    `keys` pin a lost fact, and all of them; empty for none.
    """
    if survival is None:
        state = "counting facts" if waiting else "no summary yet"
        room = width - len(_TITLE) - 2
        words = Span(fit(state, room, ellipsis=glyphs.ellipsis), "nothing")
        return Block([SpanLine((Span(_TITLE, "strong"), blanks(2), words))])
    kinds = kept_by_kind(survival)
    lines = [_kept_head(survival, kinds, width)]
    lost = lost_facts(survival, pinned)
    close = height - 1 - len(kinds) - 2 < min(_LEAST_LOST, len(lost))
    lines += _close_kinds(kinds, width) if close else [_kind(*row, width, glyphs) for row in kinds]
    lines += _invented(invented(survival), width, glyphs)
    lines += [SpanLine(), _lost_head(lost, keys, width)]
    if not lost:
        lines.append(SpanLine((Span("nothing is lost", "nothing"),)))
    # The widest source is that of the last entry: the texts are cut alike, so that alike ones are seen to be.
    room = width - 4 - max((len(_source(fact)) for fact in lost), default=0)
    texts = fit_apart([fact.text for fact in lost], room, ellipsis=glyphs.ellipsis)
    lines += [
        _lost(number, fact, text, width, glyphs)
        for number, (fact, text) in enumerate(zip(lost, texts, strict=True))
    ]
    return Block(lines)


def _kept_head(survival: Survival, kinds: Sequence[tuple[FactKind, int, int]], width: int) -> SpanLine:
    """The title and the share of facts kept. The share weighs facts, the lines below it count them."""
    overall = survival.overall()
    share = percent(overall, 1.0) if overall is not None else "no facts"
    head = [Span(_TITLE, "strong")]
    kept, whole = sum(row[1] for row in kinds), sum(row[2] for row in kinds)
    # Both are named where there is room, or they would seem to disagree.
    for about in (f"  {kept:,} of {whole:,}; by weight", "  by weight"):
        if overall is not None and cell_len(_TITLE + about) + len(share) + 2 <= width:
            head.append(Span(about, "faint"))
            break
    return spread(head, [Span(share, "strong")], width)


def _lost_head(lost: Sequence[LostFact], keys: tuple[str, str], width: int) -> SpanLine:
    """The numbers of lost facts that are not pinned, and the keys that pin them."""
    unpinned = [fact for fact in lost if not fact.pinned]
    wrong = sum(1 for fact in unpinned if fact.status is Status.CONTRADICTED)
    head = [
        Span("Lost", "strong"),
        Span(f"  {len(unpinned) - wrong:,}", "strong_warn" if len(unpinned) > wrong else "leaf"),
    ]
    if wrong:
        head.append(Span(f"  + {wrong:,} contradicted", "warn"))
    room = width - sum(cell_len(span.text) for span in head)
    return spread(head, _pin_keys(*keys, room) if lost else [], width)


def _pin_keys(one: str, every: str, room: int) -> list[Span]:
    """The pin keys, as many as fit two cells after the text before them."""
    hints = [
        [Span(key, "strong"), Span(f" {words}", "faint")]
        for key, words in ((one, "pin"), (every, "pin all"))
        if key
    ]
    if not hints:
        return []
    both = Span(" ".join(filter(None, (one, every))), "strong")
    whole = hints[0] if len(hints) == 1 else [*hints[0], Span("   ", "faint"), *hints[1]]
    for shown in (whole, [both, Span(" pin", "faint")], [both]):
        if sum(cell_len(span.text) for span in shown) + 2 <= room:
            return shown
    return []


def _kind(kind: FactKind, kept: int, whole: int, width: int, glyphs: Glyphs) -> SpanLine:
    """`paths        ━━━━━━━━╍╍   22 of 24`."""
    cells = max(4, width - _NAME - _COUNTS - 1)
    reached = min(cells, cells * kept // whole) if kept < whole else cells
    if kept and not reached:
        reached = 1
    return SpanLine(
        (
            Span(fit(PLURAL[kind], _NAME, pad=True), "sub"),
            blanks(1),
            Span(glyphs.thin * reached, "leaf" if kept == whole else "sub"),
            Span(glyphs.thin_rest * (cells - reached), "warn"),
            Span(right(f"{kept:,}", 5), "text"),
            Span(" of ", "faint"),
            Span(right(f"{whole:,}", 3), "sub"),
        )
    )


def _close_kinds(kinds: Sequence[tuple[FactKind, int, int]], width: int) -> list[SpanLine]:
    """As many kinds on a line as fit, each with its whole name, without bars between name and numbers."""
    lines: list[list[Span]] = [[]]
    used = 0
    for kind, kept, whole in kinds:
        name, numbers = f"{PLURAL[kind]} ", f"{kept:,}/{whole:,}"
        cells = cell_len(name + numbers)
        if used and used + 2 + cells > width:
            lines.append([])
            used = 0
        lines[-1] += [
            *((blanks(2),) if used else ()),
            Span(name, "sub"),
            Span(numbers, "leaf" if kept == whole else "text"),
        ]
        used += cells + (2 if used else 0)
    return [SpanLine(tuple(line)) for line in lines]


def _invented(texts: Sequence[str], width: int, glyphs: Glyphs) -> list[SpanLine]:
    """Facts of the summary that nothing before it states."""
    if not texts:
        return []
    head = [Span("Invented", "strong"), Span(f"  {len(texts):,}", "strong_warn")]
    about = "  nothing before says so"
    if sum(cell_len(span.text) for span in head) + cell_len(about) <= width:
        head.append(Span(about, "faint"))
    rows = [
        SpanLine(
            (
                Span(f"{glyphs.malformed} ", "warn"),
                Span(fit(text, width - 2, ellipsis=glyphs.ellipsis), "text"),
            ),
            f"invented:{number}",
        )
        for number, text in enumerate(texts)
    ]
    return [SpanLine(), SpanLine(tuple(head)), *rows]


def _source(fact: LostFact) -> str:
    return f"#{fact.entry:,}" if fact.entry >= 0 else ""


def _lost(number: int, fact: LostFact, text: str, width: int, glyphs: Glyphs) -> SpanLine:
    source = _source(fact)
    if fact.pinned:
        sign = Span(glyphs.ok, "leaf")
    elif fact.status is Status.CONTRADICTED:
        sign = Span(glyphs.differs, "warn")
    else:
        sign = Span(glyphs.error, "bad")
    if fact.path and " " not in fact.text and glyphs.ellipsis == "…":
        text = fit_path(fact.text, width - 4 - len(source))
    left = [sign, blanks(1), Span(text, "sub" if fact.pinned else "text")]
    return spread(left, [Span(source, "faint")], width, f"lost:{number}", fact.entry)
