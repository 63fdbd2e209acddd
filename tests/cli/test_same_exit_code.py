"""A verb ends with the same code as text and with `--json`, also where nothing is found and what was typed cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.cli.declarations.command import ORDER
from leafward.export.demo import demo_session
from tests.acting import Acting

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

DONE, FAILED, USAGE = 0, 1, 2

CASES: dict[str, tuple[tuple[int, str], ...]] = {
    "ls": (
        (DONE, "{empty}"),
        (DONE, "{folder} --query nowhere"),
        (USAGE, "{folder} --query since:nonsense"),
        (DONE, "{folder} --query 'sort('"),
        (FAILED, "{missing}"),
        (FAILED, "''"),
        (USAGE, "{folder} --agent nobody"),
    ),
    "search": (
        (DONE, "nowhere {folder}"),
        (DONE, "agent:pi {folder}"),
        (DONE, "the {empty}"),
        (USAGE, "'' {folder}"),
        (USAGE, "' ' {folder}"),
        (USAGE, "'/(/' {folder}"),
        (USAGE, "the {folder} --select 'sort('"),
        (USAGE, "the {folder} --agent nobody"),
        (FAILED, "the {missing}"),
        (FAILED, "the ''"),
    ),
    "blame": (
        (DONE, "{file} --among {empty}"),
        (USAGE, "{file}:0 --among {empty}"),
        (FAILED, "{file}:9 --among {empty}"),
        (FAILED, "{missing}"),
    ),
    "why": (
        (DONE, "{file}:1 --among {empty}"),
        (USAGE, "{file} --among {empty}"),
        (USAGE, "{file}:2-1 --among {empty}"),
        (FAILED, "{missing}:1"),
    ),
    "tree": (
        (DONE, "{session} --select error()"),
        (USAGE, "{session} --select 'sort('"),
        (FAILED, "{missing}"),
    ),
    "show": ((FAILED, "{session} nowhere"),),
    "context": ((FAILED, "{session} --at nowhere"),),
    "files": (
        (DONE, "{session}"),
        (FAILED, "{session} --at nowhere"),
        (FAILED, "{session} --rebuild nowhere.py"),
        (USAGE, "{session} --into ''"),
    ),
    "diff": ((DONE, "{session} leaf leaf"), (FAILED, "{session} leaf nowhere")),
    "select": (
        (DONE, "{session} error()"),
        (USAGE, "{session} 'sort('"),
        (USAGE, "{session} ''"),
        (USAGE, "--functions {session}"),
        (DONE, "--functions"),
    ),
    "plan": (
        (DONE, "{session}"),
        (FAILED, "{session} --at nowhere"),
        (USAGE, "{session} --strategy nothing"),
        (USAGE, "{session} --base-url http://localhost"),
    ),
    "compact": ((FAILED, "{session}"), (FAILED, "{session} --dry-run"), (FAILED, "{session} --at nowhere")),
    "inject": ((DONE, "{session}"), (FAILED, "{session} --at nowhere")),
    "survival": ((FAILED, "{session}"), (FAILED, "{session} leaf")),
    "exam": ((FAILED, "{session}"), (FAILED, "{session} leaf")),
    "summarize": ((FAILED, "{session} --from nowhere --to leaf"), (DONE, "{session} --to leaf")),
    "move": ((DONE, "{session} leaf"), (FAILED, "{session} nowhere")),
    "undo": ((FAILED, "{session}"), (USAGE, "{session} nowhere")),
    "redo": ((FAILED, "{session}"),),
    "restore": ((FAILED, "{session} nowhere"), (DONE, "{session} leaf --cwd {folder} --dry-run")),
    "bisect": ((FAILED, "{session} --good nowhere --bad leaf true"),),
    "log": ((DONE, "{session}"),),
    "label": ((FAILED, "{session} nowhere text"),),
    "name": ((FAILED, "{missing} text"),),
    "archive": ((FAILED, "{session} nowhere"),),
    "edit-context": (
        (FAILED, "{session} nowhere --omit"),
        (FAILED, "{session} --select error() --omit"),
        (USAGE, "{session} --select 'sort(' --omit"),
        (USAGE, "{session} --omit"),
    ),
    "graft": ((FAILED, "{session} nowhere"), (FAILED, "{session} --select error()"), (USAGE, "{session}")),
    "merge-summaries": ((FAILED, "{session} leaf nowhere"),),
    "keep": ((FAILED, "{missing}"), (USAGE, "{session} --sanitised ''")),
    "delete": ((FAILED, "{missing}"),),
    "doctor": ((DONE, "{session}"), (FAILED, "{missing}")),
    "audit": (
        (DONE, "{empty}"),
        (DONE, "{session}"),
        (FAILED, "{missing}"),
        (USAGE, "{session} --kind nothing"),
        (USAGE, "{session} --agent nobody"),
    ),
    "export": ((FAILED, "{session} --at nowhere"), (USAGE, "{session} -o ''")),
    "fork": ((FAILED, "{session} nowhere"), (USAGE, "{session} leaf --to nobody")),
    "heal": ((DONE, "{session}"), (FAILED, "{missing}")),
    "relocate": ((FAILED, "{empty} {folder}"),),
    "resume": ((FAILED, "{missing} --print"),),
    "install": ((USAGE, "nobody"), (FAILED, "claude --summary")),
    "uninstall": ((USAGE, "nobody"), (DONE, "pi")),
    "demo": (
        (FAILED, "--copy {missing}/there.jsonl"),
        (FAILED, "--copy {folder}"),
        (FAILED, "--copy /"),
        (USAGE, "--copy ''"),
    ),
}
"""What is typed behind each verb, in the shell's way, and the code that it ends with."""


@pytest.mark.parametrize(
    ("verb", "code", "typed"), [(verb, *case) for verb, cases in CASES.items() for case in cases]
)
def test_text_and_json_end_with_the_same_code(
    verb: str, code: int, typed: str, tmp_path: Path, home: Path, run: Run
) -> None:
    import shlex

    for name in ("empty", "sessions"):
        (tmp_path / name).mkdir()
    file = Acting(tmp_path / "sessions" / "s.jsonl")
    file.user("Count the orchards")
    file.said("Two.")
    (tmp_path / "rows.py").write_text("one = 1\n")
    places = {
        "empty": tmp_path / "empty",
        "missing": tmp_path / "missing",
        "folder": file.path.parent,
        "session": file.path,
        "file": tmp_path / "rows.py",
    }
    arguments = [one.format(**places) for one in shlex.split(typed)]
    text, document = run(verb, *arguments), run(verb, *arguments, "--json")
    assert (text.code, document.code) == (code, code), (text, document)
    if code == DONE:
        assert document.document is not None
        assert document.err == ""
    if code == USAGE:
        assert document.out == ""


@pytest.mark.parametrize(
    ("path", "code"), [("CHANGELOG.md", DONE), ("pyproject.toml", FAILED), ("src/hopper/cli.py", FAILED)]
)
def test_a_file_that_cannot_be_rebuilt_whole(path: str, code: int, run: Run) -> None:
    with demo_session() as bundled:
        text, document = (run("files", bundled, "--rebuild", path, *more) for more in ((), ("--json",)))
    assert (text.code, document.code) == (code, code)
    assert (document.document["certainty"] == "exact") == (code == DONE)


def test_every_verb_is_tried() -> None:
    assert set(CASES) == set(ORDER)
