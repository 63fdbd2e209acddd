"""Rebuilt files written into a folder that the user chose: an empty one, or one that is made for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.errors import Refused
from leafward.rebuilding.knowledge import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from leafward.rebuilding.replay import Rebuilt


@dataclass(frozen=True, slots=True)
class Stored:
    """What was, or would be, written."""

    folder: Path
    files: tuple[str, ...]
    size: int
    """Bytes."""
    left_out: tuple[tuple[str, str], ...]
    """Files whose contents are not known as a whole, or that lie elsewhere, with the reason."""


def store(files: Iterable[Rebuilt], folder: Path, workspace: str, *, dry_run: bool = False) -> Stored:
    """Writes the exact ones among some rebuilt files under a folder; others are told.

    Raises Refused for a folder that is not empty, or that is the session's own or lies in it.
    """
    place = folder.resolve()
    if workspace and os.path.isabs(workspace) and place.is_relative_to(os.path.realpath(workspace)):
        raise Refused(f"{folder} lies in the session's own folder; choose another")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise Refused(f"{folder} is not empty; choose an empty folder, or one that is not there yet")
    done: list[str] = []
    left_out: list[tuple[str, str]] = []
    size = 0
    for file in files:
        why = _reason(file)
        if why:
            left_out.append((file.path, why))
        elif file.certainty is Certainty.EXACT:
            data = (file.text or "").encode("utf-8", "surrogatepass")
            size += len(data)
            done.append(file.path)
            if not dry_run:
                _write(place, file.path, data)
    return Stored(place, tuple(done), size, tuple(left_out))


def _reason(file: Rebuilt) -> str:
    if file.certainty in (Certainty.PARTIAL, Certainty.UNKNOWN):
        why = next((remark.value for _, remark in reversed(file.remarks)), "never read as a whole")
        return f"{file.certainty.value}: {why}"
    if os.path.isabs(file.path) or file.path.split("/")[0] in ("~", "..") or file.path.startswith("~"):
        return "it lies outside the session's folder"
    return ""


def _write(folder: Path, path: str, data: bytes) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    # Never through a link, never over a file: the folder was empty.
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
