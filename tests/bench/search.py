"""Figures of the search of all text over a store of many sessions, beside `rg -l` and `bytes.find` over the same files.

`rg -l WORD FOLDER` is what somebody would type instead: a process of its own, case as typed. Ours starts ripgrep anew as well, from
a process that knows the sessions, as the application does; it ignores case, finds escaped letters, and reads what it finds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.query.search.corpus import Corpus
from leafward.query.search.prefilter import ripgrep
from leafward.query.search.text_search import TextSearch
from leafward.query.search.typed_query import parse
from tests.bench.report import ROUNDS, Report, median, seconds

if TYPE_CHECKING:
    from pathlib import Path

RARE = "quixotic lighthouse"
"""Stands in few sessions: what somebody remembers of the one that is looked for."""
_HOLDING = 12
_ABSENT = "zephyrlike"


def searching(report: Report, store: Path, index: Path, sessions: int) -> None:
    """Words that stand in a dozen sessions, and one that stands in none."""
    files = sorted(store.rglob("*.jsonl"))
    _plant(files)
    catalogue = Catalogue(Config(roots={"pi": (str(store),)}), index_path=index)
    catalogue.refresh()
    corpus = Corpus(catalogue.cards())
    for text, what in (
        (RARE, f"search for what {_HOLDING} of {sessions:,} sessions hold"),
        (_ABSENT, "for what none holds"),
    ):
        ours, theirs, own, bare = [], [], [], []
        word = max(text.split(), key=len)
        program = ripgrep()
        _run(corpus, text, program)
        for _ in range(ROUNDS):
            if program is not None:
                theirs.append(seconds(partial(_rg, program, word, store)))
                ours.append(seconds(partial(_run, corpus, text, program)))
            bare.append(seconds(partial(_find, files, word.encode())))
            own.append(seconds(partial(_run, corpus, text, None)))
        if program is not None:
            report.ratio(what, median(ours), "rg -l", median(theirs), 1.2)
        else:
            report.skipped(what, "ripgrep is not installed")
        report.ratio(f"{what}, without ripgrep", median(own), "bytes.find over every file", median(bare), 1.5)
    first: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        next(TextSearch(corpus, parse("queue", 0, whole=True), program=ripgrep()).run())
        first.append(time.perf_counter() - started)
    report.limit("first hits of a word that all hold", median(first) * 1000, "ms", 100)


def held(report: Report, store: Path, index: Path) -> None:
    """Peak memory of a process that searches all text, without and with ripgrep; Linux only."""
    if not sys.platform.startswith("linux"):
        report.skipped("memory of a search", "read from /proc")
        return
    size = sum(path.stat().st_size for path in store.rglob("*.jsonl")) >> 20
    for name, program in (("", ripgrep() or ""), (", without ripgrep", "")):
        done = subprocess.run(
            [sys.executable, "-c", _HELD, str(store), str(index), program],
            check=True,
            capture_output=True,
            text=True,
        )
        report.limit(f"memory of a search through {size:,} MB{name}", int(done.stdout) / 1e6, "MB", 200)


_HELD = """
import sys
from pathlib import Path
from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.query.search.typed_query import parse
from leafward.query.search.corpus import Corpus
from leafward.query.search.text_search import TextSearch

store, index, program = sys.argv[1:]
catalogue = Catalogue(Config(roots={"pi": (store,)}), index_path=Path(index))
catalogue.refresh()
corpus = Corpus(catalogue.cards())
for word in ("queue", "quixotic"):
    for _ in TextSearch(corpus, parse(word, 0, whole=True), program=program or None).run():
        pass
with open("/proc/self/status") as file:
    print(int(file.read().partition("VmHWM:")[2].split()[0]) * 1024)
"""


def _plant(files: list[Path]) -> None:
    """Puts the rare words into some sessions, once."""
    for path in files[:: max(1, len(files) // _HOLDING)][:_HOLDING]:
        data = path.read_bytes()
        if RARE.encode() not in data:
            parent = data[data.rindex(b'"id":"') + 6 :][:8].decode()
            line = (
                f'{{"type":"message","id":"ffffffff","parentId":"{parent}","timestamp":"2026-01-30T08:00:00.000Z",'
                f'"message":{{"role":"user","content":"the {RARE}"}}}}\n'
            )
            stamp = os.stat(path)
            with path.open("ab") as file:
                file.write(line.encode())
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def _run(corpus: Corpus, text: str, program: str | None) -> None:
    search = TextSearch(corpus, parse(text, 0, whole=True), program=program)
    found = list(search.run())
    wanted = _HOLDING if text == RARE else 0
    if len(found) != wanted:
        raise AssertionError(f"{len(found)} sessions found, {wanted} expected")


def _rg(program: str, word: str, store: Path) -> None:
    subprocess.run([program, "-l", word, str(store)], stdout=subprocess.DEVNULL, check=False)


def _find(files: list[Path], word: bytes) -> None:
    for path in files:
        path.read_bytes().find(word)
