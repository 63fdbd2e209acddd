"""The model that is asked: our settings, and facts from litellm's own list.

The list lies in litellm's package as a file. It is read as one: importing litellm takes seconds and is left to the worker.
"""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from leafward.base.config import ATTEMPTS, DEADLINE, DEFAULT_WINDOW, PARALLEL, TIMEOUT

OLLAMA_WINDOW = 8_192
"""The context window of an Ollama server where none is configured.

The server takes that much memory, and silently cuts off everything beyond it.
"""

_LONG = re.compile(r"input_cost_per_token_above_(\d{1,6})k_tokens")
"""The key of a price for long requests."""
_LIST = "litellm/model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model that is asked, its address, and the limits of patience."""

    name: str
    """The name in litellm's form: `provider/model`, or a bare name that it knows."""
    base_url: str | None = None
    """The address of its server; None: the provider's."""
    key_variable: str | None = None
    """The environment variable with the key; None: the one of the provider's name."""
    window: int | None = None
    """The context window in tokens; None: that of litellm's list, else the default."""
    timeout: float = TIMEOUT
    """Seconds of silence from the server after which a request is given up."""
    deadline: float = DEADLINE
    """Seconds in total after which it is given up."""
    attempts: int = ATTEMPTS
    """The number of attempts in all where another attempt may help."""
    backoff: float = 1.0
    """Seconds before the second attempt; doubled before each further one."""
    patience: float = 120.0
    """The longest pause that a server may ask for, in seconds; beyond it the summary fails at once."""
    parallel: int = PARALLEL
    """Parallel requests for one summary."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about a model in litellm's list. Prices are US dollars a token; 0 means unknown, never free."""

    window: int | None = None
    longest_answer: int | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    long_from: int = 0
    """The tokens beyond which a request has prices of its own; 0: there are none."""
    long_in: float = 0.0
    long_out: float = 0.0
    reasons: bool = False
    """Whether it thinks before it answers: its thinking counts as answer."""
    streams: bool = True
    """Whether its server can stream an answer."""

    def cost(self, sent: int, output: int) -> float | None:
        """US dollars for one request; None where a price is not known."""
        is_long = 0 < self.long_from < sent
        price_in = (is_long and self.long_in) or self.price_in
        price_out = (is_long and self.long_out) or self.price_out
        return sent * price_in + output * price_out if price_in > 0 and price_out > 0 else None


@lru_cache(maxsize=32)
def facts_of(name: str) -> ModelFacts | None:
    """The facts about a model by its name in litellm's form; None where the list lacks it."""
    listed = _listed(name)
    if listed is None:
        return None

    def number(key: str) -> float:
        value = listed.get(key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0

    window = int(number("max_input_tokens") or number("max_tokens"))
    long = min((int(found[1]) for found in map(_LONG.fullmatch, listed) if found is not None), default=0)
    return ModelFacts(
        window or None,
        int(number("max_output_tokens") or number("max_tokens")) or None,
        number("input_cost_per_token"),
        number("output_cost_per_token"),
        1_000 * long,
        number(f"input_cost_per_token_above_{long}k_tokens"),
        number(f"output_cost_per_token_above_{long}k_tokens"),
        bool(listed.get("supports_reasoning")),
        listed.get("supports_native_streaming") is not False,
    )


def _listed(name: str) -> dict[str, Any] | None:
    try:
        file = importlib.metadata.distribution("litellm").locate_file(_LIST)
        models = orjson.loads(file.read_bytes())  # type: ignore[attr-defined]  # a path where it is installed as files
    except (ImportError, OSError, ValueError, AttributeError):
        return None
    provider, _, rest = name.partition("/")
    rest = rest.removeprefix("responses/")
    for key in dict.fromkeys((name, f"{provider}/{rest}", rest)):
        found = models.get(key) if key else None
        if not isinstance(found, dict):
            continue
        owner = str(found.get("litellm_provider", ""))
        if key == rest and owner != provider and not owner.startswith(f"{provider}-"):
            # The same bare name at another provider has another price and another window.
            continue
        return found
    return None


def provider_of(name: str) -> str:
    """The provider of a model: the beginning of its name, else that in litellm's list; empty where neither has one."""
    provider, slash, _ = name.partition("/")
    if slash:
        return provider
    listed = _listed(name)
    return str(listed.get("litellm_provider", "")) if listed is not None else ""


def is_ollama(name: str) -> bool:
    """Whether Ollama runs a model: requests to it have to set its window."""
    return name.startswith(("ollama/", "ollama_chat/"))


def window_of(settings: ModelSettings) -> int:
    """The assumed context window, in tokens."""
    if settings.window:
        return settings.window
    if is_ollama(settings.name):
        return OLLAMA_WINDOW
    facts = facts_of(settings.name)
    return (facts.window if facts is not None else None) or DEFAULT_WINDOW
