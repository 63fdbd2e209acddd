"""Faults at system calls that change files, and the library that causes them."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

SOURCE = Path(__file__).with_name("faults.c")
LIBRARY = "LEAFWARD_TORTURE"
"""The variable that names the built library in the process that has it preloaded."""


class Mode(IntEnum):
    """As in `faults.c`."""

    OFF = 0
    COUNT = 1
    KILL_BEFORE = 2
    KILL_AFTER = 3
    ERROR_ONCE = 4
    ERROR_ALL = 5
    FULL = 6
    SHORT_ONCE = 7
    SHORT_KILL = 8
    MEANWHILE = 9
    FULL_STUCK = 10
    FULL_MEANWHILE = 11


_CUTTING = frozenset({Mode.FULL, Mode.FULL_STUCK, Mode.FULL_MEANWHILE, Mode.SHORT_ONCE, Mode.SHORT_KILL})
PARTS = ("half", "one byte", "all but one byte")


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a call goes wrong."""

    mode: Mode
    code: int = 0
    """The error; of a write that is cut short which part is taken, see `PARTS`."""

    def __str__(self) -> str:
        code = PARTS[self.code] if self.cuts else errno.errorcode.get(self.code, "")
        return f"{self.mode.name} {code}".strip()

    @property
    def cuts(self) -> bool:
        """Whether it cuts a write short."""
        return self.mode in _CUTTING

    @property
    def kills(self) -> bool:
        return self.mode in (Mode.KILL_BEFORE, Mode.KILL_AFTER, Mode.SHORT_KILL)

    @property
    def has_agent(self) -> bool:
        return self.mode in (Mode.MEANWHILE, Mode.FULL_MEANWHILE)


FAULTS = (
    Fault(Mode.KILL_BEFORE),
    Fault(Mode.KILL_AFTER),
    *(
        Fault(mode, part)
        for mode in (Mode.SHORT_KILL, Mode.FULL, Mode.FULL_STUCK, Mode.SHORT_ONCE)
        for part in range(len(PARTS))
    ),
    *(Fault(Mode.ERROR_ONCE, code) for code in (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EINTR)),
    *(Fault(Mode.ERROR_ALL, code) for code in (errno.EIO, errno.EDQUOT)),
)
WITH_AN_AGENT = (
    Fault(Mode.MEANWHILE),
    *(Fault(Mode.FULL_MEANWHILE, part) for part in range(len(PARTS))),
)
"""Where an agent appends to the same file."""


def build(folder: Path) -> Path | None:
    """Compiles the library; None where this system has no compiler for it, or preloads nothing from that folder."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        return None
    library = folder / "faults.so"
    if {*" :"} & {*str(library)}:
        # Both part the names of what is preloaded.
        return None
    made = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"],
        capture_output=True,
        check=False,
    )
    return library if made.returncode == 0 else None


class Faults:
    """The preloaded library, in the process that it is preloaded into."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ[LIBRARY])
        self._library.arm.argtypes = [
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_char_p,
        ]
        self._library.disarm.restype = ctypes.c_long
        self._library.counted.restype = ctypes.c_char_p
        self._held: tuple[bytes, bytes] = (b"", b"")

    def arm(self, fault: Fault, number: int, path: Path, line: bytes) -> None:
        """From here on the call of that number goes wrong; an agent, where there is one, appends the line to the file."""
        # The library keeps the pointers.
        self._held = os.fsencode(path), line
        self._library.arm(fault.mode, number, fault.code, *self._held)

    def disarm(self) -> list[str]:
        """All calls work again; the names of those that were counted."""
        self._library.disarm()
        return str(self._library.counted().decode()).split()
