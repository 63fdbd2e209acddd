"""Stores that only the configuration names: a file whose beginning is damaged belongs to whose store it lies in."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.base.paths import config_dir
from leafward.catalogue.roots import stores
from leafward.session.tree.density import Density
from leafward_tui.explorer.controllers.session_loader import open_session
from tests.claude_transcript import IDS, Transcript
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """One that begins with lines that are no records, in a folder that nothing tells to be a store."""
    made = Transcript(tmp_path / "elsewhere")
    for _ in range(5):
        made.raw(b"no record\n")
    made.turn("prune the pears", "Pruned.")
    return made.path


@pytest.mark.parametrize("table", ["roots", "extra-roots"])
def test_a_file_of_a_configured_store_is_read_by_its_agent(
    done: Run, run: Run, transcript: Path, tmp_path: Path, table: str
) -> None:
    assert run("tree", transcript).code == 1, "nobody knows whose it is"
    config_dir().mkdir(parents=True)
    root = json.dumps([str(tmp_path / "elsewhere")])
    (config_dir() / "config.toml").write_text(f"[{table}]\nclaude = {root}\n")
    assert [card["title"] for card in done("ls", "--json").document["sessions"]] == ["prune the pears"]
    for named in (transcript, IDS[0]):
        assert "prune the pears" in done("tree", named).out
        codes = [problem["code"] for problem in done("doctor", named, "--json").document["problems"]]
        assert codes.count("malformed") == 5
    told = done("doctor", "--json").document["problems"]
    assert [problem["code"] for problem in told if "session" in problem].count("malformed") == 5


def test_the_explorer_reads_it_so_too(transcript: Path, tmp_path: Path) -> None:
    config = Config(roots={"claude": (str(tmp_path / "elsewhere"),)})
    assert agent_of(transcript).name == "pi"
    assert agent_of(transcript, lambda: stores(config, os.environ)).name == "claude"
    exploration, *_ = open_session(transcript, Density.TURNS, 20, config, None, lambda *_: None, WANTED)
    with closing(exploration.session) as session:
        assert session.id == IDS[0]


def test_what_a_store_does_not_list_is_none_of_its_sessions(transcript: Path, tmp_path: Path) -> None:
    config = Config(roots={"claude": (str(tmp_path / "elsewhere"),)})
    beside = transcript.with_suffix(".txt")
    transcript.rename(beside)
    assert agent_of(beside, lambda: stores(config, {})).name == "pi"
