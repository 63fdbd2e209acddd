"""A session with one compaction, for tests of what is done again after it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.compaction.aftermath.aftermath import Aftermath, aftermath_of
from leafward.session.session import Session
from tests.acting import Acting, call, usage

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "\n".join(f"lease {number} holds for {number * 3} days" for number in range(20))
ASKED = "Please keep the lease table sorted by the name of the orchard."


class Compacted(Acting):
    """A session with one compaction: a file was read, a command ran and another failed before it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.calls = 0
        self.user(ASKED)
        self.does("read", TABLE, path="leases.py")
        self.does("bash", "12 passed", command="pytest tests/leases -q")
        self.does("bash", "Error: lease 4 overlaps lease 7\nexit code 1", failed=True, command="leases check")
        kept = self.user("go on")
        self.said("It goes on.", tokens=usage(100, input=50, cost={"input": 0.001, "total": 0.001}))
        self.compaction = self.entry(
            "compaction", summary="## Goal\n- leases", firstKeptEntryId=kept, tokensBefore=900, details={}
        )

    def does(self, tool: str, result: str, *, failed: bool = False, **arguments: str) -> None:
        """A call and its result."""
        self.calls += 1
        self.said(call(tool, f"c{self.calls}", **arguments))
        self.answered(f"c{self.calls}", tool, result, failed=failed)

    def aftermath(self) -> Aftermath:
        """The entries after its compaction."""
        with closing(Session.open(self.path)) as session:
            return aftermath_of(session, session.find(self.compaction))

    def repeats(self) -> None:
        """Each of the four kinds is done again."""
        self.does("read", TABLE, path="/home/ada/orchard/leases.py")
        self.does("bash", "12 passed", command="pytest tests/leases -q")
        self.does("bash", "Error: lease 4 overlaps lease 7\nexit code 1", failed=True, command="leases look")
        self.user(ASKED)
