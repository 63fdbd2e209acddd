"""The user's answers to questions that the agent asked through a tool, each with the question that it answers.

Claude Code (2.1, `AskUserQuestion`) and opencode (1.1 on, `question`) print `"question"="answer"`, Codex (`request_user_input`) an
object of answers by the ids of the questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of
from leafward.session.lines.line_decoding import decode_line
from leafward.summaries.facts.sentences import questions
from leafward.summaries.summarizers.extractive.candidates import ANSWERED_BY_USER, add
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.session.entries import Body, ToolCall
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.survival.spans import SpanMessage

_QUESTION, _ANSWER = 150, 140
"""Characters of a question and of its answer that are quoted."""
_WORTH = 1.6
"""The worth of such a line at the end of the span: what the user chose holds until he says otherwise."""
_END = late(r"\"(?:, \"|\. |,? (?:selected|user) |\s*$)")
"""The end of an answer in the text of Claude Code or opencode."""
_NONE = frozenset({"", "unanswered"})
"""Answers of nobody."""


def answered(evidence: Evidence, messages: Sequence[SpanMessage]) -> None:
    """Adds what the user answered to each question; of one that was asked again, the last answer."""
    asked = {
        call.id: call
        for calls in evidence.calls.values()
        for call in calls
        if isinstance(call.arguments.get("questions"), list)
    }
    if not asked:
        return
    said: dict[str, tuple[str, int]] = {}
    for place, (_, message) in enumerate(messages):
        call = asked.get(str(message.get("toolCallId")))
        if call is not None and message.get("role") == "toolResult" and not message.get("isError"):
            said |= {question: (answer, place) for question, answer in _answers(call, message)}
    for question, (answer, place) in said.items():
        if questions.asks(answer):
            # It hands the choice back.
            continue
        text = f"{cut(answer, _ANSWER)} (asked: {cut(question, _QUESTION)})"
        entry = messages[place].entry
        worth = _WORTH * (0.4 + 0.6 * (place + 1) / len(messages))
        add(
            evidence, SummarySection.DECISIONS, text, (entry,), worth, limit=LINE_LIMIT, lead=ANSWERED_BY_USER
        )


def _answers(call: ToolCall, result: Body) -> Iterator[tuple[str, str]]:
    """The questions of a call that its result answers, each with the answer on one line."""
    text = text_of(result.get("content"))
    given = decode_line(text.encode("utf-8", "surrogatepass")) if text.startswith("{") else None
    by_id = given.get("answers") if given is not None else None
    for one in call.arguments["questions"]:
        question = one.get("question") if isinstance(one, dict) else None
        if not isinstance(question, str):
            continue
        answer = _by_id(by_id, str(one.get("id"))) if isinstance(by_id, dict) else _printed(text, question)
        if answer.casefold() not in _NONE:
            yield " ".join(question.split()), answer


def _by_id(answers: Mapping[str, object], question: str) -> str:
    """The answers to a question of Codex, joined."""
    given = answers.get(question)
    listed = given.get("answers") if isinstance(given, dict) else given
    return ", ".join(str(one) for one in listed) if isinstance(listed, list) else ""


def _printed(text: str, question: str) -> str:
    """The answer behind a question in a text."""
    _, found, rest = text.partition(f'"{question}"="')
    end = _END.search(rest) if found else None
    return " ".join(rest[: end.start()].split()) if end is not None else ""
