"""A model's exam: every word of the request is shown with its price, then it is sent, and can be cancelled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.summaries.facts.values import FactKind
from leafward_tui.ui.text.cells import estimated_price, exact, fit, fit_apart, fit_path, money

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.compaction.exam.questions import Question
    from leafward.compaction.exam.sitting import ExamAnswers, Sitting
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward.summaries.summarizers.model.settings import ModelSettings
    from leafward.summaries.summarizers.model.summarizer import SummaryProgress
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.jobs import Job, Jobs
    from leafward_tui.ui.services import AppServices
    from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
    from leafward_tui.ui.sheets.sheet import Sheet


class Subject(NamedTuple):
    """The compaction whose exam it is, and the fate of the answers."""

    path: Path
    """Of the session."""
    make: Callable[[ModelSettings, Callable[[], bool]], Sitting | None]
    """The exam for a model; None where there is nothing to ask. Raises LeafwardError, OSError."""
    keep: Callable[[ExamAnswers, str, Callable[[str], object]], object]
    """Keeps the answers and reports it through the callback, or reports why they are not kept."""
    operation: str
    """The write that keeps the answers, in words."""


class Prepared(NamedTuple):
    """An exam ready to be sent, and the request for it."""

    sitting: Sitting
    outgoing: Outgoing


def prepared(subject: Subject, name: str, config: Config, job: Job) -> Prepared | None:
    """The exam for a model that can be asked; nothing is sent. Raises LeafwardError, OSError."""
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model.summarizer import Model

    settings = model_settings(name, config)
    Model(settings).refuse_unknown()
    sitting = subject.make(settings, job.unwanted)
    return Prepared(sitting, sitting.work.outgoing()) if sitting is not None else None


def answered(
    path: Path, sitting: Sitting, name: str, config: Config, tell: Callable[[str, str], object], job: Job
) -> ExamAnswers:
    """A model's answers; `tell` gets the answer so far and the current stage. Raises LeafwardError, OSError."""
    from leafward.compaction.exam.sitting import sit
    from leafward.session.journal.lock import busy
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model.summarizer import Model

    def watch(now: SummaryProgress) -> None:
        stage = f"{name} answers" if now.text else now.stage.replace(": exam", " is asked", 1)
        job.report(partial(tell, now.text, safe_line(stage, 300)))

    with busy(path, "an exam"):
        return sit(sitting, Model(model_settings(name, config), watch), stop=job.unwanted)


class ExamRequest:
    """Asks for one exam at a time; a sheet lies over the screen while it does."""

    def __init__(
        self,
        services: AppServices,
        jobs: Jobs,
        ask: Callable[[Sheet, Callable[[str | None], None]], object],
        subject: Subject,
    ) -> None:
        """`ask` opens a sheet."""
        self._services = services
        self._jobs = jobs
        self._ask = ask
        self._subject = subject
        self._ready: Prepared | None = None
        """The exam that the open sheet would send."""

    def begin(self, name: str = "") -> None:
        """Prepares the request for the configured model and shows it, or asks for the name of a model."""
        name = name or self._services.config.model or ""
        if not name:
            self._name()
            return
        sheet = self._sheet(name)
        sheet.grow("", "reading what would be sent")
        self._jobs.latest(
            "exam",
            partial(prepared, self._subject, name, self._services.config),
            partial(self._show, sheet, name),
            lambda text: sheet.ended("", text, tone="bad", again="ask another model"),
        )

    def _name(self) -> None:
        from leafward_tui.ui.sheets.sheet import model_sheet

        def done(text: str | None) -> None:
            if text is not None and text.strip():
                self.begin(text.strip())

        commit, effect = "show what would be sent", "nothing is sent yet"
        self._ask(model_sheet("Exam by a model", "", "", commit=commit, effect=effect), done)

    def _sheet(self, name: str) -> ReadingSheet:
        from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

        sheet = ReadingSheet(
            "Exam by a model",
            note=safe_line(name, 60),
            markdown=False,
            running=True,
            cancel=partial(self._jobs.cancel, "exam"),
        )

        def done(chosen: str | None) -> None:
            if chosen == "move" and self._ready is not None:
                self._send(name, self._ready.sitting)
            elif chosen == "again":
                self._name()

        self._ready = None
        self._ask(sheet, done)
        return sheet

    def _show(self, sheet: ReadingSheet, name: str, found: Prepared | None) -> None:
        """Shows every word of the request, its size and its price, before anything is sent."""
        from leafward.summaries.summarizers.model.addresses import host_of

        self._ready = found
        if found is None:
            sheet.ended("", "nothing to ask: no question with a right and a wrong answer", tone="warn")
            return
        sending = found.outgoing
        secrets = sum(sending.redacted.values())
        names = ", ".join(safe_line(one, 40) for one in sorted(sending.redacted))
        state = f"{counted(secrets, 'secret')} redacted: {names}" if secrets else "no secrets found"
        where = safe_line(host_of(sending.model, sending.base_url), 60)
        state = "; ".join([f"asked at {where}", state, *(safe_line(one, 200) for one in sending.remarks)])
        price = "price not known" if sending.cost is None else estimated_price(sending.cost)
        sheet.ended(
            "\n\n".join(f"{one.system}\n\n{one.prompt}" for one in sending.requests),
            state,
            figures=f"~{exact(sending.tokens)} tokens, {price}",
            tone="warn" if secrets or sending.remarks else "",
            move=f"send it to {safe_line(name, 40)}",
            operation=self._subject.operation,
            again="ask another model",
        )

    def _send(self, name: str, prepared: Sitting) -> None:
        """Sends the request that was shown."""
        sheet = self._sheet(name)
        sheet.grow("", f"asking {safe_line(name, 60)}")
        self._jobs.latest(
            "exam",
            partial(answered, self._subject.path, prepared, name, self._services.config, sheet.grow),
            partial(self._done, sheet),
            lambda text: sheet.ended("", text, tone="bad", again="ask another model"),
        )

    def _done(self, sheet: ReadingSheet, sat: ExamAnswers) -> None:
        """Shows which answers are right, and keeps them."""
        cost = sat.result["cost"]
        price = "price not known" if cost is None else money(cost) if cost else "free"
        words = f"{sat.result['right']} of {counted(len(sat.answers), 'question')} right"
        text = answer_text(sat, self._services.glyphs)
        sheet.ended(text, "; ".join([words, *sat.remarks]), figures=price)
        who = safe_line(str(sat.result["model"]), 60)

        def refused(problem: str) -> None:
            sheet.ended(text, f"{words}, and not kept: {problem}", figures=price, tone="bad")

        self._subject.keep(
            sat, f"{who}: {sat.result['right']} of {len(sat.answers):,} right, {price}", refused
        )


def given_lines(
    question: Question, model: str, chosen: int | None, width: int, glyphs: Glyphs
) -> tuple[bool, list[str]]:
    """Whether a model answered a question right, and the lines with its name and the wrong answer that it gave."""
    name = safe_line(model, 60)
    if chosen == question.right:
        return True, [fit(name, width, ellipsis=glyphs.ellipsis)]
    known = chosen is not None and 0 <= chosen < len(question.answers)
    given = safe_line(question.answers[chosen].text, 300) if known and chosen is not None else "no answer"
    if cell_len(f"{name}: {given}") <= width:
        return False, [f"{name}: {given}"]
    if known and chosen is not None:
        given = answer_lines(question, width - 2, glyphs)[chosen]
    return False, [fit(f"{name}:", width, ellipsis=glyphs.ellipsis), f"  {given}"]


def answer_lines(question: Question, width: int, glyphs: Glyphs) -> list[str]:
    """The possible answers, each in one line that is no other one's: a path keeps its file name."""
    texts = [safe_line(answer.text, 300) for answer in question.answers]
    if question.answers[question.right].fact.kind is FactKind.PATH:
        return [fit_path(text, width, gap=glyphs.ellipsis) for text in texts]
    return fit_apart(texts, width, ellipsis=glyphs.ellipsis)


def answer_text(sat: ExamAnswers, glyphs: Glyphs) -> str:
    """The questions, each with the right answer and with the one that the model gave."""
    lines = []
    for number, one in enumerate(sat.answers, 1):
        answers = one.question.answers
        lines.append(f"{glyphs.ok if one.right else glyphs.error} {number}. {one.question.text}")
        lines.append(f"    right: {safe_line(answers[one.question.right].text, 300)}")
        if not one.right:
            answer = safe_line(answers[one.answer].text, 300) if one.answer is not None else "no answer"
            lines.append(f"    given: {answer}")
    return "\n".join(lines)
