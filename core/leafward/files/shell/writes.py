"""Files that a command edits, with a text of its own (`cat > a.py <<'EOF'`) or in place (`sed -i`), or changes in any way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_PLACE = late(r"\b(?:sed|perl|awk)\b[^|;&\n]{0,200}?\s-(?:\w{0,12}i|-in-place|i inplace)")
_EDITS = late(
    r">(?!&\d|\s*/dev/null\b)|\btee\b|\bpatch\b|\bgit\b[^|;&\n]{0,80}\b(?:apply|am)\b"
    r"|open\(|write_|(?:write|append)File|File\.write|\btruncate\b"
)
"""Signs of a command that may edit a file: most have none."""


_BY_POWERSHELL = late(r"(?i)\b(?:(?:write|append)all(?:text|lines|bytes)\(|(?:set|add)-content\b|out-file\b)")
"""Signs of a command of PowerShell that writes a file, often one that a variable names."""


def written_texts(command: str, folder: str = "") -> Iterator[str]:
    """The files that a successful command wrote or appended a text to that stands in the command, in order.

    Paths are from the folder of the session, or from `folder` where the command ran in another one.
    """
    if ">" not in command or "<<" not in command:
        return
    # Most commands hold no text, and whoever waits for the injected text waits for what is loaded.
    from leafward.files.file_operation import FileOperation
    from leafward.files.file_request import Proof
    from leafward.files.shell.effects import effects

    for one in effects(command, folder):
        if (
            one.operation in (FileOperation.WRITE, FileOperation.APPEND)
            and one.text is not None
            and not one.glob
            and one.proof > Proof.NONE
        ):
            yield one.path


def edits(command: str, folder: str = "") -> Iterator[str]:
    """The files that a successful command edited, in order; an empty name where nothing tells which, or whether.

    What a program printed into a file, and what was copied or moved, is no edit. Paths are as in `written_texts`.
    """
    if _BY_POWERSHELL.search(command) is not None:
        yield ""
    in_place = _IN_PLACE.search(command) is not None
    if not in_place and _EDITS.search(command) is None:
        return
    from leafward.files.file_operation import FileOperation
    from leafward.files.file_request import BulkCommand, Proof
    from leafward.files.shell.effects import effects

    done = effects(command, folder)
    unsure = sum(one.operation is FileOperation.CHANGE and one.proof <= Proof.NONE for one in done)
    named = False
    for one in done:
        if one.operation is FileOperation.SWEEP:
            if one.by in (BulkCommand.APPLY, BulkCommand.AM, BulkCommand.PATCH):
                yield ""
        elif one.operation is FileOperation.CHANGE and one.by is None:
            named = True
            # A program that names several files may have changed only one of them.
            yield "" if one.glob or (unsure > 1 and one.proof <= Proof.NONE) else one.path
        elif one.operation in (FileOperation.WRITE, FileOperation.APPEND) and one.text:
            yield "" if one.glob or one.proof <= Proof.NONE else one.path
    if in_place and not named:
        # Only the shell knows the names: `for file in $found`, `find -exec`.
        yield ""


def may_change(command: str, folder: str = "") -> Iterator[str]:
    """The files that a command may have changed, in whatever way; an empty name where it may be any. Paths are as in `written_texts`."""
    from leafward.files.file_operation import FileOperation
    from leafward.files.shell.effects import effects

    if _IN_PLACE.search(command) is not None or _BY_POWERSHELL.search(command) is not None:
        # It may name others by what the shell puts in.
        yield from edits(command, folder)
    for one in effects(command, folder):
        if one.operation is FileOperation.SWEEP or one.glob:
            yield ""
        elif one.operation.changes:
            yield one.path
            if one.to is not None:
                yield one.to
