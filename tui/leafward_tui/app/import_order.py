"""Imports of several threads at once: a package is loaded before its modules.

Jobs import heavy modules inside themselves, each in its own thread. Python takes the lock of a module before that of its package.
If one thread loads a module while another one runs the `__init__` of its package, which imports that module, each waits for
the other; Python resolves that by returning a partly loaded module, in which names are missing.
"""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OURS = "leafward"
_import = builtins.__import__


def packages_first() -> None:
    """Lets every import of one of our modules wait until its package is loaded."""
    builtins.__import__ = import_after_package  # type: ignore[assignment]  # a module is an object


def import_after_package(
    name: str,
    globals: Mapping[str, object] | None = None,  # noqa: A002  the names are Python's
    locals: Mapping[str, object] | None = None,  # noqa: A002  the names are Python's
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> object:
    """Python's own import, behind that of the package of a module that is not loaded yet."""
    if not level and name not in sys.modules and name.startswith(_OURS):
        package = name.rpartition(".")[0]
        if package:
            import_after_package(package)
    return _import(name, globals, locals, fromlist, level)
