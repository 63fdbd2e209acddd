"""Executable bits after `chmod`, compared with a real shell."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.files.shell.permissions import executable_bits

if TYPE_CHECKING:
    from pathlib import Path

SAID = (
    "chmod +x plant.sh",
    "chmod 755 plant.sh",
    "chmod 0644 plant.sh",
    "chmod u+x,g-w plant.sh",
    "chmod -x plant.sh",
    "chmod a=r plant.sh",
    "chmod u=rwx plant.sh",
    "chmod -v +x -- plant.sh",
    "chmod +x other.sh plant.sh",
    "cd sub && chmod +x ../plant.sh",
    "(cd sub; chmod +x ../plant.sh)",
    "true && chmod +x plant.sh && chmod u-x plant.sh",
    "echo pears > plant.sh; chmod +x plant.sh",
)
SILENT = (
    "chmod u+w plant.sh",
    "chmod g+x plant.sh",
    "chmod -R +x .",
    "chmod +X plant.sh",
    "chmod +x $NAME",
    "chmod +x *.sh",
    "test -e nothing && chmod +x plant.sh || true",
    "chmod --reference=other.sh plant.sh",
    "echo 'chmod +x plant.sh'",
    "rm plant.sh",
    "mv other.sh plant.sh",
)


@pytest.fixture
def orchard(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("plant.sh", "other.sh", "sub/inner.sh"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    return tmp_path


@pytest.mark.parametrize("before", [0o644, 0o755])
@pytest.mark.parametrize("script", SAID)
def test_what_is_said_is_what_a_shell_leaves(orchard: Path, script: str, before: int) -> None:
    (orchard / "plant.sh").chmod(before)
    subprocess.run(["sh", "-c", script], cwd=orchard, check=True, capture_output=True)
    (*_, last) = [one for one in executable_bits(script) if one.path == "plant.sh"]
    assert last.executable is bool((orchard / "plant.sh").stat().st_mode & 0o100)


@pytest.mark.parametrize("script", SILENT)
def test_what_is_not_said_is_not_claimed(script: str) -> None:
    assert [one for one in executable_bits(script) if one.executable is not None] == []


@pytest.mark.parametrize("second", ["rm plant.sh", "mv -f other.sh plant.sh", "cp other.sh plant.sh"])
def test_another_file_in_its_place_takes_nothing_over(second: str) -> None:
    (*_, last) = [one for one in executable_bits(f"chmod +x plant.sh && {second}") if one.path == "plant.sh"]
    assert last.executable is None
