"""The verbs as `--help` shows them: arguments, options, examples. The code of a verb is loaded when it runs.

Verbs that change a session are declared in `changing_verbs`, those about compactions and summaries in `memory_verbs`, and
those that compare in `comparing_verbs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from leafward.cli.declarations import changing_verbs, comparing_verbs, memory_verbs
from leafward.cli.declarations.command import (
    at_option,
    dry_run_option,
    json_option,
    leafward,
    narrowing_options,
    select_option,
    session_argument,
    verb,
)
from leafward.cli.declarations.options import WholeNumber

if TYPE_CHECKING:
    from leafward.cli.declarations.branch_options import ForkOptions
    from leafward.cli.declarations.session_options import ExportOptions, FilesOptions

__all__ = ["changing_verbs", "comparing_verbs", "leafward", "memory_verbs"]


_among_option = click.option(
    "--among",
    multiple=True,
    metavar="PATH",
    help="Only sessions in PATH, a file or a folder; may be given several times.",
)


@verb("leafward ls --project orchard", "leafward ls ./sessions --json", "leafward ls --totals --by day")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@narrowing_options
@click.option(
    "--query", metavar="TEXT", help="Only sessions that TEXT finds: words, file:, since:, project:, agent:."
)
@click.option("--totals", "add_up", is_flag=True, help="Sums of tokens and costs instead of sessions.")
@click.option(
    "--by",
    type=click.Choice(["project", "agent", "day", "compaction"]),
    default="project",
    show_default=True,
    help="What --totals adds up by; compaction: what was repeated after them.",
)
@json_option
def ls(
    paths: tuple[str, ...],
    agent: str | None,
    project: str | None,
    query: str | None,
    add_up: bool,
    by: str,
    as_json: bool,
) -> int:
    """List sessions, newest first.

    With PATH only what lies there: a session file, or a folder searched whole. Sums count shared history once, and say
    how many sessions have no recorded cost.
    """
    from leafward.cli.ls import ls as run

    if not add_up and click.get_current_context().get_parameter_source("by") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--by says what --totals adds up by: add --totals")
    return run(paths, agent, project, query, by if add_up else None, as_json)


@verb(
    "leafward search idempotency",
    "leafward search '\"rate limit\" tool:bash since:7d'",
    "leafward search '/retry(ing)? in \\d+s/ error:' --agent codex",
)
@click.argument("query")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@narrowing_options
@click.option(
    "--limit",
    type=WholeNumber(1),
    metavar="N",
    default=200,
    show_default=True,
    help="List at most N hits, those of the newest sessions.",
)
@select_option
@json_option
def search(
    query: str,
    paths: tuple[str, ...],
    agent: str | None,
    project: str | None,
    limit: int,
    select: str | None,
    as_json: bool,
) -> int:
    """Search all text of all sessions, newest first.

    QUERY is words, "a phrase", /a pattern/, and terms: file:PATH, tool:NAME, in:summary, error:, agent:, project:,
    since:7d, not:WORD. Prompts, replies, thinking, calls, results and summaries are searched, on every branch.
    error: with file:PATH or tool:NAME finds the calls that touched the file, or of the tool, and failed. With PATH
    only what lies there.

    What a fork or copy repeats is listed in the session it comes from, as long as both are searched; a line below says
    how much that was. With --project or PATH that leave this session out, it is listed in the fork.

    The functions and signs of `leafward select` narrow further: timeout & ancestors(leaf), "lost" | "gone". A plain word
    is text here, and an entry in `select`; signs between plain words are text, and so is what stands in quotes.
    """
    from leafward.cli.search import search as run

    return run(query, paths, agent, project, limit, select, as_json)


@verb("leafward blame src/app.py", "leafward blame src/app.py:10-40", "leafward blame src/app.py --json")
@click.argument("place", metavar="FILE[:LINE[-LINE]]")
@_among_option
@json_option
def blame(place: str, among: tuple[str, ...], as_json: bool) -> int:
    """Say which turn of which session wrote each line of a file.

    All sessions of the file's project are read, those of every agent. Contents decide: a line keeps its turn over commits,
    squashes and rebases, and before any of them. A line is named after a turn only where nothing else can be meant; the
    others are by hand, unsure or unknown. Turns on abandoned branches that wrote the same line are listed too.
    """
    from leafward.cli.blame import run_blame

    return run_blame(place, among, as_json)


@verb("leafward why src/app.py:12", "leafward why src/app.py:12 --json")
@click.argument("place", metavar="FILE:LINE")
@_among_option
@json_option
def why(place: str, among: tuple[str, ...], as_json: bool) -> int:
    """Say why a line is there.

    What was asked, what the agent said, and what was checked after. The turn is that of `leafward blame`. Checks are tests, builds, types and linters, also scripts
    that are called so (check.py), of the first turn from the change on that ran any.
    """
    from leafward.cli.blame import run_why

    return run_why(place, among, as_json)


@verb(
    "leafward audit",
    "leafward audit --project orchard --json",
    "leafward audit ./sessions --kind 'private key'",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@narrowing_options
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only secrets of this kind; may be given again."
)
@json_option
def audit(
    paths: tuple[str, ...], agent: str | None, project: str | None, kinds: tuple[str, ...], as_json: bool
) -> int:
    """List where secrets lie in sessions, without showing them.

    Each is listed by its kind, session, entry, project and time. All sessions of all agents are looked through whole, every branch and record; with PATH only what lies there. The same
    secret has the same number wherever it stands. ctrl-c ends the search with what was found so far.
    """
    from leafward.cli.audit import audit as run

    return run(paths, agent, project, kinds, as_json)


@verb(
    "leafward tree 019f3c",
    "leafward tree session.jsonl --json",
    "leafward tree 019f3c --select 'changed(\"src/**\")'",
)
@session_argument
@click.option("--entries", "every_entry", is_flag=True, help="One row an entry instead of one a turn.")
@click.option("--archived", is_flag=True, help="Show archived branches too, instead of one row for each.")
@select_option
@json_option
def tree(session: str, every_entry: bool, archived: bool, select: str | None, as_json: bool) -> int:
    """Show a session's branches.

    One row is one turn. The active path stays in the first lane; a branch stands right after the turn it leaves. The
    id is that of the turn's prompt. At the right: the turn's last entry, #N, with which other verbs take the turn
    whole (`leafward move 019f3c '#12'`); edits, tool calls, and the tokens that the turn adds. With --select only
    rows of chosen entries, and the rows where their branches leave.
    """
    from leafward.cli.tree import tree as run

    return run(session, as_json, every_entry, archived, select)


@verb("leafward show 019f3c 1a2b3c4d", "leafward show 019f3c '#12' --json")
@session_argument
@click.argument("entry", required=False)
@json_option
def show(session: str, entry: str | None, as_json: bool) -> int:
    """Show one entry, whole.

    Without ENTRY the one at the leaf.
    """
    from leafward.cli.tree import show as run

    return run(session, entry, as_json)


@verb("leafward context 019f3c", "leafward context 019f3c --at 1a2b3c4d --json")
@session_argument
@at_option
@json_option
def context(session: str, at: str | None, as_json: bool) -> int:
    """Show what the model sees at an entry.

    Compactions, context edits and branch summaries are applied; each message names the entry it comes from. Sizes are
    counted as pi counts them.
    """
    from leafward.cli.context import context as run

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

    What shell commands touched is inferred from their words and stands apart. Contents are rebuilt from the recorded calls;
    only those that are exact are written.
    """
    from leafward.cli.files import files as run

    return run(session, options, dry_run, as_json)


@verb("leafward doctor", "leafward doctor session.jsonl --json")
@click.argument("session", required=False)
@click.option(
    "--forget",
    is_flag=True,
    help="Instead drop the index of all sessions, which is made anew, and documents that were left for an import.",
)
@click.option(
    "--clear-litter",
    is_flag=True,
    help="Instead remove what interrupted writes of Leafward left: only its own files, an hour old, that nobody writes any more;"
    " and copies of restores that are older, or more, than the configuration keeps.",
)
@dry_run_option
@json_option
@click.pass_context
def doctor(
    ctx: click.Context, session: str | None, forget: bool, clear_litter: bool, dry_run: bool, as_json: bool
) -> int:
    """Check a session for damage.

    Without SESSION all of them are checked, and the configuration and our folders. Every line is decoded; problems are
    named with their entry and byte offset. The exit code is 0 with problems too, and 1 only where SESSION cannot be
    read at all. Nothing is repaired.
    """
    if dry_run and not (forget or clear_litter):
        raise click.UsageError("--dry-run goes with --forget or --clear-litter")
    if forget and clear_litter:
        raise click.UsageError("--forget and --clear-litter are two things; name one")
    if session is not None and (forget or clear_litter):
        raise click.UsageError(
            f"{'--forget' if forget else '--clear-litter'} is about all sessions; name none"
        )
    if forget:
        from leafward.cli.forget import forget as drop

        return drop(dry_run, as_json)
    if clear_litter:
        from leafward.cli.doctor import clear_litter as clear

        return clear(dry_run, as_json)
    from leafward.cli.doctor import doctor as run

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
    """Write a session for others to read.

    Keys and tokens found in it are redacted, visibly. With --json the result is described, and is part of the
    description unless a FILE is named.
    """
    from leafward.cli.export import export as run

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

    At a prompt the new session ends before it, and its text is given back to be edited; anywhere else it ends behind
    ENTRY. The same agent gets a copy of what it stored; for another one, what the model had seen is converted to its
    format. The old session is not touched, and files stay as they are now. The command that continues is shown.
    opencode takes sessions by an import only: that command is shown too, and run with --import.
    """
    from leafward.cli.fork import fork as run

    return run(session, entry, options, dry_run, as_json)


@verb("leafward heal 019f3c --dry-run", "leafward heal 019f3c", "leafward heal 019f3c --anyway")
@session_argument
@click.option(
    "--cwd", metavar="FOLDER", help="The existing folder that it works in (default: the old session's)."
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Write the new session, which holds no thinking, even where nothing else has to be changed.",
)
@dry_run_option
@json_option
def heal(session: str, cwd: str | None, anyway: bool, dry_run: bool, as_json: bool) -> int:
    """Begin a new session from one that its agent or the provider refuses.

    The new session holds the context of the leaf, without what makes providers refuse it; every change is listed. Calls
    without results get one that says so; results without calls, empty and repeated blocks, and thinking without a
    signature are left out. Names and ids of calls that are refused are replaced, and halves of characters; images and
    documents that are refused become a line. A context over the window of its model begins with an offline summary. The
    old session is not touched. Where nothing has to be changed, nothing is written, unless --anyway is given: thinking
    that a provider no longer accepts cannot be told from thinking that it does.
    """
    from leafward.cli.heal import heal as run

    return run(session, cwd, anyway, dry_run, as_json)


@verb("leafward relocate ~/orchard ~/grove --dry-run", "leafward relocate ~/orchard ~/grove")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@dry_run_option
@json_option
def relocate(old: str, new: str, dry_run: bool, as_json: bool) -> int:
    """Begin the sessions of a renamed folder anew in its new place.

    Every session that worked in OLD, or in a folder below it, gets a fork of its leaf that works in NEW, in the same
    agent. The old sessions are not touched. Asked again, it begins only what is not there yet: sessions that failed, and
    those that went on in OLD meanwhile. opencode's import is run for its sessions; Codex lists a new one after it was
    resumed by its id. The exit code is 1 where a session cannot go on in NEW; the others are begun all the same.
    """
    from leafward.cli.relocate import relocate_sessions as run

    return run(old, new, dry_run, as_json)


@verb("leafward resume 019f3c", "leafward resume 019f3c --print")
@session_argument
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
@json_option
def resume(session: str, only_print: bool, as_json: bool) -> int:
    """Continue a session in its agent.

    The agent's own command is run in the session's folder; its exit code is ours. With --print or --json nothing is
    run. Where that folder is gone nothing is run either: make it again, or begin a new session in another one with
    `fork SESSION leaf --cwd FOLDER`.
    """
    from leafward.cli.resume import resume as run

    return run(session, only_print, as_json)


@verb("leafward demo")
@json_option
@click.pass_context
def demo(ctx: click.Context, as_json: bool) -> int:
    """Open a bundled session.

    An engineer's day with branches, compactions, failures and labels, copied to a temporary folder that is removed
    afterwards. Without a terminal its tree is printed.
    """
    from leafward.cli.application import open_demo

    return open_demo(ctx.obj.open, as_json)
