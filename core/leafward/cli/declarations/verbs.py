"""The verbs as `--help` shows them: arguments, options, examples. The code of a verb is loaded when it runs.

Verbs that change a session are declared in `change_verbs`, those about compactions and summaries in `compaction_verbs`, and
those that compare in `branch_verbs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from leafward.cli.declarations import branch_verbs, change_verbs, compaction_verbs
from leafward.cli.declarations.command import (
    at_option,
    dry_run_option,
    json_option,
    leafward,
    select_option,
    session_argument,
    verb,
)
from leafward.cli.options.option_fields import NamedPath

if TYPE_CHECKING:
    from leafward.cli.options.branch_options import ForkOptions
    from leafward.cli.options.catalogue_options import AuditOptions, ListOptions, SearchOptions
    from leafward.cli.options.session_options import ExportOptions, FilesOptions

__all__ = ["branch_verbs", "change_verbs", "compaction_verbs", "leafward"]


_among_option = click.option(
    "--among", multiple=True, metavar="PATH", help="Only sessions in PATH, a file or a folder (repeatable)."
)


@verb(
    "leafward ls --project orchard",
    "leafward ls ./sessions --json",
    "leafward ls --totals --by day",
    options="catalogue_options.ListOptions",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@json_option
def ls(paths: tuple[str, ...], options: ListOptions, as_json: bool) -> int:
    """List sessions, newest first.

    With PATH, only the sessions there: one session, by its file or its id, or a folder with everything below it.
    Totals count shared history once, and say how many sessions have no recorded cost.

    Columns: msg messages, br branches, cmp compactions. A fork names its parent; a copy only begins as another session
    does.
    """
    from leafward.cli.verbs.ls import ls as run

    if (
        not options.add_up
        and click.get_current_context().get_parameter_source("by") is ParameterSource.COMMANDLINE
    ):
        raise click.UsageError("--by needs --totals")
    return run(paths, options, as_json)


@verb(
    "leafward search idempotency",
    "leafward search '\"rate limit\" tool:bash since:7d'",
    "leafward search '/retry(ing)? in \\d+s/ error:' --agent codex",
    options="catalogue_options.SearchOptions",
)
@click.argument("query")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@json_option
def search(query: str, paths: tuple[str, ...], options: SearchOptions, as_json: bool) -> int:
    """Search all text of all sessions, newest first.

    QUERY is words, "a phrase", /a pattern/, and terms: file:PATH, tool:NAME, in:summary, error:, agent:, project:,
    since:7d, not:WORD. Prompts, replies, thinking, calls, results and summaries are searched, on every branch.
    error: together with file:PATH finds failed calls on that file, with tool:NAME failed calls of that tool. With
    PATH, only the sessions there are searched.

    Text that a fork or copy shares with its source is listed once, at the source, if both are searched; a line at
    the end says how many hits were left out that way. If --project or PATH excludes the source, they are listed at
    the fork.

    The functions and operators of `leafward select` narrow the search further: timeout & ancestors(leaf), "lost" |
    "gone". A plain word is text here (in `select` it names an entry); operators between plain words are text too,
    and so is everything in quotes.
    """
    from leafward.cli.verbs.search import search as run

    return run(query, paths, options, as_json)


@verb("leafward blame src/app.py", "leafward blame src/app.py:10-40", "leafward blame src/app.py --json")
@click.argument("place", metavar="FILE[:LINE[-LINE]]")
@_among_option
@json_option
def blame(place: str, among: tuple[str, ...], as_json: bool) -> int:
    """Show which turn of which session wrote each line of a file.

    Reads all sessions of the file's project, of every agent. Contents decide, not commits: a line keeps its turn
    through commits, squashes and rebases. A line gets a turn only if no other turn can have written it; other lines
    are "by hand", "unsure" or "unknown". Turns on abandoned branches that wrote the same line are listed too.
    """
    from leafward.cli.verbs.blame import run_blame

    return run_blame(place, among, as_json)


@verb("leafward why src/app.py:12", "leafward why src/app.py:12 --json")
@click.argument("place", metavar="FILE:LINE")
@_among_option
@json_option
def why(place: str, among: tuple[str, ...], as_json: bool) -> int:
    """Show why a line is there.

    Shows what you asked, what the agent said, and which checks ran afterwards. The turn is the one that `leafward
    blame` shows. Checks are tests, builds, type checks, linters and scripts such as check.py: those of the first turn, from
    the change on, that ran any.
    """
    from leafward.cli.verbs.blame import run_why

    return run_why(place, among, as_json)


@verb(
    "leafward audit",
    "leafward audit --project orchard --json",
    "leafward audit ./sessions --kind 'private key'",
    options="catalogue_options.AuditOptions",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@json_option
def audit(paths: tuple[str, ...], options: AuditOptions, as_json: bool) -> int:
    """List where secrets are in sessions, without showing them.

    Each secret is listed with its kind, session, entry, project and time. Searches all sessions of all agents,
    every branch and record; with PATH, only the sessions there. The same secret has the same number everywhere.
    ctrl-c stops the search and lists what was found so far.
    """
    from leafward.cli.verbs.audit import audit as run

    return run(paths, options, as_json)


@verb(
    "leafward tree 019f3c",
    "leafward tree session.jsonl --json",
    "leafward tree 019f3c --select 'changed(\"src/**\")'",
)
@session_argument
@click.option("--entries", "every_entry", is_flag=True, help="One row per entry instead of one per turn.")
@click.option("--archived", is_flag=True, help="Show archived branches in full instead of as one row.")
@select_option
@json_option
def tree(session: str, every_entry: bool, archived: bool, select: str | None, as_json: bool) -> int:
    """Show a session's branches.

    One row is one turn. The active path stays in the first lane; a branch follows the turn where it leaves the
    path. The id is that of the turn's prompt. At the right: #N, the turn's last entry; other verbs that get it
    take the whole turn (`leafward move 019f3c '#12'`). Then edits, tool calls, and the tokens that the turn adds. In
    a narrow terminal +2 means two more marks on the row, and 3│ that three lanes share a column. With --select, only
    rows of selected entries, and the rows where their branches start.
    """
    from leafward.cli.verbs.tree import tree as run

    return run(session, as_json, every_entry, archived, select)


@verb("leafward show 019f3c 1a2b3c4d", "leafward show 019f3c '#12' --json")
@session_argument
@click.argument("entry", required=False)
@json_option
def show(session: str, entry: str | None, as_json: bool) -> int:
    """Show one whole entry.

    Without ENTRY, the entry at the leaf.
    """
    from leafward.cli.verbs.tree import show as run

    return run(session, entry, as_json)


@verb("leafward context 019f3c", "leafward context 019f3c --at 1a2b3c4d --json")
@session_argument
@at_option
@json_option
def context(session: str, at: str | None, as_json: bool) -> int:
    """Show what the model sees at an entry.

    Compactions, context edits and branch summaries are applied; each message names the entry it comes from. The total is
    what the provider counted, as far as the file records it; ~ marks an estimate, as the sizes of single messages are.
    """
    from leafward.cli.verbs.context import context as run

    return run(session, at, as_json)


@verb(
    "leafward files 019f3c",
    "leafward files 019f3c --timeline src/app.py",
    "leafward files 019f3c --at 1a2b3c4d --into ./then",
    options="session_options.FilesOptions",
)
@session_argument
@dry_run_option
@json_option
def files(session: str, options: FilesOptions, dry_run: bool, as_json: bool) -> int:
    """List the files read and modified on the path to an entry.

    Files that shell commands touched are inferred from the command lines and listed separately. Contents are
    rebuilt from the recorded calls; only exact contents are written, and files that another program may have changed
    are named.
    """
    chosen = [options.timeline is not None, options.rebuild is not None, options.into is not None]
    if sum(chosen) > 1:
        raise click.UsageError("choose one of --timeline, --rebuild and --into")
    if options.base is not None and options.rebuild is None and options.into is None:
        raise click.UsageError("--base needs --rebuild or --into")
    if dry_run and options.into is None:
        raise click.UsageError("--dry-run needs --into; without it nothing is written")
    from leafward.cli.verbs.files import files as run

    return run(session, options, dry_run, as_json)


@verb("leafward doctor", "leafward doctor session.jsonl --json")
@click.argument("session", required=False)
@click.option(
    "--forget",
    is_flag=True,
    help="Instead delete the index of all sessions and what is kept for injection, which are rebuilt, and documents left over from imports.",
)
@click.option(
    "--clear-litter",
    is_flag=True,
    help="Instead remove what interrupted writes of Leafward left: only its own files, at least an hour old, that no program"
    " still writes; and copies of restores beyond what the configuration keeps.",
)
@dry_run_option
@json_option
@click.pass_context
def doctor(
    ctx: click.Context, session: str | None, forget: bool, clear_litter: bool, dry_run: bool, as_json: bool
) -> int:
    """Check a session for damage.

    Without SESSION, checks all sessions, the configuration and Leafward's own folders. Every line is decoded; each
    problem is listed with its entry and byte offset. The exit code is 0 even with problems, and 1 only if SESSION
    cannot be read at all. Nothing is repaired.
    """
    if dry_run and not (forget or clear_litter):
        raise click.UsageError("--dry-run needs --forget or --clear-litter")
    if forget and clear_litter:
        raise click.UsageError("--forget and --clear-litter exclude each other")
    if session is not None and (forget or clear_litter):
        raise click.UsageError(
            f"{'--forget' if forget else '--clear-litter'} is for all sessions; do not name one"
        )
    if forget:
        from leafward.cli.verbs.forget import forget as drop

        return drop(dry_run, as_json)
    if clear_litter:
        from leafward.cli.verbs.doctor import clear_litter as clear

        return clear(dry_run, as_json)
    from leafward.cli.verbs.doctor import doctor as run

    return run(session, as_json, ctx.obj.check)


@verb(
    "leafward export 019f3c --format html -o session.html",
    "leafward export 019f3c --all > session.md",
    "leafward export 019f3c --select 'prompts() | summaries()' > prompts.md",
    options="session_options.ExportOptions",
)
@session_argument
@json_option
def export(session: str, options: ExportOptions, as_json: bool) -> int:
    """Export a session as a document.

    Keys and tokens in it are replaced by visible marks. With --json, prints a description of the document, which
    includes its text unless -o names a FILE.
    """
    from leafward.cli.verbs.export import export as run

    return run(session, options, as_json)


@verb(
    "leafward fork 019f3c 1a2b3c4d --dry-run",
    "leafward fork 019f3c 1a2b3c4d --to pi",
    "leafward fork 019f3c '#12' --summary extractive --run",
    "leafward fork 019f3c leaf --cwd ~/orchard",
    options="branch_options.ForkOptions",
)
@session_argument
@click.argument("entry")
@dry_run_option
@json_option
def fork(session: str, entry: str, options: ForkOptions, dry_run: bool, as_json: bool) -> int:
    """Begin a new session from an entry of an old one.

    If ENTRY is a prompt, the new session ends before it, and the prompt is printed for you to edit; otherwise it
    ends after ENTRY. For the same agent, the stored entries are copied; for another agent, what the model saw is
    converted to its format. The old session and your files are not changed. The command that continues the new
    session is shown. opencode needs an import: that command is shown too, and --import runs it.
    """
    from leafward.cli.verbs.fork import fork as run

    return run(session, entry, options, dry_run, as_json)


@verb("leafward heal 019f3c --dry-run", "leafward heal 019f3c", "leafward heal 019f3c --anyway")
@session_argument
@click.option(
    "--cwd", metavar="FOLDER", help="Work in this folder, which must exist (default: the old session's)."
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Write the new session, which has no thinking, even if nothing else needs a change.",
)
@dry_run_option
@json_option
def heal(session: str, cwd: str | None, anyway: bool, dry_run: bool, as_json: bool) -> int:
    """Begin a new session from one that its agent or provider rejects.

    The new session has the context of the leaf, without what makes providers reject it; every change is listed. A
    call without a result gets one that says so. Results without calls, empty and repeated blocks, and thinking
    without a signature are left out. Invalid call names and ids, and broken characters, are replaced; images and
    documents that providers reject become a line of text. A context larger than the model's window begins with a
    summary made without a model. The old session is not changed. If nothing needs a change, nothing is written;
    --anyway writes the new session even then, without thinking, because Leafward cannot tell which thinking a
    provider still accepts.
    """
    from leafward.cli.verbs.heal import heal as run

    return run(session, cwd, anyway, dry_run, as_json)


@verb("leafward relocate ~/orchard ~/grove --dry-run", "leafward relocate ~/orchard ~/grove")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@dry_run_option
@json_option
def relocate(old: str, new: str, dry_run: bool, as_json: bool) -> int:
    """Copy the sessions of a moved folder to its new place.

    Every session that worked in OLD, or in a folder below it, gets a fork of its leaf that works in NEW, in the
    same agent. The old sessions are not changed. Run again, it copies only what is missing: sessions that failed,
    and those that continued in OLD meanwhile. For opencode, its import is run; Codex lists a new session only after
    you resume it by its id. The exit code is 1 if a session cannot be copied; the others are copied anyway.
    """
    from leafward.cli.verbs.relocate import relocate_sessions as run

    return run(old, new, dry_run, as_json)


@verb("leafward resume 019f3c", "leafward resume 019f3c --print")
@session_argument
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
@json_option
def resume(session: str, only_print: bool, as_json: bool) -> int:
    """Continue a session in its agent.

    Runs the agent's own command in the session's folder, and returns its exit code. With --print or --json, nothing
    is run. If that folder is gone, nothing is run either: create it again, or begin a new session in another folder
    with `fork SESSION leaf --cwd FOLDER`.
    """
    from leafward.cli.verbs.resume import resume as run

    return run(session, only_print, as_json)


@verb("leafward demo", "leafward demo --copy hopper.jsonl")
@click.option(
    "--copy",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Write the session to a new file, to try the verbs on.",
)
@json_option
@click.pass_context
def demo(ctx: click.Context, copy: Path | None, as_json: bool) -> int:
    """Open a bundled session.

    An engineer's day with branches, compactions, failures and labels, copied to a temporary folder that is removed
    afterwards. Without a terminal its tree is printed.
    """
    from leafward.cli.application import copy_demo, open_demo

    return open_demo(ctx.obj.open, as_json) if copy is None else copy_demo(copy, as_json)
