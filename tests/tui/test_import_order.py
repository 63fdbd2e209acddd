"""Modules that several threads import at once are whole."""

from __future__ import annotations

import builtins
import sys
import threading
from typing import TYPE_CHECKING

from leafward_tui.app.import_order import packages_first

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_PACKAGE = """
import sys
sys.modules["leafward_orchard_events"].package_begun.set()
sys.modules["leafward_orchard_events"].module_begun.wait(0.5)
from leafward_orchard.tree import NAME
"""
_MODULE = """
import sys
sys.modules["leafward_orchard_events"].module_begun.set()
from leafward_orchard import soil
NAME = "pear"
"""


class _Events:
    """The order of the threads, for the modules that they load."""

    def __init__(self) -> None:
        self.package_begun = threading.Event()
        self.module_begun = threading.Event()


def test_a_module_waits_for_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the order both threads get a module without its names."""
    folder = tmp_path / "leafward_orchard"
    folder.mkdir()
    (folder / "__init__.py").write_text(_PACKAGE)
    (folder / "tree.py").write_text(_MODULE)
    (folder / "soil.py").write_text("")
    events = _Events()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "leafward_orchard_events", events)
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    packages_first()
    failed: list[ImportError] = []

    def loads(statement: str) -> None:
        try:
            exec(statement, {})
        except ImportError as error:
            failed.append(error)

    package = threading.Thread(target=loads, args=("import leafward_orchard",))
    package.start()
    assert events.package_begun.wait(5)
    module = threading.Thread(target=loads, args=("from leafward_orchard.tree import NAME",))
    module.start()
    package.join(5)
    module.join(5)
    for name in ("leafward_orchard", "leafward_orchard.tree", "leafward_orchard.soil"):
        sys.modules.pop(name, None)
    assert failed == []
