"""The middle pane: sliders, strategies in columns, the ledger of the context afterwards, injected sections, remarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import percent
from leafward_tui.lab.model.sliders import Dial, Slider
from leafward_tui.ui.appearance.context_signs import part_sign
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.text.cells import count, exact, filled, fit, limit, money, right, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leafward.base.strategies import Strategy
    from leafward.compaction.injection.values import Injection, SectionReport
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.strategies.division import Diagnostic
    from leafward_tui.lab.model.ledger import Column, Ledger, LedgerPart
    from leafward_tui.ui.appearance.glyphs import Glyphs

_LABEL = 13
_VALUE = 9
_WIDE = 44


@dataclass(frozen=True, slots=True)
class PlanView:
    """The content of the pane."""

    plan: Plan
    remarks: Sequence[Diagnostic]
    sliders: Sequence[Slider]
    ticks: Sequence[int]
    """Tokens that the legal cuts keep."""
    columns: Sequence[Column]
    ledger: Ledger
    injected: Injection | None = None
    sections: Sequence[SectionReport] = ()
    """All known sections, those switched off among them."""
    off: frozenset[str] = frozenset()
    injecting: bool = True
    budget: Slider | None = None
    """The budget of the injected text; None where nothing can be injected."""
    waiting: frozenset[Strategy] = field(default_factory=frozenset)
    """Strategies whose facts are being counted."""
    ruleless: str = ""
    """The session's agent, where no column has its rules."""


def track_cells(width: int) -> tuple[int, int]:
    """First cell and cells of a slider's track in a pane of some width."""
    return _LABEL, max(4, width - _LABEL - _VALUE)


def plan_lines(view: PlanView, width: int, glyphs: Glyphs, switch: str = "") -> Block:
    """The pane in lines of `width` cells. `switch` is the key that switches the injected context; empty for none."""
    lines = [_slider(slider, view.ticks, width, glyphs) for slider in view.sliders]
    lines += [SpanLine(), *_strategies(view, width, glyphs), SpanLine()]
    lines += after_lines(view.ledger, width, glyphs)
    if view.budget is not None:
        lines += [SpanLine(), *_injected(view, view.budget, switch, width, glyphs)]
    lines += [SpanLine(), *_remarks(view.plan, view.remarks, width, glyphs)]
    return Block(lines)


def _slider(slider: Slider, ticks: Iterable[int], width: int, glyphs: Glyphs) -> SpanLine:
    first, cells = track_cells(width)
    keep = slider.dial is Dial.KEEP
    track = slider.track(cells, ticks if keep else (), glyphs, "leaf" if keep else "sub")
    left = [Span(fit(slider.dial.value, first, pad=True), "strong" if keep else "sub"), *track]
    value = Span(right(exact(slider.value), _VALUE), "strong" if keep else "text")
    return spread(left, [value], width, f"dial:{slider.dial.name.lower()}")


# --- strategies -------------------------------------------------------------------------------------------------------


def _strategies(view: PlanView, width: int, glyphs: Glyphs) -> list[SpanLine]:
    widths = _column_widths([column.strategy.value for column in view.columns], width)
    label = width - sum(widths)
    chosen = view.plan.settings.strategy

    def line(name: str, texts: Sequence[str], *, head: bool = False, strong: bool = False) -> SpanLine:
        spans = [Span(fit(name, label, pad=True), "strong" if head else "sub")]
        for column, cells, text in zip(view.columns, widths, texts, strict=True):
            here = column.strategy is chosen
            ink = ("strong" if head or strong else "text") if here else "faint"
            if text == glyphs.zero:
                ink = "edge"
            spans.append(Span(right(text, cells - 1) + " ", ink, "raised" if here else ""))
        return SpanLine(tuple(spans), "strategies" if head else "")

    def numbers(name: str, of: Callable[[Column], int]) -> SpanLine:
        return line(name, [count(of(column), zero=glyphs.zero) for column in view.columns])

    # Shown only where the columns differ in it: facts and cost then belong to different summarisers.
    by = [line("summary by", ["model" if column.by_model else "local" for column in view.columns])]
    return [
        line("Strategy", [column.strategy.value for column in view.columns], head=True),
        line("before", [f"{column.sign}{count(column.before, zero=glyphs.zero)}" for column in view.columns]),
        line("after", [_after(column, view.waiting, glyphs) for column in view.columns], strong=True),
        numbers("summarised", lambda column: column.summarised),
        numbers("split turn", lambda column: column.prefix),
        numbers("pruned", lambda column: column.pruned),
        numbers("kept", lambda column: column.kept),
        numbers("injected", lambda column: column.injected),
        *(by if any(column.by_model for column in view.columns) else []),
        line("facts kept", [_facts(column, view.waiting, glyphs) for column in view.columns]),
        line("cost", [money(column.cost, zero=glyphs.zero) for column in view.columns]),
        *_ruleless(view, width, glyphs),
    ]


def _ruleless(view: PlanView, width: int, glyphs: Glyphs) -> list[SpanLine]:
    """The reason why no column is that of the session's agent, and the rules used instead."""
    if not view.ruleless:
        return []
    taken = view.plan.settings.strategy.agent
    words = f"No column for {view.ruleless}: what it keeps is not known. {taken}'s rules are used."
    return [SpanLine((Span(text, "faint"),)) for text in wrap(words, width, ellipsis=glyphs.ellipsis)]


def _after(column: Column, waiting: frozenset[Strategy], glyphs: Glyphs) -> str:
    """The size afterwards; marked while its summary is being made, as it is only planned until then."""
    made = glyphs.ellipsis if column.facts is None and column.strategy in waiting else ""
    return f"{column.after}{made}"


def _facts(column: Column, waiting: frozenset[Strategy], glyphs: Glyphs) -> str:
    if column.facts is None:
        return glyphs.ellipsis if column.strategy in waiting else ""
    return percent(column.facts, 1.0) or glyphs.zero


def _column_widths(names: Sequence[str], width: int) -> list[int]:
    least = [max(8, cell_len(name) + 2) for name in names]
    spare = max(0, min(8 * len(names), width - 14 - sum(least)))
    return [cells + spare // max(1, len(names)) for cells in least]


def strategy_at(names: Sequence[str], width: int, x: int) -> int:
    """The column of a cell of the pane; -1 for none."""
    widths = _column_widths(names, width)
    at = width - sum(widths)
    for number, cells in enumerate(widths):
        if at <= x < at + cells:
            return number
        at += cells
    return -1


# --- the context afterwards -------------------------------------------------------------------------------------------


def after_lines(ledger: Ledger, width: int, glyphs: Glyphs) -> list[SpanLine]:
    """The context afterwards: its size, a bar on the scale of the window, and its parts."""
    head = [
        Span(ledger.size, "strong"),
        Span(" / ", "faint"),
        Span(limit(ledger.window), "sub"),
        Span(right(percent(ledger.total, ledger.window), 7), "sub"),
    ]
    # A long name may reach into the column of the amounts, up to its own amount.
    name = 12 if width >= _WIDE else 11
    amounts = [_amount(part.tokens, glyphs) for part in ledger.parts]
    taken = [
        cell_len(part.name) + 1 + cell_len(amount) for part, amount in zip(ledger.parts, amounts, strict=True)
    ]
    name = max(name, *(cells - 7 for cells in taken))
    return [
        spread([Span("Context after", "strong")], head, width),
        _after_bar(ledger, width, glyphs),
        SpanLine(),
        *(
            _part_line(part, amount, name, width, glyphs)
            for part, amount in zip(ledger.parts, amounts, strict=True)
        ),
        SpanLine((blanks(3 + name + 2), Span(glyphs.hairline * 5, "line"))),
        _total_line(ledger, name, width, glyphs),
    ]


def _after_bar(ledger: Ledger, width: int, glyphs: Glyphs) -> SpanLine:
    """The parts on the scale of the window, like all such bars: the rest is free."""
    amounts = [max(0, part.tokens) for part in ledger.parts]
    *cells, free = filled(amounts, max(0, ledger.window - sum(amounts)), width)
    signs = [part_sign(part.name, glyphs) for part in ledger.parts]
    bar = [Span(sign * size, ink) for (sign, ink), size in zip(signs, cells, strict=True)]
    return SpanLine((*bar, Span(glyphs.block_free * free, "edge")))


def _part_line(part: LedgerPart, amount: str, name: int, width: int, glyphs: Glyphs) -> SpanLine:
    return SpanLine(
        (
            Span(*part_sign(part.name, glyphs)),
            blanks(2),
            Span(part.name, "sub"),
            Span(right(amount, name + 7 - cell_len(part.name)), "text" if part.tokens else "edge"),
            blanks(2),
            Span(_in_whole(part.note, width - name - 12), "faint"),
        )
    )


def _total_line(ledger: Ledger, name: int, width: int, glyphs: Glyphs) -> SpanLine:
    verdict = f"frees {count(ledger.frees)}" if ledger.frees > 0 else "frees nothing"
    if ledger.frees < 0:
        verdict = f"grows by {count(-ledger.frees)}"
    return SpanLine(
        (
            blanks(3),
            Span(fit("total", name, pad=True), "sub"),
            Span(right(ledger.size, 7), "strong"),
            blanks(2),
            Span(
                fit(verdict, max(0, width - name - 12), ellipsis=glyphs.ellipsis),
                "leaf" if ledger.frees > 0 else "warn",
            ),
        )
    )


def _in_whole(note: str, room: int) -> str:
    """A note without the parts that do not fit: half a number would be a wrong one."""
    while note and cell_len(note) > room:
        note = note.rpartition(", ")[0]
    return note


def _amount(tokens: int, glyphs: Glyphs) -> str:
    return count(tokens, zero=glyphs.zero) if tokens >= 0 else f"{glyphs.minus}{count(-tokens)}"


# --- injected ---------------------------------------------------------------------------------------------------------


def _injected(view: PlanView, budget: Slider, switch: str, width: int, glyphs: Glyphs) -> list[SpanLine]:
    used = len(view.injected.text) if view.injected is not None and view.injecting else 0
    state = f"{exact(used)} of {exact(budget.value)} chars" if view.injecting else "off"
    hint = f"  {switch} switches it on" if switch and not view.injecting else ""
    lines = [
        spread(
            [Span("Injected", "strong"), Span(hint, "faint")],
            [Span(state, "faint")],
            width,
            "injected",
        ),
        _slider(budget, (), width, glyphs),
    ]
    reports: Mapping[str, SectionReport] = (
        {section.key: section for section in view.injected.sections} if view.injected is not None else {}
    )
    if view.sections:
        lines.append(_section_head(width))
    for known in view.sections:
        on = view.injecting and known.key not in view.off
        report = reports.get(known.key) if on else None
        lines += _section(known, report, width, glyphs, on=on)
    if used and reports and view.injected is not None:
        lines.append(_frame(view.injected, used, width))
    return lines


def _frame(injected: Injection, used: int, width: int) -> SpanLine:
    """The injected text around the sections, so that the lines add up to the whole."""
    chars = used - sum(section.chars for section in injected.sections)
    sizes = (Span(count(chars), "faint"), Span(count(injected.envelope), "text"))
    return spread(
        [blanks(2), Span("lines around them", "faint")],
        _section_numbers(width, Span("", "faint"), *sizes),
        width,
    )


_SHOWN, _CHARS, _TOKENS = 10, 7, 7
"""Cells of the numbers of a section."""


def _section_numbers(width: int, shown: Span, chars: Span, tokens: Span) -> list[Span]:
    """The numbers that fit a line of `width` cells beside a name."""
    found = [shown._replace(text=right(shown.text, _SHOWN))]
    if width >= _WIDE:
        found.append(chars._replace(text=right(chars.text, _CHARS)))
    return [*found, tokens._replace(text=right(tokens.text, _TOKENS))]


def _section_head(width: int) -> SpanLine:
    names = (Span("shown", "faint"), Span("chars", "faint"), Span("tokens", "faint"))
    return spread([blanks(2), Span("section", "faint")], _section_numbers(width, *names), width)


def _section(
    known: SectionReport, report: SectionReport | None, width: int, glyphs: Glyphs, *, on: bool
) -> list[SpanLine]:
    """A section with its numbers; a name that is too long for the line goes on below."""
    shown = chars = tokens = glyphs.zero
    left_out = False
    if report is not None:
        whole = report.shown + report.omitted
        shown = f"{report.shown} of {whole}" if whole else glyphs.zero
        chars, tokens = count(report.chars, zero=glyphs.zero), count(report.tokens, zero=glyphs.zero)
        left_out = report.omitted > 0
    numbers = _section_numbers(
        width,
        Span(shown, "warn" if left_out else "faint"),
        Span(chars, "faint"),
        Span(tokens, "text" if on else "faint"),
    )
    room = width - 3 - sum(cell_len(span.text) for span in numbers)
    sign = Span(f"{glyphs.ok if on else glyphs.zero} ", "leaf" if on else "edge")
    key, ink = f"section:{known.key}", "sub" if on else "faint"
    name, *more = wrap(known.title, max(8, room), ellipsis=glyphs.ellipsis)
    first = spread([sign, Span(name, ink)], numbers, width, key)
    return [first, *(SpanLine((blanks(2), Span(text, ink)), key) for text in more)]


# --- remarks ----------------------------------------------------------------------------------------------------------


def _remarks(plan: Plan, remarks: Sequence[Diagnostic], width: int, glyphs: Glyphs) -> list[SpanLine]:
    lines = [SpanLine((Span("Why", "strong"),), "why")]
    # Where there is nothing to compact, the first remark gives the reason again.
    told = any(plan.why in remark.text for remark in remarks)
    reason = [] if told else wrap(plan.why, width, ellipsis=glyphs.ellipsis)
    lines += [SpanLine((Span(text, "sub"),)) for text in reason]
    for remark in remarks:
        if len(lines) > 1:
            lines.append(SpanLine())
        sign = Span(f"{glyphs.malformed} ", "warn")
        for number, text in enumerate(wrap(remark.text, width - 2, ellipsis=glyphs.ellipsis)):
            lines.append(SpanLine((sign if number == 0 else blanks(2), Span(text, "sub"))))
        if remark.pi_would is not None:
            lines += [
                SpanLine((blanks(2), Span(text, "faint")))
                for text in wrap(remark.pi_would, width - 2, ellipsis=glyphs.ellipsis)
            ]
    return lines
