"""The verbs `install` and `uninstall`: add the injected context to an agent's own compactions, and remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.installation import apply, installation, removal
from leafward.base.figures import counted
from leafward.base.safe_text import pasted_path, safe
from leafward.cli.output.page import emit_json, say
from leafward.cli.output.written import after

if TYPE_CHECKING:
    from leafward.agents.installation import AgentFileChange


def install(name: str, summary: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward install`."""
    return _carry_out(installation(name, summary), "uninstall", dry_run, as_json)


def uninstall(name: str, dry_run: bool, as_json: bool) -> int:
    """`leafward uninstall`."""
    return _carry_out(removal(name), "install", dry_run, as_json)


def _carry_out(change: AgentFileChange, undo: str, dry_run: bool, as_json: bool) -> int:
    done = ""
    if not dry_run:
        apply(change)
        if change.changed:
            done = f"{change.file} was {'removed' if change.after is None else 'written'}"
    with after(done):
        return _report(change, undo, dry_run, as_json)


def _report(change: AgentFileChange, undo: str, dry_run: bool, as_json: bool) -> int:
    if as_json:
        emit_json(
            {
                "file": str(change.file),
                "before": change.before,
                "after": change.after,
                "changed": change.changed,
                "undo": ["leafward", undo, change.agent],
                "dry_run": dry_run,
                "diagnostics": [{"code": "hook", "text": text} for text in _remarks(change)],
            }
        )
        return 0
    shown = pasted_path(str(change.file))
    if not change.changed:
        held = f"{shown} is up to date" if change.installs else f"nothing of Leafward is in {shown}"
        what = f"there is no {shown}" if change.before is None else held
        say([f"nothing to do: {what}", *_remarks(change)])
        return 0
    if change.after is None:
        # It was shown when it was written, and nobody else's text is in it.
        lines = counted(len((change.before or "").splitlines()), "line")
        say(f"{'would remove' if dry_run else 'removed'} {shown}, {lines}")
    else:
        done = "would write" if dry_run else "wrote"
        # With its indentation, exactly as it is written.
        say([f"{done} {shown}", *(safe(line).rstrip("\n") for line in change.lines())])
    say(_remarks(change))
    return 0


def _remarks(change: AgentFileChange) -> list[str]:
    """What follows from a change, and what the user has to do."""
    found = [change.note] if change.note else []
    if not change.changed:
        return found
    cost = [f"at a compaction: {change.cost}"] if change.cost else []
    link = [f"{pasted_path(str(change.link))} is a link to that file"] if change.link is not None else []
    return [*link, *cost, *found]
