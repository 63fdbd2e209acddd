"""Deterministic large sessions in pi's version 3 shape, for measuring.

What a parser pays for is sizes and escapes, so both follow pi's own published sessions: lines of about 0.9 KB in the
middle and 1.3 KB on average with a few long ones, 55 backslashes per KB (tabs, line ends and quotes of source text), a
few letters that are not ASCII, half the bytes in results of tools and nearly half in replies. A branch leaves about every
60 entries, the context is compacted about every 3,000, and 0.2 % of the lines are `custom` entries whose id follows a
payload that itself contains `"id":`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = """
queue retry worker lease token bucket limit window parse schema index cursor leaf path branch merge
import export config theme render width column fixture error stack trace value result class method
property string number boolean array object buffer session header entry reader writer offset batch
stream event handler
""".split()  # noqa: SIM905  # seventy lines of quotes otherwise
_CODE = (
    "const {a} = await {b}.{c}({d}, {{ {a}: {n} }});",
    "if (!{a}.{b} || {c}.length > {n}) {{",
    "return {a}.map(({b}) => {b}.{c});",
    "throw new Error(`{a} {b}: ${{{c}.message}}`);",
    "for (const {a} of this.{b}.{c}()) {{",
    'import {{ {a}, {b} }} from "../{c}/{d}.js";',
    'this.{a}.set("{b}", {c} ?? "{d}");',
    'expect({a}.{b}).toBe("{c} {d}");',
    "private readonly {a}: Map<string, {b}> = new Map();",
    "// the {a} of a {b} is kept until its {c} is read again",
    "}} else if ({a} === {b}.{c}) {{",
    "case '{a}': {b} += {c}[{n}]; break;",
    '"{a}": {{ "{b}": "{c}" }},',
    '<{a} class="{b}" id="{c}">',
    "}}",
    "}});",
    "",
    'logger.debug("{a}\\t{b}", {{ {c}: /^\\s*{d}$/.test({b}) }});',
)
_PUNCTUATION = (*[" "] * 24, ", ", ". ", ". ", ": ", " `", "` ", " → ", "\n\n", "\n- **", "** ")
_TOOLS = ("read", "bash", "edit", "read", "bash", "edit", "write")
FILES = 500
"""Files that calls of a long session name."""
_FIRST_TIME = 1_767_600_000_000


def _code(rng: random.Random, size: int) -> str:
    """About `size` characters of source text, indented with tabs."""
    lines: list[str] = []
    length = depth = 0
    while length < size:
        a, b, c, d = rng.choices(WORDS, k=4)
        line = rng.choice(_CODE).format(a=a, b=b, c=c, d=d, n=rng.randrange(10_000))
        depth = max(1, min(4, depth + line.endswith("{") - line.startswith("}")))
        lines.append("\t" * depth + line if line else "")
        length += len(lines[-1]) + 1
    return "\n".join(lines)


def _prose(rng: random.Random, size: int) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        parts += (rng.choice(WORDS), rng.choice(_PUNCTUATION))
        length += len(parts[-1]) + len(parts[-2])
    return "".join(parts).strip()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _object(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _paths(rng: random.Random) -> list[str]:
    """The files of a project, each once."""
    found: dict[str, None] = {}
    while len(found) < FILES:
        found[f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}-{rng.choice(WORDS)}.ts"] = None
    return list(found)


def _diff(rng: random.Random, size: int) -> str:
    """About `size` characters of a diff as pi tells it: a sign, the line's number, the line."""
    code = _code(rng, size).split("\n")
    return "\n".join(f"{rng.choice('  +-')}{number:3} {line}" for number, line in enumerate(code, 90))


def _size(rng: random.Random) -> int:
    """A body's characters: 450 in the middle, 1 KB on average, 32 KB at most."""
    return max(24, min(32_000, int(rng.lognormvariate(6.2, 1.25))))


@dataclass(frozen=True, slots=True)
class _Pools:
    """Texts as JSON strings, made once; every line takes some of them."""

    code: list[str]
    diffs: list[str]
    prose: list[str]
    prompts: list[str]
    calls: dict[str, list[str]]
    """Arguments by tool, as JSON objects."""

    @classmethod
    def fill(cls, rng: random.Random, count: int = 1500) -> _Pools:
        calls: dict[str, list[str]] = {tool: [] for tool in sorted(set(_TOOLS))}
        for number, path in zip(range(count // 2), cycle(_paths(rng)), strict=False):
            old, new = (_code(rng, _size(rng) // 2) for _ in range(2))
            command = f'cd packages/{rng.choice(WORDS)} && npm test -- --grep "{_prose(rng, 20)}" | tail -40'
            calls["read"].append(_object(path=path, offset=number, limit=200))
            calls["bash"].append(_object(command=command))
            calls["edit"].append(_object(path=path, edits=[{"oldText": old, "newText": new}]))
            calls["write"].append(_object(path=path, content=_code(rng, 2 * _size(rng))))
        return cls(
            [_quoted(_code(rng, _size(rng))) for _ in range(count)],
            [_quoted(_diff(rng, _size(rng))) for _ in range(count)],
            [_quoted(_prose(rng, _size(rng) // 4)) for _ in range(count)],
            [_quoted(_prose(rng, 30 + _size(rng) // 4)) for _ in range(count)],
            calls,
        )


class _Writer:
    """Entries one after the other, each a child of the last one unless a branch leaves."""

    def __init__(self, rng: random.Random, pools: _Pools, began: int) -> None:
        self.rng = rng
        self.began = began
        """Milliseconds since 1970 of the first message. Two sessions that begin alike at one moment are copies."""
        self.pools = pools
        self.ids: list[str] = []
        self._taken: set[str] = set()
        self.turn_left = 0
        """Entries until the next prompt."""
        self.called = ""
        """The tool that the last reply called; empty where it called none."""
        self.context = 0
        """Tokens that a reply would report."""

    def line(self, number: int, parent: str | None, *, compacts: bool) -> str:
        rng, pools = self.rng, self.pools
        entry = f"{rng.getrandbits(32):08x}"
        while entry in self._taken:
            entry = f"{rng.getrandbits(32):08x}"
        self._taken.add(entry)
        above = self.ids[-1] if self.ids else entry
        self.ids.append(entry)
        seconds, milliseconds = divmod(number * 7919, 1000)
        stamp = f"2026-01-{5 + seconds // 86_400 % 20:02d}T{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{milliseconds:03d}Z"
        at = self.began + number * 7919
        link = "null" if parent is None else f'"{parent}"'
        head = f'"id":"{entry}","parentId":{link},"timestamp":"{stamp}"'
        if compacts:
            self.context = 0
            kept = self.ids[-min(len(self.ids), 30)]
            return (
                f'{{"type":"compaction",{head},"summary":{rng.choice(pools.prose)},"firstKeptEntryId":"{kept}",'
                f'"tokensBefore":{150_000 + number % 30_000}}}'
            )
        odd = rng.random()
        if odd < 0.002:
            return f'{{"type":"custom","customType":"bench","data":{{"id":"deadbeef","text":{rng.choice(pools.prompts)}}},{head}}}'
        if odd < 0.006:
            return f'{{"type":"thinking_level_change",{head},"thinkingLevel":"{rng.choice(("off", "low", "high"))}"}}'
        if odd < 0.0065:
            return f'{{"type":"label",{head},"targetId":"{above}","label":"{rng.choice(WORDS)}"}}'
        self.turn_left -= 1
        if self.turn_left < 0:
            self.turn_left, self.called = rng.randint(2, 20), ""
            text = f'[{{"type":"text","text":{rng.choice(pools.prompts)}}}]'
            return (
                f'{{"type":"message",{head},"message":{{"role":"user","content":{text},"timestamp":{at}}}}}'
            )
        if self.called:
            tool, self.called = self.called, ""
            text = rng.choice(pools.code if tool in ("read", "bash") else pools.prose)
            details = f'"details":{{"diff":{rng.choice(pools.diffs)}}},' if tool == "edit" else ""
            return (
                f'{{"type":"message",{head},"message":{{"role":"toolResult","toolCallId":"call_{above}",'
                f'"toolName":"{tool}","content":[{{"type":"text","text":{text}}}],{details}"isError":'
                f'{"true" if rng.random() < 0.03 else "false"},"timestamp":{at}}}}}'
            )
        return self._reply(entry, head, at)

    def _reply(self, entry: str, head: str, at: int) -> str:
        rng, pools = self.rng, self.pools
        blocks = []
        if rng.random() < 0.05:
            blocks.append(
                f'{{"type":"thinking","thinking":{rng.choice(pools.prose)},"thinkingSignature":""}}'
            )
        if self.turn_left <= 1 or rng.random() < 0.5:
            blocks.append(f'{{"type":"text","text":{rng.choice(pools.prose)}}}')
        if self.turn_left > 1:
            self.called = rng.choice(_TOOLS)
            arguments = rng.choice(pools.calls[self.called])
            blocks.append(
                f'{{"type":"toolCall","id":"call_{entry}","name":"{self.called}","arguments":{arguments}}}'
            )
        self.context += 350
        fresh, out = self.context % 900, self.context % 700
        return (
            f'{{"type":"message",{head},"message":{{"role":"assistant","content":[{",".join(blocks)}],'
            f'"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":{fresh},'
            f'"output":{out},"cacheRead":{self.context},"cacheWrite":0,"totalTokens":{self.context + fresh + out},'
            f'"cost":{{"input":0.000{fresh + 7},"output":0.00{out + 3},"cacheRead":0.0{self.context % 4000 + 1},'
            f'"cacheWrite":0,"total":0.0{self.context % 7000 + 9}}}}},'
            f'"stopReason":"{"toolUse" if self.called else "stop"}","timestamp":{at}}}}}'
        )


def lines(
    entries: int,
    *,
    seed: int = 7,
    branch_every: int = 60,
    compact_every: int = 3000,
    cwd: str = "/home/ada/bench",
) -> Iterator[str]:
    """The lines of a session of `entries` entries, header first, without line ends. 0 for `…_every` means never."""
    rng = random.Random(seed)
    writer = _Writer(rng, _pools(), _FIRST_TIME + seed)
    session = f"019a0000-0000-7000-8000-{seed:012x}"
    yield f'{{"type":"session","version":3,"id":"{session}","timestamp":"2026-01-05T08:00:00.000Z","cwd":"{cwd}"}}'
    ids = writer.ids
    for number in range(entries):
        parent = ids[-1] if ids else None
        if branch_every and ids and rng.random() < 1 / branch_every:
            parent = ids[max(0, len(ids) - rng.randint(2, 40))]
            writer.turn_left, writer.called = 0, ""
        yield writer.line(
            number, parent, compacts=bool(compact_every) and number % compact_every == compact_every - 1
        )


_made: list[_Pools] = []


def _pools() -> _Pools:
    """The texts, made once a process and the same in each."""
    if not _made:
        _made.append(_Pools.fill(random.Random(7)))
    return _made[0]


def write_session(
    path: Path,
    entries: int,
    *,
    seed: int = 7,
    branch_every: int = 60,
    compact_every: int = 3000,
    cwd: str = "/home/ada/bench",
) -> None:
    """Writes a session of `entries` entries (header not counted) to `path`."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines(
            entries, seed=seed, branch_every=branch_every, compact_every=compact_every, cwd=cwd
        ):
            out.write(line + "\n")


def write_store(folder: Path, sessions: int, *, seed: int = 11, entries: tuple[int, int] = (20, 200)) -> None:
    """Writes a store of many sessions of so many entries, in projects of about forty, as pi lays them out."""
    rng = random.Random(seed)
    project = ""
    for number in range(sessions):
        if number % 40 == 0:
            project = f"/home/ada/{rng.choice(WORDS)}-{number // 40}"
        below = folder / f"--{project.strip('/').replace('/', '-')}--"
        below.mkdir(parents=True, exist_ok=True)
        name = (
            f"2026-01-{1 + number % 28:02d}T08-00-00-000Z_019a0000-0000-7000-8000-{seed + number:012x}.jsonl"
        )
        write_session(below / name, rng.randint(*entries), seed=seed + number, compact_every=0, cwd=project)


def main(argv: list[str]) -> int:
    """`generate.py ENTRIES FILE` writes one session."""
    parser = argparse.ArgumentParser(description="write a large session for measuring")
    parser.add_argument("entries", type=int)
    parser.add_argument("file", type=Path)
    given = parser.parse_args(argv)
    write_session(given.file, given.entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
