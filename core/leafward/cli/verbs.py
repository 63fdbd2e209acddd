"""The verbs as `--help` shows them: arguments, options, examples. What they do is loaded when one runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from leafward import __version__

_Function = TypeVar("_Function", bound=Callable[..., Any])

_EPILOG = """\b
leafward                       browse all sessions
leafward 019f3c                open one
leafward tree 019f3c           its branches, a turn a row
leafward context 019f3c        what the model sees
leafward move 019f3c 1a2b3c4d  continue from that entry

\b
SESSION is a path, a session's id, or a unique prefix of one.
ENTRY is an id, a unique prefix of one, leaf, root, or #N (the N-th entry in file order, from 0)."""


class _Verb(click.Command):
    """A verb whose line in the list is its first sentence whole."""

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence, not cut."""
        return super().get_short_help_str(max(limit, 76))


class _Leafward(click.Group):
    """A group that takes a path or a session where a verb is missing, and names the nearest verb for anything else."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first argument names; the hidden `open` for a path or a session."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        from leafward.cli.selection import known

        if known(name):
            return "open", self.commands["open"], args
        from difflib import get_close_matches

        from leafward.safe_text import safe_line

        (nearest,) = get_close_matches(name, self.list_commands(ctx), n=1, cutoff=0.0)
        shown = safe_line(name, 200)
        raise click.UsageError(f"no verb, file or session {shown!r}; the nearest verb is {nearest!r}", ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Verbs in the order of their declaration: reading, writing, the rest."""
        return [name for name, command in self.commands.items() if not command.hidden]


@click.group(
    cls=_Leafward,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[PATH... | VERB ...]",
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="leafward")
@click.pass_context
def leafward(ctx: click.Context) -> int:
    """The sessions that coding agents leave on disk, as the trees they are.

    Without a verb it opens the full-screen explorer: on all sessions, or on the session files and folders named.
    Every verb takes --json and then writes exactly one document.
    """
    return _open(ctx, ()) if ctx.invoked_subcommand is None else 0


def _open(ctx: click.Context, paths: tuple[str, ...]) -> int:
    from leafward.cli.opening import open_paths

    return open_paths(ctx.obj, paths)


@leafward.command("open", hidden=True)
@click.argument("paths", nargs=-1)
@click.pass_context
def open_(ctx: click.Context, paths: tuple[str, ...]) -> int:
    """Open session files and folders in the explorer."""
    return _open(ctx, paths)


def _verb(*examples: str) -> Callable[[Callable[..., int]], click.Command]:
    """Declares a verb of its function's name, with examples under its help."""
    return leafward.command(cls=_Verb, epilog="\b\n" + "\n".join(examples))


def _json(function: _Function) -> _Function:
    return click.option("--json", "as_json", is_flag=True, help="Write one JSON document.")(function)


def _dry_run(function: _Function) -> _Function:
    return click.option("--dry-run", is_flag=True, help="Say what would be written; write nothing.")(function)


def _session(function: _Function) -> _Function:
    return click.argument("session")(function)


def _at(function: _Function) -> _Function:
    return click.option("--at", metavar="ENTRY", help="The entry to look from (default: the leaf).")(function)


@_verb("leafward ls --project orchard", "leafward ls ./sessions --json")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--agent", metavar="AGENT", help="Only sessions of this agent.")
@click.option("--project", metavar="TEXT", help="Only sessions whose project folder contains TEXT.")
@click.option(
    "--query", metavar="TEXT", help="Only sessions that TEXT finds: words, file:, since:, project:, agent:."
)
@_json
def ls(
    paths: tuple[str, ...], agent: str | None, project: str | None, query: str | None, as_json: bool
) -> int:
    """List sessions, newest first.

    With PATH only what lies there: a session file, or a folder searched whole.
    """
    from leafward.cli.listing import ls as run

    return run(paths, agent, project, query, as_json)


@_verb("leafward tree 019f3c", "leafward tree session.jsonl --json")
@_session
@click.option("--entries", "every_entry", is_flag=True, help="One row an entry instead of one a turn.")
@click.option("--archived", is_flag=True, help="Show archived branches too, instead of one row for each.")
@_json
def tree(session: str, every_entry: bool, archived: bool, as_json: bool) -> int:
    """Show a session's branches.

    One row is one turn. The active path stays in the first lane; a branch stands right after the turn it leaves. At
    the right: edits, tool calls, and the tokens that the turn adds.
    """
    from leafward.cli.reading import tree as run

    return run(session, as_json, every_entry, archived)


@_verb("leafward show 019f3c 1a2b3c4d", "leafward show 019f3c '#12' --json")
@_session
@click.argument("entry", required=False)
@_json
def show(session: str, entry: str | None, as_json: bool) -> int:
    """Show one entry, whole.

    Without ENTRY the one the conversation stands at.
    """
    from leafward.cli.reading import show as run

    return run(session, entry, as_json)


@_verb("leafward context 019f3c", "leafward context 019f3c --at 1a2b3c4d --json")
@_session
@_at
@_json
def context(session: str, at: str | None, as_json: bool) -> int:
    """Show what the model sees at an entry.

    Compactions, context edits and branch summaries are applied; each message names the entry it comes from. Sizes are
    counted as pi counts them.
    """
    from leafward.cli.reading import context as run

    return run(session, at, as_json)


@_verb("leafward files 019f3c", "leafward files 019f3c --at 1a2b3c4d")
@_session
@_at
@_json
def files(session: str, at: str | None, as_json: bool) -> int:
    """List the files read and modified on the path to an entry."""
    from leafward.cli.workset import files as run

    return run(session, at, as_json)


@_verb("leafward move 019f3c 1a2b3c4d --dry-run", "leafward move 019f3c 1a2b3c4d --before")
@_session
@click.argument("entry")
@click.option("--before", is_flag=True, help="To ENTRY's parent, with ENTRY's text given back as the prompt.")
@_dry_run
@_json
def move(session: str, entry: str, before: bool, dry_run: bool, as_json: bool) -> int:
    """Move the leaf, so that the agent continues from ENTRY.

    One line is appended to the file; nothing is rewritten, and `leafward undo` takes it back. The price says what is
    left and entered, and how much of the provider's cache stays good. A running agent follows when it opens the
    session again.
    """
    from leafward.cli.writing import move as run

    return run(session, entry, before, dry_run, as_json)


@_verb("leafward undo 019f3c", "leafward undo 019f3c --op 5e6f7a8b")
@_session
@click.option(
    "--op", metavar="OP", help="The operation to take back, as `leafward log` names it (default: the last)."
)
@_dry_run
@_json
def undo(session: str, op: str | None, dry_run: bool, as_json: bool) -> int:
    """Take back the last operation.

    The inverse is appended; nothing is removed from the file. What the agent did is taken back only when it is named
    with --op.
    """
    from leafward.cli.writing import undo as run

    return run(session, op, dry_run, as_json)


@_verb("leafward redo 019f3c")
@_session
@_dry_run
@_json
def redo(session: str, dry_run: bool, as_json: bool) -> int:
    """Do again what the last undo took back."""
    from leafward.cli.writing import redo as run

    return run(session, dry_run, as_json)


@_verb("leafward log 019f3c")
@_session
@_json
def log(session: str, as_json: bool) -> int:
    """List what was done to a session.

    Moves, labels, names and archived branches, in the order of the file; the agent's own moves too.
    """
    from leafward.cli.writing import log as run

    return run(session, as_json)


@_verb("leafward label 019f3c 1a2b3c4d 'tests green'", "leafward label 019f3c 1a2b3c4d ''")
@_session
@click.argument("entry")
@click.argument("text")
@_dry_run
@_json
def label(session: str, entry: str, text: str, dry_run: bool, as_json: bool) -> int:
    """Label an entry.

    An empty TEXT takes its label away. The leaf stays where it is.
    """
    from leafward.cli.writing import label as run

    return run(session, entry, text, dry_run, as_json)


@_verb("leafward name 019f3c 'Port the selectors'")
@_session
@click.argument("text")
@_dry_run
@_json
def name(session: str, text: str, dry_run: bool, as_json: bool) -> int:
    """Name a session.

    An empty TEXT takes its name away. The leaf stays where it is.
    """
    from leafward.cli.writing import name as run

    return run(session, text, dry_run, as_json)


@_verb("leafward archive 019f3c 1a2b3c4d", "leafward archive 019f3c 1a2b3c4d --undo")
@_session
@click.argument("entry")
@click.option("--undo", "unarchive", is_flag=True, help="Bring the branch back.")
@_dry_run
@_json
def archive(session: str, entry: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """Hide the branch that begins at ENTRY behind a count.

    Nothing is removed from the file.
    """
    from leafward.cli.writing import archive as run

    return run(session, entry, unarchive, dry_run, as_json)


@_verb("leafward doctor", "leafward doctor session.jsonl --json")
@click.argument("session", required=False)
@_json
def doctor(session: str | None, as_json: bool) -> int:
    """Check a session for damage.

    Without SESSION all of them are checked, and the configuration and our folders. Every line is decoded; problems are
    named with their entry and byte offset. The exit code is 0 with problems too, and 1 only where SESSION cannot be
    read at all. Nothing is repaired.
    """
    from leafward.cli.checking import doctor as run

    return run(session, as_json)


@_verb("leafward export 019f3c --format html -o session.html", "leafward export 019f3c --all > session.md")
@_session
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json"]),
    default="md",
    show_default=True,
    help="Markdown, one self-contained page, or the entries as JSON.",
)
@_at
@click.option("--all", "whole", is_flag=True, help="Every branch instead of the path to the entry.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write FILE, not stdout."
)
@click.option("--keep-secrets", is_flag=True, help="Leave keys and tokens as they are.")
@_json
def export(
    session: str,
    form: str,
    at: str | None,
    whole: bool,
    output: Path | None,
    keep_secrets: bool,
    as_json: bool,
) -> int:
    """Write a session for others to read.

    Keys and tokens found in it are redacted, visibly. With --json the result is described, and is part of the
    description unless a FILE is named.
    """
    from leafward.cli.handing_on import export as run

    return run(session, form, at, whole, output, keep_secrets, as_json)


@_verb("leafward resume 019f3c", "leafward resume 019f3c --print")
@_session
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
@_json
def resume(session: str, only_print: bool, as_json: bool) -> int:
    """Continue a session in its agent.

    The agent's own command is run in the session's folder; its exit code is ours. With --print or --json nothing is
    run.
    """
    from leafward.cli.handing_on import resume as run

    return run(session, only_print, as_json)


@_verb("leafward demo")
@_json
@click.pass_context
def demo(ctx: click.Context, as_json: bool) -> int:
    """Open a bundled session.

    An engineer's day with branches, compactions, failures and labels, copied to a temporary folder that is removed
    afterwards. Without a terminal its tree is printed.
    """
    from leafward.cli.opening import open_demo

    return open_demo(ctx.obj, as_json)
