"""Each way in which a model gives no summary, over real HTTP, through litellm."""

from __future__ import annotations

import time

import pytest

from leafward.summaries.summarizers.model.summarizer import Model
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.model_requests import KEY, MARKS, SERVED, STREAMED, refusal, settings, span, summary

pytestmark = MARKS


# --- refused ----------------------------------------------------------------------------------------------------------

UNUSABLE = {
    "length": (Reply(finish="length"), "cut off at its limit of"),
    "blank": (Reply(text=" \n "), "sent an empty answer"),
    "tool": (Reply(tool=True, finish="tool_calls"), "called a tool instead of answering"),
    "filter": (Reply(finish="content_filter"), "withheld by a content filter"),
    "declined": (Reply("I'm sorry, but I can't help with that."), "declined: I'm sorry, but I can't"),
}


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("case", UNUSABLE)
def test_an_answer_that_is_no_summary_is_refused_at_once(endpoint: Endpoint, name: str, case: str) -> None:
    reply, told = UNUSABLE[case]
    endpoint.play(reply)
    failed = refusal(endpoint, name)
    assert told in str(failed)
    assert name in str(failed)
    assert len(endpoint.asked) == 1
    assert failed.usage is not None
    assert failed.usage.output == 300
    assert str(failed).endswith(" spent)" if failed.cost else " tokens spent, price not known)")


@pytest.mark.parametrize("read", [1_000, 100_000])
def test_the_line_of_a_failure_ends_with_what_it_cost(endpoint: Endpoint, read: int) -> None:
    endpoint.play(Reply("I'm sorry, but I can't help with that.", usage=(read, 100)))
    failed = refusal(endpoint, "anthropic/claude-haiku-4-5")
    assert str(failed).endswith(f"that. ({'$0.10' if read > 1_000 else '<$0.01'} spent)")


def test_where_nothing_was_spent_nothing_is_said_of_it(endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=401, error="no such key"))
    assert "spent" not in str(refusal(endpoint, "anthropic/claude-haiku-4-5"))


ENDED = {
    "quiet": "ended early|was lost",
    "reset": "was lost",
    "broken": "was lost",
}


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize(("end", "after"), [(end, after) for end in ENDED for after in (2, None)])
def test_a_stream_that_merely_ends_is_asked_for_again(
    endpoint: Endpoint, name: str, end: str, after: int | None
) -> None:
    endpoint.play(Reply(end=end, after=after), Reply())
    assert summary(endpoint, name).text == WHOLE
    endpoint.play(Reply(end=end, after=after))
    failed = refusal(endpoint, name, attempts=2)
    assert failed.args[0].endswith("(2 attempts)")
    assert any(words in str(failed) for words in ENDED[end].split("|"))


def test_what_was_thrown_away_is_gone_from_the_progress(endpoint: Endpoint) -> None:
    endpoint.play(Reply("## Goal\nThe wrong one, and a long line of it.", end="quiet"), Reply())
    texts: list[str] = []
    made = Model(settings(endpoint)).summarize(span(), 2_000, texts.append)
    assert texts[-1] == made.text == WHOLE
    assert made.remarks == ("history: answered at attempt 2",)


def test_usage_of_every_request_is_summed(endpoint: Endpoint) -> None:
    endpoint.play(Reply(usage=(1_000, 100), end="quiet"), Reply(status=500), Reply(usage=(1_000, 200)))
    made = summary(endpoint, "anthropic/claude-haiku-4-5")
    assert made.usage is not None
    # The broken one said what it had read; what it had written is estimated.
    assert made.usage.input == 2_000
    assert made.usage.output > 200
    assert made.cost == pytest.approx(2_000 * 1e-6 + made.usage.output * 5e-6)


# --- failures of the server -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again(endpoint: Endpoint, name: str, status: int) -> None:
    endpoint.play(Reply(status=status), Reply())
    assert summary(endpoint, name).text == WHOLE
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "rejected the request: no such thing"),
        (401, "the key for {} was rejected: no such thing"),
        (403, "the key is not allowed to use {}: no such thing"),
        (404, "{} is not known at http://127.0.0.1:"),
        (422, "rejected the request: no such thing"),
    ],
)
def test_what_will_not_pass_fails_at_once(endpoint: Endpoint, name: str, status: int, told: str) -> None:
    endpoint.play(Reply(status=status, error="no such thing"))
    assert told.format(name) in str(refusal(endpoint, name))
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("code", [{"a": 1}, ["b"], 7])
def test_a_servers_code_may_be_anything(endpoint: Endpoint, code: object) -> None:
    endpoint.play(Reply(status=400, error="no such thing", code=code))
    assert "rejected the request: no such thing" in str(refusal(endpoint, "openai/x"))


def test_a_model_asked_over_responses_is_still_asked_over_chat(endpoint: Endpoint) -> None:
    summary(endpoint, "openai/responses/y")
    summary(endpoint, "openai/y")
    assert [asked.path.removeprefix("/v1/") for asked in endpoint.asked] == ["responses", "chat/completions"]


def test_a_servers_failure_is_one_whatever_its_words_are(endpoint: Endpoint) -> None:
    """litellm takes the type that the body names for the truth, and calls it a bad request."""
    for name in ("openai/x", "openai/responses/x"):
        endpoint.play(Reply(status=500, error="invalid_request_error"), Reply())
        assert summary(endpoint, name).text == WHOLE
        assert len(endpoint.asked) == 2


def test_attempts_end(endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=503, error="overloaded"))
    assert str(refusal(endpoint)) == "openai/x failed (503): overloaded (3 attempts)"
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("name", SERVED)
def test_a_server_says_how_long_to_wait(endpoint: Endpoint, name: str) -> None:
    endpoint.play(Reply(status=429, headers={"retry-after": "0.1"}), Reply())
    began = time.monotonic()
    summary(endpoint, name)
    assert time.monotonic() - began >= 0.1
    endpoint.play(Reply(status=429, error="slow down", headers={"retry-after": "3600"}))
    assert str(refusal(endpoint, name)) == f"{name} is rate limited: slow down; it asks to wait 3,600 s"
    assert len(endpoint.asked) == 1


def test_a_quota_that_is_used_up_is_not_waited_for(endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=429, error="You exceeded your current quota", code="insufficient_quota"))
    assert "quota" in str(refusal(endpoint))
    assert len(endpoint.asked) == 1


def test_a_key_in_the_servers_words_is_not_repeated(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-own-gateway-key")
    endpoint.play(Reply(status=401, error=f"wrong key my-own-gateway-key or {KEY}\n<html>"))
    told = str(refusal(endpoint))
    assert "my-own-gateway-key" not in told
    assert KEY not in told
    assert "wrong key [OPENAI_API_KEY]" in told


@pytest.mark.parametrize("name", STREAMED)
@pytest.mark.parametrize("after", [0, 2])
def test_silence_is_given_up(endpoint: Endpoint, name: str, after: int) -> None:
    endpoint.play(Reply(end="stall", after=after), Reply())
    # A machine that stands still for a moment is silent too, and is asked again.
    assert summary(endpoint, name, timeout=0.15, attempts=8).text == WHOLE
    assert endpoint.asked[0].gone.wait(60)
    endpoint.play(Reply(end="stall", after=after))
    assert "for 0.15 s" in str(refusal(endpoint, name, timeout=0.15, attempts=1))


@pytest.mark.parametrize("name", SERVED)
def test_a_deadline_holds_however_much_comes(endpoint: Endpoint, name: str) -> None:
    # What is loaded for the first request of a kind would count as well.
    endpoint.play(Reply(), Reply(end="stall", after=1))
    assert summary(endpoint, name).text == WHOLE
    assert str(refusal(endpoint, name, deadline=2)) == f"{name} gave no whole answer within 2 s"
    assert endpoint.asked[1].gone.wait(60)


def test_nobody_there(endpoint: Endpoint) -> None:
    failed = refusal(endpoint, base_url="http://127.0.0.1:9/v1", attempts=2)
    assert str(failed).startswith("openai/x cannot be reached at http://127.0.0.1:9/v1: ")


# --- names, addresses, keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nosuch", "nosuch/x", "nosuch/gpt-4o"])
def test_an_unknown_model_is_said_to_be_one(endpoint: Endpoint, name: str) -> None:
    told = str(refusal(endpoint, name, base_url=None))
    assert told == f"unknown model: {name!r}; name it provider/model, as in anthropic/claude-haiku-4-5"
    assert not endpoint.asked


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("openrouter/a/b", "OPENROUTER_API_KEY"),
        ("gemini/x", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_is_sent(endpoint: Endpoint, name: str, variable: str) -> None:
    told = str(refusal(endpoint, name, base_url=None))
    assert told == f"no key for {name}: the environment variable {variable} is not set"


def test_the_key_comes_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "theirs")
    summary(endpoint, "anthropic/x")
    assert endpoint.asked[0].headers["x-api-key"] == "theirs"
    summary(endpoint)
    assert endpoint.asked[1].headers["authorization"] == "Bearer none"
    told = str(refusal(endpoint, key_variable="GATEWAY_KEY"))
    assert told == "no key for openai/x: the environment variable GATEWAY_KEY is not set"
    monkeypatch.setenv("GATEWAY_KEY", "ours")
    summary(endpoint, key_variable="GATEWAY_KEY")
    assert endpoint.asked[2].headers["authorization"] == "Bearer ours"


@pytest.mark.parametrize(
    ("name", "tail"),
    [
        ("openai/x", "/v1/"),
        ("openai/x", "/v1/chat/completions"),
        ("anthropic/x", "/v1"),
        ("anthropic/x", "/"),
        ("ollama_chat/x", "/"),
    ],
)
def test_a_base_url_may_be_written_as_people_write_it(endpoint: Endpoint, name: str, tail: str) -> None:
    assert summary(endpoint, name, base_url=endpoint.root + tail).text == WHOLE


def test_a_base_url_that_is_none(endpoint: Endpoint) -> None:
    assert "has to begin with http://" in str(refusal(endpoint, base_url="localhost:8080/v1"))
