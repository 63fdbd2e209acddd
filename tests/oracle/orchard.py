"""The project that real agents work in, and what the model does there at each prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.oracle.scripted_model import Step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.oracle.scripted_model import Call

FRUIT = ("apples", "pears", "plums")


class Tools(NamedTuple):
    """How an agent's tools are called."""

    read: Callable[[str], Call]
    """Reads a file by its path."""
    write: Callable[[str, str], Call]
    """Writes a text to a path."""
    failing: Call
    """A command that fails."""


def planted(folder: Path) -> Path:
    """A folder with a file for each fruit."""
    folder.mkdir()
    for name in FRUIT:
        (folder / f"{name}.txt").write_text(f"{name}\n" * 3, encoding="utf-8")
    return folder


def script(project: Path, tools: Tools) -> dict[str, list[Step]]:
    """By words of a prompt: calls made together, one that fails, a file that is written, a thought."""

    def read(name: str) -> Call:
        return tools.read(str(project / f"{name}.txt"))

    return {
        "Compare": [
            Step("All three at once.", tuple(map(read, FRUIT)), "Which are alike?"),
            Step("", (tools.failing, read("pears"))),
            Step("They differ."),
        ],
        "Write": [
            Step("Now.", (tools.write(str(project / "list.md"), "- apples\n- pears\n"),)),
            Step("The list is written."),
        ],
        "Thank": [Step("You are welcome.", (), "Polite.")],
    }
