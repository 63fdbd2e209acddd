"""The verb `bisect`: the turn after which a command fails, found by running it on the rebuilt files in a temporary folder."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from leafward.base.errors import Refused, reason_of
from leafward.base.safe_text import safe_line
from leafward.cli.model_request import cancellable
from leafward.cli.output.page import emit_json, note, page, say
from leafward.cli.selection import opened
from leafward.files.bisection.session_search import TrialCommand, base_of, bisect_session
from leafward.session.headlines.entry_headline import headline
from leafward.session.journal import session_operations
from leafward.session.journal.open_file import refuse_unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.cli.options.branch_options import BisectOptions
    from leafward.cli.output.page import Page
    from leafward.files.bisection.base import ProjectBase
    from leafward.files.bisection.session_search import Bisection, Report, SessionSearch
    from leafward.files.bisection.versions import Point
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def run_bisect(selector: str, command: Sequence[str], options: BisectOptions, as_json: bool) -> int:
    """`leafward bisect`."""
    harmless = [tuple(command), *map(_words, options.harmless)]
    with opened(selector) as session, cancellable() as stop:
        if options.label is not None:
            # The search may take long, and its result must not be lost for a label.
            refuse_unwritable(session)
        ends = session.find(options.good), session.find(options.bad)
        terms = TrialCommand(command, harmless, options.likely, options.timeout)
        base = _base_of(session, options.base)

        def named(entry: EntryIndex) -> str:
            """The entry of the conversation, as notes of Leafward may follow it at the leaf."""
            return session.columns.id(max(0, session.tree.content_at(entry)))

        search, found = bisect_session(session, ends, base, terms, named, _teller(as_json), stop)
        written, obstacle = None, ""
        try:
            if options.label is not None:
                written = _labelled(session, search, found, options.label)
        except (Refused, OSError) as error:
            # The agent may have gone on meanwhile.
            obstacle = f"the turn is not labelled: {reason_of(error)}"
        if as_json:
            document = _document(session, search, found, command, options.likely, written)
            if obstacle:
                document["diagnostics"] = [{"code": "not-labelled", "text": obstacle}]
            emit_json(document)
        else:
            report = search.report(found, shlex.join(command), likely=options.likely)
            say(_text(search, report, options.likely, page()))
            if written is not None:
                note(f"labelled {safe_line(written)}; `leafward undo` undoes that")
            elif obstacle:
                note(obstacle)
    return 0 if len(found.candidates) == 1 and not obstacle else 1


def _words(text: str) -> tuple[str, ...]:
    """The words of `--harmless`. Raises a usage error if there is none, or a quote is not closed."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise click.UsageError(f"--harmless {safe_line(text, 60)!r}: {str(error).lower()}") from error
    if not words:
        raise click.UsageError("--harmless needs the name of a program")
    return words


def _base_of(session: Session, named: str | None) -> ProjectBase:
    """The base over which files are rebuilt. Raises Refused, with the option that chooses another."""
    try:
        return base_of(session, named)
    except Refused as error:
        raise Refused(f"{error} with --base") from error


def _labelled(session: Session, search: SessionSearch, found: Bisection, text: str) -> str | None:
    """Labels the turn that was found and returns its prompt; None if there are several candidates, or no prompt."""
    point = search.every[found.bad]
    if len(found.candidates) > 1 or point.prompt < 0:
        return None
    session_operations.label(session, point.prompt, text)
    return session.columns.id_at(point.prompt)


def _teller(as_json: bool) -> Callable[[str], object]:
    if as_json and not sys.stderr.isatty():
        return lambda _text: None
    return note


def _text(search: SessionSearch, report: Report, likely: bool, here: Page) -> Iterator[str]:
    yield report.work
    yield here.style(report.result, "bold")
    yield from report.details
    if search.doubted and not likely:
        yield "add --harmless WORDS if commands that begin so change no file, or --likely if commands change only files that they name"
    if search.unplaced:
        yield "add --base for the files from before the session: a commit, a folder, or '' for an empty folder"
        if not likely:
            yield "--likely also assumes that files which the session wrote whole, or moved, are new"


def _document(
    session: Session,
    search: SessionSearch,
    found: Bisection,
    command: Sequence[str],
    likely: bool,
    labelled: str | None,
) -> dict[str, Any]:
    every = search.every

    def turn(point: Point) -> dict[str, Any]:
        prompt = headline(session, point.prompt).text if point.prompt >= 0 else None
        return {
            "entry": session.columns.id_at(point.entry),
            "turn": point.turn,
            "prompt": session.columns.id_at(point.prompt) if point.prompt >= 0 else None,
            "headline": prompt,
        }

    certain = len(found.candidates) == 1
    return {
        "good": session.columns.id_at(every[0].entry),
        "bad": session.columns.id_at(every[-1].entry),
        "base": search.versions.base.name,
        "command": list(command),
        "likely": likely,
        "assumed_absent": list(search.versions.assumed),
        "first_bad": turn(every[found.bad]) | {"files": search.changed(found)} if certain else None,
        "candidates": [turn(every[at]) for at in found.candidates],
        "steps": [
            {
                **turn(step.point),
                "outcome": step.ran.verdict.value,
                "code": step.ran.code,
                "seconds": round(step.ran.seconds, 3),
                "reason": step.ran.why or None,
                "doubts": [{"path": path, "reason": why} for path, why in list(step.doubts.items())],
                "output": step.ran.output,
            }
            for step in search.steps
        ],
        "labelled": labelled,
        "diagnostics": [],
    }
