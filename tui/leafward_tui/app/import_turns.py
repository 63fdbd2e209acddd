"""Imports of our own modules, by one thread at a time.

Two threads that import modules of one package, each by another one first, can each wait for what the other holds. Python
then gives one of them a module that is not whole, and the job ends with an ImportError. Jobs import what they need
themselves, so the first ones of a session meet, above all where nothing is compiled yet.
"""

from __future__ import annotations

import importlib
from threading import RLock
from typing import Any

_OURS = ("leafward", "leafward_tui", "leafward_themes")
_TURN = RLock()


def take_turns(packages: tuple[str, ...] = _OURS) -> None:
    """Lets one thread at a time import a module of `packages` that is not loaded yet; for the rest of the process.

    Only the import of a module that is missing comes by here, so one that is loaded costs nothing. Modules of others are left
    alone: some take seconds, and nobody is to wait for them.
    """
    # There is no public place before the locks of the modules are taken, which is where the order has to be made.
    bootstrap: Any = vars(importlib)["_bootstrap"]
    load = bootstrap._find_and_load  # noqa: SLF001

    def find_and_load(name: str, importing: object) -> object:
        if name.partition(".")[0] not in packages:
            return load(name, importing)
        with _TURN:
            return load(name, importing)

    bootstrap._find_and_load = find_and_load  # noqa: SLF001
