"""Plans of compactions as text: one with its cut and its ledger, or several side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.base.strategies import Strategy, own_strategy
from leafward.cli.output.page import Page, fact_lines, faint, pad, table, warning, wrapped
from leafward.compaction.strategies.cut_rules import SHORT_RULE_TEXT, CutLine
from leafward.context.estimators import ESTIMATOR_TEXT, Estimator
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session

_NEAR = 3
"""Number of cuts shown before and after the chosen one."""


def strategy_text(made: Plan) -> str:
    """The strategy and its version."""
    return f"{made.settings.strategy} {made.settings.behaviour}"


def plan_lines(session: Session, made: Plan, page: Page) -> Iterator[str]:
    """A plan as text: the ledger, the cut with its neighbours, files, remarks."""
    settings, trigger, tokens = made.settings, made.trigger, made.tokens
    where = session.columns.id_at(made.at)
    yield page.style(f"Compaction at {safe_line(where, 60) if where else 'the start'}", "bold")
    sign = "" if trigger.source == "usage" else "~"
    state = "reached" if trigger.reached else "not reached"
    threshold = f"threshold {'about ' if trigger.about else ''}{trigger.threshold:,}"
    facts = (
        f"{strategy_text(made)} rules",
        f"keep recent {settings.budget:,}",
        f"{sign}{trigger.tokens:,} tokens",
        f"{threshold} of {trigger.window:,} {state}",
    )
    yield from faint(fact_lines(facts, page), page)
    yield from faint(wrapped(_estimator_text(made), page), page)
    yield from _stand_in_text(session, settings.strategy, page)
    yield ""
    if made.nothing:
        yield from _remarks(made, page)
        return
    # The rest of a shortened message is summarised, but the message is listed as kept.
    summarised = set(made.summarize).difference(made.kept)
    rows = [
        ("S", "summarised", counted(len(summarised), "message"), tokens.summarize, "memory"),
        ("S", "earlier summary", "into the new one", tokens.previous_summary, "memory"),
        ("P", "split turn", counted(len(made.turn_prefix), "message"), tokens.turn_prefix, "warn"),
        ("K", "kept", counted(len(made.kept), "message"), tokens.kept, "leaf"),
        (" ", "pruned", counted(len(made.pruned), "message"), tokens.pruned, "faint"),
        (" ", "summary, about", "files included" if made.files.size else "", tokens.summary, "memory"),
        (" ", "system", "", tokens.system, "faint"),
        (" ", "not in file", "system, tools", tokens.not_in_file, "faint"),
        (" ", "estimation error", "", tokens.estimation_error, "faint"),
    ]
    for letter, name, count, size, style in rows:
        if size:
            yield f"{page.style(letter, style)} {pad(name, 18)}{pad(count, 16)}{pad(f'{size:,}', 10, right=True)}"
    before = f"{tokens.before_sign}{tokens.counted_before:,} before"
    after = f"  {pad('after, nothing injected', 34)}{pad(f'~{tokens.counted_after:,}', 10, right=True)}"
    yield from fact_lines((after, f"of {before}"), page, below=" " * 36)
    yield ""
    yield from _cut_text(session, made, page)
    if made.files.read or made.files.modified:
        left = f", {made.files.omitted} left out" if made.files.omitted else ""
        modified = counted(len(made.files.modified), "modified file")
        text = f"carries {modified} and {counted(len(made.files.read), 'read file')}{left}"
        yield from faint(wrapped(text, page), page)
    yield from _remarks(made, page)


def _estimator_text(made: Plan) -> str:
    """The estimator of sizes, and that of the rules if it differs."""
    rules = ESTIMATOR_TEXT[made.estimator]
    if made.settings.estimator is not None or made.estimator is Estimator.PI:
        return f"sizes by {rules}"
    return f"cut by {rules}; sizes by {ESTIMATOR_TEXT[Estimator.PI]}"


def _stand_in_text(session: Session, strategy: Strategy, page: Page) -> Iterator[str]:
    """The remark that a strategy stands for an agent without one."""
    agent = agent_behind(session)
    if own_strategy(agent.name) is None:
        text = f"What {agent.title} keeps is not known: {strategy.agent}'s rules are used"
        yield from faint(wrapped(text, page), page)


def _cut_text(session: Session, made: Plan, page: Page) -> Iterator[str]:
    if made.first_kept >= 0:
        lines = [line for line in made.cuts() if line.rule.name != "QUIET_INSIDE"]
        at = next(number for number, line in enumerate(lines) if line.entry == made.first_kept)
        yield page.style(f"  {pad('cut before', 9 + _words_width(page))}   keeps", "faint")
        for line in lines[max(0, at - _NEAR) : at + _NEAR + 1]:
            yield _cut_line(session, line, page, chosen=line.entry == made.first_kept)
        yield ""
    yield from wrapped(safe_line(made.why, 1000), page, below="")


def _words_width(page: Page) -> int:
    """Cells for the first words of the entry behind a cut."""
    return max(18, page.width - 79)


def _cut_line(session: Session, line: CutLine, page: Page, *, chosen: bool) -> str:
    first_words = headline(session, line.entry)
    mark = ("→" if page.unicode else ">") if chosen else " "
    verdict = "can cut" if line.legal else "no cut"
    width = _words_width(page)
    words = page.fit(f"{first_words.word}  {first_words.text}", width)
    text = (
        f"{mark} {pad(f'#{line.entry}', 8)}{pad(words, width)}  {pad(short(line.kept), 6, right=True)}  "
        f"{pad(verdict, 9)}{SHORT_RULE_TEXT[line.rule]}"
    )
    return page.style(page.fit(text, page.width), "bold" if chosen else "faint")


def _remarks(made: Plan, page: Page) -> Iterator[str]:
    for remark in made.diagnostics:
        yield from warning(safe_line(remark.text, 1000), page)
        if remark.pi_would is not None:
            yield from faint(wrapped(safe_line(remark.pi_would, 1000), page, first="  "), page)


def _sizes_of(made: Plan) -> dict[str, str]:
    """The sizes of a plan by name; empty for none. The parts from what is kept on add up to the size afterwards."""
    tokens = made.tokens
    after = tokens.counted_before if made.nothing else tokens.counted_after
    sizes = {"before": f"{tokens.before_sign}{tokens.counted_before:,}", "after": f"~{after:,}"}
    parts = {
        "summarised": tokens.summarize + tokens.previous_summary,
        "split turn": tokens.turn_prefix,
        "pruned": tokens.pruned,
        "kept": tokens.kept,
        "summary, about": tokens.summary,
        "system": tokens.system,
        "not in file": tokens.not_in_file,
        "estimation error": tokens.estimation_error,
    }
    return sizes | {name: f"{size:,}" if size and not made.nothing else "" for name, size in parts.items()}


def all_lines(session: Session, found: list[Plan], page: Page) -> Iterator[str]:
    """Plans side by side: a row for each part, a column for each strategy."""
    where = session.columns.id_at(found[0].at)
    yield page.style(f"Compaction at {safe_line(where, 60) if where else 'the start'}", "bold")
    yield from _stand_in_text(session, Strategy.PI, page)
    yield ""
    columns = [_sizes_of(made) for made in found]
    # A part that no plan has gets no row, like in a single plan.
    rows = [
        [name, *(sizes[name] or "·" for sizes in columns)]
        for name in columns[0]
        if any(sizes[name] for sizes in columns)
    ]
    rows.append(
        [
            "first kept",
            *(
                f"#{made.first_kept}"
                if made.first_kept >= 0
                else counted(len(made.kept), "message")
                if made.keeps == "messages"
                else made.keeps
                for made in found
            ),
        ]
    )
    rows.append(
        [
            "trigger",
            *("reached" if made.trigger.reached else f"{-made.trigger.excess:,} below" for made in found),
        ]
    )
    names = [strategy_text(made) for made in found]
    yield from table(["tokens", *names], rows, page, grow=0, right=names)
    for made in found:
        yield ""
        text = f"{made.settings.strategy}: {safe_line(made.why, 1000)}"
        yield from faint(wrapped(text, page), page)
        yield from _remarks(made, page)
