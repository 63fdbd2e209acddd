"""Usage that agents recorded: told without translating entries, and the same as in their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.context.recorded_usage import usage_total
from leafward.session.entries import Usage
from leafward.session.foreign import reader_of
from leafward.session.messages import usage_of

if TYPE_CHECKING:
    import pytest

    from tests.foreign_stores import Store


def test_a_sum_of_usage_translates_no_entry(foreign: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = foreign.open()
    bodies = [session.body(index) or {} for index in range(len(session))]
    expected = sum((usage for body in bodies if (usage := usage_of(body)) is not None), Usage())
    translated: list[int] = []
    reader = reader_of(session)
    assert reader is not None
    monkeypatch.setattr(type(reader.translation), "body", lambda _self, index: translated.append(index))
    found = usage_total(session, range(len(session)))
    assert found == expected
    # Codex's counts are lines of their own, which this store lacks: see the tests of its versions.
    assert found.total or foreign.agent == "codex"
    assert not translated
