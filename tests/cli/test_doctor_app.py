"""`doctor` with the application at hand: what it would complain of at its start is listed whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import load
from leafward.base.paths import config_dir
from leafward.cli.main import main
from leafward_tui.__main__ import main as leafward
from leafward_tui.app.app import LeafwardApp
from leafward_tui.app.checks import check

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """
theme = "understory-x"

[keymap]
"row.dwon" = "j"
"leaf.go" = "j"
"mark.set" = "j"
"""


@pytest.fixture
def settings() -> Path:
    folder = config_dir()
    (folder / "themes").mkdir(parents=True)
    (folder / "config.toml").write_text(CONFIG)
    (folder / "themes" / "broken.toml").write_text("name = ")
    (folder / "themes" / "half.toml").write_text(
        'name = "half"\ntitle = "Half"\ndark = true\ndescription = "no colours"\n'
    )
    return folder


def problems(capfd: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    capfd.readouterr()
    assert leafward(["doctor", "--json"]) == 0
    found: list[dict[str, str]] = json.loads(capfd.readouterr().out)["problems"]
    return found


def test_all_that_the_application_would_say_is_listed(
    settings: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    listed = problems(capfd)
    config, found = load()
    told = LeafwardApp(config=config, problems=found)._problems
    assert len(told) > 6
    assert set(told) <= {problem["text"] for problem in listed}
    codes = {problem["code"] for problem in listed}
    assert codes == {"keymap", "theme"}
    assert any("row.dwon" in problem["text"] and "row.down" in problem["text"] for problem in listed)
    assert any("did you mean understory?" in problem["text"] for problem in listed)
    assert any("broken.toml" in problem["text"] for problem in listed)
    assert any("half.toml" in problem["text"] and "palette" in problem["text"] for problem in listed)


def test_nothing_is_listed_where_nothing_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    assert problems(capfd) == []


def test_a_theme_that_is_hard_to_read_is_said_to_be(
    settings: Path, capfd: pytest.CaptureFixture[str], repository: Path
) -> None:
    built_in = (repository / "themes" / "leafward_themes" / "understory.toml").read_text()
    pale = built_in.replace('"#7d8b84"', '"#2d3a34"').replace('"understory"', '"pale"')
    assert pale.count("#2d3a34") == 1
    (settings / "themes" / "pale.toml").write_text(pale)
    told = [problem["text"] for problem in problems(capfd) if problem["code"] == "theme-contrast"]
    assert any(text.startswith("pale: faint on bg has a contrast of") for text in told)


def test_without_the_application_only_what_the_core_can_say(
    settings: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["problems"]
    assert [problem["code"] for problem in found] == ["theme"]
    assert "broken.toml" in found[0]["text"]


def test_a_session_alone_needs_nothing_of_the_application() -> None:
    code = (
        "import sys\nfrom leafward_tui.__main__ import main\n"
        "main(['doctor', '--help'])\n"
        "assert 'textual' not in sys.modules and 'leafward_tui.app.checks' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_a_keymap_is_checked_without_a_folder_of_themes(tmp_path: Path) -> None:
    config, _ = load()
    assert list(check(config, tmp_path / "none")) == []
