from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.lines.prefetch import WORTHWHILE
from tests.bench.generate import write_session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

# A process of its own: one that runs tests has threads, and then nothing is scanned ahead.
PRELUDE = """
import json, os, shutil, sys, threading
from pathlib import Path
from leafward.session.lines.prefetch import scan_ahead
from leafward.session.lines.scan import Scan
from leafward.session.session import Session

path = Path(sys.argv[1])

def columns(scan):
    kept = scan.columns
    return [list(kept.start), kept.kind.hex(), kept.ids.hex(), list(kept.parent), sorted(kept.other_ids.items()), scan.end]

def children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0
    return 1
"""


def told(path: Path, script: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + script, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "session.jsonl"
    write_session(path, 20_000)
    assert path.stat().st_size > 4 * WORTHWHILE
    return path


def test_it_is_the_scan_that_the_session_would_have_made(large: Path) -> None:
    found = told(
        large,
        """
ahead = scan_ahead(path)
heard = []
scan = ahead.take(publish=lambda end, entries: heard.append([end, entries]))
with_it, without = Session.open(path, scan=scan), Session.open(path)
print(json.dumps({
    "same": columns(with_it.scan) == columns(without.scan), "taken": with_it.scan is scan,
    "labels": with_it.labels == without.labels, "leaf": with_it.leaf == without.leaf,
    "heard": heard, "entries": len(with_it), "again": ahead.take() is None, "children": children(),
}))
with_it.close()
without.close()
""",
    )
    heard = found.pop("heard")
    assert found == {
        "same": True,
        "taken": True,
        "labels": True,
        "leaf": True,
        "entries": 20_000,
        "again": True,
        "children": 0,
    }
    assert heard
    assert heard == sorted(heard)


def test_what_is_appended_meanwhile_is_read_on(large: Path, tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(large.read_bytes())
    found = told(
        path,
        """
scan = scan_ahead(path).take()
before = len(scan.columns)
with path.open("a") as file:
    file.write('{"type":"custom","customType":"x","id":"0000abcd","parentId":null}\\n')
session = Session.open(path, scan=scan)
again = Session.open(path)
print(json.dumps([len(session) - before, session.columns.id(session.leaf), columns(session.scan) == columns(again.scan)]))
session.close()
again.close()
""",
    )
    assert found == [1, "0000abcd", True]


def test_another_file_of_that_name_is_not_taken_for_it(large: Path, tmp_path: Path) -> None:
    path = tmp_path / "replaced.jsonl"
    path.write_bytes(large.read_bytes())
    found = told(
        path,
        """
ahead = scan_ahead(path)
shutil.copyfile(path, path.with_name("other"))
os.replace(path.with_name("other"), path)
print(json.dumps([ahead.take() is None, children()]))
""",
    )
    assert found == [True, 0]


def test_a_file_that_goes_away_is_no_scan(large: Path, tmp_path: Path) -> None:
    path = tmp_path / "gone.jsonl"
    path.write_bytes(large.read_bytes())
    assert (
        told(path, "ahead = scan_ahead(path)\npath.unlink()\nprint(json.dumps(ahead.take() is None))") is True
    )


def test_stopped_it_leaves_no_process(large: Path) -> None:
    assert told(
        large,
        "ahead = scan_ahead(path)\nprint(json.dumps([ahead.take(stop=lambda: True) is None, children()]))",
    ) == [True, 0]


def test_a_child_that_dies_is_no_scan(large: Path) -> None:
    assert told(
        large,
        "import signal\nahead = scan_ahead(path)\nos.kill(ahead._child.pid, signal.SIGKILL)\n"
        "print(json.dumps([ahead.take() is None, children()]))",
    ) == [True, 0]


@pytest.mark.parametrize(
    "script",
    [
        "waiting = threading.Event()\nthreading.Thread(target=waiting.wait, daemon=True).start()\nfound = scan_ahead(path)",
        "found = scan_ahead(path.parent)",
        "found = scan_ahead(path.with_name('none.jsonl'))",
        "small = path.with_name('small.jsonl')\nsmall.write_text('{}')\nfound = scan_ahead(small)",
        "other = path.with_name('other.jsonl')\nother.write_bytes(b'{\"parentUuid\":null' + path.read_bytes())\nfound = scan_ahead(other)",
    ],
    ids=["beside another thread", "a folder", "no file", "a small file", "a session of another agent"],
)
def test_where_it_cannot_or_need_not_be_there_is_none(script: str, large: Path) -> None:
    assert told(large, f"{script}\nprint(json.dumps([found is None, children()]))") == [True, 0]
