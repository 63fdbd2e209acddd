"""Makes the bundled demo session: writes core/leafward/data/demo.jsonl, or with `-` to standard output.

The session is invented: an engineer, an agent and one working day on `hopper`, a job queue in a SQLite file. The
output depends on nothing but these modules, so that a test can compare it with the shipped file byte for byte.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "core" / "leafward" / "data" / "demo.jsonl"
CWD = "/home/ada/work/hopper"


def render() -> str:
    """Play the whole day; the file's text."""
    from tests.data import demo_afternoon, demo_midday, demo_morning, demo_project
    from tests.data.demo_recorder import Recorder
    from tests.data.demo_system import SECTIONS, TOOLS

    start = datetime(2026, 11, 17, 8, 52, 14, 306_000, UTC)
    rec = Recorder(seed=17, start=start, cwd=CWD, files=demo_project.FILES)
    rec.model_change("claude-sonnet-4-5")
    rec.thinking_change("medium")
    rec.system(SECTIONS, TOOLS)
    demo_morning.play(rec)
    demo_midday.play(rec)
    demo_afternoon.play(rec)
    return rec.lines()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if sys.argv[1:] == ["-"]:
        sys.stdout.buffer.write(render().encode())
    else:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(render(), encoding="utf-8", newline="\n")
