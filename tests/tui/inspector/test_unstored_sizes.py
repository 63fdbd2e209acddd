"""Sizes that no row of a session tells: the tabs say what they are taken from, or that they are not in the total."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.session.entries import EntryIndex, Kind
from leafward_tui.inspector.page import Selection
from leafward_tui.inspector.tab import Tab
from tests.tui.inspector_data import page

if TYPE_CHECKING:
    from pathlib import Path

WIDTHS = [42, 51, 78]
"""Of the inspector beside a tree of 100, 120 and 200 columns."""


def pages(path: Path, width: int) -> tuple[list[str], list[str]]:
    """The lines of the Context and the Compaction tab at the compaction of a session."""
    with closing(agent_of(path).open(path)) as session:
        at = session.columns.kind.index(Kind.COMPACTION)
        selection = Selection(session, (range(at, at + 1),), at)
        context, compaction = (
            [line.text for line in page(selection, tab, width=width, height=40).lines]
            for tab in (Tab.CONTEXT, Tab.COMPACTION)
        )
        return context, compaction


@pytest.mark.parametrize("width", WIDTHS)
def test_the_size_of_an_encrypted_summary_has_its_basis(corpora: Path, width: int) -> None:
    (path,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    context, compaction = pages(path, width)
    row = next(line for line in context if "summary" in line and "1,382" in line)
    assert any(row.rstrip().endswith(basis) for basis in ("a count", "after the compaction")), row
    assert "1,382" in next(line for line in compaction if line.startswith("summarised"))
    assert "summary: encrypted, from the agent's count" in " ".join(compaction)


@pytest.mark.parametrize("width", WIDTHS)
def test_files_put_in_again_that_are_not_stored_are_said_to_be_missing(
    corpora: Path, tmp_path: Path, width: int
) -> None:
    (whole,) = (corpora / "real" / "claude").glob("Packmind*.jsonl")
    path = tmp_path / "cut.jsonl"
    with closing(agent_of(whole).open(whole)) as session:
        behind = session.origin(EntryIndex(session.columns.kind.index(Kind.COMPACTION) + 1)).offset
    path.write_bytes(whole.read_bytes()[:behind])
    context, compaction = pages(path, width)
    assert "files added again after the compaction are not in the total" in " ".join(context)
    head = next(line for line in compaction if line.startswith("context"))
    assert head.rstrip().endswith("~37,000 + not in file" if width > 50 else "~37,000"), head
    assert "files added again are not in file and come on top" in " ".join(compaction)
    assert "after: estimated from the counts before it, until a request counts it" in " ".join(
        " ".join(compaction).split()
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_no_files_are_said_to_be_put_in_again_by_an_agent_that_does_not(corpora: Path, width: int) -> None:
    (codex,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    context, compaction = pages(codex, width)
    assert "prompt, tools" in " ".join(context)
    row = next(line for line in compaction if line.startswith("not in file"))
    assert row.split()[-2:] == ["4,695", "4,695"], "the same on both sides"
    assert "measured again" not in " ".join([*context, *compaction])
    note = " ".join(" ".join(compaction).split())
    assert "after: counted by the next request (estimate: ~19,822)" in note
    assert "files added again" not in " ".join([*context, *compaction])


@pytest.mark.parametrize("width", WIDTHS)
def test_files_put_in_again_that_a_request_counted_are_said_to_be_part_of_it(
    corpora: Path, width: int
) -> None:
    (claude,) = (corpora / "real" / "claude").glob("Packmind*.jsonl")
    _, compaction = pages(claude, width)
    assert "measured again after the compaction" in " ".join(" ".join(compaction).split())
    assert "files added again are part of it" in " ".join(compaction)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_the_agent_estimated_behind_its_compaction_is_told_from_what_was_counted(
    corpora: Path, width: int
) -> None:
    (claude,) = (corpora / "claude" / "v2.1.330").rglob("d379888c-*.jsonl")
    with closing(agent_of(claude).open(claude)) as session:
        at = session.columns.kind.rindex(Kind.COMPACTION)
        shown = page(Selection(session, (range(at, at + 1),), at), Tab.COMPACTION, width=width, height=40)
    text = " ".join(shown.text.split())
    assert "10,820 → 10,314" in text
    if width > 42:
        assert "5 % less" in text, "4.7 %"
    assert "3,145 after it, the agent's estimate without system prompt and tools" in text


def test_where_nothing_that_is_not_in_file_is_carried_no_size_without_it_is_told_as_the_whole(
    corpora: Path,
) -> None:
    (claude,) = (corpora / "real" / "claude").glob("entireio__cli__a7*.jsonl")
    _, compaction = pages(claude, 78)
    assert any(line.strip() == "after: counted by the next request" for line in compaction)
