"""The verbs that compare branches, and those that carry entries or summaries from one to another, as `--help` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from leafward.cli.declarations.command import dry_run_option, json_option, session_argument, verb

if TYPE_CHECKING:
    from leafward.cli.options.branch_options import (
        DiffOptions,
        EditContextOptions,
        GraftOptions,
        MergeOptions,
    )


@verb(
    "leafward diff 019f3c 1a2b3c4d leaf",
    "leafward diff 019f3c 1a2b3c4d leaf --what contents --file src/app.py",
    "leafward diff 019f3c 1a2b3c4d leaf --patch b | git apply",
    "leafward diff 019f3c 1a2b3c4d 2b3c4d5e leaf --what outcome",
    "leafward diff 019f3c 1a2b3c4d leaf --format html -o branches.html",
    options="branch_options.DiffOptions",
)
@session_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("more", nargs=-1, metavar="[C]...")
@json_option
def diff(session: str, a: str, b: str, more: tuple[str, ...], options: DiffOptions, as_json: bool) -> int:
    """Compare two entries: what the paths to them read, changed, know and cost.

    Their deepest common ancestor is the base. Contents are rebuilt from the recorded calls and marked as exact,
    partial or unknown. Before a file: ≠ its contents differ between A and B, = they are the same, ? not known. More than two entries are compared by their outcome. Documents are redacted; a patch is
    redacted only with --redact, because it is meant to be applied.
    """
    from leafward.cli.verbs.diff import diff as run
    from leafward.cli.verbs.diff import export

    what = click.get_current_context().get_parameter_source("what")
    _refuse_combinations(options, named=what is ParameterSource.COMMANDLINE)
    if options.form is None:
        return run(session, (a, b, *more), options, as_json)
    if more:
        raise click.UsageError("more than two entries are compared by --what outcome only")
    return export(session, (a, b), options.form, options, as_json)


def _refuse_combinations(options: DiffOptions, *, named: bool) -> None:
    """Raises UsageError for an option of `diff` that would have no effect. `named`: whether `--what` was typed."""
    document = options.form is not None
    if sum((named, document, options.patch is not None)) > 1:
        raise click.UsageError("choose one of --what, --patch and --format")
    if not document and (options.output is not None or options.keep_secrets):
        raise click.UsageError(f"{'-o' if options.output is not None else '--keep-secrets'} needs --format")
    if options.redact and options.patch is None:
        raise click.UsageError("--redact needs --patch; documents are always redacted")
    of_files = options.patch is not None or options.what in ("files", "contents")
    if options.files and (document or not of_files):
        raise click.UsageError("--file needs --what files, --what contents or --patch")
    if options.base is not None and not document and not of_files:
        raise click.UsageError("--base needs --what files, --what contents, --patch or --format")


@verb(
    "leafward select 019f3c 'prompts() & ancestors(leaf)'",
    "leafward select 019f3c 'tool(edit) & file(\"src/**\") & tokens>2k' --json",
    "leafward select --functions",
)
@click.argument("session", required=False)
@click.argument("query", required=False)
@click.option("--functions", is_flag=True, help="List what a query can ask for.")
@json_option
def select(session: str | None, query: str | None, functions: bool, as_json: bool) -> int:
    """List the entries that a query selects.

    Functions, comparisons and terms are joined by & (both), | (either), - (without) and ! (not); a text in quotes
    or a /regular expression/ is searched for in the entries. `leafward search` uses the same language, and
    tool:edit means tool(edit) in both; but here a plain word names an entry: its id, the beginning of its id, #12
    or leaf.
    """
    from leafward.cli.verbs.select import functions as listed
    from leafward.cli.verbs.select import select as run

    if functions:
        if session is not None:
            raise click.UsageError(
                "--functions lists what any query can ask for; leave out SESSION and QUERY"
            )
        return listed(as_json)
    if session is None or query is None:
        raise click.UsageError("SESSION and QUERY are needed")
    return run(session, query, as_json)


@verb(
    "leafward edit-context 019f3c 1a2b3c4d --omit",
    "leafward edit-context 019f3c --select 'context() & results() & tokens>5k' --keep 500 --dry-run",
    options="branch_options.EditContextOptions",
)
@session_argument
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@dry_run_option
@json_option
def edit_context(
    session: str, entries: tuple[str, ...], options: EditContextOptions, dry_run: bool, as_json: bool
) -> int:
    """Leave entries out of the context, or shorten or replace them there.

    The entries stay in the file; the edit is appended, and `leafward undo` undoes it. Prints how many tokens the
    edit frees.
    """
    from leafward.cli.verbs.edit_context import edit_context as run

    return run(session, entries, options, dry_run, as_json)


@verb(
    "leafward graft 019f3c 1a2b3c4d 2b3c4d5e --dry-run",
    "leafward graft 019f3c --select 'turn(1a2b3c4d)' --onto leaf",
    options="branch_options.GraftOptions",
)
@session_argument
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@dry_run_option
@json_option
def graft(session: str, entries: tuple[str, ...], options: GraftOptions, dry_run: bool, as_json: bool) -> int:
    """Append entries of one branch below another.

    Calls keep their results. Files are not changed; those that differ there from what the turns relied on are
    listed.
    """
    from leafward.cli.verbs.graft import graft as run

    return run(session, entries, options, dry_run, as_json)


@verb(
    "leafward merge-summaries 019f3c 1a2b3c4d leaf --dry-run",
    "leafward merge-summaries 019f3c 1a2b3c4d leaf --choose 0=a --prefer both",
    options="branch_options.MergeOptions",
)
@session_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@dry_run_option
@json_option
def merge_summaries(session: str, a: str, b: str, options: MergeOptions, dry_run: bool, as_json: bool) -> int:
    """Merge the summaries of two branches into one.

    Both branches add to the summary above their common ancestor: its lines stay unless a branch changes them. A
    line that one branch changes is taken from it; one that both change differently is a conflict, and nothing is
    written until each conflict is decided.
    Lines that would be dropped are listed, and need --drop-lines.
    """
    from leafward.cli.verbs.merge_summaries import merge_summaries as run

    return run(session, a, b, options, dry_run, as_json)
