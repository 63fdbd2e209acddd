"""Rebuilt contents against files that the agents' real tools wrote: pi's, and the program that applies Codex's patches."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.tools import CODEX_TOOLS
from leafward.files.file_replay.knowledge import Certainty, FileState
from leafward.files.file_replay.replay import Rebuilt, replay
from leafward.files.file_replay.steps import requests_in
from leafward.session.entries import EntryIndex, ToolCall
from tests.acting import Acting, call, reading
from tests.oracle.installed_agents import CODEX, NODE, PI, needs_codex, needs_pi

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent

WORDS = (
    "one", "two", "two ", "  two", "", "“quoted” — so", "a\u00a0b", "def f():", "    return 1", "x\ry", "ﬁn", "\tend",
)  # fmt: skip
NAMES = ("a.py", "src/b.txt")


def some_text(rng: random.Random) -> str:
    lines = [rng.choice(WORDS) for _ in range(rng.randint(0, 12))]
    ends = rng.choice(KINDS)
    text = "".join(f"{line}{rng.choice(ends)}" for line in lines)
    return rng.choice(("", "", "", "\ufeff")) + (text.rstrip("\r\n") if rng.random() < 0.2 else text)


KINDS = (("\n",), ("\n",), ("\n",), ("\r\n",), ("\n", "\r\n"))


class Tools:
    """The real tools of pi in a folder; what they answer is recorded as pi records it."""

    def __init__(self, folder: Path, session: Path) -> None:
        folder.mkdir()
        self.folder = folder
        header = {"type": "session", "version": 3, "id": "tools", "timestamp": "2026-11-21T21:18:10Z"}
        self.file = Acting(session, {**header, "cwd": str(folder)})
        self.file.user("begin")
        words = [NODE, str(HERE / "tools.mjs"), PI, str(folder)]
        env = {**os.environ, "HOME": str(folder.parent)}
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.number = 0

    def do(self, tool: str, **arguments: Any) -> None:
        self.number += 1
        name = f"call-{self.number}"
        self.file.said(call(tool, name, **arguments))
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"id": name, "tool": tool, "args": arguments}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        failed = answer.pop("isError")
        self.file.answered(name, tool, failed=failed, **answer)

    def text(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_bytes().decode() if path.is_file() else None


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    made = Tools(tmp_path / "work", tmp_path / "s.jsonl")
    with made.process:
        yield made


def assert_true(found: Rebuilt | FileState, text: str | None) -> None:
    """Every statement about a file is true."""
    if found.certainty is Certainty.ABSENT:
        assert text is None
    if found.certainty is Certainty.EXACT:
        assert found.text == text
    lines = (text or "").split("\n")
    for span in found.spans:
        assert tuple(lines[span.first - 1 : span.after - 1]) == span.lines
    if found.text is None and found.total is not None:
        assert found.total == len(lines)
    for piece in found.pieces:
        # How its lines end is not said.
        assert _ends_aside(piece) in _ends_aside(text or "")


def _ends_aside(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def edits_of(rng: random.Random, text: str) -> list[dict[str, str]]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    made = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        old = "\n".join(lines[at : at + rng.randint(1, 3)])
        if rng.random() < 0.3:
            old = old[rng.randint(0, 2) :]
        if rng.random() < 0.15:
            old = old.replace("“", '"').replace("”", '"').replace("—", "-").rstrip()
        new = rng.choice(("", "new", "new\nand more\n", old + "\nafter", "x \n”y”"))
        made.append({"oldText": old, "newText": new})
    return made


@needs_pi
@pytest.mark.parametrize("seed", range(12))
def test_what_pi_left_is_what_is_rebuilt(tools: Tools, seed: int) -> None:
    rng = random.Random(seed)
    states, ends = [], []
    for _ in range(60):
        name = rng.choice(NAMES)
        text = tools.text(name)
        draw = rng.random()
        if text is None or draw < 0.15:
            tools.do("write", path=name, content=some_text(rng))
        elif draw < 0.3:
            part = {"offset": rng.randint(1, text.count("\n") + 1), "limit": rng.randint(1, 5)}
            tools.do("read", path=name, **(part if rng.random() < 0.6 else {}))
        else:
            tools.do("edit", path=name, edits=edits_of(rng, text))
        states.append({one: tools.text(one) for one in NAMES})
        ends.append(str(tools.file.leaf))
    known = 0
    with reading(tools.file.path) as session:
        for end, state in zip(ends, states, strict=True):
            made = replay(session, session.find(end))
            for name, text in state.items():
                assert_true(made.rebuilt(name), text)
                known += made.rebuilt(name).certainty is Certainty.EXACT
    assert known > 20, "hardly anything was rebuilt"


CODE = ("def a():", "def b():", "  x = 1", "  x = 2", "", "end", "  “q” — z", "y  ", "\tt")


def hunk_of(rng: random.Random, lines: list[str]) -> tuple[int, list[str]]:
    """A place of a patch, as a model might write it: now and then with spaces that are not there, or above a line that is nowhere."""
    at = rng.randint(0, len(lines))
    size, around = rng.randint(0, min(3, len(lines) - at)), rng.randint(0, 2)
    above = [line for line in lines[:at] if line.strip()]
    told = ["@@"]
    if rng.random() < 0.35:
        told = [f"@@ {rng.choice(above) if above and rng.random() < 0.9 else 'nowhere'}"]

    def as_told(line: str) -> str:
        return rng.choices((line, f"{line} ", line.strip()), (94, 4, 2))[0]

    told += [f" {as_told(line)}" for line in lines[max(0, at - around) : at]]
    told += [f"-{as_told(line)}" for line in lines[at : at + size]]
    told += [f"+{rng.choice(('new', '  x = 1', 'def a():', ''))}" for _ in range(rng.randint(not size, 2))]
    told += [f" {as_told(line)}" for line in lines[at + size : at + size + around]]
    return at, [*told, *(["*** End of File"] if rng.random() < 0.1 else [])]


@needs_codex
@pytest.mark.parametrize("seed", range(12))
def test_what_codex_left_of_a_patch_is_what_is_rebuilt(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    program, file = tmp_path / "apply_patch", tmp_path / "f.txt"
    program.symlink_to(str(CODEX))
    env = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    applied = known = 0
    for _ in range(40):
        lines = [rng.choice(CODE) for _ in range(rng.randint(0, 14))]
        end = rng.choices(("\n", "\r\n"), (85, 15))[0]
        text = end.join(lines) + (end if lines and rng.random() < 0.8 else "")
        if rng.random() < 0.05:
            text = text.replace("\n", "\r\n", 1)
        hunks = sorted(hunk_of(rng, lines) for _ in range(rng.choice((1, 1, 2, 3))))
        told = "\n".join(line for _, hunk in hunks for line in hunk)
        patch = f"*** Begin Patch\n*** Update File: f.txt\n{told}\n*** End Patch"
        file.write_bytes(text.encode())
        done = subprocess.run([program, patch], cwd=tmp_path, env=env, capture_output=True, check=False)
        if done.returncode:
            continue
        applied += 1
        state = FileState(text=text)
        (one,) = requests_in(ToolCall("c", "apply_patch", {"input": patch}), CODEX_TOOLS)
        state.patched(one.places, EntryIndex(0))
        assert_true(state, file.read_bytes().decode())
        known += state.certainty is Certainty.EXACT
    assert known > applied / 3, "hardly anything was rebuilt"
