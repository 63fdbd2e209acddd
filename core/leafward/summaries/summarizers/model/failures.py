"""Possible failures of a request to a model, each with its line, and whether another attempt may help.

litellm's exceptions are recognised by the names of their classes and by their attributes, so that nothing of it is imported
here. The class for each cause was determined with litellm 1.106.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.base.figures import counted, money
from leafward.base.safe_text import safe_line
from leafward.redaction.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import Usage

ENDLESS = "endless"
"""The reason for which we end a stream that does not end itself."""
QUOTED = 200
"""Characters of a server's own message that are shown."""

_OVERFLOW_CODES = frozenset({"context_length_exceeded", "model_context_window_exceeded", "request_too_large"})
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|(?:prompt|input|request|context)[^.\n]{0,30} (?:is )?too (?:long|large)"
    r"|exceed\w{0,3} (?:the |your |its )?(?:\w+ )?(?:maximum |max |available )?context|context (?:window|length|size) (?:is |was )?(?:exceeded|full)"
    r"|request_too_large|exceeds the maximum size|input length and `?max_tokens`? exceed|too many (?:input |prompt )?tokens|larger than the context|input token count[^.\n]{0,40}exceeds",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d,]{0,14}")
_LIMIT = re.compile(
    r"(?:maximum|max|limit)[^\d\n]{0,40}?(\d[\d,]{2,14}) ?tokens|> ?(\d[\d,]{2,14}) (?:maximum|max|tokens)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_NO_KEY = re.compile(r"api_key client option must be set|missing (?:\w+ )?api[ _]?key", re.IGNORECASE)
_PREFIXES = re.compile(r"^(?:litellm\.)?(?:\w*(?:Error|Exception|Timeout)\w*)(?: -|:)\s*")
_SERVERS_WORDS = re.compile(r"[\"']message[\"']\s*:\s*([\"'])((?:(?!\1)[^\\]|\\.){1,2000})\1")
_KEY_NAMES = re.compile(r"(?:_API_KEY|_TOKEN|_SECRET(?:_ACCESS_KEY)?)$")
_SERVER_FAILED = {"InternalServerError", "HTTPStatusError"}
"""The causes of a status of 500 and more that the server really sent."""
_HOST = re.compile(r"([a-z]+://)(?:[^/?#@]*@)?([^/?#@]+)", re.IGNORECASE)
"""Scheme and host of an address, without a name or password."""
_SHORTEST_KEY = 8


class SummaryFailed(LeafwardError):
    """A model gave no usable answer; nothing was written. Its line ends with the cost, where there was one."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.usage: Usage | None = None
        """The usage that was spent anyway, as far as it is known."""
        self.cost: float | None = None
        """The cost of that in US dollars."""

    def __str__(self) -> str:
        text = super().__str__()
        if self.cost:
            return f"{text} ({money(self.cost)} spent)"
        if self.cost is None and self.usage is not None and self.usage.total:
            return f"{text} ({counted(self.usage.total, 'token')} spent, price not known)"
        return text


class Unusable(Exception):
    """An answer that is not a summary. `reason` is the stream's stop reason; None where the stream just ended."""

    def __init__(self, reason: str | None, usage: Usage | None, cost: float | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage
        self.cost = cost


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request."""

    text: str
    again: bool = False
    """Whether another attempt may help."""
    overflow: bool = False
    """Whether the request was longer than the model's window."""
    wait: float = 0.0
    """The pause that the server asks for before the next attempt, in seconds."""
    excess: float = 0.25
    """For an overflow, the part of the request that has to go, as far as the server tells it."""


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A failed request, with the values that its line shows."""

    model: str
    place: str
    """The base URL, or empty for the provider's own."""
    limit: int
    """The token limit of the answer."""
    timeout: float
    """Seconds of silence after which it was given up."""
    deadline: float
    """Seconds in total after which it was given up."""


def failure_of(error: BaseException, request: FailedRequest) -> Failure:
    """The failure behind an exception of a request."""
    model = safe_line(request.model, 80)
    if isinstance(error, Unusable):
        return _refused(error.reason, model, request.limit)
    if isinstance(error, SummaryFailed):
        return Failure(str(error))
    if type(error) is TimeoutError:
        return Failure(f"{model} gave no whole answer within {request.deadline:g} s")
    if isinstance(error, ImportError):
        return Failure(f"models cannot be asked here: {safe_line(str(error), QUOTED)}")
    names = {kind.__name__ for one in _chain(error) for kind in type(one).__mro__}
    own = {kind.__name__ for kind in type(error).__mro__}
    status = _status(error)
    text = " ".join(str(one) for one in _chain(error))
    words = _servers_words(error)
    place = safe_line(redact(request.place), 120)
    elsewhere = _redirect(error)
    if elsewhere is not None:
        here = f" at {place}" if place else ""
        return Failure(
            f"{model}{here} redirects to {elsewhere}, where nothing is sent: set that as its base URL if you want it"
        )
    if _is_overflow(error, own, status, text):
        line = f"the request is longer than the window of {model}: {words}"
        return Failure(line, overflow=True, excess=_excess(text))
    if "No module named 'mcp'" in text:
        return Failure(
            f"{model} is served through the Responses interface, for which litellm needs mcp: install it"
        )
    if _NO_KEY.search(text):
        return Failure(f"no key for {model} in the environment")
    if "RateLimitError" in own or status == 429:
        if _QUOTA.search(text):
            return Failure(f"the account's quota for {model} is used up: {words}")
        return Failure(f"{model} is rate limited: {words}", again=True, wait=_retry_after(error))
    if "MidStreamFallbackError" in own:
        if any("Timeout" in name for name in names):
            return Failure(f"the answer of {model} stopped for {request.timeout:g} s", again=True)
        return Failure(f"the connection was lost while {model} answered", again=True)
    if "Timeout" in own or status == 408:
        return Failure(
            f"{model} sent nothing for {request.timeout:g} s", again=True, wait=_retry_after(error)
        )
    if "AuthenticationError" in own or status == 401:
        return Failure(f"the key for {model} was rejected: {words}")
    if "PermissionDeniedError" in own or status == 403:
        return Failure(f"the key is not allowed to use {model}: {words}")
    if "NotFoundError" in own or status == 404:
        return Failure(f"{model} is not known at {place or 'its provider'}: {words}")
    if "APIConnectionError" in names or "ConnectError" in names:
        where = f" at {place}" if place else ""
        return Failure(f"{model} cannot be reached{where}: {words}", again=True)
    # litellm may take a server's failure for a bad request because of words in its body; the exception's cause is reliable.
    if (
        status is not None
        and status >= 500
        and ("BadRequestError" not in own or not names.isdisjoint(_SERVER_FAILED))
    ):
        return Failure(f"{model} failed ({status}): {words}", again=True, wait=_retry_after(error))
    return Failure(f"{model} rejected the request: {words}")


def _refused(reason: str | None, model: str, limit: int) -> Failure:
    if reason is None:
        return Failure(
            f"the answer of {model} ended early: the stream gave no reason for its end", again=True
        )
    texts = {
        "stop": f"{model} sent an empty answer",
        "length": f"the answer of {model} was cut off at its limit of {limit:,} tokens",
        "tool_calls": f"{model} called a tool instead of answering",
        ENDLESS: f"the answer of {model} went on far beyond its limit of {limit:,} tokens",
        "content_filter": f"the answer of {model} was withheld by a content filter",
    }
    return Failure(texts.get(reason) or f"the answer of {model} ended with {safe_line(reason, 40)!r}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and its causes, each once."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting and len(seen) < 12:
        one = waiting.pop(0)
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [getattr(one, "original_exception", None), one.__cause__, one.__context__]


def _redirect(error: BaseException) -> str | None:
    """Host and scheme of the address to which the server redirected; None where it did not."""
    found = None
    for one in _chain(error):
        response = getattr(one, "response", None)
        status, headers = getattr(response, "status_code", None), getattr(response, "headers", None)
        if not isinstance(status, int) or not 300 <= status < 400:
            continue
        found = "another address"
        # litellm invents responses without any header; the real one is further down the chain.
        target = headers.get("location") if headers is not None and hasattr(headers, "get") else None
        if isinstance(target, str) and (host := _HOST.match(target)) is not None:
            return safe_line(host[1] + host[2], 120)
    return found


def _status(error: BaseException) -> int | None:
    raw = getattr(error, "status_code", None)
    try:
        return int(raw) if raw is not None else None
    except (TypeError, ValueError):
        return None


def _is_overflow(error: BaseException, own: set[str], status: int | None, text: str) -> bool:
    if "ContextWindowExceededError" in own or status == 413:
        return True
    if "RateLimitError" in own or (status is not None and status >= 500 and "BadRequestError" not in own):
        return False
    # A server's own code may be anything.
    codes = {code for one in _chain(error) if isinstance(code := getattr(one, "code", None), str)}
    return bool(codes & _OVERFLOW_CODES) or _OVERFLOW.search(text) is not None


def _excess(text: str) -> float:
    """The part of a request beyond a limit, where the server names both, with a margin; else a quarter."""
    limit = _LIMIT.search(text)
    if limit is None:
        return 0.25
    most = int((limit[1] or limit[2]).replace(",", ""))
    beside = text[max(0, limit.start() - 80) : limit.end() + 120]
    largest = max(int(number.replace(",", "")) for number in _NUMBER.findall(beside))
    return min(0.9, max(0.1, 1.1 * (largest - most) / largest)) if largest > most else 0.25


def _retry_after(error: BaseException) -> float:
    """The pause that the server asks for, in seconds; 0 where it asks for none."""
    for one in _chain(error):
        response = getattr(one, "response", None)
        for headers in (getattr(one, "litellm_response_headers", None), getattr(response, "headers", None)):
            raw = headers.get("retry-after") if headers is not None and hasattr(headers, "get") else None
            try:
                wait = float(raw) if raw is not None else 0.0
            except (TypeError, ValueError):
                continue  # a date: our own backoff is as good
            if wait > 0:
                return wait
    return 0.0


def _servers_words(error: BaseException) -> str:
    """The message of the server or litellm, on one line, without secrets and without litellm's own prefixes."""
    text = str(error)
    message = _SERVERS_WORDS.search(text)
    if message is not None:
        text = message[2].replace("\\'", "'").replace('\\"', '"')
    line = safe_line(text, 4 * QUOTED)
    for _ in range(5):
        shorter = _PREFIXES.sub("", line)
        if shorter == line:
            break
        line = shorter
    return safe_line(without_keys(redact(line)), QUOTED) or type(error).__name__


def without_keys(text: str) -> str:
    """`text` without any key from the environment."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_KEY and value in text and _KEY_NAMES.search(name.upper()):
            text = text.replace(value, f"[{name}]")
    return text
