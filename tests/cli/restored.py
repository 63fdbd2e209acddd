"""A session whose files were written, changed, removed and created, for the tests of `leafward restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.folder_contents import snapshot
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path


class Work:
    """A session that wrote, changed, removed and created files, and what lay there at its first turn."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "s.jsonl"
        self.bench = Workbench(self.path, tmp_path / "work", 1)
        self.folder = self.bench.folder
        for name in ("a.py", "gone.md", "sub/deep.txt", "plain"):
            self.bench.write(name, f"{name} at first\n")
        self.bench.run("rm -f new.py")
        (self.folder / "a.py").chmod(0o755)
        self.at = str(self.bench.file.leaf)
        self.then = snapshot(self.folder)
        self.bench.write("a.py", "a.py later\n")
        self.bench.run("rm -f gone.md")
        self.bench.write("new.py", "new\n")
        self.bench.run("rm -f sub/deep.txt && rmdir sub && echo file > sub")
        self.bench.run("rm -f plain && mkdir plain")
        self.bench.write("plain/inside", "in a folder\n")
        self.now = snapshot(self.folder)

    def put(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name


def actions(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {one["path"]: one["action"] for one in document["files"] if one["action"] != "same"}
