"""Reports of a bisection where nothing could be run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from leafward.files.bisection.session_search import Bisection, SessionSearch, TriedVersion
from leafward.files.bisection.trial import TrialRun, Verdict
from leafward.files.bisection.versions import Point
from leafward.session.entries import EntryIndex
from tests.acting import Acting, reading

if TYPE_CHECKING:
    from pathlib import Path


def test_a_command_that_was_not_run_is_not_said_to_fail(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.user("on")
    with reading(file.path) as session:
        points = [Point(EntryIndex(at), at + 1, EntryIndex(at)) for at in range(2)]
        versions: Any = SimpleNamespace(base=SimpleNamespace(title="the project as it is now"))
        never: Any = None
        search = SessionSearch(session, points, versions, never, str, never)
        ran = TrialRun(Verdict.CANNOT_TELL, None, 0.0, "", "a.txt: its line ends are not known")
        search.steps.append(
            TriedVersion(points[1], ran, {"a.txt": "its line ends are not known"}, blind=False)
        )
        report = search.report(Bisection(-1, 1), "grep x a.txt", likely=False)
    assert report.work == "1 version, none could be rebuilt, over the project as it is now"
    assert report.result == "`grep x a.txt` was not run:"
    assert "its line ends are not known" in "\n".join(report.details)
