"""A list of files in a summary names a folder that several of them share once, and is read back whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.forms.file_lists import NAMED, READ, joined, with_whole_paths
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.survival.text_match import FactMatch, FactText
from tests.core.linear_time import in_linear_time

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (["`a.py`", "`b.py` 2×"], "`a.py`, `b.py` 2×"),
        (["`docs/a.md`", "`docs/b.md`"], "`docs/a.md`, `docs/b.md`"),
        (
            ["`packages/server/src/a.ts`", "`b.ts` (9 lines)", "`packages/server/src/web/c.ts` 3×"],
            "`b.ts` (9 lines); in `packages/server/src/`: `a.ts`, `web/c.ts` 3×",
        ),
        (
            [
                "`/home/ada/projects/one/a.ts`",
                "`/srv/other/b.ts`",
                "`/home/ada/projects/one/c.ts`",
                "`/srv/other/d.ts`",
            ],
            "`/srv/other/b.ts`, `/srv/other/d.ts`; in `/home/ada/projects/one/`: `a.ts`, `c.ts`",
        ),
        (
            ["`packages/server/src/a;b.ts`", "`packages/server/src/c.ts`"],
            "`packages/server/src/a;b.ts`, `packages/server/src/c.ts`",
        ),
    ],
)
def test_a_folder_that_saves_room_is_named_once(files: Sequence[str], told: str) -> None:
    assert joined(files) == told
    assert sorted(with_whole_paths(READ + told)[len(READ) :].split(", ")) == sorted(files)


def test_a_text_holds_the_files_of_such_a_list_whole() -> None:
    text = FactText(
        f"- {NAMED}`b.ts`; in `packages/server/src/`: `mod.rs`, `web/mod.rs` 2×\n- in `x/`: `y.rs`"
    )
    for path, held in {
        "packages/server/src/mod.rs": FactMatch.VERBATIM,
        "packages/server/src/web/mod.rs": FactMatch.VERBATIM,
        "client/mod.rs": FactMatch.ABSENT,
        "packages/server/src/b.ts": FactMatch.ABSENT,
        "x/y.rs": FactMatch.ABSENT,
    }.items():
        fact = Fact(FactKind.PATH, path, path, NO_ENTRY, Voice.CALL)
        assert text.holds(fact, {"mod.rs": 3, "b.ts": 2, "y.rs": 2}) is held, path


def test_hostile_lists_take_linear_time() -> None:
    with in_linear_time():
        for piece in ("in `", "in `a/`: ", "; in `a/`: `b`", "\n- Read: in `"):
            with_whole_paths(READ + piece * 100_000)
        joined([f"`{'a/' * 150}{number}`" for number in range(10)])
