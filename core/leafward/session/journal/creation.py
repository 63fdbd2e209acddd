"""New session files: written whole under a name that no agent scans, then renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.durable import discarded_on_failure, draft_name, give_name, write_new
from leafward.base.errors import Refused, not_written
from leafward.base.paths import private_folder
from leafward.session.journal.lines import encode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from leafward.session.entries import Body


def create(path: Path, header: Body, lines: Iterable[Body | bytes] = ()) -> Path:
    """Writes a new session file, mode 0600, missing folders 0700, and returns its path.

    The name appears once the file is complete and durable, and an existing file is never replaced. `lines` are objects, or
    lines of another file that are copied unchanged (with their newline). Raises Refused where the name is taken or the file
    cannot be written; nothing is left behind then.
    """
    encoded = (line if isinstance(line, bytes) else encode_line(line) for line in (header, *lines))
    return create_from(path, draft_name(path), encoded)


def create_from(
    path: Path, waiting: Path, content: Iterable[bytes], unless: Callable[[], object] = lambda: None
) -> Path:
    """Creates a file from its bytes, written under the name `waiting`; `unless` may refuse before the rename."""
    try:
        with private_folder(path.parent):
            write_new(waiting, content)
            with discarded_on_failure(waiting):
                unless()
                give_name(waiting, path)
    except FileExistsError:
        raise Refused(f"{path} exists already; it is left as it is") from None
    except OSError as error:
        raise Refused(not_written(path, error)) from error
    return path
