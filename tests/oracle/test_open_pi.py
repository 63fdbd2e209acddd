"""The real pi, open while the disk is full and a write of Leafward's is cut short: it goes on, and so does its context.

Runs where ``LEAFWARD_PI`` names the folder of an unpacked pi package (and node is at hand, or named by ``LEAFWARD_NODE``);
skipped elsewhere.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leafward.base.errors import Refused
from leafward.doctor.session_problems import check
from leafward.session.journal.session_operations import label
from leafward.session.session import Session
from tests.disks import filled, small_disk
from tests.oracle.golden import SESSIONS
from tests.oracle.installed_agents import PI, needs_pi
from tests.oracle.open_pi import OpenPi, open_pi
from tests.oracle.resume import resume

pytestmark = [needs_pi]
STORED = SESSIONS / "compacted-twice.jsonl"


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [
        one["content"]
        if isinstance(one["content"], str)
        else "\n".join(block.get("text", "") for block in one["content"] or [])
        for one in messages
        if one["role"] in ("user", "assistant")
    ]


def goes_on(pi: OpenPi, before: list[str]) -> None:
    """After the trouble pi sends all that it sent before, and so does another pi that reads the file."""
    now = texts(pi.say("And after that?"))
    assert now[: len(before)] == before
    anew = resume(Path(PI), pi.path, "Who reads this anew?")
    read = [one.text for one in anew.messages if one.role in ("user", "assistant")]
    assert read[: len(now)] == now
    assert all(json.loads(line) for line in pi.path.read_bytes().splitlines() if line.strip())
    with closing(Session.open(pi.path)) as session:
        assert not [
            problem for problem in check(session) if problem.code in ("malformed", "orphan", "torn-tail")
        ]
        label(session, 0, "and Leafward writes again")


def test_a_disk_that_was_full_for_a_while(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "512k") as disk, open_pi(Path(PI), STORED, disk) as pi:
        before = texts(pi.say("What was first?"))
        filler = filled(disk)
        size = pi.path.stat().st_size
        with closing(Session.open(pi.path)) as session, pytest.raises(Refused, match="nothing was written"):
            label(session, 0, "x" * 9000)
        assert pi.path.stat().st_size == size
        filler.unlink()
        goes_on(pi, before)


def test_a_pi_that_appends_right_behind_a_torn_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst moment: pi's lines come between our piece and its being taken back."""
    with open_pi(Path(PI), STORED) as pi:
        before = texts(pi.say("What was first?"))
        write = os.write
        done: list[int] = []

        def cut(descriptor: int, data: bytes) -> int:
            if done:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            done.append(write(descriptor, bytes(data)[:496]))
            pi.say("What comes right behind?")
            return done[0]

        with closing(Session.open(pi.path)) as session, monkeypatch.context() as patched:
            patched.setattr("leafward.session.journal.short_write.os.write", cut)
            with pytest.raises(Refused, match=r"only 496 of .* the incomplete line was blanked"):
                label(session, 0, "x" * 1400)
        goes_on(pi, before)
