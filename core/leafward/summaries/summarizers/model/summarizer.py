"""The summariser that asks a model: any that litellm reaches, streaming, with our own retries.

`outgoing` computes everything that it sends. An answer counts only if its stream itself marked it as whole.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from leafward.base.errors import Cancelled
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.summaries.summarizers.model.answer import cleaned, fitted, has_outline, is_declined, with_pins
from leafward.summaries.summarizers.model.attempts import Attempts
from leafward.summaries.summarizers.model.failures import FailedRequest, SummaryFailed, Unusable, failure_of
from leafward.summaries.summarizers.model.litellm_requests import ask as call
from leafward.summaries.summarizers.model.litellm_requests import check, model_loop
from leafward.summaries.summarizers.model.requests import (
    TURN_HEADING,
    Ask,
    Outgoing,
    RequestStage,
    SummaryWork,
    outgoing,
    work_for,
)
from leafward.summaries.summarizers.model.settings import ModelSettings, window_of
from leafward.summaries.summarizers.summary import NO_SECTIONS, Span, Summary, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from leafward.session.entries import Usage
    from leafward.summaries.summarizers.model.litellm_requests import WholeAnswer


_LOOK = 0.05
"""Seconds between two checks of `stop` while nothing arrives."""
_SHRINKS = 8
"""Shortenings of a request before it is given up."""
_DECLINED = 120
"""Characters that are quoted of an answer that declines."""
_LONGEST_BACKOFF = 30.0


@dataclass(frozen=True, slots=True)
class SummaryProgress:
    """The progress of a summary."""

    text: str
    """The text so far; a text that is discarded for another attempt is removed from it."""
    tokens: int
    """The tokens of that text, as pi 1.5.2 estimates them."""
    rate: float
    """Tokens a second since the first of them."""
    stage: str
    """The current work or wait, on one line."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A whole answer to one request."""

    text: str
    usage: Usage | None
    cost: float | None
    """US dollars; None where the price is not known."""
    remarks: tuple[str, ...]


@dataclass(slots=True)
class _Board:
    """The state of one summary's requests: written in the loop's thread, read in the caller's."""

    changed: threading.Event = field(default_factory=threading.Event)
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Pieces of text by request, in the order of the answers in the summary."""
    stage: str = ""
    usage: Usage | None = None
    cost: float | None = None
    unpriced: bool = False
    remarks: list[str] = field(default_factory=list)

    def say(self, stage: str) -> None:
        self.stage = stage
        self.changed.set()

    def add(self, title: str, text: str) -> None:
        self.texts.setdefault(title, []).append(text)
        self.changed.set()

    def clear(self, title: str) -> None:
        self.texts[title] = []
        self.changed.set()

    def spend(self, usage: Usage | None, cost: float | None) -> None:
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage
            self.unpriced = self.unpriced or cost is None
        if cost is not None:
            self.cost = cost if self.cost is None else self.cost + cost

    def text(self) -> str:
        return "\n\n".join(text for pieces in list(self.texts.values()) if (text := "".join(pieces)))


class Model:
    """Summaries written by a model."""

    def __init__(
        self, settings: ModelSettings, watch: Callable[[SummaryProgress], object] = lambda _progress: None
    ) -> None:
        self.settings = settings
        self.watch = watch
        """Receives the same as `progress`, with figures; both are called in the thread of the caller."""

    @property
    def name(self) -> str:
        """The model's name in litellm's form."""
        return self.settings.name

    def refuse_unknown(self) -> None:
        """Raises SummaryFailed where the model is not known, its key is missing or its address is invalid; sends nothing."""
        model_loop().start(check(self.settings)).result()

    def outgoing(self, span: Span, budget: int) -> Outgoing:
        """The requests that `summarize` would send for the same span and budget."""
        return outgoing(span, budget, self.settings)

    def summarize(
        self,
        span: Span,
        budget: int,
        progress: Callable[[str], object] = lambda _text: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Summary:
        """A summary of at most `budget` tokens, counted as pi 1.5.2 counts them. Blocks; call it in a worker.

        `progress` receives the text so far about twenty times a second. Raises Cancelled, with every socket closed, soon
        after `stop` turned true, and SummaryFailed with one clear line where the model gives no usable summary.
        """
        if stop():
            raise Cancelled("the summary was cancelled")
        work = work_for(span, budget, self.settings)
        board = _Board(remarks=list(work.remarks))
        text = self._answer(work, board, progress, stop) if work.history or work.turn else work.previous
        text = with_pins(text, work.pins)
        if tokens_of(text) > work.budget:
            text, dropped = fitted(text, work.budget, work.pins)
            if dropped:
                board.remarks.append(f"{counted(dropped, 'line')} did not fit into {work.budget:,} tokens")
        usage = board.usage
        cost = None if board.unpriced else board.cost
        if usage is not None and cost is not None:
            usage = replace(usage, cost=cost)
        return Summary(
            text,
            self.name,
            usage=usage,
            cost=cost,
            remarks=tuple(dict.fromkeys(board.remarks)),
            redacted=dict(work.redactor.found),
        )

    def answer(
        self,
        work: SummaryWork,
        progress: Callable[[str], object] = lambda _text: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> ModelReply:
        """The answer to a single request (`model_requests.single`). Blocks, and raises as `summarize` does."""
        if stop():
            raise Cancelled("the request was cancelled")
        board = _Board(remarks=list(work.remarks))
        try:
            text = self._answer(work, board, progress, stop)
        except Cancelled:
            raise Cancelled("the request was cancelled") from None
        return ModelReply(
            text, board.usage, None if board.unpriced else board.cost, tuple(dict.fromkeys(board.remarks))
        )

    def _answer(
        self, work: SummaryWork, board: _Board, progress: Callable[[str], object], stop: Callable[[], bool]
    ) -> str:
        """Runs the requests in the loop's thread and watches them from this one."""
        board.say(f"asking {self.name}")
        began = time.monotonic()
        first: float | None = None
        future = model_loop().start(_Conversation(work, board).whole())
        future.add_done_callback(lambda _done: board.changed.set())
        shown = ("", "")
        try:
            while not future.done():
                board.changed.wait(_LOOK)
                board.changed.clear()
                if stop():
                    raise Cancelled("the summary was cancelled")
                now = (board.text(), board.stage)
                if now == shown:
                    continue
                if now[0] != shown[0]:
                    progress(now[0])
                seconds = time.monotonic() - began
                first = first if first is not None or not now[0] else seconds
                tokens = tokens_of(now[0])
                writing = max(seconds - (first or 0.0), 0.001)
                rate = tokens / writing if first is not None and seconds > first else 0.0
                self.watch(SummaryProgress(now[0], tokens, rate, now[1]))
                shown = now
            text = future.result()
        except concurrent.futures.CancelledError:
            raise Cancelled("the summary was cancelled") from None
        except SummaryFailed as failed:
            failed.usage, failed.cost = board.usage, None if board.unpriced else board.cost
            raise
        finally:
            # This includes an interrupt of the caller: every running request closes its connection now.
            future.cancel()
        if work.is_summary and not has_outline(text):
            board.remarks.append(f"{self.name} {NO_SECTIONS}")
        return text


class _Conversation:
    """The requests of one summary, run in the loop's thread."""

    def __init__(self, work: SummaryWork, board: _Board) -> None:
        self.work = work
        self.board = board
        self.settings = work.settings
        self._at_once = asyncio.Semaphore(max(1, self.settings.parallel))
        # The answers have this order, whichever arrives first.
        for stage in (work.history, work.turn):
            for ask in stage.parts if stage is not None else ():
                board.texts[ask.title] = []

    async def whole(self) -> str:
        """The text of the summary, within its budget if the model manages that."""
        stages = [stage for stage in (self.work.history, self.work.turn) if stage is not None]
        texts = await _all([self._stage(stage) for stage in stages])
        if self.work.turn is not None:
            before = texts[0] if self.work.history is not None else self.work.previous
            text = f"{before.rstrip()}\n\n{TURN_HEADING}\n\n{texts[-1]}"
        else:
            text = texts[0]
        if self.work.is_summary and tokens_of(text) > self.work.budget:
            text = await self._shortened(text)
        return text

    async def _stage(self, stage: RequestStage) -> str:
        texts = await _all([self._answer(part) for part in stage.parts])
        while stage.merge is not None:
            asks = stage.merging(texts)
            for title in [part.title for part in stage.parts]:
                self.board.texts.pop(title, None)
            texts = await _all([self._answer(ask) for ask in asks])
            if len(asks) == 1:
                break
            stage = replace(stage, parts=tuple(asks))
        return texts[0]

    async def _shortened(self, text: str) -> str:
        """One attempt at a shorter text; a text that is still too long is cut by lines."""
        was = tokens_of(text)
        self.board.texts.clear()
        try:
            shorter = await self._answer(self.work.shortening(text))
        except SummaryFailed as failed:
            self.board.remarks.append(f"it could not be shortened: {failed}")
            return text
        self.board.remarks.append(
            f"the answer of {self.settings.name} had {was:,} tokens, {self.work.budget:,} are allowed; it was asked to "
            "shorten it"
        )
        return shorter if tokens_of(shorter) < was else text

    async def _answer(self, ask: Ask) -> str:
        """One text, whatever the number of attempts."""
        async with self._at_once:
            return await self._attempts(ask)

    async def _attempts(self, ask: Ask) -> str:
        attempts = Attempts(ask, len(ask.items))
        while True:
            request = attempts.ask.request()
            self._say_attempt(attempts)
            try:
                answer = await call(
                    self.settings,
                    request.system,
                    request.prompt,
                    request.answer,
                    partial(self.board.add, attempts.ask.title),
                )
            except Exception as error:
                wait = self._after_failure(attempts, error, request.answer)
                if wait is not None:
                    await asyncio.sleep(wait)
                continue
            return self._accepted(attempts, answer)

    def _say_attempt(self, attempts: Attempts) -> None:
        self.board.clear(attempts.ask.title)
        again = (
            f", attempt {attempts.failed + 1} of {self.settings.attempts}: {attempts.reason}"
            if attempts.failed
            else ""
        )
        self.board.say(f"{self.settings.name}: {attempts.ask.title}{again}")

    def _after_failure(self, attempts: Attempts, error: Exception, room: int) -> float | None:
        """Seconds to wait before the next attempt; None where it is a shorter request, which is sent at once.

        `room` is the number of tokens that the answer could have. Raises SummaryFailed where there is no next attempt.
        """
        board, settings = self.board, self.settings
        if isinstance(error, Unusable):
            board.spend(error.usage, error.cost)
        sent = FailedRequest(
            settings.name, settings.base_url or "", room, settings.timeout, settings.deadline
        )
        failure = failure_of(error, sent)
        board.clear(attempts.ask.title)
        # An answer about a part of a text is none about the text.
        can_shrink = self.work.is_summary and attempts.shrinks < _SHRINKS and attempts.ask.items
        if failure.overflow and can_shrink:
            attempts.shorten(failure.excess)
            board.say(f"{failure.text}; the oldest is left out")
            return None
        attempts.failed += 1
        if not failure.again or attempts.failed >= settings.attempts:
            times = f" ({attempts.failed} attempts)" if attempts.failed > 1 else ""
            raise SummaryFailed(failure.text + times) from error
        wait: float = max(min(settings.backoff * 2 ** (attempts.failed - 1), _LONGEST_BACKOFF), failure.wait)
        if wait > settings.patience:
            raise SummaryFailed(f"{failure.text}; it asks to wait {wait:,.0f} s") from error
        attempts.reason = failure.text
        board.say(
            f"{failure.text}; again in {wait:.0f} s, attempt {attempts.failed + 1} of {settings.attempts}"
        )
        return wait

    def _accepted(self, attempts: Attempts, answer: WholeAnswer) -> str:
        """The text of an answer, with remarks on what it took. Raises SummaryFailed where the model declined."""
        board, settings, ask = self.board, self.settings, attempts.ask
        board.spend(answer.usage, answer.cost)
        text = cleaned(answer.text, self.work.redactor)
        if not text:
            raise SummaryFailed(f"{settings.name} sent an empty answer")
        if is_declined(text):
            raise SummaryFailed(f"{settings.name} declined: {safe_line(text, _DECLINED)}")
        if attempts.shrinks:
            board.remarks.append(
                f"{attempts.left_out()} left out ({ask.title}): the window of {settings.name} is smaller than "
                f"{window_of(settings):,} tokens"
            )
        if attempts.failed:
            board.remarks.append(f"{ask.title}: answered at attempt {attempts.failed + 1}")
        return text


async def _all(work: Sequence[Coroutine[Any, Any, str]]) -> list[str]:
    """The results in order; the first failure ends the others, and is raised alone."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:  # a cancellation too ends the requests that still run
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
