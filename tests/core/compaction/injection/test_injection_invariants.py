"""Conditions on every injected text, whatever its sources."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leafward.compaction.injection.allocation import Allocation, allocate, smallest
from leafward.compaction.injection.composition import compose
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.injection import build, contributions, inject
from leafward.compaction.injection.merge import merged
from leafward.compaction.injection.sections import SECTIONS
from leafward.compaction.injection.values import (
    Contribution,
    Injection,
    InjectionSettings,
    OfferedBullet,
    SourceKind,
    SourceRef,
    Tier,
)
from leafward.redaction.redaction import Redactor
from leafward.session.entries import EntryIndex
from leafward.session.injected_block import CLOSING, OPENING, split_enclosed
from leafward.session.tokens import tokens_of_units, utf16_length
from tests.acting import JUNK, Acting, reading, wild
from tests.surroundings import THOROUGH
from tests.workspaces import anchor, bug, idumb, put, refactoring, spec

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(st.characters(exclude_categories=()), max_size=700) | st.sampled_from(
    [
        "## heading",
        "- item",
        "---",
        "```sh",
        "> quoted",
        "1. one",
        CLOSING,
        OPENING,
        "a\n" + CLOSING + "\nb",
        "\x1b[31mred\x1b[0m",
        "\x1b]8;;http://x\x07link",
        "\u202eabc\u2066",
        "x" * 5000,
        "👩‍👩‍👧‍👦" * 90,
        "e\u0301" * 300,
        "",
        " \n\t ",
        "token=ghp_" + "a1b2" * 10,
        "\ud800",
    ]
)
SOURCES = st.just((SourceRef(SourceKind.ENTRY, EntryIndex(1)),))
ITEMS = st.builds(
    OfferedBullet,
    text=TEXTS,
    sources=SOURCES,
    tier=st.none() | st.sampled_from(list(Tier)),
    rank=st.integers(0, 5),
    path=st.sampled_from(["", "", "a.py", "b/c.py"]),
    whole=st.booleans(),
    filler=st.booleans(),
)
CONTRIBUTIONS = st.lists(
    st.builds(
        Contribution,
        items=st.dictionaries(
            st.sampled_from([section.key for section in SECTIONS]),
            st.lists(ITEMS, max_size=6).map(tuple),
            max_size=7,
        ),
        beyond=st.dictionaries(
            st.sampled_from(["workingset.read", "gov.recent_actions"]), st.integers(0, 90), max_size=1
        ),
    ),
    max_size=4,
)
BUDGETS = st.integers(-5, 400) | st.integers(0, 9000)


def check(made: Injection, budget: int) -> None:
    """Everything that holds of any injection."""
    assert "\n".join(line.text for line in made.lines) == made.text
    assert len(made.text) <= max(0, budget)
    assert made.tokens == tokens_of_units(utf16_length(made.text))
    assert made.envelope + sum(section.tokens for section in made.sections) == made.tokens
    if not made.text:
        return
    assert made.text.startswith(OPENING + "\n")
    assert made.text.endswith("\n" + CLOSING)
    assert split_enclosed("summary\n\n" + made.text) == (
        "summary",
        made.text[len(OPENING) + 1 : -len(CLOSING) - 1],
    )
    for line in made.lines:
        assert "\n" not in line.text
        assert not line.text or line.sources
        assert line.text in {OPENING, CLOSING} or not re.match(r"\s*</?leafward", line.text)
        for char in line.text:
            assert unicodedata.category(char) not in {"Cc", "Zl", "Zp", "Cs"}
            assert ord(char) not in {
                *range(0x202A, 0x202F),
                *range(0x2066, 0x206A),
                0x200B,
                0x200E,
                0x200F,
                0xFEFF,
            }
        if line.text.startswith("- "):
            assert not re.match(r"(#{1,6}|[-*+]|>|```|~~~|---)(\s|$)", line.text[2:])
            assert len(line.text) <= 502
            assert unicodedata.is_normalized("NFC", line.text)
    headings = [line.text for line in made.lines if line.text.startswith("## ")]
    assert len(headings) == len(set(headings))
    assert len(headings) <= sum(1 for section in made.sections)
    for section in made.sections:
        bullets = [line for line in made.lines if line.section == section.key and line.text.startswith("- ")]
        assert len(bullets) == section.shown
        counted = [
            line for line in made.lines if line.section == section.key and line.text.startswith("… and ")
        ]
        if section.omitted and (bullets or counted):
            assert len(counted) == 1
            assert int(counted[0].text.split()[2]) == section.omitted
        else:
            assert not counted


@given(CONTRIBUTIONS, BUDGETS)
@settings(max_examples=150 if THOROUGH else 40)
@example([], 100)
def test_the_text_is_what_it_says_and_fits(given_: list[Contribution], budget: int) -> None:
    made = compose(given_, budget)
    check(made, budget)
    assert made == compose(given_, budget)
    assert not budget <= 0 or made.text == ""


def test_room_that_one_item_leaves_is_not_given_away_twice() -> None:
    """A short item may complete its section; without it, the line that counts what is missing takes more room than it did."""
    items = {
        "stage.decisions": (("1x", Tier.LAST), ("2x" + "x" * 39, Tier.SECOND), ("3", Tier.LAST)),
        "stage.remaining": (("4x", Tier.LAST),),
    }
    source = (SourceRef(SourceKind.ENTRY, EntryIndex(1)),)
    made = {
        key: tuple(OfferedBullet(text, source, tier) for text, tier in told) for key, told in items.items()
    }
    blocks, _ = merged([Contribution(made)], frozenset(), Redactor())
    for budget in range(60, 120):
        allocation = allocate(blocks, 0, budget)
        assert allocation is not None
        assert allocation.size <= budget


@given(CONTRIBUTIONS, st.integers(60, 4000), st.integers(1, 3000))
@settings(max_examples=150 if THOROUGH else 40)
def test_a_larger_budget_drops_nothing_that_matters(
    given_: list[Contribution], budget: int, more: int
) -> None:
    def shown(size: int) -> set[tuple[str, str]] | None:
        blocks, _ = merged(given_, frozenset(), Redactor())
        allocation = allocate(blocks, 140, size)
        if allocation is None:
            return None
        return {
            (blocks[block].section.key, blocks[block].bullets[place].text)
            for block, place in allocation.shown
            if blocks[block].bullets[place].tier <= Tier.FIRST
        }

    small, large = shown(budget), shown(budget + more)
    assert small is None or (large is not None and small <= large)


@given(CONTRIBUTIONS, st.integers(100, 3000))
@settings(max_examples=150 if THOROUGH else 40)
def test_nothing_of_a_lower_tier_stands_in_the_place_of_something_higher(
    given_: list[Contribution], budget: int
) -> None:
    blocks, _ = merged(given_, frozenset(), Redactor())
    allocation = allocate(blocks, 140, budget)
    if allocation is None:
        return
    assert allocation.size <= budget
    places = [(number, place) for number, block in enumerate(blocks) for place in range(len(block.bullets))]
    tier = {place: blocks[place[0]].bullets[place[1]].tier for place in places}
    missing = [place for place in places if place not in allocation.shown]
    if not missing:
        return
    highest = min(tier[place] for place in missing)
    if highest == Tier.FIRST:
        assert all(tier[place] <= Tier.FIRST for place in allocation.shown)
    lower = [place for place in allocation.shown if tier[place] > highest]
    for place in missing:
        if tier[place] == highest and highest > Tier.FIRST:
            for other in lower:
                instead = {key: text for key, text in allocation.shown.items() if key != other}
                instead[place] = smallest(blocks[place[0]].bullets[place[1]])
                again = Allocation(blocks, 140, budget)
                for key, text in instead.items():
                    again.force(key, text)
                assert again.size > budget


@given(st.lists(ITEMS, min_size=1, max_size=30), st.integers(0, 20))
def test_equal_texts_are_one_line_with_all_sources(items: list[OfferedBullet], at: int) -> None:
    given_ = [Contribution({"pins": tuple(items)}), Contribution({"pins": tuple(items[: at + 1])})]
    made = compose(given_, 100_000)
    bullets = [line.text for line in made.lines if line.section == "pins" and line.text.startswith("- ")]
    assert len(bullets) == len(set(bullets))


class TestBudget:
    def test_a_long_item_gives_way_and_a_short_one_stays(self) -> None:
        """One anchor of 1,990 code points does not keep another of five out."""
        source = (SourceRef(SourceKind.FILE, file="x"),)
        items = (
            OfferedBullet("a" * 1990, source, Tier.FIRST, 0),
            OfferedBullet("short", source, Tier.FIRST, 1),
        )
        made = compose([Contribution({"gov.anchors": items})], 400)
        texts = [line.text for line in made.lines if line.text.startswith("- ")]
        assert texts[0].endswith("…")
        assert texts[1] == "- short"

    def test_what_is_left_when_nothing_else_fits(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "s.jsonl")
        file.user("go on")
        root = spec(tmp_path / "w")
        with reading(file.path) as session:
            found = collect(session, session.leaf)
            texts = {
                budget: build(found, InjectionSettings(budget=budget, workspace=root)).text
                for budget in (0, 40, 55, 60, 150, 400)
            }
        assert texts[0] == texts[40] == ""
        assert texts[55] == f"{OPENING}\n- spec-execute\n{CLOSING}"
        assert texts[60] == texts[55]
        one = texts[150].split("\n")
        assert len(one) == 3
        assert one[1].startswith("- spec-execute: Resume 001-prd-compaction in spec-execute")
        assert len(texts[150]) <= 150

    def test_every_budget_from_nothing_to_plenty(self, tmp_path: Path, corpora: Path) -> None:
        path = corpora / "pi" / "branched-compacted.jsonl"
        root = idumb(spec(tmp_path / "w"), [anchor("never push", "critical"), anchor("x" * 900, "high")], 9)
        with reading(path) as session:
            found = collect(session, session.leaf)
            given_ = contributions(found, InjectionSettings(workspace=root, pins=("a pin", "b" * 300)))
        before: dict[str, int] = {}
        made = compose(given_, 0)
        for budget in (*range(0, 1500, 5 if THOROUGH else 17), *range(1500, 9001, 41 if THOROUGH else 173)):
            made = compose(given_, budget)
            check(made, budget)
            shown = {section.key: section.shown for section in made.sections}
            if "fallback" not in shown:
                for key in ("gov.language", "gov.phase", "stage.next_action", "pins", "stage.status"):
                    assert shown.get(key, 0) >= before.get(key, 0)
                before = shown
        assert made.sections[0].shown == 2


@pytest.mark.parametrize("seed", range(6))
def test_wild_sessions(tmp_path: Path, seed: int) -> None:
    file = wild(tmp_path / "s.jsonl", seed)
    with reading(file.path) as session:
        for at in (*range(-1, len(session), 17), session.leaf):
            for budget in (8000, 700):
                check(inject(session, at, InjectionSettings(budget=budget, workspace=tmp_path)), budget)


def test_fields_of_the_wrong_type(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for junk in JUNK:
        file.junk(junk)
        details = {"readFiles": junk, "modifiedFiles": [junk], "leafward": {"pins": junk}}
        file.entry("branch_summary", summary=junk, details=details, fromId=junk)
        file.entry("compaction", summary="s", firstKeptEntryId=junk, details=details, timestamp_=junk)
        file.entry("message", message={"role": "user", "content": junk})
    with reading(file.path) as session:
        made = inject(session, session.leaf, InjectionSettings(workspace=tmp_path))
    check(made, 8000)
    assert not any(remark.code == "builder-failed" for remark in made.diagnostics)


def test_real_sessions_at_every_place(corpora: Path) -> None:
    for path in sorted((corpora / "pi").glob("*.jsonl")):
        with reading(path) as session:
            step = max(1, len(session) // 12)
            for at in (*range(0, len(session), step), session.leaf):
                found = collect(session, at)
                for budget in (0, 500, 3000, 8000):
                    for order in ("recent", "alpha"):
                        check(build(found, InjectionSettings(budget=budget, order=order)), budget)


SCRIPT = """
import json, os, sys
if sys.argv[3] == "reversed":
    listed = os.listdir
    os.listdir = lambda path: sorted(listed(path), reverse=True)
from pathlib import Path
from leafward.session.session import Session
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
session = Session.open(Path(sys.argv[1]))
made = inject(session, session.leaf, InjectionSettings(workspace=Path(sys.argv[2])))
print(json.dumps([made.digest, made.text, repr(made.lines), repr(made.omitted), repr(made.diagnostics)]))
"""


def test_hash_seed_locale_zone_and_the_order_of_folders_change_nothing(tmp_path: Path) -> None:
    root = idumb(
        bug(spec(refactoring(tmp_path / "w"))), [anchor(f"anchor {n}", "high") for n in range(30)], 9
    )
    for name in ("b.md", "A.mdc", "ä.md", "sub/c.md"):
        put(root, f".opencode/rules/{name}", "---", "globs: ['**/*.py', '*.ts']", "---", "x")
    for number in range(12):
        put(root, f".codex/specs/{number:03}-other/requirements.md", "ready")
    file = Acting(tmp_path / "s.jsonl")
    for number in range(40):
        file.said(
            "",
            {
                "type": "toolCall",
                "id": f"c{number}",
                "name": "read",
                "arguments": {"path": f"Ä{number % 30}.py"},
            },
        )
    runs: list[Any] = []
    for seed, locale, zone, order in (
        ("0", "C", "UTC", "as it is"),
        ("1", "C.UTF-8", "Asia/Tokyo", "reversed"),
        ("4242", "tr_TR.UTF-8", "America/New_York", "as it is"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(file.path), str(root), order],
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            cwd=tmp_path,
        )
        runs.append(json.loads(done.stdout))
    assert runs[0] == runs[1] == runs[2]
    assert "Working Set: Read Files" in runs[0][1]


def test_a_builder_that_fails_gives_a_remark_and_no_text(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Look at src/a.py please")

    def broken(_given: object) -> Contribution:
        raise RuntimeError("no")

    with reading(file.path) as session:
        found = collect(session, session.leaf)
    made = compose(contributions(found, InjectionSettings(), [("the broken one", broken)]), 8000)
    assert made.text == ""
    assert [(remark.code, "the broken one" in remark.text) for remark in made.diagnostics] == [
        ("builder-failed", True)
    ]
