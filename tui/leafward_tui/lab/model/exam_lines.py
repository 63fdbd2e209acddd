"""The page of the exam: what share can be answered, by topic, and the questions with their right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.compaction.exam import PLACE_WORDS, Topic
from leafward_tui.ui.cells import counted, fit, money, percent, wrap
from leafward_tui.ui.pane_lines import Block, LabLine, Span, blanks, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.exam import Exam, Graded
    from leafward.compaction.exam.sitting import KeptExam
    from leafward_tui.ui.glyphs import Glyphs

__all__ = ["SIT", "exam_lines"]

SIT = "sit"
"""The key of the line that has a model answer."""
_TOPIC = 11


def exam_lines(found: Exam, answers: Sequence[KeptExam], width: int, glyphs: Glyphs) -> Block:
    """An exam in lines, with what models answered. enter on a question goes to what proves its answer, on the last line asks one."""
    answered, asked = found.count()
    if not asked:
        return Block(
            LabLine((Span(text, ink),))
            for text, ink in (
                ("nothing to ask", "nothing"),
                ("no file, test, rule or step with a wrong answer beside it", "faint"),
            )
        )
    share = found.share() or 0.0
    head = [Span(f"{answered} of {counted(asked, 'question')}", "strong"), Span(" can be answered", "sub")]
    lines = [spread(head, [Span(percent(share, 1), "strong")], width)]
    for topic in Topic:
        right, all_of_it = found.count(topic)
        if all_of_it:
            row = [Span(f"{topic.value:<{_TOPIC}}", "faint"), Span(f"{right} of {all_of_it}", "sub")]
            lines.append(LabLine(tuple(row)))
    for number, one in enumerate(found.graded):
        lines.append(LabLine())
        lines += _question(number, one, width, glyphs)
    lines.append(LabLine())
    for sat in answers:
        model = fit(safe_line(sat.model, 60), width - 20, ellipsis=glyphs.ellipsis)
        told = [Span(model, "sub"), Span(f"  {sat.right} of {sat.asked} right", "text")]
        lines.append(spread(told, [Span(money(sat.cost) if sat.cost else "", "faint")], width))
    ask = [Span(f"{glyphs.folded} ", "faint"), Span("have a model answer them", "text")]
    return Block([*lines, spread(ask, [], width, SIT)])


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
