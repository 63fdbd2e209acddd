"""Messages that a plan replaces and keeps, decoded once for the summary and for judging it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.cancellation import never, unless_cancelled
from leafward.base.figures import counted
from leafward.base.safe_text import safe
from leafward.compaction.stored_summary.stored_summary import StoredParts, cut_middle, stored_parts
from leafward.context.estimators import text_tokens
from leafward.context.message_columns import message_body
from leafward.redaction.redaction import Redactor
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, blocks_of, text_of
from leafward.session.messages import edit_message, message_text, messages_of, summary_words
from leafward.session.tokens import CHARS_PER_TOKEN, message_tokens, replayed_system
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.strategies.division import Shortened
    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items


@dataclass(frozen=True, slots=True)
class Edited:
    """A message of the kept tail of which only a part stays."""

    entry: EntryIndex
    content: list[Body]
    """The content that replaces its own."""
    tokens: int
    """Tokens of the whole message afterwards, as pi 1.5.2 estimates them."""


@dataclass(frozen=True, slots=True)
class DividedPath:
    """The messages of a path, divided by a plan."""

    replaced: tuple[SpanMessage, ...]
    """Messages that leave the context, in the order of the path."""
    unsent: tuple[SpanMessage, ...]
    """Messages among them that were never sent: replies that were broken off."""
    summarised: tuple[SpanMessage, ...]
    """Messages that the summary tells: earlier quoted ones first, the prefix of a split turn last.

    The user's messages that are quoted beside it are among them: without the requests nothing says what was done and what is open.
    """
    prefix: int
    """Number of summarised messages in the beginning of the split turn."""
    kept: tuple[SpanMessage, ...]
    """Messages that stay in the context, shortened where the plan says so."""
    kept_tokens: int
    quoted: tuple[str, ...]
    """The user's messages that are quoted in the stored text, word for word except for secrets, oldest first."""
    redacted: Mapping[str, int]
    """Number of different secrets removed from the quoted messages, by name."""
    edits: tuple[Edited, ...]
    previous: str
    """The previous summary, without injected context and quoted messages."""
    previous_entry: EntryIndex
    plan: Items
    """The agent's own task list before all of these messages."""
    system: Body | None
    """The system prompt as it is replayed, as far as the file holds it."""


def replacing(session: Session, plan: Plan, stop: Callable[[], bool] = never) -> DividedPath:
    """Decodes each message of a plan's context once. Raises Cancelled if `stop` returns true."""
    sizes = plan.sizes
    before = stored_parts(carried_text(session, plan))
    division = _Division(plan)
    for message, sent in _messages(session, plan, stop):
        division.take(message, sent=sent)
    quoted, summarised = division.quoted, division.summarised
    # Earlier quoted messages leave the stored text: they are summarised, and quoted again if there is room.
    earlier = before.kept if sizes.previous_summary is not None else ()
    if not plan.settings.rules.keeps_tail:
        quoted[:0] = _still_quoted(earlier, quoted, plan)
    summarised[:0] = [
        SpanMessage(sizes.compaction, {"role": "user", "content": [{"type": "text", "text": text}]})
        for text in earlier
    ]
    beginning = set(plan.turn_prefix)
    redactor = Redactor()
    quoted = [safe(redactor.text(text)) for text in quoted if text.strip()]
    return DividedPath(
        tuple(division.replaced),
        tuple(division.unsent),
        tuple(summarised),
        sum(1 for message in summarised if message.entry in beginning),
        tuple(division.kept),
        division.kept_tokens,
        tuple(quoted),
        dict(redactor.found),
        tuple(division.edits),
        previous_summary(before),
        sizes.compaction if sizes.previous_summary is not None else NO_ENTRY,
        plan_before(session, division.replaced),
        _system(session, plan),
    )


class _Division:
    """The messages of a plan's context by what becomes of them, as they are taken in their order."""

    def __init__(self, plan: Plan) -> None:
        self.replaced: list[SpanMessage] = []
        self.unsent: list[SpanMessage] = []
        self.summarised: list[SpanMessage] = []
        self.kept: list[SpanMessage] = []
        self.kept_tokens = 0
        self.quoted: list[str] = []
        self.edits: list[Edited] = []
        messages = plan.sizes.context.messages
        self._plan = plan
        self._tail = set(plan.kept) if plan.first_kept >= 0 else set()
        self._chosen = set(plan.kept) - self._tail
        self._summarized = {*plan.summarize, *plan.turn_prefix} | self._chosen
        self._cut = {short.entry: short for short in plan.pruned}
        self._tokens = dict(zip(messages.entry, messages.tokens, strict=True))

    def take(self, message: SpanMessage, *, sent: bool) -> None:
        """Takes the next message; `sent` where the model received it."""
        short = self._cut.get(message.entry)
        if message.entry in self._tail:
            self._keep(message, short)
        elif not sent:
            self.unsent.append(message)
        else:
            self._replace(message, short)

    def _keep(self, message: SpanMessage, short: Shortened | None) -> None:
        if short is None:
            tokens = self._tokens[message.entry]
        else:
            content = _shortened(message.message, short, self._plan)
            message = SpanMessage(message.entry, {**message.message, "content": content})
            tokens = message_tokens(message.message)
            self.edits.append(Edited(message.entry, content, tokens))
        self.kept.append(message)
        self.kept_tokens += tokens

    def _replace(self, message: SpanMessage, short: Shortened | None) -> None:
        self.replaced.append(message)
        if message.entry in self._chosen:
            text = text_of(message.message.get("content"))
            self.quoted.append(cut_middle(text, short.left * CHARS_PER_TOKEN) if short is not None else text)
        if message.entry in self._summarized:
            if short is not None and self._plan.settings.rules.cleared:
                content = _shortened(message.message, short, self._plan)
                message = SpanMessage(message.entry, {**message.message, "content": content})
            self.summarised.append(message)


def _still_quoted(earlier: Sequence[str], quoted: Sequence[str], plan: Plan) -> list[str]:
    """The newest of the earlier quoted messages that fit beside those of this plan."""
    left = plan.settings.budget - sum(text_tokens(text, plan.estimator) for text in quoted)
    kept: list[str] = []
    for text in reversed(earlier):
        left -= text_tokens(text, plan.estimator)
        if left < 0:
            break
        kept.insert(0, text)
    return kept


def carried_text(session: Session, plan: Plan) -> str:
    """The previous stored text; for an encrypted summary, its readable part."""
    sizes = plan.sizes
    return summary_words(session.body(sizes.compaction) or {}) if sizes.previous_summary is not None else ""


def previous_summary(before: StoredParts) -> str:
    """The part of a stored text that is carried on: the summary and the file lists after it."""
    return "\n\n".join(part for part in (before.summary, before.files) if part)


def span_from(session: Session, there: DividedPath, *, pins: Sequence[str], focus: str) -> Span:
    """The span, from messages that are already decoded."""
    return Span(
        messages=there.summarised,
        previous=there.previous,
        previous_entry=there.previous_entry,
        plan=there.plan,
        kept=there.kept,
        quoted=there.quoted,
        cwd=session.cwd,
        focus=focus,
        pins=tuple(pins),
        prefix=there.prefix,
    )


def _messages(session: Session, plan: Plan, stop: Callable[[], bool]) -> list[tuple[SpanMessage, bool]]:
    """Every message of the context except system messages and the latest summary, with edits applied, and whether it is sent."""
    context = plan.sizes.context
    messages = context.messages
    places = [
        place
        for place, entry in enumerate(messages.entry)
        if entry != context.compaction and messages.role(place) != "system"
    ]
    found: list[tuple[SpanMessage, bool]] = []
    bodies = session.bodies(messages.entry[place] for place in places)
    for place, (entry, body) in unless_cancelled(zip(places, bodies, strict=True), stop):
        spoken = messages_of(body or {}, Kind(messages.kinds[entry]))
        message = spoken[-1] if spoken else {}
        edit = messages.edited.get(place)
        if edit is not None:
            replacement = (session.body(edit) or {}).get("replacement")
            message = edit_message(message, replacement) or {}
        found.append((SpanMessage(entry, message), place not in messages.unsent))
    return found


def _shortened(message: Body, short: Shortened, plan: Plan) -> list[Body]:
    """The remaining content of a shortened message."""
    if cleared := plan.settings.rules.cleared:
        return [{"type": "text", "text": cleared}]
    text = text_of(message.get("content"))
    pictures = sum(1 for block in blocks_of(message.get("content")) if block.get("type") == "image")
    if pictures:
        text += f"\n[{counted(pictures, 'image')} left out]"
    return [{"type": "text", "text": cut_middle(text, short.left * CHARS_PER_TOKEN)}]


def _system(session: Session, plan: Plan) -> Body | None:
    messages = plan.sizes.context.messages
    return replayed_system(
        message_body(session, messages[place]) for place in messages.apart if messages.role(place) == "system"
    )


def joined_text(messages: Sequence[SpanMessage]) -> str:
    """Messages as one plain text."""
    return "\n".join(message_text(message.message) for message in messages)
