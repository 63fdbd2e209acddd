"""Two threads that import one package by different modules both get it whole."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MEET = """
import sys, threading
from leafward_tui.app.import_turns import take_turns
take_turns(("meeting",))
sys.begun, sys.inside = threading.Event(), threading.Event()
failed = []

def importing(name):
    try:
        __import__(name, fromlist=["given"]).given
    except Exception as error:
        failed.append(f"{type(error).__name__}: {error}")

first = threading.Thread(target=importing, args=("meeting",))
second = threading.Thread(target=importing, args=("meeting.outcomes",))
first.start()
sys.begun.wait()
second.start()
first.join(), second.join()
print(*failed, sep="\\n")
"""


def _package(folder: Path) -> None:
    """A package that hands on what one of its modules has, which itself asks the package for a third one.

    Each waits a moment for the other to get as far as it can, as threads do by chance.
    """
    (folder / "meeting").mkdir()
    (folder / "meeting/__init__.py").write_text(
        "import sys, time\nsys.begun.set()\nsys.inside.wait(1) and time.sleep(0.5)\nfrom meeting.outcomes import given\n"
    )
    (folder / "meeting/outcomes.py").write_text(
        "import sys\nsys.inside.set()\nfrom meeting import forms\ngiven = 1\n"
    )
    (folder / "meeting/forms.py").write_text("")


def test_two_threads_import_one_package(tmp_path: Path) -> None:
    _package(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", _MEET], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == ""
