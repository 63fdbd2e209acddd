"""Sessions kept, archived, thrown away and brought back; and how long their agents leave them."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named, all_agents
from leafward.base.errors import NotFound, Refused
from leafward.catalogue.backups import keep, kept_root
from leafward.catalogue.catalogue_status import status_of
from leafward.catalogue.lineage import forks_of, parents
from leafward.catalogue.retention import leaves_in
from leafward.catalogue.trash import bring_back, find_thrown, throw_away, thrown_away
from leafward.session.journal.operation_log import session_archived
from leafward.session.journal.session_operations import archive_session, undo
from leafward.session.session import Session
from tests.core.catalogued import cards_of, listed
from tests.core.listed_sessions import DAY, START, Draft, file_name
from tests.surroundings import CORPORA, needs_corpora
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Callable


# --- how long a session stays -----------------------------------------------------------------------------------------


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A session of Claude Code with a sub-agent, results and copies of files beside it."""
    home = tmp_path / "dot" / ".claude"
    folder = home / "projects" / "-home-ada-orchard"
    session = "11111111-2222-4333-8444-555555555555"
    rows = [
        {
            "type": kind,
            "uuid": f"00000000-0000-4000-8000-00000000000{number}",
            "parentUuid": f"00000000-0000-4000-8000-00000000000{number - 1}" if number else None,
            "sessionId": session,
            "cwd": "/home/ada/orchard",
            "timestamp": f"2026-01-05T08:00:0{number}.000Z",
            "isSidechain": False,
            "message": {"role": kind, "content": text, "id": f"m{number}"},
        }
        for number, (kind, text) in enumerate((("user", "count the pears"), ("assistant", "seven")))
    ]
    path = folder / f"{session}.jsonl"
    write(path, "".join(json.dumps(row) + "\n" for row in rows))
    helper = dict(rows[0], isSidechain=True, agentId="a1", message={"role": "user", "content": "look"})
    write(folder / session / "subagents" / "agent-a1.jsonl", json.dumps(helper) + "\n")
    write(folder / "agent-b2.jsonl", json.dumps(helper) + "\n")
    write(folder / session / "tool-results" / "long.txt", "many pears")
    write(home / "file-history" / session / "x@v1", "pears = 6")
    write(home / "todos" / f"{session}-agent.json", "[]")
    write(folder / "99999999-2222-4333-8444-555555555555.jsonl", json.dumps(rows[0]) + "\n")
    return path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def claude_home(transcript: Path) -> Path:
    return transcript.parents[2]


def claude(transcript: Path) -> dict[str, Any]:
    return {"roots": {"claude": (str(claude_home(transcript)),)}}


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ('{"cleanupPeriodDays": 7}', 7),
        ('{"cleanupPeriodDays": 99999}', 99999),
        ('{"cleanupPeriodDays": "x"}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ('{"cleanupPeriodDays": -1}', 30),
        ("[]", 30),
        ("{", 30),
    ],
)
def test_what_claude_deletes_goes_by_the_last_write_and_its_settings(
    transcript: Path, settings: str | None, days: int
) -> None:
    if settings is not None:
        write(claude_home(transcript) / "settings.json", settings)
    os.utime(transcript, ns=(START * 1_000_000, START * 1_000_000))
    found = listed(**claude(transcript))
    card = cards_of(found)[transcript.name]
    assert found.expires(card) == START + days * DAY
    write(claude_home(transcript) / "settings.json", '{"cleanupPeriodDays": 365000}')
    assert found.expires(card) == START + 365_000 * DAY, "settings that change count at once"


def test_other_agents_delete_nothing(store: Path) -> None:
    draft = Draft()
    draft.user("hello")
    draft.write(store / "a.jsonl")
    found = listed(store)
    assert [found.expires(card) for card in found.cards()] == [None]


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (7 * DAY, ""),
        (7 * DAY - 1, "deleted in 6 days"),
        (DAY, "deleted in 1 day"),
        (DAY - 1, "deleted within a day"),
        (0, "may be deleted any time"),
        (-DAY, "may be deleted any time"),
    ],
)
def test_how_soon_in_words(left: int, words: str) -> None:
    assert leaves_in(START + left, START) == words


def test_a_session_is_kept_whole_and_only_read(transcript: Path) -> None:
    home = claude_home(transcript)
    before = contents(home)
    card = cards_of(listed(**claude(transcript)))[transcript.name]
    asked = keep(card, dry_run=True)
    assert (asked.copied, asked.path.exists()) == (6, False)
    done = keep(card)
    assert done.path == kept_root("claude") / "projects" / "-home-ada-orchard" / transcript.name
    names = {
        str(path.relative_to(kept_root("claude")))
        for path in kept_root("claude").rglob("*")
        if path.is_file()
    }
    session = transcript.stem
    assert names == {
        f"projects/-home-ada-orchard/{session}.jsonl",
        f"projects/-home-ada-orchard/{session}/subagents/agent-a1.jsonl",
        f"projects/-home-ada-orchard/{session}/tool-results/long.txt",
        "projects/-home-ada-orchard/agent-b2.jsonl",
        f"file-history/{session}/x@v1",
        f"todos/{session}-agent.json",
    }
    assert done.path.read_bytes() == transcript.read_bytes()
    for path in kept_root("claude").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert contents(home) == before
    assert not keep(card).changed, "asked again it finds everything there"
    with transcript.open("a", encoding="utf-8") as file:
        file.write("\n")
    assert keep(card).copied == 1, "what changed is taken over"
    assert done.path.read_bytes() == transcript.read_bytes()


def test_a_kept_session_is_shown_once_and_outlives_its_original(transcript: Path) -> None:
    settings = claude(transcript)
    found = listed(**settings)
    count = len(found.cards())
    copy = keep(cards_of(found)[transcript.name]).path
    found.refresh()
    assert len(found.cards()) == count
    assert str(transcript) in found.kept_paths()
    assert str(copy) not in {card.path for card in found.cards()}
    shutil.rmtree(claude_home(transcript) / "projects" / "-home-ada-orchard")
    found.refresh()
    card = cards_of(found)[transcript.name]
    assert (card.path, card.prompt, found.expires(card)) == (str(copy), "count the pears", None)
    assert card.path in found.kept_paths()
    with pytest.raises(Refused, match="kept copy itself"):
        keep(card)
    helpers = [one for one in found.cards() if one.relation == "subagent"]
    assert {parents(found.cards())[one.path][0] for one in helpers} == {str(copy)}


@needs_corpora
@pytest.mark.parametrize("folder", ["codex/v0.169.0", "pi"])
def test_every_session_with_files_can_be_kept(folder: str, tmp_path: Path) -> None:
    shutil.copytree(CORPORA / folder, tmp_path / "there")
    found = listed(tmp_path / "there")
    for card in found.cards():
        done = keep(card)
        assert done.changed or done.files
        assert done.path.is_file()
    shutil.rmtree(tmp_path / "there")
    again = listed(roots={agent.name: () for agent in all_agents()})
    before = {(card.id, card.entries, card.branches) for card in found.cards()}
    assert {(card.id, card.entries, card.branches) for card in again.cards()} >= before


# --- archive, delete --------------------------------------------------------------------------------------------------


def test_a_session_is_archived_by_a_line_and_brought_back(store: Path) -> None:
    draft = Draft()
    draft.user("hello")
    path = draft.write(store / "a.jsonl")
    session = Session.open(path)
    assert archive_session(session).changed
    session.refresh()
    assert session_archived(session)
    assert not archive_session(session).changed
    [card] = listed(store).cards()
    assert card.archived
    undo(session)
    session.close()
    [card] = listed(store).cards()
    assert not card.archived


def test_what_is_deleted_can_be_brought_back(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    path = draft.write(store / "p" / file_name("aaaa0001"))
    fork = Draft("aaaa0002", parent=str(path), start=START + DAY)
    fork.user("again")
    fork.write(store / "p" / file_name("aaaa0002"))
    found = listed(store)
    card = cards_of(found)[path.name]
    assert [one.id for one in forks_of(card, found.cards(), parents(found.cards()))] == ["aaaa0002"]
    content = path.read_bytes()
    thrown = throw_away(card)
    assert not path.exists()
    assert thrown.file.read_bytes() == content
    assert stat.S_IMODE(thrown.file.parent.stat().st_mode) == 0o700
    found.refresh()
    assert [one.id for one in found.cards()] == ["aaaa0002"]
    assert find_thrown("aaaa").path == path
    with pytest.raises(NotFound, match=r"no session 'bbbb' in the trash, which holds aaaa0001 \(hello\)$"):
        find_thrown("bbbb")
    path.write_text("something else")
    with pytest.raises(Refused, match="there again"):
        bring_back(thrown)
    path.unlink()
    path.parent.rename(store / "elsewhere")
    assert bring_back(find_thrown(str(path))) == path
    assert path.read_bytes() == content
    assert thrown_away() == []
    with pytest.raises(NotFound, match="the trash has no session"):
        find_thrown("aaaa0001")


def test_sessions_of_other_agents_are_never_deleted(transcript: Path) -> None:
    card = cards_of(listed(**claude(transcript)))[transcript.name]
    with pytest.raises(Refused, match="never changes"):
        throw_away(card)
    assert transcript.is_file()


# --- across agents ----------------------------------------------------------------------------------------------------


@needs_corpora
def test_a_session_forked_from_one_of_another_agent_hangs_under_it(tmp_path: Path) -> None:
    shutil.copytree(CORPORA / "codex" / "v0.169.0", tmp_path / "codex")
    before = listed(tmp_path)
    origin = next(card for card in before.cards() if card.parent is None and card.entries)
    by_path: Callable[[str], str] = lambda parent: parents(listed(tmp_path).cards())[parent][0]  # noqa: E731
    for number, named in enumerate((origin.path, f"/moved/{Path(origin.path).name}", origin.id)):
        draft = Draft(f"fork000{number}", cwd=origin.project, parent=named)
        draft.user("go on in pi")
        path = draft.write(tmp_path / "pi" / f"{number}.jsonl")
        assert by_path(str(path)) == origin.path


def test_folders_that_are_not_there_are_known(store: Path, tmp_path: Path) -> None:
    for number, cwd in enumerate((tmp_path, tmp_path / "gone")):
        draft = Draft(f"{number}aaa0001", cwd=str(cwd))
        draft.user(f"prompt {number}")
        draft.write(store / f"{number}.jsonl")
    found = listed(store)
    cards = found.cards()
    assert status_of(found, cards, parents(cards)).missing == {str(tmp_path / "gone")}


def test_another_agents_session_is_archived_beside_it(transcript: Path) -> None:
    before = contents(claude_home(transcript))
    found = listed(**claude(transcript))
    for archived in (True, False):
        session = agent_named("claude").open(transcript)
        try:
            assert archive_session(session, archived).changed
        finally:
            session.close()
        found.refresh()
        assert cards_of(found)[transcript.name].archived is archived
    assert contents(claude_home(transcript)) == before
