"""Rebuilt files written into a folder that the user chose: an empty one, or one that is created for them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.files.file_replay.knowledge import Certainty

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from leafward.files.file_replay.replay import Rebuilt


@dataclass(frozen=True, slots=True)
class RebuiltFolder:
    """The result of writing, or of a dry run."""

    folder: Path
    files: tuple[str, ...]
    size: int
    """Bytes."""
    left_out: tuple[tuple[str, str], ...]
    """Files that are not wholly known, lie outside, or cannot be written, each with the reason."""
    failed: tuple[str, ...] = ()
    """Files among them that failed to be written, as on a full disk."""


def write_rebuilt(
    files: Iterable[Rebuilt], folder: Path, workspace: str, *, dry_run: bool = False
) -> RebuiltFolder:
    """Writes the exact ones among some rebuilt files under a folder; the result lists the others.

    Raises Refused for a folder that is not empty, or that is the session's own or lies in it.
    """
    place = folder.resolve()
    if workspace and os.path.isabs(workspace) and place.is_relative_to(os.path.realpath(workspace)):
        raise Refused(f"{folder} is in the session's own folder; choose another")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise Refused(f"{folder} is not empty; choose an empty folder, or a new one")
    done: list[str] = []
    left_out: list[tuple[str, str]] = []
    failed: list[str] = []
    size = 0
    files = list(files)
    exact = {file.path for file in files if file.certainty is Certainty.EXACT}
    for file in files:
        why = _reason(file) or _below(file.path, exact)
        data = (file.text or "").encode("utf-8", "surrogatepass")
        if not why and file.certainty is Certainty.EXACT and not dry_run:
            why = _write(place, file.path, data)
            failed += [file.path] if why else []
        if why:
            left_out.append((file.path, why))
        elif file.certainty is Certainty.EXACT:
            size += len(data)
            done.append(file.path)
    return RebuiltFolder(place, tuple(done), size, tuple(left_out), tuple(failed))


def _reason(file: Rebuilt) -> str:
    if file.certainty in (Certainty.PARTIAL, Certainty.UNKNOWN):
        why = next((remark.value for _, remark in reversed(file.remarks)), "never read as a whole")
        return f"{file.certainty.value}: {why}"
    return unfit_name(file.path) if file.certainty is Certainty.EXACT else ""


_OUTSIDE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\|~(?:/|$)")


def unfit_name(path: str) -> str:
    """The reason why no file with this name, as `file_names.locate` gives it, is written under a folder; empty for none."""
    parts = re.split(r"[\\/]", path)
    if _OUTSIDE.match(path) or ".." in parts:
        return "it is outside the session's folder"
    if any(part.casefold() == ".git" for part in parts):
        # A hook would run; `git apply` refuses these names as well.
        return "it belongs to git itself"
    try:
        fits = "\0" not in path and path not in ("", ".") and path.encode("utf-8") is not None
    except UnicodeEncodeError:
        fits = False
    return "" if fits else "no file can have this name"


def _below(path: str, exact: Collection[str]) -> str:
    above = path.rpartition("/")[0]
    while above:
        if above in exact:
            return f"{above} is a file: one of them was removed without a recorded call"
        above = above.rpartition("/")[0]
    return ""


def _write(folder: Path, path: str, data: bytes) -> str:
    """Writes one file; returns the reason where that fails, else an empty text."""
    target = folder / path
    made = [one for one in target.parents if one.is_relative_to(folder) and not one.exists()]
    why = _written(target, data)
    if why:
        for one in made:
            # Another file may have this name where the file system treats different names as equal.
            with suppress(OSError):
                one.rmdir()
    return why


def _written(target: Path, data: bytes) -> str:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Never through a link and never over a file: the folder was empty.
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return "on this disk another name is the same file"
    except OSError as error:
        return f"it cannot be written: {error.strerror}"
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        target.unlink(missing_ok=True)
        return f"it cannot be written: {error.strerror}"
    return ""
