"""The contents of the file under the cursor: rebuilt beside the screen, laid out, with remarks on both sides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.safe_text import safe_line
from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.file_sets import Flag
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.content import Show, arranged_content
from leafward_tui.compare.model.content_lines import ContentLines, content_head, sentence
from leafward_tui.compare.state import Page
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.panes.pane_lines import Block, SpanLine
from leafward_tui.ui.text.cells import fit
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.branches.diff.contents import ContentDifference
    from leafward.branches.diff.file_sets import FileDifference
    from leafward_tui.compare.model.content import ContentRequest, Shown
    from leafward_tui.ui.jobs import Job

_REST = 0.03
"""Seconds the cursor rests on a file before its contents are rebuilt."""
_ABOVE = 3
"""Lines shown above a change."""
_KEPT = 64
"""Layouts that are kept."""
_TOLD = (Flag.EDITED_IN_BOTH, Flag.READ_IN_A, Flag.READ_IN_B)
"""Flags that the numbers beside the path show as well."""


class Content(CompareController):
    """Owns `state.content`."""

    def __init__(self, means: CompareMeans) -> None:
        super().__init__(means)
        self._resting = Delay(means.view.set_timer)
        self._asked: ContentRequest | None = None
        """The request of the last job."""
        means.view.sentence.show(self._sentence)
        self.drawn: Callable[[], object] = lambda: None
        """Called when the contents were drawn again."""
        self.actions = {"ancestor.show": self.show_ancestor}

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  there is one
        """Whether there are contents on the present tab."""
        return self._state.page in (Page.FILES, Page.CONTENTS)

    # --- which file, and how ------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Forgets all contents, because other sides are read."""
        self._jobs.cancel("content")
        content = self._state.content
        content.shown = None
        content.contents, content.differences, content.laid = {}, {}, {}

    def rest(self) -> None:
        """Shows the contents of the cursor's file once it rests, at once where they are known."""
        self._resting.stop()
        request = self._state.wanted()
        if request is None or request in self._state.content.laid:
            self.show()
        else:
            self._resting.start(_REST, self.show)

    def show(self) -> None:
        """Shows the file under the cursor, or has it laid out."""
        state, content = self._state, self._state.content
        request, file, seen = state.wanted(), state.files.file, state.read.overall
        if request is None or file is None:
            content.shown = None
            self.draw()
        elif request in content.laid:
            content.shown = content.laid[request]
            self.draw()
        elif seen is not None and not (request == self._asked and self._jobs.running("content")):
            self._asked = request
            contents = content.contents.get(request.based)
            if contents is None:
                contents = content.contents[request.based] = SideContents(
                    seen.sides, state.closed.is_set, state.bases()
                )
            known = content.differences.get((file.path, request.based))
            content.rebuilt += known is None
            self._jobs.latest(
                "content",
                partial(laid_out, request, file, known, contents),
                partial(self._laid, request),
                self._failed,
            )

    def _failed(self, text: str) -> None:
        """Shows why there are no contents, and none of another file."""
        self._state.content.shown = None
        self.draw()
        self._view.tell(text, "bad")

    def _laid(self, request: ContentRequest, shown: Shown) -> None:
        """Keeps a layout, and shows it where the cursor still is."""
        content = self._state.content
        if len(content.laid) >= _KEPT:
            content.laid.clear()
        content.laid[request] = shown
        content.differences[request.path, request.based] = shown.difference
        if request == self._state.wanted():
            content.shown = shown
            self.draw()

    def show_ancestor(self) -> None:
        """Shows the ancestor in place of A, then all three, then A and B again."""
        if self._state.page in (Page.FILES, Page.CONTENTS):
            order, content = list(Show), self._state.content
            content.show = order[(order.index(content.show) + 1) % len(order)]
            self.show()

    def turn_fold(self) -> None:
        """Switches the folding of lines that are the same; the caller draws them."""
        self._state.content.fold = not self._state.content.fold

    def fold(self) -> None:
        """Folds lines that are the same, or shows them."""
        self.turn_fold()
        self.open({})

    def open(self, opened: dict[str, frozenset[int]]) -> None:
        """Opens just these blocks of same lines, by file."""
        self._state.content.opened = opened
        self.show()

    def open_blocks(self, blocks: frozenset[int]) -> None:
        """Opens more blocks of the file."""
        file, opened = self._state.files.file, self._state.content.opened
        if file is not None:
            self.open({**opened, file.path: opened.get(file.path, frozenset()) | blocks})

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def lines(self) -> ContentLines | None:
        """The lines on show; None where there are only words about them."""
        lines = self._view.diff.lines
        return lines if isinstance(lines, ContentLines) else None

    def draw(self) -> None:
        """Draws the diff, its head and its sentence. Where the file was drawn before, the cursor and the rows around it stay."""
        content, view, seen = self._state.content, self._view, self._state.read.overall
        view.note = ("", "")
        ancestor = seen.sides.ancestor_side if seen is not None else ""
        shown, before, at, above = content.shown, self.lines, view.diff.cursor, view.diff.rows_above
        spot = None
        if before is not None and shown is not None and at >= 0:
            same = before.laid.difference.path == shown.difference.path
            spot = before.spot(at) if same and max(before.spot(at)) >= 0 else None

        def lines(width: int, _rows: int) -> ContentLines | Block:
            if shown is None:
                return Block([SpanLine((Span(self._nothing(), "nothing"),))])
            return ContentLines(shown, width, self._services.glyphs, ancestor)

        view.diff.show(lines, at="line:0")
        view.diff_head.show(self._head)
        view.sentence.show(self._sentence)
        after = self.lines
        if spot is not None and after is not None:
            view.diff.bring(after.nearest(spot), above)
            view.sentence.refresh()
        else:
            self.to_change(0)
        view.show_hints()
        self.drawn()

    def _nothing(self) -> str:
        read = self._state.read
        if read.trouble:
            return read.trouble
        if read.overall is None:
            return "reading both sides"
        if not len(read.overall.sets):
            return "no file was read or changed on either side"
        return (
            ""
            if self._state.files.file is not None
            else "neither side changed a file since the common ancestor"
        )

    def _head(self, width: int) -> Sequence[SpanLine]:
        """Path, bases of the contents, numbers of lines."""
        file = self._state.files.file
        if file is None:
            return ()
        return (content_head(file.path, self._state.content.shown, width, self._services.glyphs),)

    def _sentence(self, width: int) -> Sequence[SpanLine]:
        """The number of the change, and remarks on both sides; or the effect of the last key."""
        ellipsis, content, file = self._services.glyphs.ellipsis, self._state.content, self._state.files.file
        note, ink = self._view.note
        if note:
            return (SpanLine((Span(fit(note, width, ellipsis=ellipsis), ink),)),)
        if content.shown is None or self.lines is None:
            return ()
        flags = [flag.words for flag in file.flags if flag not in _TOLD] if file is not None else []
        fates = file.fates if file is not None else ()
        return (sentence(self.lines, max(0, self._view.diff.cursor), width, ellipsis, [*fates, *flags]),)

    # --- the cursor ---------------------------------------------------------------------------------------------------

    def to_change(self, place: int) -> None:
        """Brings a change on the screen; `place` counts from 0."""
        if self.lines is None:
            return
        changes, diff = self.lines.changes(), self._view.diff
        if 0 <= place < len(changes):
            diff.bring(changes[place], _ABOVE)
        self._view.sentence.refresh()

    def change(self, step: int) -> None:
        """Goes to the next change or the one before."""
        if self.lines is None:
            return
        changes, here = self.lines.changes(), max(0, self._view.diff.cursor)
        ahead = [at for at, line in enumerate(changes) if (line > here if step > 0 else line < here)]
        if ahead:
            self.to_change(ahead[0] if step > 0 else ahead[-1])
        elif changes:
            self._view.tell("no other change " + ("below" if step > 0 else "above"))

    @property
    def fold_here(self) -> int:
        """The block of same lines that is folded under the cursor; -1 for none."""
        return self.lines.block(self._view.diff.cursor) if self.lines is not None else -1

    def whole_line(self) -> tuple[str, Sequence[tuple[str, str]]]:
        """The path of the cursor's file, safe, and the line of each side that has it."""
        file, at = self._state.files.file, self._view.diff.cursor
        if file is None or self.lines is None or at < 0:
            return "", ()
        return safe_line(file.path, 200), self.lines.whole(at)


def laid_out(
    request: ContentRequest,
    file: FileDifference,
    known: ContentDifference | None,
    contents: SideContents,
    job: Job,
) -> Shown:
    """The layout of a file, rebuilt first unless its contents are known. Raises Cancelled, LeafwardError, OSError."""
    difference = contents.of(file) if known is None else known
    if job.unwanted():
        raise Cancelled
    return arranged_content(difference, request.show, request.opened, fold=request.fold, based=request.based)
