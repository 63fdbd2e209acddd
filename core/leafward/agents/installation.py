"""Leafward's part in an agent's own files, which makes the agent run it around a compaction: adding and removing it.

A change is computed first and shown. The original text is kept in our data folder, and a removal restores it byte for
byte.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.hooks.hook import Runner
from leafward.agents.hooks.trial import failure_of
from leafward.agents.registry import all_agents, hindrance_of, hooks_of, is_installed
from leafward.base import paths
from leafward.base.durable import replace_file, sync_folder
from leafward.base.errors import LeafwardError, Refused
from leafward.base.output_file import replace_document, write_new_document
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import pasted_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.hooks.hook import Hooks


@dataclass(frozen=True, slots=True)
class AgentFileChange:
    """The text of an agent's file before and after a change."""

    agent: str
    file: Path
    """The file that is written: where the agent's is a link, the one that it leads to."""
    link: Path | None
    """That link."""
    before: str | None
    """None where the file does not exist."""
    after: str | None
    """None where the change removes the file."""
    cost: str
    """The cost at a compaction, in one line; empty for a removal."""
    note: str
    """A further step that the user has to take, in one line; mostly empty."""
    first: str | None
    """The text of the file before anything of Leafward's was in it."""
    folder: str | None
    """The topmost folder that is created for the file, or was."""
    installs: bool

    @property
    def changed(self) -> bool:
        """Whether the change writes anything."""
        return self.before != self.after

    def lines(self) -> list[str]:
        """A unified diff; empty where nothing changes."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return list(unified_diff(old, new, "before", "after", lineterm="", n=1))


def installation(name: str, summary: bool = False) -> AgentFileChange:
    """The change that `leafward install` makes; with `summary` Leafward also makes the agent's summaries.

    Raises Refused.
    """
    hooks = hooks_of(name)
    file, link = _target(hooks.file(os.environ))
    before = _text(file)
    known = _known(name, file)
    # The original text is kept before anything is changed, because a removal restores it.
    if known is not None and known["after"] == before:
        first = known["before"]
    else:
        # Where somebody changed the file since, or the record is lost, it may still hold our part.
        first = hooks.removed(before) if before is not None and before.strip() else before
    after = hooks.installed(first, runner_of(name), summary)
    folder = known["folder"] if known is not None else _first_missing(file)
    note = hindrance_of(name, Path.cwd()) or (hooks.note if after != before else "")
    return AgentFileChange(name, file, link, before, after, hooks.cost, note, first, folder, installs=True)


def removal(name: str) -> AgentFileChange:
    """The change that `leafward uninstall` makes. Raises Refused."""
    hooks = hooks_of(name)
    file, link = _target(hooks.file(os.environ))
    before = _text(file)
    known = _known(name, file)
    if before is None:
        after = None
    elif known is not None and known["after"] == before:
        after = known["before"]
    else:
        after = hooks.removed(before)
    folder = known["folder"] if known is not None else None
    note = _elsewhere(name) if after == before else ""
    return AgentFileChange(name, file, link, before, after, "", note, None, folder, installs=False)


def apply(change: AgentFileChange) -> None:
    """Writes a change. Raises Refused where the file changed since, or where it is not writable."""
    record = _record(change.agent, change.file)
    if change.installs:
        if change.changed:
            _install(change, record)
        return
    if change.changed:
        _write(change)
    if change.after is None and change.folder:
        _drop_folders(change.file.parent, Path(change.folder))
    record.unlink(missing_ok=True)
    for other, known in _records(change.agent).items():
        # A folder of settings that is gone needs no record any more.
        if not _is_there(change.agent, known):
            other.unlink(missing_ok=True)


def _install(change: AgentFileChange, record: Path) -> None:
    """Notes the original text, then writes the change; neither stays where one fails."""
    kept = {"file": str(change.file), "before": change.first, "after": change.after, "folder": change.folder}
    earlier = read_regular(record) if record.exists() else None
    try:
        paths.make_private(paths.hook_log().parent)
        paths.make_private(record.parent)
        replace_file(record, json.dumps(kept).encode())
    except OSError as error:
        raise Refused(f"{record}: {error.strerror or error}; nothing was installed") from error
    try:
        _write(change)
    except (OSError, LeafwardError):
        if not _is_in_place(change):
            _take_back(record, earlier, change)
        raise


def runner_of(name: str) -> Runner:
    """The command that runs the hook: this Python and this Leafward, never one from a project's folder."""
    return Runner((sys.executable, "-P", "-m", "leafward", "hook", name), paths.hook_log())


def installed_files() -> dict[str, str]:
    """The files that hold Leafward's part now, by the agent's name."""
    return {
        agent.name: str(hooks_of(agent.name).file(os.environ))
        for agent in all_agents()
        if is_installed(agent.name)
    }


def installation_problems() -> Iterator[str]:
    """What is wrong with installations: Leafward's part is gone from a file, it runs another Leafward, or there is no room for a text."""
    if installed_files() and (why := _no_room()):
        yield f"{why}; agents go on without the text after a compaction"
    for agent in all_agents():
        every = list(_records(agent.name).values())
        file = hooks_of(agent.name).file(os.environ)
        for known in every if any(_is_of(known, file) for known in every) else [*every, None]:
            if why := _problem_of(agent.name, known):
                yield why


def _problem_of(name: str, known: dict[str, Any] | None) -> str:
    """The problem of one installation of an agent; empty where it has none, or where nothing is installed."""
    hooks = hooks_of(name)
    file = Path(known["file"]) if known is not None else hooks.file(os.environ)
    try:
        text = _text(_target(file)[0])
    except (OSError, Refused) as error:
        return f"{file}: {error}" if known is not None else ""
    commands = hooks.commands(text) if text is not None else []
    if known is None and not commands:
        return ""
    summary = hooks.makes_summaries(known["after"] if known is not None else text or "")
    again = f"`leafward install {name}{' --summary' if summary else ''}` installs it again"
    if text is None or not hooks.is_in(text):
        return f"{file}: what Leafward installed is gone; {again}"
    if failed := next(filter(None, map(failure_of, commands)), ""):
        return f"{file}: {failed}; {again}"
    if not _runs_this(text):
        return f"{file}: it runs another Leafward than this one; {again}"
    # What the user changed in it since is theirs; without a record of the installation nobody knows what that was.
    before, written = (known["before"], known["after"]) if known is not None else (text, text)
    if _is_outdated(written, before, hooks, runner_of(name), summary=summary):
        return f"{file}: another version of Leafward wrote it; {again}"
    return hindrance_of(name, Path.cwd())


def _is_outdated(written: str, before: str | None, hooks: Hooks, runner: Runner, *, summary: bool) -> bool:
    """Whether this version would have written something else."""
    with suppress(Refused):
        return written != hooks.installed(before, runner, summary)
    return False


def _no_room() -> str:
    """Why hooks can keep neither a text nor what went wrong; empty where they can."""
    folder = paths.state_dir()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir():
        return f"{there} is not a folder"
    if not os.access(there, os.W_OK):
        return f"{folder} cannot be written to"
    return "" if shutil.disk_usage(there).free else f"{folder}: the disk is full"


def _runs_this(text: str) -> bool:
    """Whether the text of an agent's file names this Python in a JSON text, as it is or as a shell reads it."""
    names = sys.executable, shlex.quote(sys.executable)
    written = [json.dumps(name, ensure_ascii=plain)[1:-1] for name in names for plain in (True, False)]
    return any(name in text for name in written)


def _target(file: Path) -> tuple[Path, Path | None]:
    """The file that is written for an agent's, and that one where it is a link, as many keep them.

    Raises Refused where the link leads nowhere, or to what is no file of this user.
    """
    if not file.is_symlink():
        return file, None
    target = Path(os.path.realpath(file))
    try:
        found = target.lstat()
    except OSError:
        raise Refused(
            f"{file} is a link to {target}, which is missing; remove the link, or make that file"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{file} is a link to {target}, which is no regular file")
    if found.st_uid != getattr(os, "getuid", lambda: found.st_uid)():
        raise Refused(f"{file} is a link to {target}, which belongs to another user")
    return target, file


def _text(file: Path) -> str | None:
    """The text of a file; None where there is no file.

    Raises Refused for links, odd files and text that is not UTF-8.
    """
    if file.is_symlink():
        raise Refused(f"{file} is a symbolic link now; nothing was written")
    try:
        return read_regular(file).decode("utf-8")
    except FileNotFoundError:
        gone = next((folder for folder in file.parents if folder.is_symlink() and not folder.exists()), None)
        if gone is not None:
            raise Refused(
                f"{gone} is a link to a folder that is missing; make that folder, or remove the link"
            ) from None
        return None
    except UnicodeDecodeError:
        raise Refused(f"{file} is not UTF-8; fix it first") from None
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error


def _write(change: AgentFileChange) -> None:
    file = change.file
    changed = Refused(f"{file} changed meanwhile; nothing was written")
    if _text(file) != change.before:
        raise changed
    if change.after is None:
        file.unlink()
        sync_folder(file.parent)
        if change.link is not None:
            change.link.unlink()
    elif change.before is None:
        paths.make_private(file.parent)
        try:
            write_new_document(file, change.after)
        except FileExistsError:
            # Another installation was faster; the error names our draft.
            raise changed from None
    else:
        replace_document(file, change.after)


def _is_in_place(change: AgentFileChange) -> bool:
    """Whether a write that failed has replaced the file all the same: its record is needed to remove it again."""
    with suppress(OSError, Refused):
        return _text(change.file) == change.after
    return False


def _take_back(record: Path, earlier: bytes | None, change: AgentFileChange) -> None:
    """Restores our note and the folders after an installation that failed."""
    with suppress(OSError):
        if earlier is None:
            record.unlink()
        else:
            replace_file(record, earlier)
    if change.before is None and change.folder:
        _drop_folders(change.file.parent, Path(change.folder))


def _record(name: str, file: Path) -> Path:
    """The place of the record for one file: an agent may have several folders of settings."""
    place = sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:16]
    new = _record_folder() / f"{name}-{place}.json"
    return next((record for record, known in _records(name).items() if _is_of(known, file)), new)


def _record_folder() -> Path:
    return paths.data_dir() / "installed"


def _known(name: str, file: Path) -> dict[str, Any] | None:
    """The record of what is installed in a file; None where no record fits."""
    return next((known for known in _records(name).values() if _is_of(known, file)), None)


def _is_of(known: dict[str, Any], file: Path) -> bool:
    return bool(os.path.realpath(known["file"]) == os.path.realpath(file))


def _records(name: str) -> dict[Path, dict[str, Any]]:
    """The records of all installations of an agent, by their place."""
    every = {record: _read_record(record) for record in sorted(_record_folder().glob(f"{name}*.json"))}
    return {record: known for record, known in every.items() if known is not None}


def _read_record(record: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(read_regular(record))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in ("file", "after")):
        return None
    texts = all(isinstance(found.get(key), str | None) for key in ("before", "folder"))
    return {"before": None, "folder": None, **found} if texts else None


def _is_there(name: str, known: dict[str, Any]) -> bool:
    """Whether a file still holds what was installed; one that cannot be read counts as if it did."""
    try:
        text = _text(_target(Path(known["file"]))[0])
    except (OSError, Refused):
        return True
    return text is not None and bool(hooks_of(name).commands(text))


def _elsewhere(name: str) -> str:
    """Where else an agent is installed, for whom looks for it in a file that has nothing of ours; empty: nowhere."""
    others = [pasted_path(known["file"]) for known in _records(name).values() if _is_there(name, known)]
    if not others:
        return ""
    return f"it is installed in {', '.join(others)}: uninstall it with the environment variables that `install` had"


def _first_missing(file: Path) -> str | None:
    """The topmost folder that has to be created for a file."""
    missing = [folder for folder in file.parents if not folder.exists()]
    return str(missing[-1]) if missing else None


def _drop_folders(folder: Path, top: Path) -> None:
    """Removes the empty ones of the folders that were created for a file."""
    while folder.is_relative_to(top):
        with suppress(OSError):
            folder.rmdir()
        folder = folder.parent
