"""The verb `restore`: restores the files of a project as they were at an entry, or undoes that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leafward.base.errors import NotFound, Refused
from leafward.base.figures import counted
from leafward.base.safe_text import pasted_path, safe, safe_line
from leafward.base.shown_path import shortened
from leafward.branches.diff.patches import restore_diff as diff_of
from leafward.cli.output.page import cells, emit_json, note, pad, page, say, wrapped
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.files.file_names import locate
from leafward.files.file_replay.bases import WorkspaceBases
from leafward.files.restoration.plan import RestoreAction, plan_restore
from leafward.files.restoration.record import (
    RestoreState,
    halfway_words,
    interrupted,
    last_left,
    undo_command,
)
from leafward.files.restoration.undo_step import restores_of
from leafward.files.restoration.write import last_entry, project_of, restore, undo
from leafward.files.tool_calls import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.cli.options.session_options import RestoreOptions
    from leafward.cli.output.page import Page
    from leafward.files.restoration.plan import RestoredFile, RestorePlan
    from leafward.files.restoration.project_folder import ProjectFolder
    from leafward.files.restoration.record import Record
    from leafward.session.session import Session


def run_restore(
    selector: str, entry: str, paths: Sequence[str], options: RestoreOptions, dry_run: bool, as_json: bool
) -> int:
    """`leafward restore SESSION ENTRY`."""
    if options.overwrite and not paths:
        raise click.UsageError("--overwrite needs the paths of the files")
    with opened(selector) as session, _project(session, options.cwd) as folder:
        index = session.find(entry)
        bases = WorkspaceBases(Path(folder.path))
        plan = plan_restore(session, index, folder, last_left(folder.path), bases.committed, bases)
        named = [_named(plan, session, path) for path in paths]
        chosen = plan.chosen(named, overwrite=options.overwrite)
        risky = {one.path for one in plan.changes if one.action is RestoreAction.LEAVE} & {
            one.path for one in chosen
        }
        shown = [one for one in plan.changes if not named or one.path in named]
        if not as_json:
            say(_list(shown, chosen, page()))
            for one in shown:
                if (options.diff and one.is_possible) or one.path in risky:
                    say(safe(line) for line in diff_of(one))
        halfway = interrupted(folder.path)
        if halfway is not None:
            if not dry_run:
                raise Refused(halfway_words(halfway))
            if not as_json:
                note(halfway_words(halfway))
        record = None
        if chosen and not dry_run:
            record = restore(folder, session.id, plan.entry, chosen, last_entry(session))
        restored = counted(len(chosen), "file was", "files were")
        with after(f"{restored} restored in {folder.path}" if record is not None else ""):
            if as_json:
                document = _document(session, index, plan, shown, chosen, record, dry_run)
                if halfway is not None:
                    document["diagnostics"] = [{"code": "halfway", "text": halfway_words(halfway)}]
                emit_json(document)
            else:
                offered = sum(one.offered is not None for one in shown)
                _say_done(len(chosen), offered, record, dry_run, page())
        left = {one.path for one in shown if one.action is RestoreAction.LEAVE} - {one.path for one in chosen}
    return 1 if named and left else 0


def run_undo(selector: str, dry_run: bool, as_json: bool) -> int:
    """`leafward restore SESSION --undo`."""
    with opened(selector) as session:
        found = [one for one in restores_of(session) if one.state is not RestoreState.UNDONE]
        if not found:
            raise NotFound("this session has no restore to undo")
        with project_of(session, found[-1].folder) as folder:
            done = undo(folder, found[-1], dry_run=dry_run)
    back = counted(len(done.paths), "file was", "files were")
    with after(f"{back} put back in {done.record.folder}" if not dry_run else ""):
        if as_json:
            document = {
                "restore": done.record.number,
                "folder": done.record.folder,
                "files": list(done.paths),
            }
            emit_json({**document, "dry_run": dry_run, "diagnostics": []})
            return 0
        does = "would put back" if dry_run else "put back"
        say(f"{does} {counted(len(done.paths), 'file')} as before restore {done.record.number}")
        say(f"  {safe_line(path)}" for path in done.paths)
    return 0


def _project(session: Session, named: str | None) -> ProjectFolder:
    """The project's folder. Raises Refused where it is missing; without one named, that says how to name it."""
    try:
        return project_of(session, named)
    except Refused as error:
        if named is not None:
            raise
        raise Refused(f"{error}; --cwd FOLDER names the one that it is in now") from error


def _named(plan: RestorePlan, session: Session, path: str) -> str:
    located = locate(path, session.cwd, tidy=table_of(session).tidies_paths)
    if all(one.path != located for one in plan.changes):
        raise NotFound(f"no call touched a file {safe_line(path)}")
    return located


def _list(shown: Sequence[RestoredFile], chosen: Sequence[RestoredFile], page: Page) -> Iterator[str]:
    actions = {one.path: one.action for one in chosen}
    same = sum(one.action is RestoreAction.SAME for one in shown)
    longest = max(
        (cells(safe_line(one.path)) for one in shown if one.action is not RestoreAction.SAME), default=0
    )
    width = min(longest, max(20, page.width - 50))
    for one in shown:
        if one.action is RestoreAction.SAME:
            continue
        action = actions.get(one.path, RestoreAction.LEAVE)
        why = one.why
        if one.offered and one.path not in actions:
            why += f"; name it with --overwrite to {one.offered.value} it"
        if one.remark and one.path in actions:
            why += f"; {one.remark}"
        path = pad(shortened(safe_line(one.path), width, cells, page.gap), width)
        style = "faint" if action is RestoreAction.LEAVE else "bold"
        reason = safe_line(why)
        if cells(path) + cells(reason) + 10 <= page.width:
            yield page.style(f"{pad(action.value, 7)} {path}  {reason}", style)
            continue
        # In a narrow page the whole path is above its reason.
        yield page.style(f"{pad(action.value, 7)} {safe_line(one.path)}", style)
        for line in wrapped(reason, page, first=" " * 8, below=" " * 8):
            yield page.style(line, style)
    if same:
        yield page.style(f"{counted(same, 'file is', 'files are')} already as at the entry", "faint")
    if not shown:
        yield "the session touched no file"


def _say_done(number: int, offered: int, record: Record | None, dry_run: bool, page: Page) -> None:
    if not number and offered:
        words = f"nothing restored: {counted(offered, 'file is', 'files are')} written only if named with --overwrite"
        say(wrapped(words, page))
    elif not number:
        say("nothing to restore")
    elif dry_run:
        say(f"would restore {counted(number, 'file')}")
    elif record is not None:
        words = f"restored {counted(number, 'file')}; the files from before are in {pasted_path(str(record.place))}"
        say(wrapped(words, page))
        say(page.style(f"{undo_command(record.session)}  puts them back", "faint"))


def _document(
    session: Session,
    index: int,
    plan: RestorePlan,
    shown: Sequence[RestoredFile],
    chosen: Sequence[RestoredFile],
    record: Record | None,
    dry_run: bool,
) -> dict[str, Any]:
    actions = {one.path: one.action for one in chosen}
    return {
        "at": session.columns.id_at(index),
        "folder": plan.folder,
        "dry_run": dry_run,
        "restore": record.number if record is not None else None,
        "copies": str(record.place) if record is not None else None,
        "files": [
            {
                "path": one.path,
                "action": actions.get(
                    one.path, one.action if one.action is RestoreAction.SAME else RestoreAction.LEAVE
                ).value,
                "offered": one.offered.value if one.offered is not None else None,
                "reason": one.why,
                "remark": one.remark,
                "certainty": one.certainty.value,
                "base": one.base,
                "on_disk": one.before.presence.value,
                "diff": "\n".join(diff_of(one)) if one.is_possible else "",
            }
            for one in shown
        ],
        "undo": ["leafward", "restore", record.session, "--undo"] if record is not None else None,
        "diagnostics": [],
    }
