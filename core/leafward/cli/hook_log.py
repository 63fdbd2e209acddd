"""The log of hooks that failed: they run unseen, so `doctor` tells of it."""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress

from leafward.base import paths
from leafward.base.regular_files import read_regular

_LOG_LIMIT = 64 << 10
_APPENDS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)


def log_failure(name: str, why: str) -> None:
    """Writes a failure down. Never fails itself."""
    with suppress(Exception):
        line = json.dumps(f"{time.strftime('%Y-%m-%d %H:%M:%S %z')} {name}: {why}")
        log = paths.hook_log()
        paths.make_private(log.parent)
        # Appended in one go: agents may compact at once, and each failure has to be told of.
        descriptor = os.open(log, _APPENDS, 0o600)
        try:
            now = os.fstat(descriptor)
            if stat.S_ISREG(now.st_mode):
                os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)
        if now.st_size > _LOG_LIMIT:
            from leafward.base.durable import replace_file

            replace_file(log, "\n".join([*_log_lines(), ""])[-_LOG_LIMIT // 2 :].encode())


def _log_lines() -> list[str]:
    try:
        return read_regular(paths.hook_log()).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def failures() -> list[str]:
    """Failures of hooks, oldest first."""
    found = []
    for line in _log_lines():
        with suppress(ValueError):
            found.append(str(json.loads(line)))
    return found
