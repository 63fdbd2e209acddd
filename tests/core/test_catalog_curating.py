"""Sessions kept, archived, thrown away and left alone; and what they used, counted once."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents import agent_named, all_agents
from leafward.catalog import Card, Catalogue, about, leaves_in, parents, totals
from leafward.catalog.excluding import Exclusion
from leafward.catalog.index import Index
from leafward.catalog.keeping import keep, kept_root
from leafward.catalog.spending import counted_once, sum_of
from leafward.catalog.trash import bring_back, find_thrown, going, throw_away, thrown_away
from leafward.config import Config
from leafward.errors import NotFound, Refused
from leafward.journal import archive_session, session_archived, undo
from leafward.session import Session
from tests.core.drafts import START, Draft, file_name

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = 86_400_000
CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"
corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="no corpora beside the repository")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def priced(draft: Draft, tokens: int, cost: float | None = None) -> str:
    """A reply that used something; without `cost` it says none."""
    usage: dict[str, Any] = {
        "input": tokens,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": tokens,
    }
    if cost is not None:
        usage["cost"] = {"total": cost}
    message = {"role": "assistant", "content": [], "usage": usage, "stopReason": "stop"}
    return draft.entry("message", {"message": message})


def listed(*paths: Path, **settings: Any) -> Catalogue:
    found = Catalogue(Config(**settings), paths)
    found.refresh()
    return found


def cards_of(found: Catalogue) -> dict[str, Card]:
    return {Path(card.path).name: card for card in found.cards()}


def used(found: Catalogue) -> dict[str, tuple[int, float | None]]:
    cards = found.cards()
    counted = counted_once(cards, parents(cards), found.spent)
    sums = {Path(path).name: sum_of(days) for path, days in counted.items()}
    return {name: (one.tokens, one.known_cost) for name, one in sums.items()}


# --- what was used ----------------------------------------------------------------------------------------------------


def test_a_fork_counts_only_what_is_its_own(store: Path) -> None:
    first = Draft("aaaa0001")
    first.user("hello")
    priced(first, 100, 0.5)
    first.write(store / "a.jsonl")
    fork = Draft("aaaa0002", parent=str(store / "a.jsonl"), start=START + DAY)
    fork.lines += first.lines[1:]
    fork.leaf, fork.count = first.leaf, 100
    priced(fork, 10, 0.25)
    fork.write(store / "b.jsonl")
    assert used(listed(store)) == {"a.jsonl": (100, 0.5), "b.jsonl": (10, 0.25)}
    (store / "a.jsonl").unlink()
    assert used(listed(store)) == {"b.jsonl": (110, 0.75)}, "nobody else counts what it took over now"


def test_two_forks_of_what_is_gone_count_it_once(store: Path) -> None:
    first = Draft("aaaa0001")
    first.user("hello")
    priced(first, 100, 0.5)
    for number in (2, 3):
        fork = Draft(f"aaaa000{number}", parent="/gone/a.jsonl", start=START + number * DAY)
        fork.lines += first.lines[1:]
        fork.leaf, fork.count = first.leaf, 100 * number
        priced(fork, number, 0.0)
        fork.write(store / f"{number}.jsonl")
    assert sum(tokens for tokens, _ in used(listed(store)).values()) == 105


def test_a_copied_file_counts_what_it_goes_on_with(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    draft.write(store / "a.jsonl")
    priced(draft, 7, 0.1)
    draft.write(store / "b.jsonl")
    assert sum(tokens for tokens, _ in used(listed(store)).values()) == 107


def test_a_cost_that_nobody_recorded_stays_unknown(store: Path) -> None:
    silent = Draft("aaaa0001")
    priced(silent, 50)
    silent.write(store / "a.jsonl")
    free = Draft("bbbb0001", cwd="/home/ada/free")
    priced(free, 50, 0.0)
    free.write(store / "b.jsonl")
    found = listed(store)
    assert used(found) == {"a.jsonl": (50, None), "b.jsonl": (50, 0.0)}
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    assert (sums.all.sessions, sums.all.unpriced, sums.all.known_cost) == (2, 1, 0.0)
    assert sums.projects["/home/ada/orchard"].known_cost is None


def test_sums_by_project_agent_and_day_are_the_whole(store: Path) -> None:
    for number in range(4):
        draft = Draft(f"{number}aaa0001", cwd=f"/p{number % 2}", start=START + number * DAY)
        draft.user(f"prompt {number}")
        priced(draft, 10 + number, 0.125)
        draft.write(store / f"{number}.jsonl")
    found = listed(store)
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    assert sums.all.tokens == 46
    for parts in (sums.projects, sums.agents, sums.cells, sums.days):
        values = list(parts.values())
        assert sum(one.tokens for one in values) == 46
        assert sum(one.cost for one in values) == 0.5
    assert len(sums.days) == 4


def test_what_is_appended_is_added(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    priced(draft, 100, 0.5)
    path = draft.write(store / "a.jsonl")
    found = listed(store)
    priced(draft, 11, 0.25)
    draft.append_to(path, 1)
    found.refresh()
    assert (found.work.read_on, found.work.read_whole) == (1, 0)
    grown = found.spent(str(path))
    assert used(found) == {"a.jsonl": (111, 0.75)}
    again = Index(found.index.path)
    assert again.spent(str(path)) == grown


@corpora
@pytest.mark.parametrize(
    ("folder", "known"), [("claude/v2.1.330", True), ("codex/v0.169.0", False), ("opencode/v1.18.33", True)]
)
def test_other_agents_say_what_they_used(folder: str, known: bool) -> None:
    found = listed(CORPORA / folder)
    cards = found.cards()
    sums = totals(cards, counted_once(cards, parents(cards), found.spent))
    whole = sum(one.tokens for card in cards for one in found.spent(card.path))
    assert 0 < sums.all.tokens < whole, "some sessions are forks: what they took over is not counted"
    assert (sums.all.known_cost is not None) is known


# --- the index --------------------------------------------------------------------------------------------------------


def test_another_file_of_the_same_size_and_time_is_read_again(store: Path) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    path = draft.write(store / "a.jsonl", mtime=START)
    found = listed(store)
    other = Draft("aaaa0001")
    other.user("world")
    new = other.write(store / "new", mtime=START)
    assert new.stat().st_size == path.stat().st_size
    os.replace(new, path)
    found.refresh()
    assert [card.prompt for card in found.cards()] == ["world"]


def test_two_at_once_lose_nothing_but_work(store: Path) -> None:
    for number in range(40):
        draft = Draft(f"{number:04d}aaaa")
        draft.user(f"prompt {number}")
        draft.write(store / f"{number}.jsonl")
    failed: list[BaseException] = []

    def look() -> None:
        try:
            for _ in range(5):
                found = listed(store)
                found.index.changed = True
                found.save()
                assert len(found.cards()) == 40
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    index = Index()
    assert (index.rejected, len(index.cards)) == (None, 40)
    assert os.listdir(index.path.parent) == [index.path.name]


def test_a_broken_store_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft("aaaa0001")
    draft.user("hello")
    draft.write(tmp_path / "pi" / "a.jsonl")
    broken = all_agents()[-1]

    def fail(*_: object) -> Any:
        raise RuntimeError("no such column")

    monkeypatch.setattr(broken, "discover", fail)
    found = listed(roots={"pi": (str(tmp_path / "pi"),)})
    assert len(found.cards()) == 1
    assert [one.path for one in found.trouble] == [broken.title]
    assert "no such column" in found.trouble[0].reason


def test_extra_roots_are_searched_besides(tmp_path: Path) -> None:
    for name in ("own", "more"):
        draft = Draft(f"{name}0001")
        draft.user("hello")
        draft.write(tmp_path / name / "a.jsonl")
    found = listed(roots={"pi": (str(tmp_path / "own"),)}, extra_roots={"pi": (str(tmp_path / "more"),)})
    assert len(found.cards()) == 2
    assert str(tmp_path / "more") in found.searched


# --- what is left alone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (("/home/ada/private",), "/home/ada/private/x/y", True),
        (("/home/ada/private",), "/home/ada/private2", False),
        (("~/private",), "/home/ada/private", True),
        (("private",), "/srv/private/x", True),
        (("scratch-*",), "/srv/scratch-1/x", True),
        (("scratch-*",), "/srv/my-scratch-1/x", False),
        (("/srv/*/tmp",), "/srv/a/tmp/x", True),
        (("/srv/*/tmp",), "/srv/a/b/tmp", False),
        (("/srv/**/tmp",), "/srv/a/b/tmp", True),
        (("/srv/**/tmp",), "/srv/tmp", True),
        (("/srv/[ab]?",), "/srv/a1", True),
        (("/srv/[!ab]?",), "/srv/a1", False),
        (("~/private", "!~/private/open"), "/home/ada/private/open/x", False),
        (("~/private", "!~/private/open"), "/home/ada/private/other", True),
        (("", "#", "!", "["), "/srv/x", False),
    ],
)
def test_patterns(patterns: tuple[str, ...], path: str, expected: bool) -> None:
    assert Exclusion(patterns, {"HOME": "/home/ada"})(path) is expected


def test_nothing_that_was_said_in_an_excluded_project_is_kept(store: Path) -> None:
    for name in ("secret", "open"):
        draft = Draft(f"{name}0001", cwd=f"/home/ada/{name}")
        draft.user(f"words of {name}")
        draft.assistant("reply", calls=(("edit", f"{name}.py"),))
        draft.write(store / name / f"{name}.jsonl")
    roots = {"pi": (str(store),)}
    before = listed(roots=roots)
    assert b"words of secret" in before.index.path.read_bytes()
    after = listed(roots=roots, exclude=("secret",))
    assert ([card.project for card in after.cards()], after.excluded) == (["/home/ada/open"], 1)
    text = after.index.path.read_bytes()
    assert b"words of secret" not in text
    assert b"secret.py" not in text
    assert b"words of open" in text
    back = listed(roots=roots)
    assert (len(back.cards()), back.excluded) == (2, 0)


def test_an_excluded_project_is_found_out_by_a_look_and_then_left_alone(store: Path) -> None:
    draft = Draft("secret01", cwd="/home/ada/secret")
    draft.user("words")
    path = draft.write(store / "x" / "a.jsonl")
    settings = {"roots": {"pi": (str(store),)}, "exclude": ("/home/ada/secret",)}
    first = listed(**settings)
    assert (first.work.peeked, first.work.read_whole, first.cards(), first.excluded) == (1, 0, [], 1)
    again = listed(**settings)
    assert (again.work.peeked, again.work.read_whole, again.excluded) == (0, 0, 1)
    path.unlink()
    again.refresh()
    assert again.excluded == 0


def test_a_folder_of_a_store_can_be_excluded(store: Path) -> None:
    for name in ("a", "b"):
        draft = Draft(f"{name}0001", cwd="/p")
        draft.user(name)
        draft.write(store / name / "s.jsonl")
    found = listed(roots={"pi": (str(store),)}, exclude=(str(store / "a"),))
    assert ([card.prompt for card in found.cards()], found.excluded, found.work.peeked) == (["b"], 1, 1)


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
        (7 * DAY - 1, "goes in 6 days"),
        (DAY, "goes in 1 day"),
        (DAY - 1, "goes within a day"),
        (0, "goes at any time"),
        (-DAY, "goes at any time"),
    ],
)
def test_how_soon_in_words(left: int, words: str) -> None:
    assert leaves_in(START + left, START) == words


def test_a_session_is_kept_whole_and_only_read(transcript: Path) -> None:
    home = claude_home(transcript)
    before = snapshot(home)
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
    assert snapshot(home) == before
    assert not keep(card).changed, "asked again it finds everything there"
    with transcript.open("a", encoding="utf-8") as file:
        file.write("\n")
    assert keep(card).copied == 1, "what changed is taken over"
    assert done.path.read_bytes() == transcript.read_bytes()


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_kept_session_is_shown_once_and_outlives_its_original(transcript: Path) -> None:
    settings = claude(transcript)
    found = listed(**settings)
    count = len(found.cards())
    copy = keep(cards_of(found)[transcript.name]).path
    found.refresh()
    assert len(found.cards()) == count
    assert str(transcript) in found.kept()
    assert str(copy) not in {card.path for card in found.cards()}
    shutil.rmtree(claude_home(transcript) / "projects" / "-home-ada-orchard")
    found.refresh()
    card = cards_of(found)[transcript.name]
    assert (card.path, card.prompt, found.expires(card)) == (str(copy), "count the pears", None)
    assert card.path in found.kept()
    with pytest.raises(Refused, match="kept copy itself"):
        keep(card)
    helpers = [one for one in found.cards() if one.relation == "subagent"]
    assert {parents(found.cards())[one.path][0] for one in helpers} == {str(copy)}


@corpora
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
    goes = going(card, found.cards(), parents(found.cards()))
    assert [one.id for one in goes.forks] == ["aaaa0002"]
    content = path.read_bytes()
    thrown = throw_away(card)
    assert not path.exists()
    assert thrown.file.read_bytes() == content
    assert stat.S_IMODE(thrown.file.parent.stat().st_mode) == 0o700
    found.refresh()
    assert [one.id for one in found.cards()] == ["aaaa0002"]
    assert find_thrown("aaaa").path == path
    path.write_text("something else")
    with pytest.raises(Refused, match="there again"):
        bring_back(thrown)
    path.unlink()
    path.parent.rename(store / "elsewhere")
    assert bring_back(find_thrown(str(path))) == path
    assert path.read_bytes() == content
    assert thrown_away() == []
    with pytest.raises(NotFound, match="nothing lies in the trash"):
        find_thrown("aaaa0001")


def test_across_disks_a_file_is_copied_before_it_goes(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft()
    draft.user("hello")
    path = draft.write(store / "a.jsonl")
    content = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "rename", refuse)
    thrown = throw_away(listed(store).cards()[0])
    assert (path.exists(), thrown.file.read_bytes()) == (False, content)
    assert sorted(os.listdir(thrown.file.parent)) == ["a.jsonl", "note.json"]


def test_what_cannot_be_moved_stays(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft()
    draft.user("hello")
    path = draft.write(store / "a.jsonl")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", refuse)
    monkeypatch.setattr(shutil, "copy2", refuse)
    with pytest.raises(OSError, match="No space"):
        throw_away(listed(store).cards()[0])
    assert path.is_file()
    assert thrown_away() == []


def test_sessions_of_other_agents_are_never_deleted(transcript: Path) -> None:
    card = cards_of(listed(**claude(transcript)))[transcript.name]
    with pytest.raises(Refused, match="never touched"):
        throw_away(card)
    assert transcript.is_file()


# --- across agents ----------------------------------------------------------------------------------------------------


@corpora
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
    assert about(found, cards, parents(cards)).missing == {str(tmp_path / "gone")}


def test_another_agents_session_is_archived_beside_it(transcript: Path) -> None:
    before = snapshot(claude_home(transcript))
    found = listed(**claude(transcript))
    for archived in (True, False):
        session = agent_named("claude").open(transcript)
        try:
            assert archive_session(session, archived).changed
        finally:
            session.close()
        found.refresh()
        assert cards_of(found)[transcript.name].archived is archived
    assert snapshot(claude_home(transcript)) == before
