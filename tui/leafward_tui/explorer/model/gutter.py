"""The gutter of a row: cursor, verdict, rails, junction and node, as signs with the ink each is drawn in. Pure.

The gutter shows the proposed move where there is one: added rows are filled and heavy, dropped ones hollow and dashed,
so that fill, weight and the verdict's sign tell the state before hue repeats it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import PROMPTS, Damage, Kind
from leafward_tui.explorer.model.folds import LineKind, ShownLine
from leafward_tui.explorer.model.ghost import Ghost, PathMembership, standing
from leafward_tui.explorer.model.row_columns import LANE_WIDTH

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.ui.appearance.glyphs import Glyphs

_RAIL_INK = {
    PathMembership.ON: "leaf",
    PathMembership.OFF: "faint",
    PathMembership.ENTERED: "ghost",
    PathMembership.LEFT: "faint",
}
_NODE_INK = {
    PathMembership.ON: "leaf",
    PathMembership.OFF: "sub",
    PathMembership.ENTERED: "ghost",
    PathMembership.LEFT: "sub",
}

Sign = tuple[str, str]
"""A sign of one cell and the name of its ink."""


class Gutter(NamedTuple):
    """The signs left of a row's text, beside the cursor."""

    verdict: Sign
    lanes: tuple[Sign, ...]
    """Two cells a lane."""
    standing: PathMembership


class GutterMaker:
    """Makes the gutters of a layout's lines for one proposed move, or for none."""

    def __init__(
        self, session: Session, layout: Layout, glyphs: Glyphs, ghost: Ghost | None, lanes: int
    ) -> None:
        self.session = session
        self.layout = layout
        self.glyphs = glyphs
        self.ghost = ghost
        self.lanes = lanes
        """Lanes there is room for; deeper ones are packed into the first."""
        self._passing: dict[int, PathMembership | None] = {}

    def standing_of(self, entry: int) -> PathMembership:
        """The standing of an entry to the path."""
        now = self.layout.on_path(entry)
        return standing(now, now if self.ghost is None else self.ghost.on_path(self.layout.tree, entry))

    def make(self, line: ShownLine) -> Gutter:
        """The gutter of a line."""
        glyphs, layout = self.glyphs, self.layout
        row = line.row
        branch = layout.branch_of(row)
        entry = layout.head[row]
        stands = self.standing_of(entry)
        signs = self._rails(branch)
        if line.kind in (LineKind.HIDDEN, LineKind.ARCHIVED):
            signs += [(glyphs.rail_hidden, "faint"), (" ", "faint")]
            # Hidden rows are counted beside it: another number there would be taken for a part of that count.
            return Gutter((" ", "faint"), self._packed(signs, numbered=False), stands)
        value = layout.branches[branch]
        node = self._node(line, entry, stands)
        if row == value.first_row and value.above >= 0:
            self._join(signs, branch, stands)
            if node[0] == self._rail(stands):
                # An arm that ends at a rail would look like a crossing.
                node = (glyphs.corners[1], node[1])
        signs += [node, (" ", "faint")]
        return Gutter(self._verdict(stands), self._packed(signs), stands)

    def below(self, line: ShownLine, stands: PathMembership) -> tuple[Sign, ...]:
        """The lanes left of a row's second line: rails only."""
        layout = self.layout
        branch = layout.branch_of(line.row)
        signs = self._rails(branch)
        following = line.row + line.rows
        goes_on = following < layout.branch_rows[branch]
        signs += [(self._rail(stands) if goes_on else " ", _RAIL_INK[stands]), (" ", "faint")]
        return self._packed(signs)

    def _verdict(self, stands: PathMembership) -> Sign:
        if stands is PathMembership.ENTERED:
            return self.glyphs.entered, "ghost"
        if stands is PathMembership.LEFT:
            return self.glyphs.left, "warn"
        return " ", "faint"

    def _rails(self, branch: int) -> list[Sign]:
        """The rails of the lanes left of a branch, outermost first."""
        signs: list[Sign] = []
        while (above := self.layout.branches[branch].above) >= 0:
            passing = self._beside(branch)
            sign = " " if passing is None else self._rail(passing)
            signs[:0] = [(sign, _RAIL_INK[passing or PathMembership.OFF]), (" ", "faint")]
            branch = above
        return signs

    def _rail(self, stands: PathMembership) -> str:
        if stands in (PathMembership.ON, PathMembership.ENTERED):
            return self.glyphs.rail
        return self.glyphs.rail_left if stands is PathMembership.LEFT else self.glyphs.rail_off

    def _beside(self, branch: int) -> PathMembership | None:
        """The standing of the rail beside a branch; None where the branch it leaves ends with it."""
        if branch not in self._passing:
            layout = self.layout
            above = layout.branches[branch].above
            row = layout.branch_rows[branch]
            passing: PathMembership | None = None
            if (own := layout.own_row_from(above, row)) >= 0:
                passing = self.standing_of(layout.head[own])
            elif row < layout.branch_rows[above]:
                # The branch above does not go on, but another branch still leaves it further down.
                passing = PathMembership.OFF
            self._passing[branch] = passing
        return self._passing[branch]

    def _join(self, signs: list[Sign], branch: int, stands: PathMembership) -> None:
        """Draws the junction of a branch's first row over the rail it leaves."""
        glyphs = self.glyphs
        passing = self._beside(branch)
        on = passing in (PathMembership.ON, PathMembership.ENTERED)
        ink = _RAIL_INK[passing] if passing is not None else "faint"
        if stands is PathMembership.ENTERED:
            taken = glyphs.branch_taken if passing is not None else glyphs.branch_taken_last
            signs[-2:] = [(taken, "ghost"), (glyphs.arm_taken, "ghost")]
            return
        if passing is None:
            joint = glyphs.branch_last
        else:
            joint = glyphs.branch if on else glyphs.branch_off
        signs[-2:] = [(joint, ink), (glyphs.arm, "faint" if stands is not PathMembership.ON else "leaf")]

    def _node(self, line: ShownLine, entry: int, stands: PathMembership) -> Sign:
        glyphs, layout = self.glyphs, self.layout
        filled = stands in (PathMembership.ON, PathMembership.ENTERED)
        kind = layout.tree.kind[entry]
        if line.kind is LineKind.FOLDED_RUN:
            return glyphs.run, _NODE_INK[stands]
        if line.kind is LineKind.FOLDED_BRANCH:
            return glyphs.folded, _NODE_INK[stands]
        columns = self.session.columns
        orphan = columns.damage.get(entry) is Damage.ORPHAN and not columns.is_midway(entry)
        if orphan or kind in (Kind.MALFORMED, Kind.HEADER):
            return glyphs.malformed, "bad"
        if kind == Kind.CONTEXT_EDIT:
            return glyphs.edited, "warn"
        if kind == Kind.COMPACTION:
            return glyphs.compaction, "memory"
        if kind == Kind.BRANCH_SUMMARY:
            return glyphs.branch_summary, "memory"
        entries = layout.entries_of(line.row)
        if any(layout.leaf in span for span in entries):
            return glyphs.leaf, "leaf"
        if kind in PROMPTS or (self.ghost is not None and any(self.ghost.target in span for span in entries)):
            return (glyphs.prompt if filled else glyphs.prompt_off), _NODE_INK[stands]
        return self._rail(stands), _RAIL_INK[stands]

    def _packed(self, signs: list[Sign], *, numbered: bool = True) -> tuple[Sign, ...]:
        """The signs in the available lanes; the outermost ones share one column, `n│` or `…│`."""
        room = self.lanes * LANE_WIDTH
        over = len(signs) - room
        if over > 0:
            hidden = over // LANE_WIDTH + 1
            rail = signs[over][0] if signs[over][0].strip() else self.glyphs.rail_off
            packed = str(hidden) if numbered and hidden < 10 else self.glyphs.ellipsis
            return ((packed, "faint"), (rail, signs[over][1]), *signs[over + LANE_WIDTH :])
        return (*signs, *((" ", "faint"),) * -over)
