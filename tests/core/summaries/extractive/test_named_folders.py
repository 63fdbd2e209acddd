"""A file that a call names is told by its path from the session's folder, wherever the call ran."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.session.entries import CALL_FOLDERS
from tests.core.told import FOLDER, reply, result, span, summarize, user

_PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n"


def _summary(*work: dict[str, Any]) -> str:
    return summarize(span(user("Look for the parser of orchard and mend it."), *work)).text


def _called(name: str, given: dict[str, Any], printed: str = "x", folder: str = "") -> list[dict[str, Any]]:
    made = reply("", ("a", name, given))
    return [made | {CALL_FOLDERS: {"a": folder}} if folder else made, result("a", printed)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cmd": "wc -c docs/plan.md", "workdir": "/home/ada/barn"}, "/home/ada/barn/docs/plan.md"),
        ({"cmd": "wc -c docs/plan.md", "workdir": f"{FOLDER}/web"}, "web/docs/plan.md"),
        ({"cmd": "wc -c web/docs/plan.md", "workdir": FOLDER}, "web/docs/plan.md"),
        ({"cmd": f"cd {FOLDER} && wc -c docs/plan.md"}, "docs/plan.md"),
        ({"cmd": "cd web && wc -c docs/plan.md"}, "web/docs/plan.md"),
        ({"cmd": "cd 'my web' && wc -c docs/plan.md"}, "my web/docs/plan.md"),
        ({"cmd": "cd web; (cd docs && wc -c plan.md)"}, "web/docs/plan.md"),
        ({"cmd": "wc -c plan.md | sort; cd docs\nwc -l index.md"}, "docs/index.md"),
        ({"cmd": "cd web; (cd docs && wc -c 'old/my plan.md')"}, "web/docs/old/my plan.md"),
        ({"cmd": "cd web && wc -c 'plan.md"}, "web/plan.md"),
        ({"cmd": "echo cd web && wc -c plan.md"}, "plan.md"),
    ],
)
def test_a_file_of_a_command_is_told_from_the_folder_of_the_session(given: dict[str, Any], told: str) -> None:
    assert f"`{told}`" in _summary(*_called("exec_command", given))


def test_where_the_folder_is_not_known_no_file_is_told() -> None:
    text = _summary(*_called("bash", {"command": 'cd "$HERE" && wc -c docs/plan.md /tmp/plan.md'}))
    assert "docs/plan.md" not in text
    assert "`/tmp/plan.md`" in text


def test_a_patch_changes_the_file_in_the_folder_of_its_call() -> None:
    work = _called("apply_patch", {"input": _PATCH.format("src/parser.py")}, "Success.", f"{FOLDER}/web")
    assert "Last file edited: `web/src/parser.py`" in _summary(*work)


def test_no_other_file_with_the_name_of_a_patched_one_was_changed() -> None:
    work = [
        *_called("apply_patch", {"input": _PATCH.format("package.json")}, "Success."),
        reply("", ("b", "exec_command", {"cmd": "cat node_modules/@orchard/core/package.json"})),
        result("b", "{}"),
    ]
    assert "`package.json` changed" in _summary(*work)


def test_a_search_of_a_file_is_no_read_of_it() -> None:
    text = _summary(*_called("Grep", {"pattern": "parse", "path": f"{FOLDER}/src/parser.py"}))
    assert "Named in calls: `src/parser.py`" in text
    assert "Read: " not in text


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("grep -n 'from \"./modes/index.js\"' src/main.ts", False),
        ("rg -g '*.ts' -A 3 ./modes/index.js src/main.ts", False),
        ("grep -v old ./modes/index.js src/main.ts", True),
        ("grep -rne ./modes/index.js src/main.ts", False),
        ("sed -i '' 's|./old.js|./modes/index.js|' src/main.ts", False),
        ("sed -n '1,9p' ./modes/index.js src/main.ts", True),
        ("awk -F : '{print}' ./modes/index.js src/main.ts", True),
        ("git grep -n ./modes/index.js src/main.ts", False),
        ("gh pr create --body 'Move ./modes/index.js' && cat src/main.ts", False),
        ("# Mend modes/index.js\ncat src/main.ts old/modes/index.js", False),
        ("echo '## ./modes/index.js:' && cat src/main.ts", False),
        ("echo '## ./modes/index.js:' && cat ./modes/index.js src/main.ts", True),
    ],
)
def test_a_pattern_and_what_is_printed_are_no_files(command: str, named: bool) -> None:
    text = _summary(*_called("bash", {"command": command}, "modes/index.js"))
    assert "src/main.ts" in text
    assert ("`modes/index.js`" in text) is named


@pytest.mark.parametrize(("printed", "named"), [("src/deep/plan.rs", False), ("old/plan.rs", True)])
def test_a_file_that_was_only_looked_for_is_there_where_an_output_names_it(printed: str, named: bool) -> None:
    text = _summary(*_called("bash", {"command": "ls old/plan.rs src/deep"}, printed))
    assert ("`old/plan.rs`" in text) is named
