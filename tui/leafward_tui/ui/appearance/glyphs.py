"""The signs of the interface, one terminal cell each, in Unicode and in ASCII.

Only signs that common monospaced fonts carry and that no terminal turns into an emoji; each stands beside a word or
repeats another cue, so that a fallback font or the ASCII set loses no information.
"""

# ruff: noqa: I002  As texts, the annotations of so many fields would be compiled one by one before the first frame.

from collections.abc import Mapping
from typing import NamedTuple

from leafward.base.terminal_signs import needs_ascii


class Glyphs(NamedTuple):
    """One set of signs. Every field is one cell wide, except `gap` and the tuple `levels`."""

    # Nodes: the kind of a row. Filled lies on the path, hollow off it.
    prompt: str = "●"
    prompt_off: str = "○"
    leaf: str = "◎"
    compaction: str = "◆"
    branch_summary: str = "◇"
    error: str = "×"
    edited: str = "≠"
    """A context edit."""
    malformed: str = "!"
    """A damaged line, an extra root, and the sign in front of every warning."""
    run: str = "║"
    """A folded run of turns, on its rail."""
    folded: str = "▸"
    """Closed, can be opened: a run, a branch, a file of the inspector."""
    unfolded: str = "▾"
    pointer: str = "◂"
    """Points back at the row it stands in."""

    # Rails.
    rail: str = "┃"
    """The active path."""
    rail_off: str = "│"
    rail_left: str = "┆"
    """The rail a proposed move leaves."""
    rail_hidden: str = "┊"
    """Rows hidden by a filter."""

    # Junctions: where a branch leaves the rail. First the rail's sign, then the arm that reaches the node.
    branch: str = "┠"
    """From the active rail, which goes on."""
    branch_off: str = "├"
    """From a rail off the path, which goes on."""
    branch_last: str = "└"
    """From a rail off the path that ends here."""
    branch_taken: str = "┡"
    """The active path turns into the branch; what goes on below is being left."""
    branch_taken_last: str = "┗"
    """The active path turns into the branch; nothing goes on below."""
    arm: str = "─"
    arm_taken: str = "━"

    # The gutter.
    cursor: str = "▌"
    entered: str = "+"
    left: str = "−"
    """Leaves the path in a proposed move."""

    # Verdicts on a message of a context.
    kept: str = "═"
    injected: str = "+"
    cut: str = "−"
    differs: str = "≠"
    same: str = "="
    ok: str = "✓"
    bracket_top: str = "╮"
    bracket_side: str = "│"
    bracket_out: str = "├"
    bracket_bottom: str = "╯"

    # Bars.
    levels: tuple[str, ...] = (" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█")
    """Nine heights of one cell, from empty to full."""
    block: str = "█"
    """Amount that is there."""
    block_again: str = "▓"
    """Amount that is sent at full price, or stands for something else."""
    block_unseen: str = "▒"
    """Amount that the file does not hold."""
    block_free: str = "░"
    block_after: str = "┃"
    """Messages since a compaction."""
    block_system: str = "╬"
    block_injected: str = "▚"
    block_error: str = "╱"
    """Amount by which a provider counts more than the estimates."""
    thin: str = "━"
    """Reached part of a proportion."""
    thin_rest: str = "╍"
    """Missing part of a proportion."""
    tick: str = "┃"
    """A threshold inside a bar."""

    # The strip: the path as an axis, its branches below.
    axis: str = "━"
    axis_left: str = "╍"
    axis_branch: str = "┯"
    """A branch hangs below the axis here."""
    axis_taken: str = "┱"
    """The proposed path leaves the axis here."""
    drop: str = "╰"
    drop_taken: str = "┗"

    # Sliders.
    track: str = "─"
    track_done: str = "━"
    knob: str = "■"
    stop: str = "┼"
    """A legal value on the track still to go."""
    stop_done: str = "┿"
    """A legal value on the track already passed."""

    # Hairlines, and the heavy part that says where the focus is.
    hairline: str = "─"
    heavy: str = "━"
    divider: str = "│"
    divider_held: str = "┃"
    """A line between panes that the mouse can move, under the mouse."""
    join_up: str = "┴"
    join_down: str = "┬"
    join_cross: str = "┼"
    join_left: str = "┤"
    corners: tuple[str, str, str, str] = ("┌", "┐", "└", "┘")
    """Top left, top right, bottom left, bottom right of a modal's frame."""
    dashes: str = "╌"
    """A line that stands for something left out."""
    cut_line: str = "╍"

    # Forks nested in a list.
    nest: str = "├"
    nest_last: str = "└"
    nest_arm: str = "─"
    nest_inferred: str = "╌"
    """The arm of a copy that no file declares as one."""
    nest_side: str = "│"

    # Text.
    ellipsis: str = "…"
    gap: str = "…"
    """Stands for the folders left out of a path; three cells in ASCII, where `~` would read as the home folder."""
    arrow: str = "→"
    crumb: str = "›"
    minus: str = "−"
    dash: str = "–"
    zero: str = "·"
    own: str = "■"
    """An operation by Leafward."""
    own_undone: str = "□"
    recent: str = "*"
    """Written to a moment ago."""
    caret: str = "▌"
    """Where streamed text arrives."""
    quote_open: str = "“"
    quote_close: str = "”"

    def column(self, value: float, maximum: float, rows: int) -> tuple[str, ...]:
        """A bar of `value` out of `maximum`, `rows` cells high, top cell first.

        A value above zero shows at least the lowest level, and only a value of `maximum` or more fills the top.
        """
        steps = len(self.levels) - 1
        if value <= 0 or maximum <= 0 or rows <= 0:
            return (self.levels[0],) * max(rows, 0)
        filled = min(rows * steps, max(1, int(value * rows * steps / maximum)))
        return tuple(self.levels[min(steps, max(0, filled - row * steps))] for row in reversed(range(rows)))


UNICODE = Glyphs()

ASCII = Glyphs(
    prompt="*",
    prompt_off="o",
    leaf="@",
    compaction="#",
    branch_summary="%",
    error="x",
    edited="!",
    malformed="!",
    run="=",
    folded=">",
    unfolded="v",
    pointer="<",
    rail="|",
    rail_off=":",
    rail_left=":",
    rail_hidden=":",
    branch="+",
    branch_off="+",
    branch_last="`",
    branch_taken="+",
    branch_taken_last="`",
    arm="-",
    arm_taken="=",
    cursor=">",
    entered="+",
    left="-",
    kept="=",
    injected="+",
    cut="-",
    differs="!",
    same="=",
    ok="+",
    bracket_top=".",
    bracket_side="|",
    bracket_out="+",
    bracket_bottom="'",
    levels=(" ", "_", "_", ".", ".", "-", "-", "=", "="),
    block="#",
    block_again="%",
    block_unseen="+",
    block_free=".",
    block_after="=",
    block_system="|",
    block_injected="&",
    block_error="/",
    thin="=",
    thin_rest="-",
    tick="|",
    axis="=",
    axis_left="-",
    axis_branch="+",
    axis_taken="+",
    drop="`",
    drop_taken="`",
    track="-",
    track_done="=",
    own="#",
    own_undone="-",
    recent="^",
    knob="O",
    stop="|",
    stop_done="|",
    hairline="-",
    heavy="=",
    divider="|",
    divider_held="#",
    join_up="+",
    join_down="+",
    join_cross="+",
    join_left="+",
    corners=("+", "+", "+", "+"),
    dashes="-",
    cut_line="-",
    nest="|",
    nest_last="`",
    nest_arm="-",
    nest_inferred="~",
    nest_side="|",
    ellipsis="~",
    gap="...",
    arrow=">",
    crumb=">",
    minus="-",
    dash="-",
    zero=".",
    caret="_",
    quote_open='"',
    quote_close='"',
)


def choose_glyphs(env: Mapping[str, str], encoding: str | None, *, force_ascii: bool | None = None) -> Glyphs:
    """The set to draw with; `force_ascii` is the user's configuration, None where it leaves the choice open."""
    ascii_only = needs_ascii(env, encoding) if force_ascii is None else force_ascii
    return ASCII if ascii_only else UNICODE
