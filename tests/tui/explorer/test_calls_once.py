"""A call has one row in the tree: that of its result, whatever Claude Code writes between the two."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import pytest

from leafward.context.entry_metrics import EntryMetrics
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.tree.density import Density
from leafward.session.tree.tree import SessionTree
from leafward.session.tree.tree_layout import arrange
from leafward_tui.explorer.controllers.row_metrics import findings_of
from leafward_tui.explorer.model.exploration import Exploration, Filter
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def by_entry(session: Session, shown: Filter = Filter.CONVERSATION) -> Exploration:
    """The explorer's rows, each an entry, with all that counting finds."""
    metrics = EntryMetrics(session)
    metrics.fill(session, range(len(session)))
    exploration = Exploration(session, Density.ENTRIES, findings=findings_of(session, metrics))
    exploration.filter = shown
    exploration.lay_out()
    return exploration


def kinds(exploration: Exploration) -> list[Kind]:
    return [Kind(exploration.session.columns.kind[entry]) for entry in exploration.layout.head]


PROGRESS = {"data": {"type": "hook_progress", "hookEvent": "PostToolUse"}, "toolUseID": "c1"}


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    """Two calls made together, each with progress, and one with a snapshot before its result; none with a word."""
    file = Transcript(tmp_path)
    file.prompt("Compare the pears")
    file.call("Read", "c1", "m1", file_path="/home/ada/orchard/pears.txt")
    file.call("Read", "c2", "m1", file_path="/home/ada/orchard/plums.txt")
    for call in ("c1", "c2"):
        file.row("progress", **PROGRESS)
        file.result(call)
    file.call("Bash", "c3", "m2", command="make")
    file.row("file-history-snapshot", snapshot={})
    file.row("progress", **PROGRESS)
    file.result("c3")
    file.reply("done")
    return file


def test_a_call_with_progress_before_its_result_has_one_row(transcript: Transcript) -> None:
    session = transcript.opened()
    exploration = by_entry(session)
    layout = exploration.layout
    assert kinds(exploration) == [Kind.USER, *[Kind.TOOL_RESULT] * 3, Kind.ASSISTANT]
    shown = [entry for row in range(len(layout)) for span in layout.entries_of(row) for entry in span]
    assert shown == [entry for entry in range(len(session)) if entry != 4]  # the progress between two results
    replies = [entry for entry, kind in enumerate(session.columns.kind) if kind == Kind.ASSISTANT]
    assert [layout.row_of(reply) for reply in replies] == [1, 3, 4]
    assert [layout.row_of(reply + 1) for reply in replies[:2]] == [1, 3]


def test_where_everything_is_shown_nothing_is_left_out(transcript: Transcript) -> None:
    session = transcript.opened()
    assert list(by_entry(session, Filter.ALL).layout.head) == list(range(len(session)))


def test_a_call_without_a_result_keeps_the_row_of_its_reply(transcript: Transcript) -> None:
    transcript.prompt("Once more")
    transcript.call("Read", "c4", "m3", file_path="/home/ada/orchard/figs.txt")
    transcript.call("Read", "c5", "m3", file_path="/home/ada/orchard/limes.txt")
    transcript.result("c4")
    transcript.prompt("And?")
    assert kinds(by_entry(transcript.opened()))[5:] == [
        Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.USER,
    ]  # fmt: skip


def test_a_call_that_a_branch_leaves_keeps_it_too() -> None:
    # The reply has a note behind it, where the conversation goes on in two ways.
    kinds = [Kind.USER, Kind.ASSISTANT, Kind.CUSTOM, Kind.TOOL_RESULT, Kind.USER]
    tree = SessionTree(array("i", [-1, 0, 1, 2, 2]), bytearray(kinds))
    layout = arrange(tree, 4, Density.ENTRIES, dropped=bytes([0, 1, 0, 0, 0]))
    assert list(layout.head) == [0, 1, 3, 4]
    assert [layout.row_of(entry) for entry in range(5)] == [0, 1, 1, 2, 3]


def test_a_call_is_found_however_long_its_command_ran(tmp_path: Path) -> None:
    """Each second of it is a row of progress."""
    transcript = Transcript(tmp_path)
    transcript.prompt("Make it")
    transcript.call("Bash", "c1", command="make all")
    for second in range(200):
        transcript.row("progress", data={"type": "bash_progress", "elapsedTimeSeconds": second})
    transcript.result("c1", "pears\nplums")
    transcript.reply("made")
    session = transcript.opened()
    exploration = by_entry(session)
    assert kinds(exploration) == [Kind.USER, Kind.TOOL_RESULT, Kind.ASSISTANT]
    # Nothing that was read before tells the tool.
    again = transcript.opened()
    assert headline(again, exploration.layout.head[1]) == ("Bash", "make all", "")
