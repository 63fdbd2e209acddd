"""A program in a pseudo-terminal of 120 by 40, and when its bytes come.

The other end answers as a present-day terminal does: it knows synchronised output, so that every frame arrives between two
marks and its end is known to the byte.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS, ROWS = 120, 40

FRAME_START = b"\x1b[?2026h"
FRAME_END = b"\x1b[?2026l"
_ASKED = b"\x1b[?2026$p"
_WHOLE_SCREEN = COLUMNS * ROWS
_PAUSE = 0.003
"""Seconds without output that end a frame without marks."""
_ANSWER = b"\x1b[?2026;2$y"


class Screen:
    """One running program. Times are seconds since it was started; a frame's is that of its last byte."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.output = bytearray()
        self.frames: list[tuple[float, int]] = []
        """When each frame ended, and how many bytes of output there were then."""
        self.started = time.perf_counter()
        self.process, self._terminal = pty.fork()
        if self.process == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
                os.execvpe(command[0], list(command), dict(environment))
            finally:
                os._exit(127)
        self.last = 0.0
        """When the last bytes came."""

    def now(self) -> float:
        return time.perf_counter() - self.started

    def read(self, seconds: float) -> bool:
        """Waits for bytes; False where none came in time or the program has ended."""
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._terminal, 1 << 16)
        except OSError:
            return False
        if not data:
            return False
        self.last = self.now()
        before = max(0, len(self.output) - len(FRAME_END))
        self.output += data
        at = self.output.find(FRAME_END, before)
        while at >= 0:
            end = at + len(FRAME_END)
            if not self.frames or self.frames[-1][1] < end:
                self.frames.append((self.last, end))
            at = self.output.find(FRAME_END, end)
        if _ASKED in data:
            self.write(_ANSWER)
        return True

    def write(self, data: bytes) -> float:
        """Types; returns when."""
        at = self.now()
        os.write(self._terminal, data)
        return at

    def until(self, text: bytes, seconds: float = 60.0, *, since: int = 0) -> float:
        """Reads until a frame that shows `text` has ended; returns when that was. Raises TimeoutError."""
        deadline = self.now() + seconds
        while True:
            found = self.output.find(text, since)
            if found >= 0:
                for at, end in self.frames:
                    if end > found:
                        return at
            if not self.read(deadline - self.now()):
                raise TimeoutError(
                    f"no frame with {text!r}; the last output was {bytes(self.output[-400:])!r}"
                )

    def first_frame(self, seconds: float = 30.0) -> float:
        """Reads until the whole screen was painted once; returns when that was. Raises TimeoutError.

        It may come before the program has heard that the terminal knows frames. Then it ends at the first pause, or where
        the next frame begins.
        """
        deadline = self.now() + seconds
        while len(self.output) < _WHOLE_SCREEN:
            if not self.read(deadline - self.now()):
                raise TimeoutError(f"nothing was painted; the output was {bytes(self.output)!r}")
        if FRAME_START in self.output[:_WHOLE_SCREEN]:
            while not self.frames:
                self.read(deadline - self.now())
            return self.frames[0][0]
        last = self.last
        while self.read(_PAUSE) and FRAME_START not in self.output:
            last = self.last
        return last

    def frame(self, seconds: float = 30.0) -> float:
        """Reads until one more frame has ended; returns when that was. Raises TimeoutError."""
        count = len(self.frames)
        deadline = self.now() + seconds
        while len(self.frames) == count:
            if not self.read(deadline - self.now()):
                raise TimeoutError(f"no frame; the last output was {bytes(self.output[-400:])!r}")
        return self.frames[count][0]

    def quiet(self, seconds: float, at_most: float = 120.0) -> float:
        """Reads until nothing came for so long; returns when the last bytes came."""
        deadline = self.now() + at_most
        while self.now() < deadline:
            if not self.read(self.last + seconds - self.now() if self.last else seconds) and (
                self.now() - self.last >= seconds
            ):
                break
        return self.last

    def processor_seconds(self) -> float:
        """Processor time the program took so far. Linux only."""
        with open(f"/proc/{self.process}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Ends the program, at once."""
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self._terminal)
        os.waitpid(self.process, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
