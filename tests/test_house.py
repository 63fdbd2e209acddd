"""The architecture: what every class, module and job has to keep to. Each rule is shown to find what breaks it.

Sizes are in `test_house_sizes`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture import Code, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.architecture import Class

TUI = "leafward_tui"
CORE = "leafward"
SHORTEST_PARAGRAPH = 60
"""Characters of the docstring of a room."""


@pytest.fixture(scope="module")
def code() -> Code:
    return Code.read()


def of_application(code: Code) -> Iterator[tuple[str, list[ast.AST]]]:
    """Modules of the application with their nodes."""
    for module, nodes in code.nodes.items():
        if module.startswith(f"{TUI}."):
            yield module, nodes


# --- rules ------------------------------------------------------------------------------------------------------------


def left_to_heirs(code: Code) -> Iterator[str]:
    """Methods that only a heir has."""
    for module, _ in of_application(code):
        for node in code.nodes[module]:
            if isinstance(node, ast.Name) and node.id == "NotImplementedError":
                yield f"{module}:{node.lineno}: NotImplementedError"


def handled_twice(code: Code) -> Iterator[str]:
    """Message handlers that two classes of one MRO define: Textual would call both."""
    for one in code.classes.values():
        owners: dict[str, str] = {}
        for each in code.lineage(one):
            for name in each.methods():
                if name.startswith("on_") and name in owners:
                    yield f"{one.full}: {name} of {owners[name]} and of {each.name}"
                owners.setdefault(name, each.name)


def handing_on(code: Code) -> Iterator[str]:
    """Modules that hand on names of others, which mypy allows to those with `__all__` only."""
    for module, tree in code.modules.items():
        if module in {"leafward", VERBS}:
            continue
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                yield f"{module}:{node.lineno}: __all__"


VERBS = "leafward.cli.declarations.verbs"
"""It imports the modules of the verbs for their effect, and the group to which they add themselves."""
_STARTS = frozenset({"run_worker", "to_thread", "call_from_thread", "get_current_worker", "run_in_executor"})
_STARTERS = frozenset(
    {"textual.work", "threading.Thread", "threading.Timer", "concurrent.futures.ThreadPoolExecutor"}
)
JOBS = f"{TUI}.ui.jobs"
_JOB_STARTS = frozenset({"latest", "also"})


def threads_elsewhere(code: Code) -> Iterator[str]:
    """Thread workers that are started anywhere but in the one module for that."""
    for module, _ in of_application(code):
        if module == JOBS:
            continue
        for node in code.nodes[module]:
            if not isinstance(node, ast.Name | ast.Attribute):
                continue
            name = dotted(node)
            if name and (name.rpartition(".")[2] in _STARTS or code.resolve(module, name) in _STARTERS):
                yield f"{module}:{node.lineno}: {name}"


def jobs_of(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """Functions that are run as jobs, wherever one is started; for a variable, its value there."""
    if not any(isinstance(node, ast.Attribute) and node.attr in _JOB_STARTS for node in nodes):
        return
    for function in nodes:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = list(ast.walk(function))
        started = [
            node.args[1]
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _JOB_STARTS
            and "jobs" in ast.unparse(node.func.value).lower()
            and len(node.args) >= 2
        ]
        if not started:
            continue
        variables = {
            dotted(target): node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        yield from (variables.get(dotted(work) or "-", work) for work in started)


def shared_with_screens(code: Code) -> Iterator[str]:
    """Jobs that are no free function of values: they would read or write what belongs to the thread of the screen."""
    for module, nodes in of_application(code):
        functions = {node.name for node in code.modules[module].body if isinstance(node, ast.FunctionDef)}
        for work in jobs_of(nodes):
            values: list[ast.expr] = []
            if isinstance(work, ast.Call) and dotted(work.func) in {"partial", "functools.partial"}:
                values = [*work.args[1:], *(keyword.value for keyword in work.keywords)]
                work = work.args[0]
            place = f"{module}:{work.lineno}"
            name = dotted(work)
            owner, _, function = code.resolve(module, name).rpartition(".")
            if name in functions:
                owner, function = module, name
            if owner not in code.modules:
                yield f"{place}: a job runs {ast.unparse(work)}, no function of a module"
                continue
            yield from (
                f"{place}: a job is given {ast.unparse(value)}"
                for value in values
                if isinstance(value, ast.Name) and value.id == "self"
            )
            for node in code.modules[owner].body:
                if isinstance(node, ast.FunctionDef) and node.name == function:
                    yield from (f"{place}: {function} takes {one}" for one in screens_in(code, owner, node))


def screens_in(code: Code, module: str, function: ast.FunctionDef) -> Iterator[str]:
    """Parameters of a function that are widgets, screens, controllers or services."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for argument in arguments:
        for node in ast.walk(argument.annotation) if argument.annotation is not None else ():
            name = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            full = code.resolve(module, name) if name else ""
            if full in code.classes and of_the_screen(code, code.classes[full]):
                yield f"{argument.arg}: {name}"


def of_the_screen(code: Code, one: Class) -> bool:
    """Whether a class belongs to the thread of the screen."""
    if one.full in {f"{TUI}.ui.{name}" for name in ("services.AppServices", "services.Screens", "jobs.Jobs")}:
        return True
    if any(root.startswith("textual.") and "message" not in root for root in code.roots(one)):
        return True
    if one.module.endswith((".display", ".ports", ".state")):
        return True
    return ".controllers." in one.module and not is_value(code, one)


def is_value(code: Code, one: Class) -> bool:
    """Whether a class only holds values: a named tuple, a dataclass."""
    calls = [node for node in one.node.decorator_list if isinstance(node, ast.Call)]
    return "typing.NamedTuple" in code.roots(one) or "dataclass" in [dotted(node.func) for node in calls]


_OF_NAMED_TUPLES = frozenset({"_asdict", "_fields", "_field_defaults", "_make", "_replace"})
"""Public, in spite of their names."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _OF_NAMED_TUPLES


BARE = frozenset(
    {"Line", "Row", "Part", "Kept", "Wanted", "Told", "Named", "Stored", "Spent", "Carried", "Decoded"}
)
"""Names of classes that say nothing without their module."""


def crossing(code: Code) -> Iterator[str]:
    """Underscore names, and bare ones, that one module takes from another."""
    for module, nodes in code.nodes.items():
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in {TUI, CORE}:
                for alias in node.names:
                    if is_private(alias.name) or alias.name in BARE:
                        yield f"{module}:{node.lineno}: {node.module}.{alias.name}"
            elif isinstance(node, ast.Attribute) and is_private(node.attr):
                name = dotted(node.value)
                if name and code.names[module].get(name.partition(".")[0]) and name not in {"self", "cls"}:
                    full = code.resolve(module, name)
                    if full in code.modules or full in code.classes:
                        yield f"{module}:{node.lineno}: {name}.{node.attr}"


def namesakes(code: Code) -> Iterator[str]:
    """Classes of the core that share a name with one of another module; agents, which know nothing of each other, may."""
    named: dict[str, list[str]] = {}
    for full in sorted(code.classes):
        module, _, name = full.rpartition(".")
        if module.partition(".")[0] == CORE and module in code.modules and not name.startswith("_"):
            named.setdefault(name, []).append(module)
    for name, modules in named.items():
        agents = {module.split(".")[2] for module in modules if module.startswith(f"{CORE}.agents.")}
        if len(agents) < len(modules) > 1:
            yield f"{name}: {', '.join(modules)}"


def undescribed(code: Code) -> Iterator[str]:
    """Rooms whose package does not say in a paragraph what it owns."""
    for package in sorted(code.packages):
        if package.count(".") == 1 and not package.endswith((".data", ".workflows")):
            text = ast.get_docstring(code.modules[package]) or ""
            if len(text) < SHORTEST_PARAGRAPH:
                yield f"{package}: {text!r}"


def importing_packages(code: Code) -> Iterator[str]:
    """Packages whose `__init__` imports one of our modules.

    Of two threads that load such a package and its module at once, one gets a module that is half loaded.
    """
    for package in sorted(code.packages):
        yield from (f"{package}: {other}" for other in sorted(code.imports[package]))


# --- the code ---------------------------------------------------------------------------------------------------------


def test_no_method_is_left_to_heirs(code: Code) -> None:
    assert list(left_to_heirs(code)) == []


def test_no_message_is_handled_twice(code: Code) -> None:
    assert list(handled_twice(code)) == []


def test_threads_are_started_in_one_module(code: Code) -> None:
    assert list(threads_elsewhere(code)) == []


def test_a_job_is_a_function_of_values(code: Code) -> None:
    assert list(shared_with_screens(code)) == []


@pytest.mark.parametrize("package", [TUI, CORE])
def test_no_modules_import_each_other(code: Code, package: str) -> None:
    assert list(code.circles(package)) == []


def test_no_underscore_name_and_no_bare_one_crosses_a_module(code: Code) -> None:
    assert list(crossing(code)) == []


def test_a_name_is_imported_from_the_module_that_has_it(code: Code) -> None:
    assert list(handing_on(code)) == []


def test_every_room_says_what_it_owns(code: Code) -> None:
    assert list(undescribed(code)) == []


def test_no_package_imports_its_modules(code: Code) -> None:
    assert list(importing_packages(code)) == []


def test_a_class_name_of_the_core_means_one_thing(code: Code) -> None:
    assert list(namesakes(code)) == []


LOADS = """
import random, sys, threading
import textual.app  # It stands before a thread of ours loads anything; its own modules import one another in circles.
names = sys.argv[1:]
failed = []

def load(seed):
    order = names[:]
    random.Random(seed).shuffle(order)
    for name in order:
        try:
            __import__(name)
        except Exception as error:
            failed.append(f"{name}: {error!r}")

threads = [threading.Thread(target=load, args=(seed,)) for seed in range(8)]
sys.setswitchinterval(1e-5)
for thread in threads: thread.start()
for thread in threads: thread.join()
print("\\n".join(failed))
"""


def test_modules_that_many_threads_load_at_once_are_whole(code: Code) -> None:
    names = sorted(name for name in code.modules if not name.endswith("__main__"))
    done = subprocess.run([sys.executable, "-c", LOADS, *names], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# --- what breaks a rule is found --------------------------------------------------------------------------------------


def test_a_method_for_heirs_is_found() -> None:
    code = Code.planted(ui__a="class A:\n    def f(self):\n        raise NotImplementedError('in a heir')")
    assert list(left_to_heirs(code)) == [f"{TUI}.ui.a:3: NotImplementedError"]


def test_a_handler_that_is_there_twice_is_found() -> None:
    code = Code.planted(
        ui__a="class A:\n    def on_mount(self): ...\nclass B(A):\n    def on_mount(self): ...\nclass C(A): ..."
    )
    assert list(handled_twice(code)) == [f"{TUI}.ui.a.B: on_mount of B and of A"]


@pytest.mark.parametrize(
    "source",
    [
        "from textual import work\nclass A:\n    @work(thread=True)\n    def f(self): ...",
        "class A:\n    def f(self):\n        self.run_worker(self.g, thread=True)",
        "import threading\ndef f():\n    threading.Thread(target=f).start()",
        "import asyncio\nasync def f():\n    await asyncio.to_thread(f)",
        "from concurrent.futures import ThreadPoolExecutor\ndef f():\n    ThreadPoolExecutor()",
    ],
)
def test_a_thread_elsewhere_is_found(source: str) -> None:
    assert len(list(threads_elsewhere(Code.planted(log__jobs=source)))) == 1
    assert list(threads_elsewhere(Code.planted(ui__jobs=source))) == []


JOB = """
from functools import partial
from leafward_tui.log.widgets import List
from leafward_tui.log.controllers.undo import Request, Undo
from leafward_tui.log.jobs import elsewhere
def counted(numbers: list[int], job): ...
def listed(view: "List | None", job): ...
def drawn(view: List | None, job): ...
def taken(undo: Undo, job): ...
def asked(request: Request, job): ...
class Screen:
    def start(self):
        work = {work}
        self.jobs.latest("key", work, print)
"""
UNDO = "from typing import NamedTuple\nclass Undo: ...\nclass Request(NamedTuple): ..."


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("self.count", "a job runs self.count, no function of a module"),
        ("lambda job: self.count(job)", "a job runs lambda job: self.count(job), no function of a module"),
        ("partial(counted, self)", "a job is given self"),
        ("partial(counted, numbers=self)", "a job is given self"),
        ("partial(elsewhere, None)", "elsewhere takes view: List"),
        ("partial(drawn, None)", "drawn takes view: List"),
        ("partial(taken, None)", "taken takes undo: Undo"),
    ],
)
def test_a_job_that_is_given_a_screen_is_found(work: str, words: str) -> None:
    code = Code.planted(
        log__screen=JOB.format(work=work),
        log__widgets="from textual.widget import Widget\nclass Base(Widget): ...\nclass List(Base): ...",
        log__controllers__undo=UNDO,
        log__jobs="from leafward_tui.log.widgets import List\ndef elsewhere(view: List, job): ...",
    )
    assert [one.partition(": ")[2] for one in shared_with_screens(code)] == [words]


@pytest.mark.parametrize("work", ["partial(counted, self.numbers)", "partial(asked, self.request)"])
def test_a_job_of_values_is_not(work: str) -> None:
    code = Code.planted(
        log__screen=JOB.format(work=work),
        log__widgets="from textual.widget import Widget\nclass List(Widget): ...",
        log__controllers__undo=UNDO,
    )
    assert list(shared_with_screens(code)) == []


def test_a_circle_is_found_through_type_checking_imports() -> None:
    code = Code.planted(
        log__a="from leafward_tui.log import b",
        log__b="def f():\n    from leafward_tui.log.c import g",
        log__c="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from leafward_tui.log.a import A",
        log__d="from leafward_tui.log import a",
    )
    assert code.circles(TUI) == [[f"{TUI}.log.{name}" for name in "abc"]]
    assert code.circles(f"{TUI}.ui") == []


def test_a_package_that_imports_its_module_is_found() -> None:
    sources = {f"{TUI}.log": f"from {TUI}.log.screen import Log", f"{TUI}.log.screen": "class Log: ..."}
    code = Code(sources, frozenset({f"{TUI}.log"}))
    assert list(importing_packages(code)) == [f"{TUI}.log: {TUI}.log.screen"]


def test_an_underscore_name_that_crosses_is_found() -> None:
    code = Code.planted(
        log__a="from leafward_tui.log.b import _f, g, Row\nfrom leafward_tui.log import b\nb._h()\nself._own = 1",
        log__b="def _f(): ...\ndef g(): ...\ndef _h(): ...",
    )
    bare = f"{TUI}.log.a:1: {TUI}.log.b.Row"
    assert list(crossing(code)) == [f"{TUI}.log.a:1: {TUI}.log.b._f", bare, f"{TUI}.log.a:3: b._h"]


def test_a_class_named_like_another_one_is_found() -> None:
    source = "class Step: ...\nclass _Own: ..."
    modules = [f"{CORE}.files.a", f"{CORE}.query.b", f"{TUI}.log.c"]
    assert list(namesakes(Code(dict.fromkeys(modules, source)))) == [f"Step: {CORE}.files.a, {CORE}.query.b"]
    each = [f"{CORE}.agents.{agent}.translation" for agent in ("codex", "claude")]
    assert list(namesakes(Code(dict.fromkeys(each, source)))) == []


def test_a_module_that_hands_on_names_is_found() -> None:
    source = "from leafward.base.times import iso_time\n__all__ = ['iso_time']"
    code = Code({"leafward.files.a": source, f"{TUI}.log.b": source})
    assert list(handing_on(code)) == ["leafward.files.a:2: __all__", f"{TUI}.log.b:2: __all__"]


def test_a_room_that_says_nothing_is_found() -> None:
    code = Code(
        {f"{TUI}.log": '"""The log."""', f"{TUI}.log.model": ""},
        frozenset({f"{TUI}.log", f"{TUI}.log.model"}),
    )
    assert list(undescribed(code)) == [f"{TUI}.log: 'The log.'"]
