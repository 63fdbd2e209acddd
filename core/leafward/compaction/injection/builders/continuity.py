"""State of the work in any session: from `SESSION.md` if there is one, else from the session itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.compaction.injection.merge import nothing
from leafward.compaction.injection.values import STATIC, OfferedBullet, Tier, from_entry
from leafward.summaries.facts.forms.forms import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.injection.builders.builder_input import BuildInput
    from leafward.compaction.injection.builders.worklog import LogEntry, Statement
    from leafward.compaction.injection.builders.workspace import TextFile, Workspace

LOG = "SESSION.md"
AGENTS = "AGENTS.md"
GENERIC = (
    "stage.objective",
    "stage.current_step",
    "stage.status",
    "stage.completed",
    "stage.remaining",
    "stage.decisions",
    "stage.active_files",
    "stage.blockers",
    "stage.next_action",
)
"""Sections of any session, in the order of the text."""

_OWN_FOLDERS = (".codex/", "src/", "tests/", "steering/")
_REVIEW = f"Review {LOG} and go on with the work that is open."
_ANSWERED = "The user's last request got its reply; go on with what is asked next."
_GO_ON = "Go on with the user's last request."
_ASKED_BACK = "The model asked, and the user has not answered yet: {}"
_RESUME = "Go on with the work that was under way."


@dataclass(slots=True)
class Continuity:
    """Items by section, without placeholders."""

    items: dict[str, list[OfferedBullet]] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)
    """The entries of the log, the newest first; empty where there is none."""
    file: TextFile | None = None

    def add(self, key: str, *items: OfferedBullet) -> None:
        """Appends items to a section."""
        self.items.setdefault(key, []).extend(items)

    def put(self, key: str, *items: OfferedBullet) -> None:
        """Replaces the items of a section."""
        self.items[key] = list(items)


def continuity(inputs: BuildInput) -> Continuity:
    """Objective, step, status, finished and remaining work, decisions, files, blockers and next action."""
    made = Continuity()
    if inputs.workspace is not None:
        made.file = inputs.workspace.read(LOG)
    if made.file is not None:
        from leafward.compaction.injection.builders.worklog import read_log

        made.log = read_log(made.file.text)
        _from_log(made, made.file, inputs.workspace)
    _from_session(made, inputs)
    return made


def with_placeholders(made: Continuity, keys: Iterable[str]) -> None:
    """Adds `none recorded` to sections without items."""
    for key in keys:
        if not made.items.get(key):
            made.put(*nothing(key))


def _item(file: TextFile, line: Statement, text: str = "", rank: float = 0) -> OfferedBullet:
    return OfferedBullet(text or line.text, (file.source(line.number),), None, rank)


def _from_log(made: Continuity, file: TextFile, workspace: Workspace | None) -> None:
    newest, *older = made.log
    focus = newest.header if newest.focus else None
    work = newest.open_work
    if work:
        made.add("stage.objective", _item(file, work[0], _capital(work[0].text)))
        made.add("stage.current_step", _item(file, work[0], f"Open work: {work[0].text}"))
        made.add("stage.next_action", _item(file, work[0]))
    elif focus is not None:
        made.add("stage.objective", _item(file, focus, f"Continue the work on {newest.focus}."))
        made.add("stage.current_step", _item(file, focus, f"Working on {newest.focus}."))
    for line in newest.blockers:
        made.add("stage.blockers", _item(file, line))
    if newest.blockers:
        made.add("stage.status", _item(file, newest.blockers[0], f"At risk: {newest.blockers[0].text}"))
    elif focus is not None:
        made.add("stage.status", _item(file, focus, f"Active: working on {newest.focus}"))
    for line in work:
        made.add("stage.remaining", _item(file, line))
    for line in newest.pending_tests:
        made.add("stage.remaining", _item(file, line, f"Pending tests: {line.text}"))
    done = [line for entry in made.log for line in reversed(entry.bullets)]
    made.add("stage.completed", *(_item(file, line, rank=rank) for rank, line in enumerate(done)))
    made.items["stage.completed"].reverse()
    for rank, line in enumerate(line for entry in made.log for line in entry.decisions):
        made.add("stage.decisions", _item(file, line, rank=rank))
    for line in newest.pending:
        made.add("stage.pending", _item(file, line))
    made.add("stage.active_files", *_files(newest, file, workspace))
    if not made.items["stage.active_files"]:
        for entry in older:
            if files := _files(entry, file, workspace):
                made.add("stage.active_files", *files)
                break


def _from_session(made: Continuity, inputs: BuildInput) -> None:
    """Fills sections that the log leaves empty: the last prompt becomes the objective, the rest is text of ours."""
    request = inputs.found.request
    source = from_entry(request.entry, note="prompt")
    if not made.items.get("stage.objective"):
        if request.text and request.answered:
            # An answered request is no longer an objective, and the next one is not known.
            pass
        elif request.text:
            made.add("stage.objective", OfferedBullet(f"The user's last request: {request.text}", (source,)))
        else:
            made.add("stage.objective", OfferedBullet(_RESUME, (STATIC,), filler=True))
    if made.file is not None:
        if not made.items.get("stage.status"):
            made.add(
                "stage.status", OfferedBullet("Review what was done last.", (STATIC,), Tier.LAST, filler=True)
            )
        if not made.items.get("stage.next_action"):
            made.add("stage.next_action", OfferedBullet(_REVIEW, (STATIC, made.file.source())))
        if not made.items.get("stage.remaining"):
            made.add("stage.remaining", OfferedBullet(_REVIEW, (STATIC,), Tier.LAST, filler=True))
        if not made.items.get("stage.current_step"):
            made.add("stage.current_step", OfferedBullet(_RESUME, (STATIC,), Tier.LAST, filler=True))
    elif request.text:
        asked = _ASKED_BACK.format(request.question) if request.question else ""
        text = asked or (_ANSWERED if request.answered else _GO_ON)
        made.add("stage.next_action", OfferedBullet(text, (STATIC, source)))
    else:
        made.add("stage.next_action", OfferedBullet(_RESUME, (STATIC,), filler=True))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _files(entry: LogEntry, file: TextFile, workspace: Workspace | None) -> list[OfferedBullet]:
    """File names in backticks, if they look like files or exist."""
    found: dict[str, OfferedBullet] = {}
    for line in entry.file_lines:
        for quoted in quoted_names(line.text):
            path, _, _ = quoted.partition(":")
            path = path.removeprefix("./").rstrip("/")
            if path not in found and is_file(path, workspace):
                found[path] = OfferedBullet(path, (file.source(line.number),), rank=len(found), path=path)
    return list(found.values())


def quoted_names(text: str) -> list[str]:
    """The texts in backticks on one line that contain no blanks."""
    parts = text.split("`")
    return [
        part
        for part in parts[1 : len(parts) - 1 + len(parts) % 2 : 2]
        if part and not any(map(str.isspace, part))
    ]


def is_file(name: str, workspace: Workspace | None) -> bool:
    """Whether a quoted name is a file: it exists, or it ends like one, unlike `output.context`."""
    if not name or name.startswith(("/", "-", "@", "$", "#", "~")) or "://" in name or ".." in name:
        return False
    if any(char in name for char in "*?(){}<>|;=,\"'\\"):
        return False
    if workspace is not None and workspace.exists(name):
        return True
    if name.startswith(_OWN_FOLDERS):
        return True
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    return (
        bool(dot and stem)
        and ending in EXTENSIONS
        and (ending not in {"env", "lock", "mod", "sum"} or "/" in name)
    )
