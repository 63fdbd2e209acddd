"""Files that a command writes with a text of its own: `cat > a.py <<'EOF'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
