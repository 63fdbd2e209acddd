"""Commands that still run when their result comes, and the results in which they end."""

from __future__ import annotations

from leafward.base.late_pattern import late

_RUNS = late(
    r"(?:[^\n]{0,200}\n){0,5}?(?:Process running with session ID (\S{1,80})|Script running with cell ID (\S{1,80})"
    r"|Command (?:running in background|was manually backgrounded by user) with ID: (\S{1,80})"
    r"|Command did not complete within its [^\n]{1,40} timeout and was moved to the background \(ID: ([^\s)]{1,80})\)"
    r"|\{\"chunk_id\":[^{}\n]{0,200}?\"session_id\": ?(\d{1,18}))"
)
"""The last form is what a script of Codex's code mode prints of a command: with the id of a session while it runs, then with its exit code."""
POLLS = "write_stdin"
"""Codex's tool that writes to a running command, or waits for it."""


def process_in(text: str) -> str | None:
    """The id of the process that a result says still runs; None where it ended (Codex 0.171, Claude Code 2.1)."""
    found = _RUNS.match(text)
    return next(filter(None, found.groups())).rstrip(".") if found is not None else None
