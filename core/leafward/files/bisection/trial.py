"""A version laid out in a folder of its own, and a run of the command there. The project itself is never written to."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from leafward.base.errors import Cancelled, Refused
from leafward.base.paths import temporary_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.bisection.base import ProjectBase
    from leafward.files.bisection.versions import Version

SKIP = 125
"""The exit code by which a command gives no verdict (git bisect)."""
_NOT_RUN = (126, 127)
_TAIL = 4_000
"""Bytes at the end of the output that are kept."""
_LOOK = 0.05
_GRACE = 2.0


class Verdict(StrEnum):
    """The verdict about a version."""

    GOOD = "good"
    BAD = "bad"
    CANNOT_TELL = "cannot tell"


class TrialRun(NamedTuple):
    """The result of a run."""

    verdict: Verdict
    code: int | None
    """The exit code, negative for a signal; None after a timeout."""
    seconds: float
    output: str
    """The end of the output."""
    why: str = ""
    """The reason why there is no verdict."""


class Trial:
    """A temporary folder for versions, removed with its content when closed; `stop` ends a running command."""

    def __init__(self, base: ProjectBase, stop: Callable[[], bool] = lambda: False) -> None:
        self._stop = stop
        self._folder = Path(tempfile.mkdtemp(prefix=temporary_prefix("bisect-")))
        self._base = self._folder / "base"
        self._number = 0
        try:
            self._base.mkdir()
            base.lay_out(self._base, stop)
        except OSError as error:
            self.close()
            raise Refused(f"{base.name} cannot be written out: {error.strerror or error}") from error
        except BaseException:
            # This includes an interrupt: no temporary folder is left.
            self.close()
            raise

    def close(self) -> None:
        """Removes the folder."""
        _remove(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, version: Version, command: Sequence[str], timeout: float | None = None) -> TrialRun:
        """Runs the command on a version, in a new copy each time: no run sees the leftovers of another.

        Raises Refused where the command or the copy fails to start, Cancelled where `stop` turns true.
        """
        self._number += 1
        place = self._folder / str(self._number)
        try:
            shutil.copytree(self._base, place, symlinks=True)
            blocked = _write(place, version)
        except OSError as error:
            raise Refused(f"the files cannot be written out: {error.strerror or error}") from error
        try:
            if blocked:
                return TrialRun(Verdict.CANNOT_TELL, None, 0.0, "", blocked)
            return self._ran(place, command, timeout)
        finally:
            _remove(place)

    def _ran(self, place: Path, command: Sequence[str], timeout: float | None) -> TrialRun:
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=place,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={**os.environ, "PWD": str(place)},
                )
            except OSError as error:
                raise Refused(f"{command[0]} cannot be run: {error.strerror or error}") from error
            late = False
            try:
                while process.poll() is None:
                    if self._stop():
                        raise Cancelled("stopped")
                    late = timeout is not None and time.monotonic() - started > timeout
                    if late:
                        break
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_LOOK)
            finally:
                _end(process)
            seconds = time.monotonic() - started
            output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
            text = output.read().decode("utf-8", "replace")
        code = process.returncode
        if late:
            return TrialRun(Verdict.CANNOT_TELL, None, seconds, text, f"it ran longer than {timeout:g} s")
        if code in _NOT_RUN:
            raise Refused(f"{command[0]} ended with {code}: the program it runs is missing or cannot be run")
        verdict, why = _verdict_of(code)
        return TrialRun(verdict, code, seconds, text, why)


def _verdict_of(code: int) -> tuple[Verdict, str]:
    """The verdict of an exit code, and the reason where there is none, as in `git bisect run`."""
    if code == 0:
        return Verdict.GOOD, ""
    if code == SKIP:
        return Verdict.CANNOT_TELL, f"it ended with {SKIP}"
    if code < 0 or code > 128:
        return Verdict.CANNOT_TELL, f"it was ended by signal {-code if code < 0 else code - 128}"
    return Verdict.BAD, ""


def _write(place: Path, version: Version) -> str:
    """Puts the files of a version in place; returns the reason where that fails, else an empty text."""
    gone = [path for path, data in version.files.items() if data is None]
    for path in gone:
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            if not _leads_out(place, path):
                (place / path).unlink()
    for path, data in version.files.items():
        if data is None:
            continue
        file = place / path
        if _leads_out(place, path) or file.is_symlink():
            return f"{path} is behind a link"
        if file.is_dir():
            return f"{path} is a folder"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return f"{path} is inside a file, not a folder"
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
        file.unlink(missing_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
    return ""


def _remove(folder: Path) -> None:
    """Removes a folder, including files that a command made read-only; links are not followed."""
    for place, folders, _ in os.walk(folder):
        for name in (".", *folders):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _leads_out(place: Path, path: str) -> bool:
    """Whether a folder on the way to a file is a link."""
    above = place
    for part in path.split("/")[:-1]:
        above /= part
        if above.is_symlink():
            return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and every process that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            if sign is signal.SIGTERM:
                # Its child processes may ignore the first signal.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            return
