"""Files of a path after commands: moved, removed, made."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.files.command_changes import command_changes
from leafward.session.session import Session
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path


def became(bench: Workbench) -> tuple[dict[str, str], list[str]]:
    """Where each file went that is not there at the leaf, and what commands made of the others."""
    with closing(Session.open(bench.close())) as session:
        found = command_changes(session, session.tree.path(session.leaf))
    return {name: fate.to for name, fate in found.fates.items()}, sorted(found.entries)


def test_a_folder_that_is_moved_twice_takes_its_files_to_the_last_place(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    bench.write("src/a.py", "a\n")
    bench.write("src/deep/b.py", "b\n")
    bench.write("src.py", "beside\n")
    bench.run("mv src lib")
    bench.run("mv lib kept")
    gone, made = became(bench)
    assert gone["src/a.py"] == "kept/a.py"
    assert gone["src/deep/b.py"] == "kept/deep/b.py"
    assert "src.py" not in gone
    assert made == ["kept/a.py", "kept/deep/b.py"]


def test_a_file_that_is_moved_and_then_removed_is_gone(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    bench.write("a.py", "a\n")
    bench.run("mv a.py b.py")
    bench.run("rm b.py")
    assert became(bench) == ({"a.py": "", "b.py": ""}, [])


def test_a_file_that_is_moved_away_and_back_is_there(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    bench.write("a.py", "a\n")
    bench.run("mv a.py b.py")
    bench.run("mv b.py a.py")
    gone, made = became(bench)
    assert gone == {"b.py": "a.py"}
    assert made == ["a.py"]
