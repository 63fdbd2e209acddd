"""What the explorer is made of: its widgets, its state, and what its actions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward_tui.explorer.model.graph import Density
from leafward_tui.explorer.widgets.gauge import Gauge
from leafward_tui.explorer.widgets.graph_view import GraphView
from leafward_tui.explorer.widgets.peek import Peek
from leafward_tui.explorer.widgets.strip import StripView
from leafward_tui.inspector import Inspector
from leafward_tui.ui.cells import counted
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.price_line import KeyHint, PriceLine
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.tree_head import TreeHead

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.price import Price
    from leafward.session.prefetch import Ahead
    from leafward.session.session import Session
    from leafward_tui.explorer.model.branch_summary import Summing
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.ghost import Ghost
    from leafward_tui.explorer.model.overview import Overview
    from leafward_tui.ui.open_target import OpenTarget


PANES = ("Tree", "Entry", "Context", "Compaction", "Files", "Raw")
"""Panes of a narrow screen, as its tabs name them."""


class ExplorerParts(BaseScreen[None]):
    """Composition and state of the explorer."""

    NAME: ClassVar[str] = "explorer"

    DEFAULT_CSS = """
    ExplorerParts {
        #panes { height: 1fr; width: 1fr; }
        #tree { width: 55%; height: 1fr; }
        #graph { width: 1fr; height: 1fr; }
        #inspector { width: 1fr; height: 1fr; }
        #overview { height: 2; width: 1fr; }
        #strip { width: 1fr; height: 1fr; }
        #gauge { width: 37; height: 1fr; }
        #price { height: 1; width: 1fr; }

        &.-tall #price, &.-high #price { height: 2; }
        &.-high #overview { height: 4; }

        Peek, #peek-rule { display: none; }
        &.-one-pane {
            Peek, #peek-rule { display: block; }
            #price-rule { display: none; }
            &.-inspecting Peek, &.-inspecting #peek-rule { display: none; }
            #tree { width: 1fr; }
            #inspector { display: none; }
            ColumnRule { display: none; }
            #overview { height: 1; }
            &.-inspecting #graph { display: none; }
            &.-inspecting #tree { height: 2; }
            &.-inspecting #panes { layout: vertical; }
            &.-inspecting #inspector { display: block; }
        }
    }
    """

    def __init__(
        self,
        path: Path,
        agent: str | None = None,
        ahead: Ahead | None = None,
        arrival: OpenTarget | None = None,
    ) -> None:
        super().__init__()
        self.arrival = arrival
        """Where the cursor goes first; None once it is there."""
        self.path = path
        self.agent = agent
        self.ahead = ahead
        """The scan of this session that began before there was a screen."""
        self.exploration: Exploration | None = None
        self.tallies: EntryMetrics | None = None
        self.lacks_prompt = False
        """Whether the session does not hold the prompt that its agent sends."""
        self.lost: dict[int, int] = {}
        """How many facts compactions lost, by entry; filled while nothing else is done."""
        self.notes: dict[int, str] = {}
        """What is known of rows besides their headlines, by first entry."""
        self.generation = 0
        """The run that results must belong to; counted up when the session is read anew."""
        self.density = Density.TURNS
        self.following = True
        self.writing = False
        """Whether a write is under way; there is never more than one."""
        self.summing: Summing | None = None
        """The summary under way; everything that writes waits for it."""
        self.searched = ""
        self.hits: list[int] = []
        """Rows that the search found, ascending."""
        self.price: Price | None = None
        self.overview: Overview | None = None
        """The path turn by turn; None until it is measured."""
        self.note_kept = False
        """Whether the next move of the cursor, made by a write, leaves the note standing."""
        self.trouble = ""
        """Why there is no session to show."""

    def compose_content(self) -> ComposeResult:
        """Tree and inspector side by side, then strip and gauge, then the price line."""
        self.head = TreeHead()
        self.graph = GraphView(id="graph")
        self.column_rule = ColumnRule()
        self.inspector = Inspector(id="inspector")
        self.peek_rule = RowRule(id="peek-rule")
        self.peek = Peek()
        self.strip_rule = RowRule()
        self.strip = StripView(id="strip")
        self.gauge = Gauge(id="gauge")
        self.price_rule = RowRule(id="price-rule")
        self.price_line = PriceLine(id="price")
        with Horizontal(id="panes"):
            with Vertical(id="tree"):
                yield self.head
                yield self.graph
            yield self.column_rule
            yield self.inspector
        yield self.peek_rule
        yield self.peek
        yield self.strip_rule
        with Horizontal(id="overview"):
            yield self.strip
            yield self.gauge
        yield self.price_rule
        yield self.price_line

    @property
    def session(self) -> Session | None:
        """The session on show; None before it is read."""
        return self.exploration.session if self.exploration is not None else None

    @property
    def ghost(self) -> Ghost | None:
        """The proposed move."""
        return self.graph.state.ghost

    @property
    def bare(self) -> bool:
        """Whether the session has nothing to show as a row."""
        return self.exploration is not None and not len(self.exploration.lines)

    def show_lines(self, row: int) -> None:
        """Shows the exploration's lines with the cursor on a row."""
        raise NotImplementedError

    def relay(self, *, density: Density | None = None) -> None:
        """Lays the rows out anew, with the cursor on the same entry."""
        raise NotImplementedError

    def show_head(self) -> None:
        """Tabs and headings over the tree."""
        raise NotImplementedError

    def arrange_panes(self) -> None:
        """Fits panes, rules and heads to the size of the screen."""
        raise NotImplementedError

    def settle(self) -> None:
        """Lets pane, ghost and price follow the cursor once it rests."""
        raise NotImplementedError

    def key_hints(self, *wanted: tuple[str, str]) -> tuple[KeyHint, ...]:
        """Keys of intents with what they do now, as the user's keymap has them; those without a key are left out."""
        label = self.shell.keymap.label
        return tuple(
            KeyHint(intent_id, label(intent_id), words) for intent_id, words in wanted if label(intent_id)
        )

    def refuse_while_writing(self) -> bool:
        """Whether a change is being written, for which another waits; says so."""
        if self.writing:
            self.tell("still writing the change before", "warn")
        return self.writing

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = (), beneath: str = "") -> None:
        """Says something in the place of the price line, with keys that help.

        Where the text is empty that is nothing, unless there is no tree to price a move in: then why not.
        """
        if not text and self.trouble:
            text, tone = self.trouble, "bad"
        elif not text and self.bare:
            text, tone = "nothing was said in this session yet", "faint"
            entries = len(self.session) if self.session is not None else 0
            if entries and self.density is Density.TURNS:
                keys = self.key_hints(("density.next", f"shows its {counted(entries, 'entry', 'entries')}"))
        self.price_line.note(text or None, tone, keys, beneath)
