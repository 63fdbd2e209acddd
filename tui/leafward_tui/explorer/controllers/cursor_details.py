"""Details that follow the resting cursor: inspector, proposed move with its price, overview and gauge."""

from __future__ import annotations

from functools import partial
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.context.estimate_sign import estimate_sign
from leafward.session.entries import NO_ENTRY, PROMPTS
from leafward.session.tree.density import Density
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.gauge_lines import Forecast, Load
from leafward_tui.explorer.model.ghost import Ghost
from leafward_tui.explorer.model.line_counts import fold_words, line_tokens, rows_words
from leafward_tui.inspector.page import ContextLimits, Selection, SelectionKind
from leafward_tui.ui.bars.price_line import Facts
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.text.cells import count
from leafward_tui.ui.words.price_words import PriceWords

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from leafward.agents.sub_agents import SubAgent
    from leafward.base.config import Config
    from leafward.compaction.plan.onset import Onset
    from leafward.context.basis import Count
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.price import Price
    from leafward.session.entries import EntryId
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.row_metrics import RowMetrics
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.folds import ShownLine
    from leafward_tui.explorer.model.overview import Overview
    from leafward_tui.ui.jobs import Job

SETTLE = 0.06
"""Seconds the cursor rests before anything follows it."""
PRICE_AFTER = 0.12
"""Seconds more before a price is computed: in a large session the computation slows down the keys."""

FORECAST_AFTER = 2.0
"""Seconds after the last growth before the next compaction is forecast."""
FORECAST_AT_LAST = 8.0
"""Seconds of steady growth after which it is forecast all the same."""
FORECAST_REST = 5
"""Times as long as a forecast took that none is made."""


class CursorDetails(ExplorerController):
    """Follows the cursor, never on the key path."""

    def __init__(self, means: ExplorerMeans, metrics: RowMetrics) -> None:
        super().__init__(means)
        self._metrics = metrics
        after = means.view.after
        self._settling, self._pricing, self._foreseeing = Delay(after), Delay(after), Delay(after)
        self._foreseen: Forecast | None = None
        """The last forecast, until the next one."""
        self._foreseen_size, self._rest_until = 0, 0.0
        self._growing_since: float | None = None
        self._priced: Callable[[], object] | None = None
        """Callback for the price of the proposed move."""
        self._target: int | None = None
        """The entry whose price is asked for or known. It stays while the session grows below a resting cursor."""

    def begin(self) -> None:
        """Forgets all details: another session is opened, whose entries have other indexes."""
        state, view = self._state, self._view
        self._foreseeing.stop()
        self._foreseen, self._foreseen_size, self._growing_since = None, 0, None
        self._forget_price()
        state.overview, state.lacks_prompt = None, False
        view.strip.show(None)
        view.gauge.show(None, 0)
        view.inspector.show(None)

    def settle(self) -> None:
        """Lets pane, ghost and price follow the cursor once it rests; cancels the work for another place."""
        self._jobs.cancel("glance")
        if self._proposed() != self._target:
            self._forget_price()
        self._settling.start(SETTLE, self.follow_cursor)
        self._metrics.await_idle()

    def follow_cursor(self) -> None:
        """Shows the details of the cursor's line."""
        state, view = self._state, self._view
        exploration, line = state.exploration, view.tree.line
        if exploration is None or not state.is_read:
            return
        if line is None:
            view.inspector.show(None)
            view.price_line.show(None)
            view.peek.show(None)
            self._forget_move()
            return
        selected = selection(exploration, line, self._state.sub_agents)
        view.inspector.show(selected)
        view.price_line.show(self._facts(exploration, line))
        session = exploration.session
        if not view.two_panes:
            from leafward_tui.explorer.controllers.glance import glance

            search = state.search
            at = -1 if search.by_query else search.place_on(view.tree.row)
            hit = search.places[at][1] if at >= 0 else NO_ENTRY
            self._jobs.latest(
                "glance",
                partial(glance, session, selected.entries, selected.head, hit, search.text),
                view.peek.show,
                view.fail,
            )
        target = exploration.target(line)
        if line.kind is not LineKind.ROW or target == session.place:
            self._forget_move()
            return
        # On the path the tree is unchanged: only a move to another branch changes which branch is drawn straight.
        off_path = not exploration.layout.on_path(target)
        view.tree.set_ghost(Ghost.of(exploration.layout, target) if off_path else None)
        view.strip.set_ghost(state.overview.detour(target) if state.overview is not None else None)
        if target == self._target:
            self.ask_price(target)
            return
        view.gauge.set_ghost(moving=True)
        self._target = target
        view.show_hints()
        self._pricing.start(PRICE_AFTER, partial(self.ask_price, target))

    def propose(self, target: int, priced: Callable[[], object]) -> None:
        """Shows a move to any entry in the tree; `priced` is called once its price is known."""
        self._priced = priced
        if self._state.exploration is not None:
            self._view.tree.set_ghost(Ghost.of(self._state.exploration.layout, target))

    def price_of(self, target: int) -> Price | None:
        """The price of a move to an entry, where it is known: after a fast key the last one may be another line's."""
        price, session = self._state.price, self._state.session
        if price is None or session is None or price.target != session.tree.content_at(target):
            return None
        return price

    def _forget_move(self) -> None:
        """Shows no proposed move."""
        view = self._view
        self._forget_price()
        view.tree.set_ghost(None)
        view.strip.set_ghost(None)
        view.show_hints()
        view.gauge.set_ghost(moving=False)

    def _forget_price(self) -> None:
        self._pricing.stop()
        self._jobs.cancel("price")
        self._state.price = self._target = None

    def _facts(self, exploration: Exploration, line: ShownLine) -> Facts | None:
        """The facts of a line."""
        metrics, layout = self._state.metrics, exploration.layout
        if metrics is None:
            return None
        spans = layout.entries_between(line.row, line.rows)
        tally = metrics.sum(spans)
        glyphs = self._services.glyphs
        tokens = line_tokens(metrics, layout, line, tally.tokens)
        sign = estimate_sign(metrics.reported, layout.tree.kind, spans, tokens) if line.rows == 1 else ""
        numbers = [("tokens", tokens, sign)]
        pairs = []
        if layout.density is not Density.ENTRIES or line.rows > 1:
            # Where a row is an entry, the row itself shows whether it is a call or an edit.
            pairs = [("entries", f"{exploration.session.columns.entries_in(spans):,}")]
            numbers[:0] = [("calls", tally.calls, ""), ("edits", tally.edits, "")]
        # While entries are still being counted, a zero would be read as none, as in the row itself.
        pairs += [
            (label, sign + count(number, zero=glyphs.zero))
            for label, number, sign in numbers
            if number or tally.complete
        ]
        if tally.added or tally.removed:
            pairs.append(("lines", f"+{tally.added} {glyphs.minus}{tally.removed}"))
        if tally.failed:
            pairs.append(("failed", str(tally.failed)))
        return Facts(row_name(exploration, line), tuple(pairs))

    # --- the price ----------------------------------------------------------------------------------------------------

    def _proposed(self) -> int | None:
        """The entry that the leaf would move to; None where no move is proposed."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or line.kind is not LineKind.ROW:
            return None
        return exploration.target(line)

    def ask_price(self, target: int) -> None:
        """Computes the price of a move, if the cursor still rests where it was proposed."""
        session, metrics = self._state.session, self._state.metrics
        if session is None or metrics is None or self._proposed() != target:
            return
        if self._target == target and self._jobs.running("price"):
            # A session that grows faster than a price is computed would never show one.
            return
        self._target = target
        self._jobs.latest(
            "price",
            partial(price_move, session, target, metrics, self._services.clock),
            partial(self._show_price, target, len(session)),
            lambda problem: self._view.fail(f"no price: {problem}"),
        )

    def _show_price(self, target: int, entries: int, price: Price) -> None:
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or self._proposed() != target:
            return
        self._state.price = price
        words = PriceWords.of(price, self._services.glyphs)
        self._view.price_line.show(self._facts(exploration, line), words)
        self._view.show_hints()
        moved = self._load(price.after, price.sent_again, price.entered.tokens)
        self._view.gauge.set_ghost(moving=True, moved=moved)
        if self._priced is not None:
            self._priced()
        if len(exploration.session) != entries:
            self.ask_price(target)

    # --- overview and gauge -------------------------------------------------------------------------------------------

    def survey(self) -> None:
        """Measures the context at the leaf, and at every turn of the path, once a measurement under way has ended."""
        self._jobs.after("survey", self._survey)

    def _survey(self) -> None:
        exploration, metrics = self._state.exploration, self._state.metrics
        if exploration is None or metrics is None:
            return
        self._jobs.latest(
            "survey",
            partial(
                survey,
                exploration.session,
                metrics,
                exploration.findings.archived,
                self._services.config,
                self._show_context,
            ),
            self._show_overview,
            lambda problem: self._view.fail(f"cannot measure the context: {problem}"),
        )

    def _show_context(self, context: LeafContext) -> None:
        self._state.lacks_prompt = context.lacks_prompt
        self._view.gauge.show(self._load(context.size), context.window, context.onset)
        onset = context.onset
        self._foresee(known=onset is not None and not onset.off, size=context.size.total)
        self._view.inspector.set_limits(ContextLimits(context.window, context.onset))

    def _foresee(self, *, known: bool, size: int) -> None:
        """Shows the distance to the next compaction while the session grows, and asks what it would do."""
        state, gauge = self._state, self._view.gauge
        self._foreseeing.stop()
        live = state.grown and state.following
        if size < self._foreseen_size:
            # It has compacted since.
            self._foreseen = None
            self._jobs.cancel("forecast")
        self._foreseen_size = size
        gauge.set_forecast(live=live, forecast=self._foreseen)
        if not (live and known):
            self._growing_since = None
            return
        now = monotonic()
        if self._growing_since is None:
            self._growing_since = now
        wait = min(FORECAST_AFTER, self._growing_since + FORECAST_AT_LAST - now)
        self._foreseeing.start(max(0.0, wait, self._rest_until - now), self._ask_forecast)

    def _ask_forecast(self) -> None:
        self._growing_since = None
        session = self._state.session
        if session is None:
            return
        if self._jobs.running("forecast"):
            # A session that grows faster than a forecast is made would never show one.
            self._foreseeing.start(FORECAST_AFTER, self._ask_forecast)
            return
        from leafward_tui.explorer.lost_facts import forecast, is_long

        began = monotonic()

        def tell(found: Forecast | None) -> None:
            self._rest_until = monotonic() + FORECAST_REST * (monotonic() - began)
            self._foreseen = found
            self._view.gauge.set_forecast(live=True, forecast=found)

        if is_long(session) and self._foreseen is None:
            self._view.gauge.set_forecast(live=True, forecast=Forecast(why="counting facts…"))
        # A forecast that fails is not shown: nobody asked for it.
        work = partial(forecast, session, self._services.config)
        self._jobs.latest("forecast", work, tell, lambda _problem: tell(self._foreseen))

    def _show_overview(self, overview: Overview) -> None:
        if self._state.overview is None:
            self._services.collector.keep_for_long()
        self._state.overview = overview
        self._view.strip.show(overview)
        # The hits of a search may have come before it, or be turns of the path before.
        self._view.strip.set_hits(overview.turns_of(self._state.search.entries))
        self.settle()

    def _load(self, size: Count, again: int = 0, entered: int = 0) -> Load:
        """A context for the gauge. The agent's prompt is part of a reported size, not of an estimate."""
        lacks = self._state.lacks_prompt and not size.recorded
        return Load(size.total, again, entered, lacks, not size.recorded, size.unsent)


def row_name(exploration: Exploration, line: ShownLine) -> str:
    """The name of a line at the head of its facts."""
    layout = exploration.layout
    head = layout.head[line.row]
    if line.kind is not LineKind.ROW:
        if line.kind is LineKind.HIDDEN:
            return f"{line.rows:,} hidden"
        words = fold_words if line.kind is LineKind.FOLDED_RUN else rows_words
        return f"{words(layout, line)} folded"
    leaf = exploration.target(line) == exploration.session.place
    if layout.density is Density.ENTRIES or layout.tree.kind[head] not in PROMPTS:
        return f"#{head:,}{' (leaf)' if leaf else ''}"
    # Turns are counted along their own path: another branch may have one of the same number.
    beside = " (leaf)" if leaf else "" if layout.on_path(head) else " (branch)"
    return f"Turn {exploration.turn_of(head):,}{beside}"


def selection(
    exploration: Exploration, line: ShownLine, sub_agents: Mapping[EntryId, SubAgent] = MappingProxyType({})
) -> Selection:
    """The selection that the inspector shows for a line; `sub_agents` are those that calls made, by their results."""
    layout = exploration.layout
    spans = layout.entries_between(line.row, line.rows) if line.rows > 1 else layout.entries_of(line.row)
    head = layout.head[line.row]
    kind = SelectionKind.ENTRY if layout.density is Density.ENTRIES else SelectionKind.TURN
    if line.kind is not LineKind.ROW:
        kind = SelectionKind.FOLD
        if line.kind in (LineKind.FOLDED_BRANCH, LineKind.ARCHIVED):
            # The entries that a move to it would add: the branch down to its tip, without the branches that leave it.
            tree = exploration.session.tree
            way = tree.below(tree.parent[head], exploration.target(line))
            spans = [range(run.start, run.stop) for run in way]
    turn = exploration.turn_of(head)
    at = exploration.session.columns.index
    made = [(at(name), one.title) for name, one in sub_agents.items()]
    return Selection(
        exploration.session,
        tuple(spans),
        head,
        kind,
        turn,
        layout.on_path(head),
        sub_agents=tuple(one for one in made if any(one[0] in span for span in spans)),
    )


class LeafContext(NamedTuple):
    """The size of the context at the leaf, and the window of the model it is for."""

    size: Count
    window: int
    lacks_prompt: bool
    """Whether the session does not hold the prompt that its agent sends."""
    onset: Onset | None
    """The size at which its agent compacts it by itself, where that is known."""


def price_move(
    session: Session, target: int, metrics: EntryMetrics, clock: Callable[[], datetime], job: Job
) -> Price:
    """The price of a move of the leaf to an entry."""
    from leafward.context.price import price_of_move

    now = int(clock().timestamp() * 1000)
    return price_of_move(session, target, metrics=metrics, now=now, stop=job.unwanted)


def survey(
    session: Session,
    metrics: EntryMetrics,
    archived: Collection[int],
    config: Config,
    measured: Callable[[LeafContext], object],
    job: Job,
) -> Overview:
    """The overview of the path to the leaf; `measured` gets the context there first. Raises Cancelled."""
    from leafward.agents.model_window import context_window
    from leafward.compaction.plan.onset import onset
    from leafward.context.model_context import context_at, lacks_prompt
    from leafward_tui.explorer.model.overview import Overview

    context = context_at(session)
    window = context_window(session, context, config)
    lacks = lacks_prompt(session, context)
    at_leaf = LeafContext(context.count, window.tokens, lacks, onset(context, window, config))
    job.report(partial(measured, at_leaf))
    overview = Overview.of(session, metrics, archived, job.unwanted)
    if overview is None:
        raise Cancelled("cancelled")
    return overview
