"""PowerShell's scripts as what they may do to files."""

from __future__ import annotations

import pytest

from leafward.agents.codex.tools import CODEX_TOOLS
from leafward.files.file_replay.steps import by_command, requests_in
from leafward.files.file_request import Proof
from leafward.files.tool_calls import file_calls
from leafward.session.command_text import begins_as_powershell
from leafward.session.entries import ToolCall


@pytest.mark.parametrize(
    ("script", "does"),
    [
        ("Get-Content src\\a.py", [("read", "src/a.py", None)]),
        ("Get-Content -Raw -LiteralPath 'b c.txt' -Encoding utf8", [("read", "b c.txt", None)]),
        (
            "(Get-Content a.txt) -replace 'x','y' | Set-Content a.txt",
            [("read", "a.txt", None), ("write", "a.txt", None)],
        ),
        (
            "$t = Get-Content a; $t | Out-File -FilePath out -Append",
            [("read", "a", None), ("write", "out", None)],
        ),
        ("Add-Content -Path a -Value 'rm b'", [("append", "a", None)]),
        ("Set-Content a @'\nRemove-Item b > c\n'@", [("write", "a", None)]),
        ("Remove-Item -Recurse -Force .\\x", [("delete", "./x", None)]),
        (
            "Move-Item a b; Rename-Item x\\a.txt b.txt",
            [("move", "a", "b"), ("move", "x/a.txt", "x/b.txt")],
        ),
        ("Copy-Item -Path a -Destination C:\\b", [("copy", "a", "C:\\b")]),
        ("New-Item -ItemType Directory x; New-Item y", [("change", "y", None)]),
        ("Get-Content $a; Remove-Item *.tmp; Remove-Item 'a'$b; Remove-Item \"$x\"", []),
        ("Set-Location x; Remove-Item a", []),
        ("Write-Output x > a 2>&1", [("write", "a", None)]),
        ("Write-Output 'never closed", []),
    ],
)
def test_what_a_script_may_do(script: str, does: list[tuple[str, str, str | None]]) -> None:
    assert begins_as_powershell(script)
    made = by_command(script)
    assert [(one.operation.value, one.path, one.to) for one in made] == does
    assert {one.proof for one in made} <= {Proof.NONE}


@pytest.mark.parametrize(
    "script",
    [
        "cat > x.ps1 <<'E'\nGet-Content a\nE",
        "apt-get install x",
        "Content-Type: text",
        "set-url x",
        "x=1",
        "ls",
    ],
)
def test_another_shell_is_not_taken_for_it(script: str) -> None:
    assert not begins_as_powershell(script)


@pytest.mark.parametrize(
    ("command", "read"),
    [
        (["powershell.exe", "-NoProfile", "-Command", "cat src\\a.py"], ["src/a.py"]),
        ("Get-Content -Path src\\a.py", ["src/a.py"]),
        ("Get-Content a | Select-Object -First 3", []),
        ("Get-Content a > b", []),
    ],
)
def test_a_lone_read_is_a_read(command: object, read: list[str]) -> None:
    made = file_calls(ToolCall("c1", "shell", {"command": command}), CODEX_TOOLS)
    assert [one.path for one in made] == read


def test_names_are_those_of_its_shell() -> None:
    given = {"command": ["C:\\x\\pwsh.exe", "-Command", "rm src\\a.py"], "workdir": "/work"}
    (one,) = requests_in(ToolCall("c1", "shell", given), CODEX_TOOLS)
    assert (one.operation.value, one.path) == ("delete", "/work/src/a.py")
    assert [two.path for two in by_command(["rm", "a b"])] == ["a b"]
