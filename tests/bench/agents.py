"""Figures of sessions of other agents: opened whole, beside decoding their lines. Made of recorded ones, again and again."""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from leafward.agents.registry import agent_named
from tests.bench import references
from tests.bench.report import ROUNDS, Report, median, seconds
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterator

BAR = 0.9
"""One and a half times what a session of pi may take."""
_OUTPUTS = {"codex": (0, 0, 300, 1_500, 3_000, 12_000), "claude": (0, 0, 750, 3_750, 7_500, 30_000)}
"""Characters that the output of a call grows by, for Claude Code also its input: what programs print, and models write,
differs that much. Lines come to 2.8 KB that way: transcripts of more than 100 MB that people told of have 2.9, 6 and 12 KB a
line (anthropics/claude-code#23373, #79196, #21022)."""
_ID = re.compile(rb'(?<=["_])[0-9a-f]{8}(?=[0-9a-f-]{12,28}")')
_COMPACTED = (b'"type":"compacted"', b'"compact_boundary"')
_GROWING = (b"function_call_output", b'"tool_result"', b'"type":"tool_use","id"')
_CALL = re.compile(rb'"(?:tool_use_id|call_id)":"([^"]+)"')
_NAMED = re.compile(rb',"uuid":"([0-9a-f-]{36})"')

AGENTS = ("codex", "claude")


def _longest(folder: Path) -> list[bytes]:
    """The lines of the longest session without a compaction: nobody compacts a thousand times."""
    every = (path.read_bytes() for path in sorted(folder.rglob("*.jsonl")))
    plain = (data for data in every if not any(mark in data for mark in _COMPACTED))
    return max((data.splitlines(keepends=True) for data in plain), key=len)


def _grown(value: object, text: str) -> bool:
    """Adds to the first text inside a decoded value that a program or the model wrote."""
    if isinstance(value, dict):
        for key in ("output", "content", "stdout", "originalFile", "command", "new_string"):
            if isinstance(value.get(key), str):
                value[key] += text
                return True
        return any(_grown(item, text) for item in value.values())
    return isinstance(value, list) and any(_grown(item, text) for item in value)


def _parts(body: dict[str, Any]) -> list[object]:
    """Where a row holds what a program printed: Claude Code writes what the model gets, and beside it what it shows."""
    return [body["message"], body.get("toolUseResult")] if "message" in body else [body]


def _other(again: int, kept: set[bytes], found: re.Match[bytes]) -> bytes:
    """The beginning of an id in another round."""
    return found[0] if found[0] in kept else b"%08x" % (int(found[0], 16) ^ again * 0x9E3779B1 & 0xFFFFFFFF)


def _lines(lines: list[bytes], head: int, size: int, outputs: tuple[int, ...]) -> Iterator[bytes]:
    """The head once, then the rest until there are so many bytes."""
    chance = random.Random(3)
    made = 0
    again = 0
    printed = [f'line {number}: \u2713 "done"\n' for number in range(1_880)]
    printed += ['max_size = {"a": [1]}\n'] * 100 + ["Usage: run [-U]\n"] * 20
    named = Counter(name for line in lines for name in set(_ID.findall(line)))
    # What is on every other line is the session's own id.
    kept = {name for name, count in named.items() if count > len(lines) / 2}
    grows = [any(mark in line for mark in _GROWING) for line in lines]
    tip = b""
    yield from lines[:head]
    while made < size:
        again += 1
        first = True
        said: dict[bytes, str] = {}
        for line, growing in zip(lines[head:], grows[head:], strict=True):
            if growing:
                body = orjson.loads(line)
                call = _CALL.search(line)
                text = said.get(call[1]) if call is not None else None
                if text is None:
                    text = "".join(chance.choices(printed, k=chance.choice(outputs) // 20))
                if call is not None:
                    # The same result stands in a recorded request once more.
                    said[call[1]] = text
                for part in _parts(body):
                    _grown(part, text)
                line = orjson.dumps(body) + b"\n"
            line = _ID.sub(partial(_other, again, kept), line)
            if first and line.startswith(b'{"parentUuid":null'):
                # The first row of every round follows the last one of the round before.
                line = line.replace(b"null", b'"%s"' % tip, 1) if tip else line
                first = False
            if (row := _NAMED.search(line)) is not None:
                tip = row[1]
            made += len(line)
            yield line


def write_rollout(folder: Path, size: int) -> Path:
    """A rollout of Codex of about so many bytes."""
    name = "rollout-2026-11-21T10-00-00-01a1ffe0-0000-7000-8000-00000000aaaa.jsonl"
    path = folder / "codex" / "sessions" / "2026" / "11" / "21" / name
    lines = _longest(CORPORA / "codex" / "v0.169.0")
    return _written(path, _lines(lines, 1, size, _OUTPUTS["codex"]))


def write_transcript(folder: Path, size: int) -> Path:
    """A transcript of Claude Code of about so many bytes."""
    path = folder / "claude" / "projects" / "-tmp-demo-project" / "d379888c-ffba-457b-bedd-142b9bb27a47.jsonl"
    lines = _longest(CORPORA / "claude" / "v2.1.330")
    return _written(path, _lines(lines, 0, size, _OUTPUTS["claude"]))


def _written(path: Path, lines: Iterator[bytes]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.writelines(lines)
    return path


def _open(name: str, path: Path) -> None:
    agent_named(name).open(path).close()


def opening(report: Report, folder: Path, size: int) -> None:
    """Each agent's session opened, beside `orjson.loads` over its lines; and the memory that takes."""
    if not CORPORA.is_dir():
        report.skipped("sessions of other agents", "there are no recorded ones to make them of")
        return
    for name, write in zip(AGENTS, (write_rollout, write_transcript), strict=True):
        path = write(folder, size)
        taken, decoding = [], []
        for number in range(ROUNDS + 1):
            opened = seconds(partial(_open, name, path))
            reference = references.decode_all(path)
            if number:
                taken.append(opened)
                decoding.append(reference)
        megabytes = path.stat().st_size >> 20
        report.ratio(
            f"a session of {name} opened, {megabytes} MB",
            median(taken),
            "orjson.loads over the lines",
            median(decoding),
            BAR,
        )
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.agents", name, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        entries, grown = map(int, done.stdout.split())
        report.limit(f"memory an entry takes, {name}, {entries:,} entries", grown / entries, "B", None)


def opening_short_lines(report: Report, folder: Path, size: int) -> None:
    """A transcript of Claude Code whose tools print little: its rows are as the recorded ones are."""
    if not CORPORA.is_dir():
        report.skipped("a transcript with short lines", "there are no recorded ones to make it of")
        return
    path = (
        folder
        / "claude-short"
        / "projects"
        / "-tmp-demo-project"
        / "d379888c-ffba-457b-bedd-142b9bb27a47.jsonl"
    )
    _written(path, _lines(_longest(CORPORA / "claude" / "v2.1.330"), 0, size, (0,)))
    taken, decoding = [], []
    for number in range(ROUNDS + 1):
        opened = seconds(partial(_open, "claude", path))
        reference = references.decode_all(path)
        if number:
            taken.append(opened)
            decoding.append(reference)
    report.ratio(
        f"a session of claude with short lines opened, {path.stat().st_size >> 20} MB",
        median(taken),
        "orjson.loads over the lines",
        median(decoding),
        1.0,
    )


def _peak() -> int:
    """Bytes of memory that this process held at most. What its parent held counts in `ru_maxrss`, where there is no `/proc`."""
    try:
        said = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(said.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    before = _peak()
    with closing(agent_named(sys.argv[1]).open(Path(sys.argv[2]))) as session:
        print(len(session), _peak() - before)
