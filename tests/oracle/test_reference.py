"""The slow reference implementation agrees with the real pi on every golden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import reference_projection as reference
from tests.oracle import golden as goldens

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = list(goldens.pairs())


def estimate(message: reference.Message) -> int | None:
    """pi throws on content it cannot measure; the goldens say null there."""
    try:
        return reference.tokens(message)
    except (KeyError, TypeError):
        return None


@pytest.mark.parametrize(("session", "expected"), PAIRS, ids=[golden.stem for _, golden in PAIRS])
def test_projection_settings_and_size_are_those_of_pi(session: Path, expected: Path) -> None:
    golden = goldens.load(expected)
    _, entries = reference.load(session.read_text("utf-8"))
    assert len(entries) == golden.head["entry_count"]
    for node in golden.nodes:
        projection = reference.project(entries, node.at)
        rows = tuple(
            goldens.Row(index, message["role"], estimate(message), reference.digest(message))
            for index, message in projection.messages
        )
        assert rows == node.messages, f"messages at {node.at}"
        assert (projection.thinking, projection.model) == (node.thinking, node.model), (
            f"settings at {node.at}"
        )
        assert reference.context_size(entries, node.at) == node.tokens, f"tokens at {node.at}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.25e-7, "1.25e-7"),
        (0.000001, "0.000001"),
        (123456789012345678901, "123456789012345680000"),
        ({"b": 1, "10": 2, "2": 3}, '{"2":3,"10":2,"b":1}'),
        ("\ud83c\u2028\x7f", '"\\ud83c\u2028\x7f"'),
    ],
)
def test_compact_json_is_ecmascripts(value: object, text: str) -> None:
    assert reference.compact_json(value) == text
