"""A call that changes very many files is read once, however many of them a replay rebuilds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.files.file_replay import steps
from leafward.files.shell import effects as shell
from leafward.files.shell import script_walk
from tests.codex_rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Run

FILES = 60


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[int]:
    """The sizes of the texts that a function of a module is given from now on."""
    sizes: list[int] = []
    real: Callable[[str], Any] = getattr(module, name)

    def note(text: str) -> Any:
        sizes.append(len(text))
        return real(text)

    monkeypatch.setattr(module, name, note)
    return sizes


def test_a_patch_of_many_files_is_parsed_a_few_times(
    done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = Rollout(tmp_path / ".codex")
    rollout.prompt("go")
    files = "".join(f"*** Add File: many/f{number}.py\n+x = {number}\n" for number in range(FILES))
    rollout.call("apply_patch", {"input": f"*** Begin Patch\n{files}*** End Patch"}, "Success")
    rollout.reply("done", total=100)
    parsed = counted(monkeypatch, steps, "parsed_patch")
    steps._remembered.cache_clear()
    compared = done("diff", rollout.path, "root", "leaf", "--json").document
    assert len(compared["only_b"]) == FILES
    assert len(parsed) == 1


def test_a_command_that_writes_many_files_is_split_once(
    done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = Rollout(tmp_path / ".codex")
    rollout.prompt("go")
    script = "".join(f"echo {number} > many/f{number}.txt\n" for number in range(FILES))
    rollout.call("shell", {"command": ["bash", "-lc", script]}, "")
    rollout.reply("done", total=100)
    split = counted(monkeypatch, script_walk, "Lexer")
    shell._effects.cache_clear()
    compared = done("diff", rollout.path, "root", "leaf", "--json").document
    assert len(compared["only_b"]) == FILES
    assert split.count(len(script)) == 1


def test_what_is_remembered_is_no_list_of_the_caller() -> None:
    first = shell.effects("echo 1 > a.txt")
    first.clear()
    assert [one.path for one in shell.effects("echo 1 > a.txt")] == ["a.txt"]
