"""`fork --run` tried again, since the agent failed: no second copy unless one is asked for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.base.paths import config_dir
from leafward.branches.fork import left_imports
from tests.acting import Acting
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a script stands for the agent")


def fails(folder: Path, name: str, before: str = "") -> None:
    """An agent that fails as it starts."""
    program = folder / name
    folder.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable}\nimport sys\n{before}\nsys.exit(3)\n")
    program.chmod(0o755)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("pi", "codex", "claude", "opencode"):
        fails(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home" / ".codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home" / ".claude"))
    (tmp_path / "work").mkdir()
    (tmp_path / "store").mkdir()
    file = Acting(tmp_path / "store" / "s.jsonl", {**HEADER, "cwd": str(tmp_path / "work")})
    file.user("plant a pear tree")
    file.said("planted")
    file.user("water it")
    file.said("watered")
    return file.path


def sessions(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl"))


def written(folder: Path) -> list[Path]:
    """The sessions, and the documents that wait for an import."""
    return [*sessions(folder), *left_imports()]


@pytest.mark.parametrize("more", [[], ["--inject"], ["--summary", "extractive"]])
@pytest.mark.parametrize("to", ["pi", "codex", "claude"])
def test_an_agent_that_failed_finds_its_session_again(
    run: Run, session: Path, tmp_path: Path, to: str, more: list[str]
) -> None:
    first = run("fork", session, "#2", "--to", to, "--run", *more)
    assert first.code == 3
    there = sessions(tmp_path)
    assert len(there) == 2
    again = run("fork", session, "#2", "--to", to, "--run", *more)
    assert again.code == 3
    assert sessions(tmp_path) == there
    assert "reuses a session of" in again.out
    assert "water it" in again.out, "the prompt is there to be sent"
    assert "--another writes a second one" in again.err
    assert run("fork", session, "#2", "--to", to, "--run", "--another", *more).code == 3
    assert len(sessions(tmp_path)) == 3


def test_another_place_another_folder_or_other_context_is_another_session(
    run: Run, session: Path, tmp_path: Path
) -> None:
    for arguments in (["#2"], ["leaf"], ["#2", "--inject"], ["#2", "--cwd", str(tmp_path)]):
        before = len(sessions(tmp_path))
        assert run("fork", session, *arguments, "--run").code == 3
        assert len(sessions(tmp_path)) == before + 1


def test_one_that_was_gone_on_with_is_left_alone(run: Run, session: Path, tmp_path: Path) -> None:
    assert run("fork", session, "#2", "--run").code == 3
    (made,) = set(sessions(tmp_path)) - {session}
    last = made.read_text().splitlines()[-1].partition('"id":"')[2][:8]
    with made.open("a") as file:
        file.write(
            f'{{"type":"message","id":"0000ffff","parentId":"{last}","timestamp":"2026-11-20T10:00:00.000Z",'
            '"message":{"role":"user","content":"on"}}\n'
        )
    assert run("fork", session, "#2", "--run").code == 3
    assert len(sessions(tmp_path)) == 3


def test_a_fork_that_runs_nothing_writes_another_one(run: Run, session: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("fork", session, "#2").code == 0
    assert len(sessions(tmp_path)) == 3


def test_a_document_whose_import_failed_is_imported_by_the_next_try(
    run: Run, session: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    fails(tmp_path / "bin", "opencode", f"open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')")
    first = run("fork", session, "#2", "--to", "opencode", "--run")
    assert (first.code, "the document is kept" in first.err) == (1, True)
    again = run("fork", session, "#2", "--to", "opencode", "--run")
    assert again.code == 1
    imports = [line for line in log.read_text().splitlines() if line.startswith("import ")]
    assert len(imports) == 2
    assert imports[0] == imports[1]


def test_another_needs_something_that_is_run(run: Run, session: Path) -> None:
    outcome = run("fork", session, "leaf", "--another")
    assert outcome.code == 2
    assert "--another needs --run or --import" in outcome.err


@pytest.mark.slow
@pytest.mark.litellm
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
class TestASummaryByAModel:
    """A model words its summary anew each time: what the first try wrote is known all the same, and nothing is paid again."""

    @pytest.fixture(autouse=True)
    def _key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "none")

    @staticmethod
    def asking(endpoint: Endpoint, *more: str) -> list[str]:
        model = ["--model", "openai/scripted", "--base-url", endpoint.base_url]
        return ["--summary", "model", *model, "--run", *more]

    @pytest.mark.parametrize("to", ["pi", "codex", "claude", "opencode"])
    @pytest.mark.parametrize("more", [[], ["--inject"]], ids=["alone", "injected"])
    def test_the_first_one_is_found(
        self, run: Run, session: Path, tmp_path: Path, endpoint: Endpoint, to: str, more: list[str]
    ) -> None:
        endpoint.play(Reply(WHOLE), Reply(WHOLE.replace("parser", "reader")))
        arguments = ["fork", session, "#2", "--to", to, *self.asking(endpoint, *more)]
        first = run(*arguments)
        there, asked = written(tmp_path), len(endpoint.asked)
        assert asked
        again = run(*arguments)
        assert (again.code, written(tmp_path)) == (first.code, there)
        assert len(endpoint.asked) == asked, "a model was asked again"
        assert run(*arguments, "--another").code == first.code
        assert len(written(tmp_path)) == len(there) + 1

    def test_one_with_a_summary_of_another_kind_is_another_session(
        self, run: Run, session: Path, tmp_path: Path, endpoint: Endpoint
    ) -> None:
        for arguments in ([], ["--inject"], ["--summary", "extractive"], self.asking(endpoint)):
            before = len(written(tmp_path))
            run(
                "fork",
                session,
                "#2",
                "--to",
                "claude",
                "--run",
                *[one for one in arguments if one != "--run"],
            )
            assert len(written(tmp_path)) == before + 1, arguments

    def test_none_is_asked_where_none_is_wanted(self, run: Run, session: Path, endpoint: Endpoint) -> None:
        settings = config_dir() / "config.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(f'model = "openai/scripted"\n[base-urls]\nopenai = "{endpoint.base_url}"\n')
        outcome = run("fork", session, "#2", "--summary", "extractive")
        assert (outcome.code, endpoint.asked) == (0, [])
