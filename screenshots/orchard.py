"""A small project with its session, for the pictures of what acts on files and folders: restored, healed, relocated."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.acting import Acting, call
from tests.pi_file import HEADER
from tests.workbench import Workbench

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

__all__ = ["make_moved", "make_refused", "make_work", "make_worse"]

_ROWS = "pears = 3\napples = 4\nplums = 1\n\n\ndef trees() -> int:\n    return pears + apples + plums\n"
_NOTES = "# Orchard\n\nWater on Mondays. Never prune in frost.\n"


def make_work(folder: Path, now: datetime) -> Path:
    """A session of two turns; somebody changed one of its files since."""
    path = folder / "sessions" / "orchard.jsonl"
    path.parent.mkdir(parents=True)
    bench = Workbench(path, folder / "orchard", 1)
    bench.file.user("plant the pears, and write down when to water")
    bench.write("src/rows.py", _ROWS)
    bench.write("notes.md", _NOTES)
    bench.write("src/tools.py", "def spade() -> str:\n    return 'sharp'\n")
    bench.run("rm -f src/graft.py")
    bench.file.said("Three pears are planted.")
    bench.file.user("now graft them, and clean up")
    bench.write("src/rows.py", _ROWS.replace("pears = 3", "pears = 30"))
    bench.run("rm -f notes.md")
    bench.write("src/tools.py", "def spade() -> str:\n    return 'blunt'\n")
    bench.write("src/graft.py", "def graft(tree: str) -> str:\n    return f'{tree} on quince'\n")
    bench.file.said("Grafted on quince; the notes are gone.")
    tools = bench.folder / "src" / "tools.py"
    tools.write_text(tools.read_text().replace("blunt", "rusty"))
    _touch(path, now)
    return path


def make_worse(folder: Path, now: datetime) -> Path:
    """A session of six turns, one of which does more than it was asked for."""
    path = folder / "sessions" / "orchard.jsonl"
    path.parent.mkdir(parents=True)
    bench = Workbench(path, folder / "orchard", 1)
    bench.file.user("a spade, and rows for the trees")
    bench.write("src/rows.py", _ROWS)
    bench.write("src/tools.py", "def spade() -> str:\n    return 'sharp'\n")
    bench.file.said("Both are there.")
    bench.file.user("more pears")
    bench.write("src/rows.py", _ROWS.replace("pears = 3", "pears = 30"))
    bench.file.said("Thirty.")
    bench.file.user("tidy up what is not needed")
    bench.write("src/rows.py", _ROWS.replace("pears = 3", "pears = 30").replace("\n\n\n", "\n\n"))
    bench.write("src/tools.py", "def spade() -> str:\n    return ''\n")
    bench.file.said("Tidied.")
    bench.file.user("and more plums")
    bench.write("src/rows.py", _ROWS.replace("pears = 3", "pears = 30").replace("plums = 1", "plums = 11"))
    bench.file.said("Eleven.")
    bench.file.user("and a rake")
    bench.write(
        "src/tools.py", "def spade() -> str:\n    return ''\n\n\ndef rake() -> str:\n    return 'wide'\n"
    )
    bench.file.said("There is a rake.")
    _touch(path, now)
    return path


def make_refused(folder: Path, now: datetime) -> Path:
    """A session that no provider takes: calls without results, one twice, an empty reply."""
    path = folder / "sessions" / "orchard.jsonl"
    path.parent.mkdir(parents=True)
    file = Acting(path, {**HEADER, "cwd": str(folder)})
    file.user("plant the pears")
    file.said("Let me look at the rows first.", call("bash", "call_1", command="ls rows"))
    file.user("never mind, graft them")
    twice = [call("bash", "call_2", command="graft pears") for _ in range(2)]
    file.said("Grafting.", *twice)
    file.answered("call_2", "bash", "grafted")
    file.said("")
    file.user("and the plums?")
    file.said("They follow tomorrow.", call("read", "call_3", path="plums.md"))
    _touch(path, now)
    return path


def make_moved(folder: Path, now: datetime) -> Path:
    """A store with sessions of a folder that is not there any more, and one of the folder it became."""
    store, new = folder / "sessions", folder / "garden" / "orchard"
    new.mkdir(parents=True)
    store.mkdir(parents=True)
    prompts = {
        "one": ("plant the pears", str(folder / "orchard")),
        "two": ("why do the plums rot?", str(folder / "orchard")),
        "three": ("graft the quinces", str(folder / "orchard")),
        "four": ("water on Mondays", str(new)),
    }
    for name, (prompt, cwd) in prompts.items():
        file = Acting(store / f"{name}.jsonl", {**HEADER, "id": name, "cwd": cwd})
        file.user(prompt)
        file.said("Let me look.", call("bash", "b", command="ls")) if name == "three" else file.said("Done.")
        _touch(file.path, now)
    return store


def _touch(path: Path, now: datetime) -> None:
    os.utime(path, (now.timestamp() - 120,) * 2)
