"""Sessions that versions of Codex wrote whose lines come in other orders: each reply once, with what it cost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.files.working_set import touched
from leafward.session.entries import Kind, blocks_of
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import message_text
from tests.codex_rollout import CODEX, DATA, THREADS, Rollout, opened
from tests.forks import made, terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session

VERSIONS = ("0.29", "0.47", "0.58", "0.142")


@pytest.fixture(params=VERSIONS)
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    (path,) = (DATA / str(request.param)).rglob("rollout-*.jsonl")
    with closing(CODEX.open(path)) as found:
        yield found


def messages(session: Session, kind: Kind) -> list[tuple[int, dict[str, Any]]]:
    found = [index for index, one in enumerate(session.columns.kind) if one == kind]
    return [(index, (session.body(index) or {})["message"]) for index in found]


def test_each_reply_is_there_once(session: Session) -> None:
    texts = [
        block["text"]
        for _, message in messages(session, Kind.ASSISTANT)
        for block in blocks_of(message["content"])
        if block["type"] == "text"
    ]
    assert len(texts) == len(set(texts))
    assert texts[0] == "Understood. (1)"
    assert "Both at once." in texts


NEWEST = DATA / "0.171"
"""A thread of 0.171: a search of the web, images, calls that are refused, and a compaction by the provider."""


@pytest.fixture
def newest() -> Iterator[Session]:
    (path,) = NEWEST.rglob("rollout-*.jsonl")
    with closing(CODEX.open(path)) as found:
        yield found


def test_a_call_that_codex_refused_failed_and_changed_no_file(newest: Session) -> None:
    failed = {one["toolCallId"] for _, one in messages(newest, Kind.TOOL_RESULT) if one["isError"]}
    ran = {one["toolCallId"] for _, one in messages(newest, Kind.TOOL_RESULT)} - failed
    assert failed == {"call_a3", "call_b1", *(f"call_h{number}" for number in range(1, 15))}
    assert ran == {"call_a1", "call_a2", "call_b2", "call_c1"}
    files = touched(newest, newest.tree.path(newest.leaf))
    assert {path for path, use in files.items() if use.modified} == {"pears.txt"}


def test_behind_a_compaction_by_the_provider_the_prompts_and_the_encrypted_summary_are_sent(
    newest: Session,
) -> None:
    """What the real 0.171 sent with the last prompt."""
    [at] = [index for index, kind in enumerate(newest.columns.kind) if kind == Kind.COMPACTION]
    last = newest.columns.kind.rfind(Kind.USER)
    found = context_at(newest, last).messages
    said = [headline(newest, one.entry).text.partition(" ")[0] for one in found if one.kind == Kind.USER]
    assert said == ["First", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"]
    assert [one.entry for one in found if one.role == "compactionSummary"] == [at]
    assert [one.kind for one in found][-2:] == [Kind.COMPACTION, Kind.USER]
    assert not any(one.kind in (Kind.ASSISTANT, Kind.TOOL_RESULT) for one in found)
    assert newest.columns.kind.count(Kind.UNKNOWN) == 0


def test_each_response_is_counted_once(session: Session) -> None:
    """The model said for its n-th response that it read n thousand tokens, and once that the window is full."""
    counted = [
        message["usage"]["input"] for _, message in messages(session, Kind.ASSISTANT) if "usage" in message
    ]
    alone = session.columns.kind.count(Kind.USAGE)
    if counted:
        sizes = [size % 100_000 for size in counted]
        assert sizes == sorted(set(sizes)), "a response is counted twice"
        # The response that compacts is a reply in some versions, and leaves nothing but its count in others.
        missing = set(range(1_000, sizes[-1] + 1, 1_000)) - set(sizes)
        assert len(missing) == alone
    else:
        assert "29" in str(session.path), "the oldest write no counts"


def test_commands_say_what_they_ran_and_how_they_ended(session: Session) -> None:
    results = {
        headline(session, index).text: message for index, message in messages(session, Kind.TOOL_RESULT)
    }
    assert not results["cat apples.txt"]["isError"]
    assert results["ls nowhere"]["isError"]
    assert results["ls nowhere"].get("exitCode") == 2
    files = touched(session, session.tree.path(session.leaf))
    assert any(path.endswith("apples.txt") and use.read for path, use in files.items())
    assert any(path.endswith("list.md") and use.modified for path, use in files.items())


def test_an_image_is_not_kept_by_a_compaction_without_history() -> None:
    """Such versions keep the texts of what the user said, nothing else."""
    (path,) = (DATA / "0.47").rglob("rollout-*.jsonl")
    with closing(CODEX.open(path)) as session:
        compaction = session.columns.kind.index(Kind.COMPACTION)
        seen = [message_body(session, one) for one in context_at(session, compaction).messages]
        assert not any(
            block["type"] == "image"
            for message in seen
            if "content" in message
            for block in blocks_of(message["content"])
        )


def count(total: int, last: int) -> dict[str, Any]:
    usage = {"input_tokens": last, "output_tokens": 1, "total_tokens": total}
    return {"info": {"total_token_usage": usage, "last_token_usage": {**usage, "total_tokens": last + 1}}}


def test_what_an_event_repeats_behind_the_count_is_no_second_reply(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.prompt("Compare")
    made.said("They differ.", "assistant")
    made.event("token_count", **count(11, 10))
    made.event("agent_message", message="They differ.")
    made.prompt("Thank you")
    session = opened(made.path)
    ((_, message),) = messages(session, Kind.ASSISTANT)
    assert message["usage"]["input"] == 10


@pytest.mark.parametrize(
    "given", [{"turn_id": "t1"}, {"internal_chat_message_metadata_passthrough": {"turn_id": "t1"}}]
)
def test_an_entry_names_the_line_and_the_turn_that_it_comes_from(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    made = Rollout(tmp_path)
    content = [{"type": "input_text", "text": "Compare"}]
    made.item("message", role="user", content=content, **given)
    made.said("They differ.", "assistant")
    session = opened(made.path)
    asked, replied = ((session.body(at) or {})["source"] for at in (1, 2))
    assert asked == {"type": "response_item", "subtype": "message", "turn": "t1"}
    assert "turn" not in replied


def test_what_stands_in_an_event_alone_is_said_too(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.prompt("Compare")
    made.event("agent_reasoning", text="Both have a stem.")
    made.event("agent_message", message="They differ.")
    ((_, message),) = messages(opened(made.path), Kind.ASSISTANT)
    assert message["content"] == [
        {"type": "thinking", "thinking": "Both have a stem."},
        {"type": "text", "text": "They differ."},
    ]


def test_a_count_behind_the_results_is_the_count_of_the_reply(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.prompt("Compare")
    made.item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="one")
    made.item("function_call_output", call_id="one", output="a")
    made.event("token_count", **count(11, 10))
    made.reply("They differ.")
    made.event("token_count", **count(31, 19))
    session = opened(made.path)
    counted = [message["usage"]["input"] for _, message in messages(session, Kind.ASSISTANT)]
    assert counted == [10, 19]
    assert Kind.USAGE not in session.columns.kind


def test_a_count_of_what_left_no_reply_is_usage(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.prompt("Compare")
    made.reply("They differ.")
    made.event("token_count", **count(11, 10))
    made.event("token_count", **count(61, 49))
    made.line("compacted", message="Fruit.")
    session = opened(made.path)
    kinds = [kind for kind in session.columns.kind if kind in (Kind.ASSISTANT, Kind.USAGE, Kind.COMPACTION)]
    assert kinds == [Kind.ASSISTANT, Kind.USAGE, Kind.COMPACTION]


def test_a_count_that_nothing_follows_is_usage_until_its_reply_comes(tmp_path: Path) -> None:
    made = Rollout(tmp_path)
    made.prompt("Compare")
    made.reply("They differ.")
    made.event("token_count", **count(11, 10))
    made.event("token_count", **count(61, 49))
    with closing(CODEX.open(made.path)) as session:
        assert [kind for kind in session.columns.kind if kind in (Kind.ASSISTANT, Kind.USAGE)] == [
            Kind.ASSISTANT,
            Kind.USAGE,
        ]
        spent = usage_total(session, session.tree.path(session.leaf))
        assert spent.total == 11 + 50
        made.said("Only in taste.", "assistant")
        session.refresh()
        counted = [message["usage"]["input"] for _, message in messages(session, Kind.ASSISTANT)]
        assert counted == [10, 49]
        assert Kind.USAGE not in session.columns.kind
    with closing(CODEX.open(made.path)) as again:
        assert bytes(again.columns.kind) == bytes(session.columns.kind)


FOUND = "<user_action>\n  <context>User initiated a review task.</context>\n  <results>\n  All is well.\n  </results>\n  </user_action>\n"


def reviewed(folder: Path, version: str) -> Rollout:
    """A thread in which the changes were reviewed: as 0.58 writes it, or 0.142, or 0.171."""
    made = Rollout(folder, cli_version=version)
    made.prompt("Compare")
    made.reply("They differ.")
    made.event("token_count", **count(11, 10))
    if version == "0.171.0":
        ids = {"thread_id": THREADS[1], "turn_id": "turn"}
        made.event("item_completed", **ids, item={"type": "EnteredReviewMode", "id": "1"})
        text = [{"type": "text", "text": "Review the changes"}]
        made.event("item_completed", **ids, item={"type": "UserMessage", "id": "2", "content": text})
        made.said(FOUND)
        made.event("item_completed", **ids, item={"type": "ExitedReviewMode", "id": "3"})
    else:
        made.event("entered_review_mode", target={"type": "uncommittedChanges"})
        if version == "0.142.0":
            made.event("task_started", turn_id="turn")
        made.event("user_message", message="Review the changes", images=[])
        made.event("user_message", message="Review the changes", images=[])
        made.event("token_count", **count(91, 80))
        made.said(FOUND)
        made.event("exited_review_mode")
    made.said("All is well.", "assistant")
    made.prompt("Thank you")
    made.line("turn_context", model="gpt-5", effort="high")
    made.event("token_count", **count(11, 10))
    made.reply("Gladly.")
    made.event("token_count", **count(31, 19))
    return made


@pytest.mark.parametrize("version", ["0.58.0", "0.142.0", "0.171.0"])
def test_a_review_has_a_thread_of_its_own_whose_prompt_and_counts_are_not_of_this_one(
    tmp_path: Path, version: str
) -> None:
    session = opened(reviewed(tmp_path, version).path)
    sent = [one for one in context_at(session).messages if one.sent]
    assert [message_text(message_body(session, one)).strip() for one in sent] == [
        "Compare",
        "They differ.",
        FOUND.strip(),
        "All is well.",
        "Thank you",
        "Gladly.",
    ]
    prompts = [message["content"][0]["text"] for _, message in messages(session, Kind.USER)]
    assert prompts == ["Compare", "Review the changes", "Thank you"]
    counted = [message.get("usage", {}).get("input") for _, message in messages(session, Kind.ASSISTANT)]
    assert counted == [10, None, 19]
    assert usage_total(session, session.tree.path(session.leaf)).total == 31


@pytest.mark.parametrize("version", ["0.58.0", "0.142.0", "0.171.0"])
def test_a_fork_before_a_review_does_not_begin_it(tmp_path: Path, version: str) -> None:
    session = opened(reviewed(tmp_path / ".codex", version).path)
    review = [index for index, _ in messages(session, Kind.USER)][1]
    fork = made(session, review, "codex", terms(tmp_path), tmp_path)
    assert fork.prompt == "Review the changes"
    assert b"EnteredReviewMode" not in (written := fork.draft.path.read_bytes())
    assert b"entered_review_mode" not in written
