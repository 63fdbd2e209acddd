"""The goals of an earlier summary: those that the work is still for, and those that were only requests at that time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.facts.sentences.questions import asks
from leafward.summaries.summarizers.extractive.candidates import ASKED_BEFORE
from leafward.summaries.summarizers.extractive.requests.answered_requests import OWN_COMMAND
from leafward.summaries.summarizers.extractive.turns import SUBSTANTIAL
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.turns import Turn

_SEVERAL = 3
"""The number of goals from which they are a list of successive requests."""
_WENT_ON = 2
"""Later requests with work after which earlier goals no longer describe the work."""
_DONE = re.compile(
    r"(?i)[(\[](?:already )?(?:done|fixed|completed?|finished|implemented|merged|resolved)(?: (?:already|before|earlier))?[)\]]|^\W{0,4}(?:✅|✓|☑)|(?:✅|✓)\W*$"
)
"""The mark of a goal that was reached."""
_CURRENT = re.compile(
    r"(?i)\b(?:main |most )?(?:current|recent|latest|ongoing|active) (?:request|task|goal|focus|work|question|issue|problem|bug)\b|[(\[](?:in progress|current|ongoing|wip)[)\]]"
    r"|^\W*(?:final|last) (?:request|question)\b"
)
"""The mark of the current goal."""
_NEWEST = re.compile(r"(?i)^\W*(?:(?:the )?user['’]s )?(?:the )?(?:most recent(?:ly)?|latest|last|final)\b")
"""The mark of the newest goal, at the beginning: only one can be that."""
_MARKED = re.compile(
    r"(?i)^\W*(?:(?:main|most|current|recent|latest|ongoing|active|final|last) ){1,3}(?:request|task|goal|focus|work|question|issue|problem|bug)\W*:[\s*]*"
)
"""Such a mark, or that of the current goal, with its colon."""
_BRACKETED = re.compile(
    r"(?i)\s*[(\[](?:in progress|current|ongoing|wip|current (?:request|task|goal|focus|work|question|issue|problem|bug))[)\]]"
)
"""Such a mark in brackets."""
_AFTERWARDS = re.compile(
    r"(?i)^\W*(?:after|once|when) .{1,120}?\b(?:user|they) (?:\w+ )?(?:asked|requested|wanted|gave|reported|said)\b"
)
"""A goal that was asked for when those before it were reached."""
_GOES_ON = re.compile(
    r"(?i)^\W*(?:continu|resum|keep |go(?:ing)? on |work(?:ing)? on |weiter|fortsetz|poursui)"
)
"""A goal that all other requests belong to."""
_POINTING = frozenset(
    content_words(
        "continue continuing resume proceed going carry pick keep work working task job session conversation discussion request "
        "described mentioned outlined discussed above previous previously earlier before left off last point instructions "
        "weiter weitermachen fortfahren fortsetzen arbeit aufgabe oben beschrieben vorher bisherige "
        "continuer poursuivre reprendre travail tâche décrit le la au au-dessus ci-dessus dessus plus haut précédent continuar seguir trabajo tarea descrito arriba anterior"
    )
)
"""Words that only refer to text before the summary."""
_POINTS = re.compile(
    r"^(?:继续|接着|请继续)(?:上面|上述|之前|前面|刚才)?(?:描述)?的?(?:工作|任务|对话|讨论)?。?$"
)

_LISTED = late(r"(?i)\ball user messages:?[* ]*\n")
"""The head of the list of the user's messages in a summary of Claude Code."""
_ITEM = late(r"[ \t]*[-*•] |[ \t]+[^\s*•-]")
"""The beginning of a line of that list."""
_BEHIND = late(r"\s*$|#|\d{1,2}\.|<")
"""The beginning of the line behind it."""
_MESSAGE = late(r"[ \t]*[-*•] [\"“]([^\n]{3,600}?)[\"”]?(?: \([^\n]{1,120}\))?[ \t]*")
"""An item of it that quotes one."""
_NO_REQUEST = late(
    r"(?i)[ \t]*[-*•] [\"“]?(?:\[?request interrupted\b|your task is to create a detailed summary\b|[\[(](?!image\b)[^\n]{0,80}\b(?:summar\w+|output|continuation)\b)"
)
"""An item that asks for nothing: what Claude Code wrote itself, and a remark about a message."""


def last_listed(summary: str) -> str:
    """The last request in the list of the user's messages that a summary of Claude Code has; empty where it cannot be told."""
    head = _LISTED.search(summary)
    lines = summary[head.end() :].split("\n") if head is not None else []
    end = next((place for place, line in enumerate(lines) if _ITEM.match(line) is None), len(lines))
    if end < len(lines) and _BEHIND.match(lines[end]) is None:
        return ""
    for item in reversed(lines[:end]):
        quoted = _MESSAGE.fullmatch(item)
        text = quoted[1].replace("\\n", "\n") if quoted is not None else ""
        if _NO_REQUEST.match(item) or OWN_COMMAND.match(text) or (text and not divided(text)[0].strip()):
            continue
        return quoted[1] if quoted is not None else ""
    return ""


def points_back(goal: str) -> bool:
    """Whether a goal only says to go on with earlier text, which nobody sees any more."""
    words = content_words(goal)
    return bool(words) and (_POINTING.issuperset(words) or _POINTS.match(goal) is not None)


def is_newest(goal: str) -> bool:
    """Whether a goal is marked as the newest one."""
    return _NEWEST.match(goal) is not None


def without_mark(goal: str) -> str:
    """A goal without the words before it, or the mark, that call it the current or the newest one."""
    return _BRACKETED.sub("", _MARKED.sub("", goal))


def sorted_out(
    goals: Sequence[str], turns: Sequence[Turn], *, answered: bool, over: bool = False, in_turn: bool = False
) -> dict[str, tuple[SummarySection, str]]:
    """For each goal of an earlier summary its new section, and the words before it; goals that only point back are left out.

    A goal with the mark of a reached one is done. `over` says that the work on all of them was answered with nothing left. `in_turn` says that the goals are all requests of a session, one after the
    other: then the work is for the last one, unless an introduction makes them parts of one request. The others become earlier requests where the user went on to other work,
    or `answered` (the work of then was answered) and something else was asked since: nothing tells whether they were
    reached. Until then those stay that a list marks as current, or all of them.
    """
    goals = [goal for goal in goals if not points_back(goal)]
    left = [goal for goal in goals if not _DONE.search(goal)]
    current = [goal for goal in left if _CURRENT.search(goal)]
    not_newest = set([goal for goal in current if _NEWEST.search(goal)][:-1])
    current = [goal for goal in current if goal not in not_newest]
    later = [goal for goal in left if _AFTERWARDS.match(goal)] if in_turn else []
    if later and not current:
        current = left[left.index(later[-1]) :]
    elif not current and in_turn and not any(goal.endswith((":", "：")) for goal in goals):
        current = [goal for goal in left[:-1] if _GOES_ON.search(goal)] + left[-1:]
    lasting = set(current if current and len(goals) >= _SEVERAL else left)
    if over or (answered and any(turn.tells for turn in turns)):
        lasting = set()
    if any(turn.tells and turn.works for turn in turns):
        # Who goes on to other work has the answer to a question.
        lasting -= {goal for goal in left if asks(goal)}
    if sum(turn.works and turn.words >= SUBSTANTIAL for turn in turns) >= _WENT_ON:
        lasting = set()
    found: dict[str, tuple[SummarySection, str]] = {}
    for goal in goals:
        if _DONE.search(goal):
            found[goal] = SummarySection.DONE, ""
        elif goal in lasting:
            found[goal] = SummarySection.GOAL, ""
        else:
            found[goal] = SummarySection.CONTEXT, ASKED_BEFORE * (not goal.startswith(ASKED_BEFORE))
    return found
