"""A session forked to other agents is called what its source is, as far as the format of the other agent can say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.session.headlines.session_title import title_of
from tests.claude_transcript import CLAUDE, Transcript
from tests.oracle.forked import fork

if TYPE_CHECKING:
    from pathlib import Path


def compacted(home: Path) -> Transcript:
    """A session whose first prompt lies before its compaction."""
    transcript = Transcript(home / ".claude")
    transcript.turn("Count the pears in the crate", "Seven.")
    transcript.boundary("Pears were counted.")
    transcript.turn("Now the plums", "Nine.")
    return transcript


@pytest.mark.parametrize("named", [None, "Crate of fruit"])
@pytest.mark.parametrize("to", ["opencode", "pi"])
def test_the_title_is_that_of_the_source(tmp_path: Path, to: str, named: str | None) -> None:
    transcript = compacted(tmp_path)
    if named is not None:
        transcript.row("custom-title", customTitle=named)
    session = transcript.opened()
    title = named or "Count the pears in the crate"
    assert title_of(session) == title
    made = fork(session, session.leaf, {"HOME": str(tmp_path)}, to=to, source="claude", cwd=str(tmp_path))
    assert title in made.draft.file.read_text("utf-8")


@pytest.mark.parametrize("named", [None, "Crate of fruit"])
def test_claude_code_gets_a_name_as_a_name_and_a_title_as_its_own(tmp_path: Path, named: str | None) -> None:
    transcript = compacted(tmp_path)
    if named is not None:
        transcript.row("custom-title", customTitle=named)
    env = {"HOME": str(tmp_path)}
    first = fork(
        transcript.opened(), transcript.opened().leaf, env, to="pi", source="claude", cwd=str(tmp_path)
    )
    source = agent_named("pi").open(first.draft.path)
    made = fork(source, source.leaf, env, to="claude", source="pi", cwd=str(tmp_path))
    copy = CLAUDE.open(made.draft.path)
    assert copy.name == named
    assert title_of(copy) == title_of(source)
    copy.close()
    source.close()


def test_pi_gets_the_title_that_the_other_agent_made(tmp_path: Path) -> None:
    """pi has one place for a title; without it, its list shows the first prompt."""
    transcript = compacted(tmp_path)
    transcript.row("ai-title", aiTitle="Counting fruit")
    session = transcript.opened()
    env = {"HOME": str(tmp_path)}
    made = fork(session, session.leaf, env, to="pi", source="claude", cwd=str(tmp_path))
    copy = agent_named("pi").open(made.draft.path)
    assert (copy.name, title_of(copy)) == ("Counting fruit", "Counting fruit")
    copy.close()
