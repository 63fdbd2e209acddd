"""The verbs that change a session or its place on disk, and the log of changes: each change has a verb that undoes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leafward.cli.declarations.command import dry_run_option, json_option, session_argument, verb
from leafward.cli.options.option_fields import NamedPath

if TYPE_CHECKING:
    from leafward.cli.options.branch_options import BisectOptions, MoveOptions
    from leafward.cli.options.session_options import RestoreOptions


@verb(
    "leafward move 019f3c 1a2b3c4d --dry-run",
    "leafward move 019f3c 1a2b3c4d --before",
    "leafward move 019f3c 1a2b3c4d --summary extractive",
    options="branch_options.MoveOptions",
)
@session_argument
@click.argument("entry")
@dry_run_option
@json_option
def move(session: str, entry: str, options: MoveOptions, dry_run: bool, as_json: bool) -> int:
    """Move the leaf, so that the agent continues from ENTRY.

    One line is appended to the file; nothing is rewritten, and `leafward undo` undoes it. The price says what the
    context drops and adds, and how much of the provider's cache stays valid. Restart a running agent to pick this
    up.
    """
    from leafward.cli.verbs.move import move as run

    return run(session, entry, options, dry_run, as_json)


@verb("leafward undo 019f3c", "leafward undo 019f3c --op 5e6f7a8b")
@session_argument
@click.option(
    "--op", metavar="OP", help="The operation to undo, as `leafward log` names it (default: the last)."
)
@dry_run_option
@json_option
def undo(session: str, op: str | None, dry_run: bool, as_json: bool) -> int:
    """Undo the last operation.

    The inverse is appended; nothing is removed from the file. The agent's own operations are undone only if you
    name them with --op.
    """
    from leafward.cli.verbs.operations import undo as run

    return run(session, op, dry_run, as_json)


@verb("leafward redo 019f3c")
@session_argument
@dry_run_option
@json_option
def redo(session: str, dry_run: bool, as_json: bool) -> int:
    """Redo the operation that was last undone."""
    from leafward.cli.verbs.operations import redo as run

    return run(session, dry_run, as_json)


@verb(
    "leafward restore 019f3c 1a2b3c4d --dry-run --diff",
    "leafward restore 019f3c 1a2b3c4d src/app.py",
    "leafward restore 019f3c 1a2b3c4d --cwd ~/src/orchard",
    "leafward restore 019f3c --undo",
    options="session_options.RestoreOptions",
)
@session_argument
@click.argument("entry", required=False)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@dry_run_option
@json_option
def restore(
    session: str,
    entry: str | None,
    paths: tuple[str, ...],
    options: RestoreOptions,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Restore the project's files as they were at ENTRY.

    Restores only files whose content at ENTRY is certain, and only if the file on disk is still as the session, git
    or a restore left it. All other files are listed with the reason. Replaced files are copied first.
    """
    if options.undo == (entry is not None):
        raise click.UsageError("name an ENTRY, or --undo")
    if options.undo and options.cwd is not None:
        raise click.UsageError("--undo knows its folder; leave out --cwd")
    if options.undo and (options.diff or options.overwrite):
        raise click.UsageError("--undo puts all files back; leave out --diff and --overwrite")
    from leafward.cli.verbs.restore import run_restore, run_undo

    if entry is None:
        return run_undo(session, dry_run, as_json)
    return run_restore(session, entry, paths, options, dry_run, as_json)


@verb(
    "leafward bisect 019f3c --good 1a2b3c4d --bad leaf -- pytest -q",
    "leafward bisect 019f3c --good '#12' --bad leaf --base v1.2 -- make test",
    options="branch_options.BisectOptions",
)
@session_argument
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@json_option
def bisect(session: str, command: tuple[str, ...], options: BisectOptions, as_json: bool) -> int:
    """Find the turn after which COMMAND fails.

    The files at the end of a turn are rebuilt over the base in a temporary folder, and COMMAND is run there; the
    project is never written to. Exit code 0 means pass, 125 means cannot tell, others up to 127 mean fail. Turns
    whose files are not certain are skipped; if several turns remain, they are listed and the exit code is 1.
    """
    from leafward.cli.verbs.bisect import run_bisect

    return run_bisect(session, command, options, as_json)


@verb("leafward log 019f3c")
@session_argument
@json_option
def log(session: str, as_json: bool) -> int:
    """List the operations on a session.

    Moves, labels, names and archived branches, in the order of the file, those of the agent included. Then the
    restores of its files.
    """
    from leafward.cli.verbs.operations import log as run

    return run(session, as_json)


@verb("leafward label 019f3c 1a2b3c4d 'tests green'", "leafward label 019f3c 1a2b3c4d ''")
@session_argument
@click.argument("entry")
@click.argument("text")
@dry_run_option
@json_option
def label(session: str, entry: str, text: str, dry_run: bool, as_json: bool) -> int:
    """Label an entry.

    An empty TEXT removes the label. The leaf stays where it is.
    """
    from leafward.cli.verbs.label import label as run

    return run(session, entry, text, dry_run, as_json)


@verb("leafward name 019f3c 'Port the selectors'")
@session_argument
@click.argument("text")
@dry_run_option
@json_option
def name(session: str, text: str, dry_run: bool, as_json: bool) -> int:
    """Name a session.

    An empty TEXT removes the name. The leaf stays where it is.
    """
    from leafward.cli.verbs.label import name as run

    return run(session, text, dry_run, as_json)


@verb("leafward archive 019f3c", "leafward archive 019f3c 1a2b3c4d", "leafward archive 019f3c --undo")
@session_argument
@click.argument("entry", required=False)
@click.option("--undo", "unarchive", is_flag=True, help="Unarchive it.")
@dry_run_option
@json_option
def archive(session: str, entry: str | None, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """Hide a session, or one of its branches.

    With ENTRY, hides the branch that begins there; its rows become one row with a count. Nothing is removed from
    the file.
    """
    if entry is None:
        from leafward.cli.verbs.label import archive_session

        return archive_session(session, unarchive, dry_run, as_json)
    from leafward.cli.verbs.label import archive as run

    return run(session, entry, unarchive, dry_run, as_json)


@verb("leafward keep 019f3c", "leafward keep 019f3c --dry-run", "leafward keep 019f3c --sanitised ./to-share")
@session_argument
@click.option(
    "--sanitised",
    type=NamedPath(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write a copy without secrets into FOLDER instead, in the agent's own format.",
)
@dry_run_option
@json_option
def keep(session: str, sanitised: Path | None, dry_run: bool, as_json: bool) -> int:
    """Keep a copy of a session where its agent cannot delete it.

    The copy includes sub-agents and the files beside the session. Lists show it once the original is gone. Run
    again, it copies what has changed since. With --sanitised the copy goes into FOLDER, and each secret in it is
    replaced by the name of its kind.
    """
    from leafward.cli.verbs.keep import keep as run
    from leafward.cli.verbs.keep import keep_sanitised

    return (
        run(session, dry_run, as_json)
        if sanitised is None
        else keep_sanitised(session, sanitised, dry_run, as_json)
    )


@verb("leafward delete 019f3c --dry-run", "leafward delete 019f3c", "leafward delete 019f3c --undo")
@session_argument
@click.option("--undo", is_flag=True, help="Bring a session back from the trash.")
@dry_run_option
@json_option
def delete(session: str, undo: bool, dry_run: bool, as_json: bool) -> int:
    """Move a session of pi to the trash.

    The trash is Leafward's own; --undo puts the file back where it was. Forks of the session stay. Only sessions of
    pi can be deleted.
    """
    from leafward.cli.verbs.delete import delete as run

    return run(session, undo, dry_run, as_json)
