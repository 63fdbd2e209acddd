"""The messages of a span as they are summarised: without secrets, and without the parts that give no lines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

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
    from leafward.summaries.survival.span_reading import SpanReading

_Changes = tuple["dict[int, Body]", Redactor]
"""The messages that hold secrets, redacted, by place, and what redacted them."""
_MANY = 1_000
"""Messages from which another process redacts them while this one does other work; fewer are sooner done than it began."""
_AHEAD = 3
"""The outputs of the first part of so many stay with this process, which reaches them before the other one has read any.

That one has about as much to do then as this one.
"""
_UNREAD = frozenset({"details", "usage", "timestamp", "api", "provider", "model", "toolName"})
_UNREAD_OF_RESULTS = _UNREAD | {"content"}
_SETTINGS = late(
    r"\.env\b|secret|credential|passw|token|config|settings|rc\Z|\.(?:cfg|conf|ini|json|key|pem|properties|tfvars|toml|ya?ml)\Z"
)
"""Paths, in small letters, of files that may hold settings, and so secrets."""


class RedactedSpan(NamedTuple):
    """Messages without secrets, and what redacted them, which knows the secrets that they named."""

    messages: list[SpanMessage]
    redactor: Redactor


def redacted_beside(
    span: Span, read: Callable[[], SpanReading], stop: Callable[[], bool]
) -> tuple[RedactedSpan, SpanReading]:
    """Redacts the messages of a span, where it can in another process, while this one reads them. Raises Cancelled.

    To read them takes much longer: the other process reads most outputs, too.
    """
    messages = span.messages
    child = forked(partial(_work_beside, span)) if len(messages) >= _MANY and cores() > 1 else None
    if child is None:
        reading = read()
        return redacted(messages, stop), reading
    with child:
        span.known.ahead = partial(_outputs, child)
        reading = read()
        span.known.ahead = None
        as_they_are = [
            SpanMessage(entry, as_asked(message))
            for entry, message in unless_cancelled(_read(messages, lambda _text: None), stop)
        ]
        # The outputs may come too late.
        while isinstance(changes := child.take(), Known):
            pass
    if changes is None:
        return redacted(messages, stop), reading
    changed, redactor = changes
    for place, message in changed.items():
        as_they_are[place] = as_they_are[place]._replace(message=message)
    return RedactedSpan(as_they_are, redactor), reading


def _outputs(child: Forked[Known | _Changes]) -> Known | None:
    """What a child read in outputs, once it is there."""
    piece = child.take() if child.is_ready() else None
    return piece if isinstance(piece, Known) else None


def _work_beside(span: Span, send: Callable[[Known | _Changes], None]) -> None:
    """Sends what the outputs of a span tell, and the messages that hold secrets, redacted."""
    messages = span.messages
    send(outputs_read(messages[len(messages) // _AHEAD :], span.cwd))
    spoken, redactor = redacted(messages, never)
    # It is long, and hardly anything is redacted afterwards.
    redactor.clean = set()
    if not redactor.found:
        send(({}, redactor))
        return
    read = (as_asked(message) for _, message in _read(messages, lambda _text: None))
    both = enumerate(zip(spoken, read, strict=True))
    send(({place: one.message for place, (one, message) in both if one.message != message}, redactor))


def redacted(messages: Sequence[SpanMessage], stop: Callable[[], bool]) -> RedactedSpan:
    """Redacts the messages of a span. Raises Cancelled."""
    redactor = Redactor(clean=set())
    spoken = [
        SpanMessage(entry, redactor.value(as_asked(message)))
        for entry, message in unless_cancelled(_read(messages, redactor.note), stop)
    ]
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
