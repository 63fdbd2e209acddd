"""What stands under a narrow tree: the last words of a turn and the files it changed."""

from __future__ import annotations

from leafward.files.working_set import FileChange
from leafward_tui.explorer.widgets.peek import TurnDigest

LONG = "The log agrees with the theory: 61 job ids appear twice in 4118 lines, always 1 to 4 ms apart, always two workers"


def test_where_no_file_was_changed_the_words_have_both_lines() -> None:
    assert " ".join(TurnDigest("ai", LONG, ()).words(70, "\u2026")) == LONG
    assert len(TurnDigest("ai", LONG, ()).words(70, "\u2026")) == 2
    changed = (FileChange("a.py", 1, 2, 1),)
    assert len(TurnDigest("ai", LONG, changed).words(70, "\u2026")) == 1


def test_who_spoke_is_a_whole_word_with_a_gap_behind_it() -> None:
    assert TurnDigest("extension", LONG, ()).label == "ext"
    assert TurnDigest("ai", LONG, ()).label == "ai"
    assert TurnDigest("multi_edit", LONG, ()).label == "multi\u2026"
