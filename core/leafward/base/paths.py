"""Our own folders. `LEAFWARD_HOME` moves all of them in one go; otherwise the platform decides."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

APP = "leafward"

DRAFT_MARK = ".leafward-"
DRAFT_END = ".tmp"
"""What the name of a file that is still being written has behind that of the file it becomes. No agent scans such names."""


def _home() -> Path | None:
    folder = os.environ.get("LEAFWARD_HOME")
    return Path(folder).expanduser() if folder else None


def config_dir() -> Path:
    """Where config.toml and the user's themes lie. Not created by asking."""
    home = _home()
    return home / "config" if home else Path(platformdirs.user_config_dir(APP))


def cache_dir() -> Path:
    """What can be thrown away: the catalogue's index."""
    home = _home()
    return home / "cache" if home else Path(platformdirs.user_cache_dir(APP))


def data_dir() -> Path:
    """What must be kept: the sidecars of other agents' sessions, and our copies of sessions."""
    home = _home()
    return home / "data" if home else Path(platformdirs.user_data_dir(APP))


def kept_dir() -> Path:
    """Our own copies of sessions, a folder for each agent."""
    return data_dir() / "kept"


def is_kept(path: str) -> bool:
    """Whether a path leads to one of our own copies."""
    return path.startswith(str(kept_dir()) + os.sep)


def state_dir() -> Path:
    """Backups, copied text and what the app remembers between runs."""
    home = _home()
    return home / "state" if home else Path(platformdirs.user_state_dir(APP))


def imports_dir() -> Path:
    """Where documents lie that an agent is to import: until it has."""
    return state_dir() / "imports"


def hook_log() -> Path:
    """What failed where agents ran Leafward, one JSON text a line."""
    return state_dir() / "hooks.log"


def make_private(folder: Path) -> Path:
    """Creates `folder` and its parents with mode 0700 where they are missing, and returns it."""
    missing = []
    current = folder
    while not current.exists():
        missing.append(current)
        current = current.parent
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    return folder


def is_draft(name: str) -> bool:
    """Whether a file name is that of a draft: one that is there at rest was left by a write that was killed."""
    return name.endswith(DRAFT_END) and DRAFT_MARK in name


def draft_ending() -> str:
    """What a new draft's name ends with: the number of this process is in it, so that nobody clears away what is being written."""
    from secrets import token_hex

    return f"{DRAFT_MARK}{os.getpid()}-{token_hex(6)}{DRAFT_END}"


def temporary_prefix(what: str = "") -> str:
    """What the name of a temporary folder begins with; the number of this process is in it, as in that of a draft."""
    return f"{APP}-{what}{os.getpid()}-"
