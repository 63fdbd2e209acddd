"""The hidden verb `hook`, run by agents after `install`; if it fails, the agent continues without the text."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from leafward.base import paths
from leafward.base.regular_files import read_regular
from leafward.cli.hook_log import log_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.agents.hooks.hook import HookRequest
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_REQUEST_LIMIT = 1 << 20
_WAIT = 8.0
"""Most seconds that an agent waits for a text that is being made."""
_QUIET = 0.1
"""Seconds without another piece after which a file that is only being written counts as whole."""
_KEPT = 3600.0
"""Seconds after which no agent asks for a text any more."""
_NICE = 10
"""The niceness of a process that reads beside the agent: the agent comes first."""
_TEXT = "text"
_READING = "\0reading"
"""In place of a compaction: no agent's name for one holds a NUL."""


class _Beginning(NamedTuple):
    """When a compaction begins."""

    size: int
    """Bytes of the session's file."""
    time: int
    """Milliseconds since 1970."""


def hook(
    name: str,
    prepare: str | None = None,
    size: int | None = None,
    began: int | None = None,
    compaction: str = "",
) -> int:
    """`leafward hook`: reads the agent's request from stdin and writes the answer to stdout. Never fails."""
    try:
        if prepare is None:
            _answer(name)
        else:
            _prepare(name, prepare, _Beginning(size, began or 0) if size is not None else None, compaction)
    except Exception as error:  # an agent must not stop because of us
        log_failure(name, f"{type(error).__name__}: {error}")
    return 0


def _answer(name: str) -> None:
    from leafward.agents.hooks.hook import TRIAL, Moment
    from leafward.agents.registry import hooks_of

    hooks = hooks_of(name)
    payload = json.loads(sys.stdin.buffer.read(_REQUEST_LIMIT))
    if payload == TRIAL:
        _try_out()
        return
    request = hooks.request_in(payload, os.environ)
    if request is None:
        return
    if request.moment is Moment.NOW:
        with _alone(request.session):
            text, _ = _text(request.session, lambda found: _entry(found, request.at), hooks.room)
    elif request.moment in (Moment.SUMMARY, Moment.BRANCH):
        text = _summary(request)
    elif request.moment is Moment.RESUMED:
        _run_beside(name, request.session)
        return
    elif request.moment is Moment.BEFORE:
        began = _Beginning(os.path.getsize(request.session), time.time_ns() // 1_000_000)
        place = _place(request.session, request.compaction)
        _forget(place)
        _forget_old()
        paths.make_private(_text_path(place, began.size).parent)
        more = ("--compaction", request.compaction) if request.compaction else ()
        _run_beside(name, request.session, "--size", str(began.size), "--began", str(began.time), *more)
        return
    else:
        text = _prepared_text(name, request)
    if text:
        sys.stdout.buffer.write(hooks.answer(text).encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _try_out() -> None:
    """Says that a hook can run here: all that a text is made with is there."""
    import leafward.cli.selection
    import leafward.compaction.injection.configured
    import leafward.compaction.injection.findings.kept_findings
    import leafward.compaction.injection.findings.stored_findings
    import leafward.compaction.injection.injection  # noqa: F401
    from leafward.agents.hooks.hook import TRIED

    sys.stdout.write(TRIED)


def _run_beside(name: str, session: str, *more: str) -> None:
    """Makes the text of a session in a process that goes on after this one, while the agent makes its summary or works."""
    import subprocess

    argv = [sys.executable, "-P", "-m", "leafward", "hook", name, "--prepare", session, *more]
    quiet = subprocess.DEVNULL
    subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)


def _entry(found: Session, at: str | None) -> EntryIndex:
    """The entry that the agent names, else its own leaf: a move there that Leafward only previews is none of the agent's."""
    return found.find(at) if at is not None else found.own_leaf


def _text_before(session: str, began: _Beginning, room: int | None) -> str:
    """The text as of the beginning of a compaction.

    Claude Code 2.1.332 writes the file of a fork with the first thing that is done in it, in pieces. Where that is a compaction,
    most of the file is missing as the hook runs: it is read again until it holds something and for a while no more of it comes.
    """
    from leafward.session.entries import NO_ENTRY

    until, last = time.monotonic() + _WAIT, NO_ENTRY
    while True:
        size, came_late = os.path.getsize(session), False

        def last_before(found: Session) -> EntryIndex:
            nonlocal came_late
            entry = _last_before(found, began)
            came_late = entry < 0 or found.origin(entry).offset >= began.size
            return entry

        text, entry = _text(session, last_before, room)
        if came_late:
            time.sleep(_QUIET)
        is_whole = entry >= 0 and (entry == last or os.path.getsize(session) == size)
        if is_whole or time.monotonic() > until:
            return text
        last = entry


def _last_before(found: Session, began: _Beginning) -> EntryIndex:
    """The last entry of before a compaction, which may be written by the time the file is read.

    That is what stood in the file, and what says that it is older: the agent had not written it yet.
    """
    from leafward.base.times import parse_time
    from leafward.session.entries import EntryIndex

    entry = found.own_leaf
    while entry >= 0 and found.origin(entry).offset >= began.size:
        said = parse_time(found.entry(entry).timestamp)
        if said is not None and said <= began.time:
            break
        entry = EntryIndex(found.columns.parent[entry])
    return entry


def _text(
    session: str, entry_of: Callable[[Session], EntryIndex], room: int | None
) -> tuple[str, EntryIndex]:
    """The text of `leafward inject` at an entry of a session, within the length that the agent passes on whole.

    Beside it the last entry of the conversation there; -1: none.
    """
    from dataclasses import replace

    from leafward.agents.registry import agent_name, is_installed
    from leafward.base import config
    from leafward.cli.selection import opened_on
    from leafward.compaction.injection.configured import configured_settings
    from leafward.compaction.injection.findings.kept_findings import save
    from leafward.compaction.injection.findings.stored_findings import collect_on
    from leafward.compaction.injection.injection import build_within

    with opened_on(session) as (found, stored):
        settings = replace(configured_settings(config.load()[0]), again=is_installed(agent_name(found)))
        entry = entry_of(found)
        path = collect_on(found, entry, stored)
        save(found, path.stored, path.read)
        return build_within(path.found, settings, room).text, found.tree.content_at(entry)


def _summary(request: HookRequest) -> str:
    """A summary that Leafward makes without a model, as JSON with pi's field names."""
    from leafward.agents.hooks.hook import Moment
    from leafward.base.strategies import Strategy
    from leafward.cli.selection import opened
    from leafward.compaction.branch_summary import left_branch, summarize_branch
    from leafward.compaction.draft.draft_assembly import draft
    from leafward.compaction.measure.measure import measure
    from leafward.compaction.plan.plan import plan as plan_of
    from leafward.compaction.plan.settings import PlanSettings
    from leafward.summaries.summarizers.extractive.summarizer import Extractive

    if request.to is None:
        raise ValueError("nothing says where the summary ends")
    with opened(request.session) as found:
        entry = _entry(found, request.at)
        to = found.find(request.to)
        if request.moment is Moment.BRANCH:
            branch = left_branch(found, entry, to)
            if branch is None:
                return ""
            summary = summarize_branch(branch, Extractive(), focus=request.focus)
            return json.dumps({"summary": summary.text, "details": summary.details()})
        plan = plan_of(measure(found, entry), PlanSettings(strategy=Strategy.PI, cut=to))
        made = draft(found, plan, Extractive(), focus=request.focus)
        return json.dumps({"summary": made.text, "details": made.details()})


def _prepare(name: str, session: str, began: _Beginning | None, compaction: str) -> None:
    """Makes the text that waits for the agent; where no compaction began nobody waits, and only what was read is kept."""
    from leafward.agents.registry import hooks_of

    if began is None:
        with suppress(OSError, AttributeError):
            os.nice(_NICE)
    text = ""
    try:
        room = hooks_of(name).room
        # Nobody is to wait for a process of low priority.
        if began is None:
            _text(session, lambda found: found.own_leaf, room)
        else:
            with _alone(session):
                text = _text_before(session, began, room)
    except Exception as error:
        log_failure(name, f"{type(error).__name__}: {error}")
    if began is None:
        return
    from leafward.base.durable import replace_file

    waits = _text_path(_place(session, compaction), began.size)
    # If nobody waits any more, the folder is gone: a later compaction has a folder of its own.
    with suppress(FileNotFoundError):
        try:
            replace_file(waits, text.encode("utf-8", "replace"))
        except OSError:
            from shutil import rmtree

            # On a full disk: nobody waits for what does not come.
            rmtree(waits.parent, ignore_errors=True)
            raise


@contextmanager
def _alone(session: str) -> Iterator[None]:
    """Lets one process at a time read a session for a compaction, where the system has locks.

    The next one goes on behind what that one found; side by side, both would read all of a long session, and both too late.
    """
    folder, descriptor = _place(session, _READING), -1
    try:
        with suppress(ImportError, OSError):
            import fcntl

            paths.make_private(folder)
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            # Whoever waits has the folder open, and gets the lock all the same.
            with suppress(OSError):
                folder.rmdir()
            os.close(descriptor)


def _prepared_text(name: str, request: HookRequest) -> str:
    session = request.session
    place = _place(session, request.compaction)
    if not place.exists():
        raise FileNotFoundError(
            f"no text waits for this compaction of {session}: Leafward did not see it begin, or another {name} took the text"
        )
    try:
        # Only one compaction is waited for at a time, so its folder is the only one.
        (folder,) = place.iterdir()
        text, until = folder / _TEXT, time.monotonic() + _WAIT
        while not text.exists():
            if not folder.exists():
                raise FileNotFoundError(f"the text for {session} could not be kept")
            if time.monotonic() > until:
                raise TimeoutError(f"no text for {session} after {_WAIT:.0f} s")
            time.sleep(0.01)
        return read_regular(text).decode("utf-8")
    finally:
        _forget(place)


def _text_path(place: Path, size: int) -> Path:
    """Path of the text for a compaction that began when the session's file had this size."""
    return place / str(size) / _TEXT


def _place(session: str, compaction: str = "") -> Path:
    """Folder of one compaction: of two processes that compact one session at once each gets its own text."""
    key = os.fsencode(session) + b"\0" + compaction.encode("utf-8", "replace")
    return paths.state_dir() / "hooks" / sha256(key).hexdigest()[:32]


def _forget(place: Path) -> None:
    """Removes the texts for a compaction that nobody waits for any more."""
    from shutil import rmtree

    from leafward.base.durable import draft_name

    # Renamed first: a process that is still making a text can then no longer write into the folder while it is emptied.
    unused = draft_name(place)
    with suppress(FileNotFoundError):
        place.rename(unused)
        rmtree(unused, ignore_errors=True)


def _forget_old() -> None:
    """Removes what was made for compactions that were cancelled."""
    with suppress(OSError):
        for place in _place("").parent.iterdir():
            if time.time() - place.stat().st_mtime > _KEPT:
                _forget(place)
