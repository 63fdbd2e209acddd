from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import leafward

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAVY = {
    "aiohttp",
    "asyncio",
    "httpx",
    "leafward_tui.app.app",
    "litellm",
    "msgspec",
    "openai",
    "pydantic",
    "rich",
    "textual",
}
"""Modules that must not be loaded early: seconds of imports, side effects, and the whole screen."""

NOT_IN_THE_CORE = {"leafward_themes", "leafward_tui", "litellm", "rich", "textual"}

REPORT = """
import json, os, sys
with open(os.environ["MODULES_TO"], "w") as report:
    json.dump(sorted(sys.modules), report)
"""

COMMAND = """
import sys
sys.argv = ["leafward", *{arguments!r}]
from leafward_tui.__main__ import main
try:
    code = main()
except SystemExit as stop:
    code = stop.code
assert not code, code
"""

EVERY_CORE_MODULE = """
import importlib, pkgutil, leafward
found = [module.name for module in pkgutil.walk_packages(leafward.__path__, "leafward.")]
for name in found:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(sum(not name.endswith("__main__") for name in found))
"""


def run_and_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str) -> tuple[set[str], str]:
    """Runs a statement in a fresh interpreter; the modules loaded at its end, and what it wrote to stdout."""
    listing = tmp_path / "modules.json"
    monkeypatch.setenv("MODULES_TO", str(listing))
    done = subprocess.run(
        [sys.executable, "-c", statement + REPORT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return set(json.loads(listing.read_text())), done.stdout


def test_the_core_package_alone_loads_nothing_heavy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, _ = run_and_list(tmp_path, monkeypatch, "import leafward")
    assert "leafward" in loaded
    assert not loaded & HEAVY


def test_a_list_of_what_is_known_loads_no_second_decoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, _ = run_and_list(
        tmp_path, monkeypatch, "import leafward.catalogue.listing, leafward.catalogue.cards.quick_card"
    )
    assert "leafward.catalogue.cards.quick_card" in loaded
    assert "msgspec" not in loaded


@pytest.mark.parametrize("package", ["leafward_tui", "leafward_themes"])
def test_the_other_packages_are_empty_until_used(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, _ = run_and_list(tmp_path, monkeypatch, f"import {package}")
    assert package in loaded
    assert not loaded & HEAVY


def test_no_module_of_the_core_reaches_the_screen_or_a_model_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, output = run_and_list(tmp_path, monkeypatch, EVERY_CORE_MODULE)
    assert int(output) == len([name for name in loaded if name.startswith("leafward.")])
    assert not loaded & NOT_IN_THE_CORE


def imports_of(tree: ast.Module, package: str) -> Iterator[str]:
    """The functions in which a package is imported; `` for the module itself."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Import) and any(
            alias.name.partition(".")[0] == package for alias in node.names
        ):
            yield inside
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == package:
            yield inside
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = node.name
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


ASKED = """
import io, sys
sys.stdin = io.TextIOWrapper(io.BytesIO({payload!r}))
"""


@pytest.mark.parametrize("name", ["pi", "claude", "codex", "opencode"])
def test_a_hook_that_has_nothing_to_do_loads_no_verb_no_session_and_no_agent(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ASKED.format(payload=json.dumps({"hook_event_name": "PreCompact"}).encode())
    loaded, _ = run_and_list(tmp_path, monkeypatch, asked + COMMAND.format(arguments=["hook", name]))
    ours = {module for module in loaded if module.startswith("leafward.")}
    assert f"leafward.agents.{name}.hooks" in ours
    assert not [module for module in ours if module.endswith(".agent") or ".session" in module]
    assert not loaded & {"click", "leafward.cli.declarations.verbs", "orjson", "sqlite3"}


def test_litellm_is_imported_in_one_function() -> None:
    root = Path(leafward.__file__).parent
    found = [
        (path.relative_to(root).as_posix(), function)
        for path in root.rglob("*.py")
        if b"litellm" in path.read_bytes()
        for function in imports_of(ast.parse(path.read_bytes()), "litellm")
    ]
    assert found == [("summaries/summarizers/model/litellm_requests.py", "_litellm")]


def test_a_plan_asks_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Path(leafward.__file__).parent / "data" / "demo.jsonl"
    loaded, output = run_and_list(
        tmp_path, monkeypatch, COMMAND.format(arguments=["plan", str(session), "--json"])
    )
    assert json.loads(output)["strategy"] == "pi"
    assert not loaded & {"aiohttp", "httpx", "litellm", "openai", "pydantic", "textual"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_command_answers_before_anything_heavy_is_loaded(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, output = run_and_list(tmp_path, monkeypatch, COMMAND.format(arguments=arguments))
    assert "leafward" in output.lower()
    assert "leafward_tui.__main__" in loaded
    assert not loaded & HEAVY


def test_a_heavy_import_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, _ = run_and_list(tmp_path, monkeypatch, "import textual.app")
    assert {"asyncio", "rich", "textual"} <= loaded & HEAVY
