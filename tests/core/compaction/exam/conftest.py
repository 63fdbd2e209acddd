from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, call
from tests.core.compaction.exam.asked import GUESS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Acting:
    """A span with something to ask of every topic."""
    file = Acting(tmp_path / "session.jsonl")
    file.user("Build the queue for the shop first. Never use more than 3 workers for an import.")
    file.said(call("write", "1", path="src/queue.py", content="def take_one(shop):\n    return shop\n"))
    file.answered("1", "write")
    file.said(call("bash", "1a", command="git commit -qam 'Take one job'"))
    file.answered("1a", "bash")
    file.said(call("bash", "1b", command="git commit -am 'Take jobs of one shop'"))
    file.answered("1b", "bash", "[main 1a2b3c4] Take jobs of one shop\n 1 file changed")
    file.said(call("bash", "2", command="python -m pytest tests/test_queue.py"))
    file.answered("2", "bash", "F.\n1 failed, 1 passed in 0.1s\n\nCommand exited with code 1", failed=True)
    file.said("The queue in `src/queue.py` takes the jobs of one shop.")
    file.user(GUESS)
    file.said("Decision: one table for all jobs because every shop reads the same rows.")
    file.said("We decided against threads because SQLite locks the whole file.")
    file.said(call("write", "3", path="src/store.py", content="def keep_result(job):\n    return job\n"))
    file.answered("3", "write")
    file.said(call("bash", "3a", command="git commit -am 'Store what a job gives'"))
    file.answered("3a", "bash", "[main 5d6e7f8] Store what a job gives\n 1 file changed")
    file.said(call("bash", "4", command="make build"))
    file.answered("4", "bash", "done")
    file.said(call("bash", "5", command="python -m pytest -q"))
    file.answered("5", "bash", "..\n2 passed in 0.1s")
    file.said("`keep_result` stores what a job gives.\n- [x] Write the store\n- [ ] Add retries to the queue")
    return file
