"""The exam of a draft in lines: questions with their answers, and the answers of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.compaction.exam.grade import PLACE_WORDS
from leafward.compaction.exam.questions import Topic
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.sheets.exam_request import answer_lines, given_lines
from leafward_tui.ui.text.cells import fit, money, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.exam.grade import Exam, Graded
    from leafward.compaction.exam.sitting import KeptExam
    from leafward_tui.ui.appearance.glyphs import Glyphs

SIT = "sit"
"""The key of the line that has a model answer."""
_TOPIC = 11
_ANSWERABLE = (" can be answered", " answerable")
"""Words after the count of questions, as there is room."""


def exam_lines(found: Exam, answers: Sequence[KeptExam], width: int, glyphs: Glyphs) -> Block:
    """An exam in lines, with the models' answers.

    enter on a question goes to the entry that proves its answer, on the last line it has a model answer.
    """
    answered, total = found.count()
    if not total:
        why = wrap("no question with a right and a wrong answer", width, ellipsis=glyphs.ellipsis)
        return Block(
            SpanLine((Span(text, ink),))
            for text, ink in (("nothing to ask", "nothing"), *((line, "faint") for line in why))
        )
    share, asked = percent(found.share() or 0.0, 1), f"{answered} of {counted(total, 'question')}"
    room = width - cell_len(asked) - cell_len(share) - 1
    words = next((text for text in _ANSWERABLE if cell_len(text) <= room), "")
    lines = [spread([Span(asked, "strong"), Span(words, "sub")], [Span(share, "strong")], width)]
    for topic in Topic:
        right, all_of_it = found.count(topic)
        if all_of_it:
            row = [Span(f"{topic.value:<{_TOPIC}}", "faint"), Span(f"{right} of {all_of_it}", "sub")]
            lines.append(SpanLine(tuple(row)))
    for number, one in enumerate(found.graded):
        lines.append(SpanLine())
        given = [(sat.model, chosen[number]) for sat in answers if (chosen := sat.answers_to(found))]
        lines += _question(number, one, given, width, glyphs)
    lines.append(SpanLine())
    for sat in answers:
        model = fit(safe_line(sat.model, 60), width - 20, ellipsis=glyphs.ellipsis)
        result = [Span(model, "sub"), Span(f"  {sat.right} of {sat.asked} right", "text")]
        lines.append(spread(result, [Span(money(sat.cost) if sat.cost else "", "faint")], width))
    ask = [Span(f"{glyphs.folded} ", "faint"), Span("have a model answer them", "text")]
    return Block([*lines, spread(ask, [], width, SIT)])


def _question(
    number: int, one: Graded, given: Sequence[tuple[str, int | None]], width: int, glyphs: Glyphs
) -> list[SpanLine]:
    """A question with its possible answers, and each model's answer by the model's name."""
    sign, ink = (glyphs.ok, "leaf") if one.answered else (glyphs.error, "bad")
    entry = int(one.question.entry)
    place = f"#{entry:,}"
    words = wrap(one.question.text, width - 4 - len(place), ellipsis=glyphs.ellipsis)
    head = [Span(f"{sign} ", ink), Span(words[0], "strong")]
    lines = [spread(head, [Span(place, "faint")], width, f"question:{number}", entry)]
    lines += [SpanLine((blanks(2), Span(part, "strong"))) for part in words[1:]]
    for order, text in enumerate(answer_lines(one.question, width - 4, glyphs)):
        right = order == one.question.right
        lead = Span(f"  {glyphs.arrow} " if right else "    ", "text" if right else "faint")
        lines.append(SpanLine((lead, Span(text, "text" if right else "faint"))))
    lines.append(SpanLine((blanks(4), Span(PLACE_WORDS[one.place], "faint"))))
    for model, chosen in given:
        right, (name, *answer) = given_lines(one.question, model, chosen, width - 6, glyphs)
        sign, ink = (glyphs.ok, "leaf") if right else (glyphs.error, "bad")
        lines.append(SpanLine((blanks(4), Span(f"{sign} ", ink), Span(name, "sub"))))
        lines += [SpanLine((blanks(6), Span(part, "sub"))) for part in answer]
    return lines
