"""The verb `files`: files read and modified on the path to an entry, the history of one file, and its rebuilt contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.errors import NotFound
from leafward.base.figures import counted
from leafward.base.safe_text import pasted_path, safe, safe_line
from leafward.base.shown_path import shortened
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.page import Page, cells, emit_json, note, pad, page, say, write_text
from leafward.cli.output.rebuilt_json import rebuilt_json
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.export.documents.comparison_document import NO_ENDS, resting
from leafward.files.file_names import locate, utf16_order
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.bases import WorkspaceBases
from leafward.files.file_replay.knowledge import CALL_BASES, KNOWN, Certainty
from leafward.files.file_replay.output_folder import write_rebuilt
from leafward.files.file_replay.path_files import PathFiles
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.file_replay.timeline import timeline
from leafward.files.restoration.recorded_files import RecordedFiles
from leafward.files.tool_calls import table_of
from leafward.files.working_set import FileUse, Searched, WorkingSet, carried, searched, working_set
from leafward.session.session import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from leafward.cli.options.session_options import FilesOptions
    from leafward.files.file_replay.bases import Bases
    from leafward.files.file_replay.output_folder import RebuiltFolder
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def files(selector: str, options: FilesOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward files`."""
    with opened(selector) as session:
        index = session.find(options.at) if options.at is not None else session.leaf
        verify(session, index)
        bases = WorkspaceBases(options.base) if options.base is not None else None
        if options.timeline is not None:
            return _timeline(session, index, options.timeline, as_json)
        if options.rebuild is not None:
            return _rebuild(session, index, options.rebuild, bases, as_json)
        if options.into is not None:
            return _store(session, index, options.into, bases, dry_run, as_json)
        found = working_set(session, index)
        inferred = _inferred(session, index, found)
        listed = carried(session, index, found)
        looked = searched(session, index)
        if as_json:
            emit_json(
                {
                    "at": session.columns.id_at(index),
                    "read": [_json(session, use) for use in found.read],
                    "modified": [_json(session, use) for use in found.modified],
                    "inferred": {
                        "read": [_json(session, use) for use in inferred.read],
                        "modified": [_json(session, use) for use in inferred.modified],
                    },
                    "carried": {
                        "read": [_json(session, use) for use in listed.read],
                        "modified": [_json(session, use) for use in listed.modified],
                    },
                    "searched": [
                        {
                            "path": one.path,
                            "patterns": list(one.patterns),
                            "entries": [session.columns.id_at(entry) for entry in one.entries],
                        }
                        for one in looked
                    ],
                }
            )
        else:
            say(_text(session, found, inferred, listed, looked, page()))
    return 0


def _inferred(session: Session, index: EntryIndex, found: WorkingSet) -> WorkingSet:
    """Files that only shell commands read, or only they changed, as far as their text tells."""
    changed = {use.path for use in found.modified}
    named = {use.path for use in found.read} | changed
    read: dict[str, list[EntryIndex]] = {}
    modified: dict[str, list[EntryIndex]] = {}
    for step in steps(session, session.tree.path(index)):
        if not step.inferred or step.outcome is StepOutcome.FAILED:
            continue
        for name in (step.path, step.to):
            changes = step.operation.changes and not (
                step.operation is FileOperation.COPY and name == step.path
            )
            if name is None or name in (changed if changes else named):
                continue
            noted = (modified if changes else read).setdefault(name, [])
            if not noted or noted[-1] != step.entry:
                noted.append(step.entry)
    names = sorted(read.keys() - modified.keys(), key=utf16_order), sorted(modified, key=utf16_order)
    return WorkingSet(
        tuple(FileUse(name, tuple(read[name])) for name in names[0]),
        tuple(FileUse(name, tuple(modified[name])) for name in names[1]),
    )


def _json(session: Session, use: FileUse) -> dict[str, Any]:
    return {"path": use.path, "entries": [session.columns.id_at(entry) for entry in use.entries]}


def _text(
    session: Session,
    found: WorkingSet,
    inferred: WorkingSet,
    listed: WorkingSet,
    looked: Sequence[Searched],
    page: Page,
) -> Iterator[str]:
    groups = (
        ("modified", found.modified, "bold"),
        ("read", found.read, "faint"),
        ("modified by commands, inferred", inferred.modified, "faint"),
        ("read by commands, inferred", inferred.read, "faint"),
        ("modified elsewhere, listed by summaries", listed.modified, "faint"),
        ("read elsewhere, listed by summaries", listed.read, "faint"),
    )
    if not any(uses for _, uses, _ in groups):
        yield "no file was read or modified on this path"
    names = shown_ids(session, (use.entries[-1] for _, uses, _ in groups for use in uses))
    width = max(20, page.width - 19 - max(map(cells, names.values()), default=0))
    for title, uses, style in groups:
        if uses:
            yield page.style(f"{title}  {counted(len(uses), 'file')}", style)
        for use in uses:
            # The end of a path tells files apart.
            path = pad(shortened(safe_line(use.path), width, cells, page.gap), width)
            entries = pad(counted(len(use.entries), "entry", "entries"), 13, right=True)
            yield f"  {path}  {entries}  {page.style(names.get(use.entries[-1], ''), 'faint')}"
    if looked:
        yield page.style(f"searched  {counted(len(looked), 'place')}", "faint")
    for place in looked:
        words = ", ".join(
            (*place.patterns[:4], *(["…" if page.unicode else "..."] if place.patterns[4:] else []))
        )
        yield page.fit(f"  {safe_line(place.path)}  {safe_line(words)}".rstrip(), page.width)


def _named(session: Session, path: str, known: Iterable[str]) -> str:
    """A path as the session names it. Raises NotFound if no call touched such a file."""
    located = locate(path, session.cwd, tidy=table_of(session).tidies_paths)
    names = set(known)
    if located in names:
        return located
    close = sorted(name for name in names if name.endswith(f"/{located}"))
    if len(close) == 1:
        return close[0]
    if close:
        raise NotFound(f"several files end in {path}: {', '.join(close[:4])}")
    raise NotFound(f"no call touched a file {path}")


def _timeline(session: Session, index: EntryIndex, path: str, as_json: bool) -> int:
    every = steps(session, range(len(session)))
    named = _named(session, path, {name for step in every for name in (step.path, step.to) if name})
    on_path = set(session.tree.path(index))
    found = timeline(session, named)
    if as_json:
        emit_json(
            {
                "at": session.columns.id_at(index),
                "path": named,
                "steps": [_step(session, one, on_path) for one in found],
            }
        )
        return 0
    out = page()
    names = shown_ids(session, (one.entry for one in found))
    wide = max(map(cells, names.values()), default=0)

    def lines() -> Iterator[str]:
        yield out.style(f"{safe_line(named)}  {counted(len(found), 'step')}", "bold")
        for one in found:
            where = "" if one.entry in on_path else "another branch"
            did = one.operation.value + (f" to {one.to}" if one.to else "")
            numbers = (
                f"+{one.added} -{one.removed}" if one.operation.changes and (one.added or one.removed) else ""
            )
            state = "" if one.outcome is StepOutcome.DONE else one.outcome.value
            inferred = "inferred" if one.inferred else ""
            rest = "  ".join(part for part in (numbers, state, inferred, where) if part)
            name = safe_line(one.path) if one.path != named else ""
            yield f"  {pad(names[one.entry], wide)}  {pad(safe_line(did), 14)} {name} {rest}".rstrip()

    say(lines())
    return 0


def _step(session: Session, one: ReplayStep, on_path: set[int]) -> dict[str, Any]:
    return {
        "entry": session.columns.id_at(one.entry),
        "path": one.path,
        "to": one.to,
        "deed": one.operation.value,
        "outcome": one.outcome.value,
        "inferred": one.inferred,
        "added": one.added,
        "removed": one.removed,
        "on_path": one.entry in on_path,
    }


def _rebuild(session: Session, index: EntryIndex, path: str, bases: Bases | None, as_json: bool) -> int:
    made = PathFiles(session, index, bases)
    named = _named(session, path, made.paths)
    found = made.rebuilt(named)
    doubt = RecordedFiles(session, index).doubt(found)
    code = 0 if found.certainty in KNOWN else 1
    if as_json:
        emit_json({"at": session.columns.id_at(index), "doubt": doubt, **rebuilt_json(session, found)})
        return code
    if found.text is not None:
        write_text(found.text)
    else:
        for span in found.spans:
            write_text(
                "".join(f"{span.first + place:>6}  {safe(line)}\n" for place, line in enumerate(span.lines))
            )
        for piece in found.pieces:
            write_text(f"     ~  {safe(piece)}\n")
    note(_state(found, doubt))
    return code


def _state(found: Rebuilt, doubt: str) -> str:
    remarks = ", ".join(sorted({remark.words for _, remark in found.remarks}))
    if not remarks and found.certainty not in KNOWN:
        remarks = "never read as a whole"
    rest = resting(found.base) if found.certainty is not Certainty.ABSENT else ""
    every = "with the calls of other branches" if found.every_branch else ""
    unsure = "" if found.newline else "whether it ends in a newline is not known"
    ends = "" if found.ends else NO_ENDS
    sure = f"{found.certainty.value} by its calls" if doubt else found.certainty.value
    parts = (f"{safe_line(found.path)}: {sure}", doubt, rest, every, unsure, ends, remarks)
    return "; ".join(part for part in parts if part)


def _store(
    session: Session, index: EntryIndex, folder: Path, bases: Bases | None, dry_run: bool, as_json: bool
) -> int:
    known = PathFiles(session, index, bases).files()
    recorded = RecordedFiles(session, index)
    done: RebuiltFolder = write_rebuilt(known, folder, session.cwd, dry_run=dry_run)
    stored = set(done.files)
    written = [one for one in known if one.path in stored]
    unsure = [one.path for one in written if not one.ends]
    doubts = [(one.path, doubt) for one in written if (doubt := recorded.doubt(one))]
    new = counted(len(done.files), "file was", "files were") if done.files and not dry_run else ""
    with after(f"{new} written to {done.folder}" if new else ""):
        if as_json:
            emit_json(
                {
                    "at": session.columns.id_at(index),
                    "folder": str(done.folder),
                    "dry_run": dry_run,
                    "files": list(done.files),
                    "size": done.size,
                    "left_out": [{"path": path, "reason": why} for path, why in done.left_out],
                    "failed": list(done.failed),
                    "rests_on": _rests_on(written),
                    "doubted": [{"path": path, "why": why} for path, why in doubts],
                    "ends_unknown": unsure,
                }
            )
            return 1 if done.failed else 0
        size = f"{counted(len(done.files), 'file')}, {done.size:,} bytes"
        say(f"{'would write' if dry_run else 'wrote'} {size}, to {pasted_path(str(done.folder))}")
        say(f"  {safe_line(path)}" for path in done.files)
    for one in _rests_on(written):
        note(f"{safe_line(one['path'])}: {one['why']}")
    for path, why in doubts:
        note(f"{safe_line(path)}: not certain, {why}")
    if unsure:
        note(f"line ends of {counted(len(unsure), 'file')} are not recorded: they are written with newlines")
    for path, why in done.left_out:
        note(f"left out {safe_line(path)}: {safe_line(why)}")
    if done.failed:
        note(f"{counted(len(done.failed), 'file')} could not be written")
    return 1 if done.failed else 0


def _rests_on(written: Iterable[Rebuilt]) -> list[dict[str, str]]:
    """Written files that needed more than the calls on the path, with the reason."""
    remarks = []
    for one in written:
        if one.every_branch:
            remarks.append({"path": one.path, "why": "with the calls of other branches"})
        elif one.base not in CALL_BASES:
            remarks.append({"path": one.path, "why": resting(one.base)})
    return remarks
