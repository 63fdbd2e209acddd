"""The injected working set has files where they are, and recent actions in the order in which they were done."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings, OmissionReason
from leafward.session.session import Session
from tests.acting import Acting, call

NOWHERE = Path("/nonexistent/leafward")


def ran(file: Acting, key: str, command: str, *, failed: bool = False) -> None:
    file.said(call("bash", key, command=command))
    file.answered(key, "bash", "", failed=failed)


def wrote(file: Acting, key: str, path: str) -> None:
    file.said(call("write", key, path=path, content="x"))
    file.answered(key, "write")


def section(file: Acting, name: str) -> list[str]:
    with closing(Session.open(file.path)) as session:
        made = inject(session, session.leaf, InjectionSettings(workspace=NOWHERE))
    return [
        line.text.removeprefix("- ")
        for line in made.lines
        if line.section == name and line.text.startswith("- ")
    ]


def test_a_file_that_was_moved_or_removed_is_named_where_it_is(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("tidy up")
    for number, name in enumerate(("old.py", "gone.py", "src/a.py", "kept.py", "again.py")):
        wrote(file, f"w{number}", name)
    ran(file, "m", "git mv old.py new.py && mv src lib && rm again.py")
    ran(file, "r", "rm gone.py 2>/dev/null; echo removed")
    ran(file, "f", "mv kept.py lost.py", failed=True)
    wrote(file, "w9", "again.py")
    assert section(file, "workingset.modified") == ["again.py", "kept.py", "lib/a.py", "new.py"]
    with closing(Session.open(file.path)) as session:
        made = inject(session, session.leaf, InjectionSettings(workspace=NOWHERE))
    gone = {one.text for one in made.omitted if one.reason is OmissionReason.GONE}
    assert gone == {"old.py", "gone.py", "src/a.py"}


def test_an_action_that_was_done_twice_stands_where_it_was_done_last(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("push it")
    ran(file, "a", "git push")
    ran(file, "b", "git push", failed=True)
    ran(file, "c", "git pull --rebase")
    ran(file, "d", "git push")
    assert section(file, "gov.recent_actions") == [
        "ran `git push` → failed",
        "ran `git pull --rebase` → ok",
        "ran `git push` → ok",
    ]
