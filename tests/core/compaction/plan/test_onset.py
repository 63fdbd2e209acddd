"""When an agent compacts by itself: the rules of all four, and what a session tells of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.model_window import context_window
from leafward.agents.registry import agent_named, agent_names, auto_compaction_of
from leafward.base.config import Config
from leafward.base.model_windows import Window, WindowSource, longest_answer
from leafward.compaction.plan.onset import Onset, onset
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex, Kind
from tests.acting import reading
from tests.claude_transcript import Transcript
from tests.opencode_store import Conversation, Database, opened, said
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def at_leaf(session: Session, config: Config | None = None) -> Onset | None:
    """The onset of the context at the leaf."""
    config = config or Config()
    context = context_at(session)
    return onset(context, context_window(session, context, config), config)


def known(tokens: int, source: WindowSource = WindowSource.KNOWN) -> Window:
    return Window(tokens, source)


@pytest.mark.parametrize(
    ("agent", "window", "model", "threshold"),
    [
        ("pi", known(200_000), "claude-opus-4-6", 183_616),
        # The longest answer, 32,000 at most.
        ("opencode", known(200_000), "claude-sonnet-4-5", 168_000),
        ("opencode", known(128_000), "gpt-5-chat", 111_616),
        ("opencode", known(64_000), "a-model-nobody-knows", 32_000),
        # 90 % of 272,000, of which a rollout records 95 %.
        ("codex", known(258_400, WindowSource.RECORDED), "gpt-5.5", 244_800),
        ("codex", known(272_000), "gpt-5.5", 244_800),
        ("claude", known(200_000), "claude-opus-4-6", 167_000),
    ],
)
def test_each_agent_has_its_own_rule(agent: str, window: Window, model: str, threshold: int) -> None:
    assert auto_compaction_of(agent).threshold(window, model, 16_384) == threshold


def test_of_a_rule_its_source_is_told_and_what_changes_it() -> None:
    for name in agent_names():
        rule = auto_compaction_of(name)
        assert agent_named(name).title in rule.source
        assert rule.rule
        assert rule.changed_by


def test_the_longest_answer_of_a_model() -> None:
    assert longest_answer("anthropic/claude-sonnet-4-5") == 64_000
    assert longest_answer("nobody/knows-it") is None
    assert longest_answer(None) is None


def compacting(home: Path, *sizes: tuple[str, int], model: str = "claude-sonnet-4-5") -> Session:
    """A session of Claude Code with compactions, each by its trigger and its size before."""
    file = Transcript(home)
    file.turn("Prune the pears.", "Pruned.")
    for trigger, size in sizes:
        file.boundary("A summary.", trigger=trigger, preTokens=size)
        file.turn("And now?", "Done.")
    if model != "claude-sonnet-4-5":
        said = {"role": "assistant", "model": model, "content": [{"type": "text", "text": "Done."}]}
        file.row("assistant", message=said)
    return file.opened()


def test_what_the_agent_did_here_counts_where_it_is_less_than_the_rule(tmp_path: Path) -> None:
    assert at_leaf(compacting(tmp_path / "none")) == Onset(167_000, about=True, inclusive=True)
    old = compacting(tmp_path / "old", ("auto", 155_066), ("auto", 162_548))
    assert at_leaf(old) == Onset(155_066, about=True, inclusive=True)
    # It comes once the threshold is passed: how far beyond tells nothing.
    late = compacting(tmp_path / "late", ("auto", 191_428))
    assert at_leaf(late) == Onset(167_000, about=True, inclusive=True)


def test_a_compaction_that_somebody_asked_for_tells_nothing(tmp_path: Path) -> None:
    asked = compacting(tmp_path, ("manual", 40_000))
    assert at_leaf(asked) == Onset(167_000, about=True, inclusive=True)


def test_nor_does_one_for_another_model(tmp_path: Path) -> None:
    other = compacting(tmp_path, ("auto", 155_066), model="claude-opus-4-5")
    assert at_leaf(other) == Onset(167_000, about=True, inclusive=True)


def test_opencode_says_which_compactions_it_began_itself(tmp_path: Path) -> None:
    found = []
    for auto in (False, True):
        talk = Conversation()
        talk.turn("graft")
        talk.reply(said("more."), tokens={"input": 700, "output": 20, "cache": {"read": 0, "write": 0}})
        talk.compaction("A summary.", auto=auto)
        talk.turn("water")
        talk.turn("dig")
        session = opened(Database(tmp_path / f"{auto}.db").write(talk))
        rule = auto_compaction_of("opencode")
        [at] = [n for n in range(len(session)) if session.columns.kind[n] == Kind.COMPACTION]
        found.append(rule.unasked(session, EntryIndex(at)))
    assert found == [False, True]


def test_where_the_window_is_not_known_nothing_is_said(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "session.jsonl")
    file.user("Prune the pears.")
    file.reply("Pruned.")
    with reading(file.path) as session:
        assert at_leaf(session) is None
        found = at_leaf(session, Config(windows={"scripted-1": 100_000}, reserve=10_000))
    assert found == Onset(90_000, about=False, inclusive=False)
    assert (found.reached(90_000), found.reached(90_001)) == (False, True)
    assert Onset(90_000, about=True, inclusive=True).reached(90_000)
