"""Nothing tells that a call without a result was done: it was cut off, or the session ends with it."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import made, reply, result, span, summarize, told_in, user

_PATCH = "*** Begin Patch\n*** Update File: src/b.py\n@@\n-x\n+y\n*** End Patch"
_CALLS = [
    ("write", {"path": "src/b.py", "content": "def weigh(pears): ..."}),
    ("edit", {"path": "src/b.py", "oldText": "x", "newText": "def weigh(pears): ..."}),
    ("apply_patch", {"input": _PATCH}),
]
_BEGUN = [user("Port the lexer of orchard to a table."), *made("src/a.py", "a"), user("And its docs.")]


@pytest.mark.parametrize(("name", "given"), _CALLS)
def test_a_file_is_not_changed_by_a_call_without_a_result(name: str, given: dict[str, Any]) -> None:
    """Fails where only a failed result tells that a call was not done."""
    text = summarize(span(*_BEGUN, reply("", ("b", name, given)))).text
    assert "Last file edited: `src/a.py`" in text
    assert "`src/b.py` changed" not in text
    assert "changed `b.py`" not in text


@pytest.mark.parametrize(("name", "given"), _CALLS)
def test_its_result_may_be_among_the_kept_messages(name: str, given: dict[str, Any]) -> None:
    kept = [SpanMessage(one.entry, one.message) for one in span(result("b", "ok")).messages]
    told = told_in(SummarySection.CONTEXT, *_BEGUN, reply("", ("b", name, given)), kept=kept)
    assert told[0] == "Last file edited: `src/b.py`"


def test_a_request_whose_last_call_has_no_result_is_not_told_as_done() -> None:
    call = reply("", ("b", *_CALLS[0]))
    said = [*_BEGUN, call, user("Stop. What is the weight of a pear?"), reply("It is 150 grams.")]
    assert not any("And its docs" in line and "→" in line for line in told_in(SummarySection.DONE, *said))


def test_a_file_that_a_call_without_a_result_removes_is_not_told_as_deleted() -> None:
    call = reply("", ("b", "bash", {"command": "rm src/a.py"}))
    assert "Deleted" not in summarize(span(*_BEGUN, call)).text
