"""New sessions from the explorer: who can go on and who cannot, what would be written, and what is done then."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.errors import LeafwardError
from leafward.branches import fork
from leafward.compaction.branch_summary import left_branch, summarize_branch
from leafward.session.journal.lines import utc_now
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward_tui.explorer.controllers.fork import draft_fork, find_earlier, store_fork
from leafward_tui.explorer.model.forks import ForkRequest, earlier_choices, earlier_lines
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import call
from tests.tui.explored import NARROW, WIDE, Named, exploring, forked, here, installed, note
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot


@pytest.fixture
def file(tmp_path: Path) -> Named:
    return forked(tmp_path / "s.jsonl", tmp_path)


def shown(pilot: Pilot[int]) -> str:
    return "\n".join(rows(pilot.app))


def tells_command(pilot: Pilot[int], folder: Path) -> bool:
    """Whether the command for a folder is shown, on however many lines."""
    command = f"cd -- {quote(str(folder))} && pi --session"
    return "".join(command.split()) in "".join(shown(pilot).split())


async def titled(pilot: Pilot[int], title: str) -> ChoiceSheet:
    """The sheet of a title, once it is open."""

    def there() -> bool:
        sheet = pilot.app.screen
        return isinstance(sheet, ChoiceSheet) and title in shown(pilot)

    await until(pilot, there)
    sheet = pilot.app.screen
    assert isinstance(sheet, ChoiceSheet)
    return sheet


def keys(sheet: ChoiceSheet, *, refused: bool = False) -> list[str]:
    return [choice.key for choice in sheet.rows.choices if bool(choice.refused) == refused]


def new_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.jsonl") if path.name != "s.jsonl")


async def drafted(pilot: Pilot[int], *pressed: str) -> ChoiceSheet:
    """The sheet that shows a draft for pi."""
    await pilot.press("b")
    await titled(pilot, "New session from here")
    for key in pressed:
        await pilot.press(key)
        await titled(pilot, "New session from here")
    await pilot.press("p")
    return await titled(pilot, "A new session of pi")


@contextmanager
def copies(screen: ExplorerScreen, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    found: list[str] = []
    monkeypatch.setattr(screen.services, "copy", lambda text, _what="": found.append(text))
    yield found


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_it_is_shown_first_and_then_written(
    file: Named, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.path.read_bytes()
    async with exploring(file.path, size) as (pilot, screen):
        with copies(screen, monkeypatch) as copied:
            sheet = await drafted(pilot)
            assert keys(sheet) == ["w", "o", "r"]
            assert tells_command(pilot, file.path.parent)
            assert new_files(file.path.parent) == []
            await pilot.press("w")
            await until(pilot, lambda: "began a session of pi" in note(screen))
        (made,) = new_files(file.path.parent)
        assert copied == [f"cd -- {quote(str(file.path.parent))} && pi --session {quote(str(made))}"]
    assert file.path.read_bytes() == before
    header = json.loads(made.read_bytes().partition(b"\n")[0])
    assert header["parentSession"] == str(file.path)


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize(
    ("letter", "title", "holds", "counts"),
    [
        (
            "p",
            "pi",
            "holds 12 entries",
            "token counts that are copied with the entries are those of the source",
        ),
        ("c", "Codex", "holds 12 messages", "token counts and costs stay with the source"),
    ],
)
async def test_it_says_how_much_goes_over_and_whose_token_counts_it_has(
    file: Named, size: tuple[int, int], letter: str, title: str, holds: str, counts: str
) -> None:
    async with exploring(file.path, size) as (pilot, _):
        await pilot.press("b")
        await titled(pilot, "New session from here")
        await pilot.press(letter)
        await titled(pilot, f"A new session of {title}")
        said = " ".join(shown(pilot).split())
        assert holds in said
        assert counts in said


async def test_the_sheet_of_a_move_leads_there_too(file: Named) -> None:
    async with exploring(file.path) as (pilot, _):
        await pilot.press("K", "enter")
        await titled(pilot, "Move")
        await pilot.press("n")
        sheet = await titled(pilot, "New session from here")
        assert keys(sheet)[:4] == ["p", "c", "l", "o"]
        await pilot.press("escape")


async def test_before_the_prompt_its_text_is_offered(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        assert here(screen) == "d"
        await drafted(pilot, "b")
        assert "prompt: d prompt" in shown(pilot)
        await pilot.press("w")
        await until(pilot, lambda: "began a session" in note(screen))
        assert any(one.message.startswith("copied the command (") for one in pilot.app._notifications)
    (made,) = new_files(file.path.parent)
    ids = [json.loads(line)["id"] for line in made.read_bytes().splitlines()[1:]]
    assert ids[-1] == file.ends["c"]
    assert file.prompts["d"] not in ids


async def test_where_nobody_can_go_on_it_says_why_and_leads_to_where_it_can(tmp_path: Path) -> None:
    file = Named(tmp_path / "s.jsonl", tmp_path)
    file.turn("a")
    file.user("b prompt")
    file.said(call("read", "r", path="b.py"))
    async with exploring(file.path) as (pilot, screen):
        assert here(screen) == "b"
        await pilot.press("b")
        sheet = await titled(pilot, "New session from here")
        assert keys(sheet, refused=True) == ["p", "c", "l", "o"]
        assert "1 tool call has no result here" in shown(pilot)
        assert "where one can begin the nearest for pi, Codex" in " ".join(shown(pilot).split())
        await pilot.press("p")
        assert pilot.app.screen is sheet
        await pilot.press("g")
        await reached(pilot, ExplorerScreen)
    assert new_files(tmp_path) == []


async def test_injected_context_is_a_choice(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await drafted(pilot, "i")
        await pilot.press("w")
        await until(pilot, lambda: "began a session" in note(screen))
    (made,) = new_files(file.path.parent)
    last = json.loads(made.read_bytes().splitlines()[-1])
    assert last["customType"] == "leafward.injection"


async def test_the_menu_says_what_a_choice_will_do(file: Named) -> None:
    async with exploring(file.path) as (pilot, _screen):
        await pilot.press("K", "b")
        await titled(pilot, "New session from here")
        said = shown(pilot)
        assert "puts the prompt on the clipboard" in said
        assert "Add rules, files and next step" in said
        assert "Add a summary of the abandoned branch" in said


async def test_a_summary_of_what_is_left_behind_is_a_choice(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("K", "K")
        await drafted(pilot, "s")
        assert "after the copied entries: a summary of the abandoned branch" in shown(pilot)
        await pilot.press("w")
        await until(pilot, lambda: "began a session" in note(screen))
    (made,) = new_files(file.path.parent)
    last = json.loads(made.read_bytes().splitlines()[-1])
    assert last["customType"] == "leafward.summary"
    assert "d answered" in last["content"]


async def test_nothing_is_written_where_the_agent_that_is_to_go_on_is_not_installed(
    file: Named, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    async with exploring(file.path) as (pilot, screen):
        await drafted(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "pi is not installed here" in note(screen))
        assert new_files(file.path.parent) == []


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], Any, str]]:
    """The programs that run in place of the application."""
    installed(monkeypatch, tmp_path / "bin", "pi")
    found: list[tuple[list[str], Any, str]] = []

    def run(argv: list[str], cwd: str, env: dict[str, str], **_: Any) -> None:
        found.append((list(argv), cwd, env["PWD"]))

    monkeypatch.setattr(subprocess, "run", run)
    return found


@contextmanager
def suspended() -> Iterator[None]:
    yield


async def written_and_run(pilot: Pilot[int], file: Named, ran: list[tuple[list[str], Any, str]]) -> Path:
    """Writes a fork and runs its agent; returns its file."""
    await drafted(pilot)
    await pilot.press("r")
    await until(pilot, lambda: ran)
    (made,) = new_files(file.path.parent)
    return made


async def test_it_goes_on_in_place_of_the_application(
    file: Named, monkeypatch: pytest.MonkeyPatch, ran: list[tuple[list[str], Any, str]]
) -> None:
    async with exploring(file.path) as (pilot, screen):
        monkeypatch.setattr(pilot.app, "suspend", suspended)
        made = await written_and_run(pilot, file, ran)
        folder = str(file.path.parent)
        assert ran == [(["pi", "--session", str(made)], folder, folder)]
        assert "began a session of pi" in note(screen)


async def test_a_second_try_goes_on_with_the_first_copy_unless_another_is_wanted(
    file: Named, monkeypatch: pytest.MonkeyPatch, ran: list[tuple[list[str], Any, str]]
) -> None:
    async with exploring(file.path) as (pilot, screen):
        monkeypatch.setattr(pilot.app, "suspend", suspended)
        made = await written_and_run(pilot, file, ran)
        await drafted(pilot)
        await pilot.press("r")
        sheet = await titled(pilot, "This session was written before")
        assert keys(sheet) == ["r", "a"]
        assert f"{made.name}: nobody has continued it" in shown(pilot)
        await pilot.press("r")
        await until(pilot, lambda: len(ran) == 2)
        assert ran[1] == ran[0]
        assert new_files(file.path.parent) == [made]
        assert "reuses a session of pi" in note(screen)
        await drafted(pilot)
        await pilot.press("r")
        await titled(pilot, "This session was written before")
        await pilot.press("a")
        await until(pilot, lambda: len(ran) == 3)
        assert len(new_files(file.path.parent)) == 2
        assert ran[2] != ran[0]


async def test_another_context_is_another_session(
    file: Named, monkeypatch: pytest.MonkeyPatch, ran: list[tuple[list[str], Any, str]]
) -> None:
    async with exploring(file.path) as (pilot, _):
        monkeypatch.setattr(pilot.app, "suspend", suspended)
        for pressed in ([], ["i"]):
            before = len(ran)
            await drafted(pilot, *pressed)
            await pilot.press("r")
            await until(pilot, partial(ran.__getitem__, slice(before, None)))
        assert len(new_files(file.path.parent)) == 2


@pytest.mark.parametrize("inject", [False, True])
def test_what_a_models_summary_says_makes_no_other_session(
    file: Named, ran: list[tuple[list[str], Any, str]], inject: bool
) -> None:
    request, config, pi = ForkRequest(0, inject=inject, summary=True), Config(), agent_named("pi")
    with closing(pi.open(file.path)) as session:
        end = session.columns.index(file.ends["a"])
        request = replace(request, end=end)
        branch = sure(left_branch(session, session.leaf, end))
        offline = summarize_branch(branch, Extractive())
        told = [
            replace(offline, text=text, summary=replace(offline.summary, summarizer="openai/scripted"))
            for text in ("It was tried.", "Somebody tried it.")
        ]
        first, second, without = (
            draft_fork(session, request, pi, one, config, utc_now, WANTED) for one in (*told, offline)
        )
        store_fork(session, first, "w", WANTED)
        earlier = sure(find_earlier(session, second, "r", told[1], config, WANTED))
        assert earlier.path == first.draft.path
        assert find_earlier(session, without, "r", offline, config, WANTED) is None


def test_a_document_that_waits_for_its_import_is_found(
    file: Named, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed(monkeypatch, tmp_path / "bin", "opencode")
    with closing(agent_named("pi").open(file.path)) as session:
        request = ForkRequest(session.columns.index(file.ends["a"]))
        first, second = (
            draft_fork(session, request, agent_named("opencode"), None, Config(), utc_now, WANTED)
            for _ in range(2)
        )
        assert find_earlier(session, first, "i", None, Config(), WANTED) is None
        store_fork(session, first, "w", WANTED)
        earlier = find_earlier(session, second, "i", None, Config(), WANTED)
    assert earlier is not None
    assert (earlier.id, earlier.file) == (first.draft.id, first.draft.file)
    assert [choice.title for choice in earlier_choices(earlier, "opencode", goes_on=False)] == [
        "Import it into opencode",
        "Write another one",
    ]
    assert "it was not imported" in earlier_lines(earlier)[0].text


async def test_a_folder_that_is_gone_is_said_and_nobody_can_go_on_there(tmp_path: Path) -> None:
    file = forked(tmp_path / "s.jsonl", tmp_path / "gone")
    async with exploring(file.path) as (pilot, screen):
        await pilot.press("b")
        sheet = await titled(pilot, "New session from here")
        assert keys(sheet, refused=True) == ["p", "c", "l", "o"]
        said = shown(pilot).replace("\n", " ")
        assert f"project folder not found: {tmp_path / 'gone'}; h or f chooses one" in " ".join(said.split())
        assert said.count("h or f") == 1
        await pilot.press("escape", "R")
        await until(pilot, lambda: "project folder not found" in note(screen))
        assert "b new session" in note(screen)


async def test_a_choice_that_is_not_possible_says_why_and_so_does_a_key_that_is_none(tmp_path: Path) -> None:
    file = forked(tmp_path / "s.jsonl", tmp_path / "gone")
    async with exploring(file.path, NARROW) as (pilot, _):
        await pilot.press("b")
        sheet = await titled(pilot, "New session from here")
        await pilot.press("p")
        await until(pilot, lambda: pilot.app.screen is sheet)
        assert "not possible: needs a folder" in shown(pilot)
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: "! does nothing here" in shown(pilot))
        await pilot.press("j")
        await until(pilot, lambda: "does nothing here" not in shown(pilot))


async def test_it_works_in_the_folder_that_leafward_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = forked(tmp_path / "s.jsonl", tmp_path / "gone")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    async with exploring(file.path) as (pilot, screen):
        await drafted(pilot, "h")
        assert tells_command(pilot, tmp_path / "here")
        await pilot.press("w")
        await until(pilot, lambda: "began a session of pi" in note(screen))
    (made,) = new_files(tmp_path)
    assert json.loads(made.read_bytes().partition(b"\n")[0])["cwd"] == str(tmp_path / "here")


async def test_another_folder_is_typed_until_there_is_one(file: Named, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with exploring(file.path) as (pilot, _):
        await pilot.press("b")
        await titled(pilot, "New session from here")
        await pilot.press("f")
        await reached(pilot, TextSheet)
        await pilot.press("ctrl+u", *str(tmp_path / "othe"), "enter")
        await until(pilot, lambda: f"no folder {tmp_path / 'othe'}" in shown(pilot))
        await pilot.press("r", "enter")
        await titled(pilot, "New session from here")
        await pilot.press("p")
        await titled(pilot, "A new session of pi")
        assert tells_command(pilot, tmp_path / "other")
        assert "it works in another folder than its source" in shown(pilot)


async def test_it_opens_here(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        await drafted(pilot)
        await pilot.press("o")
        await until(
            pilot, lambda: isinstance(pilot.app.screen, ExplorerScreen) and pilot.app.screen is not screen
        )
        opened = pilot.app.screen
        assert isinstance(opened, ExplorerScreen)
        assert [opened.state.path] == new_files(file.path.parent)
        assert opened.state.agent == "pi"


@pytest.mark.parametrize(
    ("problem", "said"),
    [("", "began a session of pi: "), ("the disk is full", "no new session: the disk is full")],
)
async def test_how_the_writing_ends_is_told_where_the_user_is_by_then(
    file: Named, problem: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails where the outcome is a note on a screen that is covered, or another screen opens over the one on top."""
    go_on, store = threading.Event(), fork.store

    def waits(*given: Any, **more: Any) -> None:
        go_on.wait(30)
        if problem:
            raise LeafwardError(problem)
        store(*given, **more)

    monkeypatch.setattr(fork, "store", waits)
    async with exploring(file.path, WIDE) as (pilot, screen):
        await drafted(pilot)
        await pilot.press("o")
        await until(pilot, lambda: "writing" in note(screen))
        await pilot.press("o")
        await until(pilot, lambda: pilot.app.screen is not screen)
        log = pilot.app.screen
        go_on.set()
        await until(pilot, lambda: any(said in toast.message for toast in pilot.app._notifications))
        assert pilot.app.screen is log
    assert len(new_files(file.path.parent)) == (not problem)
