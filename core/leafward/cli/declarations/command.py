"""The command itself, and the building blocks of its verbs' declarations."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from leafward import __version__
from leafward.cli.options.option_fields import Options, at_field, option_of, select_field

_Function = TypeVar("_Function", bound=Callable[..., Any])

_EPILOG = """\b
leafward                       browse all sessions
leafward 019f3c                open one
leafward tree 019f3c           its branches, one row per turn
leafward context 019f3c        what the model sees
leafward move 019f3c 1a2b3c4d  continue from that entry

\b
SESSION is a path, a session's id, or a unique prefix of one.
ENTRY is an id, a unique prefix of one, leaf, root, or #N (the N-th entry in file order, from 0)."""


ORDER = (
    *("ls", "search", "blame", "why", "tree", "show", "context", "files", "diff", "select"),
    *("plan", "compact", "inject", "survival", "exam", "summarize"),
    *("move", "undo", "redo", "restore", "bisect", "log", "label", "name", "archive"),
    *("edit-context", "graft", "merge-summaries", "keep", "delete"),
    *("doctor", "audit", "export", "fork", "heal", "relocate", "resume", "install", "uninstall", "demo"),
)
"""Verbs in the order of the list."""


class _Verb(click.Command):
    """A verb that shows its first sentence whole in the list, and whose options may be gathered in one value."""

    def __init__(self, name: str | None, options: Options | None = None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._options = options
        self._declared = options is None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its arguments, then its gathered options, then the others. The gathered options are declared on first use."""
        if self._options is not None and not self._declared:
            arguments = sum(isinstance(one, click.Argument) for one in self.params)
            self.params[arguments:arguments] = self._options.declared()
            self._declared = True
        return super().get_params(ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Runs the verb, with its options gathered in one value if it declares that."""
        if self._options is not None:
            ctx.params = self._options.gather(ctx.params)
        return super().invoke(ctx)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence, not shortened."""
        return super().get_short_help_str(max(limit, 76))


class _Leafward(click.Group):
    """A group that accepts a path or a session instead of a verb, and suggests the nearest verb for anything else."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb named by the first argument; the hidden `open` for a path or a session."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        from leafward.cli.selection import known

        if known(name):
            return "open", self.commands["open"], args
        from difflib import get_close_matches

        from leafward.base.safe_text import safe_line

        safe_name = safe_line(name, 200)
        if os.sep in name:
            raise click.UsageError(f"no file or folder {safe_name!r}", ctx)
        nearest = get_close_matches(name, self.list_commands(ctx), n=1)
        hint = f"; the nearest verb is {nearest[0]!r}" if nearest else ""
        raise click.UsageError(f"no verb, file or session {safe_name!r}{hint}", ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Verbs by purpose: reading, compactions and summaries, writing, the rest."""
        visible = [name for name, command in self.commands.items() if not command.hidden]
        return sorted(visible, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


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
    """The sessions that coding agents leave on disk, shown as trees.

    Without a verb, the full-screen explorer opens: on all sessions, or on the files and folders that you name.
    Every verb takes --json: it then prints exactly one JSON document, or none if it fails.
    """
    return _open(ctx, ()) if ctx.invoked_subcommand is None else 0


def _open(ctx: click.Context, paths: tuple[str, ...]) -> int:
    from leafward.cli.application import open_paths

    return open_paths(ctx.obj.open, paths)


@leafward.command("open", hidden=True)
@click.argument("paths", nargs=-1)
@click.pass_context
def open_(ctx: click.Context, paths: tuple[str, ...]) -> int:
    """Open session files and folders in the explorer."""
    return _open(ctx, paths)


def verb(*examples: str, options: str | None = None) -> Callable[[Callable[..., int]], click.Command]:
    """Declares a verb with the name of its function, and examples below its help.

    `options` names a module of this package and a class in it; the function gets an instance of it as `options`.
    """
    return leafward.command(
        cls=_Verb,
        epilog="\b\n" + "\n".join(examples),
        options=Options(options) if options is not None else None,
    )


def _parameter(option: click.Option) -> Callable[[_Function], _Function]:
    """A decorator that gives a verb, as a parameter, an option declared as a field."""

    def declare(function: _Function) -> _Function:
        parameters: list[click.Parameter] = vars(function).setdefault("__click_params__", [])
        parameters.append(option)
        return function

    return declare


def json_option(function: _Function) -> _Function:
    """`--json`, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(function)


def dry_run_option(function: _Function) -> _Function:
    """`--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")(
        function
    )


def select_option(function: _Function) -> _Function:
    """`--select QUERY`."""
    return _parameter(option_of("select", select_field()))(function)


def session_argument(function: _Function) -> _Function:
    """`SESSION`."""
    return click.argument("session")(function)


def at_option(function: _Function) -> _Function:
    """`--at ENTRY`."""
    return _parameter(option_of("at", at_field()))(function)
