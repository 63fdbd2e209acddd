"""Answers that a run belies: they say that all works, and the last check of the same files failed."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.checks import Check, check_of
from leafward.session.entries import text_of, tool_calls
from leafward.summaries.facts.calls.call_arguments import changes_text, command_of
from leafward.summaries.facts.calls.declined_calls import DECLINED
from leafward.summaries.facts.calls.outcomes import looks
from leafward.summaries.facts.calls.printed_errors import UNTOLD, outcome_of
from leafward.summaries.facts.sentences import prose
from leafward.summaries.summarizers.extractive.answers.sentence_sections import tells_runs
from leafward.summaries.summarizers.extractive.state.failure_replies import is_dismissed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_ALL_WELL = late(
    r"(?i)\b(?:all|everything|both)(?: \w+){0,3} (?:fixed|resolved|works?|working|green)\b|\b(?:fully|now) (?:work(?:s|ing)|functional)\b"
    r"|\bworks? (?:correctly|perfectly|as expected|end[- ]to[- ]end)\b|^\W*(?:all )?(?:fixed|resolved)\b|\b(?:is|are) (?:now )?(?:all )?(?:fixed|resolved)\b"
)
"""Words by which an answer says that nothing is wrong any more."""
_EVERYTHING = late(r"(?i)\b(?:all|everything|both|fully|end[- ]to[- ]end)\b")
_ADMITS = late(
    r"(?i)\b(?:fail\w*|errors?|broken|red|flaky|pre-?existing|unrelated|except|apart from|but|still|not yet)\b"
)
"""A sign that the answer itself tells of what failed."""


class _Run(NamedTuple):
    """A check that ended."""

    place: int
    """Where its result is."""
    check: Check
    failed: bool


_place_of = attrgetter("place")


def mark_belied(turns: Sequence[Turn], messages: Sequence[SpanMessage]) -> None:
    """Marks the answers that say that all works, where a check of the same files failed last; `messages` may go on behind the turns."""
    claims = [turn for turn in turns if turn.answer and not turn.doubted and _claims(turn.answer)]
    if not claims:
        return
    runs, works = _runs(messages)
    for turn in claims:
        next_work = bisect_right(works, turn.last)
        begun = max(works[next_work - 1] if next_work else -1, turn.first)
        end = works[next_work] if next_work < len(works) else len(messages)
        start, answered, stop = (
            bisect_right(runs, place, key=_place_of) for place in (begun, turn.last, end)
        )
        before, after = runs[start:answered], runs[answered:stop]
        # What only one thing is said of says nothing of a check that was asked for later.
        decisive = after if after and _claims(turn.answer, widely=True) else before
        last = {run.check: run for run in decisive}
        turn.belied = turn.doubted = any(
            run.failed and _speaks_of(turn.answer, run.check) and not is_dismissed(messages, run.place)
            for run in last.values()
        )


def claims_success(sentence: str) -> bool:
    """Whether a sentence says that runs pass, or that all is well."""
    return tells_runs(sentence) or _ALL_WELL.search(sentence) is not None


def _claims(answer: str, *, widely: bool = False) -> bool:
    """Whether an answer says that runs pass or that all is well, and of nothing that it failed; `widely` that it says so of everything."""
    if _ADMITS.search(answer) is not None:
        return False
    return any(
        claims_success(one) and (not widely or tells_runs(one) or _EVERYTHING.search(one) is not None)
        for one in prose.sentences(answer)
    )


def _speaks_of(answer: str, check: Check) -> bool:
    """Whether a claim covers a check: a linter says nothing of whether it works."""
    return check is Check.TEST or (
        check is not Check.LINT and any(map(_ALL_WELL.search, prose.sentences(answer)))
    )


def _runs(messages: Sequence[SpanMessage]) -> tuple[list[_Run], list[int]]:
    """The checks of some messages, and the positions of calls that may have changed something."""
    commands: dict[str, str] = {}
    runs: list[_Run] = []
    works: list[int] = []
    for place, (_, message) in enumerate(messages):
        if message.get("role") == "assistant":
            for call in tool_calls(message):
                command = command_of(call.arguments)
                if command and check_of(command) is not None:
                    commands[call.id] = command
                elif changes_text(call.arguments) or not looks(call.arguments):
                    works.append(place)
        elif message.get("role") == "toolResult":
            command = commands.pop(str(message.get("toolCallId")), "")
            if not command or (check := check_of(command)) is None:
                continue
            printed, failed = text_of(message.get("content")), bool(message.get("isError"))
            outcome = outcome_of(printed, failed, command, message.get("exitCode"))
            if outcome not in ("", UNTOLD, DECLINED):
                runs.append(
                    _Run(
                        place,
                        check,
                        outcome == "failed" or (outcome.startswith("exit ") and outcome != "exit 0"),
                    )
                )
    return runs, works
