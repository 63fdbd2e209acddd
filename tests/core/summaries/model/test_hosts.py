"""The host of a request is the one that is shown, also for a hostile or careless address."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config, load
from leafward.summaries.summarizers.choice import model_settings
from leafward.summaries.summarizers.model.addresses import host_of
from leafward.summaries.summarizers.model.failures import SummaryFailed
from leafward.summaries.summarizers.model.settings import ModelSettings
from leafward.summaries.summarizers.model.summarizer import Model
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.model_requests import KEY, MARKS, SERVED, refusal, span, summary

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = MARKS


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("status", [302, 307])
def test_a_server_that_sends_one_elsewhere_is_not_followed(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, name: str, status: int
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    with Endpoint() as other:
        endpoint.play(
            Reply(status=status, headers={"Location": f"http://localhost:{other.port}/elsewhere/messages"})
        )
        told = str(refusal(endpoint, name, attempts=1))
        assert [(one.path, one.headers) for one in other.asked] == []
        assert len(endpoint.asked) == 1
        assert KEY not in told
        assert "redirects to" in told
        assert f"localhost:{other.port}" in told


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com",
        "localhost:8080/v1",
        "//example.com/v1",
        "http://",
        "https:///v1",
        "http://user:secret-word@127.0.0.1/v1",
        "http://secret-word@127.0.0.1/v1",
        "http://127.0.0.1/v1\r\nX-Key: a",
        "http://127.0.0.1/v1\nHost: evil",
        "http://127.0.0.1 .evil.com/",
        "http://127.0.0.1\\@evil.com/",
        "http://evil.com\x1b[2K/",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://127.0.0.1/v1?key=secret-word#x",
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_is_sent(endpoint: Endpoint, url: str) -> None:
    told = str(refusal(endpoint, base_url=url.replace("127.0.0.1/", f"127.0.0.1:{endpoint.port}/")))
    assert "the base URL of openai/x" in told
    assert "secret-word" not in told
    assert "\x1b" not in told
    assert endpoint.asked == []


@pytest.mark.parametrize("name", ["openai/x", "anthropic/x"])
def test_a_key_with_a_line_end_is_refused_and_not_shown(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "gateway-word\r\nX-Other: b")
    told = str(refusal(endpoint, name, key_variable="GATEWAY_KEY", attempts=1))
    assert "GATEWAY_KEY" in told
    assert "gateway-word" not in told
    assert endpoint.asked == []


def test_a_key_may_end_with_the_line_end_of_its_file(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "word\n")
    assert summary(endpoint, key_variable="GATEWAY_KEY").text == WHOLE
    assert endpoint.asked[0].headers["authorization"] == "Bearer word"


@pytest.mark.parametrize(
    ("name", "env", "shown"),
    [
        ("openai/x", {}, "api.openai.com"),
        ("gpt-4o", {}, "api.openai.com"),
        ("anthropic/x", {}, "api.anthropic.com"),
        ("ollama/x", {}, "localhost:11434"),
        ("cohere/x", {}, "the host of cohere"),
        ("openai/x", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "http://127.0.0.1:1/v1"),
        ("openai/x", {"OPENAI_API_BASE": "http://127.0.0.1:2/v1"}, "http://127.0.0.1:2/v1"),
        ("anthropic/x", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3"}, "http://127.0.0.1:3"),
        ("ollama/x", {"OLLAMA_API_BASE": "http://127.0.0.1:4"}, "http://127.0.0.1:4"),
    ],
)
def test_where_a_request_would_go_is_known_beforehand(
    name: str, env: dict[str, str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in env.items():
        monkeypatch.setenv(variable, value)
    settings = model_settings(name, Config())
    assert host_of(name, settings.base_url) == shown


@pytest.mark.parametrize("name", ["openai/x", "anthropic/x", "ollama/x"])
def test_what_a_variable_of_the_environment_says_is_asked_and_shown(
    endpoint: Endpoint, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm would go there without a word."""
    variable = {
        "openai/x": "OPENAI_BASE_URL",
        "anthropic/x": "ANTHROPIC_API_BASE",
        "ollama/x": "OLLAMA_API_BASE",
    }
    base = endpoint.base_url if name == "openai/x" else endpoint.root
    monkeypatch.setenv(variable[name], base)
    model = Model(model_settings(name, Config()))
    assert model.outgoing(span(), 2_000).base_url == base
    assert model.summarize(span(), 2_000).text == WHOLE
    assert len(endpoint.asked) == 1


def test_an_address_that_is_configured_goes_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    config = Config(base_urls={"openai": "http://127.0.0.1:2"})
    assert model_settings("openai/x", config).base_url == "http://127.0.0.1:2"
    assert model_settings("openai/x", config, "http://127.0.0.1:3").base_url == "http://127.0.0.1:3"


def test_what_is_no_address_is_refused_also_in_the_environment_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://ada:secret-word@127.0.0.1:1")
    with pytest.raises(SummaryFailed, match="the base URL of openai/x has a name or password") as raised:
        model_settings("openai/x", Config())
    assert "secret-word" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "remarked"),
    [
        ("http://10.0.0.7:8080/v1", True),
        ("http://models.example.com", True),
        ("https://models.example.com", False),
        ("http://127.0.0.1:1/v1", False),
        ("http://localhost:11434", False),
        ("http://[::1]:1", False),
    ],
)
def test_what_goes_unencrypted_to_another_machine_is_remarked(url: str, *, remarked: bool) -> None:
    remarks = Model(ModelSettings("openai/x", url)).outgoing(span(), 2_000).remarks
    assert any("can be read on the way" in remark for remark in remarks) is remarked


def test_nothing_in_the_folder_of_a_project_says_where_to_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither settings of ours nor an `.env`: only the user's own."""
    monkeypatch.chdir(tmp_path)
    evil = "http://127.0.0.1:9"
    for name in ("config.toml", "leafward.toml", ".leafward/config.toml", ".config/leafward/config.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'model = "openai/x"\n[base-urls]\nopenai = "{evil}"\n')
    (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={evil}\nOPENAI_API_BASE={evil}\n")
    config, problems = load()
    assert (config, problems) == (Config(), [])
    told = str(refusal_of("openai/x"))
    assert "OPENAI_API_KEY is not set" in told
    assert "OPENAI_BASE_URL" not in os.environ


def refusal_of(name: str) -> SummaryFailed:
    with pytest.raises(SummaryFailed) as raised:
        Model(model_settings(name, Config())).summarize(span(), 2_000)
    return raised.value
