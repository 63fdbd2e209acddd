"""The folders in which the calls of a reply ran: the shell of Claude Code stays where a `cd` left it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.records import message_of
from leafward.session.entries import blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.entries import Body

_MOVES = re.compile(r"\b(?:cd|pushd|popd)\b")
"""Signs of a command that leaves the shell in another folder."""


def call_folders(rows: Sequence[Body], home: str, behind: Callable[[str], object]) -> dict[str, str]:
    """The folders of a reply's calls that were not made in the session's, `home`, by the ids of the calls.

    A row has the folder of the moment at which it was written. Calls made together are written before the first of them is run;
    the row of its result, whose folder `behind` gives, has the one in which the next call runs (2.1.332).
    """
    found: dict[str, str] = {}
    moved: object = None
    for row in rows:
        for block in blocks_of(message_of(row).get("content")):
            if block.get("type") != "tool_use":
                continue
            call, folder = str(block.get("id")), moved or row.get("cwd")
            if isinstance(folder, str) and folder != home:
                found[call] = folder
            if row is not rows[-1] and _MOVES.search(str(block.get("input"))) is not None:
                moved = behind(call) or moved
    return found
