"""Files as the recorded calls left them: the steps of a path, repeated in memory.

Bodies are decoded once for the steps, and again only for the calls of the requested files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.files.file_names import matches, within
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.calls import Calls
from leafward.files.file_replay.git_index import BY_INDEX, bring_back, is_left_out, restores, stage, unstage
from leafward.files.file_replay.knowledge import KNOWN, Certainty, FileState
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import ReplayStep, StepOutcome
from leafward.files.file_request import BulkCommand, Proof

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from leafward.files.file_replay.spans import KnownLines
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A file at an entry."""

    path: str
    certainty: Certainty
    text: str | None
    """The whole text, where it is exact."""
    spans: tuple[KnownLines, ...]
    """Known lines, where it is partial."""
    pieces: tuple[str, ...]
    """Texts that occur in the file, where even their lines are not known. Their line ends are not known."""
    total: int | None
    """The number of lines in the file, where that is known."""
    newline: bool
    """Whether it is known if the text ends in a newline."""
    base: str
    """The source of its content: `write`, `read`, `result`, or the name of a base (`on disk`, `git 1a2b3c4`); else empty."""
    remarks: tuple[tuple[EntryIndex, StepRemark], ...]
    was: tuple[str, ...]
    """Earlier names of the file."""
    reads: int
    """The number of steps up to here that read it; `changes` counts those that changed it."""
    changes: int
    every_branch: bool = False
    """Whether calls of other branches are replayed as well, in the order of writing."""
    proofs: int = 0
    """Edits that found their old text, and results that showed the known text."""
    ends: bool = True
    """Whether its line ends and a leading byte order mark are known; else newlines replace the line ends."""


@dataclass(slots=True)
class Replay:
    """The files of one path, replayed up to some step."""

    session: Session
    files: dict[str, FileState]
    """The state of each file, by path."""
    counts: dict[str, tuple[int, int]]
    """The numbers of steps that read a file and that changed it."""
    _originals: dict[str, FileState] = field(default_factory=dict)
    _swept: list[tuple[EntryIndex, StepRemark, Callable[[str], bool]]] = field(default_factory=list)
    """Commands that may have changed files since the replay began or branched off, also files that no step named before."""
    _there: set[str] = field(default_factory=set)
    """Files that certainly exist, also those that are not replayed."""
    _by_command: set[str] = field(default_factory=set)
    """Files that a command changed since the agent's tools last saw them."""
    _running: set[str] = field(default_factory=set)
    """Files that a command which may still run changes."""

    def branch(self) -> Replay:
        """A copy to continue from on another branch."""
        files = {path: state.copy() for path, state in self.files.items()}
        originals = {}
        for path, state in files.items():
            state.untouched = True
            if state.certainty in KNOWN:
                originals[path] = state.copy()
        return Replay(
            self.session,
            files,
            dict(self.counts),
            originals,
            _there=set(self._there),
            _by_command=set(self._by_command),
            _running=set(self._running),
        )

    def original(self, path: str) -> Rebuilt | None:
        """The file under a name where this replay began or branched off: known then, or seen before anything changed it."""
        state = self._originals.get(path)
        return _rebuilt(path, state, 0, 0) if state is not None else None

    def rebuilt(self, path: str) -> Rebuilt:
        """A file in its current state."""
        return _rebuilt(path, self.files.get(path) or self._fresh(path), *self.counts.get(path, (0, 0)))

    def go(
        self,
        made: Iterable[ReplayStep],
        only: Collection[str] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Replays steps, only of the files in `only` where it is given (with their earlier names)."""
        names = related(made := list(made), only) if only is not None else None
        folders = _folders(names or ())
        calls = Calls(self.session)
        for step in made:
            if stop():
                return
            if (
                names is None
                or step.path in names
                or step.to in names
                or step.glob
                or step.operation in (FileOperation.SWEEP, FileOperation.STAGE)
                or (step.operation.changes and (step.path in folders or step.to in folders))
            ):
                self._take(step, calls)
            self._follow(step)

    def _take(self, step: ReplayStep, calls: Calls) -> None:
        if step.glob:
            parts = step.path.split("/")
            self._sweep(step, StepRemark.BY_COMMAND, lambda name: matches(name, parts))
        elif step.operation is FileOperation.SWEEP:
            self._take_sweep(step, calls)
        elif step.operation is FileOperation.STAGE:
            stage(self.files, step, calls)
        else:
            if step.outcome is not StepOutcome.FAILED:
                reads, changes = self.counts.get(step.path, (0, 0))
                changing = step.operation.changes
                self.counts[step.path] = (reads, changes + 1) if changing else (reads + 1, changes)
            self._take_one(step, calls)

    def _take_sweep(self, step: ReplayStep, calls: Calls) -> None:
        """Applies a command on a folder, which names none of the files that it changes."""
        if step.by is BulkCommand.MISSED:
            self._remove(step.path)
            return
        if step.by is BulkCommand.NOTICED:
            self._take_notice(step, calls)
            return
        if step.proof is Proof.COMPLAINT and not calls.stayed(step):
            return
        folder, cwd = step.path, self.session.cwd
        if step.by in BY_INDEX and step.home is not None:
            self._from_index(step, calls.output(step))
            return
        back = {name for name, state in self.files.items() if state.absent and not is_left_out(state)}
        unstage(self.files.values())
        if step.by is BulkCommand.POP and step.certainly_done:
            # Nothing changed, except that a file that was added and then removed exists again.
            self._sweep(
                step,
                StepRemark.BY_STASH_POP,
                lambda name: name in back and within(name, folder, cwd, repository=True),
            )
        else:
            self._sweep(
                step,
                StepRemark(f"by {step.by}"),
                lambda name: within(name, folder, cwd, repository=step.whole),
            )

    def _take_notice(self, step: ReplayStep, calls: Calls) -> None:
        """Applies the notice that a file is no more as the agent last saw it.

        Where a command changed it since, the notice may tell of that: then only lines that it shows otherwise count.
        """
        path = step.path
        if path in self._by_command:
            for shown in calls.noticed(step):
                self._state(path).seen(shown, step.entry)
        else:
            self._sweep(step, StepRemark.CHANGED_OUTSIDE, lambda name: name == path)
        self._by_command.discard(path)

    def _take_one(self, step: ReplayStep, calls: Calls) -> None:
        """Applies a step that names its file. What a command that may still run changes stays unknown."""
        if step.proof is Proof.LATER and step.operation.changes:
            self._running.update(one for one in (step.path, step.to) if one is not None)
        self._take_done(step, calls)
        if self._running:
            for path in self._running.intersection((step.path, step.to)):
                self._state(path).may_differ(step.entry, StepRemark.BY_COMMAND)

    def _take_done(self, step: ReplayStep, calls: Calls) -> None:
        """Applies a step: first whether it was done, then its change."""
        path = step.path
        (self._by_command.add if step.inferred and step.operation.changes else self._by_command.discard)(path)
        if step.operation is FileOperation.CHANGE and step.by is not None:
            # The sweep tells the outcome.
            self._state(path)
        elif (doubt := _doubt(step, calls)) is not None:
            self._uncertain(step, doubt)
        elif step.outcome is not StepOutcome.DONE:
            return
        elif step.to is not None:
            self._send(step, step.to)
        elif step.operation is FileOperation.DELETE:
            self._remove(path)
        elif step.operation is FileOperation.READ:
            # Of one beside a change of the same file it is not known when it saw it.
            seen = calls.shown(step) if step.proof is not Proof.LATER else None
            state = self._state(path)
            if seen is not None:
                state.seen(seen, step.entry)
                self._saw(path, state)
        else:
            self._change(step, calls)

    def _remove(self, path: str) -> None:
        for name in (*self._under(path), path):
            state = self._state(name)
            state.untouched = False
            state.gone()

    def _change(self, step: ReplayStep, calls: Calls) -> None:
        """Applies a write, an append or an edit that was done."""
        path, entry, state = step.path, step.entry, self._state(step.path)
        one = calls.request_of(step)
        if step.operation is FileOperation.EDIT and (before := calls.before(step)) is not None:
            state.before(before, entry, ends=calls.tools_of(step).read_form.ends)
            self._saw(path, state)
        if step.operation is FileOperation.WRITE and state.untouched and calls.created(step):
            self._originals.setdefault(path, FileState(absent=True))
        state.untouched = False
        if one is None or step.operation is FileOperation.CHANGE:
            self._uncertain(step, StepRemark.BY_COMMAND if step.inferred else StepRemark.CELL)
        elif step.operation in (FileOperation.WRITE, FileOperation.APPEND):
            if one.text is None:
                self._uncertain(step, StepRemark.BY_COMMAND)
            elif step.operation is FileOperation.WRITE:
                state.written(calls.left(step, one.text))
            else:
                state.appended(one.text)
        elif one.places:
            state.patched(one.places, entry)
        else:
            state.edited(
                list(one.replacements),
                entry,
                keeps_ends=calls.tools_of(step).keeps_ends,
                diff=lambda: calls.diff(step),
            )

    def _saw(self, path: str, state: FileState) -> None:
        if state.untouched and state.certainty in KNOWN:
            self._originals.setdefault(path, state.copy())

    def _uncertain(self, step: ReplayStep, why: StepRemark) -> None:
        for path in (step.path, step.to):
            for name in (*self._under(path), path) if path is not None else ():
                self._state(name).may_differ(
                    step.entry, why if name == path else _OF_FOLDERS.get(step.operation, why)
                )

    def _sweep(self, step: ReplayStep, why: StepRemark, covers: Callable[[str], bool]) -> None:
        """Records that a command may have changed files that it does not name."""
        self._swept.append((step.entry, why, covers))
        for name, state in self.files.items():
            if covers(name):
                state.may_differ(step.entry, why)

    def _follow(self, step: ReplayStep) -> None:
        """Records the consequences of a step on any file for all files."""
        if step.by is BulkCommand.MISSED:
            self._there.discard(step.path)
        elif step.operation is FileOperation.SWEEP:
            if step.by not in (BulkCommand.NOTICED, BulkCommand.ELSEWHERE):
                self._there.clear()
        elif step.operation is FileOperation.STAGE:
            return
        elif step.glob:
            self._there.clear()
        elif step.operation in (FileOperation.DELETE, FileOperation.MOVE):
            gone = step.path
            self._there = {one for one in self._there if one != gone and not one.startswith(f"{gone}/")}
        elif step.outcome is StepOutcome.DONE and not step.inferred:
            self._there.add(step.path)
        if step.glob or (step.operation.changes and ".git" in f"{step.path} {step.to}"):
            # The ignored files may be different now.
            for state in self.files.values():
                if state.staged is not None:
                    state.staged = state.staged._replace(seen=False)

    def _from_index(self, step: ReplayStep, output: str) -> None:
        """Applies a command that restores files from the index of git, or removes untracked ones."""
        folder, why = self.session.cwd, StepRemark(f"by {step.by}")

        def covers(name: str) -> bool:
            return within(name, step.path, folder)

        if step.whole and not any(map(covers, self._there)) and not restores(step, output):
            # The name may be a branch.
            unstage(self.files.values())
            self._sweep(step, why, lambda name: within(name, step.path, folder, repository=True))
            return
        bring_back(self.files, step, output, folder)
        self._swept.append((step.entry, why, covers))

    def _send(self, step: ReplayStep, target: str) -> None:
        """Moves or copies a file, or the files of a folder."""
        inside = self._under(step.path)
        for path in inside:
            to = target + path[len(step.path) :]
            self._place(path, to, step)
            # Where the target was a folder, the files lie one folder below it.
            self._state(to).may_differ(step.entry, StepRemark.FOLDER_MOVED)
        if step.path in self.files or not inside:
            if self._under(target):
                target = f"{target}/{step.path.rpartition('/')[2]}"
            self._place(step.path, target, step)

    def _place(self, path: str, to: str, step: ReplayStep) -> None:
        state = self._state(path)
        moved = state.copy()
        if moved.absent:
            # The file was moved or copied, so it existed.
            moved.forget()
        if step.operation is FileOperation.MOVE:
            moved.was, moved.untouched = (*moved.was, path), False
            state.untouched = False
            state.gone()
        there = self.files.get(to)
        moved.staged = there.staged if there is not None else None
        if step.fresh and (there is None or there.untouched):
            self._originals.setdefault(to, FileState(absent=True))
        self.files[to] = moved

    def _under(self, folder: str) -> list[str]:
        return [path for path in self.files if path.startswith(folder + "/")]

    def _state(self, path: str) -> FileState:
        state = self.files.get(path)
        if state is None:
            state = self.files[path] = self._fresh(path)
        return state

    def _fresh(self, path: str) -> FileState:
        """The state of a file that no step has touched so far."""
        state = FileState()
        for entry, why, covers in self._swept:
            if covers(path):
                state.may_differ(entry, why)
        return state


_OF_FOLDERS = {FileOperation.DELETE: StepRemark.FOLDER_REMOVED, FileOperation.MOVE: StepRemark.FOLDER_MOVED}


def _doubt(step: ReplayStep, calls: Calls) -> StepRemark | None:
    """The reason why it is not known whether a step changed its file; None where it is known, and for a read."""
    if not step.operation.changes:
        return None
    if step.outcome is StepOutcome.FAILED:
        # A command may have failed after the part that changed the file.
        return StepRemark.BY_COMMAND if step.inferred else None
    if step.outcome is StepOutcome.UNANSWERED:
        return StepRemark.UNANSWERED
    return None if step.proof is Proof.EXIT or calls.proven(step) else StepRemark.BY_COMMAND


def _folders(names: Iterable[str]) -> set[str]:
    """The folders that contain some files."""
    return {name[:at] for name in names for at, sign in enumerate(name) if sign == "/"}


def _rebuilt(path: str, state: FileState, reads: int, changes: int) -> Rebuilt:
    return Rebuilt(
        path,
        state.certainty,
        state.text,
        state.spans,
        state.pieces,
        state.total,
        state.newline,
        state.base if state.certainty is not Certainty.UNKNOWN else "",
        state.remarks,
        state.was,
        reads,
        changes,
        proofs=state.proofs,
        ends=state.ends,
    )


def related(made: Iterable[ReplayStep], names: Collection[str]) -> set[str]:
    """The named files, and every name from which their content came by moving or copying, also of a folder."""
    sent = [(step.path, step.to) for step in made if step.to is not None]
    found = set(names)
    # Backwards, so that a chain of moves is followed in one pass.
    for path, to in reversed(sent):
        inside = [name for name in found if name.startswith(to + "/")]
        if to in found or inside:
            found |= {path, to, *(path + name[len(to) :] for name in inside)}
            # A file that was moved into a folder keeps its file name.
            found |= {path for name in inside if name.rpartition("/")[2] == path.rpartition("/")[2]}
    return found


def replay(
    session: Session,
    at: int | None = None,
    only: Collection[str] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Replay:
    """The files on the path to an entry (the leaf by default), as its recorded calls left them."""
    path = session.tree.path(session.leaf if at is None else at)
    made = Replay(session, {}, {})
    made.go(steps(session, path, stop, sweeps=True), only, stop)
    return made
