"""Repairs for a session that its agent's provider refuses: a list of changes to the messages of its context.

Pure: messages in, messages and changes out. Nothing is invented; missing parts are marked as missing. The rules are those
whose breach providers answer with an error (Anthropic's Messages and OpenAI's Responses and Chat Completions, November 2026):
every call right before its results, no result without a call, no id twice, a user's message first, and the rules of
`refused_blocks` for a block. The session itself stays as it is; a fork holds the healed messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.agents.conversation import Conversation, ConversationMessage, documents_left
from leafward.agents.fork_draft import ForkPoint, last_said
from leafward.agents.recognition import agent_behind
from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.branches.healing.call_pairs import CallPairs
from leafward.branches.healing.gaps import before_gaps, gap_at_end, spoken_place
from leafward.branches.healing.refusals import last_refusal
from leafward.branches.healing.refused_blocks import (
    HealedDifference,
    accepted,
    accepted_images,
    without_images,
)
from leafward.branches.healing.window_fit import WindowMessages, fitted
from leafward.context.projection import latest
from leafward.context.recorded_usage import made_since
from leafward.session.entries import CONTEXT_CHANGES, NO_ENTRY, EntryIndex, Kind, blocks_of
from leafward.session.journal.write import WriteRemark
from leafward.session.messages import BROKEN_OFF, message_in, trusted_usage
from leafward.session.transcript import UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.agents.base import Agent
    from leafward.agents.fork_draft import ForkDraft, ForkTerms
    from leafward.base.config import Config
    from leafward.branches.healing.refusals import Refusal
    from leafward.session.entries import Body
    from leafward.session.session import Session

BEGINNING = "The beginning of this conversation is missing."
"""The first message where a context would not begin with a prompt: no provider accepts a conversation that begins with a reply."""


_SHOWN = 200
"""Cells of a provider's message."""


@dataclass(frozen=True, slots=True)
class Healing:
    """The messages of a healed session, and their differences from the stored ones."""

    messages: tuple[ConversationMessage, ...]
    changes: tuple[HealedDifference, ...]
    remarks: tuple[WriteRemark, ...]
    """Parts that every new session leaves out; not changes of their own."""
    cut: ForkPoint
    obstacle: WriteRemark | None = None
    """Why a provider may refuse it even so; None where no reason is known."""


NO_BEGINNING = "no-beginning"
"""Code of the change to a conversation that begins with a reply."""


def healing(
    session: Session, config: Config | None = None, stop: Callable[[], bool] = lambda: False
) -> Healing:
    """The healing of a session at its leaf. Raises Refused where nothing was said, Cancelled once `stop` turns true.

    With `config`, a context over the window is compacted first.
    """
    place, gap = spoken_place(session)
    end = last_said(session, place)
    if end < 0:
        raise Refused("nothing was said in it: there is nothing to heal")
    cut = ForkPoint(place, end, NO_ENTRY, None, place)
    past = Conversation(session, cut)
    stored = list(past.raw_messages())
    refusal = last_refusal(session, place)
    excess = refusal.excess if refusal is not None else None
    fit = (
        fitted(session, stored, config, stop, excess)
        if config is not None
        else WindowMessages(stored, "", "")
    )
    earlier, gaps = before_gaps(session, place, config)
    if gap >= 0:
        gaps.append(gap_at_end(gap))
    messages, changes = healed([*earlier, *fit.messages], refusal)
    messages = list(_with_counts(session, messages, [*earlier, *stored], end, gaps))
    if fit.change:
        changes.insert(0, HealedDifference("over-window", fit.change))
    changes = sorted(
        [*changes, *gaps, *_unseen(session, cut), *_refused(past, refusal)], key=lambda change: change.entry
    )
    obstacle = WriteRemark("over-window", fit.obstacle) if fit.obstacle else None
    if refusal is not None and not changes and obstacle is None:
        quoted = safe_line(refusal.text, _SHOWN)
        obstacle = WriteRemark(
            "refused", f"the provider rejected the last request for an unknown reason: {quoted}"
        )
    return Healing(tuple(messages), tuple(changes), tuple(_remarks(past)), cut, obstacle)


def _with_counts(
    session: Session,
    messages: Iterable[ConversationMessage],
    stored: Sequence[ConversationMessage],
    end: EntryIndex,
    gaps: Sequence[HealedDifference],
) -> Iterator[ConversationMessage]:
    """The messages of a new session; replies keep their recorded counts up to the first message that differs from what was sent."""
    stale = latest(session, end, CONTEXT_CHANGES)
    gap = min((change.entry for change in gaps), default=len(session))
    same = True
    for number, one in enumerate(messages):
        same = same and number < len(stored) and one == stored[number] and one.entry < gap
        if same and one.role == "assistant":
            message = message_in(session.body(one.entry) or {})
            # The count includes thinking that is left out.
            same = len(blocks_of(message.get("content"))) == len(one.content)
            # Then it is also the last one above the reply, which need not be looked for again.
            here = stale < 0 or session.tree.is_ancestor(stale, one.entry)
            if same and here and made_since(session, one.entry, stale) and trusted_usage(message) is not None:
                yield one._replace(usage=message.get("usage"))
                continue
        yield one


def _refused(past: Conversation, refusal: Refusal | None) -> Iterator[HealedDifference]:
    """Changes for content that the provider named itself: thinking or documents, which a new session leaves out.

    Call it after the messages of `past` were made: they count both.
    """
    if refusal is None:
        return
    if refusal.of_thinking and past.thoughts:
        text = f"the provider rejected the thinking: {counted(past.thoughts, 'piece')} of it left out"
        yield HealedDifference("refused-thinking", text, refusal.entry)
    if refusal.of_documents and past.documents:
        text = f"the provider rejected a document: {documents_left(past.documents)}"
        yield HealedDifference("document", text, refusal.entry)


def _remarks(past: Conversation) -> Iterator[WriteRemark]:
    """Remarks on other content that a new session leaves out. Call it after the messages of `past` were made: they count it."""
    if past.thoughts:
        # Only its provider can tell whether a signature is still valid; without any thinking every provider continues.
        text = f"{counted(past.thoughts, 'piece')} of thinking left out: the provider may reject it"
        yield WriteRemark("thinking-left", text)
    if past.documents:
        yield WriteRemark("documents-left", documents_left(past.documents))


def new_session(session: Session, found: Healing, terms: ForkTerms, agent: Agent | None = None) -> ForkDraft:
    """The new session, not written. Raises Refused where it cannot be made."""
    if not found.messages:
        raise Refused("nothing is left of it that a model can be sent")
    past = Conversation(session, found.cut, healed=found.messages)
    return (agent or agent_behind(session)).convert(past, terms)


def healed(
    stored: Iterable[ConversationMessage], refusal: Refusal | None = None
) -> tuple[list[ConversationMessage], list[HealedDifference]]:
    """Messages that every provider accepts, and the changes made for that; no changes where none were needed.

    Where the provider refused an image, the images that it had not received before are left out.
    """
    changes: list[HealedDifference] = []
    if refusal is not None and refusal.of_images:
        stored = [without_images(one, changes) if one.entry > refusal.taken else one for one in stored]
    messages = [kept for one in stored if (kept := accepted(one, changes)) is not None]
    messages = CallPairs(accepted_images(messages, changes), changes).paired()
    if messages and messages[0].role != "user":
        first = messages[0]
        changes.append(
            HealedDifference(
                NO_BEGINNING, "it begins with a reply: a message that says so is added before it", first.entry
            )
        )
        text: Body = {"type": "text", "text": BEGINNING}
        messages.insert(0, ConversationMessage("user", (text,), first.entry, first.time, typed=True))
    return messages, changes


def _unseen(session: Session, cut: ForkPoint) -> Iterator[HealedDifference]:
    """Changes that no message shows: blocks of replies that only their own provider can use."""
    kinds = session.columns.kind
    for index in session.tree.path(cut.end):
        if kinds[index] != Kind.ASSISTANT:
            continue
        message = message_in(session.body(index) or {})
        if message.get("stopReason") in BROKEN_OFF:
            continue
        blocks = blocks_of(message.get("content"))
        if any(block.get("unsigned") for block in blocks):
            yield HealedDifference(
                "unsigned-thinking", "thinking without a signature is left out", EntryIndex(index)
            )
        for block in blocks:
            if block.get(UNANSWERED):
                text = f"call {block.get('id')}, which the provider ran itself, has no result: it becomes a line of text"
                yield HealedDifference("open-call", text, EntryIndex(index))
