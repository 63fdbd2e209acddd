"""The list of capabilities in AGENTS.md: each is read in few files, and one leads to the next.

Whether these files are enough is for a reader to say. That nothing of the list is wrong is tested here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture import PACKAGES, ROOT, Code

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[str, list[str]]

MOST = 4
FURTHER = {"`operation.undo`": 5, "a model's exam": 5}
"""Rows that need more, for the reason that stands above the list."""
DOCUMENT = ROOT / "AGENTS.md"
WRITERS = frozenset(
    {
        "leafward.base.output_file",
        "leafward.files.restoration.project_folder",
        "leafward.session.journal.creation",
        "leafward.base.durable",
        "leafward.session.journal.write",
    }
)
"""Where bytes reach a file."""
READS = ("find.open", "blame.open", "bisect.open", "agent.resume")
"""Intents that write nothing themselves."""

MOVE = ["explorer/controllers/move", "session/journal/session_operations"]
FORK: Row = ("`session.fork`", ["explorer/controllers/fork", "branches/fork"])
PLANTED: list[Row] = [
    ("", [*MOVE, "base/globs", "session/tree/tree", "session/columns", "session/lines/scan"]),
    FORK,
]


def rows_of(text: str) -> list[Row]:
    """The rows of the list: what stands in the first column, and the files."""
    part = text.partition("## A capability")[2].partition("\n## ")[0]
    cells = [line.split("|") for line in part.splitlines() if line.startswith("| ")]
    return [(one[1].strip(), re.findall(r"`([\w/]+)`", one[2])) for one in cells[1:]]


def module_of(file: str) -> str:
    """The module of a file as the list names it; empty where there is none."""
    found = (package for package, root in PACKAGES.items() if (root / package / f"{file}.py").is_file())
    return next((f"{package}.{file.replace('/', '.')}" for package in found), "")


@pytest.fixture(scope="module")
def code() -> Code:
    files = {file for _, row in (*rows_of(DOCUMENT.read_text("utf-8")), *PLANTED) for file in row}
    return Code.read({*map(module_of, files), *WRITERS})


def reached(code: Code, module: str) -> set[str]:
    """The modules that what a module imports comes from, followed through re-exports, and the features that it opens."""
    found = set(code.imports[module])
    for name, full in code.names[module].items():
        if full.startswith(tuple(PACKAGES)):
            found.add(code.resolve(module, name).rpartition(".")[0])
    return found


def wrong_rows(code: Code, rows: list[Row], sources: dict[str, str]) -> Iterator[str]:
    """Errors in a list of capabilities; `sources` has the text of the files that keys lead to."""
    firsts = {files[0] for _, files in rows}
    for title, files in rows:
        modules = [module_of(one) for one in files]
        if len(files) > FURTHER.get(title, MOST):
            yield f"{title}: {len(files)} files"
        if missing := [file for file, module in zip(files, modules, strict=True) if not module]:
            yield f"{title}: no file {missing[0]}"
            continue
        yield from (f"{title}: {one} is another capability" for one in files[1:] if one in firsts)
        for intent in re.findall(r"`([\w.]+)`", title):
            if f'"{intent}":' not in sources[files[0]]:
                yield f"{title}: {files[0]} has no action {intent}"
        known = reached(code, modules[0])
        for file, module in zip(files[1:], modules[1:], strict=True):
            feature = file.partition("/")[0]
            if module not in known and f".screens.{feature}(" not in sources[files[0]]:
                yield f"{title}: nothing leads to {file}"
            known |= reached(code, module)
        if not any(intent in title for intent in READS) and not known & WRITERS:
            yield f"{title}: nothing is written"


def sources_of(rows: list[Row]) -> dict[str, str]:
    """The text of the files that keys lead to."""
    return {files[0]: (ROOT / "tui/leafward_tui" / f"{files[0]}.py").read_text("utf-8") for _, files in rows}


def test_the_list_of_capabilities_is_right(code: Code) -> None:
    rows = rows_of(DOCUMENT.read_text("utf-8"))
    assert len(rows) >= 15
    assert list(wrong_rows(code, rows, sources_of(rows))) == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("`move.here`", MOVE), ""),
        (
            ("`move.here`", [*MOVE, *("session/tree/tree", "session/columns", "session/lines/scan")]),
            "5 files",
        ),
        (("`move.here`", [MOVE[0], "session/journal/moves"]), "no file session/journal/moves"),
        (("`move.there`", MOVE), "explorer/controllers/move has no action move.there"),
        (("`move.here`", [*MOVE, "base/globs"]), "nothing leads to base/globs"),
        (
            ("`move.here`", [MOVE[0], "explorer/controllers/fork", MOVE[1]]),
            "explorer/controllers/fork is another",
        ),
        (("`move.here`", [MOVE[0]]), "nothing is written"),
    ],
)
def test_a_row_that_is_wrong_is_found(code: Code, row: Row, words: str) -> None:
    rows: list[Row] = [FORK, row]
    found = [one for one in wrong_rows(code, rows, sources_of(rows)) if not one.startswith("`session.fork`")]
    assert (words in found[0]) if words else not found
