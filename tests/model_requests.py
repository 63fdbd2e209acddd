"""Shared by tests that ask a model over HTTP: spans, settings for an endpoint, the kinds of server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.model.failures import SummaryFailed
from leafward.summaries.summarizers.model.settings import ModelSettings
from leafward.summaries.summarizers.model.summarizer import Model
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from leafward.summaries.summarizers.summary import Summary
    from tests.model_endpoint import Endpoint

KEY = "sk-ant-api03-abcdefghijklmnop0123456789"
SERVED = [
    "openai/x",
    "anthropic/x",
    "ollama_chat/x",
    "openai/gpt-5-codex",
    "openai/responses/x",
    "openai/o1-pro",
]
"""Chat Completions, Messages, Ollama; Responses of a model that is known, of one that is not, of one that cannot stream."""
STREAMED = SERVED[:-1]

MARKS = [
    pytest.mark.litellm,
    # What litellm leaves to the collector is warned of in whichever test the collector runs.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


def settings(endpoint: Endpoint, name: str = "openai/x", **more: Any) -> ModelSettings:
    base = endpoint.base_url if name.startswith("openai/") else endpoint.root
    patient: dict[str, Any] = {"base_url": base, "attempts": 3, "backoff": 0.01, "timeout": 60.0}
    return ModelSettings(name, **(patient | more))


def span(*texts: str, **more: Any) -> Span:
    messages = tuple(
        SpanMessage(EntryIndex(at), {"role": "user", "content": text})
        for at, text in enumerate(texts or ("Port the parser.", "Run the tests."))
    )
    return Span(messages, **more)


def summary(endpoint: Endpoint, name: str = "openai/x", budget: int = 2_000, **more: Any) -> Summary:
    return Model(settings(endpoint, name, **more)).summarize(span(), budget)


def refusal(endpoint: Endpoint, name: str = "openai/x", **more: Any) -> SummaryFailed:
    with pytest.raises(SummaryFailed) as raised:
        summary(endpoint, name, **more)
    assert "\n" not in str(raised.value)
    return raised.value
