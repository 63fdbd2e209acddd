"""A bisection: the turn after which a command fails, found by running it on copies of the files as they were."""

from __future__ import annotations

import os
import shlex
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward_tui.explorer.model.write_words import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.files.bisection import Report
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

__all__ = ["BisectRequest", "Bisected", "bisect_session"]


class BisectRequest(NamedTuple):
    """What is looked for."""

    good: EntryIndex
    """Where the command passes."""
    bad: EntryIndex
    """Where it fails."""
    command: str
    """For the shell."""
    likely: bool = False
    """Whether recorded commands are taken to change no file but those that they name."""


class Bisected(NamedTuple):
    """What was found."""

    report: Report
    prompt: EntryIndex | None
    """The prompt of the turn; None where it cannot be told."""
    doubted: bool
    """Whether versions were passed over for what recorded commands may have changed."""


def bisect_session(
    session: Session, request: BisectRequest, tell: Callable[[str], object], job: Job
) -> Bisected:
    """Runs the command on versions between two entries; `tell` hears, in the thread of the screen, what became of each.

    Raises LeafwardError, Cancelled where the job is no longer wanted.
    """
    from leafward.files.bisection import FileVersions, SessionSearch, Trial, base_of, points

    def say(text: str) -> None:
        job.report(partial(tell, text))

    try:
        harmless = [tuple(shlex.split(request.command))]
    except ValueError as error:
        raise Refused("the command has a quote that does not end") from error
    every, base = points(session, request.good, request.bad), base_of(session)
    say(f"rebuilding files over {base.title}")
    harmless_words = None if request.likely else harmless
    versions = FileVersions(session, request.bad, base, harmless_words, job.unwanted)
    if not versions.paths:
        raise Refused("no call between touches a file of the project")
    shell = [os.environ.get("COMSPEC", "cmd"), "/c"] if os.name == "nt" else ["sh", "-c"]
    with Trial(base, job.unwanted) as trial:
        search = SessionSearch(
            session, every, versions, lambda one: trial.run(one, [*shell, request.command]), named, say
        )
        found = search.find()
    certain = len(found.candidates) == 1
    prompt = every[found.bad].prompt
    return Bisected(
        search.report(found, request.command, likely=request.likely),
        prompt if certain and prompt >= 0 else None,
        search.doubted and not request.likely,
    )
