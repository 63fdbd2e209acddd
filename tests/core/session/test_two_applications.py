"""Several Leafwards and an agent on one session, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.session.journal.operation_log import operations
from leafward.session.session import Session
from tests.foreign_stores import make

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pi_file import PiFile

_APPLICATION = """
import sys
from pathlib import Path
from leafward.agents.recognition import agent_of
from leafward.base.errors import Refused
from leafward.session.journal.session_operations import label, undo
from leafward.session.journal.write import Writing
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
session = agent_of(path).open(path)
sys.stdin.readline()
done = tried = 0
while done < count and tried < 5000:
    tried += 1
    session.refresh()
    try:
        label(session, 0, f"{name} {done}", Writing(patience=5))
    except Refused as refusal:
        known = ("grew", "changed since", "another program", "another Leafward", "went on")
        assert any(word in str(refusal) for word in known), refusal
        continue
    done += 1
print(done)
"""
_AGENT = """
import json, sys
path, count = sys.argv[1], int(sys.argv[2])
sys.stdin.readline()
for number in range(count):
    line = {"type": "custom", "customType": "test", "id": f"0a0a{number:04x}", "parentId": "00000006"}
    with open(path, "ab", buffering=0) as file:
        file.write(json.dumps(line).encode() + b"\\n")
print(count)
"""
EACH = 25


def together(*commands: list[str]) -> list[str]:
    """Runs programs at once; what each said."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for command in commands
    ]
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    return [one.communicate()[0].strip() for one in running]


def test_none_of_their_operations_is_lost_and_no_line_of_the_agent(file: PiFile) -> None:
    before = file.path.read_bytes()
    names = ["a", "b", "c"]
    said = together(
        *([_APPLICATION, str(file.path), name, str(EACH)] for name in names),
        [_AGENT, str(file.path), str(EACH)],
    )
    assert said == [str(EACH)] * 4
    data = file.path.read_bytes()
    assert data.startswith(before)
    added = [json.loads(line) for line in data[len(before) :].splitlines()]
    assert len(added) == 4 * EACH
    for name in names:
        mine = [line["label"] for line in added if line["type"] == "label" and line["label"][0] == name]
        assert mine == [f"{name} {number}" for number in range(EACH)]
    assert [line["id"] for line in added if line["type"] == "custom"] == [
        f"0a0a{number:04x}" for number in range(EACH)
    ]
    with closing(Session.open(file.path)) as session:
        assert not session.columns.damage
        assert len(operations(session)) >= 3 * EACH


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_the_first_of_two_that_begin_at_once_makes_what_both_add_to(agent: str, tmp_path: Path) -> None:
    store = make(agent, tmp_path / "store")
    assert together(*([_APPLICATION, str(store.path), name, "5"] for name in "ab")) == ["5", "5"]
    with closing(agent_of(store.path).open(store.path)) as session:
        done = [one.after for one in operations(session)]
        assert sorted(done, key=str) == [f"{name} {number}" for name in "ab" for number in range(5)]
        assert [one for one in done if str(one).startswith("a")] == [f"a {number}" for number in range(5)]
