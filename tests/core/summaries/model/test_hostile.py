"""Answers and material that are no trouble to a person, and were one to the summariser that asks a model."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.redaction.redaction import Redactor
from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.model.addresses import open_remark
from leafward.summaries.summarizers.model.answer import fitted
from leafward.summaries.summarizers.model.requests import outgoing
from leafward.summaries.summarizers.model.settings import ModelSettings
from leafward.summaries.summarizers.model.summarizer import Model
from leafward.summaries.summarizers.model.transcript import pieces_of
from leafward.summaries.summarizers.summary import Span, tokens_of
from leafward.summaries.survival.spans import SpanMessage
from tests.core.linear_time import in_linear_time
from tests.model_endpoint import WHOLE, Asked, Endpoint, Reply
from tests.model_requests import MARKS, STREAMED, refusal, settings, summary


def said(*texts: str) -> tuple[SpanMessage, ...]:
    return tuple(
        SpanMessage(EntryIndex(at), {"role": "user", "content": text}) for at, text in enumerate(texts)
    )


class TestAnswers:
    pytestmark = MARKS

    @pytest.mark.parametrize(
        "text",
        ["<think>What was it?</think>\n", "<think>What was it?", "<<<BEGIN SUMMARY\n<<<END SUMMARY\n"],
    )
    def test_one_that_holds_no_summary_is_an_empty_one(self, endpoint: Endpoint, text: str) -> None:
        endpoint.play(Reply(text))
        failed = refusal(endpoint)
        assert str(failed) == "openai/x sent an empty answer (1,500 tokens spent, price not known)"
        assert failed.usage is not None
        assert failed.usage.output == 300

    @pytest.mark.parametrize("name", STREAMED)
    def test_one_that_does_not_end_is_given_up(self, endpoint: Endpoint, name: str) -> None:
        # No two pieces are equal: of equal ones litellm itself gives up.
        endpoint.play(Reply("".join(f"word {number:034}" for number in range(1_200)), end="stall"))
        failed = refusal(endpoint, name, window=2_000)
        assert "far beyond its limit" in str(failed)
        assert len(endpoint.asked) == 1
        assert endpoint.asked[0].gone.wait(60)

    def test_a_usage_below_nothing_is_nothing(self, endpoint: Endpoint) -> None:
        endpoint.play(Reply(usage=(-5, -7)))
        usage = summary(endpoint).usage
        assert usage is not None
        assert (usage.input, usage.output, usage.total) == (0, 0, 0)

    def test_two_summaries_that_are_merged_in_rounds_at_once_keep_apart(self, endpoint: Endpoint) -> None:
        """Their rounds had the same titles, and the progress of one was taken away from the other."""

        def answer(asked: Asked) -> Reply:
            return Reply(WHOLE if "parts of it" in asked.prompt else "## Goal\n" + "word " * 250)

        endpoint.play(answer)
        messages = said(*("words and more words " * 150 for _ in range(60)))
        two = Span(messages, prefix=30)
        made = Model(settings(endpoint, window=6_000, parallel=8)).summarize(two, 1_000)
        assert made.text.count("Port the parser to the new lexer.") == 2
        titles = [one.title for one in outgoing(two, 1_000, settings(endpoint, window=6_000)).requests]
        assert len(set(titles) & {title for title in titles if " of " in title}) > 2


@pytest.mark.parametrize("text", ["abc\n" * 50_000, "# a\n" * 50_000, "\n" * 200_000])
def test_an_answer_of_very_many_lines_is_cut_in_linear_time(text: str) -> None:
    with in_linear_time():
        kept, _ = fitted(text, 100, ())
    assert 90 <= tokens_of(kept) <= 100


def test_lines_are_cut_from_the_least_important_section_on() -> None:
    text = "## Goal\nPort it.\n\n## Progress\n### Done\n- one\n- two, and a pin\n\n## Next Steps\n1. go on"
    assert fitted(text, 1_000, ()) == (text, 0)
    kept, gone = fitted(text, tokens_of(text) - 1, ())
    assert (kept, gone) == (text.replace("- two, and a pin\n", ""), 1)
    assert fitted(text, 1, ("a pin",)) == ("- two, and a pin", 3)


def test_a_dense_part_of_a_long_message_is_cut_into_pieces_that_fit() -> None:
    text = "plain words of it " * 30_000 + "漢字" * 20_000
    settings_of = ModelSettings("openai/x", window=16_000)
    sent = outgoing(Span(said(text)), 1_000, settings_of)
    assert all(request.tokens + request.answer <= 16_000 for request in sent.requests)
    assert sum(request.prompt.count("漢字") for request in sent.requests) >= 19_990


def test_an_argument_that_is_nested_very_deep() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    call = {"type": "toolCall", "id": "a", "name": "x", "arguments": {"deep": deep, "path": "a.py"}}
    message = SpanMessage(EntryIndex(0), {"role": "assistant", "content": [call]})
    [piece] = pieces_of([message], Redactor())
    assert piece == "[assistant calls x]\ndeep: (list)\npath: a.py"


@pytest.mark.parametrize(
    ("url", "remarked"),
    [
        ("http://localhost.example.com/v1", True),
        ("http://127.0.0.1.example.com", True),
        ("HTTP://models.example.com", True),
        ("http://LOCALHOST:1", False),
        ("http://127.1.2.3", False),
        ("http://[::1]", False),
        (None, False),
    ],
)
def test_a_host_that_only_begins_like_this_machine_is_another_one(url: str | None, *, remarked: bool) -> None:
    assert (open_remark(url) is not None) is remarked
