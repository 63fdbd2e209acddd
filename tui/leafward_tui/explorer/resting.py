"""What follows the cursor once it rests: the inspector, the ghost of a move, its price, strip and gauge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.ghost import Ghost
from leafward_tui.explorer.model.graph import Density
from leafward_tui.explorer.results import Failed, Glanced, Measured, Priced, Surveyed
from leafward_tui.explorer.summarising import Summarising
from leafward_tui.explorer.widgets.gauge import Load
from leafward_tui.ui.cells import count
from leafward_tui.ui.page import Gauge as Measure
from leafward_tui.ui.page import Selection, SelectionKind
from leafward_tui.ui.price_line import Facts, Quote

if TYPE_CHECKING:
    from textual.timer import Timer

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.model_context import ContextSize
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.folds import Line

PRICE_AFTER = 0.12
"""Seconds more before a price is worked out: in a large session that takes the interpreter from the keys."""

SETTLE = 0.06
"""Seconds the cursor rests before anything follows it."""


class Resting(Summarising):
    """The parts of the screen that follow the cursor, never on the key path."""

    _settling: Timer | None = None
    _pricing: Timer | None = None

    def settle(self) -> None:
        """Lets pane, ghost and price follow the cursor once it rests; what is still worked out for elsewhere is not wanted."""
        for group in ("price", "glance"):
            self.workers.cancel_group(self, group)
        for waiting in (self._settling, self._pricing):
            if waiting is not None:
                waiting.stop()
        self.workers.cancel_group(self, "price")
        self._settling = self.set_timer(SETTLE, self.follow_cursor)

    def follow_cursor(self) -> None:
        """Shows what belongs to the line of the cursor."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or not self.is_attached:
            return
        selection = self._selection(exploration, line)
        self.inspector.show(selection)
        session = exploration.session
        if not self.two_panes:
            self._glance(self.generation, selection)
        if line.kind is LineKind.HIDDEN:
            self.forget_move()
            return
        target = exploration.target(line)
        if target == session.place:
            self.forget_move()
            return
        # On the path the tree stays as it is: only a move to another branch would change what is straight.
        off_path = not exploration.layout.on_path(target)
        self.graph.set_ghost(Ghost.of(exploration.layout, target) if off_path else None)
        self.show_detour(target)
        tree = session.tree
        shared = tree.content_upto(tree.joins(exploration.layout.path_stop, target))
        left, entered = (tree.content_upto(end) - shared for end in (session.place, target))
        self.price = None
        self.price_line.show(Quote(left, entered))
        self.show_hints()
        self._pricing = self.set_timer(PRICE_AFTER, lambda: self.ask_price(target))

    def ask_price(self, target: int) -> None:
        """Works the price of a move out, if the cursor still rests where it was proposed."""
        session, tallies, line = self.session, self.tallies, self.graph.line
        if session is None or tallies is None or line is None or self.exploration is None:
            return
        if self.exploration.target(line) == target:
            self._price(self.generation, session, tallies, target)

    @work(thread=True, exclusive=True, group="glance", exit_on_error=False)
    def _glance(self, run: int, selection: Selection) -> None:
        from leafward_tui.explorer.work import glance_at

        glance = glance_at(selection.session, selection.entries, selection.head)
        if not get_current_worker().is_cancelled:
            self.post_message(Glanced(run, glance))

    def on_glanced(self, message: Glanced) -> None:
        """Shows what the turn came to under the tree."""
        if message.run == self.generation:
            self.peek.show(message.glance)

    def forget_move(self) -> None:
        """No move is proposed."""
        self.workers.cancel_group(self, "price")
        self.graph.set_ghost(None)
        self.price = None
        self.strip.set_ghost(None)
        self.price_line.show(self._facts())
        self.show_hints()
        self.gauge.set_ghost(moving=False)

    def _facts(self) -> Facts | None:
        """What the price line says where no move is proposed."""
        exploration, tallies, row = self.exploration, self.tallies, self.graph.row
        if exploration is None or tallies is None or row < 0:
            return None
        tally = tallies.sum(exploration.layout.entries_of(row))
        zero = self.shell.glyphs.zero
        pairs = [
            ("entries", f"{tally.entries:,}"),
            ("calls", count(tally.calls, zero=zero)),
            ("edits", count(tally.edits, zero=zero)),
            ("tokens", count(tally.tokens, zero=zero)),
        ]
        if tally.added or tally.removed:
            pairs.append(("lines", f"+{tally.added} {self.shell.glyphs.minus}{tally.removed}"))
        if tally.failed:
            pairs.append(("failed", str(tally.failed)))
        return Facts("At the leaf", tuple(pairs))

    def show_detour(self, target: int) -> None:
        """Shows a proposed move in the strip, and in the gauge that one is coming."""
        self.strip.set_ghost(self.overview.detour(target) if self.overview is not None else None)
        self.gauge.set_ghost(moving=True)

    def _selection(self, exploration: Exploration, line: Line) -> Selection:
        layout = exploration.layout
        spans = layout.entries_between(line.row, line.rows) if line.rows > 1 else layout.entries_of(line.row)
        head = layout.head[line.row]
        kind = SelectionKind.ENTRY if layout.density is Density.ENTRIES else SelectionKind.TURN
        if line.kind is not LineKind.ROW:
            kind = SelectionKind.FOLD
            if line.kind in (LineKind.FOLDED_BRANCH, LineKind.ARCHIVED):
                # What a move to it would enter: the branch down to its tip, without those that leave from it.
                tree = exploration.session.tree
                way = tree.below(tree.parent[head], exploration.target(line))
                spans = [range(run.start, run.stop) for run in way]
        return Selection(
            exploration.session,
            tuple(spans),
            head,
            kind,
            exploration.turn_of(head),
            layout.on_path(head),
        )

    # --- the price ----------------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="price", exit_on_error=False)
    def _price(self, run: int, session: Session, tallies: EntryMetrics, target: int) -> None:
        from leafward.context.price import price_of_move

        worker = get_current_worker()
        try:
            stop = self.shell.keys_first.stop(worker)
            price = price_of_move(session, target, tallies=tallies, stop=stop)
        except (LeafwardError, OSError) as error:
            if not worker.is_cancelled:
                self.post_message(Failed(run, f"no price: {error}"))
            return
        if not worker.is_cancelled:
            self.post_message(Priced(run, target, price))

    def on_priced(self, message: Priced) -> None:
        """Shows the price of the move that is proposed."""
        exploration, line = self.exploration, self.graph.line
        if (
            message.run != self.generation
            or exploration is None
            or line is None
            or line.kind is LineKind.HIDDEN
        ):
            return
        if exploration.target(line) != message.target:
            return
        self.price = message.price
        self.price_line.show(Quote.of(message.price))
        self.show_hints()
        price = message.price
        self.gauge.set_ghost(
            moving=True, moved=self._gauged(price.after, price.sent_again, price.entered.tokens)
        )

    # --- strip and gauge ----------------------------------------------------------------------------------------------

    def survey(self) -> None:
        """Measures the context at the leaf, and at every turn of the path."""
        exploration, tallies = self.exploration, self.tallies
        if exploration is not None and tallies is not None:
            self._survey(self.generation, exploration, tallies)

    @work(thread=True, exclusive=True, group="survey", exit_on_error=False)
    def _survey(self, run: int, exploration: Exploration, tallies: EntryMetrics) -> None:
        from leafward.context.model_context import context_at, context_window, lacks_prompt
        from leafward_tui.explorer.model.overview import Overview

        worker = get_current_worker()
        session = exploration.session
        try:
            context = context_at(session)
            window = context_window(session, context, self.shell.config).tokens
            self.post_message(Measured(run, context.size, window, lacks_prompt(session, context)))
            overview = Overview.of(
                session, tallies, exploration.findings.archived, self.shell.keys_first.stop(worker)
            )
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, f"cannot measure the context: {error}"))
            return
        if overview is not None and not worker.is_cancelled:
            self.post_message(Surveyed(run, overview))

    def on_measured(self, message: Measured) -> None:
        """Shows the context at the leaf in the gauge."""
        if message.run == self.generation:
            config = self.shell.config
            window = message.window
            self.lacks_prompt = message.lacks_prompt
            self.gauge.show(self._gauged(message.size), window, window - config.reserve)
            self.inspector.show_gauge(Measure(window, config.reserve))

    def _gauged(self, size: ContextSize, again: int = 0, entered: int = 0) -> Load:
        """A context for the gauge. What a reply reported counts the agent's prompt, an estimate does not."""
        return Load(size.total, again, entered, self.lacks_prompt and not size.from_usage)

    def on_surveyed(self, message: Surveyed) -> None:
        """Shows the path in the strip."""
        if message.run == self.generation:
            if self.overview is None:
                self.shell.keep_for_long()
            self.overview = message.overview
            self.strip.show(message.overview)
            self.settle()
