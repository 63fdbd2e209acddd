"""To which host a request would go, known before litellm is loaded: it is shown, and it is the one that is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leafward.base.config import unfit_url
from leafward.summaries.summarizers.failures import SummaryFailed
from leafward.summaries.summarizers.settings import provider_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOSTS = {
    "anthropic": "api.anthropic.com",
    "deepseek": "api.deepseek.com",
    "gemini": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "mistral": "api.mistral.ai",
    "ollama": "localhost:11434",
    "ollama_chat": "localhost:11434",
    "openai": "api.openai.com",
    "openrouter": "openrouter.ai",
    "xai": "api.x.ai",
}
"""Where the best known providers are asked (litellm 1.106)."""
_LOCAL = ("127.", "localhost", "[::1]", "::1")


def refuse_unfit(name: str, url: str) -> None:
    """Raises SummaryFailed where no request of a model is sent to a URL. Nothing of the URL is repeated."""
    reason = unfit_url(url)
    if reason is not None:
        raise SummaryFailed(f"the base URL of {name} {reason}")


def environment_url(name: str, env: Mapping[str, str]) -> str | None:
    """The address that a variable of the environment gives litellm for a model's provider; None where none does."""
    provider = provider_of(name).upper().replace("-", "_")
    variables: tuple[str, ...] = (f"{provider}_BASE_URL", f"{provider}_API_BASE") if provider else ()
    if provider == "OLLAMA_CHAT":
        variables = ("OLLAMA_API_BASE",)
    return next((env[variable] for variable in variables if env.get(variable)), None)


def host_of(name: str, base_url: str | None) -> str:
    """Where a model is asked, in words: the address that is set, else its provider's host."""
    if base_url:
        return base_url
    provider = provider_of(name)
    return _HOSTS.get(provider) or (f"the host of {provider}" if provider else "its provider")


def open_remark(base_url: str | None) -> str | None:
    """What is to be known of an address where everything that is sent can be read on the way; None where nothing is."""
    if not base_url or not base_url.startswith("http://"):
        return None
    host = urlsplit(base_url).netloc
    if host.startswith(_LOCAL):
        return None
    return f"{host} is asked over http: the text and the key can be read on the way"
