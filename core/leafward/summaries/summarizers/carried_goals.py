"""The goals of an earlier summary: which of them the work is for still, and which were only asked then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.summaries.facts.prose import content_words
from leafward.summaries.summarizers.outline import Section
from leafward.summaries.summarizers.turns import SUBSTANTIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.turns import Turn

_SEVERAL = 3
"""Goals from which on they are a list of what was asked one after the other."""
_WENT_ON = 2
"""Requests that led to work since, after which a list of earlier ones is not what the work is for."""
_DONE = re.compile(
    r"(?i)[(\[](?:already )?(?:done|fixed|completed?|finished|implemented|merged|resolved)[)\]]|^\W{0,4}(?:✅|✓|☑)|(?:✅|✓)\W*$"
)
"""What a goal is marked with that was reached."""
_CURRENT = re.compile(
    r"(?i)\b(?:main |most )?(?:current|recent|latest|ongoing|active) (?:request|task|goal|focus|work|question|issue|problem|bug)\b|[(\[](?:in progress|current|ongoing|wip)[)\]]"
    r"|^\W*(?:final|last) (?:request|question)\b"
)
"""What the one is marked with that is worked on."""
_ANSWERED = re.compile(r" \(answered(?:; asked first: .{1,200})?\)$")
"""What we put behind a goal that stood there for an aside."""
ASKED_BEFORE = "Asked before: "
_POINTING = frozenset(
    content_words(
        "continue continuing resume proceed going carry pick keep work working task job session conversation discussion request "
        "described mentioned outlined discussed above previous previously earlier before left off last point instructions "
        "weiter weitermachen fortfahren fortsetzen arbeit aufgabe oben beschrieben vorher bisherige "
        "continuer poursuivre reprendre travail tâche décrit le la au au-dessus ci-dessus dessus plus haut précédent continuar seguir trabajo tarea descrito arriba anterior"
    )
)
"""Words that only point at what stood before the summary."""
_POINTS = re.compile(
    r"^(?:继续|接着|请继续)(?:上面|上述|之前|前面|刚才)?(?:描述)?的?(?:工作|任务|对话|讨论)?。?$"
)


def points_back(goal: str) -> bool:
    """Whether a goal says no more than to go on with what stood before it, which nobody sees any more."""
    words = content_words(goal)
    return bool(words) and (_POINTING.issuperset(words) or _POINTS.match(goal) is not None)


def sorted_out(
    goals: Sequence[str], turns: Sequence[Turn], *, answered: bool
) -> dict[str, tuple[Section, str]]:
    """For each goal of an earlier summary where it belongs now, and the words before it; one that only points back is in none.

    A goal that is marked as reached is done. Of a list of several that says which one is worked on, and of one behind which
    the user went on to other work, the others were asked before: whether they were reached is not told by it. `answered`: so
    was what was worked on then; where the user asked for something else since, even that was asked before.
    """
    goals = [goal for goal in goals if not points_back(goal)]
    left = [goal for goal in goals if not _DONE.search(goal)]
    current = [goal for goal in left if _CURRENT.search(goal)]
    worked = sum(turn.works and turn.words >= SUBSTANTIAL for turn in turns)
    lasting = set(left)
    over = answered and any(turn.tells for turn in turns)
    if len(goals) >= _SEVERAL and (current or worked >= _WENT_ON):
        lasting = set(current) if worked < _WENT_ON and not over else set()
    elif over:
        lasting -= set(current)
    if any(turn.tells for turn in turns):
        lasting -= {goal for goal in left if _ANSWERED.search(goal)}
    found: dict[str, tuple[Section, str]] = {}
    for goal in goals:
        if _DONE.search(goal):
            found[goal] = Section.DONE, ""
        else:
            found[goal] = (Section.GOAL, "") if goal in lasting else (Section.CONTEXT, ASKED_BEFORE)
    return found
