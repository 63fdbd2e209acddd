"""The controllers of the lab, without a terminal: a fake screen, jobs that run when they are told to."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.geometry import Size

from leafward.base.config import Config
from leafward.base.strategies import Strategy
from leafward.compaction.exam.sitting import exams_kept
from leafward.session.entries import EntryIndex, Kind
from leafward.session.session import Session
from leafward_tui.lab.assembly import Controllers
from leafward_tui.lab.hints import title_facts
from leafward_tui.lab.model.paid_summaries import KeptDrafts
from leafward_tui.lab.state import LabState, Mode
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.screen_results import XRayResult
from leafward_tui.ui.screens.screen_controller import Means
from tests.tui.considered import working
from tests.tui.fake_lines import FakeLines
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward_tui.lab.controllers.controller import LabMeans
    from leafward_tui.lab.widgets.state_line import Writing
    from leafward_tui.ui.screen_results import LabResult


class FakePanes:
    """The panes, with a field that is a text."""

    columns_shown = 3

    def __init__(self) -> None:
        self.cut, self.why, self.plan, self.text, self.fates = (FakeLines(Size(60, 20)) for _ in range(5))
        self.written: Writing
        self.state_line = SimpleNamespace(show=lambda state: setattr(self, "written", state))
        self.field = ""
        self.cleared = False

    def open_editor(self, text: str) -> None:
        self.field = text

    def close_editor(self) -> str:
        return self.field

    def show_area(self, *_arguments: object, whole: bool) -> None: ...

    def show_heads(self, *_arguments: object) -> None: ...

    def focus_area(self, area: str) -> None: ...

    def clear(self) -> None:
        self.cleared = True


class FakeScreen:
    """The screen as the controllers see it."""

    on_top = True

    def __init__(self) -> None:
        self.panes = FakePanes()
        self.said = ""
        self.rested: Callable[[], None] = lambda: None
        self.sheets: list[tuple[Any, Callable[[str | None], None]]] = []
        self.results: list[LabResult | None] = []

    def tell(self, text: str, *_more: object, **_keys: object) -> None:
        self.said = text

    def set_timer(self, _delay: float, callback: Callable[[], None]) -> Any:
        self.rested = callback
        return SimpleNamespace(stop=lambda: None)

    def open_sheet(self, sheet: Any, done: Callable[[str | None], None] | None = None) -> None:
        self.sheets.append((sheet, done or sheet.take))

    def dismiss(self, result: LabResult | None) -> None:
        self.results.append(result)

    def show_title(self) -> None: ...

    def show_hints(self) -> None: ...


class Lab:
    """A lab at the leaf of a session, measured."""

    def __init__(self, session: Session) -> None:
        self.state, self.screen, self.jobs = LabState(session, session.leaf), FakeScreen(), WaitingJobs()
        self.copied: list[str] = []
        services: Any = SimpleNamespace(
            config=Config(keep_recent=1_500),
            glyphs=UNICODE,
            keymap=SimpleNamespace(label=lambda intent_id: intent_id),
            clock=lambda: datetime(2026, 11, 22, 12, tzinfo=UTC),
            copy=self.copied.append,
        )
        means: LabMeans = Means(self.state, cast("Any", self.screen), services, cast("Any", self.jobs))
        self.kept = KeptDrafts()
        self.controllers = Controllers(means, self.kept, lambda: None)
        self.controllers.path.measure()
        self.jobs.run("measure")

    def settle(self) -> None:
        """The settings rest, and everything that follows them is made."""
        self.screen.rested()
        self.jobs.run_all("draft")

    def press(self, intent_id: str) -> None:
        owner = next(one for one in self.controllers.routed if intent_id in one.actions)
        owner.actions[intent_id]()


NOTHING_SENT = SimpleNamespace(
    requests=[], tokens=1, cost=None, redacted={}, remarks=[], model="openai/one", base_url=None
)
"""Requests to a model, as far as the lab looks at them."""


def _unread(_session: Session) -> None:
    raise OSError("gone")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    # On a busy machine no plan is quick: those of a key would wait for a job.
    monkeypatch.setattr("leafward_tui.lab.model.what_if.QUICK", math.inf)
    with closing(Session.open(working(tmp_path / "s.jsonl", 20).path)) as session:
        yield Lab(session)


def test_drafts_of_all_strategies_follow_the_settings(lab: Lab) -> None:
    lab.settle()
    what_if = sure(lab.state.what_if)
    assert lab.state.draft is not None
    assert all(what_if.draft(strategy) is not None for strategy in Strategy)
    assert not lab.state.drafts.waiting
    assert [run.text for run in lab.state.drafts.runs] == [lab.state.draft.summary.text]


def test_a_summary_that_is_written_again_says_so(lab: Lab) -> None:
    lab.settle()
    lab.press("summary.run")
    assert lab.screen.said == "the summary is made again, locally"


def test_a_summary_that_the_user_edited_is_not_replaced_without_a_question(lab: Lab) -> None:
    lab.settle()
    lab.controllers.drafts.set_text("Mind the zebra.")
    lab.jobs.run_all("amend")
    lab.press("compaction.accept")
    assert "extractive summary, edited" in lab.screen.sheets.pop()[0].about.lines[0].text
    lab.press("summary.run")
    sheet, done = lab.screen.sheets.pop()
    assert [choice.effect for choice in sheet.rows.choices] == ["your edits are lost"]
    assert "zebra" in sure(lab.state.draft).summary.text
    done("r")
    lab.settle()
    assert "zebra" not in sure(lab.state.draft).summary.text


def test_what_was_made_of_other_choices_is_dropped(lab: Lab) -> None:
    lab.screen.rested()
    lab.jobs.run("draft")  # what is injected is read
    deliver = lab.jobs.take("draft")
    lab.press("slider.more")
    deliver()
    assert lab.state.what_if is not None
    assert not lab.state.what_if.injections
    assert "draft" not in lab.jobs.waiting
    lab.settle()
    assert sure(lab.state.draft).plan == lab.state.what_if.plan


def test_choices_made_while_the_path_is_measured_anew_hold(lab: Lab) -> None:
    lab.settle()
    before = sure(lab.state.what_if)
    lab.press("session.reload")
    assert lab.state.mode is Mode.READ
    lab.jobs.run("read")
    deliver = lab.jobs.take("measure")
    lab.press("strategy.codex")
    lab.press("injection.switch")
    deliver()
    after = sure(lab.state.what_if)
    assert after is not before
    assert after.choices == before.choices
    assert after.plan.settings.strategy is Strategy.CODEX
    lab.settle()
    assert sure(lab.state.draft).injection is None


def test_what_was_made_before_the_session_was_read_anew_does_not_count(lab: Lab) -> None:
    lab.settle()
    lab.press("slider.more")
    lab.screen.rested()
    deliver = lab.jobs.take("draft")
    lab.press("session.reload")
    deliver()
    assert lab.state.drafts.collected is None
    lab.jobs.run("read")
    lab.jobs.run("measure")
    what_if = sure(lab.state.what_if)
    assert not what_if.injections
    assert not what_if.drafts


def test_reading_anew_says_whether_anything_has_changed(lab: Lab) -> None:
    lab.settle()
    session = lab.state.session
    lab.press("session.reload")
    lab.jobs.run("read")
    assert lab.screen.said == "the session has not changed"
    lab.jobs.run("measure")
    with session.path.open("a", encoding="utf-8") as file:
        file.write(session.raw(session.leaf).decode().rstrip() + "\n")
    lab.press("session.reload")
    lab.jobs.run("read")
    assert lab.screen.said == "reloaded"


def test_a_plan_seen_through_is_read_anew_in_the_lab(lab: Lab) -> None:
    lab.settle()
    opened: list[Callable[[XRayResult], None]] = []
    cast("Any", lab.controllers.sources)._services.screens = SimpleNamespace(
        planned_xray=lambda *given: opened.append(given[-1])
    )
    lab.press("draft.xray")
    opened[0](XRayResult(reload=True))
    lab.jobs.run("read")
    assert lab.screen.said == "the session has not changed"


def test_a_refused_reading_leaves_everything_as_it_was(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.settle()
    draft = lab.state.draft
    monkeypatch.setattr(Session, "refresh", _unread)
    lab.press("session.reload")
    lab.press("summary.run")
    assert "reloaded" in lab.screen.said
    lab.jobs.run("read")
    assert (lab.state.mode, lab.screen.said, lab.state.draft) == (Mode.CHOICE, "gone", draft)


@pytest.mark.parametrize("fails", [False, True])
def test_no_draft_is_made_of_a_session_that_is_being_read(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    lab.settle()
    lab.press("session.reload")
    lab.press("slider.more")
    lab.screen.rested()
    assert "draft" not in lab.jobs.waiting
    if fails:
        monkeypatch.setattr(Session, "refresh", _unread)
    lab.jobs.run("read")
    if not fails:
        lab.jobs.run("measure")
    lab.settle()
    assert sure(lab.state.draft).plan == sure(lab.state.what_if).plan


def test_a_session_that_cannot_be_planned_on_any_more_shows_no_plan(lab: Lab) -> None:
    lab.settle()
    lab.controllers.path.fail("this entry is gone")
    panes = lab.screen.panes
    assert panes.cleared
    assert lab.screen.said == "this entry is gone"


def test_facts_are_pinned_in_a_job_as_the_sentences_around_them(lab: Lab) -> None:
    lab.settle()
    pins, before = lab.controllers.pins, sure(lab.state.what_if).choices
    lost = pins.lost()
    assert len(lost) > 12
    pins.toggle(lost)
    assert lab.screen.said == f"looking up the sentences of {len(lost)} facts"
    pins.toggle(lost[:1])
    lab.jobs.run("pins")
    pins.toggle(lost)
    lab.jobs.run("pins")
    what_if = sure(lab.state.what_if)
    assert len(what_if.pinned) == len(lost), "none is listed twice"
    assert set(what_if.choices.pins) == {fact.pin for fact in what_if.pinned}
    lab.settle()
    pins.toggle([fact for fact in pins.lost() if fact.pinned])
    lab.jobs.run("pins")
    assert (what_if.pinned, what_if.choices) == ([], before)


def test_the_pins_of_a_run_that_is_taken_are_the_pinned_facts(lab: Lab) -> None:
    lab.settle()
    pins, what_if = lab.controllers.pins, sure(lab.state.what_if)
    pins.toggle(pins.lost()[:1])
    lab.jobs.run("pins")
    lab.settle()
    (fact,) = what_if.pinned
    for number, pinned in ((0, []), (1, [fact.pin])):
        lab.press("runs.compare")
        runs, done = lab.screen.sheets[-1]
        done(next(run.choices for run in runs.state.runs if run.choices.pins == tuple(pinned)))
        assert [one.pin for one in what_if.pinned] == list(what_if.choices.pins) == pinned, number
        assert [one.pin for one in pins.lost() if one.pinned] == pinned
        lab.settle()


def test_nothing_is_copied_where_nothing_is_injected(lab: Lab) -> None:
    lab.settle()
    lab.controllers.layout.go_to("text", "Injected")
    lab.press("injection.switch")
    lab.press("copy.text")
    assert (lab.screen.said, lab.copied) == ("nothing is injected", [])
    lab.press("injection.switch")
    lab.press("copy.text")
    assert len(lab.copied) == 1


def test_a_summary_that_is_being_written_is_no_missing_one(lab: Lab) -> None:
    lab.settle()
    lab.state.stream.text = "half of it"
    lab.press("summary.edit")
    assert lab.screen.said == "a summary is being written; cancel it first"


def test_the_exam_that_a_model_sits_goes_on_while_another_draft_is_graded(lab: Lab) -> None:
    lab.settle()
    lab.controllers.layout.go_to("text", "Exam")
    lab.jobs.run("grade")
    assert lab.state.exam.result is not None
    lab.jobs.latest("exam", lambda _job: None, lambda _none: None)
    lab.press("strategy.codex")
    lab.settle()
    assert lab.jobs.running("grade")
    assert lab.jobs.running("exam")


def test_what_would_be_sent_does_not_come_over_another_screen(lab: Lab) -> None:
    lab.settle()
    lab.controllers.summarizer.summarize_by("openai/one")
    lab.jobs.cancel("prompt")
    lab.press("summary.run")
    _, done, _ = lab.jobs.waiting["prompt"]
    lab.screen.on_top = False
    done(NOTHING_SENT)
    assert lab.screen.sheets == []
    assert lab.state.pending == ""


def asked(lab: Lab, name: str = "openai/one") -> None:
    """A model is chosen, and what would be sent to it is known."""
    lab.settle()
    lab.controllers.summarizer.summarize_by(name)
    lab.settle()
    lab.state.prompt.sending = cast("Any", NOTHING_SENT)


def test_what_would_be_sent_for_other_choices_is_not_asked_for(lab: Lab) -> None:
    """It fails where the requests of before a change are shown until the settings rest, and others are sent."""
    asked(lab)
    lab.controllers.settings.choose(sure(lab.state.what_if).choices.keeping(3_000))
    lab.press("summary.run")
    assert lab.screen.sheets == []
    lab.screen.rested()
    lab.jobs.run_all("draft")
    _, done, _ = lab.jobs.waiting["prompt"]
    done(NOTHING_SENT)
    assert len(lab.screen.sheets) == 1


def test_a_model_is_asked_once_it_is_known_what_is_injected_beside_its_summary(lab: Lab) -> None:
    """It fails where a key at once makes a compaction without it, though the plan shows it."""
    lab.controllers.summarizer.summarize_by("openai/one")
    lab.press("summary.run")
    assert lab.state.pending == "reading what would be sent to openai/one"
    for asks in (False, True):
        _, done, _ = lab.jobs.waiting.pop("prompt")
        done(NOTHING_SENT)
        assert bool(lab.screen.sheets) is asks
        lab.settle()
    lab.controllers.request.start()
    work, _, _ = lab.jobs.waiting["stream"]
    assert sure(lab.state.what_if).injected in work.args


def test_where_it_cannot_be_told_what_would_be_sent_the_page_says_why(lab: Lab) -> None:
    lab.settle()
    lab.controllers.summarizer.summarize_by("openai/one")
    lab.controllers.layout.go_to("text", "Prompt")
    _, _, failed = lab.jobs.waiting.pop("prompt")
    failed("no such model")
    lab.screen.tell("")
    drawn = sure(lab.screen.panes.text.lines)
    assert [drawn[y].text.strip() for y in range(len(drawn))] == ["no such model"]


def test_an_edit_is_taken_over_and_an_empty_one_is_not(lab: Lab) -> None:
    lab.settle()
    lab.press("summary.edit")
    assert lab.state.mode is Mode.EDIT
    assert not lab.state.takes("slider.more")
    lab.screen.panes.field = " \n"
    lab.press("mode.leave")
    assert "empty summary" in lab.screen.said
    assert "amend" not in lab.jobs.waiting
    lab.press("summary.edit")
    lab.screen.panes.field = "## Goal\n- the zebra"
    lab.press("mode.leave")
    lab.press("session.reload")
    assert "counting what survives" in lab.screen.said
    lab.jobs.run("amend")
    assert "zebra" in sure(lab.state.draft).summary.text
    assert not lab.screen.results


def test_a_pin_does_not_take_the_place_of_an_edit_that_is_still_counted(lab: Lab) -> None:
    lab.settle()
    lost = lab.controllers.pins.lost()
    lab.press("summary.edit")
    lab.screen.panes.field = "## Goal\n- the zebra"
    lab.press("mode.leave")
    lab.controllers.pins.toggle(lost[:1])
    assert "pin again" in lab.screen.said
    lab.jobs.run("amend")
    lab.controllers.pins.toggle(lost[:1])
    lab.jobs.run("pins")
    lab.jobs.run("amend")
    assert lab.state.draft is not None
    assert "zebra" in lab.state.draft.summary.text
    assert lost[0].pin in lab.state.draft.summary.text


def test_accepting_appends_and_closes_with_what_was_written(lab: Lab) -> None:
    lab.settle()
    sure(lab.state.draft)
    lab.press("compaction.accept")
    _, done = lab.screen.sheets[-1]
    done("a")
    done("a")  # pressed twice
    lab.press("mode.leave")
    assert not lab.screen.results
    lab.jobs.run("append")
    assert len(lab.screen.results) == 1
    result = sure(lab.screen.results[0])
    assert result.outcome.startswith("compacted: ")
    session = lab.state.session
    assert bytes(session.columns.kind).count(Kind.COMPACTION) == 1


def examined(lab: Lab, name: str, right: int) -> None:
    """A model answered the exam of the draft."""
    draft = sure(lab.state.draft)
    result = {"model": name, "right": right, "asked": 1, "answers": [right - 1], "usage": {}, "cost": None}
    lab.controllers.drafts.exchange(draft, replace(draft, exams=(*draft.exams, result)))


def test_what_models_answered_in_the_exam_of_a_draft_is_there_after_a_look_at_another_one(lab: Lab) -> None:
    lab.settle()
    examined(lab, "openai/one", 1)
    made = lab.state.draft
    lab.press("strategy.codex")
    lab.settle()
    assert not sure(lab.state.draft).exams
    lab.press("strategy.pi")
    lab.settle()
    assert lab.state.draft is made
    assert [one.draft for one in lab.kept.of(lab.state.session, lab.state.path.at)] == [made]
    assert made in [run.draft for run in lab.state.drafts.runs]


def test_what_models_answered_in_the_exam_of_a_draft_is_stored_with_it(lab: Lab) -> None:
    lab.settle()
    for name, right in (("openai/one", 1), ("openai/two", 0)):
        examined(lab, name, right)
    lab.press("compaction.accept")
    _, done = lab.screen.sheets[-1]
    done("a")
    lab.jobs.run("append")
    session = lab.state.session
    (compaction,) = (index for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION)
    found = list(exams_kept(session, EntryIndex(compaction)))
    assert [(one.model, one.right, one.answers) for one in found] == [
        ("openai/one", 1, (0,)),
        ("openai/two", 0, (-1,)),
    ]


def test_few_keys_do_something_before_the_path_is_measured(tmp_path: Path) -> None:
    with closing(Session.open(working(tmp_path / "s.jsonl", 2).path)) as session:
        state = LabState(session, session.leaf)
    assert [one for one in ("mode.leave", "pane.next", "slider.more", "row.down") if state.takes(one)] == [
        "mode.leave",
        "pane.next",
    ]


def test_the_title_names_no_place_before_the_path_is_measured(tmp_path: Path) -> None:
    with closing(Session.open(working(tmp_path / "s.jsonl", 2).path)) as session:
        state = LabState(session, session.leaf)
        assert title_facts(state, UNICODE)[0].value == "measuring the path"


def test_every_intent_has_one_owner(lab: Lab) -> None:
    ids = [intent_id for one in lab.controllers.routed for intent_id in one.actions]
    assert len(ids) == len(set(ids))
