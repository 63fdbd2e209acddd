"""Opens the full-screen application, which the caller passes in, or says in one line why it cannot."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError, NotASession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.cli.host import OpenApp


def has_terminal() -> bool:
    """Whether there is a terminal to draw on and to read keys from."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def open_paths(open_app: OpenApp | None, selectors: Sequence[str]) -> int:
    """Opens the application on files, folders and sessions; on the catalogue if none is named."""
    paths = [_resolved(name) for name in selectors]
    if open_app is None:
        raise LeafwardError(
            "the application is not installed with this command; its verbs work (leafward --help)"
        )
    if not has_terminal():
        raise LeafwardError(
            "the application needs a terminal; `leafward tree SESSION` and `leafward ls` do not"
        )
    return open_app(paths) or 0


def _resolved(selector: str) -> Path:
    path = Path(os.path.expanduser(selector))
    if path.is_dir() or (path.suffix == ".jsonl" and path.is_file()):
        # Nothing to look up, so no modules for looking up are loaded.
        return _readable(path)
    from leafward.cli.selection import holds_many, session_path

    if path.is_file() and holds_many(path):
        return _readable(path)
    return _readable(session_path(selector))


def _readable(path: Path) -> Path:
    """The path, resolved. Raises NotASession for a file that cannot be read: an empty tree would not say so."""
    if path.is_file():
        from leafward.base.regular_files import open_regular

        try:
            open_regular(path).close()
        except OSError as error:
            raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
    return path.resolve()


def open_demo(open_app: OpenApp | None, as_json: bool) -> int:
    """Opens the demo session, or prints its tree if the application cannot be drawn."""
    from leafward.export.demo import demo_session

    with demo_session() as path:
        if open_app is not None and has_terminal() and not as_json:
            return open_app([path]) or 0
        from leafward.cli.verbs.tree import tree

        return tree(str(path), as_json, every_entry=False)


def copy_demo(file: Path, as_json: bool) -> int:
    """Writes the demo session to a new file. Raises LeafwardError where it exists or cannot be written."""
    from leafward.base.output_file import write_new_document
    from leafward.base.safe_text import pasted_path, shell_word
    from leafward.cli.output.page import emit_json, say
    from leafward.cli.output.written import after
    from leafward.export.demo import demo_text

    try:
        write_new_document(file, demo_text())
    except FileExistsError:
        raise LeafwardError(f"{file} exists already; name another file") from None
    with after(f"{file} was written"):
        if as_json:
            emit_json({"path": str(file.resolve())})
            return 0
        say(f"wrote {pasted_path(str(file))}; look at it with: leafward tree {shell_word(str(file))}")
    return 0
