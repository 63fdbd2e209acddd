"""What the index of git holds of the files that are replayed: what commands put into it, and what others bring back from it.

Only what a command is known to have put there counts; what may be another is not held any more.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from leafward.files.file_names import within
from leafward.files.file_replay.knowledge import KNOWN, FileState, Staged
from leafward.files.file_replay.remarks import Remark
from leafward.files.shell import Staging, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.files.file_replay.calls import Calls
    from leafward.files.file_replay.steps import Step

_BRINGS = (Sweep.CHECKOUT, Sweep.RESTORE)
"""What brings files back as the index of git has them."""
BY_INDEX = (*_BRINGS, Sweep.CLEAN, Sweep.CLEAN_IGNORED)
"""What the index decides of which files become what."""
_RESTORED = re.compile(r"^Updated \d+ paths? from the index$", re.MULTILINE)
_REMOVING = "Removing "


def unstage(files: Iterable[FileState]) -> None:
    """Forgets what the index of git holds of files."""
    for state in files:
        state.staged = None


def is_left_out(state: FileState) -> bool:
    """Whether git is known not to hold a file."""
    return state.staged is not None and state.staged.text is None


def stage(files: Mapping[str, FileState], step: Step, calls: Calls) -> None:
    """Takes in what a command put into the index, or that this is not known."""
    if step.home is None:
        unstage(files.values())
        return
    done = step.certainly_done and "CRLF" not in calls.output(step)
    for name, state in files.items():
        if not step.whole and not within(name, step.path, calls.session.cwd):
            continue
        before, now = state.staged, None
        if state.certainty in KNOWN:
            there = not state.absent and before is not None and before.home == step.home
            named = name == step.path and step.by is Staging.ADDED
            now = Staged(
                state.text,
                state.newline,
                state.base,
                step.home,
                not state.absent and (named or (there and before is not None and before.tracked)),
                not state.absent
                and (step.by is Staging.ADDED or (there and before is not None and before.seen)),
                state.ends,
            )
        if done:
            state.staged = now
        elif before is None or now is None or before[:4] != now[:4]:
            state.staged = None


def restores(step: Step, output: str) -> bool:
    """Whether what `git checkout` printed says that it brought files back; where it does not, it may have changed the branch."""
    return step.certainly_done and _RESTORED.search(output) is not None


def bring_back(files: Mapping[str, FileState], step: Step, output: str, folder: str) -> None:
    """Takes in a command that brings files back as the index has them, or removes those that it does not have.

    `output` is what it printed, `folder` where the session worked.
    """
    done, why = step.certainly_done, Remark(f"by {step.by}")
    removed = {
        posixpath.normpath(posixpath.join(folder, step.home or "", line.removeprefix(_REMOVING)))
        for line in output.splitlines()
        if line.startswith(_REMOVING) and done and step.by not in _BRINGS
    }
    for name, state in files.items():
        if not within(name, step.path, folder):
            continue
        staged = state.staged if state.staged is not None and state.staged.home == step.home else None
        if step.by in _BRINGS:
            if staged is None:
                state.may_differ(step.entry, why)
            elif staged.text is None:
                # What the index does not have is left alone.
                continue
            elif (state.text, state.newline) == (staged.text, staged.newline):
                continue
            elif done and (staged.tracked or name == step.path) and "\r" not in staged.text:
                state.written(staged.text, staged.base)
                state.newline, state.ends, state.untouched = staged.newline, staged.ends, False
                state.remark(step.entry, why)
            else:
                state.may_differ(step.entry, why)
        elif any(within(name, one, folder) for one in removed):
            state.untouched = False
            state.gone()
            state.remark(step.entry, why)
        elif not state.absent and not (
            staged is not None and (staged.tracked or (staged.seen and step.by is Sweep.CLEAN))
        ):
            state.may_differ(step.entry, why)
