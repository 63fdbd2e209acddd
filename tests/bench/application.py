"""Figures of the application in a pseudo-terminal: start, keys, a session that grows."""

from __future__ import annotations

import json
import shutil
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from leafward.session.session import Session
from tests.bench import references
from tests.bench.generate import lines
from tests.bench.report import ROUNDS, Report, median, p95
from tests.bench.screen import Screen

if TYPE_CHECKING:
    from pathlib import Path

UP, DOWN, PAGE_DOWN = b"k", b"j", b"\x1b[6~"
_LAB, _DRAFTED = b"Compaction lab", b"edit"
"""Titles of the lab, and of the key that a draft brings."""
SETTLED = 0.15
"""Seconds after which what follows the cursor has followed."""
PRICED = 0.35
"""Seconds after which a price is being worked out, which takes longer than that among many entries."""

_MODULES = """
import atexit, sys
atexit.register(lambda: open(sys.argv[2], "w").write("\\n".join(sorted(sys.modules))))
from leafward_tui.__main__ import main
main([sys.argv[1]])
"""


def _shown(entries: int) -> bytes:
    """Text of the title once the rows are there."""
    return f"{entries:,}".encode()


def start(report: Report, path: Path, entries: int, home: Path, bar: float | None) -> None:
    """The command to its first frame, and to the frame in which the rows, lanes and signs are complete."""
    given = references.environment(home)
    command = [*references.command(), str(path)]
    empty, first, last, decoding = [], [], [], []
    for number in range(ROUNDS + 1):
        bare = references.empty_app(given)
        with Screen(command, given) as screen:
            frame = screen.first_frame()
            rows = screen.until(_shown(entries))
        reference = references.decode_all(path)
        if number:  # the first round compiles
            empty.append(bare)
            first.append(frame)
            last.append(rows)
            decoding.append(reference)
    report.ratio(
        f"command to first frame, {entries:,} entries",
        median(first),
        "an empty Textual application",
        median(empty),
        1.3,
    )
    report.ratio(
        f"command to last start frame, {entries:,} entries",
        median(last),
        "orjson.loads over the lines",
        median(decoding),
        bar,
    )


def modules(report: Report, path: Path, entries: int, home: Path) -> None:
    """Modules loaded in a session of looking around and leaving again."""
    told = home / "modules.txt"
    given = references.environment(home)
    with Screen([sys.executable, "-c", _MODULES, str(path), str(told)], given) as screen:
        screen.until(_shown(entries))
        screen.quiet(0.4)
        screen.write(b"\x11")
        deadline = screen.now() + 10
        while not told.exists() and screen.now() < deadline:
            screen.read(0.05)
        time.sleep(0.1)
    loaded = told.read_text().split("\n")
    report.exact("litellm loaded after start and a look around", "litellm" in loaded, wanted=False)


def _press(screen: Screen, key: bytes, times: int, pause: float) -> list[float]:
    """Seconds from each key to the end of the next frame."""
    found = []
    for _ in range(times):
        pressed = screen.write(key)
        found.append(screen.frame() - pressed)
        until = screen.now() + pause
        while (left := until - screen.now()) > 0:
            screen.read(left)
    return found


def _opened_flat(path: Path, entries: int, home: Path) -> Screen:
    """A session with a row for each entry, nothing folded, everything counted, the cursor at the top."""
    screen = Screen([*references.command(), str(path)], references.environment(home))
    # Until then keys only hear that the session is still being read.
    screen.until(_shown(entries))
    screen.quiet(1.0, at_most=300)
    screen.write(b"Z")
    screen.frame()
    screen.quiet(0.5)
    screen.write(b"g")
    screen.frame()
    screen.quiet(0.5)
    return screen


def keys(report: Report, small: Path, large: Path, entries: tuple[int, int], home: Path) -> None:
    """A key to its frame among many rows, beside the same among few."""
    folder = home / "leafward" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.toml"
    config.write_text('density = "entries"\n')
    measured: dict[tuple[int, bytes], list[float]] = {}
    priced: list[float] = []
    try:
        for path, count in zip((small, large), entries, strict=True):
            with _opened_flat(path, count, home) as screen:
                for _ in range(3):
                    for key, times, pause in (
                        (DOWN, 40, 0.033),
                        (DOWN, 15, SETTLED),
                        (PAGE_DOWN, 20, SETTLED),
                    ):
                        measured.setdefault((count, key), []).extend(_press(screen, key, times, pause))
                    screen.write(b"g")
                    screen.quiet(SETTLED)
                if count == max(entries):
                    priced = _press(screen, PAGE_DOWN, 60, PRICED)
    finally:
        config.unlink()
    few, many = entries
    for key, name in ((DOWN, "a row down"), (PAGE_DOWN, "a page down")):
        ours, reference = p95(measured[many, key]), p95(measured[few, key])
        report.limit(f"key to frame, {name}, {many:,} entries: p95", 1000 * ours, "ms", 12)
        report.ratio(f"key to frame, {name}: p95", ours, f"the same at {few:,} entries", reference, 1.3)
        report.ratio(
            f"key to frame, {name}: median",
            median(measured[many, key]),
            f"the same at {few:,} entries",
            median(measured[few, key]),
            None,
        )

    name = f"key to frame while a price is worked out, {many:,} entries: p95"
    report.limit(name, 1000 * p95(priced), "ms", 16)


def keys_while_loading(report: Report, path: Path, entries: int, home: Path) -> None:
    """Keys while the session is read and counted behind the screen."""
    found: list[float] = []
    while len(found) < 60:
        with Screen([*references.command(), str(path)], references.environment(home)) as screen:
            screen.until(_shown(entries))
            found += _press(screen, b"k", 20, 0.05)
    report.limit(f"key to frame while {entries:,} entries load: p95", 1000 * p95(found), "ms", 50)


def keys_while_drafting(report: Report, path: Path, entries: int, home: Path) -> None:
    """Keys in the lab once it stands, while its draft is worked out."""
    found: list[float] = []
    for _ in range(3):
        with Screen([*references.command(), str(path)], references.environment(home)) as screen:
            screen.until(_shown(entries))
            screen.quiet(0.5)
            since = len(screen.output)
            screen.write(b"c")
            screen.until(_LAB, since=since)
            screen.quiet(0.1)
            since = len(screen.output)
            while _DRAFTED not in screen.output[since:]:
                found += _press(screen, UP, 1, 0.033) + _press(screen, DOWN, 1, 0.033)
    report.limit(f"key to frame while a path of {entries:,} is summarised: p95", 1000 * p95(found), "ms", 16)


def following(report: Report, source: Path, entries: int, home: Path) -> None:
    """A line that another program appends, until it is on the screen; and what looking for it costs."""
    path = home / "growing.jsonl"
    shutil.copyfile(source, path)
    appended = [line + "\n" for line in lines(40, seed=99)][1:]
    with closing(Session.open(path)) as session:
        leaf = session.columns.id(session.leaf)
    times = []
    given = references.environment(home)
    with Screen([*references.command(), str(path)], given) as screen:
        screen.until(_shown(entries))
        screen.quiet(1.0)
        idle_for = 5.0
        before = screen.processor_seconds() if sys.platform.startswith("linux") else 0.0
        until = screen.now() + idle_for
        while (left := until - screen.now()) > 0:
            screen.read(left)
        if sys.platform.startswith("linux"):
            share = 100 * (screen.processor_seconds() - before) / idle_for
            report.limit(f"processor while nothing happens, {entries:,} entries", share, "%", 1.0)
        for number in range(3 * ROUNDS):
            line = json.loads(appended[number])
            line["parentId"], leaf = leaf, line["id"]
            since = len(screen.output)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            written = screen.now()
            times.append(screen.until(_shown(entries + number + 1), since=since) - written)
            screen.quiet(0.5)
    report.limit(
        f"append to painted, {entries:,} entries",
        1000 * median(times),
        "ms",
        150,
        "poll interval 100 ms + 50 ms",
    )
