"""`relocate`: the sessions of a renamed folder, of every agent, begun anew in the folder it has now."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches import fork as forking
from tests.acting import Acting, call
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.foreign_stores import make
from tests.pi_file import HEADER
from tests.untouched import contents

if TYPE_CHECKING:
    from tests.cli.conftest import Run

OLD = "/home/ada/orchard"
"""Where the sessions of `make` worked."""
AGENTS = ("claude", "codex", "pi")


class Stores:
    """A home with sessions of several agents in one project, whose folder is not there."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.new = root / "grove"
        self.new.mkdir()
        self.sessions = self.home / ".pi" / "agent" / "sessions"

    def pi(self, name: str, cwd: str = OLD) -> Acting:
        folder = self.sessions / f"--{cwd[1:].replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        return Acting(folder / f"{name}.jsonl", {**HEADER, "id": name, "cwd": cwd})

    def files(self) -> dict[str, Any]:
        return contents(self.home)


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    made = Stores(tmp_path)
    for name, folder in (
        ("HOME", ""),
        ("PI_CODING_AGENT_DIR", ".pi/agent"),
        ("CODEX_HOME", ".codex"),
        ("CLAUDE_CONFIG_DIR", ".claude"),
        ("XDG_DATA_HOME", ".local/share"),
    ):
        monkeypatch.setenv(name, str(made.home / folder))
    return made


def planted(stores: Stores, name: str = "pears", cwd: str = OLD) -> Acting:
    file = stores.pi(name, cwd)
    file.user(f"plant {name}")
    file.said(f"planted {name}")
    return file


def outcomes(document: Any) -> dict[str, str]:
    return {one["id"]: one["outcome"] for one in document["sessions"]}


def test_every_agent_goes_on_in_the_new_folder_and_a_second_run_makes_nothing(
    run: Run, stores: Stores
) -> None:
    for agent in ("claude", "codex"):
        make(agent, stores.home).close()
    planted(stores)
    before = stores.files()

    preview = run("relocate", OLD, stores.new, "--dry-run", "--json")
    assert preview.code == 0
    assert {one["agent"] for one in preview.document["sessions"]} == set(AGENTS)
    assert preview.document["totals"] == {"made": 3, "there": 0, "skipped": 0, "refused": 0}
    # Ids are made up anew by each run.
    assert {(one["new_id"], one["new"], one["resume"]) for one in preview.document["sessions"]} == {
        (None, None, None)
    }
    assert "  as " not in run("relocate", OLD, stores.new, "--dry-run").out
    assert stores.files() == before

    first = run("relocate", OLD, stores.new, "--json").document
    assert first["totals"]["made"] == 3
    after = stores.files()
    assert {name: after[name] for name in before} == before
    # Folders are left out: Codex files its sessions by day, so how many are new is a matter of the date.
    new = [made for name in {*after} - {*before} if (made := stores.home / name).is_file()]
    assert len({file.parent for file in new}) == len(new) == 3, "each in a folder of its own"
    listed = {one["path"]: one for one in run("ls", "--json").document["sessions"]}
    for one in first["sessions"]:
        made = listed[one["new"]]
        assert (made["project"], made["agent"], made["parent"]) == (
            str(stores.new),
            one["agent"],
            one["path"],
        )
        assert made["title"] == listed[one["path"]]["title"]
        assert made["messages"] == listed[one["path"]]["messages"]

    second = run("relocate", OLD, stores.new, "--json").document
    assert second["totals"] == {"made": 0, "there": 3, "skipped": 0, "refused": 0}
    assert {one["new"] for one in second["sessions"]} == {one["new"] for one in first["sessions"]}
    assert stores.files() == after


def test_a_session_that_went_on_is_begun_again_and_an_earlier_fork_is_not_taken_for_it(
    run: Run, stores: Stores
) -> None:
    file = planted(stores)
    file.user("water them")
    file.said("watered")
    # Only a part of it works in the new folder.
    assert run("fork", file.path, "#2", "--cwd", stores.new).code == 0
    assert run("relocate", OLD, stores.new, "--json").document["totals"]["made"] == 1
    assert run("relocate", OLD, stores.new, "--json").document["totals"]["there"] == 1
    file.user("prune them")
    file.said("pruned")
    assert run("relocate", OLD, stores.new, "--json").document["totals"]["made"] == 1


def test_the_relocated_session_may_go_on(run: Run, stores: Stores) -> None:
    planted(stores)
    made = run("relocate", OLD, stores.new, "--json").document["sessions"][0]["new"]
    assert run("label", made, "leaf", "here").code == 0
    assert run("relocate", OLD, stores.new, "--json").document["totals"]["there"] == 1


def test_folders_below_go_along_where_they_are_there(run: Run, stores: Stores) -> None:
    planted(stores, "below", f"{OLD}/trees")
    planted(stores, "gone", f"{OLD}/fences")
    planted(stores, "beside", f"{OLD}-two")
    (stores.new / "trees").mkdir()
    outcome = run("relocate", OLD, stores.new, "--json")
    assert outcome.code == 1
    assert outcomes(outcome.document) == {"below": "made", "gone": "refused"}
    refused = next(one for one in outcome.document["sessions"] if one["id"] == "gone")
    assert refused["reason"] == f"no folder {stores.new / 'fences'}"
    made = next(one for one in outcome.document["sessions"] if one["id"] == "below")
    assert made["cwd"] == str(stores.new / "trees")
    assert json.loads(Path(made["new"]).read_bytes().splitlines()[0])["cwd"] == made["cwd"]


def test_what_cannot_go_on_says_why_and_the_others_are_begun(run: Run, stores: Stores) -> None:
    planted(stores)
    planted(stores, "sheds", f"{OLD}/sheds")
    stores.pi("empty")
    asked = planted(stores, "asked")
    asked.user("and now?")
    outcome = run("relocate", OLD, stores.new)
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert any("2 sessions" in line and str(stores.new) in line for line in lines)
    text = outcome.out
    assert f"no folder {stores.new / 'sheds'}" in text
    assert "it ends before the last prompt, which has no reply" in text
    assert "nothing was said in it" in text


def test_what_stopped_inside_a_call_is_healed_and_a_second_run_makes_nothing(
    run: Run, stores: Stores
) -> None:
    file = stores.pi("unfinished")
    file.user("plant a fig")
    file.said("planting", call("bash", "b", command="plant fig"))
    rollout = Rollout(stores.home / ".codex", cwd=OLD)
    rollout.turn("plant?", "planted.")
    rollout.item("function_call", call_id="open", name="shell_command", arguments="{}")
    claude = Transcript(stores.home / ".claude")
    claude.prompt("count the pears")
    claude.block({"type": "thinking", "thinking": "let me see", "signature": "c2ln"}, "msg_t", None)
    claude.call("Bash", "toolu_one", "msg_t", command="ls pears")
    claude.call("Bash", "toolu_two", "msg_t", command="ls apples")
    claude.result("toolu_one", "7")
    before = stores.files()
    first = run("relocate", OLD, stores.new, "--json").document
    assert first["totals"] == {"made": 3, "there": 0, "skipped": 0, "refused": 0}
    for one in first["sessions"]:
        assert "has no result" in str(one["diagnostics"]), one["agent"]
        assert "No result is recorded" in Path(one["new"]).read_text("utf-8")
    second = run("relocate", OLD, stores.new, "--json").document
    assert second["totals"] == {"made": 0, "there": 3, "skipped": 0, "refused": 0}
    after = stores.files()
    assert {name: after[name] for name in before} == before


def test_a_long_reason_leaves_the_titles(run: Run, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(stores, "quinces and pears")

    def failing(_session: Any, _draft: Any) -> Path:
        raise OSError(28, "No space left on device, and a good deal more that is to be said about it")

    monkeypatch.setattr(forking, "store", failing)
    out = run("relocate", OLD, stores.new).out
    assert "plant quinces and pears" in out
    assert "more that is to be said" in out


def test_a_failure_half_way_leaves_whole_sessions_and_a_second_run_goes_on(
    run: Run, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        planted(stores, name)
    store, calls = forking.store, []

    def failing(session: Any, draft: Any) -> Path:
        calls.append(draft)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return store(session, draft)

    monkeypatch.setattr(forking, "store", failing)
    outcome = run("relocate", OLD, stores.new, "--json")
    assert outcome.code == 1
    assert outcome.document["totals"] == {"made": 2, "there": 0, "skipped": 0, "refused": 1}
    assert [one["reason"] for one in outcome.document["sessions"] if one["reason"]] == [
        "No space left on device"
    ]
    outcome = run("relocate", OLD, stores.new, "--json")
    assert outcome.document["totals"] == {"made": 1, "there": 2, "skipped": 0, "refused": 0}


def test_what_is_stopped_says_how_much_is_left(
    run: Run, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        planted(stores, name)
    store, calls = forking.store, []

    def stopped(session: Any, draft: Any) -> Path:
        calls.append(draft)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return store(session, draft)

    monkeypatch.setattr(forking, "store", stopped)
    outcome = run("relocate", OLD, stores.new)
    assert outcome.code == 130
    assert "copied 1 session to" in outcome.out
    assert "1 session left; run it again to continue" in outcome.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (OLD, "", "no folder is named for the new session"),
        (OLD, "nowhere", "no folder "),
        (
            "/home/ada/orchad",
            "grove",
            f"no session worked in /home/ada/orchad; one whose folder is gone worked in {OLD}",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    run: Run, stores: Stores, old: str, new: str, said: str
) -> None:
    planted(stores)
    before = stores.files()
    outcome = run("relocate", old, stores.new.parent / new if new else "")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert said in outcome.err
    assert stores.files() == before


def test_the_same_folder_is_refused_and_one_that_is_still_there_is_said(run: Run, stores: Stores) -> None:
    planted(stores, "here", str(stores.new))
    outcome = run("relocate", f"{stores.new}/", stores.new)
    assert outcome.code == 1
    assert "the old folder and the new one are both" in outcome.err
    inner = stores.new / "inner"
    inner.mkdir()
    planted(stores, "inside", str(inner))
    document = run("relocate", stores.new, inner, "--json").document
    assert outcomes(document) == {"here": "made"}
    assert [one["code"] for one in document["diagnostics"]] == ["old-folder"]
    assert os.path.isdir(inner)
