"""Requests to models over litellm: one thread with one event loop for all of them, and the only place that imports litellm.

A cancelled request closes its socket at once, also while it waits for a first byte; that takes an asynchronous client, and
such clients belong to the loop that created them. Hence the one loop for the life of the process.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from leafward.base.figures import finite
from leafward.session.entries import Usage
from leafward.summaries.summarizers.model.addresses import refuse_unfit
from leafward.summaries.summarizers.model.failures import ENDLESS, SummaryFailed, Unusable
from leafward.summaries.summarizers.model.settings import ModelSettings, facts_of, is_ollama, window_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from concurrent.futures import Future

_T = TypeVar("_T")

_SETTINGS: dict[str, str | None] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no price list from the network, no thread that tries again
    "LITELLM_MODE": "PRODUCTION",  # no `.env` of whatever project lies above
    "LITELLM_LOG": "CRITICAL",
    "OPENAI_LOG": None,  # would send every log record of the process to stderr
}
"""Variables that litellm and its dependencies read only while they are imported; None: must not be set."""

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai", "mcp")
_TALKATIVE = r"(?:litellm|pydantic|openai|httpx|httpcore|mcp|tiktoken)(?:\.|$)"
"""Modules whose warnings are of no use to a reader of a summary."""
_LAST_WORDS = 10.0
"""Seconds that the loop has to end, possibly waiting for an import."""
_LONGEST_TOKEN = 40
"""Characters of an answer for each allowed token, beyond which its server knows no limit: those of blanks are the longest."""
_NO_KEY = "none"
"""The key for a server at a configured address without one: local servers still want some."""


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """A whole answer."""

    text: str
    usage: Usage
    """All zero where the server reports none."""
    cost: float | None
    """US dollars; None where the price or the usage is not known."""


def _litellm() -> Any:
    """litellm, imported so that it writes nothing, fetches nothing and leaves the environment unchanged."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    _set_variables(_SETTINGS)
    try:
        with warnings.catch_warnings():
            import litellm
    finally:
        # Our child processes must not inherit the variables for the import.
        _set_variables(before)
    _follow_no_redirects()
    litellm.suppress_debug_info = True
    # The other transport treats a reset connection as the end of the answer.
    litellm.disable_aiohttp_transport = True
    litellm.disable_hf_tokenizer_download = True
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False
    return litellm


def _follow_no_redirects() -> None:
    """Lets no client follow a redirect: the user was shown this address, and the key is for it.

    httpx drops `Authorization` on the way to another host, but neither the text nor other headers that hold a key.
    """
    import httpx

    for kind in (httpx.AsyncClient, httpx.Client):
        begin = kind.__init__

        def without(self: Any, *values: Any, _begin: Any = begin, **named: Any) -> None:
            _begin(self, *values, **{**named, "follow_redirects": False})

        kind.__init__ = without  # type: ignore[method-assign]  # litellm offers no setting for all its clients


def _set_variables(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


async def check(settings: ModelSettings) -> None:
    """Raises SummaryFailed for every error that `ask` would raise before it sends anything."""
    _address(_loaded(), _name(settings.name), settings)


async def ask(
    settings: ModelSettings, system: str, prompt: str, limit: int, on_text: Callable[[str], object]
) -> WholeAnswer:
    """One streaming request. `on_text` receives each piece of text in the loop's thread.

    Raises Unusable where the answer is not usable, SummaryFailed where nothing was sent, TimeoutError past the deadline,
    and whatever litellm raises.
    """
    litellm = _loaded()
    name = _name(settings.name)
    facts = facts_of(name)
    request: dict[str, Any] = {
        "model": name,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt}],
        "max_tokens": limit,
        "max_retries": 0,
        "drop_params": True,
        **_address(litellm, name, settings),
    }
    if is_ollama(name):
        request["num_ctx"] = window_of(settings)
        _introduce(litellm, name, "ollama_chat", mode="chat", max_input_tokens=window_of(settings))
    async with asyncio.timeout(settings.deadline):
        if facts is not None and not facts.streams:
            # litellm would invent a stream, which ends with `stop` whatever the real stop reason.
            whole = await litellm.acompletion(**request, stream=False, timeout=settings.deadline)
            choice = whole.choices[0]
            text, usage, reason = (
                choice.message.content or "",
                getattr(whole, "usage", None),
                choice.finish_reason,
            )
            tools = bool(getattr(choice.message, "tool_calls", None))
            on_text(text)
        else:
            if facts is None and "/responses/" in name:
                # litellm would wait for the whole answer of a model that it does not know to stream. The mode is not
                # `responses`: then the plain name of the model would go there too, for the rest of the process.
                provider, _, model = name.partition("/responses/")
                _introduce(litellm, model, provider, mode="chat", supports_native_streaming=True)
            text, usage, reason, tools = await _streamed(litellm, request, settings.timeout, on_text)
    spent = _usage(usage)
    cost = _cost(litellm, name, usage, spent)
    if tools:
        raise Unusable("tool_calls", spent, cost)
    if reason != "stop" or not text.strip():
        raise Unusable(reason, spent, cost)
    return WholeAnswer(text, spent, cost)


async def _streamed(
    litellm: Any, request: dict[str, Any], silence: float, on_text: Callable[[str], object]
) -> tuple[str, Any, str | None, bool]:
    """The text of a stream, its usage, the stream's own stop reason, and whether a tool was called."""
    stream: Any = None
    usage: Any = None
    parts: list[str] = []
    tools = False
    size = 0
    try:
        stream = await litellm.acompletion(
            **request, stream=True, stream_options={"include_usage": True}, timeout=silence
        )
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            size += 1
            for choice in chunk.choices:
                tools = tools or bool(getattr(choice.delta, "tool_calls", None))
                size += len(getattr(choice.delta, "reasoning_content", None) or "")
                if choice.delta.content:
                    size += len(choice.delta.content)
                    parts.append(choice.delta.content)
                    on_text(choice.delta.content)
            if size > _LONGEST_TOKEN * request["max_tokens"]:
                return "", usage, ENDLESS, tools
        # The reason on the last chunk is not reliable: litellm invents one for a stream that just ends. It also
        # counts by itself what a server does not report; what came of the server is in the chunks that it keeps.
        told = any(getattr(chunk, "usage", None) is not None for chunk in stream.chunks)
        return "".join(parts), usage if told else None, stream.received_finish_reason, tools
    finally:
        if stream is not None:
            await stream.aclose()


def _introduce(litellm: Any, name: str, provider: str, **facts: object) -> None:
    """Registers a model that litellm's list lacks, so that litellm neither guesses nor asks a server on localhost."""
    if name not in litellm.model_cost:
        litellm.model_cost[name] = {"litellm_provider": provider, **facts}


_known_litellm: Any = None


def _loaded() -> Any:
    """litellm, loaded once; warning filters are set for each request, since the caller may reset them."""
    global _known_litellm  # noqa: PLW0603  # one module, loaded once
    if _known_litellm is None:
        _known_litellm = _litellm()
    warnings.filterwarnings("ignore", module=_TALKATIVE)
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    return _known_litellm


def _name(name: str) -> str:
    """The requested name: plain `ollama/` hides that an answer was cut off, so its chat interface is used."""
    return f"ollama_chat/{name.removeprefix('ollama/')}" if name.startswith("ollama/") else name


def _address(litellm: Any, name: str, settings: ModelSettings) -> dict[str, Any]:
    """Address and key. Raises SummaryFailed where the model is not known or its key is missing; sends nothing."""
    try:
        provider = litellm.get_llm_provider(name)[1]
    except Exception as error:  # of several kinds
        raise SummaryFailed(
            f"unknown model: {settings.name!r}; name it provider/model, as in anthropic/claude-haiku-4-5"
        ) from error
    request: dict[str, Any] = {}
    base = (settings.base_url or "").strip().rstrip("/")
    if base:
        refuse_unfit(settings.name, base)
        base = base.removesuffix("/chat/completions").removesuffix("/responses")
        request["api_base"] = base.removesuffix("/v1") if provider == "anthropic" else base
    if settings.key_variable:
        key = os.environ.get(settings.key_variable)
        if not key:
            raise SummaryFailed(
                f"no key for {settings.name}: the environment variable {settings.key_variable} is not set"
            )
        return {**request, "api_key": _fit_key(key, settings.key_variable)}
    usual = f"{provider.upper().replace('-', '_')}_API_KEY"
    if usual in os.environ:
        _fit_key(os.environ[usual], usual)
    missing = [
        variable
        for variable in litellm.validate_environment(name)["missing_keys"]
        if variable.endswith("_API_KEY")
    ]
    if missing and base:
        request["api_key"] = _NO_KEY
    elif missing:
        raise SummaryFailed(
            f"no key for {settings.name}: the environment variable {' or '.join(missing)} is not set"
        )
    return request


def _fit_key(key: str, variable: str) -> str:
    """A key without the line end of its file. Raises SummaryFailed where it is not valid in a header."""
    key = key.strip()
    if not key.isprintable() or not key.isascii():
        raise SummaryFailed(
            f"the key in the environment variable {variable} holds a character that no key has"
        )
    return key


def _usage(raw: Any) -> Usage:
    """The usage that a server reports, all zero where it reports none; cached tokens are counted apart, as in pi."""
    if raw is None:
        return Usage()

    def number(holder: Any, name: str) -> int:
        value = getattr(holder, name, None)
        return max(0, int(finite(value) or 0))

    sent, output = number(raw, "prompt_tokens"), number(raw, "completion_tokens")
    details = getattr(raw, "prompt_tokens_details", None)
    read = number(details, "cached_tokens")
    written = number(raw, "cache_creation_input_tokens") or number(details, "cache_creation_tokens")
    fresh = max(0, sent - read - written)
    return Usage(fresh, output, read, written, fresh + output + read + written)


def _cost(litellm: Any, name: str, raw: Any, spent: Usage) -> float | None:
    """US dollars by litellm's local list; None where the list lacks the price, or the server reports no usage."""
    if raw is None:
        return None
    sent = spent.input + spent.cache_read + spent.cache_write
    try:
        cost_in, cost_out = litellm.cost_per_token(
            model=name, prompt_tokens=sent, completion_tokens=spent.output, usage_object=raw
        )
        if cost_in + cost_out > 0:
            return float(cost_in + cost_out)
    except Exception:  # noqa: S110  # it raises, of several kinds, for names it has no price for
        pass
    facts = facts_of(name)
    return facts.cost(sent, spent.output) if facts is not None else None


class ModelLoop:
    """The thread that runs all requests of the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_debug(False)
        # Errors of a cancelled request are not reported, least of all on the screen.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="leafward-models", daemon=True)
        self._thread.start()
        self.process = os.getpid()

    def start(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Starts some work; cancelling the future ends it, sockets included."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Ends the remaining work and the thread."""

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            if _known_litellm is not None:
                await _known_litellm.close_litellm_async_clients()

        with contextlib.suppress(Exception):
            self.start(end()).result(_LAST_WORDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LAST_WORDS)
        if not self._thread.is_alive():
            self._loop.close()


_lock = threading.Lock()
_the_loop: ModelLoop | None = None


def model_loop() -> ModelLoop:
    """The loop of this process, started on first use."""
    global _the_loop  # noqa: PLW0603  # one for the process, and a new one in a child
    with _lock:
        if _the_loop is None or _the_loop.process != os.getpid():
            if _the_loop is None:
                # A thread frozen during an import would keep the interpreter from ending.
                atexit.unregister(close_model_loop)
                atexit.register(close_model_loop)
            _the_loop = ModelLoop()
        return _the_loop


def close_model_loop() -> None:
    """Ends the loop if there is one; the next request starts another."""
    global _the_loop
    with _lock:
        loop, _the_loop = _the_loop, None
    if loop is not None and loop.process == os.getpid():
        loop.close()
