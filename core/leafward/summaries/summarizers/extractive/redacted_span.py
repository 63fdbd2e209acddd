"""The messages of a span as they are summarised: without secrets, and without the parts that give no lines."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, Self

from leafward.base.cancellation import never, unless_cancelled
from leafward.base.forked import forked
from leafward.base.late_pattern import late
from leafward.base.worker_processes import cores
from leafward.redaction.redaction import Redactor
from leafward.session.entries import LISTED, text_of, tool_calls
from leafward.summaries.facts.call_reader import outputs_read
from leafward.summaries.facts.calls.call_arguments import PATH_ARGUMENTS, first_of, is_silent
from leafward.summaries.facts.known_texts import Known
from leafward.summaries.summarizers.extractive.turns import as_asked
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.base.forked import Forked
    from leafward.session.entries import Body
    from leafward.summaries.summarizers.summary import Span

_MANY = 1_000
"""Messages from which another process redacts them while this one does other work; fewer are sooner done than it began."""
_LOOKS, _FOUND = "looks", "found"
"""The words that another process looks for secrets now, and that it found one."""
_UNREAD = frozenset({"details", "usage", "timestamp", "api", "provider", "model", "toolName"})
_UNREAD_OF_RESULTS = _UNREAD | {"content"}
_SETTINGS = late(
    r"\.env\b|secret|credential|passw|token|config|settings|rc\Z|\.(?:cfg|conf|ini|json|key|pem|properties|tfvars|toml|ya?ml)\Z"
)
"""Paths, in small letters, of files that may hold settings, and so secrets."""


class _Done(NamedTuple):
    """The result of another process."""

    changed: dict[int, Body]
    """The messages that hold secrets, redacted, by place."""
    redactor: Redactor


_Piece = Known | str | _Done


class RedactedSpan(NamedTuple):
    """Messages without secrets, and what redacted them, which knows the secrets that they named."""

    messages: list[SpanMessage]
    redactor: Redactor


class RedactionBeside:
    """Redacts the messages of a span in another process while this one reads them; where it cannot, once they are asked for.

    Leaving the context ends it. To read the messages takes longer: the other process reads their outputs, too.
    """

    def __init__(self, span: Span) -> None:
        self._span = span
        self._child: Forked[_Piece] | None = None
        self._done: _Done | None = None
        self._found = False

    def __enter__(self) -> Self:
        if len(self._span.messages) >= _MANY and cores() > 1:
            self._child = forked(partial(_work_beside, self._span))
        if self._child is not None:
            self._span.known.ahead = self._outputs
        return self

    def __exit__(self, *_: object) -> None:
        self._span.known.ahead = None
        if self._child is not None:
            self._child.__exit__()

    def _outputs(self) -> Known | None:
        """What the other process read in outputs since it was last asked."""
        piece = self._take(self._child) if self._child is not None and self._child.is_ready() else None
        if piece is not None and not isinstance(piece, Known):
            # It sends no more of them.
            self._span.known.ahead = None
            return None
        return piece

    def _take(self, child: Forked[_Piece]) -> _Piece | None:
        """The next piece; None where there is none any more."""
        piece = child.take()
        if isinstance(piece, _Done):
            self._done = piece
        self._found = self._found or piece == _FOUND
        return piece

    @property
    def may_be_clean(self) -> bool:
        """Whether another process is at it, and has found no secret so far."""
        child = self._child
        while child is not None and self._done is None and child.is_ready() and self._take(child) is not None:
            pass
        return child is not None and not self._found

    @cached_property
    def as_read(self) -> list[SpanMessage]:
        """The messages with their secrets, without the parts that give no lines."""
        return _as_read(self._span.messages)

    def redacted(self, stop: Callable[[], bool]) -> RedactedSpan:
        """The messages without secrets. Raises Cancelled."""
        child = self._child
        while child is not None and self._done is None and self._take(child) is not None:
            pass
        if self._done is None:
            return redacted(self._span.messages, stop)
        changed, redactor = self._done
        messages = list(self.as_read)
        for place, message in changed.items():
            messages[place] = messages[place]._replace(message=message)
        return RedactedSpan(messages, redactor)


def _work_beside(span: Span, send: Callable[[_Piece], None]) -> None:
    """Sends what the outputs of a span tell, that there is a secret once one is found, and the messages that hold some, redacted."""
    messages = span.messages
    for outputs in outputs_read(messages, span.cwd):
        send(outputs)
    send(_LOOKS)
    spoken, redactor = redacted(messages, never, partial(send, _FOUND))
    # It is long, and hardly anything is redacted afterwards.
    redactor.clean = set()
    both = enumerate(zip(spoken, _as_read(messages), strict=True)) if redactor.found else ()
    send(
        _Done(
            {place: one.message for place, (one, message) in both if one.message != message.message}, redactor
        )
    )


def _as_read(messages: Sequence[SpanMessage]) -> list[SpanMessage]:
    """The messages of a span with their secrets, without the parts that give no lines."""
    return [SpanMessage(entry, as_asked(message)) for entry, message in _read(messages, lambda _text: None)]


def redacted(
    messages: Sequence[SpanMessage], stop: Callable[[], bool], found: Callable[[], object] = lambda: None
) -> RedactedSpan:
    """Redacts the messages of a span; calls `found` at the first secret. Raises Cancelled."""
    redactor = Redactor(clean=set())
    spoken: list[SpanMessage] = []
    clean = True
    for entry, message in unless_cancelled(_read(messages, redactor.note), stop):
        spoken.append(SpanMessage(entry, redactor.value(as_asked(message))))
        if clean and redactor.found:
            clean = False
            found()
    if redactor.named:
        # What was said before the secret had a name.
        spoken = [SpanMessage(entry, redactor.value(message)) for entry, message in spoken]
    return RedactedSpan(spoken, redactor)


def _read(messages: Sequence[SpanMessage], note: Callable[[str], object]) -> Iterator[SpanMessage]:
    """Messages without the parts that give no lines (token counts, contents of files), so that these need no redaction.

    `note` gets the contents of files of settings: a reply may repeat their secrets.
    """
    silent: dict[str, bool] = {}
    """Calls that show files, and whether such a file may hold settings."""
    for entry, message in messages:
        role = message.get("role")
        if role == "assistant":
            silent.update(
                (call.id, _SETTINGS.search(first_of(call.arguments, PATH_ARGUMENTS).casefold()) is not None)
                for call in tool_calls(message)
                if is_silent(call.arguments)
            )
        call_id = str(message.get("toolCallId")) if role == "toolResult" else ""
        shown = call_id in silent and not message.get("isError")
        if shown and silent[call_id]:
            note(text_of(message.get("content")))
        unread = _UNREAD_OF_RESULTS if shown else _UNREAD
        read = {key: value for key, value in message.items() if key not in unread}
        details = message.get("details")
        if isinstance(details, dict) and LISTED in details:
            read["details"] = {LISTED: details[LISTED]}
        yield SpanMessage(entry, read)
