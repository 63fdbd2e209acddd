"""A model writes the summary in the lab, over real HTTP on loopback: shown first, streamed, cancelled, refused, accepted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.strategies import Strategy
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.lab.screen import LabScreen
from leafward_tui.lab.state import Mode
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from leafward_tui.xray.screen import XRayScreen
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.tui.considered import considering, said, stored, working
from tests.tui.explored import note
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from textual.pilot import Pilot

pytestmark = [
    pytest.mark.litellm,
    # What litellm leaves to the collector is warned of in whichever test the collector runs.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

SECRET = "sk-ant-api03-abcdefghijklmnop0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = working(tmp_path / "session.jsonl", 20)
    first = file.path.read_text(encoding="utf-8").replace("prompt 1:", f"prompt 1: the key is {SECRET},")
    file.path.write_text(first, encoding="utf-8")
    return file.path


def by_model(endpoint: Endpoint, **more: object) -> Config:
    return Config(
        model="openai/x",
        base_urls={"openai": endpoint.base_url},
        summaries_attempts=1,
        keep_recent=1_500,
        follow_interval=0.02,
        **more,  # type: ignore[arg-type]  # fields of Config
    )


def considering_model(
    path: Path, endpoint: Endpoint, **more: object
) -> AbstractAsyncContextManager[tuple[Pilot[int], LabScreen]]:
    return considering(path, config=by_model(endpoint, **more))


async def choose(pilot: Pilot[int], opens: str, letter: str) -> None:
    """Opens a sheet with a key and chooses in it."""
    await pilot.press(opens)
    await reached(pilot, ChoiceSheet)
    await pilot.press(letter)


async def test_nothing_is_sent_before_it_was_shown_and_wanted(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    async with considering_model(path, endpoint) as (pilot, screen):
        assert "no summary by openai/x yet" in " ".join(shown(screen).split())
        await pilot.press("s")
        await reached(pilot, ChoiceSheet)
        text = "\n".join(rows(pilot.app))
        assert "Send it to openai/x" in text
        assert "redacted" in text
        assert endpoint.root.removeprefix("http://") in text
        await pilot.press("v")
        await until(pilot, lambda: screen.state.layout.page == "Prompt")
        await until(pilot, lambda: "request" in shown(screen))
        assert SECRET not in shown(screen)
        await pilot.press("escape")
        await reached(pilot, ExplorerScreen)
    assert endpoint.asked == []
    assert stored(path) == before


async def again(pilot: Pilot[int]) -> LabScreen:
    """The lab, opened anew where it was left."""
    await reached(pilot, ExplorerScreen)
    await pilot.press("c")
    await until(pilot, lambda: any(isinstance(one, LabScreen) for one in pilot.app.screen_stack))
    lab = next(one for one in pilot.app.screen_stack if isinstance(one, LabScreen))
    await until(pilot, lambda: lab.state.what_if is not None)
    await pilot.pause()
    return lab


async def test_what_was_paid_for_is_there_when_one_comes_back(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "s", "s")
        await until(pilot, lambda: screen.state.draft is not None)
        sent = len(endpoint.asked)
        assert "back" in [hint.words for hint in screen.hints()]
        await pilot.press("escape")
        explorer = await reached(pilot, ExplorerScreen)
        left = "not appended: the summary, kept until you quit"
        await until(pilot, lambda: left in note(explorer))
        lab = await again(pilot)
        # The settings are those that it was made with: it stands there, and nothing has to be asked.
        await until(pilot, lambda: lab.state.draft is not None)
        await pilot.pause()
        assert not isinstance(pilot.app.screen, ChoiceSheet)
        assert "here again: the summary by openai/x, made just now" in said(lab)
        assert "Port the parser" in " ".join(shown(lab).split())
        assert sure(lab.state.draft).summary.usage is not None
        assert len(endpoint.asked) == sent
        assert stored(path) == before
        await choose(pilot, "ctrl+s", "a")
        explorer = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: not explorer.state.busy and stored(path) != before)
        await until(
            pilot,
            lambda: (
                explorer.state.session is not None and len(explorer.state.session) == explorer_lines(path)
            ),
        )
        await pilot.press("u")
        await until(
            pilot,
            lambda: not explorer.state.busy and len(explorer.state.session or ()) == explorer_lines(path),
        )
        await pilot.pause()
        # It was appended: back at the same place there is nothing left to offer.
        lab = await again(pilot)
        await until(pilot, lambda: pilot.app.screen is lab)
    assert json.loads(stored(path).splitlines()[-2])["type"] == "compaction"


def explorer_lines(path: Path) -> int:
    """Entries that the file holds."""
    return len(stored(path).splitlines()) - 1


async def written_by_other_rules(pilot: Pilot[int], screen: LabScreen) -> LabScreen:
    """Has a summary written by other rules than those that the lab begins with, leaves, and comes back."""
    await pilot.press("3")
    await until(pilot, lambda: not screen.state.drafts.waiting)
    await choose(pilot, "s", "s")
    await until(pilot, lambda: screen.state.draft is not None)
    await pilot.press("escape")
    lab = await again(pilot)
    await reached(pilot, ChoiceSheet)
    return lab


async def test_what_was_made_with_other_settings_is_offered(path: Path, endpoint: Endpoint) -> None:
    async with considering_model(path, endpoint) as (pilot, screen):
        lab = await written_by_other_rules(pilot, screen)
        sent = len(endpoint.asked)
        offered = "\n".join(rows(pilot.app))
        assert "Use the summary by openai/x" in offered
        assert "not appended" in offered
        assert lab.state.draft is None
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is lab and lab.state.draft is not None)
        await pilot.pause()
        assert sure(lab.state.what_if).choices.strategy is Strategy.OPENCODE
        assert "Port the parser" in " ".join(shown(lab).split())
        assert len(endpoint.asked) == sent


async def test_beginning_anew_leaves_it_among_the_runs(path: Path, endpoint: Endpoint) -> None:
    async with considering_model(path, endpoint) as (pilot, screen):
        lab = await written_by_other_rules(pilot, screen)
        sent = len(endpoint.asked)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is lab)
        assert [run.name for run in lab.state.drafts.runs] == ["opencode   openai/x"]
        assert lab.state.draft is None
        assert len(endpoint.asked) == sent


async def test_streams_and_is_accepted(path: Path, endpoint: Endpoint) -> None:
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "s", "s")
        await until(pilot, lambda: screen.state.draft is not None)
        await until(pilot, lambda: "Port the parser" in " ".join(shown(screen).split()))
        assert SECRET.encode() not in endpoint.asked[0].raw
        asked = len(endpoint.asked)
        # A pin goes into what the model wrote; it is not asked again.
        lost = [fact for fact in screen.controllers.pins.lost() if SECRET not in fact.text]
        await pilot.press("tab")
        assert screen.state.layout.area == "fates"
        assert screen.panes.fates.go(f"lost:{screen.controllers.pins.lost().index(lost[0])}")
        await pilot.press("p")
        await until(pilot, lambda: screen.state.draft is not None and bool(screen.state.draft.pins))
        assert screen.state.draft is not None
        assert lost[0].pin in screen.state.draft.summary.text
        assert "Port the parser" in screen.state.draft.summary.text
        assert len(endpoint.asked) == asked
        await choose(pilot, "ctrl+s", "enter")
        await reached(pilot, ExplorerScreen)
    last = json.loads(stored(path).splitlines()[-1])
    assert last["type"] == "compaction"
    assert WHOLE.splitlines()[1] in last["summary"]
    assert last["details"]["leafward"]["summarizer"] == "openai/x"
    assert last["usage"]["input"] > 0


async def test_cancelling_hangs_up_and_leaves_no_trace(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    endpoint.play(Reply(end="stall", after=3))
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "s", "s")
        await until(pilot, lambda: bool(screen.state.stream.text))
        await pilot.pause()
        text = shown(screen)
        assert "writing" in text
        assert "cancels" in text
        await pilot.press("minus")  # settings wait
        assert said(screen).endswith("a summary is being written; cancel it first")
        await pilot.press("ctrl+s")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await until(pilot, endpoint.asked[0].gone.is_set)
        assert pilot.app.screen is screen
        assert "cancelled" in said(screen)
        assert screen.state.draft is None
        endpoint.play(Reply())
        await choose(pilot, "s", "s")
        await until(pilot, lambda: screen.state.draft is not None)
    assert stored(path) == before


async def test_a_key_that_was_unbound_leaves_no_hole_in_a_sentence(path: Path, endpoint: Endpoint) -> None:
    unbound = {"summary.run": (), "summarizer.choose": ()}
    async with considering_model(path, endpoint, keymap=unbound) as (pilot, screen):
        assert "no summary by openai/x yet" in shown(screen)
        assert "shows what would be sent" not in shown(screen)
        assert "another summariser" not in shown(screen)
        await pilot.press("ctrl+s")
        assert said(screen).endswith("no summary yet")
    async with considering_model(path, endpoint) as (pilot, screen):
        assert "s shows what would be sent" in shown(screen)
        await pilot.press("ctrl+s")
        assert said(screen).endswith("no summary yet   s writes one")


async def test_a_summary_that_is_not_written_is_compared_with_none(path: Path, endpoint: Endpoint) -> None:
    """It fails where the injected text alone stands for it, so that all of the earlier one seems to be lost."""
    async with considering_model(path, endpoint) as (pilot, _):
        await pilot.press("X")
        xray = await reached(pilot, XRayScreen)
        await until(pilot, lambda: xray.state.loaded.xray is not None)
        await pilot.press("d")
        assert "the summary to compare is not written yet" in shown(xray)
        assert pilot.app.screen is xray


async def test_an_answer_that_is_cut_off_is_refused_in_one_line(path: Path, endpoint: Endpoint) -> None:
    endpoint.play(Reply(finish="length"))
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "s", "s")
        await until(pilot, lambda: bool(endpoint.asked) and screen.state.mode is not Mode.STREAM)
        await until(pilot, lambda: said(screen).startswith("!"))
        assert screen.state.draft is None
        assert screen.state.stream.text is None


async def test_another_model_is_chosen_by_its_name(path: Path, endpoint: Endpoint) -> None:
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "W", "e")
        await until(pilot, lambda: screen.state.draft is not None)
        await choose(pilot, "W", "o")
        await reached(pilot, TextSheet)
        await pilot.press(*"openai", "slash", "y", "enter")
        await until(pilot, lambda: screen.state.prompt.sending is not None)
        assert sure(screen.state.what_if).choices.summarizer == "openai/y"
        assert endpoint.asked == []
        await choose(pilot, "W", "e")
        await until(pilot, lambda: screen.state.draft is not None)


def pane(screen: LabScreen) -> str:
    """Lines in the place of a summary that is not there yet."""
    lines = screen.panes.text.lines
    return " ".join(lines[y].text.strip() for y in range(len(lines or ()))) if lines is not None else ""


async def test_waiting_says_the_attempt_the_reason_and_the_seconds(path: Path, endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=503, error="overloaded", headers={"retry-after": "60"}))
    config = by_model(endpoint)._replace(summaries_attempts=3)
    async with considering(path, config=config) as (pilot, screen):
        await choose(pilot, "s", "s")
        await until(pilot, lambda: "again in" in pane(screen))
        assert pane(screen) == "openai/x failed (503): overloaded; again in 60 s, attempt 2 of 3"
        assert re.search(r"waiting \d+ s", shown(screen))
        before = screen.panes.state_line.state
        await until(pilot, lambda: screen.panes.state_line.state != before)
        await pilot.press("escape")
        await until(pilot, lambda: screen.state.mode is Mode.CHOICE)
        assert "waiting" not in shown(screen)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("nosuch", "unknown model: 'nosuch'"), ("anthropic/x", "ANTHROPIC_API_KEY is not set")],
)
async def test_a_model_that_cannot_be_asked_is_refused_before_anything_is_sent(
    path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, name: str, problem: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with considering_model(path, endpoint) as (pilot, screen):
        await choose(pilot, "W", "o")
        first = await reached(pilot, TextSheet)
        first.input.value = name
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextSheet) and pilot.app.screen is not first)
        await pilot.pause()
        again = pilot.app.screen
        assert isinstance(again, TextSheet)
        assert problem in "\n".join(rows(pilot.app))
        assert again.input.value == name
        assert sure(screen.state.what_if).choices.summarizer == "openai/x"
        assert endpoint.asked == []
