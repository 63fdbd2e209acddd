"""Conditions after a failed call: nothing lost, nothing torn, nothing in the way of the next one."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.installation import apply, installation, removal, runner_of
from leafward.agents.recognition import agent_of
from leafward.agents.registry import hooks_of
from leafward.base.errors import LeafwardError
from leafward.base.paths import is_draft, state_dir
from leafward.catalogue.trash import bring_back, thrown_away
from leafward.doctor.litter import litter
from leafward.files.restoration.project_folder import ProjectFolder
from leafward.files.restoration.record import RestoreState, records
from leafward.files.restoration.write import undo
from leafward.session.journal import session_operations
from leafward.session.sidecar import sidecar_folder
from tests.torture.faults import Fault, Mode
from tests.torture.scenes import (
    AGENTS_ID,
    AGENTS_LINE,
    PROJECT_NOW,
    PROJECT_THEN,
    SETTINGS,
    Scene,
    World,
)
from tests.torture.worlds import Moment

if TYPE_CHECKING:
    from leafward.session.session import Session


@dataclass(frozen=True)
class Run:
    """One call that went wrong, and how it ended."""

    scene: Scene
    fault: Fault
    number: int
    """Which of the calls of the system."""
    call: str
    """Its name."""
    path: Path
    """Of the session."""
    before: Moment
    code: int
    """As the process ended; negative where a signal ended it."""
    err: str


class Broken(Exception):
    """Something that must hold does not."""


def demand(holds: object, what: str) -> None:
    """Raises Broken unless something holds."""
    if not holds:
        raise Broken(what)


def entries(path: Path) -> tuple[set[str], int]:
    """The ids of a session's entries, and the place."""
    session = agent_of(path).open(path)
    try:
        return _ids(session), int(session.place)
    finally:
        session.close()


def _ids(session: Session) -> set[str]:
    return {str(session.columns.id(index)) for index in range(len(session))}


def check(world: World, run: Run, ids: set[str]) -> None:
    """Raises Broken with what does not hold. `ids` are those of the session before."""
    now = Moment.of(*run.before.roots)
    _ended_well(run)
    _agents_files_stay(world, run, now)
    _nothing_strange_is_left(world, run, now)
    path = run.path
    if run.scene.may_go:
        _one_copy_is_there(run, now)
        if not path.exists():
            demand(bring_back(thrown_away()[0]) == path, "it cannot be brought back")
        elif thrown_away():
            demand(bring_back(thrown_away()[0]) == path, "a deletion that was killed cannot be undone")
        demand(thrown_away() == [], "something stays in the trash")
        demand(path.read_bytes() == _content_before(run), "what was brought back is another file")
    if run.scene.native:
        _lines_hold(run, path, _content_before(run))
    for book in sorted(sidecar_folder().rglob("*.jsonl")):
        _lines_hold(run, book, run.before.files().get(str(book), b""))
    if run.scene.installs_in:
        _installation_holds(run)
    if run.scene.name.startswith("restore"):
        _project_holds(world, run)
    _goes_on(run, ids)


def _installation_holds(run: Run) -> None:
    """The agent's file is as it was before or as it is wanted, and it can be put back to the user's own byte for byte."""
    name = run.scene.installs_in
    file, mine = _installed_file(name), SETTINGS[name]
    own = next((data for path, data in mine.items() if str(file).endswith(path)), None)
    hooks = hooks_of(name)
    full = hooks.installed(own.decode() if own is not None else None, runner_of(name), False).encode()
    wanted, other = (full, own) if run.scene.name.startswith("install") else (own, full)
    now = _content(file)
    demand(now in (wanted, other), f"neither old nor new: {now!r}")
    demand(now == wanted or run.code != 0, "it says that it is done")
    apply(removal(name))
    demand(_content(file) == own, f"not taken back whole: {_content(file)!r}")
    apply(installation(name))
    demand(_content(file) == full, "it cannot be put there again")
    apply(removal(name))
    demand(_content(file) == own, f"not taken back whole the second time: {_content(file)!r}")


def _installed_file(name: str) -> Path:
    return hooks_of(name).file(os.environ)


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _project_holds(world: World, run: Run) -> None:
    """Each file of the project is old or new, and what is recorded leads back to what was there before."""
    _each_is_old_or_new(world, run)
    open_records = [one for one in records() if one.state is not RestoreState.UNDONE]
    demand(len(open_records) <= 1, "more than one restore")
    for record in open_records:
        if run.code == 0 and run.scene.name.startswith("restore-undo"):
            raise Broken("the undo is not recorded")
        with ProjectFolder(world.project) as folder:
            undo(folder, record)
    demand(_project(world) == PROJECT_NOW, f"the undo does not lead back: {sorted(_project(world))}")


def _each_is_old_or_new(world: World, run: Run) -> None:
    for name, data in _project(world).items():
        if is_draft(name):
            demand(
                run.fault.kills or run.fault.mode is Mode.ERROR_ALL or "unlink" in run.call, f"left: {name}"
            )
        else:
            demand(data in (PROJECT_NOW.get(name), PROJECT_THEN.get(name)), f"neither old nor new: {name}")
    if "a.py" not in _project(world):
        raise Broken("a.py is gone")


def _project(world: World) -> dict[str, bytes]:
    return {
        str(path.relative_to(world.project)): path.read_bytes()
        for path in world.project.rglob("*")
        if path.is_file()
    }


def _content_before(run: Run) -> bytes:
    files = run.before.files()
    if str(run.path) in files:
        return files[str(run.path)]
    return next(data for path, data in files.items() if path.endswith(f"/{run.path.name}"))


def _ended_well(run: Run) -> None:
    if run.fault.kills:
        demand(run.code in (-9, 0, 1), f"ended with {run.code}")
    else:
        demand(run.code in (0, 1), f"ended with {run.code}")
    # Only calls that change something fail, so nothing that is read is ever to blame.
    for word in ("unforeseen", "Traceback", "cannot read"):
        demand(word not in run.err, run.err)
    harmless = run.fault == Fault(Mode.ERROR_ONCE, errno.EINTR) and (run.call in ("open64", "write", "fsync"))
    if run.fault.mode is Mode.SHORT_ONCE or harmless:
        demand(run.code == 0, f"what the system only interrupts is no failure: {run.err}")


def _agents_files_stay(world: World, run: Run, now: Moment) -> None:
    """Nothing of an agent is changed or taken away, except for pi's session, which is looked at by itself."""
    home = world.root / "home"
    after = now.below(home)
    ours = str(_installed_file(run.scene.installs_in)) if run.scene.installs_in else ""
    for path, held in run.before.below(home).items():
        if ours and (path == ours or (held[0] is None and ours.startswith(f"{path}/"))):
            continue
        if path == str(run.path) and run.scene.native:
            continue
        demand(path in after, f"{path} is gone")
        demand(after[path] == held, f"{path} was changed")


def _one_copy_is_there(run: Run, now: Moment) -> None:
    content = _content_before(run)
    copies = [
        path
        for path, data in now.files().items()
        if data == content and (path == str(run.path) or path.endswith(f"/{run.path.name}"))
    ]
    demand(copies, "no whole copy is left")


_OWN_FILES = ("/leafward/cache/catalogue.json",)


def _nothing_strange_is_left(world: World, run: Run, now: Moment) -> None:
    """Every file that is new is what the verb makes, whole, or litter that `doctor` knows."""
    after = now.files()
    new = [path for path in after if path not in run.before.files()]
    known = {str(one.path) for one in litter([str(world.root / "home")], _FAR)}
    may_leave = run.fault.kills or run.fault.mode is Mode.ERROR_ALL or "unlink" in run.call
    for path in new:
        if path in known or any(path.startswith(f"{one}/") for one in known):
            demand(may_leave, f"litter without a kill: {path}")
        elif (
            (
                run.scene.installs_in
                and (
                    path == str(_installed_file(run.scene.installs_in)) or "/leafward/data/installed/" in path
                )
            )
            or path.endswith(_OWN_FILES)
            or "/leafward/data/sidecar/" in path
        ):
            pass
        elif "/state/trash/" in path:
            demand(run.scene.may_go, f"in the trash: {path}")
        elif run.scene.may_go and path == str(run.path):
            demand(after[path] == _content_before(run), "what was brought back is another file")
        elif "/home/" in path:
            demand(path.endswith(".jsonl") and run.scene.makes, f"in the store: {path}")
            _check_whole(path, after[path])
        elif "/state/imports/" in path:
            json.loads(after[path])
        elif "/state/backups/" in path:
            demand(after[path] == _content_before(run), f"no whole backup: {path}")
        else:
            demand(run.scene.makes, f"left: {path}")
    if may_leave or run.code != 1:
        return
    ours = str(state_dir().parent)
    for path, held in now.held.items():
        if held[0] is None and path not in run.before.held and not path.startswith(ours):
            demand(any(one.startswith(f"{path}/") for one in after), f"left: an empty folder {path}")


_FAR = 4e9


def _check_whole(path: str, data: bytes) -> None:
    demand(data.endswith(b"\n"), f"torn: {path}")
    for line in data.splitlines():
        json.loads(line)
    agent_of(Path(path)).open(Path(path)).close()


def _lines_hold(run: Run, path: Path, before: bytes) -> None:
    """The earlier bytes are still there, followed by whole lines only."""
    data = path.read_bytes()
    if run.scene.native and "version" in run.scene.name and not data.startswith(before):
        backups = [one.read_bytes() for one in (state_dir() / "backups").iterdir()]
        demand(before in backups, "migrated without a backup")
        demand(data.endswith(b"\n") or run.fault.mode is Mode.SHORT_KILL, "torn")
        return
    demand(data.startswith(before), "bytes that were there changed")
    added = data[len(before) :]
    if before and not before.endswith(b"\n"):
        demand(not added or added.startswith(b"\n"), "a torn line was continued")
    agents = 0
    for number, line in enumerate(added.split(b"\n")):
        if not line.strip():
            continue
        agents += line + b"\n" == AGENTS_LINE
        try:
            demand(isinstance(json.loads(line), dict), "a line that is no object")
        except ValueError:
            last = number == added.count(b"\n")
            demand(last and run.fault.mode is Mode.SHORT_KILL, f"a broken line: {line[:60]!r}")
    whole = not added or added.endswith(b"\n")
    demand(whole or run.fault.mode is Mode.SHORT_KILL, "the file does not end with a newline")
    if run.fault.has_agent and run.scene.native and path == run.path:
        demand(agents == 1, f"{agents} lines of the agent")
    if run.scene.appends and run.code == 1 and not run.fault.has_agent and "does not confirm" not in run.err:
        demand(not added.strip(), f"refused, and written all the same: {run.err}")
    if run.scene.appends and run.code == 0 and run.scene.native and path == run.path:
        demand(added, "nothing was written")


def _goes_on(run: Run, ids: set[str]) -> None:
    """The session is read, has lost nothing, and takes an operation, its undo, and a line of its agent."""
    session: Session | None = None
    try:
        session = agent_of(run.path).open(run.path)
        there = _ids(session)
        lost = ids - there
        demand(not lost, f"lost: {sorted(lost)[:3]}")
        if run.fault.has_agent and run.scene.native:
            demand(AGENTS_ID in there, "the agent's entry is no entry")
        labels, place = dict(session.labels), session.place
        target = next(index for index in range(len(session)) if index not in session.columns.damage)
        session_operations.label(session, target, "a next write")
        demand(session.labels.get(target) == "a next write", "the next write did not arrive")  # type: ignore[call-overload]
        session_operations.undo(session)
        demand((dict(session.labels), session.place) == (labels, place), "undo does not lead back")
        if run.scene.native:
            line = AGENTS_LINE.replace(AGENTS_ID.encode(), b"1a57beef")
            with run.path.open("ab") as file:
                file.write(line)
            session.refresh()
            demand("1a57beef" in _ids(session), "what the agent appends now is lost")
    except LeafwardError as error:
        raise Broken(f"it does not go on: {error}") from error
    finally:
        if session is not None:
            session.close()


def described(error: Exception, run: Run) -> dict[str, Any]:
    """A failure as a report names it."""
    return {
        "scene": run.scene.name,
        "fault": str(run.fault),
        "at": f"{run.number} ({run.call})",
        "code": run.code,
        "said": run.err.strip()[-300:],
        "broken": f"{type(error).__name__}: {error}"[:400],
    }
