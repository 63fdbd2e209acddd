"""Codex and opencode: what they keep, prune and summarise, and what they did before."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import leafward
import leafward_tui
from leafward.base.strategies import STRATEGY_CHOICES, Strategy
from leafward.cli.options.option_fields import Options
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import Plan, plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS, rules_of
from leafward.context.estimators import Estimator, estimated_tokens, text_tokens
from leafward.session.entries import Kind
from leafward.session.messages import messages_of
from leafward.session.tokens import message_tokens
from tests.acting import JUNK, Acting, call, reading, wild

if TYPE_CHECKING:
    from types import ModuleType

K = "x" * 4000


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


def planned(file: Acting, strategy: Strategy, **settings: object) -> Plan:
    with reading(file.path) as session:
        sizes = measure(session, estimators=ALL_ESTIMATORS)
    return plan(sizes, PlanSettings(strategy=strategy, **settings))  # type: ignore[arg-type]  # a test's own keys


def codes(made: Plan) -> set[str]:
    return {remark.code for remark in made.diagnostics}


class TestCodex:
    def test_newest_user_messages_stay_the_oldest_cut_in_the_middle(self, file: Acting) -> None:
        for size in (3, 9, 9, 1):
            file.user(K * size)
            file.said(K)
        made = planned(file, Strategy.CODEX)
        assert (made.first_kept, made.keeps, list(made.kept)) == (-1, "messages", [0, 2, 4, 6])
        assert [(short.entry, short.tokens, short.left) for short in made.pruned] == [(0, 3000, 1000)]
        assert list(made.summarize) == [0, 1, 3, 5, 7]
        assert made.tokens.kept == 20_000
        assert not any(line.legal for line in made.cuts())

    def test_bytes_are_counted(self, file: Acting) -> None:
        file.user("好" * 4000)
        assert "is cut in the middle" in planned(file, Strategy.CODEX, keep_recent=2000).why
        by_units = planned(file, Strategy.CODEX, keep_recent=2000, estimator=Estimator.PI)
        assert "is cut in the middle" not in by_units.why

    def test_a_message_has_one_size_by_whatever_rules_it_is_kept(self, file: Acting) -> None:
        """The rules count bytes to decide; what is shown is what every context says of the message."""
        file.user("好" * 4000)
        file.said("好" * 400)
        sizes = {strategy: planned(file, strategy).tokens for strategy in Strategy}
        assert {tokens.parts for tokens in sizes.values()} == {1100}
        assert sizes[Strategy.CODEX].kept == 1000

    def test_what_is_cut_off_a_prompt_counts_once(self, file: Acting) -> None:
        for size in (3, 9, 9, 1):
            file.user(K * size)
            file.said(K)
        tokens = planned(file, Strategy.CODEX).tokens
        assert (tokens.summarize, tokens.pruned, tokens.kept) == (4000, 2000, 20_000)
        assert tokens.parts == 26_000, "the size of all messages"

    def test_only_what_a_person_said_is_kept(self, file: Acting) -> None:
        file.user("why")
        file.entry("custom_message", customType="hint", content="hint", display=False)
        file.entry("branch_summary", fromId="x", summary="elsewhere")
        file.entry("message", message={"role": "bashExecution", "command": "ls", "output": ""})
        made = planned(file, Strategy.CODEX)
        assert (list(made.kept), list(made.summarize)) == ([0], [1, 2, 3])

    def test_the_initial_context_came_back_later(self, file: Acting) -> None:
        file.user("why")
        file.said("so")
        now, then = planned(file, Strategy.CODEX), planned(file, Strategy.CODEX, version="0.125")
        assert "initial-context" in codes(now)
        assert "no-initial-context" in codes(then)
        assert list(now.kept) == list(then.kept)


def results(file: Acting, turns: list[list[int]], tool: str = "read", *, failed: bool = False) -> list[int]:
    """Turns with results of so many thousand tokens; the entries of the results."""
    made = []
    for sizes in turns:
        file.user("go")
        for size in sizes:
            file.said("look", call(tool, f"c{file.count}"))
            file.answered(f"c{file.count - 1}", tool, K * size, failed=failed)
            made.append(file.count - 1)
    return made


class TestPruning:
    def test_old_results_go_beyond_the_newest_forty_thousand(self, file: Acting) -> None:
        entries = results(file, [[15, 15, 15], [15, 15], [30], [30]])
        made = planned(file, Strategy.OPENCODE)
        assert [short.entry for short in made.pruned] == entries[:3]
        assert made.tokens.pruned == sum(short.tokens - short.left for short in made.pruned)
        assert "pruned" in codes(made)

    def test_nothing_goes_where_it_frees_too_little(self, file: Acting) -> None:
        results(file, [[10, 10], [15, 15, 10], [5], [5]])
        assert planned(file, Strategy.OPENCODE).pruned == ()

    def test_the_last_two_turns_stay(self, file: Acting) -> None:
        results(file, [[30, 30, 30], [30]])
        assert planned(file, Strategy.OPENCODE).pruned == ()

    @pytest.mark.parametrize("how", ["skill", "failed"])
    def test_skills_and_errors_stay_and_do_not_count(self, file: Acting, how: str) -> None:
        results(file, [[60, 60]], *(["skill"] if how == "skill" else []), failed=how == "failed")
        results(file, [[30], [1], [1]])
        assert planned(file, Strategy.OPENCODE).pruned == ()

    def test_it_can_be_left_out(self, file: Acting) -> None:
        results(file, [[30, 30, 30], [1], [1]])
        made = planned(file, Strategy.OPENCODE)
        assert len(made.pruned) == 2
        assert planned(file, Strategy.OPENCODE, prune=False).pruned == ()

    def test_pruning_alone_may_do(self, file: Acting) -> None:
        results(file, [[30, 30, 30], [1], [1]])
        assert "prune-suffices" in codes(planned(file, Strategy.OPENCODE, window=90_000, reserve=10_000))


class TestOpencodeTail:
    def turns(self, file: Acting, *sizes: int) -> None:
        for size in sizes:
            file.user("go")
            file.said(K * size)

    def test_whole_turns_that_fit(self, file: Acting) -> None:
        self.turns(file, 9, 6, 4, 4)
        made = planned(file, Strategy.OPENCODE)
        assert (made.settings.budget, made.first_kept, made.split_turn) == (15_000, 2, False)
        assert list(made.summarize) == [0, 1]
        assert made.why.startswith("The last 3 turns fit into 15,000 tokens")

    def test_the_numbers_of_turns_agree_with_their_words(self, file: Acting) -> None:
        self.turns(file, 9, 14)
        assert planned(file, Strategy.OPENCODE).why.startswith("The last turn fits into")
        file.user(K)
        for _ in range(3):
            file.said(K * 6)
        assert planned(file, Strategy.OPENCODE).why.startswith("Part of the last turn fits into")
        self.turns(file, 1)
        assert "1 whole turn and part of another fit into" in planned(file, Strategy.OPENCODE).why

    @pytest.mark.parametrize(
        ("window", "budget"), [(20_000, 2_000), (60_000, 10_000), (80_000, 15_000), (500_000, 15_000)]
    )
    def test_the_budget_is_a_quarter_of_what_is_usable(self, file: Acting, window: int, budget: int) -> None:
        self.turns(file, 1)
        assert planned(file, Strategy.OPENCODE, window=window).settings.budget == budget

    def test_a_turn_is_split_at_a_reply(self, file: Acting) -> None:
        self.turns(file, 3)
        file.user(K)
        for _ in range(3):
            file.said(K * 6)
        made = planned(file, Strategy.OPENCODE)
        assert (made.first_kept, made.split_turn, list(made.turn_prefix)) == (4, True, [2, 3])

    def test_nothing_is_kept_where_everything_would_fit(self, file: Acting) -> None:
        self.turns(file, 1, 1)
        made = planned(file, Strategy.OPENCODE)
        assert (made.first_kept, made.nothing, made.keeps) == (-1, False, "none")
        assert list(made.summarize) == [0, 1, 2, 3]

    def test_the_number_of_turns_can_be_limited(self, file: Acting) -> None:
        self.turns(file, 9, 1, 1, 1)
        assert planned(file, Strategy.OPENCODE, tail_turns=2).first_kept == 4

    def test_1_3_kept_no_tail(self, file: Acting) -> None:
        self.turns(file, 9, 6, 4)
        made = planned(file, Strategy.OPENCODE, version="1.3")
        assert (made.first_kept, list(made.kept), len(made.summarize)) == (-1, [], 6)


class TestEstimators:
    @pytest.mark.parametrize(
        ("text", "pi", "codex", "opencode"),
        [
            ("", 0, 0, 0),
            ("a", 1, 1, 0),
            ("ab", 1, 1, 1),
            ("abcde", 2, 2, 1),
            ("é好😀", 1, 3, 1),
            ("\ud800", 1, 1, 0),
        ],
    )
    def test_each_agent_counts_its_own_way(self, text: str, pi: int, codex: int, opencode: int) -> None:
        counted = [text_tokens(text, estimator) for estimator in ALL_ESTIMATORS]
        assert counted == [pi, codex, opencode]

    def test_scripts_weigh_differently(self) -> None:
        def by_script(text: str) -> float:
            return text_tokens(text * 100, Estimator.SCRIPT) / text_tokens(text * 100, Estimator.PI)

        assert by_script("plain words ") == 1
        for cjk in ("漢字", "かな", "한글"):
            assert 2 <= by_script(cjk) <= 4
        assert 1 < by_script("слова") < 2
        assert by_script("日本 text ") < by_script("日本")

    def test_every_message_is_counted_as_pi_counts_it(self, tmp_path: Path) -> None:
        for seed in range(4):
            with reading(wild(tmp_path / f"{seed}.jsonl", seed).path) as session:
                for index, body in session.bodies(range(len(session))):
                    for message in messages_of(body or {}, Kind(session.columns.kind[index])):
                        pi, script = message_tokens(message), estimated_tokens(message, Estimator.SCRIPT)
                        assert estimated_tokens(message, Estimator.PI) == pi
                        assert abs(estimated_tokens(message, Estimator.CODEX) - pi) <= 1
                        assert abs(estimated_tokens(message, Estimator.OPENCODE) - pi) <= 1
                        assert abs(script - pi) <= 1

    @pytest.mark.parametrize("junk", JUNK, ids=repr)
    def test_no_content_breaks_them(self, file: Acting, junk: object) -> None:
        file.junk(junk)
        with reading(file.path) as session:
            for index, body in session.bodies(range(len(session))):
                for message in messages_of(body or {}, Kind(session.columns.kind[index])):
                    for estimator in Estimator:
                        assert estimated_tokens(message, estimator) >= 0

    def test_a_plan_says_which_one_counted(self, file: Acting) -> None:
        file.user("漢字" * 2000)
        file.said("ok")
        with reading(file.path) as session:
            sizes = measure(session, estimators=[Estimator.SCRIPT])
        made = plan(sizes, PlanSettings(estimator=Estimator.SCRIPT, keep_recent=1))
        assert (made.estimator, made.tokens.turn_prefix) == (Estimator.SCRIPT, 3000)
        other = plan(sizes, PlanSettings(Strategy.CODEX))
        assert other.estimator is Estimator.PI, "codex was not measured"


def comparisons(code: str) -> list[int]:
    """The lines of a module that ask whether a strategy is a certain one."""
    if "Strategy." not in code:
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Compare)
        and any(
            isinstance(side, ast.Attribute)
            and isinstance(side.value, ast.Name)
            and side.value.id == "Strategy"
            for side in (node.left, *node.comparators)
        )
    ]


class TestOneList:
    @pytest.mark.parametrize("strategy", Strategy)
    def test_each_has_rules_that_plan(self, file: Acting, strategy: Strategy) -> None:
        file.user(K)
        assert planned(file, strategy).settings.behaviour == rules_of(strategy).versions[0]

    def test_all_are_offered(self) -> None:
        names = [one.value for one in Strategy]
        assert list(STRATEGY_CHOICES) == ["own", *names]
        (option,) = [
            one for one in Options("compaction_options.PlanOptions").declared() if one.name == "strategy"
        ]
        assert list(option.type.choices) == [*names, "all"]  # type: ignore[attr-defined]  # a choice

    @pytest.mark.parametrize("package", [leafward, leafward_tui])
    def test_what_differs_is_in_the_rules_alone(self, package: ModuleType) -> None:
        root = Path(str(package.__file__)).parent
        found = {path.name: comparisons(path.read_text("utf-8")) for path in root.rglob("*.py")}
        assert {name: lines for name, lines in found.items() if lines} == {}

    def test_a_question_for_one_strategy_is_found(self) -> None:
        assert comparisons("x = 1\nif settings.strategy is not Strategy.PI: pass") == [2]
