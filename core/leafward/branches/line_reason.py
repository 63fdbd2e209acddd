"""Why a line is as it is: the request of the turn that wrote it, decisions and words before the change, and checks after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.branches.diff.outcomes import Checked, OutcomeReader
from leafward.session.entries import NO_ENTRY, PROMPTS, EntryIndex, Kind, text_of
from leafward.session.messages import prompt_text
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import FactKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

_DECISIONS = 3
_TURNS = 2
"""Turns that are searched for decisions: a change was often agreed on right before."""
_TALK = (Kind.USER, Kind.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Reason:
    """The surroundings of a change. Texts are as written: not safe to show."""

    request: str
    """The prompt of its turn, whole."""
    words: str
    """The agent's last words before the change, in the same turn; empty where there are none."""
    decisions: tuple[str, ...]
    """Sentences that state a decision, in this turn before the change or in the turn before; the last ones, in order.
    Sentences that `request` or `words` hold are left out."""
    checks: tuple[Checked, ...]
    """Tests, builds and the like that ran after the change, in the first turn that ran any."""
    turns_later: int
    """Turns between the change and these checks."""


def reason_of(session: Session, entry: EntryIndex, prompt: EntryIndex) -> Reason:
    """The reason of a change that the reply `entry` made in the turn that `prompt` began (`NO_ENTRY` for no prompt)."""
    body = session.body(prompt) if prompt >= 0 else None
    request = prompt_text(body) if body is not None else ""
    words = _words(session, entry, prompt)
    checks, later = _checks(session, entry)
    decisions = tuple(one for one in _decisions(session, entry) if one not in request and one not in words)
    return Reason(request, words, decisions[-_DECISIONS:], checks, later)


def _decisions(session: Session, entry: EntryIndex) -> Iterator[str]:
    """Decisions up to an entry, in its turn and in the one before."""
    kinds, prompts, at = session.columns.kind, 0, entry
    turns: list[EntryIndex] = []
    while at != NO_ENTRY and prompts < _TURNS:
        turns.append(at)
        prompts += kinds[at] in PROMPTS
        at = EntryIndex(session.columns.parent[at])
    reader, seen = FactReader(session.cwd), set[str]()
    for one in reversed(turns):
        message = (session.body(one) or {}).get("message") if kinds[one] in _TALK else None
        for found in reader.read(one, message) if isinstance(message, dict) else ():
            if found.kind is FactKind.DECISION and found.key not in seen:
                seen.add(found.key)
                yield found.text


def check_words(one: Checked) -> str:
    """The outcome of a check in words."""
    ended = "passed" if one.ok else "failed"
    return f"{one.check.value} {ended}, {counted(one.runs, 'run')}, {one.failed} failed"


def _words(session: Session, entry: EntryIndex, prompt: EntryIndex) -> str:
    """The last text of a reply at or above the change, within its turn."""
    at = entry
    while at not in (NO_ENTRY, prompt):
        if session.columns.kind[at] == Kind.ASSISTANT:
            body = session.body(at) or {}
            message = body.get("message")
            text = text_of(message.get("content")).strip() if isinstance(message, dict) else ""
            if text:
                return text
        at = EntryIndex(session.columns.parent[at])
    return ""


def _checks(session: Session, entry: EntryIndex) -> tuple[tuple[Checked, ...], int]:
    """The checks of the first turn with any at or after the change, on the way to the leaf or to the end of its branch."""
    end = session.leaf
    if not session.tree.is_ancestor(entry, end):
        end = _end_of_branch(session, entry)
    below = [at for at in session.tree.path(end) if session.tree.depth(at) >= session.tree.depth(entry)]
    kinds, later, begin = session.columns.kind, 0, 0
    while begin < len(below):
        stop = begin + 1
        while stop < len(below) and kinds[below[stop]] not in PROMPTS:
            stop += 1
        checks = OutcomeReader(session).outcomes(below[begin:stop]).checks
        if checks:
            return checks, later
        begin, later = stop, later + 1
    return (), 0


def _end_of_branch(session: Session, entry: EntryIndex) -> EntryIndex:
    children = session.tree.children(entry)
    while children:
        entry = children[0]
        children = session.tree.children(entry)
    return entry
