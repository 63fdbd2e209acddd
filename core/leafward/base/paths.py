"""Our own folders. `LEAFWARD_HOME` moves all of them in one go; otherwise the platform decides."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from collections.abc import Iterator

APP = "leafward"

DRAFT_MARK = ".leafward-"
DRAFT_END = ".tmp"
"""Beginning and end of the suffix by which a draft's name differs from its finished file's. No agent scans such names."""


def _home() -> Path | None:
    folder = os.environ.get("LEAFWARD_HOME")
    return Path(folder).expanduser() if folder else None


def config_dir() -> Path:
    """The folder of config.toml and the user's themes. This call does not create it."""
    home = _home()
    return home / "config" if home else Path(platformdirs.user_config_dir(APP))


def cache_dir() -> Path:
    """The folder of disposable files: the catalogue's index."""
    home = _home()
    return home / "cache" if home else Path(platformdirs.user_cache_dir(APP))


def data_dir() -> Path:
    """The folder of permanent files: the sidecars of other agents' sessions, and our copies of sessions."""
    home = _home()
    return home / "data" if home else Path(platformdirs.user_data_dir(APP))


def kept_dir() -> Path:
    """Our own copies of sessions, a folder for each agent."""
    return data_dir() / "kept"


def is_kept(path: str) -> bool:
    """Whether a path leads to one of our own copies."""
    return path.startswith(str(kept_dir()) + os.sep)


def state_dir() -> Path:
    """The folder of backups, copied text and the app's state between runs."""
    home = _home()
    return home / "state" if home else Path(platformdirs.user_state_dir(APP))


def imports_dir() -> Path:
    """The folder of documents that an agent has yet to import."""
    return state_dir() / "imports"


def hook_log() -> Path:
    """Log of failures in hooks that agents ran, one JSON text per line."""
    return state_dir() / "hooks.log"


def make_private(folder: Path) -> Path:
    """Creates `folder` and its parents with mode 0700 where they are missing, and returns it."""
    for path in reversed(_missing(folder)):
        path.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def private_folder(folder: Path) -> Iterator[Path]:
    """The same for a block; where that fails, those folders that were missing before go again, if they are empty."""
    missing = _missing(folder)
    try:
        yield make_private(folder)
    except BaseException:
        # On an interrupt too: what was not written leaves no folder.
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def _missing(folder: Path) -> list[Path]:
    """The folder and its parents that are not there, from the lowest up."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return missing


def is_draft(name: str) -> bool:
    """Whether a file name is that of a draft. A draft that nobody is writing was left by a killed write."""
    return name.endswith(DRAFT_END) and DRAFT_MARK in name


def draft_ending() -> str:
    """The end of a new draft's name; it contains the number of this process, so that nobody deletes a file that is being written."""
    from secrets import token_hex

    return f"{DRAFT_MARK}{os.getpid()}-{token_hex(6)}{DRAFT_END}"


def temporary_prefix(what: str = "") -> str:
    """The beginning of a temporary folder's name; it contains the number of this process, as the name of a draft does."""
    return f"{APP}-{what}{os.getpid()}-"
