"""Tool calls: files changed, commands run, all other calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.files.edits import delta_in, delta_of, hunks
from leafward.files.file_names import locate
from leafward.files.tool_calls import FileAction, FileCall, ToolTable, command_text, file_calls, path_in
from leafward.session.command_text import without_cd
from leafward.session.headlines.entry_headline import call_headline, call_words
from leafward.session.headlines.plan_words import made_items
from leafward.session.messages import nested_calls
from leafward_tui.inspector.model.diffs import diff_lines
from leafward_tui.inspector.model.images import described
from leafward_tui.inspector.model.raw import JsonWriter
from leafward_tui.inspector.model.sheet import INDENT, MOST_LINES, Sheet, path_spans
from leafward_tui.inspector.model.turn import Step
from leafward_tui.inspector.page import Selection, SelectionKind
from leafward_tui.ui.text.cells import count, exact, fit, signed
from leafward_tui.ui.text.code import fitted, highlighted
from leafward_tui.ui.text.spans import Span, padded, shown, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward_tui.inspector.model.turn import Gathered

MOST_ROWS = 12
"""Rows of a section before the rest folds."""

NUMBERS = (6, 6, 6)
"""Cells of the columns edits, + and −."""

_MOST_NAME = 10
"""Cells of a tool's name."""
_MOST_OUTPUT = 120_000
"""The most characters read of an output."""

_MOST_COMMAND = 20_000
"""The most characters read of a command."""


def _changed_by(step: Step, table: ToolTable) -> list[FileCall]:
    """The changes of a call; none where it did not run or failed."""
    if not step.ran or step.message.get("isError"):
        return []
    return [made for made in file_calls(step.call, table) if made.action is not FileAction.READ]


def _changes(step: Step, table: ToolTable) -> bool:
    return bool(_changed_by(step, table))


def _patches(step: Step, table: ToolTable) -> bool:
    """Whether a command only changes files by a patch."""
    made = file_calls(step.call, table)
    return bool(made) and all(one.action is not FileAction.READ for one in made)


@dataclass(slots=True)
class Changed:
    """The changes of one file."""

    path: str
    steps: list[Step] = field(default_factory=list)
    actions: list[FileAction] = field(default_factory=list)
    """The action of each step on the file."""
    added: int = 0
    """Number of lines."""
    removed: int = 0


def changed(found: Gathered, folder: str) -> list[Changed]:
    """The files that steps changed, the most often changed first, counted as `working_set.changed_files` counts."""
    files: dict[str, Changed] = {}
    for step in found.steps:
        inner = [Step(call, step.result_entry) for call in nested_calls(step.message)]
        for made in (step, *inner):
            delta = delta_in(made.result) if made.result is not None else None
            for one in _changed_by(made, found.tools):
                name = locate(one.path, folder, tidy=found.tools.tidies_paths)
                file = files.setdefault(name, Changed(name))
                file.steps.append(replace(made, call=one.call))
                file.actions.append(one.action)
                added, removed = delta or delta_of(one.action, one.call.arguments, found.tools)
                file.added += added
                file.removed += removed
    return sorted(files.values(), key=lambda file: -len(file.steps))


def write_changed(sheet: Sheet, selection: Selection, found: Gathered) -> None:
    """Writes a row for each file, the first one open as a diff."""
    changes = changed(found, selection.session.cwd)
    if not changes:
        return
    glyphs = sheet.glyphs
    titles = sheet.columns([("edits", "faint"), ("+", "faint"), (glyphs.minus, "faint")], NUMBERS)
    sheet.heading("Changed", counted(len(changes), "file"), titles)
    folded = [_texts(step) for change in changes[MOST_ROWS:] for step in change.steps]
    limit = (
        len(changes)
        if sheet.is_open("changed", holding=folded) or len(changes) <= MOST_ROWS + 1
        else MOST_ROWS
    )
    first = selection.kind is not SelectionKind.FOLD
    for at, change in enumerate(changes[:limit]):
        held = map(_texts, change.steps)
        opened = sheet.is_open(f"file:{change.path}", normally=first and at == 0, holding=held)
        _file(sheet, change, opened)
        if opened:
            _diff(sheet, change, found.tools)
    _rest(sheet, "changed", len(changes), limit, "file")


def _file(sheet: Sheet, change: Changed, opened: bool) -> None:
    glyphs = sheet.glyphs
    sign = glyphs.unfolded if opened else glyphs.folded
    numbers = sheet.columns(
        [
            (count(len(change.steps), zero=glyphs.zero), "sub"),
            (signed(change.added, zero=glyphs.zero), "leaf" if change.added else "edge"),
            (
                signed(-change.removed, zero=glyphs.zero).replace("-", glyphs.minus),
                "bad" if change.removed else "edge",
            ),
        ],
        NUMBERS,
    )
    room = sheet.width - sum(NUMBERS) - INDENT - 2
    path = path_spans(change.path, room, glyphs)
    sheet.row(
        [Span(f"{sign} ", "faint"), *path],
        numbers,
        toggle=f"file:{change.path}",
        copy=safe_line(change.path, 2_000),
    )


def _diff(sheet: Sheet, change: Changed, table: ToolTable) -> None:
    listed = [
        hunk
        for step, action in zip(change.steps, change.actions, strict=True)
        for hunk in hunks(action, step.call, step.result, table)
    ]
    body = diff_lines(listed, sheet.width - INDENT, sheet.glyphs)
    if not body:
        sheet.note("its call does not say what changed", indent=INDENT + 2)
    sheet.folded(f"diff:{change.path}", body, max(8, sheet.height // 3), indent=INDENT)
    for at, step in enumerate(change.steps):
        if sheet.seeks([step.output]):
            _output(sheet, step, f"changed:{change.path}/{at}")


def _rest(sheet: Sheet, key: str, every: int, seen: int, noun: str) -> None:
    """Writes the line that opens the rest of a section, or folds it again."""
    if every > MOST_ROWS + 1:
        glyphs = sheet.glyphs
        more = f"{glyphs.folded} {counted(every - seen, f'more {noun}')}"
        sheet.line([Span(more if seen < every else f"{glyphs.unfolded} fewer {noun}s", "faint")], toggle=key)


def _texts(step: Step) -> list[object]:
    """The arguments and the output of a call."""
    return [step.call.arguments, step.output]


def write_ran(sheet: Sheet, found: Gathered, *, opened: bool) -> None:
    """Writes the commands, each with its outcome at the right; enter opens the output."""
    steps = [
        (at, step)
        for at, step in enumerate(found.steps)
        if step.by_user or (step.call.name in found.tools.shells and not _patches(step, found.tools))
    ]
    if not steps:
        return
    failed = sum(1 for _, step in steps if (end := step.outcome) is not None and not end.ok)
    missing = sum(1 for _, step in steps if step.result is None)
    if failed:
        outcome = [Span(f"{failed:,} failed", "bad")]
    elif missing:
        outcome = [Span(f"{missing:,} without a result", "warn")]
    elif len(steps) > 1:
        outcome = [Span("all passed", "faint")]
    else:
        outcome = [Span("passed", "faint")]
    sheet.heading("Ran", counted(len(steps), "command"), outcome)
    folded = [_texts(step) for _, step in steps[MOST_ROWS:]]
    limit = len(steps) if sheet.is_open("ran", holding=folded) or len(folded) <= 1 else MOST_ROWS
    for at, step in steps[:limit]:
        command = (
            str(step.call.arguments.get("command") or "")
            if step.by_user
            else command_text(step.call, found.tools)
        )
        text = shown(command.strip()[:_MOST_COMMAND])
        first, _, rest = without_cd(text).partition("\n")
        key = f"step{at}"
        is_open = sheet.is_open(key, normally=opened, holding=_texts(step))
        more = f" {sheet.glyphs.ellipsis}" if rest else ""
        sign = "! " if step.by_user else "$ "
        spans = [Span(" " * INDENT + sign, "faint"), Span(first + more, "text" if is_open else "sub")]
        outcome = _outcome(sheet, step)
        sheet.row(spans, outcome, toggle=key, copy=safe(command))
        if is_open:
            if text != first or cell_len(first) > sheet.width - INDENT - 4 - width_of(outcome):
                _command(sheet, text, key, safe(command))
            besides = {name: value for name, value in step.call.arguments.items() if value != command}
            if sheet.seeks([besides]):
                JsonWriter(sheet, f"{key}/arguments", indent=4).write(besides)
            _output(sheet, step, key, whole=opened)
    _rest(sheet, "ran", len(steps), limit, "command")


def _command(sheet: Sheet, text: str, key: str, whole: str) -> None:
    """Writes a command that its row does not show in full."""
    body = [part for line in highlighted(text, language="bash") for part in fitted(line, sheet.width - 6)]
    if len(whole) > _MOST_COMMAND:
        body.append([Span(f"{len(whole) - len(text):,} more characters are not shown", "nothing")])
    sheet.folded(f"{key}/command", body, max(6, sheet.height // 3), indent=4, copy=whole)
    sheet.blank()


def _outcome(sheet: Sheet, step: Step) -> list[Span]:
    end = step.outcome
    if end is None:
        return [Span("no result" if step.ran else "not run", "warn")]
    if end.stopped:
        return [Span(end.stopped, "warn")]
    if end.exit_code:
        return [Span(f"{sheet.glyphs.error} exit {end.exit_code}", "bad")]
    if not end.ok:
        return [Span(f"{sheet.glyphs.error} failed", "bad")]
    if not end.lines and step.images:
        return [Span(counted(len(step.images), "image"), "faint")]
    return [Span(counted(end.lines, "line"), "faint")]


def _output(sheet: Sheet, step: Step, key: str, filename: str = "", *, whole: bool = False) -> None:
    """Writes the output of a call, and the entry that holds it."""
    output = step.output
    indent = 4
    room = sheet.width - indent
    body: list[list[Span]] = []
    if output.strip():
        text = shown(output[:_MOST_OUTPUT].strip("\n"))
        lines = highlighted(text, filename=filename, ink="sub")
        body = [part for line in lines for part in fitted(line, room, _hang(line, room))]
        if len(output) > _MOST_OUTPUT:
            body.append([Span(f"{len(output) - _MOST_OUTPUT:,} more characters are not shown", "nothing")])
    body.extend([Span(described(image), "faint")] for image in step.images[:20])
    if not body:
        body = [[Span("no output" if step.result is not None else "no result in this session", "nothing")]]
    limit = MOST_LINES if whole else max(8, sheet.height // 2)
    sheet.folded(f"{key}/output", body, limit, indent=indent, copy=safe(output))
    place = step.result_entry if step.result_entry >= 0 else step.call_entry
    sheet.line([Span(" " * indent, "blank"), Span(f"in #{place:,}", "faint")], entry=place)


def _hang(line: list[Span], room: int) -> int:
    """The hanging indentation of a long line: two cells more than its own, so that a traceback keeps its shape."""
    text = "".join(span.text for span in line)
    return min(len(text) - len(text.lstrip(" ")) + 2, max(2, room // 3))


def write_called(sheet: Sheet, selection: Selection, found: Gathered, title: str, *, opened: bool) -> None:
    """Writes all other calls under `title`, each with its output; failed edits are among them."""
    steps = [
        (at, step)
        for at, step in enumerate(found.steps)
        if not step.by_user
        and (step.call.name not in found.tools.shells or _patches(step, found.tools))
        and not _changes(step, found.tools)
    ]
    if not steps:
        return
    failed = sum(1 for _, step in steps if (end := step.outcome) is not None and not end.ok)
    failures = [Span(f"{failed:,} failed", "bad")] if failed else []
    sheet.heading(title, exact(len(steps)), failures)
    folded = [_texts(step) for _, step in steps[MOST_ROWS:]]
    most = min(_MOST_NAME, max(cell_len(safe_line(step.call.name or "tool", 24)) for _, step in steps))
    items = made_items((step.call, step.output) for _, step in steps)
    limit = len(steps) if sheet.is_open("called", holding=folded) or len(folded) <= 1 else MOST_ROWS
    for at, step in steps[:limit]:
        key = f"step{at}"
        is_open = sheet.is_open(key, normally=opened, holding=_texts(step))
        name = fit(safe_line(step.call.name or "tool", 24), most, ellipsis=sheet.glyphs.ellipsis)
        name_spans = padded([Span(name, "faint")], most + 1)
        right = _outcome(sheet, step)
        room = sheet.width - INDENT - width_of(name_spans) - width_of(right) - 2
        ink = "text" if is_open else "sub"
        sheet.row(
            [
                Span(" " * INDENT, "blank"),
                *name_spans,
                *_subject(sheet, step, room, ink, selection.session.cwd),
                *_named_item(step, items),
            ],
            right,
            toggle=key,
            copy=call_words(step.call),
        )
        if is_open:
            _arguments(sheet, step, key)
            path = path_in(step.call.arguments, found.tools) or ""
            reads = found.tools.actions.get(step.call.name) is FileAction.READ
            _output(sheet, step, key, path if reads else "", whole=opened)
    _rest(sheet, "called", len(steps), limit, "call")


def _subject(sheet: Sheet, step: Step, room: int, ink: str, cwd: str) -> list[Span]:
    line = call_headline(step.call, cwd)
    before, path, behind = line.text.partition(line.path) if line.path else (line.text, "", "")
    if not path:
        return [Span(before, ink)]
    left = max(8, room - cell_len(before) - cell_len(behind))
    return [Span(before, ink), *path_spans(path, left, sheet.glyphs, ink=ink), Span(behind, "faint")]


def _named_item(step: Step, items: Mapping[str, str]) -> list[Span]:
    """The words of the plan item that a call names by its id, where a call of the same turn made it."""
    words = items.get(str(step.call.arguments.get("taskId")), "")
    return (
        [Span(f"  {safe_line(words, 120)}", "faint")]
        if words and "subject" not in step.call.arguments
        else []
    )


def _arguments(sheet: Sheet, step: Step, key: str) -> None:
    """Writes the arguments, where the row does not show them in full."""
    in_row = {"path", "file_path", "filePath", "offset", "limit"}
    rest = {name: value for name, value in step.call.arguments.items() if name not in in_row}
    if rest:
        JsonWriter(sheet, f"{key}/arguments", indent=4).write(rest)
