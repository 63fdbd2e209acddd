"""The tree against the slow way of saying the same, and at sizes where recursion would fall over."""

from __future__ import annotations

import random
import sys
import threading
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.session.entries import NO_ENTRY, Kind
from leafward.session.tree.tree import Run, SessionTree
from tests.trees import Plan, plans, random_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HUGE = 100_000


def flat(runs: Iterable[Run]) -> list[int]:
    return [entry for run in runs for entry in range(run.start, run.stop)]


def under_limit(work: Callable[[], Any], limit: int = 200) -> Any:
    """The result of `work` in a thread whose stack may be no deeper than `limit`."""
    results: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(limit)
        try:
            results.append(work())
        except BaseException as error:  # handed on to the test
            raised.append(error)
        finally:
            sys.setrecursionlimit(before)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return results[0]


class TestAgainstTheSlowWay:
    @given(plans())
    def test_runs_are_the_longest_stretches_of_only_children(self, plan: Plan) -> None:
        tree = plan.tree
        goes_on = [
            index > 0 and plan.parents[index] == index - 1 and plan.children(index - 1) == [index]
            for index in range(len(plan))
        ]
        assert list(tree.starts) == [index for index, on in enumerate(goes_on) if not on]
        for index in range(len(plan)):
            start, stop = tree.bounds(tree.run_of(index))
            assert start <= index < stop

    @given(plans())
    def test_children_depths_and_paths(self, plan: Plan) -> None:
        tree = plan.tree
        assert tree.children(NO_ENTRY) == plan.children(-1)
        for index in range(len(plan)):
            assert tree.children(index) == plan.children(index)
            path = plan.path(index)
            assert list(tree.path(index)) == path
            assert sorted(flat(tree.path_runs(index)), key=path.index) == path
            assert tree.depth(index) == len(path) - 1

    @given(plans(24))
    def test_common_ancestors_and_what_lies_below_them(self, plan: Plan) -> None:
        tree = plan.tree
        for a in range(len(plan)):
            on_a = plan.path(a)
            for b in range(len(plan)):
                on_b = plan.path(b)
                shared = [entry for entry in on_a if entry in on_b]
                ancestor = tree.common_ancestor(a, b)
                assert ancestor == (shared[-1] if shared else -1)
                assert tree.is_ancestor(a, b) == (a in on_b)
                assert flat(tree.below(ancestor, b)) == on_b[len(shared) :]

    @given(plans())
    def test_before_everything_is_above_everything(self, plan: Plan) -> None:
        tree = plan.tree
        for index in range(len(plan)):
            assert tree.is_ancestor(-1, index)
            assert tree.common_ancestor(-1, index) == tree.common_ancestor(index, -1) == -1
            assert flat(tree.below(-1, index)) == plan.path(index)
        assert tree.path_runs(-1) == []
        assert list(tree.path(-1)) == []

    @given(plans())
    def test_subtrees(self, plan: Plan) -> None:
        tree = plan.tree
        assert sorted(tree.preorder) == list(range(len(tree.starts)))
        place = {run: at for at, run in enumerate(tree.preorder)}
        for run, start in enumerate(tree.starts):
            below = plan.subtree(start)
            content = [entry for entry in below if plan.content(entry)]
            assert tree.subtree_content[run] == len(content)
            assert tree.run_content[run] == sum(plan.content(entry) for entry in range(*tree.bounds(run)))
            assert tree.run_depth[run] == len(plan.path(start)) - 1
            assert sorted(entry for span in tree.subtree_spans(run) for entry in span) == below
            above = tree.run_parent[run]
            assert above < 0 or place[above] < place[run]

    @given(plans())
    def test_bookkeeping_makes_no_leaf_and_no_branch_point(self, plan: Plan) -> None:
        tree = plan.tree
        leaves = list(tree.leaves())
        assert sorted(leaves) == plan.leaves()
        assert tree.branch_points() == plan.branch_points()

    @given(plans())
    def test_places_in_the_conversation(self, plan: Plan) -> None:
        tree = plan.tree
        for index in range(len(plan)):
            assert tree.content_at(index) == plan.content_at(index)
            path = plan.path(index)
            assert tree.content_in(tree.path_runs(index)) == sum(map(plan.content, path))
        for run in range(-1, len(tree.starts)):
            last = tree.bounds(run)[1] - 1 if run >= 0 else -1
            above = plan.content_at(last)
            seen = [
                next(entry for entry in range(*tree.bounds(child)) if plan.content(entry))
                for child in tree.content_children(run)
            ]
            wanted = [entry for entry in plan.content_children(above) if last in (-1, *plan.path(entry))]
            assert sorted(seen) == wanted


class TestShapes:
    def test_nothing(self) -> None:
        tree = SessionTree(array("i"), bytearray())
        assert len(tree) == 0
        assert tree.children(-1) == []
        assert tree.content_at(-1) == -1
        assert list(tree.leaves()) == []
        assert tree.branch_points() == []

    def test_only_bookkeeping(self) -> None:
        tree = SessionTree(array("i", [-1, 0, 0]), bytearray([Kind.MODEL_CHANGE] * 3))
        assert list(tree.leaves()) == []
        assert tree.content_at(2) == -1

    def test_a_side_line_of_bookkeeping_is_no_branch(self) -> None:
        # 0 prompt, 1 reply, 2 label under the prompt, 3 prompt under the reply
        kinds = bytearray([Kind.USER, Kind.ASSISTANT, Kind.LABEL, Kind.USER])
        tree = SessionTree(array("i", [-1, 0, 0, 1]), kinds)
        assert list(tree.leaves()) == [3]
        assert tree.branch_points() == []

    def test_what_follows_bookkeeping_counts_for_the_entry_above_it(self) -> None:
        # 0 prompt, 1 marker under it, 2 reply under the prompt, 3 reply under the marker
        kinds = bytearray([Kind.USER, Kind.CUSTOM, Kind.ASSISTANT, Kind.ASSISTANT])
        tree = SessionTree(array("i", [-1, 0, 0, 1]), kinds)
        assert tree.branch_points() == [0]
        assert sorted(tree.leaves()) == [2, 3]


def shapes() -> dict[str, tuple[array[int], int]]:
    """Parents of a shape and how many leaves it has."""
    comb = array("i", [-1])
    for index in range(1, HUGE):
        comb.append(index - 1 if index % 2 else max(0, index - 2))
    return {
        "chain": (array("i", range(-1, HUGE - 1)), 1),
        "chain, last line first": (array("i", [*range(1, HUGE), -1]), 1),
        "star": (array("i", [-1] + [0] * (HUGE - 1)), HUGE - 1),
        "forest": (array("i", [-1] * HUGE), HUGE),
        "comb": (comb, HUGE // 2),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", shapes())
def test_a_hundred_thousand_entries_need_no_stack(name: str) -> None:
    parents, leaves = shapes()[name]
    deepest = 0 if name == "chain, last line first" else HUGE - 1

    def measure() -> tuple[int, int, int, int]:
        tree = SessionTree(parents, bytearray([Kind.USER]) * HUGE)
        path = tree.path(deepest)
        return (
            sum(1 for _ in tree.leaves()),
            len(path),
            tree.depth(deepest),
            tree.common_ancestor(deepest, HUGE // 2),
        )

    found, length, depth, _ = under_limit(measure)
    assert found == leaves
    assert length == depth + 1
    assert (
        length
        == {"chain": HUGE, "chain, last line first": HUGE, "star": 2, "forest": 1, "comb": HUGE // 2 + 1}[
            name
        ]
    )


@settings(max_examples=5)
@given(st.integers(0, 1 << 20))
def test_a_larger_random_tree_adds_up(seed: int) -> None:
    plan = random_plan(random.Random(seed), 5000, jumpy=0.05, roots=0.001, shuffled=0.02)
    tree = plan.tree
    roots = tree.run_children[-1]
    assert sum(tree.subtree_content[run] for run in roots) == sum(map(plan.content, range(len(plan))))
    children = Counter(plan.parents)
    assert children[-1] == len(tree.children(-1))
    assert [len(tree.children(index)) for index in range(len(plan))] == [
        children[index] for index in range(len(plan))
    ]
