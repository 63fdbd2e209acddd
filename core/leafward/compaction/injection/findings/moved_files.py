"""Files that commands moved or removed (`files/shell/moves`): the working set lists their current paths, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.injection.findings.path_findings import PathFile, PathUse
from leafward.files.shell.moves import moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.injection.values import SourceRef
    from leafward.session.entries import EntryIndex


def move_files(
    files: dict[str, PathFile],
    command: str,
    name: Callable[[str], str],
    entry: EntryIndex,
    source: SourceRef,
) -> list[str]:
    """Applies a successful command to the files, and returns the paths that it moved or removed; `name` normalises a path."""
    paths = []
    for moved, target in moves(command):
        path = name(moved)
        paths.append(path)
        to = name(target) if target is not None else None
        for file in _at(files, path):
            file.gone = True
            if to is not None and file.use is not PathUse.MENTIONED:
                there = to + file.path[len(path) :]
                there_before = files.get(there)
                sources = [*(there_before.sources if there_before is not None else ()), *file.sources, source]
                files[there] = PathFile(there, file.use, entry, sources)
    return paths


def lies_at(path: str, moved: str) -> bool:
    """Whether a path is one that a command moved, or lies in that folder."""
    return path == moved or path.startswith(f"{moved}/")


def _at(files: dict[str, PathFile], path: str) -> list[PathFile]:
    """The file of that name, or the files in the folder of that name."""
    if path in files:
        return [files[path]]
    below = f"{path}/"
    return [file for known, file in files.items() if known.startswith(below) and not file.gone]
