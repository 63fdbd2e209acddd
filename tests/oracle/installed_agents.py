"""The real agents that the environment names, and the marks of tests that need them.

`LEAFWARD_PI` is the folder of an unpacked pi package, which runs in the node of `LEAFWARD_NODE` or of the search path.
`LEAFWARD_CODEX` is a binary of Codex. `LEAFWARD_CLAUDE` and `LEAFWARD_OPENCODE` are programs, several with colons between them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.oracle.resume import find_node

if TYPE_CHECKING:
    from pathlib import Path


def _programs(variable: str) -> list[str]:
    return [one for one in os.environ.get(variable, "").split(os.pathsep) if one]


NODE = find_node() or ""
PI = os.environ.get("LEAFWARD_PI", "")
CODEX = os.environ.get("LEAFWARD_CODEX", "")
CLAUDE = _programs("LEAFWARD_CLAUDE")
OPENCODE = _programs("LEAFWARD_OPENCODE")

needs_pi = pytest.mark.skipif(not (PI and NODE), reason="LEAFWARD_PI names no pi package, or node is missing")
needs_codex = pytest.mark.skipif(not CODEX, reason="LEAFWARD_CODEX names no binary of Codex")
needs_claude = pytest.mark.skipif(not CLAUDE, reason="LEAFWARD_CLAUDE names no program")
needs_opencode = pytest.mark.skipif(not OPENCODE, reason="LEAFWARD_OPENCODE names no program")
each_claude = pytest.mark.parametrize("program", CLAUDE or ["claude"])
each_opencode = pytest.mark.parametrize("program", OPENCODE or ["opencode"])


def pi_surroundings(home: Path, url: str) -> dict[str, str]:
    """The environment of a pi that asks the server at `url`, and keeps 60 tokens at a compaction; its settings are written."""
    agent = home / "agent"
    agent.mkdir(parents=True)
    limits = {"contextWindow": 100_000, "maxTokens": 8_000}
    free = {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    pear = {"id": "pear-1", "name": "Pear", "reasoning": False, "input": ["text"], **limits, **free}
    grove = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none"}
    (agent / "models.json").write_text(json.dumps({"providers": {"grove": {**grove, "models": [pear]}}}))
    settings = {"defaultProvider": "grove", "defaultModel": "pear-1", "retry": {"enabled": False}}
    (agent / "settings.json").write_text(json.dumps({**settings, "compaction": {"keepRecentTokens": 60}}))
    quiet = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PI_CODING_AGENT_DIR": str(agent), **quiet}
