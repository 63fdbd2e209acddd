"""The price of a move of the leaf, and contexts by size alone."""

from __future__ import annotations

import json
import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Cancelled
from leafward.base.times import milliseconds, parse_time
from leafward.context.basis import Basis
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.context.price import Price, PriceSide, Rates, price_of_move
from leafward.context.projection import edited_entries
from leafward.context.sizes import Sizes, entries_below
from leafward.files.working_set import touched, working_set
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, Body, EntryIndex
from tests.acting import JUNK, Acting, call, reading, usage, wild
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from leafward.session.session import Session

GOLDEN = (
    "branches",
    "compacted-twice",
    "edits-and-extras",
    "retain-none",
    "rpc-errors",
    "version-1",
    "version-2",
)


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


def price(file: Acting, target: int) -> Price:
    with reading(file.path) as session:
        return price_of_move(session, target)


def codes(found: Price) -> list[str]:
    return [code for code, _ in found.surprises]


class TestSizes:
    """The same totals as a whole projection, at every entry."""

    def agree(self, session: Session) -> None:
        sizes = Sizes(session, EntryMetrics(session))
        for index in range(-1, len(session)):
            at = EntryIndex(index)
            context, shown = context_at(session, at), Basis(sizes).count_at(at)
            assert sizes.size(sizes.outline(at)) == context.size, index
            assert (shown.total, shown.recorded) == (context.total, context.ledger.recorded), index

    @pytest.mark.parametrize("seed", range(12))
    def test_on_wild_trees(self, tmp_path: Path, seed: int) -> None:
        with reading(wild(tmp_path / "wild.jsonl", seed).path) as session:
            self.agree(session)

    @pytest.mark.parametrize("name", GOLDEN)
    def test_on_sessions_pi_made(self, repository: Path, name: str) -> None:
        with reading(repository / "tests" / "data" / "pi" / "sessions" / f"{name}.jsonl") as session:
            self.agree(session)


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_slow_counting_on_wild_trees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with reading(wild(tmp_path / "wild.jsonl", seed).path) as session:
        tallies = EntryMetrics(session)
        tallies.fill(session, range(len(session)))
        kinds = session.columns.kind

        def said(index: int) -> list[int]:
            return [one for one in session.tree.path(index) if kinds[one] not in BOOKKEEPING]

        def files(index: int) -> dict[str, tuple[int, ...]]:
            found = working_set(session, index)
            return {use.path: () for use in found.read} | {use.path: use.entries for use in found.modified}

        for target in (-1, *rng.sample(range(len(session)), 25)):
            found = price_of_move(session, target, metrics=tallies)
            mine, theirs = said(session.leaf), said(target)
            common = [one for one in mine if one in theirs]
            assert found.ancestor == session.columns.id_at(common[-1] if common else NO_ENTRY)
            left = [one for one in mine if one not in theirs]
            entered = [one for one in theirs if one not in mine]
            way, other = (session.tree.path(one) for one in (session.place, session.tree.content_at(target)))
            for part, entries, numbers in (
                (found.left, left, set(way) - set(other)),
                (found.entered, entered, set(other) - set(way)),
            ):
                assert part.entries == len(numbers), "as their numbers count them, bookkeeping included"
                assert part.tokens == sum(tallies.tokens[one] for one in entries)
            assert found.before.total == context_at(session, session.place).total
            assert found.after.total == context_at(session, session.tree.content_at(target)).total
            assert 0 <= found.cached <= found.after.total
            unsent = context_at(session, session.tree.content_at(target)).ledger.unsent
            assert found.unsent <= unsent, "commands that are kept from the model are not looked for"
            assert found.sent_again == max(0, found.after.total - found.unsent - found.cached)
            here, there = files(session.place), files(session.tree.content_at(target))
            assert found.files_left == tuple(sorted(here.keys() - there.keys()))
            assert found.files_entered == tuple(sorted(there.keys() - here.keys()))
            both = here.keys() & there.keys()
            assert found.files_changed == tuple(sorted(one for one in both if here[one] != there[one]))
            assert found == price_of_move(session, target), "with columns filled or not"


class TestMoves:
    def test_to_the_place_itself_cost_nothing(self, file: Acting) -> None:
        file.user("go")
        file.said("done", tokens=usage(900))
        file.entry("label", targetId=file.leaf, label="here")
        found = price(file, 2)
        assert (found.target, found.ancestor) == (1, "00000002")
        assert (found.left, found.entered) == (PriceSide(0, 0), PriceSide(0, 0))
        assert (found.cached, found.sent_again, found.surprises) == (900, 0, ())

    def test_back_up_the_path_need_nothing_sent_again(self, file: Acting) -> None:
        file.user("go")
        file.said("one", tokens=usage(900))
        file.user("on")
        file.said("two", tokens=usage(2000))
        found = price(file, 1)
        assert (found.before.total, found.after.total) == (2000, 900)
        assert (found.cached, found.sent_again) == (900, 0)
        assert (found.left.entries, found.entered.entries, found.surprises) == (2, 0, ())

    def test_to_a_branch_send_again_what_lies_behind_the_fork(self, file: Acting) -> None:
        file.user("go")
        fork = file.said("one", tokens=usage(900))
        file.user("this way")
        file.said("that", tokens=usage(5000))
        file.user("that way", parent=fork)
        file.said("this", tokens=usage(2000))
        found = price(file, 3)
        assert found.ancestor == fork
        assert (found.cached, found.sent_again, found.after.total) == (900, 4100, 5000)

    def test_a_cache_of_yesterday_is_none(self, file: Acting) -> None:
        file.user("go")
        first = file.said("one", tokens=usage(900))
        file.user("on")
        file.said("two", tokens=usage(2000))
        with reading(file.path) as session:
            target = session.columns.index(first)
            last = session.body(len(session) - 1) or {}
            asked = milliseconds(last["message"].get("timestamp")) or parse_time(last["timestamp"]) or 0
            soon = price_of_move(session, target, now=asked + 60_000)
            late = price_of_move(session, target, now=asked + 24 * 3_600_000)
        assert (soon.expired, soon.sent_again) == (False, 0)
        assert (late.expired, late.cached, late.sent_again) == (True, 0, late.after.sent)
        assert late.as_json()["cache_expired"] is True

    def test_another_model_finds_nothing_cached(self, file: Acting) -> None:
        file.user("go")
        file.said("one", tokens=usage(900), model="a")
        file.user("more")
        file.said("two", tokens=usage(1_000), model="b")
        found = price(file, 1)
        assert found.cached == 0
        assert dict(found.surprises)["model"] == "nothing is cached for the model here, a"

    def test_before_everything(self, file: Acting) -> None:
        file.user("go")
        file.said("done", tokens=usage(900))
        found = price(file, -1)
        assert (found.target, found.ancestor) == (NO_ENTRY, None)
        # The system prompt and the tools, which are not in the file, are sent there as well.
        assert (found.left.entries, found.after.total, found.cached) == (2, 899, 0)
        assert codes(found) == ["empty"]
        assert dict(found.surprises)["empty"].endswith("the model sees no conversation")

    def test_before_everything_of_a_file_that_begins_midway(self, tmp_path: Path) -> None:
        transcript = Transcript(tmp_path)
        transcript.prompt("go on", parentUuid="00000000-0000-4000-8000-0000000000aa")
        transcript.reply("done")
        with closing(transcript.opened()) as session:
            found = price_of_move(session, NO_ENTRY)
        assert dict(found.surprises)["empty"].endswith("only what was said before this file begins")


class TestCosts:
    def spent(self, file: Acting, model: str = "scripted-1") -> None:
        cost = {"input": 0.3, "output": 1.0, "cacheRead": 0.02, "cacheWrite": 0.0, "total": 1.32}
        file.said("one", tokens=usage(900, input=100_000, cacheRead=200_000, cost=cost), model=model)

    def test_come_from_what_the_session_paid(self, file: Acting) -> None:
        file.user("go")
        self.spent(file)
        file.user("on", parent="00000001")
        file.said("two", tokens=usage(1200))
        found = price(file, 1)
        assert found.cost_again == pytest.approx(found.sent_again * 0.3 / 100_000)
        assert found.cost_cached == pytest.approx(found.cached * 0.02 / 200_000)

    def test_writing_to_the_cache_is_what_sending_again_means(self) -> None:
        assert Rates(input=1, cache_write=1.25).resend() == 1.25
        assert Rates(input=1).resend() == 1
        assert Rates(cache_read=1).resend() is None

    def test_of_another_model_say_nothing(self, file: Acting) -> None:
        file.user("go")
        self.spent(file, model="dear-1")
        file.said("two", tokens=usage(1200), model="cheap-1")
        file.user("on")
        found = price(file, 2)
        assert (found.cost_again, found.cost_cached) == (None, None)

    def test_are_not_made_up(self, file: Acting) -> None:
        file.user("go")
        file.said("one", tokens=usage(900, input=100))
        assert price(file, 0).cost_again is None


class TestSurprises:
    def test_a_compaction_left_behind(self, file: Acting) -> None:
        file.user("go " * 400)
        kept = file.said("one", tokens=usage(130_600))
        file.compacted(kept)
        file.user("on")
        found = price(file, 1)
        assert found.surprises == (
            (
                "above-compaction",
                "before the compaction 130.6k → ~130.3k: text up to here comes back in full",
            ),
        )
        assert (found.cached, found.sent_again) == (0, 130_600)

    def test_a_compaction_left_behind_an_earlier_one_that_still_applies(self, file: Acting) -> None:
        file.user("go " * 400)
        file.compacted(file.said("one", tokens=usage(130_600)))
        file.user("on")
        kept = file.said("two", tokens=usage(9_000))
        file.compacted(kept)
        file.user("and on")
        ((code, text),) = price(file, 4).surprises
        assert code == "above-compaction"
        assert text.endswith(": text since the earlier compaction comes back in full")

    def test_two_compactions_left_behind_are_both_said(self, file: Acting) -> None:
        file.user("go " * 400)
        file.compacted(file.said("one", tokens=usage(130_600)))
        file.user("on")
        file.compacted(file.said("two", tokens=usage(9_000)))
        file.user("and on")
        found = price(file, 1)
        assert dict(found.surprises)["above-compaction"] == (
            "before 2 compactions: text up to here comes back in full"
        )
        assert not found.left.in_context, "a part of it had been replaced by a summary"
        assert found.entered.in_context

    def test_a_compaction_entered_and_one_for_another(self, file: Acting) -> None:
        root = file.user("go")
        file.compacted(root, before=50_000)
        file.said("one")
        file.user("elsewhere", parent=root)
        file.said("two")
        assert codes(price(file, 2)) == ["into-compaction"]
        file.compacted(root, before=70_000)
        assert codes(price(file, 2)) == ["other-compaction"]

    def test_what_stands_before_all_messages_stays_cached(self, file: Acting) -> None:
        rules = {"role": "system", "content": "be brief " * 40, "timestamp": 1}
        file.entry("message", message=rules)
        file.user("go")
        kept = file.said("one")
        file.compacted(kept, systemMessage=rules)
        assert price(file, 2).cached == 90

    def test_two_prompts_and_calls_without_result(self, file: Acting) -> None:
        file.user("go")
        file.said(call("read", "1", path="a"), call("\x1b[31mbash", "2", command="x"))
        file.answered("1", "read")
        file.answered("2", "bash")
        file.said("done")
        assert codes(price(file, 0)) == ["two-prompts"]
        assert codes(price(file, 1)) == ["dangling-calls"]
        (code, text), *_ = price(file, 2).surprises
        assert (code, text) == ("dangling-calls", "1 call of the reply here has no result: ␛[31mbash")
        assert codes(price(file, 3)) == []

    def test_an_edit_that_would_not_apply(self, file: Acting) -> None:
        file.user("go")
        said = file.said("a long story " * 30)
        file.user("on")
        file.entry("context_edit", targetId=said, replacement={"content": "short"})
        found = price(file, 2)
        assert codes(found) == ["edits", "two-prompts"]
        assert found.cached == 1, "only the first prompt reads the same"
        assert found.after.total > found.before.total

    def test_another_model(self, file: Acting) -> None:
        file.user("go")
        file.said("one", tokens=usage(900))
        file.user("on")
        file.said("two", tokens=usage(2000), model="other")
        found = price(file, 1)
        assert (codes(found), found.cached, found.sent_again) == (["model"], 0, 900)


def test_files_that_only_failed_on_one_side(file: Acting) -> None:
    file.user("go")
    reply = file.said(call("write", "1", path="a", content="x"), call("read", "2", path="b"))
    file.answered("1", "write", failed=True)
    file.answered("1", "write", parent=reply)
    found = price(file, 2)
    assert (found.files_left, found.files_entered, found.files_changed) == (("a",), (), ())


def test_json_names_entries_by_id_and_is_json(file: Acting) -> None:
    root = file.user("go")
    file.said("one", tokens=usage(900))
    shown = json.loads(json.dumps(price(file, 0).as_json()))
    assert shown["ancestor"] == root
    assert shown["left"] == {"entries": 1, "tokens": 1}
    assert shown["context"] == {"before": 900, "after": 900}
    assert shown["cost"] == {"sent_again": None, "cached": None}
    assert [surprise["code"] for surprise in shown["surprises"]] == ["two-prompts"]


def test_a_price_decodes_only_what_decides_it(file: Acting, monkeypatch: pytest.MonkeyPatch) -> None:
    cost = {"input": 0.1, "cacheRead": 0.1, "cacheWrite": 0.1, "total": 0.3}
    for turn in range(300):
        file.user("go on")
        file.said("yes", tokens=usage(900 + turn, input=300, cacheRead=300, cacheWrite=300 + turn, cost=cost))
    with reading(file.path) as session:
        tallies = EntryMetrics(session)
        tallies.fill(session, range(len(session)))
        decoded: list[int] = []
        body, bodies = session.body, session.bodies

        def counting_bodies(
            entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
        ) -> Iterator[tuple[EntryIndex, Body | None]]:
            wanted = list(entries)
            decoded.extend(wanted)
            return bodies(wanted, pick)

        def counting_body(index: int) -> Body | None:
            decoded.append(index)
            return body(index)

        monkeypatch.setattr(session, "bodies", counting_bodies)
        monkeypatch.setattr(session, "body", counting_body)
        assert price_of_move(session, 31, metrics=tallies).left.entries == 568
        assert len(decoded) < 16


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_any_field_has_a_price(file: Acting, junk: Any) -> None:
    file.junk(junk)
    with reading(file.path) as session:
        for target in range(-1, len(session)):
            found = price_of_move(session, target)
            assert (found.files_left, found.files_entered, found.files_changed) == ((), (), ())
            json.dumps(found.as_json())


class Looks:
    """A stop that is never wanted, and how often it was asked."""

    number = 0

    def __call__(self) -> bool:
        self.number += 1
        return False


def test_stops_when_told(tmp_path: Path) -> None:
    with reading(wild(tmp_path / "wild.jsonl", 5).path) as session, pytest.raises(Cancelled):
        price_of_move(session, 0, stop=lambda: True)


def test_a_price_looks_every_few_entries_whether_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key waits for each stretch of work without a look."""
    at_once, prompts = 8, 400
    for module in ("context.price", "context.sizes"):
        monkeypatch.setattr(f"leafward.{module}._AT_ONCE", at_once)
    file = Acting(tmp_path / "long.jsonl")
    for number in range(prompts):
        last = file.user("Go on.")
        if number % 100 == 50:
            file.compacted(last)
    stop = Looks()
    with reading(file.path) as session:
        metrics = EntryMetrics(session)
        metrics.fill(session, range(len(session)))
        price_of_move(session, 1, metrics=metrics, stop=stop)
    # The path down, what on it speaks, its tokens, the compactions on it: each in steps.
    assert stop.number > 4 * prompts // at_once


def test_files_are_put_together_in_steps(file: Acting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafward.files.working_set._AT_ONCE", 4)
    calls = 40
    file.user("Go on.")
    file.said(*(call("read", f"c{number}", path=f"{number}.py") for number in range(calls)))
    stop = Looks()
    with reading(file.path) as session:
        assert len(touched(session, session.tree.path(session.leaf), stop=stop)) == calls
    assert calls // 4 < stop.number < calls


def test_paths_below_an_ancestor(tmp_path: Path) -> None:
    with reading(wild(tmp_path / "wild.jsonl", 6).path) as session:
        path = list(session.tree.path(session.leaf))
        for place, ancestor in enumerate(path):
            assert list(entries_below(session, ancestor, session.leaf)) == path[place + 1 :]
        assert list(entries_below(session, NO_ENTRY, session.leaf)) == path


def test_an_edit_of_an_entry_beside_the_path_edits_nothing_on_it(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("first")
    beside = file.user("beside")
    there = file.user("there", parent=first)
    for target in (beside, there):
        file.entry("context_edit", targetId=target, replacement=None)
    with reading(file.path) as session:
        assert edited_entries(session, session.leaf) == (session.columns.index(there),)
