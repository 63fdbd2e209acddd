"""The verbs that compare branches and carry over from one to another, as `--help` shows them."""

from __future__ import annotations

import click

from leafward.cli.command import json_option, session_argument, verb


@verb(
    "leafward diff 019f3c 1a2b3c4d leaf",
    "leafward diff 019f3c 1a2b3c4d leaf --what contents --file src/app.py",
    "leafward diff 019f3c 1a2b3c4d leaf --patch b | git apply",
)
@session_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
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
@json_option
def diff(
    session: str, a: str, b: str, what: str, named: tuple[str, ...], patch: str | None, as_json: bool
) -> int:
    """Compare two entries: what the paths to them read, changed, know and cost.

    Their deepest common ancestor is the base. Contents are rebuilt from the recorded calls, and it is always said whether
    they are exact, partial or unknown.
    """
    from leafward.cli.diffing import diff as run

    return run(session, a, b, what, named, patch, as_json)


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
    from leafward.cli.selecting import functions as listed
    from leafward.cli.selecting import select as run

    if functions:
        return listed(as_json)
    if session is None or query is None:
        raise click.UsageError("SESSION and QUERY are needed")
    return run(session, query, as_json)
