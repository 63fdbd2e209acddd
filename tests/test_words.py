"""The words of all texts of the product against a table of what was said before, and how it is said now.

The table is a list of the project's own; where the specification lies beside the project, both have the same rows.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TABLE = REPOSITORY.parent / "shared" / "WORDS.md"

REPLACED: dict[str, tuple[str, ...]] = {
    "esc leave (in a sheet)": ("esc leave",),
    # Words of their own that have other uses: `tests/tui/ui/test_price_line.py` holds "drops" and "adds".
    "leave / enter (price of a move)": (),
    "The same, with a focus · you say what it dwells on": ("The same, with a focus", "dwells on"),
    "Move before this prompt, to write it anew": ("to write it anew",),
    "its text is offered again": ("its text is offered again",),
    "told in its own form": ("told in its own form",),
    "a what-if only: fork instead": ("a what-if only",),
    "an agent that runs sees it after pi --session …": ("an agent that runs sees it",),
    "a word or two; empty takes it away": ("a word or two;", "empty takes it away"),
    "refused: nothing to undo": ("refused: nothing", '"refused: '),
    "undone  U does it again": ("does it again",),
    "compaction … is below this point: here the model reads in full what it summarised": (
        "is below this point",
        "reads in full what it summarised",
    ),
    "1 context edit would not apply here: what was edited is as it was before": (
        "would not apply here",
        "what was edited is as it was",
    ),
    "plus more that is sent, now 4.1k · rest · it took": ("plus more that is sent", "· rest ·", "· it took"),
    "1 remark on the way · thought 2 lines · Called 5 times": (
        "remark on the way",
        "remarks on the way",
        "Called {",
    ),
    "Summary of what a move leaves": ("Summary of what a move leaves",),
    "each since it left the others, with its cost and the tokens that were written": (
        "since it left the others",
    ),
    "All of them · 80 sessions say no cost · what a copy took over counts once": (
        "say no cost",
        "says no cost",
        "what a copy took over",
    ),
    # A figure and the head of a column: `tests/tui/catalogue/test_catalogue.py` has the list's pictures.
    "tokens / 184.6M used (catalogue) · compact (column)": (),
    "chosen by a query · nothing is chosen by …": ("chosen by a query", "nothing is chosen by"),
    "'tool' stands where &, \\| or the end was expected": ("or the end was expected",),
    "bookkeeping · The path then · everything again (esc)": ("The path then", "everything again ("),
    "B says nothing · Carried over: nothing was": ("says nothing ·", "Carried over: nothing was"),
    "folder missing, moved or removed": ("folder missing, moved or removed",),
    "this is the leaf: mark another entry, or go to one; there is nothing to compare it with": (
        "this is the leaf: mark another entry",
        "nothing to compare it with",
    ),
    "the agent sends about N tokens more than the file holds…; the M are without them": (
        "tokens more than the file holds",
        "are without them",
    ),
    "reckoned with 1,574 tokens · all estimated, until a reply is counted": (
        "reckoned with",
        "until a reply is counted",
    ),
    "nothing is sent before it was shown · esc take it over": ("before it was shown", "esc take it over"),
    "by extractive / summary by: quotes · quotes the span on this machine": (
        "by extractive",
        "quotes the span on",
    ),
    "one run so far: other settings make another to hold it against": ("other settings make another",),
    "facts of all spans together": ("facts of all spans together",),
    "Why not lower · The cut was asked for.": ("Why not lower", "The cut was asked for"),
    "Asked last / Answered last": ("Asked last", "Answered last"),
    "B lies above A: only A went on · B says nothing; cost not known (0 entries)": (
        "lies above A",
        "says nothing; cost not known",
    ),
    "no base: the folder of this session is not there": ("the folder of this session is not there",),
    "Edit for the model · say what is to become of it": ("Edit for the model", "what is to become of it"),
    "1 message left out that the other agent put in itself": ("that the other agent put in itself",),
    "unknown at the node: by git clean": ("unknown at the node",),
    "with the known faults of the agent itself": ("with the known faults of the agent",),
    "What is kept beside other agents' sessions": ("What is kept beside other agents",),
}
"""By row of the table, the words by which that text would be known."""

READ_BACK = {
    "core/leafward/summaries/summarizers/extractive/answers/quotes.py",
    "core/leafward/summaries/summarizers/extractive/candidates.py",
}
"""They read summaries that Leafward wrote before, with the words of that time."""

NAMES = ("core/leafward", "tui/leafward_tui", "docs")
_JOINED = re.compile(r"[\"']\s*\n\s*f?[\"']")
"""The seam of a text that is written in several pieces."""


@cache
def texts() -> dict[str, str]:
    """The text of every module and document; the changelog apart, which tells how things were called."""
    paths = [REPOSITORY / "README.md", REPOSITORY / "AGENTS.md"]
    for name in NAMES:
        paths += [path for end in ("py", "md") for path in (REPOSITORY / name).rglob(f"*.{end}")]
    return {str(path.relative_to(REPOSITORY)): _JOINED.sub("", path.read_text("utf-8")) for path in paths}


def found(phrases: tuple[str, ...]) -> list[str]:
    """The files that say one of some phrases."""
    return [
        f"{name}: {one}"
        for name, text in texts().items()
        if name not in READ_BACK
        for one in phrases
        if one in text
    ]


def test_nothing_says_what_the_table_replaces() -> None:
    assert found(tuple(phrase for phrases in REPLACED.values() for phrase in phrases)) == []


def test_a_phrase_that_is_said_is_found_also_over_a_seam() -> None:
    assert found(("What a user notices is not here",)) == []
    assert any(name.startswith("README") for name in found(("Leafward",)))
    assert (
        _JOINED.sub("", 'tell("its text is "\n    f"offered again")') == 'tell("its text is offered again")'
    )


@pytest.mark.skipif(not TABLE.is_file(), reason="the specification is not beside the project")
def test_the_table_of_the_specification_has_the_same_rows() -> None:
    _, _, table = TABLE.read_text("utf-8").partition("## Replace")
    cells = re.findall(r"(?m)^\| (.*?) \| ", table)
    assert set(cells) - {"today"} == REPLACED.keys()
