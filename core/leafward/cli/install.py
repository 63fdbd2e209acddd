"""The verbs `install` and `uninstall`: the injected context put where an agent compacts by itself, and taken back."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward import agents
from leafward.base import paths
from leafward.base.errors import Refused
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import safe_line
from leafward.cli.output import emit_json, say
from leafward.export.output_file import write_document, write_new_document
from leafward.session.journal.durable import replace_file, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.hooks import Hooks
    from leafward.export.doctor import Problem

__all__ = ["hook_problems", "install", "uninstall"]

_LAST = 3
"""Failures of hooks that `doctor` tells."""


def install(name: str, dry_run: bool, as_json: bool) -> int:
    """`leafward install`."""
    hooks = _hooks_of(name)
    file = hooks.file(os.environ)
    before = _text(file)
    record = _record(name)
    known = _known(record, file)
    # What was there first is kept before anything is changed: it is what `uninstall` gives back.
    first = known["before"] if known is not None and known["after"] == before else before
    after = hooks.installed(first, command_of(name))
    if not dry_run and after != before:
        folder = known["folder"] if known is not None else _first_missing(file)
        paths.make_private(record.parent)
        kept = {"file": str(file), "before": first, "after": after, "folder": folder}
        replace_file(record, json.dumps(kept).encode())
        _write(file, before, after)
    _tell(["uninstall", name], file, before, after, hooks.cost, dry_run, as_json)
    return 0


def uninstall(name: str, dry_run: bool, as_json: bool) -> int:
    """`leafward uninstall`."""
    hooks = _hooks_of(name)
    file = hooks.file(os.environ)
    before = _text(file)
    record = _record(name)
    known = _known(record, file)
    if before is None:
        after = None
    elif known is not None and known["after"] == before:
        after = known["before"]
    else:
        after = hooks.removed(before)
    if not dry_run:
        if after != before:
            _write(file, before, after)
        if after is None and known is not None and known["folder"]:
            _drop_folders(file.parent, Path(known["folder"]))
        record.unlink(missing_ok=True)
    _tell(["install", name], file, before, after, "", dry_run, as_json)
    return 0


def command_of(name: str) -> list[str]:
    """What runs the hook: this Python and this Leafward, never one that lies in the folder of a project."""
    return [sys.executable, "-P", "-m", "leafward", "hook", name]


def hook_problems() -> Iterator[Problem]:
    """What is wrong with what was installed, and what went wrong lately where agents ran it."""
    from leafward.cli.hook import failures
    from leafward.export.doctor import Problem

    for agent in agents.all_agents():
        known = _known(_record(agent.name), None)
        if known is None or agent.hooks is None:
            continue
        file = Path(known["file"])
        again = f"`leafward install {agent.name}` puts it there again"
        try:
            text = _text(file)
        except (OSError, Refused) as error:
            yield Problem("hook", f"{file}: {error}")
            continue
        if text is None or not agent.hooks.is_in(text):
            yield Problem("hook", f"{file}: what Leafward installed is gone; {again}")
        elif sys.executable not in known["after"] and sys.executable not in text:
            yield Problem("hook", f"{file}: it runs another Leafward than this one; {again}")
    yield from (Problem("hook", text) for text in failures()[-_LAST:])


def _hooks_of(name: str) -> Hooks:
    agent = agents.agent_named(name)
    if agent.hooks is None:
        raise Refused(
            f"nothing is installed in {agent.title}: its hooks around a compaction are not supported yet"
        )
    return agent.hooks


def _text(file: Path) -> str | None:
    """What a file says; None where there is none. Raises Refused for links, odd files and other text than UTF-8."""
    if file.is_symlink():
        raise Refused(f"{file} is a link; what it leads to is not changed")
    try:
        return read_regular(file).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Refused(f"{file} is not UTF-8; put it right first") from None
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error


def _write(file: Path, before: str | None, after: str | None) -> None:
    if _text(file) != before:
        raise Refused(f"{file} changed meanwhile; nothing was written")
    if after is None:
        file.unlink()
        sync_folder(file.parent)
    elif before is None:
        paths.make_private(file.parent)
        write_new_document(file, after)
    else:
        write_document(file, after)


def _record(name: str) -> Path:
    return paths.data_dir() / "installed" / f"{name}.json"


def _known(record: Path, file: Path | None) -> dict[str, Any] | None:
    """What was kept of an installation, in that file where one is given; None where there is nothing that fits."""
    try:
        found = json.loads(read_regular(record))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("after"), str):
        return None
    texts = all(isinstance(found.get(key), str | None) for key in ("before", "folder"))
    if (
        not texts
        or not isinstance(found.get("file"), str)
        or (file is not None and found["file"] != str(file))
    ):
        return None
    return {"before": None, "folder": None, **found}


def _first_missing(file: Path) -> str | None:
    """The topmost folder that has to be made for a file."""
    missing = [folder for folder in file.parents if not folder.exists()]
    return str(missing[-1]) if missing else None


def _drop_folders(folder: Path, top: Path) -> None:
    """Removes folders that were made for a file, where nothing else came to lie in them."""
    while folder.is_relative_to(top):
        with suppress(OSError):
            folder.rmdir()
        folder = folder.parent


def _tell(
    undo: list[str],
    file: Path,
    before: str | None,
    after: str | None,
    cost: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    old, new = ((text or "").splitlines() for text in (before, after))
    changes = list(unified_diff(old, new, "before", "after", lineterm="", n=1))
    if as_json:
        emit_json(
            {
                "file": str(file),
                "before": before,
                "after": after,
                "changed": before != after,
                "undo": ["leafward", *undo],
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return
    shown = safe_line(str(file), 400)
    if before == after:
        say(f"nothing to do: {shown} is as it should be")
        return
    done = "would write" if dry_run else "wrote"
    if after is None:
        done = "would remove" if dry_run else "removed"
    say([f"{done} {shown}", *(safe_line(line, 2000) for line in changes)])
    if cost:
        say(f"at a compaction: {cost}")
