"""Costs after a compaction, in sessions of known counts and in the corpora."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Cancelled, Refused
from leafward.compaction.aftermath.aftermath import WINDOW, Aftermath, Repeat, aftermath_of, repeat_words
from leafward.compaction.aftermath.aftermath_totals import AftermathTotals
from leafward.compaction.draft.draft import accept
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import redo, undo
from leafward.session.session import Session
from tests.acting import Acting, call
from tests.bench.aftermath import cases, interval, spearman
from tests.bench.need import sessions
from tests.claude_transcript import Transcript, compactions
from tests.codex_rollout import Rollout
from tests.compacted_session import ASKED, TABLE, Compacted
from tests.core.compacted import drafted
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


def test_a_request_said_again_instead_of_allowing_a_call_counts(file: Compacted) -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
    )
    file.does("write", refusal + ASKED, failed=True, path="notes.md")
    assert ("request", ASKED) in kinds(file.aftermath())


def test_a_command_that_prints_a_file_again_counts_as_the_file_alone(tmp_path: Path) -> None:
    file = Transcript(tmp_path)
    for number in range(2):
        if number:
            file.boundary("- leases")
        file.prompt("look")
        file.call("Bash", f"c{number}", command="cat leases.py")
        file.result(f"c{number}", TABLE)
    with closing(file.opened()) as session:
        assert kinds(aftermath_of(session, compactions(session)[0])) == [("file", "leases.py")]


def test_what_a_call_without_a_result_changes_is_not_read_again_unchanged(tmp_path: Path) -> None:
    """Claude Code compacts between a call and its result, which no row has then."""
    file = Transcript(tmp_path)
    file.prompt("look")
    file.call("Read", "c0", file_path="/home/ada/leases.py")
    file.result("c0", TABLE)
    file.call("Edit", "c1", file_path="/home/ada/leases.py", old_string="a", new_string="b")
    file.boundary("- leases")
    file.prompt("go on")
    file.call("Read", "c2", file_path="/home/ada/leases.py")
    file.result("c2", TABLE)
    with closing(file.opened()) as session:
        assert kinds(aftermath_of(session, compactions(session)[0])) == []


def test_parts_of_one_file_are_one_file(tmp_path: Path) -> None:
    """Each read counts, and the file is named once."""
    lines = TABLE.splitlines()
    halves = ["\n".join(half) for half in (lines[: len(lines) // 2], lines[len(lines) // 2 :])]
    file = Acting(tmp_path / "s.jsonl")
    file.user("look")
    for number, text in enumerate(halves * 2):
        if number == len(halves):
            kept = file.user("again")
            file.entry("compaction", summary="- leases", firstKeptEntryId=kept, tokensBefore=900, details={})
        file.said(call("read", f"c{number}", path="leases.py"))
        file.answered(f"c{number}", "read", text)
    with closing(Session.open(file.path)) as session:
        found = aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))
    assert found.count(Repeat.FILE) == 2
    assert repeat_words(found) == "1 file read again in 2 reads"


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


@pytest.mark.parametrize(
    ("command", "failed"),
    [
        ("sed -i s/4/5/ leases.py", False),
        ("git stash pop", False),
        ("mv table.py leases.py && make", True),
        ("cat > conftest.py <<'END'\nleases = 4\nEND", False),
    ],
)
def test_a_command_that_runs_after_a_command_changed_files_is_not_run_again(
    file: Compacted, command: str, *, failed: bool
) -> None:
    file.does("bash", "", command=command, failed=failed)
    file.does("bash", "11 passed", command="pytest tests/leases -q")
    assert kinds(file.aftermath()) == []


def test_a_file_that_a_command_changed_is_not_read_again_unchanged(file: Compacted) -> None:
    """Nearly all of its lines are known all the same."""
    file.does("bash", "", command="sed -i s/57/58/ leases.py")
    file.does("read", TABLE.replace("57", "58"), path="leases.py")
    assert kinds(file.aftermath()) == []


def test_a_command_that_writes_its_output_to_a_file_is_run_again(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("look")
    for number in range(2):
        if number:
            kept = file.user("again")
            file.entry("compaction", summary="- tests", firstKeptEntryId=kept, tokensBefore=900, details={})
        file.said(call("bash", f"c{number}", command="pytest -q > out.txt"))
        file.answered(f"c{number}", "bash", "")
    with closing(Session.open(file.path)) as session:
        found = aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))
    assert kinds(found) == [("command", "pytest -q > out.txt")]


@pytest.mark.parametrize("kept", [False, True])
def test_a_file_that_was_edited_since_it_was_read_is_not_read_again_unchanged(
    tmp_path: Path, *, kept: bool
) -> None:
    """Nine of ten lines of it are known all the same."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("look")
    file.said(call("read", "c1", path="leases.py"))
    file.answered("c1", "read", TABLE)
    first = file.user("change it") if kept else ""
    file.said(call("edit", "c2", path="leases.py", oldText="a", newText="b"))
    file.answered("c2", "edit", "done")
    first = first or file.user("again")
    file.entry("compaction", summary="- leases", firstKeptEntryId=first, tokensBefore=900, details={})
    for number in (3, 4):
        file.said(call("read", f"c{number}", path="leases.py"))
        file.answered(f"c{number}", "read", TABLE)
    with closing(Session.open(file.path)) as session:
        assert kinds(aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))) == []


@pytest.mark.parametrize(("model", "priced"), [("claude-sonnet-4-5", True), ("nobody-knows-this", False)])
def test_without_recorded_costs_the_list_price_of_the_model_counts(
    tmp_path: Path, model: str, *, priced: bool
) -> None:
    file = Compacted(tmp_path / "s.jsonl")
    file.repeats()
    text = file.path.read_text().replace('"cost":{"input":0.001,"total":0.001}', '"cost":{}')
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        if line.get("message", {}).get("role") == "assistant":
            line["message"] |= {"provider": "anthropic", "model": model}
            line["message"].get("usage", {}).pop("cost", None)
    file.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = file.aftermath()
    assert found.tokens > 0
    assert found.dollars == (pytest.approx(found.tokens * 3e-6) if priced else None)


CHECKS = "lint\tfail\t5m24s\t\ntest-ci\tfail\t2s\t\nwindows-unit\tpass\t6m16s\thttps://ci/2"


def test_a_call_that_failed_again_counts_once_and_what_passed_is_no_error(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("look")
    for number, printed in enumerate(
        (CHECKS, "unit\tpass\t1m\thttps://ci/1", CHECKS, "unit\tpass\t1m\thttps://ci/1")
    ):
        if number == 2:
            kept = file.user("again")
            file.entry("compaction", summary="- checks", firstKeptEntryId=kept, tokensBefore=900, details={})
        file.said(call("bash", f"c{number}", command=f"gh pr checks {number}"))
        file.answered(f"c{number}", "bash", printed, failed=True)
    with closing(Session.open(file.path)) as session:
        found = aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))
    assert kinds(found) == [("error", "lint\tfail\t5m24s")]


def after_failing_twice(path: Path, command: str, printed: str) -> Aftermath:
    """What was repeated where a command failed in the same way before and after a compaction."""
    file = Acting(path)
    file.user("look")
    for number in range(2):
        if number:
            kept = file.user("again")
            file.entry("compaction", summary="- it", firstKeptEntryId=kept, tokensBefore=900, details={})
        file.said(call("bash", f"c{number}", command=f"{command} {number}"))
        file.answered(f"c{number}", "bash", printed, failed=True)
    with closing(Session.open(path)) as session:
        return aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))


def test_a_row_of_one_run_that_is_polled_again_is_no_error_made_again(tmp_path: Path) -> None:
    row = "lint\tfail\t5m24s\thttps://ci/7/job/3"
    assert kinds(after_failing_twice(tmp_path / "s.jsonl", "gh pr checks", row)) == []


@pytest.mark.parametrize(
    "printed",
    [
        "Output:",
        "Traceback (most recent call last):\n  File 'leases.py', line 4",
        "    at ignore-listed frames",
        "For more information about this error, try `rustc --explain E0277`.",
        "lint\tpending\t0",
    ],
)
def test_what_any_failure_prints_is_no_error_made_again(printed: str, tmp_path: Path) -> None:
    assert kinds(after_failing_twice(tmp_path / "s.jsonl", "make leases", printed)) == []


@pytest.mark.parametrize(
    ("tool", "given", "printed"),
    [
        ("Write", {"file_path": "leases.py", "content": TABLE}, "done"),
        ("Bash", {"command": f"cat > leases.py <<'END'\n{TABLE}\nEND"}, ""),
        ("Bash", {"command": "ls && cat leases.py"}, f"leases.py\n{TABLE}"),
        ("Bash", {"command": "cat leases.py 2>/dev/null | head -500"}, TABLE),
    ],
)
def test_a_file_is_read_again_that_a_call_wrote_or_a_longer_command_printed(
    tool: str, given: dict[str, str], printed: str, tmp_path: Path
) -> None:
    file = Transcript(tmp_path)
    file.prompt("look")
    file.call(tool, "c0", **given)
    file.result("c0", printed)
    file.boundary("- leases")
    file.prompt("look again")
    file.call("Read", "c1", file_path="leases.py")
    file.result("c1", TABLE)
    with closing(file.opened()) as session:
        assert kinds(aftermath_of(session, compactions(session)[0])) == [("file", "leases.py")]


def test_a_command_that_prints_something_else_is_not_run_again(file: Compacted) -> None:
    """Numbers differ from run to run: times, counts."""
    file.does("bash", "11 passed", command="pytest tests/leases -q")
    found = file.aftermath()
    assert kinds(found) == [("command", "pytest tests/leases -q")]
    file.does("bash", "1 failed, 11 passed", command="pytest tests/leases -q")
    assert kinds(file.aftermath()) == kinds(found)


def test_a_command_that_prints_something_else_first_is_not_run_again(file: Compacted) -> None:
    file.does("bash", "11 passed, 1 failed", command="pytest tests/leases -q")
    assert kinds(file.aftermath()) == []


def test_what_the_agent_puts_around_an_output_is_no_part_of_it(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    for part in "ab":
        if part == "b":
            told = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "- it"}]}
            rollout.line("compacted", message="- it", replacement_history=[told])
        rollout.prompt("look")
        for number, (command, printed) in enumerate(
            (("make check", "all is well"), ("cat one.py", "one = 1"))
        ):
            frame = f"Chunk ID: {part}{number}c\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{printed}\n"
            rollout.call("exec_command", {"cmd": command}, frame, f"call_{part}{number}")
    with closing(rollout.opened()) as session:
        found = aftermath_of(session, session.columns.kind.index(Kind.COMPACTION))
    assert kinds(found) == [("command", "make check"), ("file", "one.py")]


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
    assert repeated >= 3


def test_the_documents_say_how_well_lost_facts_foretell_it(repository: Path, corpora: Path) -> None:
    found = cases()
    repeated = [one.repeated for one in found]
    words = " ".join((repository / "docs" / "summaries.md").read_text(encoding="utf-8").split())
    after = sum(number > 0 for number in repeated)
    assert f"After {after} of the {len(found)} stored compactions of the shared corpora" in words
    for forecast in ([one.lost for one in found], [one.share for one in found]):
        low, high = interval(forecast, repeated)
        assert f"{spearman(forecast, repeated):+.2f} (" in words
        assert f"{low:+.2f} to {high:+.2f})" in words


def _counted(*sessions: Session) -> list[tuple[str, int]]:
    totals = AftermathTotals()
    for session in sessions:
        totals.add("pi", session)
    return [(maker.strategy, one.compactions) for maker, one in totals.sums.items()]


def test_a_compaction_of_a_copy_under_other_ids_counts_once(file: Compacted, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in file.path.read_bytes().splitlines()]
    for number, line in enumerate(lines[1:]):
        if "message" in line:
            line["message"]["timestamp"] = 1_767_600_000_000 + number
    file.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for number, line in enumerate(lines[1:]):
        line |= {"id": f"f{number:07x}", "timestamp": f"2027-01-01T00:00:{number:02d}.000Z"}
        line["parentId"] = f"f{number - 1:07x}" if number else None
    copy = tmp_path / "copy.jsonl"
    copy.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with closing(Session.open(file.path)) as one, closing(Session.open(copy)) as other:
        assert _counted(one, other) == [("agent's own", 1)]


def test_a_compaction_of_ours_that_was_undone_is_none(demo: Session) -> None:
    written = accept(demo, drafted(demo))
    before = _counted(demo)
    undo(demo)
    assert ("pi", 1) in before
    assert _counted(demo) == [one for one in before if one != ("pi", 1)]
    redo(demo)
    assert _counted(demo) == before, written.op
