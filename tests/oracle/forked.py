"""Shared by the tests with real agents: forks made and written as the command makes them, and requests compared."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import ForkPoint, ForkTerms
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.branches import fork as forking
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.estimators import Estimator
from leafward.session.entries import NO_ENTRY, Kind
from leafward.session.messages import prompt_text
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leafward.session.session import Session

_IGNORED = frozenset({"cache_control", "metadata"})


def terms(env: Mapping[str, str], injected: str = "", cwd: str = "") -> ForkTerms:
    """Terms at this moment."""
    return ForkTerms(env, Config(), datetime.now(UTC), injected, cwd=cwd)


def fork(
    session: Session,
    entry: int,
    env: Mapping[str, str],
    *,
    to: str,
    source: str = "",
    injected: str = "",
    cwd: str = "",
) -> forking.Fork:
    """A fork, written."""
    agent = agent_named(source) if source else None
    made = forking.fork(session, entry, agent_named(to), terms(env, injected, cwd), agent)
    forking.store(session, made.draft)
    return made


def compacted_beside(session: Session) -> list[str]:
    """Compacts a session beside its agent's files; returns what a model is to see then, text by text."""
    sizes = measure(session, session.place, estimators=tuple(Estimator))
    accept(session, draft(session, plan(sizes, PlanSettings(keep_recent=1)), Extractive()))
    place = session.place
    past = Conversation(session, ForkPoint(place, place, NO_ENTRY, None, place))
    texts = [
        "".join(str(block.get("text") or "") for block in one.content) for one in past.portable_messages()
    ]
    assert past.context.compaction == place
    return [text for text in texts if text]


def in_order(texts: list[str], said: list[str]) -> bool:
    """Whether a request says texts, one after the other, white space aside."""
    rest = iter("".join(one.split()) for one in said)
    return all(any("".join(text.split()) in one for one in rest) for text in texts)


def prompts(session: Session) -> dict[str, int]:
    """The prompts of a session, by their text; of equal ones the last."""
    return {
        prompt_text(session.body(index) or {}): index
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.USER
    }


def seal(path: Path) -> str:
    """A value that changes with any byte of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def plain(body: Any) -> Any:
    """A request without what is not told to the model."""
    if isinstance(body, dict):
        return {name: plain(value) for name, value in body.items() if name not in _IGNORED}
    if isinstance(body, list):
        return [plain(one) for one in body]
    return body


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Where two requests differ: fields, and places of messages."""
    one, other = plain(one), plain(other)
    found = [name for name in sorted({*one, *other} - {"messages"}) if one.get(name) != other.get(name)]
    here, there = one["messages"], other["messages"]
    for place in range(max(len(here), len(there))):
        mine = here[place] if place < len(here) else None
        theirs = there[place] if place < len(there) else None
        if mine != theirs:
            found.append(
                f"message {place} of {len(here)} and {len(there)}: {_short(mine)} / {_short(theirs)}"
            )
    return found


def _short(message: Any) -> str:
    text = str(message)
    return text if len(text) < 400 else f"{text[:200]} … {text[-200:]}"
