"""Context edits, grafts and merged summaries at random in real sessions: what was foretold is what is there, and an undo takes it back."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.branches.diff.sides import sides
from leafward.branches.transfer.context_edits import EDITABLE, ContextEdit, apply_edits, draft_edits
from leafward.branches.transfer.graft import apply_graft, draft_graft
from leafward.branches.transfer.summary_merge import MergeChoice, apply_merge, draft_merge
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.doctor import session_problems
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal.session_operations import redo, undo
from leafward.session.messages import message_text
from leafward.session.session import Session
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.session.journal.write import Write


def texts(session: Session) -> list[tuple[str, str]]:
    context = context_at(session, session.leaf)
    return [(one.role, message_text(message_body(session, one))) for one in context.messages]


def problems(session: Session) -> Counter[str]:
    return Counter(one.code for one in session_problems.check(session))


def edited(session: Session, rng: random.Random) -> Callable[[], Write]:
    kinds = session.columns.kind
    context = context_at(session, session.leaf)
    held = [one.entry for one in context.messages if Kind(kinds[one.entry]) in EDITABLE]
    keep, text = rng.choice(((None, None), (None, "short ✂"), (rng.randint(1, 60), None)))
    draft = draft_edits(
        session, [ContextEdit(one, text, keep) for one in rng.sample(held, rng.randint(1, 4))]
    )

    def act() -> Write:
        done = apply_edits(session, draft)
        assert context_at(session, session.leaf).total == draft.tokens_after
        assert draft.tokens_before - draft.saved == draft.tokens_after
        return done

    return act


def grafted(session: Session, rng: random.Random) -> Callable[[], Write]:
    path = set(session.tree.path(session.leaf))
    chosen = rng.sample([at for at in range(len(session)) if at not in path], rng.randint(1, 5))
    before = texts(session)
    draft = draft_graft(session, chosen, window=1_000_000_000)

    def act() -> Write:
        done = apply_graft(session, draft)
        assert texts(session)[: len(before)] == before
        assert context_at(session, session.leaf).total == draft.tokens_after
        return done

    return act


def merged(session: Session, rng: random.Random) -> Callable[[], Write]:
    a, b = rng.sample(list(session.tree.leaves()), 2)
    draft = draft_merge(sides(session, a, b))
    text = draft.text({}, rng.choice(list(MergeChoice)))

    def act() -> Write:
        done = apply_merge(session, draft, text)
        assert text in texts(session)[-1][1]
        details = (session.body(EntryIndex(len(session) - 1)) or {})["details"]
        assert details["leafward"]["merged"] == [session.columns.id(EntryIndex(one)) for one in (a, b)]
        return done

    return act


@needs_corpora
@pytest.mark.parametrize("name", ["branched", "branched-compacted"])
@pytest.mark.parametrize("seed", range(3))
def test_what_was_foretold_is_there_and_an_undo_takes_it_back(name: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    shutil.copyfile(CORPORA / "pi" / f"{name}.jsonl", path)
    rng = random.Random(f"{name} {seed}")
    done = 0
    with closing(Session.open(path)) as session:
        wrong = problems(session)
        for draft in (edited, grafted, merged) * 3:
            before, length = texts(session), path.stat().st_size
            try:
                act = draft(session, rng)
            except Refused:
                assert path.stat().st_size == length
                continue
            act()
            now = texts(session)
            with closing(Session.open(path)) as again:
                assert texts(again) == now
                assert again.leaf == session.leaf
            undo(session)
            assert texts(session) == before
            redo(session)
            assert texts(session) == now
            done += 1
        assert problems(session) == wrong
    assert done > 3
