"""The index of git for the replayed files: contents that commands put into it, and contents that others restore from it.

Only a content that a command is known to have put there counts; one that may have changed is dropped.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from leafward.files.file_names import within
from leafward.files.file_replay.knowledge import KNOWN, FileState, Staged
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_request import BulkCommand, Staging

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.files.file_replay.calls import Calls
    from leafward.files.file_replay.steps import ReplayStep

_BRINGS = (BulkCommand.CHECKOUT, BulkCommand.RESTORE)
"""Commands that restore files from the index of git."""
BY_INDEX = (*_BRINGS, BulkCommand.CLEAN, BulkCommand.CLEAN_IGNORED)
"""Commands whose effect on files depends on the index."""
_RESTORED = re.compile(r"^Updated \d+ paths? from the index$", re.MULTILINE)
_REMOVING = "Removing "


def unstage(files: Iterable[FileState]) -> None:
    """Drops the index contents of files."""
    for state in files:
        state.staged = None


def is_left_out(state: FileState) -> bool:
    """Whether git is known not to track a file."""
    return state.staged is not None and state.staged.text is None


def stage(files: Mapping[str, FileState], step: ReplayStep, calls: Calls) -> None:
    """Records the content that a command put into the index, or that it is no longer known."""
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


def restores(step: ReplayStep, output: str) -> bool:
    """Whether the output of `git checkout` shows that it restored files; if not, it may have changed the branch."""
    return step.certainly_done and _RESTORED.search(output) is not None


def bring_back(files: Mapping[str, FileState], step: ReplayStep, output: str, folder: str) -> None:
    """Applies a command that restores files from the index, or removes untracked ones.

    `output` is its output, `folder` the session's working folder.
    """
    done, why = step.certainly_done, StepRemark(f"by {step.by}")
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
                # Files that the index does not have stay unchanged.
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
            staged is not None and (staged.tracked or (staged.seen and step.by is BulkCommand.CLEAN))
        ):
            state.may_differ(step.entry, why)
