"""The hidden verb `hook`, which agents run where `install` put it: whatever fails, the agent goes on without the text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from leafward.base import paths
from leafward.base.regular_files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["failures", "hook"]

_TOLD_LIMIT = 1 << 20
_WAIT = 8.0
"""Seconds that an agent waits at most for a text that is being made."""
_LOG_LIMIT = 64 << 10


def hook(name: str, prepare: str | None) -> int:
    """`leafward hook`: what the agent says is on stdin, what it is to take on stdout. Never fails."""
    try:
        _answer(name, prepare)
    except Exception as error:  # an agent must not stop for us
        _log(name, f"{type(error).__name__}: {error}")
    return 0


def _answer(name: str, prepare: str | None) -> None:
    from leafward import agents
    from leafward.agents.hooks import Moment

    hooks = agents.agent_named(name).hooks
    if hooks is None:
        return
    if prepare is not None:
        _prepare(name, prepare)
        return
    heard = hooks.heard(json.loads(sys.stdin.buffer.read(_TOLD_LIMIT)), os.environ)
    if heard is None:
        return
    if heard.moment is Moment.NOW:
        text = _text(heard.session, heard.at)
    elif heard.moment is Moment.BEFORE:
        _kept(heard.session).unlink(missing_ok=True)
        # It goes on when we have ended: the agent makes its summary meanwhile.
        argv = [sys.executable, "-P", "-m", "leafward", "hook", name, "--prepare", heard.session]
        quiet = subprocess.DEVNULL
        subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
        return
    else:
        text = _awaited(heard.session)
    if text:
        sys.stdout.buffer.write(hooks.answer(text).encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _text(session: str, at: str | None = None) -> str:
    """What `leafward inject` prints for a session."""
    from leafward.base import config
    from leafward.cli.selection import opened
    from leafward.compaction.injection import inject
    from leafward.compaction.injection.configured import configured_settings

    with opened(session) as found:
        node = found.find(at) if at is not None else found.leaf
        return inject(found, node, configured_settings(config.load()[0])).text


def _prepare(name: str, session: str) -> None:
    text = ""
    try:
        text = _text(session)
    except Exception as error:
        _log(name, f"{type(error).__name__}: {error}")
    kept = _kept(session)
    paths.make_private(kept.parent)
    from leafward.session.journal.durable import replace_file

    replace_file(kept, text.encode("utf-8", "replace"))


def _awaited(session: str) -> str:
    kept, until = _kept(session), time.monotonic() + _WAIT
    while not kept.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"no text for {session} after {_WAIT:.0f} s")
        time.sleep(0.01)
    text = read_regular(kept).decode("utf-8")
    kept.unlink(missing_ok=True)
    return text


def _kept(session: str) -> Path:
    """Where the text for a session waits."""
    return paths.state_dir() / "hooks" / sha256(os.fsencode(session)).hexdigest()[:32]


def _log_file() -> Path:
    return paths.state_dir() / "hooks.log"


def _log(name: str, why: str) -> None:
    with suppress(Exception):
        from leafward.session.journal.durable import replace_file

        line = json.dumps(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {name}: {why}")
        paths.make_private(_log_file().parent)
        replace_file(_log_file(), "\n".join([*_logged(), line, ""])[-_LOG_LIMIT:].encode())


def _logged() -> list[str]:
    try:
        return read_regular(_log_file()).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def failures() -> list[str]:
    """What went wrong in hooks, oldest first."""
    found = []
    for line in _logged():
        with suppress(ValueError):
            found.append(str(json.loads(line)))
    return found
