"""The entry of the command line: runs a verb, or opens the application that the caller passed, and returns the exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled, LeafwardError
from leafward.cli.host import Application, CheckApp, OpenApp, ReaderGone
from leafward.cli.streams import fill_closed, let_go

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

    import click


DEBUG_VARIABLE = "LEAFWARD_DEBUG"
"""If set, an unforeseen error is shown with its traceback."""

INTERRUPTED = 130

_COMPLETION = "_LEAFWARD_COMPLETE"
"""The variable through which a shell asks click for completions."""


def main(
    argv: Sequence[str] | None = None, open_app: OpenApp | None = None, check_app: CheckApp | None = None
) -> int:
    """Runs the command line and returns its exit code: 0 done, 1 refused or failed, 2 usage, 130 interrupted.

    `open_app` and `check_app` come from the application; without them the verbs work, opening is refused, and `doctor` leaves
    out what only the application can check.
    """
    fill_closed()
    # At the end of the process Python would look through all objects for garbage, which takes longer than many verbs.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    stdout = sys.stdout
    try:
        arguments = sys.argv[1:] if argv is None else list(argv)
        if open_app is not None and _only_paths(arguments):
            from leafward.cli.application import open_paths

            return open_paths(open_app, arguments)
        if (
            arguments[:1] in (["hook"], ["inject"])
            and len(arguments) == 2
            and not arguments[1].startswith("-")
        ):
            return _awaited(*arguments)
        result = _verb(argv, Application(open_app, check_app))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Cancelled as error:
        _fail(str(error))
        return INTERRUPTED
    except LeafwardError as error:
        return _fail(str(error))
    except OSError as error:
        _drop_unwritten()
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return _fail(f"{where}{error.strerror or error}")
    except SystemExit as stop:
        if sys.stdout is not stdout:
            # click replaces stdout if nobody reads what click itself writes, such as `--help`.
            sys.stdout = stdout
            return _let_go()
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except ReaderGone:
        return _let_go()
    except Exception as error:
        return _unforeseen(error, error.__traceback__)
    return result if isinstance(result, int) else 0


def _only_paths(arguments: Sequence[str]) -> bool:
    """Whether there is nothing to parse: no argument, or only paths that cannot be mistaken for a verb."""
    return _COMPLETION not in os.environ and all(
        (os.sep in text or text.endswith(".jsonl"))
        and (os.path.exists(text) or os.path.isfile(os.path.dirname(text)))
        for text in arguments
    )


def _awaited(verb: str, argument: str) -> int:
    """`hook` and `inject` as an agent runs them, and waits: declaring all verbs, or looking for garbage, takes too long."""
    from leafward.base.gc_pause import gc_paused

    with gc_paused():
        if verb == "hook":
            from leafward.cli.verbs.hook import hook

            return hook(argument)
        from leafward.cli.verbs.inject import inject_verb

        return inject_verb(argument)


def _verb(argv: Sequence[str] | None, application: Application) -> object:
    """Lets click parse the command line and run the verb; turns click's errors into exit codes."""
    import click

    from leafward.cli.declarations.verbs import leafward

    try:
        arguments = None if argv is None else list(argv)
        return leafward.main(arguments, prog_name="leafward", standalone_mode=False, obj=application)
    except click.UsageError as error:
        return _usage(error, leafward.commands, sys.argv[1:] if argv is None else argv)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return _fail(error.format_message())


def _drop_unwritten() -> None:
    """Closes stdout if it takes no output: text left in its buffer by click would fail once more at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        let_go(sys.stdout.fileno())


def _let_go() -> int:
    """Ends quietly after the reader of stdout has gone away."""
    let_go(sys.stdout.fileno())
    return 0


def _fail(text: str) -> int:
    from leafward.cli.output.page import note

    note(text)
    return 1


def _usage(error: click.UsageError, verbs: Collection[str], arguments: Sequence[str]) -> int:
    from leafward.cli.output.page import below, note

    where = error.ctx.command_path if error.ctx is not None else "leafward"
    if error.ctx is None and arguments and arguments[0] in verbs:
        # click does not say which verb lacks the value of an option.
        where = f"leafward {arguments[0]}"
    note(f"{error.format_message().rstrip('.')} (see {where} --help)")
    for line in getattr(error, "below", ()):
        below(line)
    return 2


def _unforeseen(error: Exception, trace: TracebackType | None) -> int:
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(type(error), error, trace)
        return 1
    return _fail(f"unforeseen {type(error).__name__}: {error} ({DEBUG_VARIABLE}=1 shows where)")
