"""The exam of the draft on show, graded when its page is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.compaction.exam import PLACE_WORDS, Topic
from leafward_tui.ui.cells import counted, fit, percent, wrap
from leafward_tui.ui.pane_lines import Block, LabLine, Span, blanks, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.draft import Draft
    from leafward.compaction.exam import Exam, Graded
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job, Jobs

__all__ = ["DraftGrader", "exam_lines"]


class DraftGrader:
    """Owns `state.exam`."""

    def __init__(self, state: LabState, view: LabPort, jobs: Jobs) -> None:
        self._state = state
        self._view = view
        self._jobs = jobs

    def grade(self, draft: Draft, then: Callable[[], object]) -> None:
        """Grades a draft where that was not done; `then` is called when it is."""
        found = self._state.exam
        if found.draft is draft:
            return
        found.draft, found.result = draft, None
        self._jobs.latest(
            "exam",
            partial(graded, draft),
            partial(self._take, draft, then),
            lambda text: self._view.tell(text, "bad"),
        )

    def _take(self, draft: Draft, then: Callable[[], object], result: Exam) -> None:
        found = self._state.exam
        if found.draft is draft:
            found.result = result
            then()


def graded(draft: Draft, job: Job) -> Exam:
    """The exam of a draft: what a model would still know after it. Raises Cancelled where it is not wanted any more."""
    from leafward.compaction.exam import exam_of_draft

    return exam_of_draft(draft, job.unwanted)


_TOPIC = 11


def exam_lines(found: Exam, width: int, glyphs: Glyphs) -> Block:
    """An exam in lines. enter on a question goes to what proves its answer."""
    answered, total = found.count()
    if not total:
        return Block(
            LabLine((Span(text, ink),))
            for text, ink in (
                ("nothing to ask", "nothing"),
                ("no file, test, rule or step with a wrong answer beside it", "faint"),
            )
        )
    share = found.share() or 0.0
    head = [Span(f"{answered} of {counted(total, 'question')}", "strong"), Span(" can be answered", "sub")]
    lines = [spread(head, [Span(percent(share, 1), "strong")], width)]
    for topic in Topic:
        right, all_of_it = found.count(topic)
        if all_of_it:
            row = [Span(f"{topic.value:<{_TOPIC}}", "faint"), Span(f"{right} of {all_of_it}", "sub")]
            lines.append(LabLine(tuple(row)))
    for number, one in enumerate(found.graded):
        lines.append(LabLine())
        lines += _question(number, one, width, glyphs)
    return Block(lines)


def _question(number: int, one: Graded, width: int, glyphs: Glyphs) -> list[LabLine]:
    sign, ink = (glyphs.ok, "leaf") if one.answered else (glyphs.error, "bad")
    entry = int(one.question.entry)
    place = f"#{entry:,}"
    words = wrap(one.question.text, width - 4 - len(place), ellipsis=glyphs.ellipsis)
    head = [Span(f"{sign} ", ink), Span(words[0], "strong")]
    lines = [spread(head, [Span(place, "faint")], width, f"question:{number}", entry)]
    lines += [LabLine((blanks(2), Span(part, "strong"))) for part in words[1:]]
    for order, answer in enumerate(one.question.answers):
        right = order == one.question.right
        text = fit(safe_line(answer.text, 300), width - 4, ellipsis=glyphs.ellipsis)
        lead = Span(f"  {glyphs.arrow} " if right else "    ", "text" if right else "faint")
        lines.append(LabLine((lead, Span(text, "text" if right else "faint"))))
    lines.append(LabLine((blanks(4), Span(PLACE_WORDS[one.place], "faint"))))
    return lines
