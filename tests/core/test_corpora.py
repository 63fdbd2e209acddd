"""Every store of the corpora: as many sessions, sub-agents, forks, branches and compactions as there are.

`WRITTEN` was written down from the description of the corpora (which versions hold forks, reverts, rewinds, compactions) and
from the formats; `tests/corpus_counts.py` counts the same from the raw lines and rows, without anything of Leafward. Both
have to agree with each other before the readers are asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.base.errors import NotASession
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.doctor.session_problems import check
from leafward.session.entries import Kind
from tests import corpus_counts
from tests.core.catalogued import cards_in
from tests.corpus_counts import Count
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session

STORES: dict[str, tuple[Path, Callable[[Path], Count]]] = {
    "codex 0.80.0": (CORPORA / "codex" / "v0.80.0" / ".codex", corpus_counts.codex),
    "codex 0.125.0": (CORPORA / "codex" / "v0.125.0" / ".codex", corpus_counts.codex),
    "codex 0.169.0": (CORPORA / "codex" / "v0.169.0" / ".codex", corpus_counts.codex),
    "claude 2.0.65": (CORPORA / "claude" / "v2.0.65" / ".claude", corpus_counts.claude),
    "claude 2.1.330": (CORPORA / "claude" / "v2.1.330" / ".claude", corpus_counts.claude),
    "opencode 1.0.185": (
        CORPORA / "opencode" / "v1.0.185" / "opencode",
        lambda root: corpus_counts.opencode_files(root / "storage"),
    ),
    "opencode 1.18.33": (
        CORPORA / "opencode" / "v1.18.33" / "opencode",
        lambda root: corpus_counts.opencode_database(root / "opencode.db"),
    ),
}

WRITTEN = {
    # Plain talks, one filled until it compacted.
    "codex 0.80.0": Count(5, 0, 0, 0, 1),
    "codex 0.125.0": Count(4, 0, 0, 0, 1),
    # A thread reverted once and one reverted twice: three branches. Six forks, one of them of a fork, one archived, one of a
    # reverted thread. Of the compactions one is manual, one automatic.
    "codex 0.169.0": Count(17, 1, 6, 3, 2),
    # 37 sub-agents, most of them only warmed up. Three copies by --fork-session, one of them from its compaction on.
    "claude 2.0.65": Count(10, 37, 3, 0, 3),
    # A rewind in the file, and a summary "from here" beside what it summarised. One /branch, three --fork-session.
    "claude 2.1.330": Count(14, 1, 4, 2, 5),
    "opencode 1.0.185": Count(5, 1, 0, 0, 1),
    # Two pairs of forks. A pending revert, and messages that a revert deleted.
    "opencode 1.18.33": Count(18, 1, 4, 2, 6),
}


@needs_corpora
@pytest.mark.parametrize("name", STORES)
def test_every_store_holds_what_is_written_down(name: str, tmp_path: Path) -> None:
    store, count = STORES[name]
    counted = count(store)
    assert counted == WRITTEN[name]
    cards = cards_in(store, tmp_path / "index")
    assert [card.problem for card in cards] == [None] * len(cards)
    helpers = [card for card in cards if card.relation == "subagent"]
    sessions = [card for card in cards if card.relation != "subagent"]
    with_helpers = name.startswith(("codex", "opencode"))
    assert (
        Count(
            len(cards) if with_helpers else len(sessions),
            len(helpers),
            sum(card.relation in ("fork", "inferred") for card in sessions),
            sum(card.branches or 0 for card in cards),
            sum(card.compactions or 0 for card in cards),
        )
        == counted
    )


TOKENS: dict[str, Callable[[Path], int]] = {
    "codex 0.80.0": corpus_counts.codex_tokens,
    "codex 0.125.0": corpus_counts.codex_tokens,
    "codex 0.169.0": corpus_counts.codex_tokens,
    "claude 2.0.65": corpus_counts.claude_tokens,
    "claude 2.1.330": corpus_counts.claude_tokens,
    "opencode 1.0.185": lambda root: corpus_counts.opencode_files_tokens(root / "storage"),
    "opencode 1.18.33": lambda root: corpus_counts.opencode_database_tokens(root / "opencode.db"),
}


@needs_corpora
@pytest.mark.parametrize("name", TOKENS)
def test_what_was_spent_counts_once_however_often_it_was_copied(name: str, tmp_path: Path) -> None:
    """The own parts of all sessions of a store add up to what was spent in it."""
    store, _ = STORES[name]
    spent = 0
    for card in cards_in(store, tmp_path / "index"):
        session = agent_of(Path(card.path)).open(Path(card.path))
        spent += usage_total(session, range(session.inherited, len(session))).total
        session.close()
    assert spent == TOKENS[name](store) > 0


def is_no_session(path: Path) -> bool:
    """Of the files of other projects those that are none: pieces of a tree, settings, exports of other programs."""
    pieces = {"message", "part"} & set(path.parts)
    return (bool(pieces) and "opencode" in str(path)) or path.name in {
        ".claude.json",
        "agent-a0ad4f44468bdf20d.meta.json",
        "empty_session.jsonl",
        "opencode_session.jsonl",
        "fixture-opencode.jsonl",
        "demo-session.jsonl",
        "sample_session.json",
        # No table of sessions.
        "opencode.db",
    }


def attempt(path: Path) -> tuple[Session | None, str]:
    try:
        return agent_of(path).open(path), ""
    except NotASession as error:
        return None, str(error)


@needs_corpora
def test_files_of_other_projects_open_or_are_refused_in_one_line() -> None:
    """Of all that opens, every line is accounted for: a broken one is an entry that says so, or waits at the end."""
    opened = refused = broken = 0
    for path in sorted((CORPORA / "public").rglob("*")):
        if path.suffix not in (".jsonl", ".json", ".db"):
            continue
        session, reason = attempt(path)
        if session is None:
            refused += 1
            assert "\n" not in reason
            # Lines of two formats at once, and neither's description in front.
            assert is_no_session(path) or "codex/schema_drift" in path.as_posix(), path
            continue
        opened += 1
        # A part of the type "compaction" is also a line that pi could have written.
        assert not is_no_session(path) or b'"type":"compaction"' in path.read_bytes().replace(b" ", b""), path
        for index in range(len(session)):
            assert session.entry(index).raw is not None
        context_at(session)
        usage_total(session, range(len(session)))
        problems = check(session)
        if path.suffix == ".jsonl":
            wrong = corpus_counts.broken_lines(path)
            malformed = session.columns.kind.count(Kind.MALFORMED) + (session.scan.pending is not None)
            assert malformed == wrong, path
            assert sum(one.code in ("malformed", "torn-tail") for one in problems) == wrong, path
            broken += wrong
        session.close()
    assert opened + refused == 117
    assert (refused, broken) == (36, 11)
