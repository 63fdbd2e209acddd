"""How often the questions of an exam are answered from their form alone: `python -m tests.bench.exam_form`; needs the corpora.

Guessers see a question and its answers, and nothing of the session: they take the longest answer, the first, the one with the
commonest words, the only test or document and so on. The best of them for each topic is compared with what the best of as many
would be by chance, where any answer is the right one.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.errors import NotASession
from leafward.catalogue.lookup import sighted
from leafward.compaction.exam.questions import Topic, questions
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import SpanMessage
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.compaction.exam.questions import Question
    from leafward.session.session import Session

_CUTS = 8
"""Places of a session at which it is asked."""
_LEAST_MESSAGES = 6
_DRAWN = 2000
"""Draws of right answers by chance."""
_TYPICAL = {
    Topic.CHANGED_LAST: r"(?i)test|spec|\.md$|changelog",
    Topic.TEST_COMMAND: r"(?i)test|spec|check",
    Topic.CHECK: r"(?i)test|spec|check",
    Topic.TEST_RESULT: r"\b0 fail|^(?!.*fail)",
    Topic.LIMIT: r"(?i)\b(?:never|must|always|only|do not|don.t|at most|should)\b",
    Topic.GIVEN_UP: r"(?i)\b(?:not|no|remove|revert|against|drop)\b",
    Topic.REQUEST: r"(?i)\b(?:commit|push|thanks|now|finally|also)\b",
    Topic.REPORT: r"(?i)\b(?:commit|push|all|final|now|done|complete)\w*\b",
    Topic.FAILURE: r"(?i)test|build|error",
    Topic.COMMIT: r"(?i)\b(?:fix|docs?|chore|style|refactor|release)\b",
    Topic.DEFINITION: r"(?i)util|helper|lib|service",
    Topic.NEXT_STEP: r"(?i)^(?:run|verify|test|update|add|check|commit|push|document|review)",
}
"""What the right answer of a topic looks like to somebody who knows such sessions."""


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in re.findall(r"[A-Za-z_]{2,}", text))


def _measures(question: Question) -> dict[str, Callable[[str], float]]:
    """Measures of an answer's form; a guesser takes the first answer with the greatest or the least."""
    shared = Counter(word for one in question.answers for word in set(_words(one.text)))
    asked = set(_words(question.text))
    return {
        "length": len,
        "words": lambda text: _words(text).total(),
        "common words": lambda text: (
            sum(shared[word] for word in _words(text)) / max(1, len(set(_words(text))))
        ),
        "words of the question": lambda text: len(asked & set(_words(text))),
        "digits": lambda text: sum(char.isdigit() for char in text),
        "signs": lambda text: len(re.findall(r"[\d/`._-]", text)),
        "depth": lambda text: text.count("/"),
        "capital": lambda text: text[:1].isupper(),
        "greatest number": lambda text: max(map(int, re.findall(r"\d{1,9}", text)), default=0),
        "question mark": lambda text: "?" in text,
        "typical": lambda text: re.search(_TYPICAL[question.topic], text) is not None,
    }


def guesses(question: Question) -> dict[str, int]:
    """The answer that each guesser takes."""
    texts = [one.text for one in question.answers]
    places = range(len(texts))
    found = {
        "first": 0,
        "last": len(texts) - 1,
        "first by letters": min(places, key=lambda at: texts[at]),
        "last by letters": max(places, key=lambda at: texts[at]),
    }
    for name, measure in _measures(question).items():
        found[f"most: {name}"] = max(places, key=lambda at: (measure(texts[at]), -at))
        found[f"least: {name}"] = min(places, key=lambda at: (measure(texts[at]), at))
    return found


def _asked_in(session: Session) -> Iterator[Question]:
    path = session.tree.path(session.leaf) if session.leaf >= 0 else ()
    for part in range(1, _CUTS + 1) if path else ():
        context = context_at(session, path[max(0, len(path) * part // _CUTS - 1)])
        span = tuple(
            SpanMessage(one.entry, message_body(session, one))
            for one in context.messages
            if one.sent and one.role not in ("system", "compactionSummary")
        )
        if len(span) >= _LEAST_MESSAGES:
            yield from questions(span, session.cwd, plan=plan_before(session, span))


def every_question(folder: Path = CORPORA) -> list[Question]:
    """What is asked at eight places of each session, once for each right answer of a session.

    What several sessions ask in the same words counts once: they have one script.
    """
    found: dict[tuple[str, Topic, str], Question] = {}
    for card in sorted(sighted(Config(), [folder], {}, []), key=lambda one: one.path):
        if card.problem is not None or card.relation is not None:
            continue
        with suppress(NotASession), closing(agent_named(card.agent).open(Path(card.path))) as session:
            for one in _asked_in(session):
                found[card.path, one.topic, one.answers[one.right].text] = one
    asked = {(one.text, one.right, *(answer.text for answer in one.answers)): one for one in found.values()}
    return list(asked.values())


class Guessed(NamedTuple):
    """The questions that the best guesser of each topic answers."""

    right: int
    asked: int
    by_chance: float
    """What the best would have answered on average where the right answers are drawn by lot."""
    seldom: int
    """More than this only one draw in twenty has."""


def guessed(asked: Sequence[Question]) -> Guessed:
    """Counts, the same on every run."""
    taken = [guesses(one) for one in asked]

    def best(rights: Sequence[int]) -> int:
        total = 0
        for topic in Topic:
            places = [place for place, one in enumerate(asked) if one.topic is topic]
            names = taken[places[0]] if places else ()
            total += max((sum(taken[at][name] == rights[at] for at in places) for name in names), default=0)
        return total

    lot = random.Random(1)
    drawn = sorted(best([lot.randrange(len(one.answers)) for one in asked]) for _ in range(_DRAWN))
    right = best([one.right for one in asked])
    return Guessed(right, len(asked), sum(drawn) / _DRAWN, drawn[_DRAWN * 19 // 20])


def main() -> int:
    """Prints for each topic the chance and the best guessers, then all of them against chance."""
    if not CORPORA.is_dir():
        print(f"exam_form: skipped, no {CORPORA}")
        return 0
    every = every_question()
    for topic in Topic:
        asked = [one for one in every if one.topic is topic]
        hits = Counter(name for one in asked for name, at in guesses(one).items() if at == one.right)
        best = ", ".join(f"{name} {count}" for name, count in hits.most_common(4))
        print(
            f"{topic:<10} {len(asked):>3} asked, {sum(1 / len(one.answers) for one in asked):.1f} by chance; {best}"
        )
    found = guessed(every)
    print(
        f"the best of each topic: {found.right} of {found.asked}; where the right answers are drawn by lot"
        f" {found.by_chance:.1f}, in one draw of twenty more than {found.seldom}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
