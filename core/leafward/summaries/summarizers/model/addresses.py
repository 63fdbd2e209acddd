"""The host of a request, known before litellm is loaded: the host that is shown is the one that is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leafward.base.config import unfit_url
from leafward.summaries.summarizers.model.failures import SummaryFailed
from leafward.summaries.summarizers.model.settings import provider_of

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
"""The hosts of the best known providers (litellm 1.106)."""
_LOCAL = re.compile(r"(?i)localhost|127(?:\.\d{1,3}){3}|::1")


def refuse_unfit(name: str, url: str) -> None:
    """Raises SummaryFailed for a URL that no request to a model may go to. The message repeats nothing of the URL."""
    reason = unfit_url(url)
    if reason is not None:
        raise SummaryFailed(f"the base URL of {name} {reason}")


def environment_url(name: str, env: Mapping[str, str]) -> str | None:
    """The address that an environment variable gives litellm for a model's provider; None where none does."""
    provider = provider_of(name).upper().replace("-", "_")
    variables: tuple[str, ...] = (f"{provider}_BASE_URL", f"{provider}_API_BASE") if provider else ()
    if provider == "OLLAMA_CHAT":
        variables = ("OLLAMA_API_BASE",)
    return next((env[variable] for variable in variables if env.get(variable)), None)


def host_of(name: str, base_url: str | None) -> str:
    """The host of a model in words: that of the configured address, else its provider's."""
    if base_url:
        return base_url
    provider = provider_of(name)
    return _HOSTS.get(provider) or (f"the host of {provider}" if provider else "its provider")


def open_remark(base_url: str | None) -> str | None:
    """A warning about an address at which others can read the request on the way; None where there is none."""
    url = urlsplit(base_url or "")
    if url.scheme != "http" or _LOCAL.fullmatch(url.hostname or "") is not None:
        return None
    return f"{url.netloc} is asked over http: the text and the key can be read on the way"
