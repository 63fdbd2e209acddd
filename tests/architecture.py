"""The code read as a tree of modules, classes and imports, for the tests of its architecture. Nothing of it is imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

ROOT = Path(__file__).parents[1]
PACKAGES = {"leafward": ROOT / "core", "leafward_tui": ROOT / "tui"}


@dataclass(frozen=True, slots=True)
class Class:
    """A class and where it stands."""

    module: str
    name: str
    node: ast.ClassDef

    @property
    def full(self) -> str:
        """Its name with that of its module."""
        return f"{self.module}.{self.name}"

    def methods(self) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
        """Names that its own body defines, properties included."""
        return {
            node.name: node
            for node in self.node.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }


class Code:
    """Modules by their full names."""

    def __init__(self, sources: Mapping[str, str], packages: frozenset[str] = frozenset()) -> None:
        """`packages` are the modules that are an `__init__`."""
        self.modules = {name: ast.parse(source) for name, source in sources.items()}
        self.lines = {name: len(source.splitlines()) for name, source in sources.items()}
        self.packages = packages

    @classmethod
    def read(cls, only: Collection[str] | None = None) -> Code:
        """The code of the core and of the application; or `only` some modules of it, and what packages take from theirs."""
        sources, packages = {}, set()
        for package, root in PACKAGES.items():
            for path in sorted((root / package).rglob("*.py")):
                name = ".".join(path.relative_to(root).with_suffix("").parts)
                if name.endswith(".__init__"):
                    name = name.removesuffix(".__init__")
                    packages.add(name)
                elif only is not None and name not in only:
                    continue
                sources[name] = path.read_text("utf-8")
        return cls(sources, frozenset(packages))

    @classmethod
    def planted(cls, **modules: str) -> Code:
        """A small tree: `ui__screen` is the module `leafward_tui.ui.screen`."""
        return cls({f"leafward_tui.{name.replace('__', '.')}": source for name, source in modules.items()})

    @cached_property
    def nodes(self) -> dict[str, list[ast.AST]]:
        """All nodes of each module."""
        return {module: nodes_of(tree) for module, tree in self.modules.items()}

    @cached_property
    def names(self) -> dict[str, dict[str, str]]:
        """The full name of each imported name, wherever in a module it is imported."""
        found: dict[str, dict[str, str]] = {}
        for module, nodes in self.nodes.items():
            here = found[module] = {}
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    for alias in node.names:
                        here[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        here[alias.asname or alias.name.partition(".")[0]] = (
                            alias.name if alias.asname else alias.name.partition(".")[0]
                        )
        return found

    @cached_property
    def classes(self) -> dict[str, Class]:
        """All classes by their full names, those inside others too."""
        found: dict[str, Class] = {}

        def collect(module: str, prefix: str, body: list[ast.stmt]) -> None:
            for node in body:
                if isinstance(node, ast.ClassDef):
                    one = Class(module, f"{prefix}{node.name}", node)
                    found[one.full] = one
                    collect(module, f"{one.name}.", node.body)

        for module, tree in self.modules.items():
            collect(module, "", tree.body)
        return found

    def resolve(self, module: str, name: str) -> str:
        """The full name of what a dotted name in a module stands for, followed through re-exports."""
        head, _, rest = name.partition(".")
        here = module
        for _ in range(5):
            if f"{module}.{head}" in self.classes or module not in self.modules:
                break
            full = self.names[module].get(head)
            if full is None and module == here:
                return name
            if full is None:
                break
            if full in self.modules:  # a module: what follows is a name in it
                if not rest:
                    return full
                module = full
                head, _, rest = rest.partition(".")
            else:
                module, _, head = full.rpartition(".")
        return ".".join(part for part in (module, head, rest) if part)

    def bases(self, one: Class) -> list[str]:
        """The full names of what a class derives from."""
        found = []
        for base in one.node.bases:
            node = base.value if isinstance(base, ast.Subscript) else base
            name = dotted(node)
            if name:
                found.append(self.resolve(one.module, name))
        return found

    def lineage(self, one: Class) -> list[Class]:
        """A class and all classes of ours that it derives from, each once: its MRO as far as it is ours."""
        found: dict[str, Class] = {}
        waiting = [one]
        while waiting:
            here = waiting.pop(0)
            if here.full not in found:
                found[here.full] = here
                waiting += [self.classes[base] for base in self.bases(here) if base in self.classes]
        return list(found.values())

    def roots(self, one: Class) -> set[str]:
        """The full names of what others wrote and a class derives from."""
        return {base for here in self.lineage(one) for base in self.bases(here) if base not in self.classes}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Which modules of ours each module imports anywhere, type-checking imports and those in functions too."""
        found: dict[str, set[str]] = {}
        for module, nodes in self.nodes.items():
            wanted = found[module] = set()
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and node.module:
                    for alias in node.names:
                        inside = f"{node.module}.{alias.name}"
                        wanted.add(inside if inside in self.modules else node.module)
                elif isinstance(node, ast.Import):
                    wanted.update(alias.name for alias in node.names)
            wanted &= self.modules.keys() - {module}
        return found

    def circles(self, package: str) -> list[list[str]]:
        """Modules of a package that import each other, in a circle of any length."""
        order: list[str] = []
        inside = {module for module in self.modules if module == package or module.startswith(f"{package}.")}
        back: dict[str, set[str]] = {module: set() for module in inside}
        for module in inside:
            for other in self.imports[module] & inside:
                back[other].add(module)

        def walk(start: str, edges: Mapping[str, set[str]], seen: set[str]) -> Iterator[str]:
            """Modules reached from a module, each after those it reaches itself."""
            stack = [(start, iter(sorted(edges[start] & inside)))]
            seen.add(start)
            while stack:
                module, rest = stack[-1]
                following = next((one for one in rest if one not in seen), None)
                if following is None:
                    stack.pop()
                    yield module
                else:
                    seen.add(following)
                    stack.append((following, iter(sorted(edges[following] & inside))))

        seen: set[str] = set()
        for module in sorted(inside):
            if module not in seen:
                order += walk(module, self.imports, seen)
        seen = set()
        found = []
        for module in reversed(order):
            if module not in seen:
                circle = sorted(walk(module, back, seen))
                if len(circle) > 1:
                    found.append(circle)
        return found


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree in the order of the text, without those that only say whether a name is read: faster than `ast.walk`."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        below = len(waiting)
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                waiting += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                waiting.append(value)
        waiting[below:] = waiting[below:][::-1]
    return found


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression that is nothing else; empty for any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""
