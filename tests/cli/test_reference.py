"""The help in the README is the help that the command gives. `python -m leafward.cli.reference` prints it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.cli.reference import WIDTH, reference
from tests.cli.test_main import VERBS

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"<!-- help -->\n+(.*?)\n+<!-- /?help -->", re.DOTALL)


def test_every_verb_is_there() -> None:
    text = reference()
    assert re.findall(r"^### `leafward ([\w-]+)`$", text, re.MULTILINE) == VERBS
    assert text.count("```") == 2 * (len(VERBS) + 1)
    assert max(map(len, text.splitlines())) <= WIDTH


def test_it_is_printed() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "leafward.cli.reference"],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert found.stdout == reference()


def test_the_readme_says_the_same(repository: Path) -> None:
    block = BLOCK.search((repository / "docs" / "cli.md").read_text())
    if block is None:
        pytest.skip("docs/cli.md has no help block")
    assert block[1].strip() == reference().strip()
