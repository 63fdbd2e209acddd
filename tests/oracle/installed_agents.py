"""The real agents that the environment names, and the marks of tests that need them.

`LEAFWARD_PI` is the folder of an unpacked pi package, which runs in the node of `LEAFWARD_NODE` or of the search path.
`LEAFWARD_CODEX` is a binary of Codex. `LEAFWARD_CLAUDE` and `LEAFWARD_OPENCODE` are programs, several with colons between them.
"""

from __future__ import annotations

import os

import pytest

from tests.oracle.resume import find_node


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
