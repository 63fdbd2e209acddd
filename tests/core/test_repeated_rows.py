"""Long sessions: the work grows with the rows, not with their square, and no row is read twice for one figure."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.conversation import ConversationMessage
from leafward.base.config import Config
from leafward.branches.healing.call_pairs import CallPairs
from leafward.branches.healing.healing import healing
from leafward.cli.output.outline_lines import measure
from leafward.compaction.exam.given_up import asked_turns, given_up
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.sizes import Sizes
from leafward.doctor.session_problems import check
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.spans import SpanMessage
from tests.codex_rollout import Rollout
from tests.codex_turns import Turns
from tests.core.linear_time import in_linear_time
from tests.core.scan_lines import HEAD, ONE, TWO, message, parents, scanned
from tests.foreign_sessions import texts
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from leafward.branches.healing.refused_blocks import HealedDifference
    from leafward.session.entries import Body


def test_an_entry_that_is_written_again_and_again() -> None:
    again, count = message("00000003", "00000002"), 20_000
    with in_linear_time():
        scan = scanned(HEAD + ONE + TWO + again * count + message("00000004", "00000003"))
    assert parents(scan)[-1] == count + 1


def test_one_call_with_thousands_of_results(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("go")
    file.reply("", "c1")
    file.result("c1")
    data = file.path.read_bytes()
    result = data.splitlines(keepends=True)[-1].replace(b'"read"', b'"write"')
    first = int(file.leaf or "", 16)
    with file.path.open("ab") as out:
        for number in range(first + 1, first + 10_000):
            line = result.replace(b'"id":"%08x"' % first, b'"id":"%08x"' % number)
            out.write(line.replace(b'"parentId":"%08x"' % (first - 1), b'"parentId":"%08x"' % (number - 1)))
    with closing(Session.open(file.path)) as session, in_linear_time():
        metrics = EntryMetrics(session)
        metrics.fill(session, range(len(session)))
        assert len(metrics) == len(session) == first + 9_999


def test_thousands_of_calls_in_one_reply(tmp_path: Path) -> None:
    """Each with its result; on a second branch all of them wait."""
    calls = [f"c{number}" for number in range(20_000)]
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.user("go")
    reply = file.reply("looking", *calls)
    for call in calls:
        file.result(call)
    with closing(Session.open(file.path)) as session:
        with in_linear_time():
            assert [problem.code for problem in check(session)] == ["long-line"]
        with in_linear_time():
            assert healing(session, Config()).changes == ()
    file.user("aside", parent=reply)
    with closing(Session.open(file.path)) as session, in_linear_time():
        assert [problem.code for problem in check(session)] == ["long-line", "dangling-call"]


def test_a_path_with_thousands_of_branches(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.user("go")
    for number in range(4_000):
        fork = file.reply("looking")
        file.user(f"aside {number}")
        file.user(f"on {number}", parent=fork)
    with closing(Session.open(file.path)) as session:
        with in_linear_time():
            assert check(session) == []
        with in_linear_time():
            assert healing(session, Config()).changes == ()


def test_a_path_of_compactions_that_all_keep_its_beginning(tmp_path: Path) -> None:
    file, count = PiFile(tmp_path / "s.jsonl"), 60_000
    kept = file.user("go")
    file.entry("compaction", summary="s", firstKeptEntryId=kept, tokensBefore=1)
    line = file.path.read_bytes().splitlines(keepends=True)[-1]
    first = int(file.leaf or "", 16)
    own, above = b'"id":"%08x"' % first, b'"parentId":"%08x"' % (first - 1)
    assert own in line
    assert above in line
    with file.path.open("ab") as out:
        for number in range(first + 1, first + count):
            new = line.replace(above, b'"parentId":"%08x"' % (number - 1))
            out.write(new.replace(own, b'"id":"%08x"' % number))
    with closing(Session.open(file.path)) as session:
        sizes = Sizes(session, EntryMetrics(session))
        with in_linear_time():
            outlines = [sizes.outline(session.leaf) for _ in range(1_200)]
        assert list(outlines[-1].entries) == [len(session) - 1, 0]


def test_thousands_of_rollbacks_of_codex(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    turns, before = Turns(rollout, 125), rollout.size
    turns.add("a <1")
    again = rollout.path.read_bytes()[before:]
    rollout.raw(again * 2_000)
    turns.add("b")
    with in_linear_time():
        session = rollout.opened()
    assert texts(session) == ["b?", "B."]


def test_thousands_of_calls_with_one_id() -> None:
    calls = [
        ConversationMessage(
            "assistant",
            ({"type": "toolCall", "id": "c1", "name": "run", "arguments": {"n": n}},),
            EntryIndex(n),
            0,
        )
        for n in range(5_000)
    ]
    changes: list[HealedDifference] = []
    with in_linear_time():
        made = CallPairs(calls, changes).paired()
    assert made[-2].content[0]["id"] == "c1_5000"


def test_thousands_of_requests_that_stand() -> None:
    messages: list[Body] = []
    for number in range(1_000):
        messages += [
            {"role": "user", "content": f"make the lanes of shop {number} wider than before"},
            {
                "role": "assistant",
                "content": [
                    {"type": "toolCall", "id": str(number), "name": "write", "arguments": {"path": "a"}}
                ],
            },
        ]
    messages.append({"role": "user", "content": "can you please revert that?"})
    with in_linear_time():
        spoken = [SpanMessage(EntryIndex(place), one) for place, one in enumerate(messages)]
        found = given_up(asked_turns(spoken), spoken)
    assert len(found[0].standing) == 999


@pytest.mark.parametrize("words", ["a\n", "great thanks for ok great ", "no. but. but:"])
def test_prompts_of_the_same_words_again_and_again(words: str) -> None:
    prompt = {"role": "user", "content": words * 4_000 + "?x"}
    with in_linear_time():
        assert Extractive().summarize(Span((SpanMessage(EntryIndex(0), prompt),)), 200).text


def test_a_tree_is_measured_with_one_look_at_each_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for number in range(3):
        file.user(f"prompt {number}")
        file.reply("yes")
    file.entry("custom", customType="x", data={})
    looked: list[int] = []
    real = Session.bodies

    def counting(self: Session, entries: Iterable[int]) -> Iterator[tuple[EntryIndex, Body | None]]:
        looked.extend(entries := list(entries))
        return real(self, entries)

    monkeypatch.setattr(Session, "bodies", counting)
    with closing(Session.open(file.path)) as session:
        measure(session)
        assert sorted(looked) == list(range(len(session)))
