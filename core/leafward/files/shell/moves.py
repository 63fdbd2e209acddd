"""Files that commands moved or removed: what is told of a file afterwards goes by its new name, or is left out.

A move counts where the command proves that it was done, a removal always: a file that is named although it is gone misleads
more than one that is left out. A file that a tool touches again is there again, which the caller has to see to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.shell.effects import effects
from leafward.files.shell.exit_evidence import Proof

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOVES = re.compile(r"\b(?:mv|rm)\b")


def may_move(command: str) -> bool:
    """Whether a command may move or remove files."""
    # The pattern looks at every word of a long command: most have neither pair of letters.
    return ("mv" in command or "rm" in command) and _MOVES.search(command) is not None


def moves(command: str) -> Iterator[tuple[str, str | None]]:
    """What a command that ended well moved, each with where it is now, or None where it was removed. Paths as the command has them."""
    for one in effects(command):
        if one.glob or one.by is not None:
            continue
        if one.effect is FileOperation.DELETE:
            yield one.path, None
        elif one.effect is FileOperation.MOVE and one.to is not None and one.proof is not Proof.NONE:
            yield one.path, one.to
