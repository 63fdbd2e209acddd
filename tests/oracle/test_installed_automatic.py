"""`leafward install pi`, where pi compacts by itself: at the end of its work, and amid it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.oracle import installed_agents
from tests.oracle.installed_agents import NODE, needs_pi, pi_surroundings
from tests.oracle.open_pi import OpenPi, running
from tests.oracle.scripted_model import Step, scripted
from tests.oracle.test_installed import environment, held, leafward, marks
from tests.oracle.test_onset import USED, _usage

if TYPE_CHECKING:
    from pathlib import Path as Folder

__all__ = ["_usage", "environment"]

LARGE = f"{USED}95000"


@pytest.mark.slow
@needs_pi
@pytest.mark.parametrize("amid", [False, True])
def test_a_compaction_of_pis_own_begins_no_turn_and_the_next_request_has_the_text(
    amid: bool, tmp_path: Folder, environment: dict[str, str]
) -> None:
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    (project / "pears.txt").write_text("conference\n")
    look = ("read", {"path": str(project / "pears.txt")})
    steps = {
        "Carried over unchanged": [Step("Done.")],
        "Fill": [Step(LARGE, (look,) if amid else ())],
        "ummar": [Step("Fruit was looked at.")],
        "Look": [Step("", (look,)), Step("Seen.")],
    }
    with scripted(steps) as model:
        ours = pi_surroundings(home, model.url) | environment
        leafward(ours, "install", "pi")
        argv = [NODE, str(Path(installed_agents.PI) / "dist" / "bundle" / "cli.js"), "--mode", "rpc"]
        with running(argv, project, {**os.environ, **ours}) as process:
            pi = OpenPi(process, Path(), model.requests)
            pi.say("Look at the pears. " + "leaves and branches " * 80)
            since = len(model.requests)
            pi.say("Fill the window. " + "leaves and branches " * 80)
            made = model.requests[since:]
            sent: dict[str, Any] = {"messages": pi.say("Go on with the plums.")}
        (path,) = home.rglob("*.jsonl")
        (compaction,) = (
            one for one in map(json.loads, path.read_text().splitlines()) if one["type"] == "compaction"
        )
        text = leafward(ours, "inject", str(path), "--at", compaction["parentId"])
        replies = [body for body in made if body.get("tools")]
        assert len(made) - len(replies) == 1, "one summary"
        assert [marks(one) for one in replies] == ([0, 1] if amid else [0])
        assert (held(sent, text), marks(sent)) == (1, 1)
