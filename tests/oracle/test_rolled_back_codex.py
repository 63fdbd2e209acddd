"""The real Codex, resumed in threads with rollbacks: it sends the context that Leafward shows.

Runs where ``LEAFWARD_CODEX`` names the binary (0.80, 0.101, 0.116, 0.118, 0.125, 0.142 and 0.171 were used); skipped elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.codex_rollout import THREADS, Rollout
from tests.codex_turns import ROLLBACKS, Turns, in_short, is_told, texts_sent
from tests.foreign_sessions import texts
from tests.oracle.codex import Codex, Script, endpoint
from tests.oracle.installed_agents import CODEX, needs_codex

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_codex

NEW = "Thank you"
_LAST = 142
"""A newer version goes on in threads of this one; those that it begins know no rollback."""
_RESTORES = 150
"""From about here on a rollback past a compaction brings back what that replaced, which Leafward says and does not show."""

_NOTES = 81


def told(items: list[dict[str, Any]]) -> str:
    """The messages of a request that are in the thread, without those that Codex puts in anew."""
    return in_short([text for text in texts_sent(items) if text != NEW and is_told(text)])


@pytest.mark.parametrize("case", ROLLBACKS)
def test_it_sends_what_leafward_shows(tmp_path: Path, case: str) -> None:
    script = Script()
    with endpoint(script) as url:
        codex = Codex(tmp_path / ".codex", tmp_path / "orchard", script, CODEX)
        codex.configure(url)
        runs = int(codex.version().split(".")[1])
        version = min(runs, _LAST)
        if runs >= _RESTORES and "{" in case:
            pytest.skip("it sends what was said before the compaction")
        rollout = Rollout(
            codex.home,
            cli_version=f"0.{version}.0",
            cwd=str(codex.folder),
            model_provider="fake",
            source="cli",
        )
        if version < _NOTES and "!" in case:
            pytest.skip("it writes no note of a stopped turn")
        Turns(rollout, version).add(case)
        shown = in_short(texts(rollout.opened()))
        sent = codex.resume(THREADS[0], NEW)[0]["input"]
        assert told(sent) == shown
