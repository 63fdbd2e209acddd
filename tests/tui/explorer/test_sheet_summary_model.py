"""A model summarises a branch for the explorer, over real HTTP on loopback: what is sent is shown before it is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.session.journal.lock import refuse_if_busy
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.model_requests import KEY, MARKS
from tests.tui.explored import Named, exploring, forked, lines, note
from tests.tui.session_store import reached, shown, until, whole_text
from tests.tui.summed import at_rest

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

pytestmark = MARKS


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-this-test")


@pytest.fixture
def file(tmp_path: Path) -> Named:
    made = forked(tmp_path / "session.jsonl", cwd=tmp_path)
    made.turn("e")
    made.user(f"the key is {KEY}, use it")
    made.said("I do")
    return made


def by_model(endpoint: Endpoint) -> Config:
    return Config(
        model="openai/x",
        base_urls={"openai": endpoint.base_url},
        summaries_attempts=1,
        follow_interval=0.02,
    )


async def asked(pilot: Pilot[int], *keys: str) -> Any:
    """Moves up to b, presses keys, and waits for the question who summarises."""
    await pilot.press("K", "K", "K", "K", *keys)
    return await who(pilot)


async def who(pilot: Pilot[int]) -> Any:
    """The question who summarises."""

    def there() -> bool:
        return isinstance(pilot.app.screen, ChoiceSheet) and "Summariser" in shown(pilot)

    await until(pilot, there)
    return pilot.app.screen


async def moving(pilot: Pilot[int]) -> None:
    await pilot.press("K", "K", "K", "K", "enter")
    await reached(pilot, ChoiceSheet)
    await pilot.press("s")
    await who(pilot)


async def test_what_is_sent_is_shown_before_it_is_sent(file: Named, endpoint: Endpoint) -> None:
    before = file.path.read_bytes()
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await moving(pilot)
        said = shown(pilot)
        assert "openai/x" in said
        assert "price not known, sends" in said
        assert "1 secret is redacted" in said
        assert "Extractive" in said
        await pilot.press("v")
        sheet = await reached(pilot, ReadingSheet)
        assert KEY not in sheet.text
        assert "d prompt" in sheet.text
        await pilot.press("escape")
        await who(pilot)
        await pilot.press("escape")
        await at_rest(pilot, screen)
        assert endpoint.asked == []
        assert file.path.read_bytes() == before


async def test_the_model_s_summary_is_carried_along(file: Named, endpoint: Endpoint) -> None:
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await moving(pilot)
        await pilot.press("v")
        shown_first = (await reached(pilot, ReadingSheet)).text
        await pilot.press("escape")
        await who(pilot)
        await pilot.press("m")
        await at_rest(pilot, screen)
        line = lines(file.path)[-1]
        assert line["type"] == "branch_summary"
        assert line["summary"].startswith(WHOLE[:40])
        assert line["details"]["leafward"]["summarizer"] == "openai/x"
        assert line["usage"]["totalTokens"] == 1_500
        [sent] = endpoint.asked
        assert sent.system in shown_first
        assert sent.prompt in shown_first
        assert KEY not in json.dumps(sent.body)
        assert "with a summary of 8 messages" in note(screen)


async def test_the_choice_is_remembered(file: Named, endpoint: Endpoint) -> None:
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await asked(pilot, "s")
        await pilot.press("m")
        sheet = await whole_text(pilot)
        await pilot.press("escape", "s")
        sheet = await who(pilot)
        assert sheet.rows.choices[sheet.rows.at].key == "m"
        await pilot.press("x")
        sheet = await whole_text(pilot)
        assert "extractive, made locally" in shown(pilot)
        await pilot.press("escape")
        await at_rest(pilot, screen)
        assert len(endpoint.asked) == 1


async def test_it_streams_and_escape_closes_the_connection(file: Named, endpoint: Endpoint) -> None:
    endpoint.play(Reply(end="stall", after=8))
    before = file.path.read_bytes()
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await moving(pilot)
        await pilot.press("m")
        await until(pilot, lambda: "tokens" in note(screen))
        assert note(screen).startswith("summarising 8 messages")
        assert "esc cancel" in note(screen)
        await pilot.press("escape")
        await at_rest(pilot, screen)
        assert endpoint.asked[0].gone.wait(60)
        assert "nothing was written" in note(screen)
        assert file.path.read_bytes() == before
        refuse_if_busy(file.path)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(finish="length"), "openai/x"),
        (Reply(end="quiet"), "openai/x"),
        (Reply(text="", finish="stop"), "openai/x"),
        (Reply(status=401, error="bad key"), "key"),
    ],
    ids=["truncated", "dropped", "empty", "key"],
)
async def test_an_answer_that_is_no_summary_is_said_in_one_line(
    reply: Reply, said: str, file: Named, endpoint: Endpoint
) -> None:
    endpoint.play(reply)
    before = file.path.read_bytes()
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await moving(pilot)
        await pilot.press("m")
        await at_rest(pilot, screen)
        assert "no summary:" in note(screen)
        assert said in note(screen)
        assert file.path.read_bytes() == before


async def test_a_failure_of_a_shown_summary_offers_another_way(file: Named, endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=500, error="out of order"))
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await asked(pilot, "s")
        await pilot.press("m")
        await whole_text(pilot)
        await until(pilot, lambda: "out of order" in shown(pilot))
        assert "s summarise again" in shown(pilot)
        await pilot.press("s")
        await who(pilot)
        await pilot.press("x")
        await until(
            pilot, lambda: "extractive, made locally" in shown(pilot) and "tokens instead of" in shown(pilot)
        )
        await pilot.press("escape")
        await at_rest(pilot, screen)


async def begun(pilot: Pilot[int]) -> None:
    """Asks for a new session of pi with a summary of what is left behind."""
    await pilot.press("K", "K", "K", "K", "b")
    await reached(pilot, ChoiceSheet)
    await pilot.press("s")
    await until(pilot, lambda: with_summary(pilot) == "on")
    await pilot.press("p")
    await who(pilot)


def with_summary(pilot: Pilot[int]) -> str:
    """Text of the sheet about the summary; empty while it is made anew."""
    sheet = pilot.app.screen
    if not isinstance(sheet, ChoiceSheet):
        return ""
    return next((one.effect for one in sheet.rows.choices if "abandoned branch" in one.title), "")


def drafted(pilot: Pilot[int]) -> bool:
    return isinstance(pilot.app.screen, ChoiceSheet) and "A new session of pi" in shown(pilot)


async def test_it_goes_into_a_new_session_and_is_paid_for_once(file: Named, endpoint: Endpoint) -> None:
    before = file.path.read_bytes()
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await begun(pilot)
        assert "price not known, sends" in shown(pilot)
        assert "goes into the new session" in shown(pilot)
        assert endpoint.asked == []
        await pilot.press("m")
        await until(pilot, lambda: drafted(pilot))
        await pilot.press("escape")
        await at_rest(pilot, screen)
        await pilot.press("b")
        await reached(pilot, ChoiceSheet)
        await pilot.press("s")
        await until(pilot, lambda: with_summary(pilot) == "on, that of openai/x")
        await pilot.press("p")
        await until(pilot, lambda: drafted(pilot))
        await pilot.press("w")
        await until(pilot, lambda: "began a session of pi" in note(screen))
        assert file.path.read_bytes() == before
    assert len(endpoint.asked) == 1
    assert KEY not in json.dumps(endpoint.asked[0].body)
    (made,) = [path for path in file.path.parent.glob("*.jsonl") if path != file.path]
    last = json.loads(made.read_bytes().splitlines()[-1])
    assert last["customType"] == "leafward.summary"
    assert WHOLE[:40] in last["content"]


async def test_escape_gives_it_up_and_no_session_begins(file: Named, endpoint: Endpoint) -> None:
    endpoint.play(Reply(end="stall", after=8))
    async with exploring(file.path, config=by_model(endpoint)) as (pilot, screen):
        await begun(pilot)
        await pilot.press("m")
        await until(pilot, lambda: "tokens" in note(screen))
        assert "esc cancel" in note(screen)
        await pilot.press("escape")
        await at_rest(pilot, screen)
        assert endpoint.asked[0].gone.wait(60)
        assert "nothing was written" in note(screen)
    assert [path.name for path in file.path.parent.glob("*.jsonl")] == [file.path.name]
