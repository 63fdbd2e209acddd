"""The verbs that compare branches and carry over from one to another, as `--help` shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from leafward.cli.command import base_option, dry_run_option, json_option, session_argument, verb


@verb(
    "leafward diff 019f3c 1a2b3c4d leaf",
    "leafward diff 019f3c 1a2b3c4d leaf --what contents --file src/app.py",
    "leafward diff 019f3c 1a2b3c4d leaf --patch b | git apply",
    "leafward diff 019f3c 1a2b3c4d 2b3c4d5e leaf --what outcome",
    "leafward diff 019f3c 1a2b3c4d leaf --format html -o branches.html",
)
@session_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("more", nargs=-1, metavar="[C]...")
@click.option(
    "--what",
    type=click.Choice(["files", "contents", "context", "summary", "outcome"]),
    default="files",
    show_default=True,
    help="What to compare.",
)
@click.option(
    "--file", "named", multiple=True, metavar="PATH", help="Only this file or folder; may be given again."
)
@click.option(
    "--patch",
    type=click.Choice(["a", "b"]),
    help="What one side changed since the common ancestor, for `git apply`.",
)
@base_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json"]),
    help="All of it as a document: Markdown, one self-contained page, or JSON.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the document to FILE."
)
@click.option("--keep-secrets", is_flag=True, help="Leave keys and tokens in the document as they are.")
@click.option("--redact", is_flag=True, help="Take keys and tokens out of the patch.")
@json_option
def diff(session: str, a: str, b: str, more: tuple[str, ...], as_json: bool, **asked: Any) -> int:
    """Compare two entries: what the paths to them read, changed, know and cost.

    Their deepest common ancestor is the base. Contents are rebuilt from the recorded calls, and it is always said whether
    they are exact, partial or unknown. More than two entries are compared by their outcome. A document is redacted, a patch
    only with --redact: it is there to be applied.
    """
    from leafward.cli.diff import diff as run
    from leafward.cli.diff import export as handed_on

    form, output = asked["form"], asked["output"]
    if form is not None:
        if more:
            raise click.UsageError("more than two entries are compared by --what outcome only")
        if asked["patch"] is not None:
            raise click.UsageError("--format and --patch are two different documents")
        return handed_on(session, (a, b), asked, as_json)
    if output is not None:
        raise click.UsageError("-o needs --format")
    if asked["redact"] and asked["patch"] is None:
        raise click.UsageError("--redact goes with --patch; documents are redacted anyway")
    return run(session, (a, b, *more), asked, as_json)


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
    """List the entries that a query chooses.

    Functions and comparisons are joined by & (both), | (either), - (without) and ! (not); a text in quotes or a
    /regular expression/ is searched for in the entries.
    """
    from leafward.cli.select import functions as listed
    from leafward.cli.select import select as run

    if functions:
        return listed(as_json)
    if session is None or query is None:
        raise click.UsageError("SESSION and QUERY are needed")
    return run(session, query, as_json)


_query_option = click.option(
    "--select", "query", metavar="QUERY", help="The entries that QUERY chooses, as in `select`."
)


@verb(
    "leafward edit-context 019f3c 1a2b3c4d --omit",
    "leafward edit-context 019f3c --select 'context() & results() & tokens>5k' --keep 500 --dry-run",
)
@session_argument
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@_query_option
@click.option("--omit", is_flag=True, help="Leave it out.")
@click.option("--text", metavar="TEXT", help="Let the model read TEXT instead.")
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Keep about N tokens, from both ends.")
@dry_run_option
@json_option
def edit_context(session: str, entries: tuple[str, ...], as_json: bool, **asked: Any) -> int:
    """Leave entries out of what the model reads, or shorten them for it.

    The entries stay as they are; the edit is appended, and `leafward undo` takes it back. It says how many tokens it frees.
    """
    from leafward.cli.transfer import edit_context as run

    return run(session, entries, asked, as_json)


@verb(
    "leafward graft 019f3c 1a2b3c4d 2b3c4d5e --dry-run",
    "leafward graft 019f3c --select 'turn(1a2b3c4d)' --onto leaf",
)
@session_argument
@click.argument("entries", nargs=-1, metavar="[ENTRY]...")
@_query_option
@click.option("--onto", metavar="ENTRY", help="Under this entry (default: the leaf).")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Tokens that the context may have.")
@dry_run_option
@json_option
def graft(session: str, entries: tuple[str, ...], as_json: bool, **asked: Any) -> int:
    """Append entries of one branch again under another.

    Calls keep their results. Files are not changed again: it is said which of them differ there from what the turns relied
    on.
    """
    from leafward.cli.transfer import graft as run

    return run(session, entries, asked, as_json)


@verb(
    "leafward merge-summaries 019f3c 1a2b3c4d leaf --dry-run",
    "leafward merge-summaries 019f3c 1a2b3c4d leaf --choose 0=a --prefer both",
)
@session_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--onto", metavar="ENTRY", help="Under this entry (default: the leaf).")
@click.option("--choose", multiple=True, metavar="N=SIDE", help="Decide conflict N: a, b, both or base.")
@click.option("--prefer", type=click.Choice(["a", "b", "both", "base"]), help="Decide all other conflicts.")
@click.option("--drop-lines", is_flag=True, help="Write even if the lines listed are dropped.")
@dry_run_option
@json_option
def merge_summaries(session: str, a: str, b: str, as_json: bool, **asked: Any) -> int:
    """Make one summary of two branches and carry it over.

    Both branches add to the summary above their common ancestor: its lines stay where a branch does not mention them. A
    line that a branch words differently is a conflict, and nothing is written until each is decided. Lines that would be
    dropped are listed, and need --drop-lines.
    """
    from leafward.cli.transfer import merge_summaries as run

    return run(session, a, b, asked, as_json)
