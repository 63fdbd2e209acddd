"""Plans of paths made for these tests: cuts, faults of pi that are mended, earlier versions, files, robustness."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leafward.base.strategies import Strategy
from leafward.compaction.measure.measure import ContentKind, PathSizes, measure
from leafward.compaction.plan.plan import Plan, plan
from leafward.compaction.plan.settings import BadSettings, PlanSettings, TriggerRule
from leafward.compaction.stored_summary.file_lists import FileLists
from leafward.compaction.strategies.cut_rules import CutRule, IllegalCut
from leafward.context.estimators import Estimator
from leafward.context.model_context import context_at
from tests.acting import JUNK, Acting, call, reading, usage, wild

if TYPE_CHECKING:
    from pathlib import Path

K = "x" * 4000
"""A thousand tokens."""


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


def measured(file: Acting) -> PathSizes:
    with reading(file.path) as session:
        return measure(session)


def planned(file: Acting, keep: int, **settings: object) -> Plan:
    return plan(measured(file), PlanSettings(keep_recent=keep, **settings))  # type: ignore[arg-type]  # a test's own keys


def remark(made: Plan, code: str) -> tuple[str, str | None]:
    (found,) = [one for one in made.diagnostics if one.code == code]
    return found.text, found.pi_would


def turns(file: Acting, count: int) -> None:
    for _ in range(count):
        file.user(K)
        file.said(K)


def rules(made: Plan) -> list[str]:
    return [line.rule.name for line in made.cuts()]


class TestCuts:
    def test_every_place_has_its_rule(self, file: Acting) -> None:
        file.user("why")
        file.said("so", call("read", "c1", path="a.py"))
        file.entry("label", targetId="00000001", label="mark")
        file.answered("c1", "read")
        file.entry("custom", customType="note", data={})
        file.entry("custom", customType="note", data={})
        file.said("done")
        file.entry("message", message={"role": "system", "content": "rules"})
        file.entry("model_change", provider="local", modelId="scripted-1")
        file.user("go on")
        file.entry("label", targetId="00000001", label="end")
        made = planned(file, 5)
        assert rules(made) == [
            "NOTHING_BEFORE",
            "MID_TURN",
            "BETWEEN",
            "RESULT",
            "QUIET_BEFORE_REPLY",
            "QUIET_INSIDE",
            "MID_TURN",
            "SYSTEM",
            "QUIET_BEFORE_TURN",
            "TURN_START",
            "NOTHING_AFTER",
        ]
        legal = [at for at, line in enumerate(made.cuts()) if line.legal]
        assert legal == [1, 4, 6, 8, 9]
        assert [line.kept for line in made.cuts()] == sorted(
            (line.kept for line in made.cuts()), reverse=True
        )

    def test_what_a_compaction_kept_can_be_cut_again(self, file: Acting) -> None:
        turns(file, 2)
        kept = file.user(K)
        file.said(K)
        file.compacted(kept)
        turns(file, 2)
        made = planned(file, 2500)
        assert [line.entry for line in made.cuts()] == [4, 5, 7, 8, 9, 10]
        assert list(made.summarize) == [4, 5]
        assert (list(made.turn_prefix), list(made.kept)) == ([7], [8, 9, 10])
        assert made.previous_summary == "what happened"

    def test_a_plan_can_be_asked_for_at_any_legal_cut(self, file: Acting) -> None:
        turns(file, 3)
        file.said("and", call("read", "c", path="a"))
        file.answered("c", "read")
        sizes = measured(file)
        made = plan(sizes, PlanSettings(cut=sizes.context.messages[2].entry))
        assert (made.first_kept, made.split_turn, list(made.summarize)) == (2, False, [0, 1])
        assert plan(sizes, PlanSettings(cut=sizes.context.messages[3].entry)).split_turn
        with pytest.raises(IllegalCut, match="a result without its call"):
            plan(sizes, PlanSettings(cut=sizes.context.messages[7].entry))
        with pytest.raises(IllegalCut, match="nothing before it"):
            plan(sizes, PlanSettings(cut=sizes.context.messages[0].entry))

    def test_every_legal_cut_makes_the_plan_it_promises(self, tmp_path: Path) -> None:
        for seed in range(4):
            with reading(wild(tmp_path / f"{seed}.jsonl", seed).path) as session:
                sizes = measure(session)
            for line in plan(sizes).cuts():
                asked = PlanSettings(cut=line.entry)
                if not line.legal:
                    if line.rule is not CutRule.QUIET_INSIDE:
                        with pytest.raises(IllegalCut):
                            plan(sizes, asked)
                    continue
                made = plan(sizes, asked)
                assert made.tokens.kept == line.kept
                assert made.split_turn <= line.splits_turn
                spoken = [
                    entry
                    for entry in sizes.entries
                    if sizes.parts[sizes.position(entry)] > ContentKind.SYSTEM
                ]
                assert [*made.summarize, *made.turn_prefix, *made.kept] == spoken


class TestMendedFaults:
    def test_a_tail_that_begins_a_turn_splits_none(self, file: Acting) -> None:
        turns(file, 2)
        file.entry("model_change", provider="local", modelId="scripted-1")
        turns(file, 1)
        made = planned(file, 2000)
        assert (made.first_kept, made.split_turn, list(made.turn_prefix)) == (4, False, [])
        assert list(made.summarize) == [0, 1, 2, 3]
        text, pi_would = remark(made, "false-split")
        assert "no turn is split" in text
        assert pi_would is not None
        assert pi_would.startswith("pi would")
        as_it_is = planned(file, 2000, corrected=False)
        assert (as_it_is.split_turn, list(as_it_is.turn_prefix)) == (True, [2, 3])
        assert not any(one.pi_would for one in as_it_is.diagnostics)

    def test_a_real_split_stays_one(self, file: Acting) -> None:
        file.user(K)
        for _ in range(4):
            file.said(K)
        made = planned(file, 1500)
        assert (made.first_kept, made.split_turn, list(made.turn_prefix)) == (3, True, [0, 1, 2])
        assert not any(one.pi_would for one in made.diagnostics)

    def test_results_at_the_end_are_cut_in_the_middle(self, file: Acting) -> None:
        turns(file, 2)
        file.said("look", call("read", "a", path="a"), call("read", "b", path="b"))
        file.answered("a", "read", K * 9)
        file.answered("b", "read", K)
        made = planned(file, 4000)
        assert made.first_kept == 4
        assert [(short.entry, short.tokens) for short in made.pruned] == [(5, 9000)]
        assert made.tokens.kept <= 4000
        assert made.tokens.kept + made.tokens.pruned == planned(file, 4000, corrected=False).tokens.kept
        assert "pi would keep all" in str(remark(made, "tail-over-budget")[1])

    def test_a_little_over_the_budget_stays(self, file: Acting) -> None:
        turns(file, 2)
        file.said("look", call("read", "a", path="a"))
        file.answered("a", "read", K)
        made = planned(file, 900)
        assert (made.first_kept, made.pruned) == (4, ())

    def test_a_first_entry_over_the_budget_stays_and_is_told(self, file: Acting) -> None:
        turns(file, 1)
        file.user(K * 10)
        file.said("short")
        made = planned(file, 2000)
        assert (made.first_kept, made.pruned) == (2, ())
        assert remark(made, "large-first-entry")[1] is None
        assert " times the budget, because" in remark(made, "large-first-entry")[0]

    def test_of_a_budget_of_none_nothing_is_a_multiple(self, file: Acting) -> None:
        turns(file, 2)
        text, _ = remark(planned(file, 0), "large-first-entry")
        assert " times " not in text
        assert "with a budget of 0, because its first message, " in text

    def test_file_lists_are_bounded_the_recent_and_modified_first(self, file: Acting) -> None:
        old = {"readFiles": [f"old/{number}.py" for number in range(40)], "modifiedFiles": ["old/kept.py"]}
        kept = file.user("start")
        file.compacted(kept, details=old)
        for number in range(40):
            file.user("more")
            path = f"src/{number:02}.py"
            file.said("", call("read" if number % 2 else "write", f"c{number}", path=path))
        turns(file, 2)
        made = planned(file, 2000, file_budget=200)
        assert made.files.size <= 200
        assert "src/38.py" in made.files.modified
        assert "src/39.py" in made.files.read
        assert "src/00.py" not in made.files.modified
        assert len(made.files.modified) > len(made.files.read) > 0
        whole = planned(file, 2000, corrected=False, file_budget=200)
        assert (len(whole.files.read), len(whole.files.modified)) == (60, 21)
        omitted = made.files.omitted_read, made.files.omitted_modified
        assert omitted == (60 - len(made.files.read), 21 - len(made.files.modified))
        assert "pi would list all" in str(remark(made, "file-lists")[1])

    def test_lists_that_an_extension_wrote_are_not_carried(self) -> None:
        lists = {"readFiles": ["a", 5], "modifiedFiles": None}
        assert FileLists.stored({"details": lists}) == FileLists(("a",))
        assert FileLists.stored({"details": lists, "fromHook": True}) is None
        assert FileLists.stored({}) is None


class TestEarlierVersions:
    def test_results_over_the_budget_made_0_73_cut_nothing(self, file: Acting) -> None:
        turns(file, 2)
        file.said("look", call("read", "a", path="a"))
        file.answered("a", "read", K * 9)
        made = planned(file, 4000, version="0.73")
        assert (made.first_kept, made.nothing, list(made.summarize)) == (0, False, [])

    def test_0_58_lost_what_the_last_compaction_kept(self, file: Acting) -> None:
        turns(file, 1)
        kept = file.user(K)
        file.said(K)
        file.compacted(kept)
        turns(file, 3)
        newer, older = planned(file, 2500, version="0.73"), planned(file, 2500, version="0.58")
        assert newer.first_kept == older.first_kept
        assert (list(newer.summarize), list(older.summarize)) == ([2, 3, 5, 6], [5, 6])
        assert "is lost" in remark(older, "kept-lost")[0]

    def test_notes_split_a_turn_with_nothing_in_front(self, file: Acting) -> None:
        turns(file, 1)
        file.entry("custom_message", customType="hint", content=K, display=True)
        file.said(K)
        made = planned(file, 900, version="0.73")
        assert (made.first_kept, made.split_turn, list(made.turn_prefix)) == (2, True, [])

    def test_versions_that_nobody_knows_are_refused(self, file: Acting) -> None:
        turns(file, 1)
        with pytest.raises(BadSettings, match="there are 1"):
            planned(file, 100, version="9.9")


def plans(sizes: PathSizes, settings: PlanSettings | None = None) -> list[Plan]:
    settings = settings if settings is not None else PlanSettings()
    return [plan(sizes, replace(settings, strategy=strategy)) for strategy in Strategy]


class TestNothing:
    def test_nothing_said(self, file: Acting) -> None:
        file.entry("model_change", provider="local", modelId="scripted-1")
        for made in plans(measured(file)):
            assert made.nothing
            assert (made.first_kept, list(made.summarize), made.keeps) == (-1, [], "all")

    def test_right_after_a_compaction(self, file: Acting) -> None:
        turns(file, 2)
        file.compacted(file.leaf or "")
        for made in plans(measured(file)):
            assert made.nothing
            assert "nothing came after" in remark(made, "nothing-to-compact")[0]

    def test_everything_fits(self, file: Acting) -> None:
        turns(file, 2)
        made = planned(file, 20_000)
        assert (made.nothing, list(made.kept)) == (True, [0, 1, 2, 3])


class TestTrigger:
    def test_pi_goes_by_the_reported_size_and_what_came_since(self, file: Acting) -> None:
        file.user(K)
        file.said("ok", tokens=usage(90_000))
        file.user(K)
        sizes = measured(file)
        at = PlanSettings(window=91_000 + 16_384)
        assert plan(sizes, at).trigger.tokens == 91_000
        assert not plan(sizes, at).trigger.reached
        beyond = plan(sizes, PlanSettings(window=90_999 + 16_384)).trigger
        assert (beyond.reached, beyond.source, beyond.threshold) == (True, "usage", 90_999)

    def test_diligent_keeps_sixteen_percent_free(self, file: Acting) -> None:
        turns(file, 1)
        made = planned(file, 100, trigger=TriggerRule.PROPORTIONAL, window=200_000)
        assert (made.trigger.threshold, made.trigger.reserve, made.trigger.source) == (
            168_000,
            32_000,
            "estimate",
        )

    def test_opencode_and_codex_compact_at_the_threshold(self, file: Acting) -> None:
        file.user("x")
        file.said("ok", tokens=usage(80_000))
        sizes = measured(file)
        for strategy in Strategy:
            made = plan(sizes, PlanSettings(strategy=strategy, window=100_000, reserve=20_000))
            assert made.trigger.reached is (strategy is not Strategy.PI)


class TestSizes:
    def test_parts_sum_up_to_the_context(self, tmp_path: Path) -> None:
        for seed in range(6):
            with reading(wild(tmp_path / f"{seed}.jsonl", seed).path) as session:
                for at in range(0, len(session), 7):
                    sizes = measure(session, at)
                    context = context_at(session, at)
                    system = sum(message.tokens for message in context.messages if message.role == "system")
                    for keep in (10, 100, 1000):
                        tokens = plan(sizes, PlanSettings(keep_recent=keep, corrected=False)).tokens
                        parts = tokens.summarize + tokens.turn_prefix + tokens.kept + tokens.previous_summary
                        assert parts == sum(context.messages.tokens) - system
                        assert tokens.before == context.size.total

    def test_a_measure_is_not_changed_by_plans(self, file: Acting) -> None:
        turns(file, 5)
        sizes = measured(file)
        before = (sizes.entries[:], sizes.counts, sizes.parts, sizes.spoken[:])
        first = plans(sizes)
        assert plans(sizes) == first
        assert (sizes.entries, sizes.counts, sizes.parts, sizes.spoken) == before

    @pytest.mark.parametrize("junk", JUNK, ids=repr)
    def test_no_content_breaks_it(self, file: Acting, junk: object) -> None:
        file.user("first")
        file.junk(junk)
        file.user("last")
        with reading(file.path) as session:
            for at in range(len(session)):
                for made in plans(measure(session, at), PlanSettings(keep_recent=1)):
                    assert len(list(made.cuts())) == len(made.sizes)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["a"], "The only token fits into"), (["a", "b" * 8], "All ~3 tokens of messages fit into")],
)
def test_what_fits_is_counted_in_words_that_agree(words: list[str], said: str, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for text in words:
        file.user(text)
    with reading(file.path) as session:
        assert said in plan(measure(session), PlanSettings()).why


def test_codex_drops_images_of_what_it_keeps_and_says_so(tmp_path: Path) -> None:
    made = Acting(tmp_path / "images.jsonl")
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    text = {"type": "text", "text": "look at this " * 20}
    made.entry("message", message={"role": "user", "content": [text, picture], "timestamp": 1})
    made.said("a pear")
    made.entry("message", message={"role": "user", "content": [picture], "timestamp": 1})
    made.said("another")
    made.user("and on")
    made.said("done")
    with reading(made.path) as session:
        sizes = measure(session, estimators=tuple(Estimator))
        found = plan(sizes, PlanSettings(strategy=Strategy.CODEX))
        texts = [one.text for one in found.diagnostics if one.code == "images-dropped"]
        assert texts == ["drops 2 images of 2 messages of the user: only the text is kept"]
        assert len(found.kept) == 2, "nothing is left of a message that only shows an image"
        assert found.tokens.kept < 200, "an image alone counts for more"
