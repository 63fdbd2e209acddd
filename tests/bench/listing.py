"""Figures of the catalogue over a store of many sessions."""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING

import orjson

from leafward.base.config import Config
from leafward.catalog import Catalogue
from tests.bench.report import ROUNDS, Report, median, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.catalog import Update


def listing(report: Report, store: Path, index: Path, sessions: int) -> None:
    """Everything listed from the index, and the first page where there is none."""
    config = Config(roots={"pi": (str(store),)})
    what = f"listing {sessions:,} sessions"

    def catalogue() -> Catalogue:
        return Catalogue(config, index_path=index)

    first_pages: list[float] = []
    builds: list[float] = []
    decoding: list[float] = []
    for _ in range(ROUNDS):
        index.unlink(missing_ok=True)
        gc.collect()
        page, build = _first_page(catalogue)
        first_pages.append(page)
        builds.append(build)
        decoding.append(seconds(lambda: _decode_store(store)))
    reference = median(decoding)
    report.ratio(
        f"{what}, no index: first page", median(first_pages), "orjson.loads over all lines", reference, 0.08
    )
    report.ratio(
        f"{what}, no index: complete", median(builds), "orjson.loads over all lines", reference, None
    )
    warm, bare = [], []
    for _ in range(2 * ROUNDS):
        bare.append(seconds(lambda: _stat_all(store)))
        gc.collect()
        warm.append(seconds(lambda: _list_all(catalogue)))
    report.ratio(f"{what}, warm", median(warm), "scandir and stat", median(bare), 2.0)
    report.ratio(f"{what}, warm", median(warm), "orjson.loads over all lines", reference, None)


def _list_all(make: object) -> None:
    catalogue = make()  # type: ignore[operator]  # a callable of this module
    catalogue.refresh()
    catalogue.cards()


def _first_page(make: object) -> tuple[float, float]:
    """Seconds until the first page is known, and until everything is."""
    started = time.perf_counter()
    first: list[float] = []

    def publish(update: Update) -> None:
        if not first and update.changed:
            first.append(time.perf_counter() - started)

    make().refresh(publish=publish)  # type: ignore[operator]  # a callable of this module
    return first[0], time.perf_counter() - started


def _stat_all(store: Path) -> None:
    pending = [str(store)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat()


def _decode_store(store: Path) -> None:
    loads = orjson.loads
    for path in store.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                loads(line)
