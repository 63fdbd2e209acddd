"""What an agent puts around or behind a text is nobody's words: the citation of its memory, its words behind a summary."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, span, summarize, told_in, user

_CITED = (
    "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:4-9|note=[how the frost rows were counted before]\n"
    "</citation_entries>\n<rollout_ids>\n01a06f7e-624d-7c60-99aa-9fbe4a26639f\n</rollout_ids>\n"
)
_FOUND = "The frost table keeps the rows of `valley.csv`, because the old reader of orchard needs them there."


@pytest.mark.parametrize("closing", ["</oai-mem-citation>", ""])
def test_the_citation_of_a_memory_is_no_part_of_a_reply(closing: str) -> None:
    # Fails where its names and its note are told, above or at the end.
    said = reply(f"{_FOUND}\n\n{_CITED}{closing}")
    made = Extractive().summarize(span(user("Why are the rows kept?"), said), 1000).text
    assert _FOUND in made
    for word in ("citation", "MEMORY.md", "note=", "rollout_ids", "01a06f7e"):
        assert word not in made
    kept = reply(f"The tag `<oai-mem-citation>` is kept by `frostTable`, because {_FOUND[4:]}")
    assert "frostTable" in summarize(span(user("Why is the tag kept?"), kept)).text


@pytest.mark.parametrize("words", ["we left it off", "we left off"])
def test_words_of_the_agent_behind_its_summary_are_no_step(words: str) -> None:
    earlier = (
        "This session is being continued from a previous conversation that ran out of context.\n"
        "9. Optional Next Step:\n   - Sort the rows of the frost table by day\n"
        f"Please continue the conversation from where {words} without asking the user any further questions. "
        "Continue with the last task that you were\nasked to work on."
    )
    told = told_in(SummarySection.NEXT, reply("Reading on."), previous=earlier, previous_entry=3)
    assert told == ["Sort the rows of the frost table by day"]
