"""A new session in another folder than its source's, of every agent: what says where it works, and where it lies."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.fork_draft import ForkTerms
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.catalogue.backups import keep
from leafward.catalogue.listing import Catalogue
from tests.acting import Acting
from tests.codex_rollout import Rollout
from tests.foreign_stores import make
from tests.forks import digests, terms, texts
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.branches.fork import Fork
    from leafward.session.session import Session

    Source = Callable[[str], Session]

AGENTS = ("pi", "codex", "claude", "opencode")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the new session works. The source's folder is not here."""
    found = tmp_path / "new orchard"
    found.mkdir()
    return found


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Callable[[str], Session]]:
    """Opens a session of an agent, in a folder that is not here, and closes it when the test is over."""
    found: list[Session] = []

    def open_(agent: str) -> Session:
        path = written(tmp_path / "store") if agent == "pi" else make(agent, tmp_path / "store").path
        found.append(agent_named(agent).open(path))
        return found[-1]

    yield open_
    for session in found:
        session.close()


def written(store: Path, name: str = "--gone-orchard--") -> Path:
    """A session of pi."""
    folder = store / "sessions" / name
    folder.mkdir(parents=True)
    file = Acting(folder / "s.jsonl", {**HEADER, "cwd": "/gone/orchard"})
    file.user("plant a pear tree")
    file.said("planted")
    return file.path


def forked(session: Session, to: str, home: Path, cwd: str) -> Fork:
    given = terms(home)
    given = ForkTerms(given.env, given.config, given.now, cwd=cwd)
    made = forking.fork(session, session.place, agent_named(to), given)
    forking.store(session, made.draft)
    return made


def lines(made: Fork) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.draft.file.read_bytes().splitlines()]


@pytest.mark.parametrize("to", AGENTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_it_works_where_it_was_told_to(
    tmp_path: Path, folder: Path, source: Source, agent: str, to: str
) -> None:
    session = source(agent)
    before = digests(tmp_path / "store")
    with pytest.raises(Refused, match="not found"):
        forked(session, to, tmp_path, "")
    made = forked(session, to, tmp_path, str(folder))
    assert made.obstacle is None
    assert made.draft.resume.cwd == str(folder)
    assert "other-folder" in {remark.code for remark in made.remarks}
    assert digests(tmp_path / "store").items() >= before.items()
    if made.draft.imported is not None:
        assert {made.draft.imported.command.cwd, made.draft.imported.undo.cwd} == {str(folder)}
        assert json.loads(made.draft.file.read_bytes())["info"]["directory"] == str(folder)
        return
    copy = agent_named(to).open(made.draft.path)
    try:
        assert copy.cwd == str(folder)
        assert agent_named(to).resume(copy, terms(tmp_path).env).cwd == str(folder)
        if agent == to:
            assert texts(copy, copy.leaf) == texts(session, session.place)
    finally:
        copy.close()


@pytest.mark.parametrize("name", ["--gone-orchard--", "chosen"])
def test_pi_keeps_it_among_the_sessions_of_that_folder(tmp_path: Path, folder: Path, name: str) -> None:
    """Beside its source only where the user chose one place for all sessions."""
    session = agent_named("pi").open(written(tmp_path, name))
    made = forked(session, "pi", tmp_path, str(folder))
    session.close()
    theirs = "--" + str(folder).strip("/").replace("/", "-") + "--"
    assert made.draft.path.parent == tmp_path / "sessions" / ("chosen" if name == "chosen" else theirs)


def test_codex_is_told_of_the_folder_and_what_it_noted_of_the_old_one_stays(
    tmp_path: Path, folder: Path
) -> None:
    rollout = Rollout(
        tmp_path / ".codex", cwd="/gone/orchard", git={"branch": "pears"}, runtime_workspace_roots=["/gone"]
    )
    rollout.line("turn_context", cwd="/gone/orchard", model="m")
    rollout.turn("one", "first")
    made = forked(rollout.opened(), "codex", tmp_path, str(folder))
    first, *rest = lines(made)
    assert first["payload"]["cwd"] == str(folder)
    assert not {"git", "runtime_workspace_roots"} & set(first["payload"])
    noted = [line["payload"]["cwd"] for line in rest if line["type"] == "turn_context"]
    assert noted == ["/gone/orchard"]
    assert made.draft.resume.argv[:4] == ("codex", "resume", "-C", str(folder))


def test_claude_code_finds_it_among_the_sessions_of_that_folder(
    tmp_path: Path, folder: Path, source: Source
) -> None:
    session = source("claude")
    made = forked(session, "claude", tmp_path, str(folder))
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in os.path.realpath(folder))
    assert made.draft.path.parent == session.path.parent.with_name(plain)
    assert {row["cwd"] for row in lines(made) if "cwd" in row} == {str(folder)}


def test_a_folder_is_named_as_in_a_shell(tmp_path: Path, folder: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert forking.folder_named("~/new orchard", env) == str(folder)
    with pytest.raises(Refused, match="no folder"):
        forking.folder_named("~/nowhere", env)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_fork_of_a_kept_copy_goes_where_its_agent_looks(agent: str, folder: Path, tmp_path: Path) -> None:
    """Our copies lie in stores without the agent's settings and credentials, and stay as they are."""
    store = tmp_path / "store"
    path = written(store) if agent == "pi" else make(agent, store).path
    catalogue = Catalogue(Config(), [store], index_path=tmp_path / "index")
    catalogue.refresh()
    (card,) = catalogue.cards()
    assert card.path == str(path)
    copy = keep(card).path
    shutil.rmtree(store)
    here = agent_named(agent)
    with closing(here.open(copy)) as session:
        found = forking.fork(session, session.place, here, replace(terms(tmp_path / "home"), cwd=str(folder)))
        assert str(found.draft.path).startswith(f"{tmp_path / 'home'}{os.sep}")
        # As one wants it who calls the agent oneself.
        assert not found.draft.resume.env_set
        if agent != "pi":
            with pytest.raises(Refused, match="fork it"):
                here.resume(session, {})
