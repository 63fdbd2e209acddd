"""Files that commands moved or removed: later mentions of a file use its new name, or leave it out.

A move counts where the command proves that it was done, a removal always: a mention of a removed file misleads more than a
missing one. A file that a tool touches again exists again, which the caller has to handle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOVES = late(r"\b(?:mv|rm)\b")


def may_move(command: str) -> bool:
    """Whether a command may move or remove files."""
    # The pattern tests every word of a long command, and most commands have neither pair of letters.
    return ("mv" in command or "rm" in command) and _MOVES.search(command) is not None


def moves(command: str, folder: str = "") -> Iterator[tuple[str, str | None]]:
    """Files that a successful command moved, each with its new path, or None where it was removed.

    Paths are from the folder of the session, or from `folder` where the command ran in another one.
    """
    # Most commands move nothing, and whoever waits for the injected text waits for what is loaded.
    from leafward.files.file_operation import FileOperation
    from leafward.files.file_request import Proof
    from leafward.files.shell.effects import effects

    for one in effects(command, folder):
        if one.glob or one.by is not None:
            continue
        if one.operation is FileOperation.DELETE:
            yield one.path, None
        elif one.operation is FileOperation.MOVE and one.to is not None and one.proof > Proof.NONE:
            yield one.path, one.to
