"""Calls without a result although the conversation went on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.context.model_context import context_at
from leafward.context.open_calls import open_calls
from tests.acting import Acting, call, reading

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("id_", "answer", "unanswered"), [(7, 7, "1 call"), ("a", [], "2 calls"), ("a", {"a": 1}, "2 calls")]
)
def test_ids_of_any_type(tmp_path: Path, id_: Any, answer: Any, unanswered: str) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said({**call("read", "x"), "id": id_}, call("read", "other"))
    file.answered(answer, "read")
    file.user("on")
    with reading(file.path) as session:
        (note,) = open_calls(session, context_at(session).messages)
    assert note.text.startswith(f"{unanswered} ha")
