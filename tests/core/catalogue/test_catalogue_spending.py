"""Usage of sessions: counted once however often it was copied, and unknown where nobody recorded it."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.times import iso_time
from leafward.catalogue.cards.daily_usage import Meter
from leafward.catalogue.index import Index
from leafward.catalogue.lineage import parents
from leafward.catalogue.usage.shared_history import _uses_in, counted_once
from leafward.catalogue.usage.totals import day_name, sum_of, totals
from leafward.context.recorded_usage import usage_total
from leafward.session.session import Session
from tests.core.catalogued import listed, replies_in
from tests.core.listed_sessions import DAY, START, Draft
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalogue.listing import Catalogue


def priced(draft: Draft, tokens: int, cost: float | None = None) -> str:
    """A reply that used something; without `cost` it says none."""
    usage: dict[str, Any] = {
        "input": tokens,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": tokens,
    }
    if cost is not None:
        usage["cost"] = {"total": cost}
    message = {
        "role": "assistant",
        "content": [],
        "usage": usage,
        "stopReason": "stop",
        "timestamp": draft.clock + 1000,
    }
    return draft.entry("message", {"message": message})


def used(found: Catalogue) -> dict[str, tuple[int, float | None]]:
    cards = found.cards()
    counted = counted_once(cards, parents(cards), found.spent)
    sums = {Path(path).name: sum_of(days) for path, days in counted.items()}
    return {name: (one.tokens, one.known_cost) for name, one in sums.items()}


def forked(store: Path) -> Draft:
    """A session of 100 tokens in `a.jsonl`, and a fork of it, not yet written, with 10 of its own."""
    first = Draft("aaaa0001")
    first.user("hello")
    priced(first, 100, 0.5)
    first.write(store / "a.jsonl")
    fork = Draft("aaaa0002", parent=str(store / "a.jsonl"), start=START + DAY)
    fork.lines += first.lines[1:]
    fork.leaf, fork.count = first.leaf, 100
    priced(fork, 10, 0.25)
    return fork


def test_a_fork_counts_only_what_is_its_own(store: Path) -> None:
    fork = forked(store)
    fork.write(store / "b.jsonl")
    assert used(listed(store)) == {"a.jsonl": (100, 0.5), "b.jsonl": (10, 0.25)}
    (store / "a.jsonl").unlink()
    assert used(listed(store)) == {"b.jsonl": (110, 0.75)}, "nobody else counts what it took over now"


def test_two_forks_of_what_is_gone_count_it_once(store: Path) -> None:
    first = Draft("aaaa0001")
    first.user("hello")
    priced(first, 100, 0.5)
    for number in (2, 3):
        fork = Draft(f"aaaa000{number}", parent="/gone/a.jsonl", start=START + number * DAY)
        fork.lines += first.lines[1:]
        fork.leaf, fork.count = first.leaf, 100 * number
        priced(fork, number, 0.0)
        fork.write(store / f"{number}.jsonl")
    assert sum(tokens for tokens, _ in used(listed(store)).values()) == 105


def test_copies_and_cut_copies_count_once_whatever_their_order(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    draft.write(store / "a-cut.jsonl")
    priced(draft, 40, 0.25)
    for name in ("b.jsonl", "c.jsonl"):
        draft.write(store / name)
    assert used(listed(store)) == {"a-cut.jsonl": (100, 0.5), "b.jsonl": (40, 0.25), "c.jsonl": (0, None)}


def test_a_copy_of_a_fork_counts_once(store: Path) -> None:
    fork = forked(store)
    fork.write(store / "b.jsonl")
    fork.write(store / "c.jsonl")
    assert sum(tokens for tokens, _ in used(listed(store)).values()) == 110


def test_copies_that_went_on_apart_on_one_day_count_all_that_they_did(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    both, leaf = list(draft.lines), draft.leaf
    priced(draft, 30, 0.25)
    draft.write(store / "a.jsonl")
    draft.lines, draft.leaf = both, leaf
    draft.clock += 500
    priced(draft, 7, 0.125)
    draft.write(store / "b.jsonl")
    assert used(listed(store)) == {"a.jsonl": (130, 0.75), "b.jsonl": (7, 0.125)}


def test_the_same_replies_under_other_ids_count_once(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    priced(draft, 40, 0.25)
    draft.write(store / "a.jsonl")
    # Read and written again a year later: a header, ids and times of entries of its own, and one reply more.
    copy = Draft("bbbb0001", cwd="/home/ada/elsewhere", start=START + 365 * DAY, prefix="f")
    for line in draft.lines[1:]:
        copy.entry("message", {"message": json.loads(line)["message"]})
    priced(copy, 5, 0.125)
    copy.write(store / "b.jsonl")
    found = listed(store)
    assert used(found) == {"a.jsonl": (140, 0.75), "b.jsonl": (5, 0.125)}
    assert [relation for _, relation in parents(found.cards()).values()] == ["inferred"]
    (store / "a.jsonl").unlink()
    assert used(listed(store)) == {"b.jsonl": (145, 0.875)}


def test_sessions_that_only_begin_alike_count_both(store: Path) -> None:
    for number in (1, 2):
        draft = Draft(f"aaaa000{number}", prefix=f"{number}")
        draft.user("hello")
        draft.clock += number
        priced(draft, 100, 0.5)
        draft.write(store / f"{number}.jsonl")
    assert used(listed(store)) == {"1.jsonl": (100, 0.5), "2.jsonl": (100, 0.5)}


@pytest.mark.parametrize("appended", [False, True])
def test_what_used_nothing_and_cost_nothing_says_no_cost(store: Path, appended: bool) -> None:
    """A compaction without a model beside replies whose cost nobody recorded."""
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 50)
    path = draft.write(store / "a.jsonl")
    found = listed(store)
    draft.clock += 3 * DAY
    priced(draft, 0, 0.0)
    if appended:
        draft.append_to(path, 1)
        found.refresh()
        assert found.work.read_on == 1
    else:
        draft.write(path)
        found = listed(store)
    assert used(found) == {"a.jsonl": (50, None)}
    assert len(found.spent(str(path))) == 1, "and no day on which nothing was used"


def test_a_line_that_is_no_message_has_no_usage_of_a_message(store: Path) -> None:
    """What `pi --mode json` prints repeats each reply in lines of its own, of types that no session has."""
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 50, 0.25)
    reply = {"role": "assistant", "content": [], "usage": {"input": 70, "output": 0, "cost": {"total": 1}}}
    draft.entry("message_end", {"message": reply})
    draft.entry("turn_end", {"message": reply})
    path = draft.write(store / "a.jsonl")
    assert used(listed(store)) == {"a.jsonl": (50, 0.25)}
    with closing(Session.open(path)) as session:
        assert usage_total(session, range(len(session))).total == 50


def test_of_many_copies_that_grew_each_is_read_once(store: Path) -> None:
    """Snapshots of one session from a day of work: each holds what the one before held, and a reply more."""
    draft = Draft("aaaa0001")
    draft.user("hello")
    for number in range(20):
        priced(draft, 10, 0.5)
        draft.write(store / f"{number:02}.jsonl")
    found = listed(store)
    _uses_in.cache_clear()
    sums = used(found)
    assert sum(tokens for tokens, _ in sums.values()) == 200
    assert sum(cost or 0 for _, cost in sums.values()) == 10.0
    assert _uses_in.cache_info().misses <= 20


def test_a_cost_that_nobody_recorded_stays_unknown(store: Path) -> None:
    silent = Draft("aaaa0001")
    priced(silent, 50)
    silent.write(store / "a.jsonl")
    free = Draft("bbbb0001", cwd="/home/ada/free")
    priced(free, 50, 0.0)
    free.write(store / "b.jsonl")
    found = listed(store)
    assert used(found) == {"a.jsonl": (50, None), "b.jsonl": (50, 0.0)}
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    assert (sums.all.sessions, sums.all.unpriced, sums.all.known_cost) == (2, 1, 0.0)
    assert sums.projects["/home/ada/orchard"].known_cost is None


def test_sums_by_project_agent_and_day_are_the_whole(store: Path) -> None:
    for number in range(4):
        draft = Draft(f"{number}aaa0001", cwd=f"/p{number % 2}", start=START + number * DAY)
        draft.user(f"prompt {number}")
        priced(draft, 10 + number, 0.125)
        draft.write(store / f"{number}.jsonl")
    found = listed(store)
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    assert sums.all.tokens == 46
    for parts in (sums.projects, sums.agents, sums.cells, sums.days):
        values = list(parts.values())
        assert sum(one.tokens for one in values) == 46
        assert sum(one.cost for one in values) == 0.5
    assert len(sums.days) == 4


def test_what_is_appended_is_added(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    path = draft.write(store / "a.jsonl")
    found = listed(store)
    priced(draft, 11, 0.25)
    draft.append_to(path, 1)
    found.refresh()
    assert (found.work.read_on, found.work.read_whole) == (1, 0)
    grown = found.spent(str(path))
    assert used(found) == {"a.jsonl": (111, 0.75)}
    again = Index(found.index.path)
    assert again.spent(str(path)) == grown


@needs_corpora
@pytest.mark.parametrize(
    ("folder", "known"), [("claude/v2.1.330", True), ("codex/v0.169.0", False), ("opencode/v1.18.33", True)]
)
def test_other_agents_say_what_they_used(folder: str, known: bool) -> None:
    found = listed(CORPORA / folder)
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    whole = sum(one.tokens for card in cards for one in found.spent(card.path))
    assert 0 < sums.all.tokens < whole, "some sessions are forks: what they took over is not counted"
    assert (sums.all.known_cost is not None) is known


@pytest.fixture(params=["UTC", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe"])
def zone(request: pytest.FixtureRequest, in_zone: Callable[[str], None]) -> None:
    """A time zone, whose days begin within an hour of UTC or change their offset within one."""
    in_zone(request.param)


@pytest.mark.parametrize("began", [0, START + 90 * 60_000])
@pytest.mark.usefixtures("zone")
def test_lines_that_are_not_decoded_count_on_the_same_days(began: int) -> None:
    draft = Draft()
    # Over the end of summer time in New York and its beginning on Lord Howe, and half hours at which days begin.
    for start in (START, 1_793_480_400_000, 1_791_028_800_000):
        draft.clock = start
        for number in range(300):
            draft.clock += 420_000 + number
            priced(draft, number, 0.5 if number % 7 else None)
    lines = draft.lines[1:]
    header = {"type": "session", "version": 3, "id": "s", "timestamp": iso_time(began) if began else None}
    quick, decoded = replies_in(json.dumps(header).encode(), *lines).meter, Meter(began)
    for line in lines:
        decoded.add(json.loads(line))
    assert quick.days() == decoded.days()
    assert sum(day.tokens for day in quick.days()) == 3 * sum(range(300))


@pytest.mark.parametrize("appended", [False, True])
@pytest.mark.usefixtures("zone")
def test_a_reply_counts_on_the_day_that_the_list_shows(store: Path, appended: bool) -> None:
    """A reply that is made before midnight and stored behind it: totals and list name one day."""
    midnight = int(time.mktime((2026, 11, 20, 0, 0, 0, 0, 0, -1))) * 1000
    draft = Draft(start=midnight - 60_000)
    draft.user("hello")
    path = draft.write(store / "s.jsonl")
    found = listed(store)
    draft.clock = midnight
    priced(draft, 40, 0.5)
    made = b'"timestamp":%d' % (midnight - 1)
    draft.lines[-1] = draft.lines[-1].replace(b'"timestamp":%d' % (midnight + 1000), made)
    assert made in draft.lines[-1]
    if appended:
        draft.append_to(path, 1)
        found.refresh()
        assert found.work.read_on == 1
    else:
        draft.write(path)
        found = listed(store)
    [card] = found.cards()
    shown = time.strftime("%Y-%m-%d", time.localtime((card.modified or 0) / 1000))
    assert [day_name(day.day) for day in found.spent(card.path)] == [shown] == ["2026-11-19"]


def test_usage_in_a_text_or_said_twice_is_no_usage_of_the_entry() -> None:
    draft = Draft()
    priced(draft, 40, 0.5)
    text = '"usage":{"totalTokens":9,"cost":{"total":1}}'
    draft.entry("message", {"message": {"role": "user", "content": text}})
    twice = {"role": "assistant", "usage": {"totalTokens": 7, "cost": {"total": 1}}}
    draft.entry("message", {"data": {"usage": {"totalTokens": 5, "cost": {"total": 2}}}, "message": twice})
    meter = replies_in(*draft.lines).meter
    assert sum(day.tokens for day in meter.days()) == 47


def test_the_hour_in_which_a_session_begins_is_looked_at_once_on_each_side() -> None:
    began = 1_767_603_000_000
    meter, hour = Meter(began), began // 3_600_000 * 3_600_000
    assert hour < began
    since, until, day = meter.day_at(began + 60_000)
    assert (since, until) == (began, hour + 3_600_000)
    day[0] += 3
    since, until, copied = meter.day_at(began - 1)
    assert (since, until) == (hour, began)
    copied[0] += 4
    assert {(one.tokens, one.copied) for one in meter.days()} == {(3, False), (4, True)}
