"""The merge of two summaries: the conflicts with both sides of each, the choices, and the merged summary."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.branches.transfer.summary_merge import MergeChoice
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import Sheet, SheetKey, SheetLine, hairline
from leafward_tui.ui.text.cells import fit, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.branches.transfer.summary_merge import Conflict, MergeDraft
    from leafward_tui.ui.appearance.glyphs import Glyphs

_LONGEST = 2_000
"""Characters read of one side of a conflict."""
_MOST = 4
"""The most lines for one side of a conflict."""
_WIDTH = 70
"""Cells of a sheet on a narrow screen, inside its frame."""
_AHEAD = 24
"""Characters before the first difference that stay."""
_NAMES = {MergeChoice.A: "A", MergeChoice.B: "B", MergeChoice.BOTH: "both", MergeChoice.BASE: "as before"}


def conflict_lines(
    conflicts: Sequence[Conflict], choices: Mapping[int, MergeChoice], width: int, glyphs: Glyphs
) -> Block:
    """Each conflict with its section and its choice, and below it the text of each side."""
    lines: list[SpanLine] = []
    for one in conflicts:
        chosen = choices.get(one.number)
        sign, ink = (glyphs.ok, "leaf") if chosen is not None else (glyphs.malformed, "warn")
        choice = _NAMES[chosen] if chosen is not None else "to decide"
        title = fit(safe_line(one.section, 200), max(4, width - 20), ellipsis=glyphs.ellipsis)
        lines.append(
            SpanLine(
                (Span(f"{sign} ", ink), Span(title, "strong"), Span(f"   {choice}", ink)),
                f"conflict:{one.number}",
            )
        )
        a, b, before = from_difference((one.a, one.b, one.base), max(4, width - 9) * _MOST, glyphs.ellipsis)
        for name, text, side in (
            ("A", a, MergeChoice.A),
            ("B", b, MergeChoice.B),
            ("before", before, MergeChoice.BASE),
        ):
            if name == "before" and not text:
                continue
            taken = chosen is side or (chosen is MergeChoice.BOTH and side is not MergeChoice.BASE)
            lead = Span(f"  {fit(name, 7, pad=True)}", f"strong_{HUES[name]}" if name in HUES else "faint")
            words = wrap(
                safe_line(text, _LONGEST) or "not in it",
                max(4, width - 9),
                lines=_MOST,
                ellipsis=glyphs.ellipsis,
            )
            for part in words:
                lines.append(SpanLine((lead, Span(part, "text" if taken else "sub"))))
                lead = blanks(9)
    return Block(lines)


def from_difference(sides: tuple[str, str, str], room: int, ellipsis: str) -> tuple[str, str, str]:
    """A, B and the text before them; where A and B begin alike for more than `room` characters, cut before the difference."""
    a, b, before = (safe_line(text, _LONGEST) for text in sides)
    differ = (at for at, (one, two) in enumerate(zip(a, b, strict=False)) if one != two)
    alike = next(differ, min(len(a), len(b)))
    if alike <= room or not (a and b):
        return a, b, before
    start = a.find(" ", alike - _AHEAD, alike) + 1 or alike
    same = before.startswith(a[:start])
    return (
        f"{ellipsis}{a[start:]}",
        f"{ellipsis}{b[start:]}",
        f"{ellipsis}{before[start:]}" if same else before,
    )


def preview_lines(draft: MergeDraft, choices: Mapping[int, MergeChoice], width: int, glyphs: Glyphs) -> Block:
    """The merged summary; an open conflict shows both sides."""
    try:
        text = draft.text(choices, MergeChoice.BOTH)
    except Refused as error:
        return Block([SpanLine((Span(fit(safe_line(str(error)), width, ellipsis=glyphs.ellipsis), "warn"),))])
    found = []
    for line in safe(text).split("\n"):
        ink = "strong_memory" if line.startswith("#") else "sub"
        found += [
            SpanLine((Span(part, ink),)) for part in wrap(line, width, ellipsis=glyphs.ellipsis) or [""]
        ]
    for one in draft.lost(text):
        line = f"{glyphs.malformed} drops: {safe_line(one.text.strip(), 500)}"
        found.append(SpanLine((Span(fit(line, width, ellipsis=glyphs.ellipsis), "warn"),)))
    return Block(found)


class MergeSheet(Sheet):
    """The decision of a merge's conflicts. Ends with the text to be stored, or with None."""

    NAME: ClassVar[str] = "merge"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("merge")]

    DEFAULT_CSS = """
    MergeSheet {
        #conflicts { height: 12; }
        #preview { height: 10; }
    }
    """

    def __init__(self, draft: MergeDraft) -> None:
        open_ones = counted(len(draft.conflicts), "conflict")
        about = [
            SheetLine(
                "A and B both add to the summary before them; where they word a line differently, you choose"
            )
        ]
        super().__init__("Merge the summaries of A and B", about, note=open_ones)
        self.draft = draft
        self.choices: dict[int, MergeChoice] = {}
        self.warned = False
        """Whether the warning about dropped lines was shown."""
        self.early = False
        """Whether the last key asked to append before all conflicts were decided."""
        self.conflicts = LinesView(id="conflicts", raised=True)
        self.preview = LinesView(id="preview", cursor=False, raised=True)
        own: dict[str, Callable[[], object]] = {
            "conflict.a": partial(self._decide, MergeChoice.A),
            "conflict.b": partial(self._decide, MergeChoice.B),
            "conflict.both": partial(self._decide, MergeChoice.BOTH),
            "conflict.base": partial(self._decide, MergeChoice.BASE),
            "merge.accept": self.commit,
            "mode.leave": self.action_leave,
            "app.back": self.action_leave,
        }
        moved = self.conflicts if draft.conflicts else self.preview
        self.routes = Routes(RowSteps(moved.move_by, lambda: self.conflicts.size.height), Actions(own))

    def compose_body(self) -> ComposeResult:
        """The conflicts, over the merged summary."""
        yield self.conflicts
        yield hairline(self)
        yield self.preview

    def mounted(self) -> None:
        """Gives the keys to the conflicts."""
        self.resized()
        self.conflicts.focus()
        self.draw()

    def resized(self) -> None:
        """Divides the room between conflicts and preview."""
        room = max(6, self.app.size.height - 12)
        rows = len(conflict_lines(self.draft.conflicts, {}, _WIDTH, services_of(self).glyphs))
        self.conflicts.styles.height = max(1, min(room // 2, rows))
        self.preview.styles.height = max(3, room - max(1, min(room // 2, rows)) - 1)

    def draw(self) -> None:
        """Shows the choices."""
        glyphs = services_of(self).glyphs
        self.conflicts.show(
            lambda width, _rows: conflict_lines(self.draft.conflicts, self.choices, width, glyphs)
        )
        self.preview.show(lambda width, _rows: preview_lines(self.draft, self.choices, width, glyphs))
        self.foot.refresh()

    @property
    def left(self) -> int:
        """Conflicts that are not decided."""
        return len(self.draft.conflicts) - len(self.choices)

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The keys that commit, cancel and decide."""
        decide = (
            ("conflict.a", "take A"),
            ("conflict.b", "take B"),
            ("conflict.both", "both"),
            ("conflict.base", "as before"),
        )
        always = ("merge.accept", "append"), ("mode.leave", "cancel")
        return self.intent_keys(*always, *(decide if self.draft.conflicts else ()))

    def operation(self) -> str:
        """The write in words, or what is missing for it."""
        if self.warned:
            return "lines would be dropped, see the end of the text; accept again to append it anyway"
        if self.left:
            return f"{'decide this one first: ' if self.early else ''}{self.left:,} left to decide"
        return "append 1 branch summary below the leaf"

    def _decide(self, side: MergeChoice) -> None:
        kind, _, number = self.conflicts.key.partition(":")
        if kind != "conflict":
            return
        self.choices[int(number)] = side
        self.warned = self.early = False
        self.draw()
        self._go_to_open(int(number))

    def _go_to_open(self, after: int = -1) -> None:
        """Puts the cursor on the next conflict that is not decided, from the first one again behind the last."""
        following = [one.number for one in self.draft.conflicts if one.number not in self.choices]
        if following:
            ahead = [one for one in following if one > after]
            self.conflicts.go(f"conflict:{(ahead or following)[0]}")

    def commit(self) -> None:
        """Ends with the merged summary."""
        if self.left:
            self.early = True
            self._go_to_open()
            self.foot.refresh()
            self.app.bell()
            return
        try:
            text = self.draft.text(self.choices)
        except Refused:
            # The preview says why.
            return
        if self.draft.lost(text) and not self.warned:
            self.warned = True
            self.foot.refresh()
            self.app.bell()
            return
        self.dismiss(text)
