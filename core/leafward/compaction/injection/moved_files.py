"""Files that commands moved or removed: the working set has them where they are now, or not at all.

A move counts where the command proves that it was done, a removal always: a file that is named although it is gone misleads
more than one that is left out. A file that a tool touches again is there again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.compaction.injection.path_findings import FileUse, Use
from leafward.files.file_operation import FileOperation
from leafward.files.shell.effects import effects
from leafward.files.shell.exit_evidence import Proof

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.injection.values import SourceRef
    from leafward.session.entries import EntryIndex

_MOVES = re.compile(r"\b(?:mv|rm)\b")


def may_move(command: str) -> bool:
    """Whether a command may move or remove files."""
    # The pattern looks at every word of a long command: most have neither pair of letters.
    return ("mv" in command or "rm" in command) and _MOVES.search(command) is not None


def move_files(
    files: dict[str, FileUse], command: str, name: Callable[[str], str], entry: EntryIndex, source: SourceRef
) -> None:
    """Takes in what a command that ended well did to files; `name` is what a path is called among them."""
    for one in effects(command):
        if one.glob or one.by is not None:
            continue
        path = name(one.path)
        if one.effect is FileOperation.DELETE:
            for file in _at(files, path):
                file.gone = True
        elif one.effect is FileOperation.MOVE and one.to is not None and one.proof is not Proof.NONE:
            to = name(one.to)
            for file in _at(files, path):
                file.gone = True
                if file.use is not Use.MENTIONED:
                    there = to + file.path[len(path) :]
                    there_before = files.get(there)
                    sources = [
                        *(there_before.sources if there_before is not None else ()),
                        *file.sources,
                        source,
                    ]
                    files[there] = FileUse(there, file.use, entry, sources)


def _at(files: dict[str, FileUse], path: str) -> list[FileUse]:
    """The file of that name, or what lies in the folder of that name."""
    if path in files:
        return [files[path]]
    below = f"{path}/"
    return [file for known, file in files.items() if known.startswith(below) and not file.gone]
