"""A restore as lines: the files with what becomes of each and why, and the diff of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.files.restoration import Action
from leafward_tui.ui.cells import counted, expand_tabs, fit, fit_path, wrap
from leafward_tui.ui.pane_lines import Block, LabLine, LazyLines, Span, blanks
from leafward_tui.ui.spans import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.files.restoration import FileChange, RestorePlan
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.pane_lines import Lines

__all__ = ["action_words", "file_lines", "is_offered", "is_safe", "listed", "preview_lines"]

_VERB = 7
_DIFF_HEAD = 2
"""Lines of a diff that name the file."""
_LONGEST = 1_000
"""Characters shown of one line of a diff."""
_DOES = {Action.WRITE: "write", Action.CREATE: "create", Action.DELETE: "delete"}


def is_safe(change: FileChange) -> bool:
    """Whether it is proven, and replaces only what the session, a restore or git has left."""
    return change.action in _DOES


def is_offered(change: FileChange) -> bool:
    """Whether it is done only where somebody chooses it."""
    return change.action is Action.LEAVE and change.offered is not None


def listed(plan: RestorePlan) -> list[FileChange]:
    """What is not as it was: safe changes first, then those to choose one by one, then those that cannot be made."""
    rank = {True: 0, False: 1}
    rows = [one for one in plan.changes if one.action is not Action.SAME]
    return sorted(rows, key=lambda one: (rank[is_safe(one)], rank[is_offered(one)], one.path))


def file_lines(
    changes: Sequence[FileChange], same: int, chosen: Collection[str], width: int, glyphs: Glyphs
) -> Lines:
    """The files, each with whether it is chosen, what would be done and why it is safe or not."""
    room = width - 4 - _VERB - 1 - 2
    reasons = min(max((len(one.why) for one in changes), default=0), room // 2)
    below = f"{counted(same, 'file is', 'files are')} as at that entry already" if same else ""
    if not changes and not same:
        below = "no recorded call touched a file"

    def made(y: int) -> LabLine:
        if y == len(changes):
            return LabLine((Span(below, "nothing"),))
        return _file_line(changes[y], changes[y].path in chosen, room - reasons, reasons, glyphs)

    places = {f"file:{one.path}": y for y, one in enumerate(changes)}
    return LazyLines(len(changes) + bool(below), made, places)


def _file_line(change: FileChange, here: bool, names: int, reasons: int, glyphs: Glyphs) -> LabLine:
    """One file in `names` cells for its path and `reasons` for why."""
    possible = is_safe(change) or is_offered(change)
    sign = f"[{glyphs.ok if here else ' '}] " if possible else "    "
    action = change.action if is_safe(change) else change.offered
    verb = _DOES.get(action, "leave") if action is not None else "leave"
    ink = "text" if here else "sub" if possible else "faint"
    tone = "faint" if is_safe(change) or not possible else "warn"
    path = fit_path(safe_line(change.path, _LONGEST), names, pad=True, gap=glyphs.ellipsis)
    why = fit(safe_line(change.why, _LONGEST), reasons, pad=True, ellipsis=glyphs.ellipsis)
    spans = (
        Span(sign, "leaf" if here else "faint"),
        Span(f"{verb:<{_VERB}} ", ink),
        Span(path, ink),
        blanks(2),
        Span(why, tone),
    )
    return LabLine(spans, f"file:{change.path}")


def action_words(changes: Sequence[FileChange]) -> str:
    """What is done: `write 3 files, delete 1`; empty for nothing."""
    numbers = [(words, sum(one.action is action for one in changes)) for action, words in _DOES.items()]
    some = [(words, number) for words, number in numbers if number]
    parts = [f"{words} {counted(number, 'file')}" for words, number in some[:1]]
    return ", ".join([*parts, *(f"{words} {number:,}" for words, number in some[1:])])


def preview_lines(
    change: FileChange | None, diff: Sequence[str] | None, chosen: bool, width: int, glyphs: Glyphs
) -> Lines:
    """What becomes of one file in full, and its diff; None while that is worked out."""
    if change is None:
        return Block()
    lines = [LabLine((Span(text, ink),)) for text, ink in _about(change, chosen, width, glyphs)]
    if change.after is None or not (is_safe(change) or is_offered(change)):
        return Block(lines)
    if diff is None:
        return Block([*lines, LabLine((Span("comparing", "nothing"),))])
    begin = len(lines) - _DIFF_HEAD

    def made(y: int) -> LabLine:
        return lines[y] if y < len(lines) else _diff_line(diff[y - begin], width, glyphs)

    return LazyLines(begin + max(_DIFF_HEAD, len(diff)), made)


def _about(change: FileChange, chosen: bool, width: int, glyphs: Glyphs) -> list[tuple[str, str]]:
    path, why = safe_line(change.path, _LONGEST), safe_line(change.why, _LONGEST)
    if is_safe(change):
        text = f"{path}: {why}" + ("" if chosen else ", not chosen")
        ink = "sub"
    elif is_offered(change):
        text = f"{path}: {why}; " + ("chosen all the same" if chosen else "stays unless you choose it")
        ink = "warn"
    else:
        text, ink = f"{path}: {why}; it stays as it is", "warn"
    lines = [(part, ink) for part in wrap(text, width, lines=3, ellipsis=glyphs.ellipsis)]
    if change.remark:
        lines += [(part, "sub") for part in wrap(change.remark, width, lines=2, ellipsis=glyphs.ellipsis)]
    return lines


def _diff_line(line: str, width: int, glyphs: Glyphs) -> LabLine:
    ink, ground = {"+": ("text", "leaf_tint"), "-": ("text", "bad_tint"), "@": ("faint", "")}.get(
        line[:1], ("sub", "")
    )
    text = shown(expand_tabs(line[:_LONGEST].rstrip("\r")))
    return LabLine((Span(fit(text, width, pad=True, ellipsis=glyphs.ellipsis), ink, ground),))
