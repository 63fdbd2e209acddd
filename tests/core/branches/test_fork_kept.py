"""Changes kept beside another agent's session become real in a new one, also of that agent; and blocks beside texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import cut_at
from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.estimators import Estimator
from leafward.session.journal import session_operations
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.acting import Acting, reading
from tests.foreign_stores import Store, said, watched
from tests.forks import terms, texts, told
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.branches.fork import Fork
    from leafward.session.session import Session

AGENTS = ("codex", "claude", "opencode")


@pytest.fixture(params=AGENTS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with watched(request.param, tmp_path / "store") as made:
        yield made


def compacted(session: Session, at: int) -> int:
    """Compacts up to an entry, beside the agent's files; returns the compaction."""
    sizes = measure(session, at, estimators=tuple(Estimator))
    accept(session, draft(session, plan(sizes, PlanSettings(keep_recent=1)), Extractive()))
    return session.place


def forked(session: Session, entry: int, to: str, home: Path) -> Fork:
    """A draft in a store below a folder; what it holds is read from its content."""
    return forking.fork(session, entry, agent_named(to), terms(home))


def spoken(made: Fork, home: Path) -> list[tuple[str, object]]:
    """Messages that the new session would send, after another conversion."""
    content = b"".join(made.draft.content())
    if made.draft.imported is not None:
        document = json.loads(content)
        return [
            (one["info"]["role"], part["text"])
            for one in document["messages"]
            for part in one["parts"]
            if part["type"] == "text"
        ]
    path = home / made.draft.path.name
    path.write_bytes(content)
    copy = agent_named(made.draft.agent).open(path)
    try:
        return told(copy, copy.leaf)
    finally:
        copy.close()


def test_a_compaction_that_is_kept_becomes_real(store: Store, tmp_path: Path) -> None:
    session = store.open()
    at = compacted(session, said(session, "three"))
    kept = [text for _, text in texts(session, at)]
    assert len(kept) < 6
    made = (
        forked(session, at, store.agent, tmp_path) if forking.cuts(session, at)[store.agent].legal else None
    )
    if made is None:
        # Behind its summary no reply stands: Claude Code would put one in.
        assert store.agent == "claude"
        return
    assert "kept-beside" in {remark.code for remark in made.remarks}
    found = [str(text) for _, text in spoken(made, tmp_path)]
    assert len(found) == len(kept)
    assert all(mine in theirs for mine, theirs in zip(kept, found, strict=True))


def test_labels_and_moves_beside_it_leave_it_a_copy(store: Store, tmp_path: Path) -> None:
    session = store.open()
    session_operations.label(session, said(session, "one"), "here")
    session_operations.move(session, said(session, "two"))
    cut = cut_at(session, session.place, agent_named(store.agent).may_end)
    assert forking.is_copy(session, cut)
    made = forked(session, session.place, store.agent, tmp_path)
    assert "kept-beside" not in {remark.code for remark in made.remarks}
    assert [str(text) for _, text in spoken(made, tmp_path)][-1] == "two."


def edited(path: Path) -> Acting:
    """Two turns; behind the last reply an edit of the first prompt, and what an extension said."""
    file = Acting(path, {**HEADER, "cwd": str(path.parent)})
    first = file.user("a very long prompt")
    file.said("done")
    file.user("two")
    file.said("fin")
    file.entry("context_edit", targetId=first, replacement={"content": "short"})
    file.entry("custom_message", customType="notes", content="mind the pears", display=True)
    return file


@pytest.mark.parametrize("to", ["pi", *AGENTS])
def test_what_stands_behind_the_last_reply_comes_along(tmp_path: Path, to: str) -> None:
    file = edited(tmp_path / "s.jsonl")
    with reading(file.path) as session:
        made = forked(session, session.leaf, to, tmp_path)
        found = [str(text) for _, text in spoken(made, tmp_path)]
        rows = b"".join(made.draft.content())
    assert "short" in found[0]
    assert not any("very long" in text for text in found)
    if to == "claude":
        # It would answer a message that nobody typed: that goes along with the next prompt.
        sent: list[dict[str, Any]] = [
            row for row in map(json.loads, rows.splitlines()) if row["type"] != "ai-title"
        ]
        assert sent[-1]["attachment"]["content"] == "mind the pears"
    else:
        assert found[-1] == "mind the pears"


def test_before_a_prompt_too(tmp_path: Path) -> None:
    file = edited(tmp_path / "s.jsonl")
    file.user("three")
    with reading(file.path) as session:
        made = forked(session, session.leaf, "codex", tmp_path)
        assert made.prompt == "three"
        past = Conversation(session, made.cut)
        assert [one.content[0]["text"] for one in past.portable_messages()][-1] == "mind the pears"
