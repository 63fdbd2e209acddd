"""Leaving the compaction lab: without a trace, with what was shown, or because the file went on."""

from __future__ import annotations

import json
import threading
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.compaction.injection.injection import build
from leafward.compaction.xray.alignment import Link, XRay
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.journal.operation_log import operations
from leafward.session.session import Session
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.lab.controllers import drafts, settings
from leafward_tui.lab.controllers import path as path_reader
from leafward_tui.lab.model.choices import AS_IT_IS
from leafward_tui.lab.model.what_if import WhatIf
from leafward_tui.lab.screen import LabScreen
from leafward_tui.ui.screen_results import XRayResult
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.xray.screen import XRayScreen
from tests.acting import Acting, usage
from tests.pi_file import RULE, STEP, PiFile, lossy
from tests.tui.considered import considering, cut_off, follow, said, settled, stored, working
from tests.tui.explored import note
from tests.tui.session_store import HELD, reached, rested, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection


def gone_on(file: Acting, compaction: str) -> int:
    """The index of a compaction, behind which a turn is added."""
    file.user("go on")
    file.said("gone on", tokens=usage(2_000))
    with closing(Session.open(file.path)) as session:
        return session.columns.index(compaction)


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Drafts that are asked for are made while it is set, as it is at first."""
    gate = threading.Event()
    gate.set()

    def held(*values: Any) -> Any:
        gate.wait(HELD)
        return own_draft(*values)

    own_draft = drafts.own_draft
    monkeypatch.setattr(drafts, "own_draft", held)
    return gate


async def corrected(pilot: Pilot[int], compaction: int, pin: str) -> tuple[LabScreen, Draft]:
    """The lab on the correction of a compaction by a pin, from the explorer below the present lab."""
    await pilot.press("escape")
    explorer = await reached(pilot, ExplorerScreen)
    explorer.controllers.compactions.open_lab(compaction, (pin,))
    screen = await reached(pilot, LabScreen)
    await until(pilot, lambda: screen.state.draft is not None)
    assert screen.state.draft is not None
    return screen, screen.state.draft


async def as_it_is(pilot: Pilot[int], screen: LabScreen) -> None:
    """Corrects the compaction that the lab stands beside, with nothing injected."""
    choices = sure(screen.state.what_if).choices
    screen.controllers.settings.choose(replace(choices, summarizer=AS_IT_IS, inject=False))
    await until(pilot, lambda: screen.state.draft is not None and settled(screen))


def age(path: Path) -> None:
    """Makes a session one of pi's version 2."""
    header, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(json.dumps({**json.loads(header), "version": 2}).encode() + b"\n" + rest)


async def loaded_xray(pilot: Pilot[int]) -> XRay | None:
    """The X-ray once it is on show."""
    await reached(pilot, XRayScreen)
    screen = pilot.app.screen
    assert isinstance(screen, XRayScreen)
    await until(pilot, lambda: screen.state.loaded.xray is not None)
    return screen.state.loaded.xray


class TestXRay:
    async def test_the_plan_is_seen_through_and_pins_come_back(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("X")
            await reached(pilot, XRayScreen)
            await until(pilot, lambda: "Before" in "\n".join(rows(pilot.app)))
            xray = pilot.app.screen
            assert isinstance(xray, XRayScreen)
            fact = screen.controllers.pins.lost()[0]
            xray.dismiss(XRayResult(pins=(fact.pin,)))
            await until(pilot, lambda: pilot.app.screen is screen)
            await until(pilot, lambda: screen.state.draft is not None and fact.pin in screen.state.draft.pins)

    async def test_a_line_of_a_draft_that_nothing_backs_says_so(self, path: Path) -> None:
        async with considering(path) as (pilot, _screen):
            await pilot.press("X")
            await loaded_xray(pilot)
            await rested(pilot)
            await pilot.press("right")
            seen = set()
            for _ in range(60):
                await pilot.press("j")
                await pilot.pause()
                seen |= {row.strip() for row in rows(pilot.app) if "no source found" in row}
            assert seen

    async def test_asked_for_while_the_draft_is_made_it_shows_the_draft(
        self, path: Path, go_on: threading.Event
    ) -> None:
        async with considering(path) as (pilot, screen):
            go_on.clear()
            await pilot.press("right", "X")
            assert "the X-ray opens once the summary is there" in "\n".join(rows(pilot.app))
            go_on.set()
            xray = sure(await loaded_xray(pilot))
            draft = sure(screen.state.draft)
            assert xray.after == draft.counted_after
            assert draft.injection is not None
            injected = next(share for share in xray.ledger if share.link is Link.INJECTED)
            assert injected.after == draft.injection.tokens > 0

    async def test_asked_for_while_the_plans_are_made_it_shows_the_draft(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, own_plans = threading.Event(), settings.plans

        def held(*values: Any) -> Any:
            made.wait(HELD)
            return own_plans(*values)

        monkeypatch.setattr(settings, "plans", held)
        async with considering(path) as (pilot, screen):
            monkeypatch.setattr(WhatIf, "quick", lambda *_: False)
            before = screen.state.draft
            await pilot.press("right", "X")
            assert "the X-ray opens once the summary is there" in "\n".join(rows(pilot.app))
            made.set()
            xray = sure(await loaded_xray(pilot))
            draft = sure(screen.state.draft)
            assert draft is not before
            assert xray.after == draft.counted_after

    async def test_another_choice_ends_the_wait_for_it(self, path: Path, go_on: threading.Event) -> None:
        async with considering(path) as (pilot, screen):
            go_on.clear()
            await pilot.press("right", "X", "right")
            go_on.set()
            await until(pilot, lambda: screen.state.draft is not None and settled(screen))
            assert pilot.app.screen is screen
            assert "the X-ray opens" not in "\n".join(rows(pilot.app))

    async def test_before_a_model_is_asked_it_has_the_injected_text(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            screen.controllers.settings.choose(replace(what_if.choices, summarizer="a-provider/a-model"))
            await pilot.press("X")
            xray = sure(await loaded_xray(pilot))
            sizes = {part.name: part.tokens for part in what_if.ledger().parts}
            shares = {share.link: share.after for share in xray.ledger}
            assert sizes["injected"] == shares[Link.INJECTED] > 0
            assert sizes["summary"] == shares[Link.REPLACED] + shares.get(Link.PREFIX, 0)
            assert what_if.ledger().total == xray.after


class TestEnding:
    async def test_leaving_leaves_no_trace(self, path: Path) -> None:
        before = stored(path)
        async with considering(path) as (pilot, screen):
            await follow(pilot, screen, "right", "minus")
            await pilot.press("escape")
            await reached(pilot, ExplorerScreen)
        assert stored(path) == before

    async def test_what_would_be_lost_is_listed_and_one_key_pins_it(self, tmp_path: Path) -> None:
        lossy(tmp_path)
        path = tmp_path / "s.jsonl"
        before = stored(path)
        async with considering(path, entry=4) as (pilot, screen):
            await as_it_is(pilot, screen)
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            text = "\n".join(rows(pilot.app))
            assert "1 rule and 1 unfinished step would be lost" in text
            assert f"× {RULE}" in text
            assert f"× {STEP}" in text
            assert "Pin all of them" in text
            await pilot.press("p")
            await until(pilot, lambda: screen.state.draft is not None and RULE in screen.state.draft.text)
            await until(pilot, lambda: settled(screen) and not screen.state.drafts.amending)
            assert stored(path) == before
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            await until(pilot, lambda: "Append the compaction" in "\n".join(rows(pilot.app)))

    async def test_its_keys_stay_on_a_low_screen_however_long_the_rules_are(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        why = "because others read it every night and a change of it breaks their work, " * 4
        rest = f"without asking me, {why}as said."
        names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")
        file.user(
            "Look at the leases.\n\n" + "\n".join(f"- Never change table {name} {rest}" for name in names)
        )
        file.reply(f"The lease table is read now. {STEP}")
        kept = file.user("go on")
        file.reply("It goes on.")
        summary = "## Goal\n- look at the lease table"
        file.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=400, details={})
        file.user("next")
        async with considering(file.path, (80, 24), entry=4) as (pilot, screen):
            await as_it_is(pilot, screen)
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            await pilot.pause()
            text = "\n".join(rows(pilot.app))
            assert "7 rules and 1 unfinished step would be lost" in text
            assert "Never change table alpha" in text
            assert "p   Pin all of them" in text
            assert "a   Go on without them" in text
            assert "esc cancel" in text

    async def test_of_one_loss_it_is_spoken_as_of_one(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user(f"Please look at the lease table. {RULE}")
        file.reply("The lease table is read now.")
        kept = file.user("go on")
        file.reply("It goes on.")
        summary = "## Goal\n- look at the lease table"
        file.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=400, details={})
        file.user("next")
        async with considering(file.path, entry=4) as (pilot, screen):
            await as_it_is(pilot, screen)
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            text = "\n".join(rows(pilot.app))
            assert "1 rule would be lost" in text
            assert "Pin it   " in text
            assert "Go on without it" in text

    async def test_it_can_be_accepted_without_what_would_be_lost(self, tmp_path: Path) -> None:
        lossy(tmp_path)
        async with considering(tmp_path / "s.jsonl", entry=4) as (pilot, screen):
            await as_it_is(pilot, screen)
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            await pilot.press("a")
            await until(pilot, lambda: "Append the compaction" in "\n".join(rows(pilot.app)))

    async def test_accepting_appends_the_line_that_was_shown_and_undo_takes_it_back(self, path: Path) -> None:
        lines = stored(path).count(b"\n")
        async with considering(path) as (pilot, screen):
            draft = sure(screen.state.draft)
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            text = "\n".join(rows(pilot.app))
            assert "append 1 line to the session's file" in text
            assert stored(path).count(b"\n") == lines
            await pilot.press("enter")
            explorer = await reached(pilot, ExplorerScreen)
            await until(pilot, lambda: "compacted" in note(explorer))
            last: dict[str, Any] = json.loads(stored(path).splitlines()[-1])
            assert last["type"] == "compaction"
            assert last["summary"] == draft.text
            session = sure(explorer.state.session)
            assert context_at(session, session.leaf).size.total == draft.tokens_after
            assert any("compaction" in row for row in rows(pilot.app))
            await pilot.press("u")
            await until(pilot, lambda: "undid" in note(explorer))
            assert session.columns.kind[session.place] != Kind.COMPACTION
        with_log = Session.open(path)
        assert [one.kind.value for one in operations(with_log)][-2:] == ["compact", "undo"]
        with_log.close()

    async def test_in_a_file_of_an_old_version_it_is_said_too_with_the_cursor_on_it(self, path: Path) -> None:
        """The file is replaced by one of today's version, which the tree reads again."""
        age(path)
        async with considering(path) as (pilot, screen):
            assert screen.state.draft is not None
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            await pilot.press("enter")
            explorer = await reached(pilot, ExplorerScreen)
            await until(pilot, lambda: "compacted" in note(explorer))
            assert "backup" in note(explorer)
            session = sure(explorer.state.session)
            assert session.columns.kind[explorer.controllers.navigation.head_here()] == Kind.COMPACTION
            assert json.loads(stored(path).splitlines()[-1])["type"] == "compaction"

    async def test_a_file_that_was_cut_off_is_read_anew_and_has_no_such_entry(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            left = cut_off(path)
            await until(pilot, lambda: "session has changed" in said(screen))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "not in it any more" in said(screen))
            await pilot.press("ctrl+s")
            assert pilot.app.screen is screen
            assert stored(path) == left

    async def test_a_file_that_went_on_is_refused_and_read_anew(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            file = Acting.__new__(Acting)
            file.path, file.count, file.leaf = (
                path,
                900,
                screen.state.session.columns.id(screen.state.session.leaf),
            )
            file.user("one more thing")
            await until(pilot, lambda: screen.state.file.since.changed)
            assert "session has changed" in said(screen)
            await pilot.press("ctrl+s")
            assert pilot.app.screen is screen
            await pilot.press("ctrl+r")
            await until(
                pilot,
                lambda: (
                    not screen.state.file.since.changed and settled(screen) and screen.state.draft is not None
                ),
            )
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)

    async def test_a_choice_made_while_the_file_is_measured_anew_holds_for_what_was_read(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with considering(path) as (pilot, screen):
            go_on, measuring = threading.Event(), threading.Event()

            def slow(*values: Any) -> Any:
                measuring.set()
                go_on.wait(HELD)
                return begin(*values)

            before = sure(screen.state.what_if)
            begin = path_reader.begin
            monkeypatch.setattr(path_reader, "begin", slow)
            await pilot.press("ctrl+r")
            await until(pilot, measuring.is_set)
            await pilot.press("right")
            await pilot.pause()
            chosen = before.choices
            go_on.set()
            await until(pilot, lambda: screen.state.what_if is not before)
            assert screen.state.what_if is not None
            assert screen.state.what_if.choices == chosen
            assert screen.state.what_if.plan.settings == chosen.settings()

    async def test_what_was_built_of_the_file_before_it_was_read_anew_is_not_shown(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with considering(path) as (pilot, screen):
            go_on, building, built = threading.Event(), threading.Event(), threading.Event()
            made: list[Injection] = []

            def slow(*values: Any) -> Any:
                made.append(build(*values))
                if len(made) == 1:
                    building.set()
                    go_on.wait(HELD)
                    built.set()
                    return made[0]
                return made[-1]

            assert screen.state.what_if is not None
            screen.state.what_if.injections.clear()
            before = screen.state.what_if
            monkeypatch.setattr(drafts, "build", slow)
            await pilot.press("right")
            await until(pilot, building.is_set)
            await pilot.press("ctrl+r")
            await until(pilot, lambda: screen.state.what_if is not before)
            await until(pilot, lambda: screen.state.what_if is not None and screen.state.what_if.injected)
            go_on.set()
            await until(pilot, built.is_set)
            for _ in range(5):
                await pilot.pause()
            assert screen.state.what_if.injected is made[1]

    async def test_where_there_is_nothing_to_compact_the_key_bar_offers_no_more_than_works(
        self, tmp_path: Path
    ) -> None:
        file = Acting(tmp_path / "short.jsonl")
        file.user("plant the pears")
        file.said("planted")
        async with considering(file.path, (200, 40)) as (pilot, screen):
            assert sure(screen.state.what_if).plan.nothing
            for _ in range(4):
                bar = rows(screen.app)[-1]
                assert " s summarise" not in bar
                assert "E edit" not in bar
                assert "p pin" not in bar
                assert "keep less" not in bar
                assert "x-ray" not in bar
                assert "esc back" in bar
                await pilot.press("tab")
                await pilot.pause()

    async def test_nothing_to_compact_is_said(self, tmp_path: Path) -> None:
        working(tmp_path / "small.jsonl", 2)
        async with considering(tmp_path / "small.jsonl", config=Config()) as (pilot, screen):
            assert "nothing to compact" in shown(screen)
            await pilot.press("ctrl+s")
            assert pilot.app.screen is screen
            assert "nothing to compact" in said(screen)
            screen.controllers.layout.go_to("text", "Exam")
            await pilot.pause()
            assert "no summary to ask about yet" not in shown(screen), "there never will be one"
        async with considering(tmp_path / "small.jsonl", config=Config(model="openai/x")) as (pilot, screen):
            screen.controllers.layout.go_to("text", "Prompt")
            await pilot.pause()
            assert "reading what would be sent" not in shown(screen), "nothing will be sent"
            assert "nothing to compact" in shown(screen)

    async def test_a_compaction_opens_with_a_what_if_beside_it(self, tmp_path: Path) -> None:
        file = working(tmp_path / "session.jsonl", 12)
        prompts = [json.loads(line) for line in file.path.read_text().splitlines()]
        kept = next(line["id"] for line in prompts if "prompt 9" in json.dumps(line))
        parent = file.leaf
        compaction = file.compacted(kept, "## Goal\n- the zebra")
        index = gone_on(file, compaction)
        async with considering(file.path, entry=index) as (pilot, screen):
            assert screen.state.path.beside == index
            assert screen.state.session.columns.id(screen.state.path.at) == parent
            assert screen.state.session.columns.id(sure(screen.state.what_if).plan.first_kept) == kept
            assert f"beside ◆ #{index}" in shown(screen)
            assert screen.state.drafts.runs[0].choices is None
            assert "zebra" in screen.state.drafts.runs[0].text
            await pilot.press("ctrl+s")
            await reached(pilot, ChoiceSheet)
            await until(pilot, lambda: "the leaf moves" in "\n".join(rows(pilot.app)))
            await pilot.press("enter")
            await reached(pilot, ExplorerScreen)
        lines = [json.loads(line) for line in file.path.read_text().splitlines()]
        assert lines[-1]["type"] == "compaction"
        assert lines[-1]["parentId"] == parent

    async def test_pins_from_the_xray_correct_the_summary_and_keep_it(self, tmp_path: Path) -> None:
        file = working(tmp_path / "session.jsonl", 12)
        prompts = [json.loads(line) for line in file.path.read_text().splitlines()]
        kept = next(line["id"] for line in prompts if "prompt 9" in json.dumps(line))
        summary = "## Goal\n- the zebra, `Retry.__init__()`\n\n## Critical Context\n- port 8642"
        compaction = file.compacted(kept, summary)
        index = gone_on(file, compaction)
        async with considering(file.path) as (pilot, _):
            screen, draft = await corrected(pilot, index, "the stripes are 26")
            assert summary.splitlines()[1] in draft.summary.text
            assert "port 8642" in draft.summary.text
            assert "the stripes are 26" in draft.summary.text
            assert f"Correcting ◆ #{index}" in shown(screen)

    async def test_a_correction_of_a_compaction_that_kept_nothing_keeps_nothing(self, tmp_path: Path) -> None:
        file = working(tmp_path / "session.jsonl", 12)
        own = f"{file.count + 1:08x}"
        compaction = file.compacted(own, "## Goal\n- the zebra")
        assert compaction == own
        index = gone_on(file, compaction)
        async with considering(file.path) as (pilot, _):
            _, draft = await corrected(pilot, index, "the stripes are 26")
            assert draft.plan.tokens.kept == 0

    async def test_an_empty_session_has_an_empty_lab(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "empty.jsonl")
        file.user("hello")
        async with considering(file.path) as (pilot, screen):
            assert "nothing to compact" in shown(screen)
            await pilot.press("minus", "plus", "right", "p", "z", "v", "v", "E", "X")
            await pilot.pause()
