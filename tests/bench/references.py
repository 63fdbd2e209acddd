"""References of the figures, measured in the same run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from tests.bench.report import median, seconds
from tests.bench.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY_APP = "from textual.app import App\n\n\nclass Empty(App):\n    pass\n\n\nEmpty().run()\n"

_NODE = """
import { readFileSync } from "node:fs";
const [path, rounds] = process.argv.slice(1);
for (let round = 0; round < Number(rounds); round++) {
  const started = performance.now();
  const lines = readFileSync(path, "utf8").split("\\n");
  const split = performance.now();
  let entries = 0;
  for (const line of lines) if (line && JSON.parse(line)) entries++;
  console.log(performance.now() - started, performance.now() - split, entries);
}
"""


_PI_LISTS = """
const [package_, rounds] = process.argv.slice(1);
const { SessionManager } = await import(`${package_}/dist/bundle/index.js`);
for (let round = 0; round < Number(rounds); round++) {
  const started = performance.now();
  const listed = await SessionManager.listAll();
  console.log(performance.now() - started, listed.length);
}
"""


def pi() -> str | None:
    """The folder of pi's package, where one is named and node is there."""
    named = os.environ.get("LEAFWARD_PI")
    return named if named and node() is not None else None


def pi_lists(package: str, agent_folder: Path, rounds: int) -> tuple[float, int]:
    """Seconds that pi takes to list the sessions below its folder, and how many it found."""
    done = subprocess.run(
        [node() or "node", "--input-type=module", "-e", _PI_LISTS, package, str(rounds)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PI_CODING_AGENT_DIR": str(agent_folder), "PI_OFFLINE": "1"},
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    return median([float(row[0]) for row in rows]) / 1000, int(rows[-1][1])


def decode_all(path: Path) -> float:
    """Seconds for `orjson.loads` over every line of a file, as it is read; nothing is kept."""

    def work() -> None:
        loads = orjson.loads
        with path.open("rb") as file:
            for line in file:
                loads(line)

    return seconds(work)


def decode_lines(path: Path) -> float:
    """The same over lines that are in memory already."""
    lines = path.read_bytes().splitlines()

    def work() -> None:
        for line in lines:
            orjson.loads(line)

    return seconds(work)


def node() -> str | None:
    """The command of node, where it is installed."""
    return os.environ.get("LEAFWARD_NODE") or shutil.which("node")


def node_decode_all(command: str, path: Path, rounds: int) -> tuple[float, float]:
    """Seconds that node takes for `JSON.parse` over every line of a file: with reading and splitting it, and without."""
    done = subprocess.run(
        [command, "--input-type=module", "-e", _NODE, str(path), str(rounds)],
        check=True,
        capture_output=True,
        text=True,
    )
    times = [line.split() for line in done.stdout.splitlines()]
    return median([float(row[0]) for row in times]) / 1000, median([float(row[1]) for row in times]) / 1000


def command() -> list[str]:
    """The command `leafward` of the environment this runs in."""
    script = Path(sys.executable).with_name("leafward")
    return [str(script)] if script.exists() else [sys.executable, "-m", "leafward_tui"]


def environment(home: Path) -> dict[str, str]:
    """Environment of a measured program: folders of its own, a terminal of many colours, and compiled modules kept there."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("LEAFWARD_", "TEXTUAL_"))
    }
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    kept.pop("NO_COLOR", None)
    return {
        **kept,
        "HOME": str(home),
        "LEAFWARD_HOME": str(home / "leafward"),
        "PI_CODING_AGENT_DIR": str(home / ".pi" / "agent"),
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
        "TEXTUAL_ANIMATIONS": "none",
    }


def empty_app(given: Mapping[str, str]) -> float:
    """Seconds from the command to the first frame of a Textual application without anything in it."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY_APP)
        with Screen([sys.executable, str(script)], given) as screen:
            return screen.first_frame()
