"""Sizes in the house: lineages, methods, functions, modules. Each limit is shown to find what exceeds it."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.architecture import Code

if TYPE_CHECKING:
    from collections.abc import Iterator

TUI = "leafward_tui"
LONGEST_LINEAGE = 3
"""Classes of ours in the MRO of one, itself counted."""
MOST_METHODS = 40
"""Methods of ours that a class has, inherited ones counted."""
LONGEST_FUNCTION = 60
"""Lines of a function without its head and docstring."""
LONGER_FUNCTIONS = {
    "leafward_tui.ui.keys.legend._signs": "one table",
    "leafward.summaries.summarizers.extractive.evidence.collect": "one composition: each step has a module",
}
"""Functions that may be longer, and why."""
LONGEST_MODULE = 500
"""Lines."""
LONGER_MODULES = {"leafward_tui.ui.keys.intents": "one table, which is read as one"}
"""Modules that may be longer, and why."""
MOST_MODULES = 35
"""Modules of a folder, the `__init__` counted."""


@pytest.fixture(scope="module")
def code() -> Code:
    return Code.read()


# --- rules ------------------------------------------------------------------------------------------------------------


def long_lineages(code: Code) -> Iterator[str]:
    """Classes with too many classes of ours in their MRO."""
    for one in code.classes.values():
        if len(line := code.lineage(one)) > LONGEST_LINEAGE:
            yield f"{one.full}: {len(line)}, {', '.join(each.name for each in line)}"


def crowded(code: Code) -> Iterator[str]:
    """Classes with too many methods of ours: inherited ones and properties count, and what is overridden counts each time."""
    for one in code.classes.values():
        count = sum(len(each.methods()) for each in code.lineage(one))
        if count > MOST_METHODS:
            yield f"{one.full}: {count} methods"


def long_functions(code: Code) -> Iterator[tuple[str, int]]:
    """Functions above the limit, with their lines. One within another counts in both."""
    for module, nodes in code.nodes.items():
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                lines = body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0
                if lines > LONGEST_FUNCTION:
                    yield f"{module}.{node.name}", lines


def long_modules(code: Code) -> Iterator[tuple[str, int]]:
    """Modules above the limit, with their lines."""
    for module, lines in code.lines.items():
        if lines > LONGEST_MODULE:
            yield module, lines


def large_folders(code: Code) -> Iterator[tuple[str, int]]:
    """Folders with more modules than the limit, and how many those are."""
    folders = Counter(
        module if module in code.packages else module.rpartition(".")[0] for module in code.modules
    )
    for folder, modules in folders.items():
        if modules > MOST_MODULES:
            yield folder, modules


# --- the code ---------------------------------------------------------------------------------------------------------


def test_no_class_has_more_than_three_of_ours_in_its_lineage(code: Code) -> None:
    assert list(long_lineages(code)) == []


def test_no_class_has_more_than_forty_methods(code: Code) -> None:
    assert list(crowded(code)) == []


def test_long_functions_are_those_that_have_a_reason(code: Code) -> None:
    assert {name for name, _ in long_functions(code)} == set(LONGER_FUNCTIONS)


def test_long_modules_are_those_that_have_a_reason(code: Code) -> None:
    assert {name for name, _ in long_modules(code)} == set(LONGER_MODULES)


def test_no_folder_has_more_modules_than_the_limit(code: Code) -> None:
    assert list(large_folders(code)) == []


# --- what exceeds a limit is found ------------------------------------------------------------------------------------


def test_a_lineage_of_four_is_found() -> None:
    code = Code.planted(
        ui__screen="class A: ...\nclass B(A): ...",
        log__parts="from leafward_tui.ui.screen import B as Base\nclass C(Base[int]): ...",
        log__screen="from leafward_tui.log import parts\nclass D(parts.C): ...",
    )
    assert list(long_lineages(code)) == [f"{TUI}.log.screen.D: 4, D, C, B, A"]


def test_lineages_of_three_and_of_others_are_not() -> None:
    code = Code.planted(
        ui__a="from textual.app import App\nclass A(App): ...\nclass B(A): ...\nclass C(B): ..."
    )
    assert list(long_lineages(code)) == []


def test_inherited_methods_and_properties_are_counted() -> None:
    def body(numbers: range) -> str:
        return "".join(f"\n    @property\n    def m{number}(self): ..." for number in numbers)

    code = Code.planted(
        ui__a=f"class A:{body(range(30))}\nclass B(A):{body(range(20, 31))}\nclass C:{body(range(40))}"
    )
    assert list(crowded(code)) == [f"{TUI}.ui.a.B: 41 methods"]


@pytest.mark.parametrize(("lines", "found"), [(60, []), (61, [(f"{TUI}.ui.a.f", 61)])])
def test_a_long_function_is_found_by_its_body(lines: int, found: list[tuple[str, int]]) -> None:
    head = 'class A:\n    async def f(\n        self,\n    ):\n        """It has\n\n        a docstring."""\n'
    assert list(long_functions(Code.planted(ui__a=head + "        pass\n" * lines))) == found


def test_a_long_module_is_found() -> None:
    code = Code.planted(ui__a="\n" * 500, ui__b="\n" * 501)
    assert list(long_modules(code)) == [(f"{TUI}.ui.b", 501)]


@pytest.mark.parametrize(("modules", "found"), [(35, []), (36, [(f"{TUI}.ui", 36)])])
def test_a_large_folder_is_found(modules: int, found: list[tuple[str, int]]) -> None:
    code = Code.planted(log__a="", **{f"ui__a{number}": "" for number in range(modules)})
    assert list(large_folders(code)) == found
