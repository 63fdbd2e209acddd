"""The exam over the stored compactions of the corpora: `python -m tests.bench.exam`; needs the corpora.

Of each compaction that a model summarised, how many questions the context afterwards can answer: with the summary that was stored,
with the last tokens of the span, and with ours, all of one size, beside the messages that were kept; then with the injected
context as well. Questions ask for what is stated in the span whatever a summary says, and the kept messages count for all three.
Ours is made with weights that never saw the session's project; what a question is was chosen with these sessions in view.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.exam.grade import Exam, exam
from leafward.compaction.exam.questions import Topic, questions
from leafward.session.messages import message_text
from leafward.summaries.summarizers.summary import tokens_of
from leafward.summaries.survival.spans import replaced_by
from tests.bench.need import (
    DEFAULT_SIZE,
    SCRIPTED,
    compactions_of,
    last_tokens,
    ours_of,
    project_of,
    sessions,
)
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from leafward.session.session import Session

TITLES = {"stored": "by a model", "last tokens": "the last characters", "ours": "**extractive**"}


@dataclass(frozen=True)
class Sitting:
    """One compaction: the exam of each text, alone and with the injected context."""

    name: str
    project: str
    by_model: bool
    exams: dict[str, tuple[Exam, Exam]]

    @property
    def asked(self) -> int:
        return self.exams["ours"][0].count()[1]


def sit(session: Session, compaction: int) -> Sitting | None:
    """The exam of a stored compaction; None where there is nothing to ask."""
    there = replaced_by(session, compaction)
    asked = questions(
        there.messages, session.cwd, there.previous, there.previous_entry, there.plan, kept=there.kept
    )
    if not asked:
        return None
    stored = there.summary.strip()
    by_model = len(stored) > SCRIPTED
    size = tokens_of(stored) if by_model else DEFAULT_SIZE
    ours, injected = ours_of(session, there, size)
    kept = "\n".join(message_text(said.message) for said in there.kept)
    texts = {"stored": stored, "last tokens": last_tokens(there, size), "ours": ours.text}
    return Sitting(
        f"{session.path.stem[:28]} #{compaction}",
        project_of(session.path),
        by_model,
        {
            name: (
                exam(asked, text, kept=kept, cwd=session.cwd),
                exam(asked, text, kept=kept, injected=injected, cwd=session.cwd),
            )
            for name, text in texts.items()
        },
    )


def sittings(folder: Path = CORPORA) -> Iterator[Sitting]:
    """Every compaction below a folder about which there is something to ask."""
    for session in sessions(folder):
        for compaction in compactions_of(session):
            found = sit(session, compaction)
            if found is not None:
                yield found


def held(found: Sequence[Sitting], name: str, topic: Topic | None = None, *, injection: bool = False) -> int:
    """How many questions a text answers in all."""
    return sum(one.exams[name][injection].count(topic)[0] for one in found)


def table(folder: Path = CORPORA) -> str:
    """The table of the documents."""
    found = list(sittings(folder))
    lines = [
        f"| compactions | text | {' | '.join(Topic)} | in all | + injection |",
        f"|---|---|{'---|' * len(Topic)}---|---|",
    ]
    for by_model, about in ((True, "by a model"), (False, "others")):
        group = [one for one in found if one.by_model is by_model]
        about = f"{about}: {len(group)}, {sum(one.asked for one in group)} questions"
        for name in TITLES if by_model else ("last tokens", "ours"):
            cells = []
            for topic in Topic:
                asked = sum(one.exams["ours"][0].count(topic)[1] for one in group)
                cells.append(f"{held(group, name, topic)} of {asked}" if asked else "")
            whole = f"{held(group, name)} of {sum(one.asked for one in group)}"
            beside = str(held(group, name, injection=True))
            lines.append("| " + " | ".join((about, TITLES[name], *cells, whole, beside)) + " |")
            about = ""
    return "\n".join(lines).replace("|  |", "| |")


def main(arguments: Sequence[str] = ()) -> int:
    """Prints one line a compaction; with `--table` the table of the documents."""
    if not CORPORA.is_dir():
        print(f"exam: skipped, no {CORPORA}")
        return 0
    if "--table" in arguments:
        print(table())
        return 0
    print(f"{'compaction':<40} {'asked':>5}" + "".join(f" {name:>12} {'+ inj.':>6}" for name in TITLES))
    for one in sittings():
        cells = "".join(
            f" {alone.count()[0]:>12} {beside.count()[0]:>6}" for alone, beside in one.exams.values()
        )
        print(f"{one.name:<40} {one.asked:>5}{cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
