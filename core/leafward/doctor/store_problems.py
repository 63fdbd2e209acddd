"""Problems of files that lie beside sessions: sidecars, litter, the trash, documents for an import. None is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.errors import NotASession
from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward.doctor.problem import Problem
from leafward.session.sidecar import SUFFIX, belongs_to, every_sidecar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.doctor.litter import Litter

_STRAYS_NAMED = 4
"""Sessions that one remark names at most."""


def lost_sidecars(known: Collection[Path], is_there: Callable[[str], bool]) -> Iterator[Problem]:
    """Sidecars that are not among `known` and whose session is gone, and unreadable ones. None is removed."""
    for path in every_sidecar():
        if path in known or path.suffix != SUFFIX:
            continue
        try:
            owner, lay_at = belongs_to(path)
        except NotASession as error:
            yield Problem("sidecar", safe_line(str(error), 400))
            continue
        if not is_there(lay_at):
            whose = f"{safe_line(owner.agent, 40)} session {safe_line(owner.session, 80)}"
            text = f"{whose} is gone from {safe_line(lay_at, 200)}; the changes that you made to it stay in {path}"
            yield Problem("sidecar-orphan", text)


def litter_problems(left: Iterable[Litter]) -> Iterator[Problem]:
    """Files that killed writes left behind. Files that a running process uses are left out."""
    for one in left:
        if one.in_use:
            continue
        whose = "copies of an old restore" if one.copies else "left by a write that was interrupted"
        what = f"{safe_line(str(one.path), 400)}: {whose}"
        does = (
            f"it stays for now: {one.stays}" if one.stays else "`leafward doctor --clear-litter` removes it"
        )
        yield Problem("litter", f"{what}; {does}")


def trash_problems(files: Iterable[Path]) -> Iterator[Problem]:
    """Files in the trash whose note does not say where they came from. None is removed."""
    for file in files:
        what = f"{safe_line(str(file), 400)} is in the trash, and the note beside it"
        yield Problem("trash", f"{what} does not say where it was: move it back by hand")


def stray_messages(path: str, found: Mapping[str, int]) -> Iterator[Problem]:
    """Messages in a file of many sessions that belong to none of them, by the session that they name."""
    if found:
        total = sum(found.values())
        messages = (
            "1 message names a session that is"
            if total == 1
            else f"{total:,} messages name sessions that are"
        )
        names = [safe_line(f"{name} ({count:,})", 80) for name, count in found.items()]
        text = f"{safe_line(path, 300)}: {messages} not there: {first_few(names, _STRAYS_NAMED)}"
        yield Problem("stray-messages", text)


def waiting_imports(documents: Sequence[Path]) -> Iterator[Problem]:
    """Documents that were written for an agent's import and still exist. None is removed."""
    if documents:
        number = counted(len(documents), "document is", "documents are")
        size = sum(path.stat().st_size for path in documents if path.exists())
        text = (
            f"{number} left in {safe_line(str(documents[0].parent), 200)}, {size:,} bytes: for imports that failed, or that"
            " Leafward did not run; `leafward doctor --forget` removes what is left"
        )
        yield Problem("import-left", text)
