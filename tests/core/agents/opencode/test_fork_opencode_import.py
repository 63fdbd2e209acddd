"""The import of a document into opencode: ids as opencode makes them, the commands, and what becomes of the document."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.opencode.documents import Ids
from leafward.agents.opencode.storage.store import store_variables
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.doctor.store_problems import waiting_imports
from tests.opencode_forks import ID, busy, draft
from tests.opencode_store import (
    FOLDER,
    START,
    Database,
    opened,
)

if TYPE_CHECKING:
    from pathlib import Path

# --- ids ---


def test_ids_ascend_in_the_order_they_are_asked_for() -> None:
    ids = Ids(b"seed")
    made = []
    for stamp in (START, START, START + 1, START - 5):
        made.append(ids.message(stamp, 3))
        made += [ids.part() for _ in range(3)]
    assert all(ID.match(name) for name in made)
    numbers = [name.partition("_")[2][:12] for name in made]
    assert numbers == sorted(numbers)
    assert len(set(made)) == len(made)
    assert int(ids.message(START + 100)[4:16], 16) == (START + 100) * 4096 % (1 << 48)


def test_newer_sessions_sort_first_and_no_two_are_alike() -> None:
    one, two = Ids(b"one"), Ids(b"two")
    assert one.session(START + 1000) < one.session(START)
    assert one.session(START) != two.session(START)


def test_ids_of_one_message_never_begin_again_from_zero() -> None:
    wrap = (1 << 48) // 4096
    ids = Ids(b"seed")
    ids.message(wrap * 5 - 1, 4)
    ids = Ids(b"seed")
    name = ids.message(wrap * 5 - 1, 5000)
    parts = [ids.part() for _ in range(5000)]
    assert [name[4:16], *(part[4:16] for part in parts)] == sorted(
        [name[4:16], *(part[4:16] for part in parts)]
    )


# --- commands ---


def test_the_import_runs_in_the_folder_of_the_session(tmp_path: Path) -> None:
    source = opened(Database(tmp_path / "opencode").write(busy()))
    made = draft(source, source.leaf)
    found = made.draft.imported
    assert found is not None
    assert found.command.argv == ("opencode", "import", str(made.draft.file))
    assert found.undo.argv == ("opencode", "session", "delete", made.draft.id)
    assert found.command.cwd == found.undo.cwd == made.draft.resume.cwd == FOLDER
    assert made.draft.resume.argv == ("opencode", "-s", made.draft.id)
    assert dict(found.command.env_set) == dict(made.draft.resume.env_set) == {"XDG_DATA_HOME": str(tmp_path)}
    assert made.draft.path == tmp_path / "opencode" / "opencode.db" / made.draft.id
    assert made.draft.file.parent.is_relative_to(os.environ["LEAFWARD_HOME"])


@pytest.mark.parametrize(
    ("database", "env", "removed", "given"),
    [
        ("data/opencode/opencode.db", {}, (), {}),
        ("data/opencode/opencode.db", {"OPENCODE_DB": "other.db"}, ("OPENCODE_DB",), {}),
        ("data/opencode/other.db", {"OPENCODE_DB": "other.db"}, (), {}),
        ("data/opencode/opencode-dev.db", {}, (), {"OPENCODE_DB": "data/opencode/opencode-dev.db"}),
        ("else/opencode/opencode.db", {}, (), {"XDG_DATA_HOME": "else"}),
        ("else/store/opencode.db", {}, (), {"OPENCODE_DB": "else/store/opencode.db"}),
    ],
)
def test_variables_say_which_store_is_meant(
    tmp_path: Path, database: str, env: dict[str, str], removed: tuple[str, ...], given: dict[str, str]
) -> None:
    usual = str(tmp_path / "data" / "opencode")
    found = store_variables(str(tmp_path / database), usual, env)
    assert found == (removed, tuple((name, str(tmp_path / value)) for name, value in given.items()))


no_scripts = pytest.mark.skipif(sys.platform == "win32", reason="the stub is a script")


@dataclass(frozen=True, slots=True)
class Stub:
    log: Path
    fails: Path
    env: dict[str, str]

    def told(self) -> list[Any]:
        """How it was called: arguments, folder, and the folder by name."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]


_STUB = """#!{python}
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], os.getcwd(), os.environ["PWD"]]) + "\\n")
sys.stderr.write("\\x1b[91m\\x1b[1mError: \\x1b[0m\\x1b]0;x\\x07it\\n\\tdoes not fit\\x1b[?25h\\n")
sys.exit(1 if sys.argv[1] == "import" and os.path.exists({fails!r}) else 0)
"""


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    """A program that stands for opencode: it notes how it is called, and fails while a file is there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    made = Stub(tmp_path / "log", tmp_path / "fails", {"PATH": str(programs), "HOME": str(tmp_path)})
    program = programs / "opencode"
    text = _STUB.format(python=sys.executable, log=str(made.log), fails=str(made.fails))
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return made


def stored(tmp_path: Path) -> forking.Fork:
    """A fork whose document is written."""
    folder = tmp_path / "orchard"
    folder.mkdir(exist_ok=True)
    talk = busy()
    talk.info["directory"] = str(folder)
    source = opened(Database(tmp_path / "opencode").write(talk))
    made = draft(source, source.leaf)
    forking.store(source, made.draft)
    return made


@no_scripts
def test_a_document_is_cleared_away_once_it_was_imported(tmp_path: Path, stub: Stub) -> None:
    made = stored(tmp_path)
    assert forking.left_imports() == [made.draft.file]
    assert json.loads(made.draft.file.read_bytes())["info"]["id"] == made.draft.id
    assert made.draft.file.stat().st_mode & 0o777 == 0o600
    forking.import_now(made.draft, stub.env)
    folder = str(tmp_path / "orchard")
    assert stub.told() == [[["import", str(made.draft.file)], folder, folder]]
    assert forking.left_imports() == []


@no_scripts
def test_a_failed_import_is_taken_back_and_its_document_stays(tmp_path: Path, stub: Stub) -> None:
    made = stored(tmp_path)
    stub.fails.touch()
    with pytest.raises(Refused, match=r"\Aopencode import failed \(1\): Error: it does not fit; ") as refused:
        forking.import_now(made.draft, stub.env)
    assert made.draft.imported is not None
    kept = f"; the document is kept; to import it, run {made.draft.imported.command.line()}"
    assert str(refused.value).endswith(kept)
    folder = str(tmp_path / "orchard")
    undone = ["session", "delete", made.draft.id]
    assert stub.told() == [[["import", str(made.draft.file)], folder, folder], [undone, folder, folder]]
    assert forking.left_imports() == [made.draft.file]


def test_doctor_says_which_documents_are_left(tmp_path: Path) -> None:
    assert list(waiting_imports(forking.left_imports())) == []
    made = stored(tmp_path)
    (problem,) = waiting_imports(forking.left_imports())
    assert problem.code == "import-left"
    assert str(made.draft.file.parent) in problem.text
