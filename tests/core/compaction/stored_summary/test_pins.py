"""Pins are sentences: of a bare token the one that says it, from wherever it is pinned."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.compaction.draft.gate import pin_text
from leafward.compaction.stored_summary.pins import as_sentences, is_bare
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from leafward.summaries.facts.values import Fact, FactKind, Voice
from tests.acting import Acting, call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Begin with the queue. The worker takes jobs from `src/queue.py` and nowhere else.")
    file.said("", call("bash", "b", command="cat src/other.py\nmake lint FLAGS=--strict"))
    file.answered("b", "bash", "ready\nlistening on port 8642 of the host\n")
    file.said("I raised `retryLimit`. The worker tries each job with retryLimit set to five now.")
    file.user("队列永远不能丢失任务")
    with closing(Session.open(file.path)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("src/queue.py", "The worker takes jobs from `src/queue.py` and nowhere else."),
        ("retryLimit", "The worker tries each job with retryLimit set to five now."),
        ("8642", "The tool `bash` printed: listening on port 8642 of the host"),
        ("--strict", "The tool `bash` was called with: make lint FLAGS=--strict"),
        ("retryLim", "retryLim"),
        ("never push to main", "never push to main"),
        ("队列永远不能丢失任务", "队列永远不能丢失任务"),
    ],
)
def test_a_token_is_pinned_as_the_sentence_that_says_it(session: Session, token: str, sentence: str) -> None:
    assert as_sentences(session, session.leaf, [token]) == (sentence,)


def test_what_is_only_said_later_says_nothing_at_a_place(session: Session) -> None:
    assert as_sentences(session, 1, ["retryLimit"]) == ("retryLimit",)


def test_a_sentence_that_is_too_long_for_a_pin_is_cut_around_the_token(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("x " * 170 + "is what the rowCount stands for here")
    with closing(Session.open(file.path)) as long:
        (pin,) = as_sentences(long, long.leaf, ["rowCount"])
    assert "rowCount stands for" in pin
    assert len(pin) < 300


@pytest.mark.parametrize("pin", ["src/a.py", "34 tests", "--strict", "parse_table()", "ENOENT"])
def test_what_is_no_sentence(pin: str) -> None:
    assert is_bare(pin)
    assert not is_bare(f"keep {pin} as it is")


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ("exit 2", "The command `make lint` ended with exit 2."),
        ("failed", "The command `make lint` failed."),
        ("declined", "The user declined the command `make lint`."),
        ("", "The command `make lint` came up."),
    ],
)
def test_a_command_is_pinned_with_what_became_of_it(outcome: str, sentence: str) -> None:
    fact = Fact(FactKind.COMMAND, "make lint", "make lint", EntryIndex(3), Voice.CALL, outcome=outcome)
    assert pin_text(fact) == sentence


def test_a_bare_pin_over_two_lines_is_one_token(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.said("", call("bash", "b", command="wait 12\nms; sleep 30 ms"))
    with closing(Session.open(file.path)) as session:
        assert as_sentences(session, session.leaf, ["12\nms"]) == ("12\nms",)
        assert as_sentences(session, session.leaf, ["30\nms"]) == (
            "The tool `bash` was called with: ms; sleep 30 ms",
        )
