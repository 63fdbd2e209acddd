"""Going back in a transcript of Claude Code, and the entry where the session stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import claude_places
from tests.claude_transcript import Transcript, compactions
from tests.foreign_sessions import said, texts

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


ZEROS = "00000000-0000-0000-0000-000000000000"


def place(session: Session) -> str:
    """The text that the conversation stands at."""
    return said(session)[-1][1]


def rewound(tmp_path: Path) -> Transcript:
    transcript = Transcript(tmp_path)
    fork = transcript.turn("one", "first")
    transcript.turn("two", "second")
    transcript.row("last-prompt", lastPrompt="two", leafUuid=transcript.tip)
    transcript.tip = fork
    return transcript


def test_a_rewind_in_the_file_is_a_branch(tmp_path: Path) -> None:
    transcript = rewound(tmp_path)
    transcript.prompt("other")
    transcript.row("last-prompt", leafUuid=ZEROS, explicit=True)
    transcript.reply("elsewhere")
    session = transcript.opened()
    [point] = session.tree.branch_points()
    assert (session.body(point) or {})["message"]["content"][0]["text"] == "first"
    assert texts(session) == ["one", "first", "other", "elsewhere"]
    assert len(list(session.tree.leaves())) == 2


def test_the_last_pointer_chooses_the_branch_and_what_follows_it_counts(tmp_path: Path) -> None:
    transcript = rewound(tmp_path)
    old = json.loads(transcript.path.read_text().splitlines()[3])["uuid"]
    transcript.turn("other", "elsewhere")
    transcript.row("last-prompt", leafUuid=old)
    assert place(transcript.opened()) == "second"
    transcript.prompt("on from there", parentUuid=old)
    assert place(transcript.opened()) == "on from there"


def test_a_prompt_in_place_of_a_summary_is_sent_without_what_was_before(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.boundary("what happened")
    boundary = json.loads(transcript.path.read_text().splitlines()[2])["uuid"]
    transcript.reply("second")
    transcript.turn("two", "third")
    transcript.prompt("what happened, as I see it", parentUuid=boundary)
    transcript.reply("fourth")
    transcript.turn("three", "fifth")
    session = transcript.opened()
    assert texts(session) == ["what happened, as I see it", "fourth", "three", "fifth"]
    first, second = compactions(session)
    assert [text for _, text in said(session, second - 1)] == ["what happened", "second", "two", "third"]
    assert session.branches == 1
    assert [text for _, text in said(session, first - 2)] == ["one", "first"]


def test_a_pointer_into_the_middle_of_a_line_cuts_nothing(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    early = transcript.turn("one", "first")
    transcript.turn("two", "second")
    transcript.row("last-prompt", leafUuid=early)
    assert place(transcript.opened()) == "second"


def test_a_rewind_that_says_so_stands_where_it_says(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    early = transcript.turn("one", "first")
    cut = transcript.prompt("two")
    transcript.reply("second")
    transcript.row("last-prompt", leafUuid=early, explicit=True, rewound=True, cutUuid=cut)
    session = transcript.opened()
    assert place(session) == "first"
    transcript.prompt("three", parentUuid=early)
    assert place(transcript.opened()) == "three"


UNKNOWN = "0badcafe-0000-4000-8000-000000000000"


def pointer(leaf: object, *, explicit: bool = False) -> dict[str, object]:
    """A row about the place; a number stands for the reply of that turn."""
    return {"leafUuid": leaf, **({"explicit": True} if explicit else {})}


NEW = "a turn from the first one"
PLACES: dict[str, tuple[list[dict[str, object] | str], str]] = {
    "taken back": ([pointer(1, explicit=True)], "first"),
    "taken back and said again": ([pointer(1, explicit=True), pointer(1)], "first"),
    "said twice": ([pointer(1), pointer(1)], "third"),
    "another place since": ([pointer(1, explicit=True), pointer(2)], "third"),
    "a row without a place": ([pointer(1, explicit=True), {"lastPrompt": "go"}], "first"),
    "rows that name nothing": (
        [pointer(1, explicit=True), pointer(None), pointer("", explicit=True)],
        "first",
    ),
    "a row that is not there": ([pointer(1, explicit=True), pointer(UNKNOWN)], "third"),
    "no row": ([pointer(1, explicit=True), pointer(ZEROS, explicit=True)], "third"),
    "gone on": ([pointer(1, explicit=True), NEW], "new"),
    "gone on and said again": ([pointer(1, explicit=True), NEW, pointer(1)], "new"),
    "taken back twice": ([pointer(1, explicit=True), NEW, pointer(1, explicit=True)], "first"),
    "the last row is elsewhere": ([NEW, pointer(2)], "second"),
    "later rows are elsewhere": ([pointer(3), NEW], "third"),
    "only the last row is left": ([NEW, pointer(2), pointer(UNKNOWN)], "new"),
}
"""What a transcript of three turns has behind them, and the reply where Claude Code 2.1.165 to 2.1.332 go on."""


@pytest.mark.parametrize("case", PLACES)
def test_the_place_is_where_claude_code_goes_on(tmp_path: Path, case: str) -> None:
    rows, expected = PLACES[case]
    transcript = Transcript(tmp_path)
    replies = [
        transcript.turn(f"prompt {count}", said) for count, said in enumerate(("first", "second", "third"))
    ]
    for row in rows:
        if isinstance(row, str):
            transcript.tip = replies[0]
            transcript.turn(row, "new")
        else:
            leaf = row.get("leafUuid")
            named = {"leafUuid": replies[leaf - 1]} if isinstance(leaf, int) else {}
            transcript.row("last-prompt", **(row | named))
    assert place(transcript.opened()) == expected


@pytest.mark.parametrize("sketch", claude_places.PLACES)
def test_the_place_beside_a_compaction_is_where_claude_code_goes_on(tmp_path: Path, sketch: str) -> None:
    transcript = Transcript(tmp_path)
    claude_places.write(transcript, sketch)
    assert (
        claude_places.numbers(text for _, text in said(transcript.opened())) == claude_places.PLACES[sketch]
    )


def test_everything_taken_back(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.row("last-prompt", leafUuid=None, explicit=True)
    session = transcript.opened()
    assert session.leaf == -1
    assert said(session) == []
    transcript.prompt("anew", parentUuid=None)
    session = transcript.opened()
    assert texts(session) == ["anew"]
    assert len(list(session.tree.leaves())) == 2


def test_a_pointer_that_names_nothing_here_is_passed_over(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    transcript.row("last-prompt", leafUuid="0badcafe-0000-4000-8000-000000000000")
    transcript.row("last-prompt", lastPrompt="without a leaf")
    assert place(transcript.opened()) == "first"


def test_commands_run_after_a_rewind_are_a_branch_where_a_prompt_follows(tmp_path: Path) -> None:
    transcript = rewound(tmp_path)
    transcript.row("system", subtype="local_command", content="<command-name>/cost</command-name>")
    transcript.turn("other", "elsewhere")
    transcript.row("last-prompt", leafUuid=ZEROS, explicit=True)
    session = transcript.opened()
    assert len(session.tree.branch_points()) == 1
    assert texts(session)[2] == "<command-name>/cost</command-name>"
