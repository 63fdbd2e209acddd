"""Reads the files of a spec or a bug: tasks, decisions, progress, and the stage that these imply."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.compaction.injection.builders.worklog import Statement, plain, visible_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.compaction.injection.builders.workspace import TextFile
    from leafward.compaction.injection.workflows.workflow import Workflow

_TASK = late(r"^(\s*)[-*+]\s+\[([ xX])\]\s+(?:(\d{1,4}(?:\.\d{1,4}){0,4})[.)]?\s+)?(\S.*)$")
_BATCH = re.compile(r"^#{2,6}\s+(Batch\b.*)$", re.IGNORECASE)
_HEADING = late(r"^(#{1,6})\s+(.*)$")
_BULLET = late(r"^\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
_MARKUP = late(r"[#\-`*_\s]+")
_EXECUTING = late(
    r"(?im)^(?:.*\b(?:Last completed batch|Remaining batches):|#{1,6}\s+(?:Key Discoveries|Decisions Made)\b)|\[Batch \d"
)
_TO_COME = late(
    r"(?i)(?:hand-?\s?off (?:to|for)|prepar\w*(?: \w+){0,4}|next(?: stage)?(?: is)?:?|then|before|until|ready for|approval (?:for|to)|proceed(?:ing)? to|go(?:ing)? on to|towards?|will|to)\s*[`*/]*$"
)
DECISIONS = late(r"(?i)^(?:key )?decisions?(?: made)?$|trade-?\s?offs?$")
DISCOVERIES = late(r"(?i)^(?:key )?discover(?:y|ies)$")


@dataclass(frozen=True, slots=True)
class ListedTask:
    """One box of a task list."""

    number: str
    """The number as written; empty if there is none."""
    title: str
    batch: str
    """The heading above, such as `Batch 1 — Foundation`; empty if there is none."""
    done: bool
    line: int

    @property
    def label(self) -> str:
        """Number, title and batch."""
        head = f"{self.number} — {self.title}" if self.number else self.title
        return f"{head} ({self.batch})" if self.batch else head


def tasks_of(text: str) -> list[ListedTask]:
    """The tasks of a list: its outermost boxes, with or without numbers."""
    found: list[tuple[int, ListedTask]] = []
    batch = ""
    for line in visible_lines(text):
        heading = _HEADING.match(line.text)
        if heading is not None:
            named = _BATCH.match(line.text)
            # A heading of the same or a higher level ends the batch; a lower one does not.
            batch = unclosed(named[1]) if named is not None else "" if len(heading[1]) <= 2 else batch
            continue
        box = _TASK.match(line.text)
        if box is not None:
            task = ListedTask(box[3] or "", box[4].strip(), batch, box[2] != " ", line.number)
            found.append((len(box[1].expandtabs(4)), task))
    outermost = min((depth for depth, _ in found), default=0)
    return [task for depth, task in found if depth == outermost]


def unclosed(heading: str) -> str:
    """A heading without the closing signs at its end."""
    return heading.rstrip().rstrip("#").rstrip()


def section(text: str, title: re.Pattern[str]) -> list[Statement]:
    """All bullets under the matching headings, up to the next heading of the same or a higher level."""
    found: list[Statement] = []
    depth = 0
    for line in visible_lines(text):
        heading = _HEADING.match(line.text)
        if heading is not None:
            if title.search(unclosed(heading[2])) is not None:
                depth = len(heading[1])
            elif len(heading[1]) <= depth:
                depth = 0
            continue
        bullet = _BULLET.match(line.text) if depth else None
        if bullet is not None and plain(bullet[1]):
            found.append(Statement(plain(bullet[1]), line.number))
    return found


def meaningful(file: TextFile | None) -> bool:
    """Whether a file has text besides heading signs, comments and blanks."""
    return file is not None and any(_MARKUP.sub("", line.text) for line in visible_lines(file.text))


def has_boxes(file: TextFile | None) -> bool:
    """Whether a file holds a task box."""
    return file is not None and any(_TASK.match(line.text) for line in visible_lines(file.text))


def inferred_stage(workflow: Workflow, there: Mapping[str, TextFile | None]) -> tuple[str, Statement | None]:
    """The stage that the artifacts imply, and the line of a progress file that names it, if there is one."""
    if workflow.type == "bug":
        return _bug_stage(workflow, there)
    notes = there.get(workflow.notes)
    tasks = there.get(workflow.tasks)
    if has_boxes(tasks) or (notes is not None and _EXECUTING.search(notes.text)):
        return "spec-execute", None
    if meaningful(tasks):
        return "spec-tasks", None
    return ("spec-design" if meaningful(there.get("design.md")) else "spec-create"), None


def _bug_stage(workflow: Workflow, there: Mapping[str, TextFile | None]) -> tuple[str, Statement | None]:
    reached = _claimed(workflow, progress_of(workflow, there))
    if meaningful(there.get("verification.md")):
        return "bug-verify", reached[1] if reached is not None else None
    if reached is not None and reached[0] in {"bug-fix", "bug-verify"}:
        return reached
    if meaningful(there.get("report.md")):
        return ("bug-analyze" if meaningful(there.get("analysis.md")) else "bug-create"), None
    return "bug-create", None


def progress_of(workflow: Workflow, there: Mapping[str, TextFile | None]) -> TextFile | None:
    """The file that records progress."""
    return next((file for name in workflow.progress if (file := there.get(name)) is not None), None)


def _claimed(workflow: Workflow, file: TextFile | None) -> tuple[str, Statement] | None:
    """The furthest stage that a progress file says was reached. A stage that is still to come does not count."""
    if file is None:
        return None
    best: tuple[int, str, Statement] | None = None
    for line in visible_lines(file.text):
        for place, stage in enumerate(workflow.stages):
            for name in re.finditer(rf"(?<![\w-]){stage.name}(?![\w-])", line.text):
                if _TO_COME.search(line.text[: name.start()]) is None and (best is None or place >= best[0]):
                    text = plain(_BULLET.sub(r"\1", line.text).strip())
                    best = (place, stage.name, Statement(text, line.number))
    return (best[1], best[2]) if best is not None else None


def bug_status(
    workflow: Workflow, there: Mapping[str, TextFile | None], claimed: Statement | None
) -> tuple[str, TextFile, int] | None:
    """The status of a bug: from its state file, else the progress line that names the stage, else the last line."""
    for name in workflow.state:
        file = there.get(name)
        if file is None:
            continue
        try:
            state = json.loads(file.text)
        except (ValueError, RecursionError):
            break
        for key in ("status", "stage", "phase", "state"):
            value = state.get(key) if isinstance(state, dict) else None
            if isinstance(value, str) and value.strip():
                return (
                    value,
                    file,
                    next((at for at, line in enumerate(file.text.split("\n"), 1) if f'"{key}"' in line), 0),
                )
        break
    file = progress_of(workflow, there)
    if file is None:
        return None
    if claimed is not None:
        return claimed.text, file, claimed.number
    lines = [line for line in visible_lines(file.text) if line.text.strip() and not line.text.startswith("#")]
    return (plain(_BULLET.sub(r"\1", lines[-1].text).strip()), file, lines[-1].number) if lines else None
