"""The search for the turn that breaks a command: asked for with two entries, shown as it runs, labelled if wanted."""

from __future__ import annotations

import os
import shlex
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import NO_PROJECT_FOLDER
from leafward.session.entries import EntryIndex
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.ui.words.write_words import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.files.bisection.session_search import Report
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.operations import Operations
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.sheets.choice_sheet import Choice
    from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

_JOB = "bisect"
_OTHER_BASE = "ctrl+o"
_OVER = {
    None: "the last commit before the session, else the project as it is now",
    "": "an empty folder",
}
"""Names of the bases that are neither a commit nor a folder."""


class Bisect(ExplorerController):
    """Runs one bisection at a time, in a sheet that shows it."""

    def __init__(self, means: ExplorerMeans, navigation: Navigation, operations: Operations) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._operations = operations
        self._command = ""
        """The command of the last run."""
        self._base: str | None = None
        """The base of the files before the session, as `base_of` takes it."""
        self._steps: list[str] = []
        """The steps of the bisection under way, in words."""
        self._found: Bisected | None = None
        """The result of the bisection; None while it runs, and where it ended without an answer."""
        self._end: Callable[[ReadingSheet], object] = lambda _sheet: None
        """Shows the end of the last bisection in a sheet."""
        self.actions = {"bisect.open": self._ask}

    # --- the request --------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Asks for the command, from the row of the cursor to the mark or the leaf."""
        session, ends = self._state.session, self._ends()
        if session is None or ends is None:
            return
        self._ask_command(session, *ends, self._command)

    def _lacks_base(self, session: Session) -> bool:
        """Whether the base is the project's folder and that is missing, so that the user has to choose another base."""
        return self._base in (None, session.cwd) and not _has_folder(session)

    def _ask_command(self, session: Session, good: EntryIndex, bad: EntryIndex, typed: str) -> None:
        from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet

        leaf = " (the leaf)" if bad == session.place else ""
        about = [
            SheetLine(
                f"The command should pass at {named(good)} and fail at {named(bad)}{leaf}. Each run is in a copy of"
                " the files as they were, in a temporary folder; the project stays as it is.",
                lines=3,
            ),
            SheetLine(
                f"base: {NO_PROJECT_FOLDER}; another one is asked for"
                if self._lacks_base(session)
                else f"base: {base_words(self._base)}; the session's changes to files are replayed over it"
            ),
        ]

        def done(command: str | None) -> None:
            if command is None or not command.strip():
                return
            start = partial(self._start, session, good, bad, command.strip())
            if self._lacks_base(session):
                self._ask_base(lambda: self._ask_command(session, good, bad, command), chosen=start)
            else:
                start()

        sheet = TextSheet(
            "Bisect: the turn after which a command fails",
            typed,
            about,
            note=f"{named(good)} to {named(bad)}",
            placeholder="the command, such as python -m pytest -q",
            commit="run it",
            missing="type a command",
            other=(
                _OTHER_BASE,
                "base",
                lambda text: self._ask_base(lambda: self._ask_command(session, good, bad, text)),
            ),
        )
        self._view.open_sheet(sheet, done)

    def _ask_base(self, then: Callable[[], object], *, chosen: Callable[[], object] | None = None) -> None:
        """Asks for the base of the files before the session, then goes on: with `chosen` where one was chosen."""
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        session = self._state.session
        if session is None:
            return
        choices = self._bases(session, then, chosen or then)
        about = [
            SheetLine("Files without recorded calls are taken from it; on the others the calls are replayed.")
        ]
        title = "Bisect: what the files were before the session"
        self._view.open_sheet(ChoiceSheet(title, choices, about, left=then))

    def _bases(
        self, session: Session, then: Callable[[], object], go_on: Callable[[], object]
    ) -> list[Choice]:
        """The bases that can be chosen; `then` is called where none is, `go_on` once one is."""
        from leafward_tui.ui.sheets.choice_sheet import Choice

        missing = "" if _has_folder(session) else NO_PROJECT_FOLDER
        other = self._base if self._base not in (None, "", session.cwd) else None

        def take(base: str | None) -> None:
            self._base = base
            go_on()

        return [
            Choice(
                "d",
                "The last commit before the session",
                "without one, the project as it is now",
                refused=missing,
                current=self._base is None,
                act=partial(take, None),
            ),
            Choice(
                "e",
                "An empty folder",
                "the session made every file",
                current=self._base == "",
                act=partial(take, ""),
            ),
            Choice(
                "p",
                "The project as it is now",
                "if it is as it was before the session",
                refused=missing,
                current=self._base == session.cwd,
                act=partial(take, session.cwd),
            ),
            Choice(
                "o",
                "Another folder" if missing else "A commit or another folder",
                safe_line(other, 200) if other else "you name it",
                current=other is not None,
                act=partial(self._name_base, other or "", then, go_on),
            ),
        ]

    def _name_base(self, typed: str, then: Callable[[], object], chosen: Callable[[], object]) -> None:
        from leafward_tui.ui.sheets.sheet import TextSheet

        def done(text: str | None) -> None:
            if text is None:
                then()
            else:
                self._base = os.path.expanduser(text.strip())
                chosen()

        sheet = TextSheet(
            "Bisect: a commit of the project, or a folder",
            typed,
            placeholder="a commit, a tag or a folder",
            commit="choose",
            missing="type a commit or a folder",
        )
        self._view.open_sheet(sheet, done)

    def _ends(self) -> tuple[EntryIndex, EntryIndex] | None:
        """The earlier and the later of cursor and mark, without a mark of cursor and leaf; shows why there are none."""
        shown = self._navigation.shown_line()
        if shown is None:
            return None
        exploration, line = shown
        session, tree = exploration.session, exploration.session.tree
        here, mark = EntryIndex(exploration.target(line)), exploration.mark
        other = EntryIndex(exploration.end_of(mark)) if mark >= 0 else session.place
        if here != other and tree.is_ancestor(here, other):
            return here, other
        if here != other and mark >= 0 and tree.is_ancestor(other, here):
            return other, here
        # The leaf has no turn below it: the key is pressed again, on another row.
        key = self._services.keymap.label("bisect.open")
        text = f"bisect: {f'press {key}' if key else 'start'} on a turn where the test passes"
        if mark >= 0:
            text = "bisect: the mark is not above or below this row"
        keys = self._view.key_hints(("mark.set", "mark where it fails"))
        self._view.tell(text, "warn" if mark >= 0 else "", keys)
        return None

    # --- looking ------------------------------------------------------------------------------------------------------

    def _start(
        self, session: Session, good: EntryIndex, bad: EntryIndex, command: str, *, likely: bool = False
    ) -> None:
        """Opens the sheet and runs."""
        self._command, self._steps, self._found = command, [], None
        request = BisectRequest(good, bad, command, likely, self._base)
        sheet = self._open_sheet(session, request)
        self._jobs.latest(
            _JOB,
            partial(find_first_bad, session, request, partial(self._tell, sheet)),
            partial(self._show, sheet),
            partial(self._fail, sheet, request),
        )

    def _open_sheet(self, session: Session, request: BisectRequest) -> ReadingSheet:
        """The sheet of a bisection, which runs until its end is shown in it."""
        from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

        good, bad, command, likely, _ = request

        def done(chosen: str | None) -> None:
            found = self._found
            if chosen == "move" and found is not None and found.prompt is not None:
                self._navigation.show_entry(found.prompt)
                self._operations.ask_label(found.prompt, f"first bad: {command}")
            elif chosen == "again":
                self._start(session, good, bad, command, likely=True)
            elif chosen == "base":
                again = partial(self._start, session, good, bad, command, likely=likely)
                self._ask_base(back, chosen=again)

        def back() -> None:
            """Shows the result again."""
            self._end(self._open_sheet(session, request))

        sheet = ReadingSheet(
            f"Bisect: {command}",
            note=f"{named(good)} to {named(bad)}",
            markdown=False,
            running=True,
            cancel=lambda: self._jobs.cancel(_JOB),
            save=partial(self._save, session),
        )
        self._view.open_sheet(sheet, done)
        return sheet

    def _tell(self, sheet: ReadingSheet, text: str) -> None:
        """Shows one step more."""
        self._steps.append(text)
        sheet.grow("\n".join(self._steps), "looking")

    def _fail(self, sheet: ReadingSheet, request: BisectRequest, problem: str) -> None:
        """Shows why there is no answer."""
        text = "\n".join([*self._steps, f"`{request.command}` was not bisected"])
        self._end = lambda over: over.ended(text, problem, tone="bad", base="base")
        self._end(sheet)

    def _show(self, sheet: ReadingSheet, result: Bisected) -> None:
        """Shows the answer, then the steps that led to it."""
        report = result.report
        lines = [report.result, *report.details]
        if result.doubted:
            lines += ["", "A recorded command may change any file, so versions after it are not certain."]
        if result.unplaced:
            lines += [
                "",
                "It is not known whether files were there before the session made them: choose another base.",
            ]
        text = "\n".join([*lines, "", *self._steps])
        certain = result.prompt is not None
        self._found = result
        self._end = lambda over: over.ended(
            text,
            report.work,
            tone="leaf" if certain else "warn",
            move="go there and label it" if certain else "",
            again=_assumption(result),
            base="base",
        )
        self._end(sheet)

    def _save(self, session: Session, text: str) -> None:
        """Writes the result to a file in the current folder."""
        from leafward_tui.ui.saved_files import outcome_toasts, save_text

        work = partial(save_text, f"{session.id[:8]}-bisect", text)
        self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))


class BisectRequest(NamedTuple):
    """The input of a bisection."""

    good: EntryIndex
    """The entry where the command passes."""
    bad: EntryIndex
    """The entry where the command fails."""
    command: str
    """The command, for the shell."""
    likely: bool = False
    """Whether recorded commands are assumed to change only files that they name, and files made by the session to be new."""
    base: str | None = None
    """The base of the files before the session, as `base_of` takes it."""


class Bisected(NamedTuple):
    """The result of a bisection."""

    report: Report
    prompt: EntryIndex | None
    """The prompt of the turn; None where the turn is not certain."""
    doubted: bool
    """Whether versions were skipped because recorded commands may have changed other files."""
    unplaced: bool
    """Whether versions were skipped because a file made by the session may have been there before."""
    likely: bool


def find_first_bad(
    session: Session, request: BisectRequest, tell: Callable[[str], object], job: Job
) -> Bisected:
    """Runs the command on versions between two entries; `tell` gets the outcome of each, in the thread of the screen.

    Raises LeafwardError, Cancelled where the job is no longer wanted.
    """
    from leafward.agents.rewrites import refuse_rewritten
    from leafward.files.bisection.session_search import TrialCommand, base_of, bisect_session

    def say(text: str) -> None:
        job.report(partial(tell, text))

    try:
        harmless = [tuple(shlex.split(request.command))]
    except ValueError as error:
        raise Refused("the command has a quote that does not end") from error
    refuse_rewritten(session)
    shell = [os.environ.get("COMSPEC", "cmd"), "/c"] if os.name == "nt" else ["sh", "-c"]
    command = TrialCommand([*shell, request.command], harmless, request.likely)
    base = base_of(session, request.base)
    say(f"files are rebuilt over {base.title}")
    ends = request.good, request.bad
    search, found = bisect_session(session, ends, base, command, named, say, job.unwanted)
    prompt = search.every[found.bad].prompt
    return Bisected(
        search.report(found, request.command, likely=request.likely),
        prompt if len(found.candidates) == 1 and prompt >= 0 else None,
        search.doubted and not request.likely,
        search.unplaced,
        request.likely,
    )


def _assumption(result: Bisected) -> str:
    """The assumption that would allow skipped versions; empty where it is made already, or none was skipped."""
    if result.unplaced and not result.likely:
        return "assume only named files change, made ones are new"
    return "assume commands change only files they name" if result.doubted else ""


def _has_folder(session: Session) -> bool:
    """Whether the project's folder is there."""
    return os.path.isdir(session.cwd)


def base_words(base: str | None) -> str:
    """The base of the files before the session, in words."""
    return _OVER.get(base) or safe_line(base or "", 200)
