"""Outcomes of a path's last actions, for results that tell more than the agent's own mark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, text_of
from leafward.session.messages import message_in
from leafward.summaries.facts.calls.declined_calls import is_declined, reason_in
from leafward.summaries.facts.calls.verdicts import says_failed

if TYPE_CHECKING:
    from leafward.compaction.injection.findings.path_findings import RecordedAction
    from leafward.session.session import Session

OFFERED_ACTIONS = 20
"""Number of actions that are offered; the section shows the last of them."""
_DECLINED = "declined by the user"
_REASON = 120
"""Most characters quoted of the user's words."""


def read_outcomes(actions: list[RecordedAction], session: Session) -> None:
    """Corrects the outcomes of the last actions: a declined call did not fail, and a failure hidden by a pipe did."""
    for place in range(max(0, len(actions) - OFFERED_ACTIONS), len(actions)):
        action = actions[place]
        if action.result == NO_ENTRY or not (action.outcome == "failed" or action.command):
            continue
        text = text_of((message_in(session.body(action.result) or {})).get("content"))
        if action.outcome != "failed":
            if says_failed(action.command, text):
                actions[place] = replace(action, outcome="failed")
        elif is_declined(text):
            actions[place] = replace(action, outcome=_declined(reason_in(text)))


def _declined(reason: str | None) -> str:
    words = " ".join((reason or "").split())
    if not words:
        return _DECLINED
    return f"{_DECLINED}: {words if len(words) <= _REASON else words[: _REASON - 1] + '…'}"
