"""A store of sessions for the picture of the catalogue: the demo, and a few weeks of invented ones around it.

They are written by a recorder, so that times, usage and sizes are what pi would have stored; the prompt of the system is the demo's.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from leafward.export.demo import store_folder
from screenshots.recorder import Recorder, bash, edit, read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from screenshots.pi_arithmetic import Entry

HOME = "/home/ada"

AFTERWARDS = (
    "and the tests?",
    "show me the diff",
    "no, smaller. only what the ticket asks for",
    "why did that pass before?",
    "run it again with the real data",
    "ok. commit",
    "what else reads this file?",
    "rename it, the word is wrong",
    "is there a simpler way?",
    "undo that and try the other one",
)
REPLIES = (
    "Done. One place needed it, and a test holds it now.",
    "The check was made twice; the second one is gone.",
    "It fails on the old code and passes on the new one.",
    "Two callers. Both get the same value as before.",
    "Yes: the loop reads every row although one query is enough.",
)


@dataclass(frozen=True)
class Invented:
    """What the catalogue is to show of a session."""

    folder: str
    prompt: str
    ago: timedelta
    """From the last message to the moment of the picture."""
    turns: int
    file: str
    kilobytes: int
    """Of files read, which is what fills the context."""
    name: str | None = None
    branches: int = 0
    compactions: int = 0
    forks: Sequence[Invented] = ()


SESSIONS = (
    Invented("work/hopper", "why does make check take four minutes on CI and two seconds here?", timedelta(hours=5),
             11, "tests/test_store.py", 60, name="CI takes four minutes", branches=1),
    Invented("work/hopper", "what would it take to support Postgres as well? no code, a list", timedelta(days=1, hours=2),
             4, "src/hopper/store.py", 44),
    Invented("work/storefront", "an Irish customer cannot check out: Eircode is refused as a postcode", timedelta(minutes=41),
             26, "src/checkout/address.ts", 130, name="Checkout refuses Eircodes", branches=3, compactions=1,
             forks=(
                 Invented("work/storefront", "same fix for the address book, other screen", timedelta(hours=3), 7,
                          "src/account/addresses.ts", 52),
                 Invented("work/storefront", "instead: one table of formats per country", timedelta(hours=22), 12,
                          "src/checkout/formats.ts", 71, branches=1),
             )),
    Invented("work/storefront", "receipts in the language of the customer, not of the shop", timedelta(days=2),
             33, "src/mail/receipt.ts", 210, name="Receipts in the customer's language", branches=2, compactions=2),
    Invented("work/storefront", "npm audit shows 3 high. which of them reach us?", timedelta(days=6), 5, "package-lock.json", 96),
    Invented("src/fieldnotes", "notes imported from CSV are an hour off since October", timedelta(hours=7),
             18, "fieldnotes/importing.py", 88, name="Import keeps the time zone", branches=1,
             forks=(Invented("src/fieldnotes", "property tests for the import", timedelta(hours=6), 9,
                             "tests/test_importing.py", 40),)),
    Invented("src/fieldnotes", "what happens to a note that two phones edit offline?", timedelta(days=3), 6, "docs/sync.md", 37),
    Invented("src/fieldnotes", "map view: 4000 pins take 2 s to draw", timedelta(days=9), 21, "fieldnotes/web/map.js", 150,
             name="Faster map", branches=4, compactions=1),
    Invented("dotfiles", "zsh takes 900 ms to start. find out what does", timedelta(days=4), 8, "zshrc", 24,
             name="zsh in 80 ms"),
)  # fmt: skip


def make_store(root: Path, demo: bytes, now: datetime) -> Path:
    """Writes the sessions under `root` and returns the demo's file there."""
    header, *entries = map(json.loads, demo.splitlines())
    system = next(one["message"] for one in entries if one.get("message", {}).get("role") == "system")
    stamp = header["timestamp"].replace(":", "-").replace(".", "-")
    path = root / store_folder(header["cwd"]) / f"{stamp}_{header['id']}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(demo)
    touch(path, now - timedelta(minutes=2))
    for number, session in enumerate(SESSIONS):
        _write(root, session, system, now, 10 * number)
    return path


def touch(path: Path, moment: datetime) -> None:
    """Sets when the file was written."""
    os.utime(path, (moment.timestamp(), moment.timestamp()))


def _write(
    root: Path, session: Invented, system: Entry, now: datetime, seed: int, parent: Path | None = None
) -> None:
    recorder = _played(session, system, now, seed)
    path = (
        root
        / store_folder(recorder.cwd)
        / f"{recorder.iso().replace(':', '-').replace('.', '-')}_{seed:04d}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    header, _, rest = recorder.lines().partition("\n")
    if parent is not None:
        header = json.dumps(json.loads(header) | {"parentSession": str(parent)}, separators=(",", ":"))
    path.write_text(f"{header}\n{rest}", encoding="utf-8", newline="\n")
    touch(path, now - session.ago)
    for number, fork in enumerate(session.forks, 1):
        _write(root, fork, system, now, seed + number, path)


def _played(session: Invented, system: Entry, now: datetime, seed: int) -> Recorder:
    """The session, begun so early that it ends when it should."""
    end = now - session.ago
    once = _play(session, system, end, seed)
    return _play(session, system, end - (datetime.fromtimestamp(once.now / 1000, UTC) - end), seed)


def _play(session: Invented, system: Entry, begun: datetime, seed: int) -> Recorder:
    rng = random.Random(seed)
    line = "    total += row.amount if row.kind in KINDS else 0  # {}\n"
    text = "".join(line.format(number) for number in range(session.kilobytes * 1024 // len(line)))
    recorder = Recorder(seed=seed, start=begun, cwd=f"{HOME}/{session.folder}", files={session.file: text})
    recorder.model_change(rng.choice(("claude-sonnet-4-5", "claude-opus-4-5")))
    recorder.system(system["sections"], system["toolsAdded"])
    if session.name:
        recorder.name(session.name)
    lines = text.count("\n")
    branch_at = _spread(session.branches, session.turns)
    compact_at = _spread(session.compactions, session.turns)
    for turn in range(session.turns):
        recorder.user(session.prompt if turn == 0 else rng.choice(AFTERWARDS))
        first = turn * lines // session.turns + 1
        recorder.ai(
            read(session.file, first, lines // session.turns), bash("make check", "All checks passed!\n")
        )
        old = f"# {first}\n"
        done = (
            recorder.ai(edit(session.file, (old, f"# {first}, once\n"))) if turn % 3 == 0 else recorder.leaf
        )
        recorder.say(rng.choice(REPLIES))
        if turn in branch_at and done:
            back = recorder.leaf
            recorder.go(done)
            recorder.user("or the other way round?")
            recorder.say("That works too, but then both callers have to know the order.")
            recorder.go(str(back))
        if turn in compact_at:
            _compact(recorder)
    return recorder


def _spread(count: int, turns: int) -> set[int]:
    """Turns after which something happens `count` times."""
    return {(number + 1) * turns // (count + 1) for number in range(count)}


def _compact(recorder: Recorder) -> None:
    summary = "## Goal\nWhat the first prompt asks for.\n\n## Next Steps\n1. Go on where the last turn ended."
    try:
        recorder.compact(summary, keep=6_000)
    except ValueError:
        recorder.compact(summary, prefix="The turn began by reading the file.", keep=6_000)
