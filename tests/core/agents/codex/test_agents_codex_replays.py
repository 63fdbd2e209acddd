"""Rollbacks of Codex: the context behind them is what the version that wrote the thread sends when it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.codex_rollout import Rollout
from tests.codex_turns import ROLLBACKS, Turns, in_short
from tests.foreign_sessions import texts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("told", ROLLBACKS)
@pytest.mark.parametrize("version", [101, 106, 125])
def test_the_context_is_what_codex_sends(tmp_path: Path, told: str, version: int) -> None:
    rollout = Rollout(tmp_path, cli_version=f"0.{version}.0")
    Turns(rollout, version).add(told)
    older, newer = ROLLBACKS[told]
    session = rollout.opened()
    assert in_short(texts(session)) == (newer.replace("-", "") if newer and version == 125 else older)


@pytest.mark.parametrize(("version", "left"), [(130, "a? A. b? B."), (131, "a? A."), (133, "a? A.")])
def test_a_warning_of_codex_counts_as_a_turn_where_the_version_counts_it(
    tmp_path: Path, version: int, left: str
) -> None:
    """As the real ones send it: 0.129 and 0.130 count it, 0.131, 0.132 and 0.133 do not."""
    rollout = Rollout(tmp_path, cli_version=f"0.{version}.0")
    Turns(rollout, version).add("a b WARNING c <2")
    assert in_short(texts(rollout.opened())) == left
