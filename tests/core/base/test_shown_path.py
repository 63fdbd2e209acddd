"""Names of project folders."""

from __future__ import annotations

import pytest

from leafward.base.shown_path import project_name


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/ada/orchard", "orchard"),
        ("/home/ada/orchard/", "orchard"),
        ("C:\\ada\\orchard", "orchard"),
        ("/home/ada/orchard/.worktrees/1", "orchard/1"),
        ("/home/ada/orchard/.claude/worktrees/pears", "orchard/pears"),
        ("/.worktrees/1", "1"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_project_is_called_by_its_folder(folder: str, name: str) -> None:
    assert project_name(folder) == name


def test_a_name_is_one_safe_line() -> None:
    assert project_name("/home/\x1b[31mred\n" + 40 * "x") == project_name("\x1b[31mred\n" + 40 * "x")
    assert "\x1b" not in project_name("/home/\x1b[31mred")
    assert len(project_name("/home/" + 40 * "x")) == 24
