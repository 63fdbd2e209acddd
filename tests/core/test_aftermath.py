"""What a compaction cost afterwards, in sessions of known counts and in the corpora."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Cancelled, Refused
from leafward.compaction.aftermath import WINDOW, Aftermath, Repeat, aftermath_of, repeat_words
from leafward.session.entries import Kind
from leafward.session.session import Session
from tests.acting import Acting, call
from tests.bench.need import sessions
from tests.compacted_session import ASKED, TABLE, Compacted
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Compacted:
    return Compacted(tmp_path / "s.jsonl")


def kinds(found: Aftermath) -> list[tuple[str, str]]:
    return [(one.kind.value, one.text) for one in found.repeated]


def test_what_is_done_again_is_counted_once_each(file: Compacted) -> None:
    for _ in range(2):
        file.repeats()
    found = file.aftermath()
    assert kinds(found) == [
        ("file", "leases.py"),
        ("command", "pytest tests/leases -q"),
        ("error", "Error: lease 4 overlaps lease 7"),
        ("request", ASKED),
    ]
    assert (
        repeat_words(found)
        == "1 file read again, 1 command run again, 1 error made again, 1 request said again"
    )
    assert (found.calls, found.tokens) == (6, sum(one.tokens for one in found.repeated))
    assert found.dollars == pytest.approx(found.tokens * 0.001 / 50)


def test_what_is_new_or_changed_is_not_again(file: Compacted) -> None:
    file.does("read", "another table\nof other things", path="leases.py")
    file.does("read", TABLE, path="orchards.py")
    file.does("edit", "done", path="leases.py", oldText="a", newText="b")
    # Tests that run after a change tell something new.
    file.does("bash", "12 passed", command="pytest tests/leases -q")
    file.does("bash", "Error: no such lease\nexit code 1", failed=True, command="leases look")
    file.user("Now write a note on how the harvest of the apples went.")
    found = file.aftermath()
    assert (kinds(found), found.calls, found.tokens, found.dollars) == ([], 5, 0, 0.0)


def test_what_was_kept_is_not_gone(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("look")
    file.said(call("read", "a", path="leases.py"))
    file.answered("a", "read", TABLE)
    kept = file.user("again")
    file.said(call("read", "b", path="leases.py"))
    file.answered("b", "read", TABLE)
    file.entry("compaction", summary="- leases", firstKeptEntryId=kept, tokensBefore=900, details={})
    file.said(call("read", "c", path="leases.py"))
    file.answered("c", "read", TABLE)
    with closing(Session.open(file.path)) as session:
        assert aftermath_of(session, 6).repeated == ()


def test_it_ends_with_the_window_and_with_the_next_compaction(file: Compacted) -> None:
    for number in range(WINDOW):
        file.does("bash", "fine", command=f"echo {number}")
    file.does("read", TABLE, path="leases.py")
    found = file.aftermath()
    assert (found.calls, found.repeated) == (WINDOW, ())


def test_the_next_compaction_ends_it(file: Compacted) -> None:
    last = file.user("more")
    file.entry("compaction", summary="- leases", firstKeptEntryId=last, tokensBefore=900, details={})
    file.does("read", TABLE, path="leases.py")
    assert (file.aftermath().calls, file.aftermath().repeated) == (0, ())


def test_it_can_be_given_up_and_needs_a_compaction(file: Compacted) -> None:
    with closing(Session.open(file.path)) as session:
        with pytest.raises(Cancelled):
            aftermath_of(session, session.find(file.compaction), lambda: True)
        with pytest.raises(Refused):
            aftermath_of(session, 0)


def test_every_stored_compaction_of_the_corpora_has_one() -> None:
    if not CORPORA.exists():
        pytest.skip("the corpora are not here")
    looked = repeated = 0
    for folder in ("pi", "claude", "codex", "real"):
        for session in sessions(CORPORA / folder):
            for index, kind in enumerate(session.columns.kind):
                if kind == Kind.COMPACTION:
                    found = aftermath_of(session, index)
                    assert found.calls <= WINDOW
                    assert all(one.entry > index for one in found.repeated)
                    assert sum(found.count(kind) for kind in Repeat) == len(found.repeated)
                    looked += 1
                    repeated += bool(found.repeated)
    assert looked > 20
    assert repeated >= 8
