"""Requests for a summary on the command line: choosing the summariser, showing what is sent, progress, and cancelling."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import click

from leafward.base.errors import Cancelled
from leafward.base.figures import counted, money, short
from leafward.cli.output.page import note
from leafward.cli.output.progress_line import ProgressLine
from leafward.summaries.summarizers.choice import CONFIGURED, summarizer
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.base.config import Config
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward.summaries.summarizers.model.summarizer import Model
    from leafward.summaries.summarizers.summary import Span, Summarizer


@contextmanager
def cancellable() -> Iterator[Callable[[], bool]]:
    """Turns ctrl+c into a `stop` that long work checks, so that it ends in order; a second ctrl+c ends it at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return

    def interrupt(_number: int, _frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stopped.is_set
    except KeyboardInterrupt:
        raise Cancelled("cancelled; nothing was written") from None
    finally:
        signal.signal(signal.SIGINT, before)


def refuse_cancelled(stop: Callable[[], bool]) -> None:
    """Raises Cancelled if the user asked to stop."""
    if stop():
        raise Cancelled("cancelled; nothing was written")


@contextmanager
def progress(what: str = "summary") -> Iterator[Callable[[str], object]]:
    """Shows the growth of a text on stderr, if that is a terminal; the line is removed afterwards."""
    if not sys.stderr.isatty():
        yield lambda _text: None
        return
    with ProgressLine() as line:
        yield lambda text: line.write(f"{what}: {short(tokens_of(text))} tokens")


def chosen(model: str | None, settings: Config, base_url: str | None = None) -> Summarizer:
    """The summariser that is named, or the configured one; `extractive` needs no model.

    Raises SummaryFailed for `model` if no model is configured.
    """
    name = model if model is not None else CONFIGURED if settings.model is not None else None
    if base_url is not None and name in (None, Extractive.name):
        raise click.UsageError("--base-url needs --model")
    return summarizer(name, settings, base_url)


def asks_model(summarizer: Summarizer) -> TypeGuard[Model]:
    """Whether a summariser sends something."""
    if isinstance(summarizer, Extractive):
        return False
    from leafward.summaries.summarizers.model.summarizer import Model

    return isinstance(summarizer, Model)


def sent_by(summarizer: Summarizer, span: Span, budget: int) -> Outgoing | None:
    """Texts that a summariser would send; None if nothing leaves the machine."""
    return summarizer.outgoing(span, budget) if asks_model(summarizer) else None


def tell_outgoing(summarizer: Summarizer, going: Outgoing | None, *, would: bool = False) -> None:
    """Prints on stderr what is about to be sent, or, with `would`, what would be.

    Raises SummaryFailed if nothing can be sent, so that the message is never wrong.
    """
    if going is None:
        return
    if not would and asks_model(summarizer):
        summarizer.refuse_unknown()
    cost = f"about {money(going.cost)}" if going.cost is not None else "price not known"
    from leafward.summaries.summarizers.model.addresses import host_of
    from leafward.summaries.summarizers.model.settings import provider_of

    where = f"{summarizer.name} at {host_of(summarizer.name, going.base_url)}"
    requests = counted(len(going.requests), "request")
    verb = "would send" if would else "sending"
    note(f"{verb} ~{short(going.tokens)} tokens to {where} in {requests}, {cost}{_taken_out(going)}")
    for remark in going.remarks:
        note(remark)
    if would and not going.base_url and not provider_of(summarizer.name):
        # Whether the model can be asked at all is checked only when something is sent, as that takes seconds.
        note(
            f"no provider of {summarizer.name} is known; name it provider/model, as in anthropic/claude-haiku-4-5"
        )


def cost_text(dollars: float | None) -> str:
    """Cost of a summary as text."""
    if dollars is None:
        return "price not known"
    return money(dollars) if dollars else "free"


def _taken_out(going: Outgoing) -> str:
    count = sum(going.redacted.values())
    return f"; {counted(count, 'secret')} redacted ({', '.join(sorted(going.redacted))})" if count else ""


def request_text(going: Outgoing) -> str:
    """Every text that is sent, one after another."""
    return "\n\n".join(f"{request.system}\n\n{request.prompt}" for request in going.requests)


def would_be_sent(span: Span, budget: int, window: int) -> Outgoing:
    """Texts that a model with a given window would be sent, if no model is chosen."""
    from leafward.summaries.summarizers.model.requests import outgoing
    from leafward.summaries.summarizers.model.settings import ModelSettings

    return outgoing(span, budget, ModelSettings("", window=window))


def outgoing_json(going: Outgoing | None) -> dict[str, Any] | None:
    """Texts that would be sent, as JSON; None if there are none."""
    if going is None:
        return None
    return {
        "requests": [
            {
                "title": request.title,
                "system": request.system,
                "prompt": request.prompt,
                "tokens": request.tokens,
                "max_tokens": request.answer,
                "later": request.later,
            }
            for request in going.requests
        ],
        "tokens": going.tokens,
        "cost": going.cost,
        "model": going.model,
        "base_url": going.base_url,
        "redacted": dict(going.redacted),
        "remarks": list(going.remarks),
    }
