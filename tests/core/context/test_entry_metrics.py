"""Numbers of rows: columns filled in any order, sums, outcomes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.context import entry_metrics as tally
from leafward.context.call_status import CallOutcome, outcome
from leafward.context.entry_metrics import (
    ABORTED,
    FAILED,
    FILES,
    HAS_TEXT,
    IMAGE,
    KNOWN,
    THINKING,
    EntryMetrics,
)
from leafward.context.model_context import context_at
from leafward.files.working_set import changed_files
from leafward.session.entries import Kind, tool_calls
from leafward.session.messages import messages_of
from leafward.session.tokens import message_tokens
from tests.acting import JUNK, Acting, call, reading, wild

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

COLUMNS = ("tokens", "calls", "edits", "added", "removed", "flags")


def columns(tallies: EntryMetrics) -> dict[str, list[int]]:
    return {name: list(getattr(tallies, name)) for name in COLUMNS}


def filled(session: Session) -> EntryMetrics:
    tallies = EntryMetrics(session)
    assert tallies.fill(session, range(len(session))) == []
    return tallies


def slow_tokens_and_calls(session: Session) -> list[tuple[int, int]]:
    found = []
    for index in range(len(session)):
        body = session.body(index) or {}
        messages = messages_of(body, Kind(session.columns.kind[index]))
        calls = [
            one for message in messages if message.get("role") == "assistant" for one in tool_calls(message)
        ]
        found.append((sum(map(message_tokens, messages)), len(calls)))
    return found


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_filling_gives_what_slow_counting_gives(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with reading(wild(tmp_path / "wild.jsonl", seed).path) as session:
        whole = filled(session)
        assert list(zip(whole.tokens, whole.calls, strict=True)) == slow_tokens_and_calls(session)
        changes = changed_files(session, range(len(session)))
        assert sum(whole.edits) == sum(change.edits for change in changes)
        assert sum(whole.added) == sum(change.added for change in changes)
        assert sum(whole.removed) == sum(change.removed for change in changes)
        parts = EntryMetrics(session)
        order = rng.sample(range(len(session)), len(session))
        while order:
            cut = rng.randrange(1, 9)
            parts.fill(session, order[:cut])
            del order[:cut]
        assert columns(parts) == columns(whole)


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_columns(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_BLOCK", 16)
    rng = random.Random(seed)
    with reading(wild(tmp_path / "wild.jsonl", seed, 200).path) as session:
        tallies = EntryMetrics(session)
        for _ in range(60):
            tallies.fill(session, rng.sample(range(len(session)), 10))
            spans = [range(start, start + rng.randrange(90)) for start in rng.sample(range(150), 3)]
            entries = [index for span in spans for index in span]
            there = [index for index in entries if index < len(session)]
            total = tallies.sum(spans)
            assert (total.tokens, total.calls, total.edits, total.added, total.removed) == tuple(
                sum(getattr(tallies, name)[index] for index in there) for name in COLUMNS[:5]
            )
            flags = [tallies.flags[index] for index in there]
            assert total.failed == sum(1 for flag in flags if flag & FAILED)
            assert total.aborted == sum(1 for flag in flags if flag & ABORTED)
            assert (total.entries, total.known) == (len(entries), sum(1 for flag in flags if flag))
            assert total.complete == (total.known == total.entries)


def test_what_was_forgotten_is_counted_anew_and_once(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for number in range(3):
        file.user(f"Turn {number}")
        made = [call("write", f"w{number}{one}", path=f"{one}.py", content="a = 1\n" * 3) for one in "ab"]
        file.said("Both.", *made)
        for one in "ab":
            file.answered(f"w{number}{one}", "write")
    with reading(file.path) as session:
        whole, again = filled(session), filled(session)
        shares = dict(again.shares)
        everything = [range(len(session))]
        for start in (session.columns.kind.rfind(Kind.USER), 0):
            again.forget(start)
            assert not any(again.flags[start:])
            assert again.sum(everything).known == start
            again.fill(session, range(len(session)))
            assert columns(again) == columns(whole)
            assert again.shares == shares
            assert again.sum(everything) == whole.sum(everything)


def test_nothing_is_known_at_first_and_no_range_is_complete_by_itself(file: Acting) -> None:
    file.user("a question")
    with reading(file.path) as session:
        tallies = EntryMetrics(session)
        assert not tallies.sum([range(1)]).complete
        assert tallies.sum([]).complete
        tallies.fill(session, [0])
        assert tallies.sum([range(1)]).complete
        assert not tallies.sum([range(2)]).complete, "an entry that has no column yet"


class TestEdits:
    def asked(self, file: Acting) -> None:
        file.user("go")
        file.said(
            call("edit", "1", path="a", oldText="x", newText="y"),
            call("write", "2", path="b", content="1\n2\n"),
            call("read", "3", path="c"),
        )

    def numbers(self, tallies: EntryMetrics) -> tuple[int, int, int]:
        return tallies.edits[1], tallies.added[1], tallies.removed[1]

    def test_stand_with_the_call(self, file: Acting) -> None:
        self.asked(file)
        with reading(file.path) as session:
            assert self.numbers(filled(session)) == (2, 3, 1)

    def test_are_corrected_by_results_that_come_later(self, file: Acting) -> None:
        self.asked(file)
        with reading(file.path) as session:
            tallies = filled(session)
            file.answered("1", "edit", diff="-1 x\n+1 y\n+2 z")
            file.answered("2", "write", failed=True)
            file.answered("3", "read")
            assert session.refresh() is not None
            tallies.fill(session, range(len(session)))
            assert self.numbers(tallies) == (1, 2, 1)
            assert columns(tallies) == columns(filled(session))

    def test_of_a_reply_that_broke_off_are_none(self, file: Acting) -> None:
        file.user("go")
        file.said(call("edit", "1", path="a", oldText="x", newText="y"), stop="error")
        with reading(file.path) as session:
            tallies = filled(session)
            assert (self.numbers(tallies), tallies.calls[1]) == ((0, 0, 0), 1)
            assert tallies.flags[1] == KNOWN | FAILED


def test_flags_say_what_is_in_an_entry(file: Acting) -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    file.user("go")
    file.entry("message", message={"role": "user", "content": [picture]})
    file.said({"type": "thinking", "thinking": "hm"}, " \n", call("read", "1", path="a"))
    file.answered("1", "read", failed=True)
    file.said("done", stop="aborted")
    file.entry("message", message={"role": "bashExecution", "command": "x", "output": "", "exitCode": 2})
    file.entry("message", message={"role": "bashExecution", "command": "x", "output": "", "cancelled": True})
    file.entry("label", targetId=file.leaf, label="here")
    with reading(file.path) as session:
        assert [flag ^ KNOWN for flag in filled(session).flags] == [
            0,
            IMAGE,
            THINKING | FILES,
            FAILED | FILES,
            HAS_TEXT | ABORTED,
            FAILED,
            ABORTED,
            0,
        ]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_any_field_counts_as_nothing_or_little(file: Acting, junk: Any) -> None:
    file.junk(junk)
    with reading(file.path) as session:
        tallies = filled(session)
        assert tallies.sum([range(len(session))]).complete
        assert sum(tallies.edits) == 0
        assert changed_files(session, range(len(session))) == []
        for index in range(len(session)):
            assert outcome(session.body(index) or {}).lines < 5


def test_filling_stops_when_told_and_decodes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reading(wild(tmp_path / "wild.jsonl", 3, 600).path) as session:
        tallies = EntryMetrics(session)
        tallies.fill(session, range(600), stop=lambda: True)
        assert tallies.sum([range(600)]).known == 0
        looks = iter([False, True])
        tallies.fill(session, range(600), stop=lambda: next(looks))
        assert 0 < tallies.sum([range(600)]).known < 600
        tallies.fill(session, range(600))
        monkeypatch.setattr(
            session, "bodies", lambda entries: pytest.fail("decoded again") if list(entries) else iter(())
        )
        assert tallies.fill(session, range(600)) == []


def test_broken_lines_are_handed_back(file: Acting) -> None:
    first = file.user("go")
    file.raw(
        f'{{"type":"message","id":"0000000b","parentId":"{first}","timestamp":"2026-11-21T21:00:00.000Z",'
        '"message":{"role":"user","content":[{"type":"text"}}'
    )
    file.user("on")
    with reading(file.path) as session:
        tallies = EntryMetrics(session)
        assert tallies.fill(session, range(len(session))) == [1]
        assert tallies.sum([range(len(session))]).complete
        session.discredit([1])
        assert tallies.fill(session, range(len(session))) == []


@pytest.mark.parametrize("name", ["branched", "branched-compacted", "before-compaction", "large-session"])
def test_columns_sum_to_the_ledger_of_real_contexts(corpora: Path, name: str) -> None:
    with reading(corpora / "pi" / f"{name}.jsonl") as session:
        tallies = filled(session)
        for leaf in session.tree.leaves():
            context = context_at(session, leaf)
            entries = set(context.messages.entry)
            total = tallies.sum([range(entry, entry + 1) for entry in entries])
            ledger = context.ledger
            unsent = sum(message.tokens for message in context.messages if not message.sent)
            assert total.tokens == ledger.summary + ledger.kept + ledger.after + unsent
        total = tallies.sum([range(len(session))])
        assert 0 < total.edits < total.calls < len(session)
        assert total.added > total.removed > 0


def result(tool: str, text: str, *, failed: bool = False, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "message": {"role": "toolResult", "toolName": tool, "content": content, "isError": failed, **fields}
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (result("bash", "one\ntwo\n"), CallOutcome(True, 0, 2)),
        (result("bash", "(no output)"), CallOutcome(True, 0, 0)),
        (result("bash", "a\n\n\nCommand exited with code 2", failed=True), CallOutcome(False, 2, 1)),
        (
            result("bash", "(no output)\n\nCommand exited with code 127", failed=True),
            CallOutcome(False, 127, 0),
        ),
        (result("bash", "Command aborted", failed=True), CallOutcome(False, None, 0, "aborted")),
        (
            result("bash", "a\n\nCommand timed out after 5 seconds", failed=True),
            CallOutcome(False, None, 1, "timed out"),
        ),
        (result("bash", "Tool bash not found", failed=True), CallOutcome(False, None, 1)),
        (result("bash", "it said: Command exited with code 3"), CallOutcome(True, 0, 1)),
        (result("bash", "Command exited with code 3"), CallOutcome(True, 0, 1)),
        (result("bash", "b", details={"truncation": {"totalLines": 900}}), CallOutcome(True, 0, 900)),
        (result("read", "a\nb"), CallOutcome(True, None, 2)),
        (result("read", "ENOENT", failed=True), CallOutcome(False, None, 1)),
        ({"message": {"role": "bashExecution", "output": "a\n", "exitCode": 1}}, CallOutcome(False, 1, 1)),
        (
            {"message": {"role": "bashExecution", "output": "a\n", "cancelled": True}},
            CallOutcome(False, None, 1, "aborted"),
        ),
        ({"message": None}, CallOutcome(True, None, 0)),
    ],
)
def test_outcomes(body: dict[str, Any], expected: CallOutcome) -> None:
    assert outcome(body) == expected


@pytest.mark.parametrize(
    ("agent", "tool", "text", "lines"),
    [
        ("codex", "exec_command", "Chunk ID: 1\nWall time: 0.0 seconds\nOutput:\n", 0),
        ("codex", "exec_command", "Exit code: 0\nWall time: 1 seconds\nOutput:\none\ntwo\n", 2),
        ("codex", "exec_command", "one\ntwo\n", 2),
        (
            "opencode",
            "read",
            "<path>/a</path>\n<content>\n1: a\n2: b\n\n(End of file - total 2 lines)\n</content>",
            2,
        ),
        ("opencode", "webfetch", "<content>\n1: a\n</content>", 3),
    ],
)
def test_lines_are_those_of_the_file_or_the_command(agent: str, tool: str, text: str, lines: int) -> None:
    """An agent's own words around an output are no part of it."""
    content = [{"type": "text", "text": text}]
    body = {"message": {"role": "toolResult", "toolName": tool, "content": content}}
    assert outcome(body, agent_named(agent).tool_table).lines == lines


@pytest.mark.parametrize("backwards", [False, True])
def test_each_of_several_calls_has_its_share_of_the_reply(tmp_path: Path, backwards: bool) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    reply = file.said(
        call("bash", "one", command="ls"),
        call("bash", "two", command="grep -rn " + "orchard " * 40),
        call("bash", "three", command="pwd"),
    )
    results = [file.answered(name, "bash") for name in ("two", "one", "three")]
    file.said(call("bash", "alone", command="ls"))
    lone = file.answered("alone", "bash")
    with reading(file.path) as session:
        tallies = EntryMetrics(session)
        order = list(range(len(session)))
        for index in reversed(order) if backwards else order:
            tallies.fill(session, [index])
        at = session.columns.index
        shares = [tallies.shares[at(one)] for one in results]
        assert sum(shares) == tallies.tokens[at(reply)]
        assert shares[0] > 5 * shares[1]
        assert abs(shares[1] - shares[2]) <= 1
        assert at(lone) not in tallies.shares, "a lone call has the whole reply"


def test_rows_between_the_results_take_no_share_away(tmp_path: Path) -> None:
    """Claude Code writes a row of a hook's progress in front of each result."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    reply = file.said(call("bash", "one", command="ls -l"), call("bash", "two", command="pwd"))
    results = []
    for name in ("one", "two"):
        file.entry("custom", customType="claude.progress")
        results.append(file.answered(name, "bash"))
    with reading(file.path) as session:
        tallies = EntryMetrics(session)
        tallies.fill(session, range(len(session)))
        at = session.columns.index
        shares = [tallies.shares[at(one)] for one in results]
        assert min(shares) > 0
        assert sum(shares) == tallies.tokens[at(reply)]
