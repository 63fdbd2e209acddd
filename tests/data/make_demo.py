"""Makes the bundled demo session: writes core/leafward/data/demo.jsonl, or with `-` to standard output.

The session is invented: an engineer, an agent and one working day on `hopper`, a job queue in a SQLite file. The
output depends on nothing but these modules, so that a test can compare it with the shipped file byte for byte.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import demo_afternoon
import demo_midday
import demo_morning
import demo_project
from demo_recorder import Recorder
from demo_system import SECTIONS, TOOLS

TARGET = Path(__file__).parents[2] / "core" / "leafward" / "data" / "demo.jsonl"
CWD = "/home/ada/work/hopper"


def record() -> Recorder:
    """Play the whole day."""
    start = datetime(2026, 11, 17, 8, 52, 14, 306_000, UTC)
    rec = Recorder(seed=17, start=start, cwd=CWD, files=demo_project.FILES)
    rec.model_change("claude-sonnet-4-5")
    rec.thinking_change("medium")
    rec.system(SECTIONS, TOOLS)
    demo_morning.play(rec)
    demo_midday.play(rec)
    demo_afternoon.play(rec)
    return rec


def render() -> str:
    """The file's text."""
    return record().lines()


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.buffer.write(render().encode())
    else:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_text(render(), encoding="utf-8", newline="\n")
