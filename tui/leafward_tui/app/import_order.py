"""Imports of several threads at once: a package is loaded before its modules.

Jobs import inside themselves what is heavy, each in its own thread. Where one thread loads a module while another one runs the
`__init__` of its package, each soon waits for the other: the module for a neighbour in its package, the package for the module.
Python ends that by handing out a module that is half loaded, in which a name is missing.
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
