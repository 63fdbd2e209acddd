"""Context edits (`context_edit`, pi 1.5.2): an entry left out of the context, shortened or replaced. The entry itself stays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.context.basis import Basis
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Body, EntryId, EntryIndex, Kind, blocks_of, tool_calls
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.placement import Place, edit_lines, milliseconds, place_at
from leafward.session.journal.write import Write, Writing, write
from leafward.session.messages import edit_message
from leafward.session.tokens import CHARS_PER_TOKEN, message_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from leafward.context.model_context import Context
    from leafward.session.session import Session

EDITABLE = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.CUSTOM_MESSAGE, Kind.INJECTED})
"""Kinds whose content can be replaced (pi 1.5.2)."""
_DEFAULT = Writing()


@dataclass(frozen=True, slots=True)
class ContextEdit:
    """The edit of one entry: left out, another text, or its own text shortened."""

    target: EntryIndex
    text: str | None = None
    """The new text; None where the entry is left out or shortened."""
    keep: int | None = None
    """Tokens of its text that are kept, at the beginning and the end; None where it is not shortened."""

    @property
    def omits(self) -> bool:
        """Whether the entry is left out."""
        return self.text is None and self.keep is None


@dataclass(frozen=True, slots=True)
class Savings:
    """The size of an entry in the context before and after an edit, in tokens."""

    target: EntryIndex
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class EditDraft:
    """Edits worked out whole, not yet written."""

    at: EntryIndex
    place: Place
    contents: tuple[tuple[EntryId, list[Body] | None], ...]
    """By target; None leaves the entry out."""
    freed: tuple[Savings, ...]
    tokens_estimated: int
    """Tokens of the context that the file holds, all estimated."""
    tokens_before: int
    """Tokens of the context, as shown."""
    tokens_after: int
    """Tokens of the context after the edits: an estimate, since no reply has reported that context."""
    cut: int = 0
    """Tokens that the edits remove, estimated from their text alone, as in rows."""

    @property
    def saved(self) -> int:
        """Tokens that the edits free."""
        return self.tokens_before - self.tokens_after

    @property
    def counted(self) -> str:
        """`more` or `less` where the provider counted another number for the text than is estimated; empty where they are near."""
        if abs(self.saved - self.cut) * 5 <= self.cut:
            return ""
        return "more" if self.saved > self.cut else "less"

    def lines(self, session: Session, writing: Writing) -> list[Body]:
        """The lines to append; the operation's own line comes last."""
        moment, _ = milliseconds(writing.now)
        made, _ = edit_lines(session.columns, self.place, moment, self.contents)
        made[-1]["id"] = self.place.id
        return made


@dataclass(frozen=True, slots=True)
class ShortText:
    """A text without its middle."""

    text: str
    left_out: int
    """Code points."""


def shortened(text: str, tokens: int) -> ShortText:
    """A text of about `tokens` tokens: its beginning and its end, and between them a note of how much is missing."""
    room = max(0, tokens * CHARS_PER_TOKEN)
    if len(text) <= room:
        return ShortText(text, 0)
    head = room * 2 // 3
    tail = room - head
    missing = len(text) - head - tail
    note = f"\n[{missing:,} characters left out]\n"
    if len(note) >= missing:
        return ShortText(text, 0)
    return ShortText(text[:head].rstrip() + note + (text[-tail:].lstrip() if tail else ""), missing)


def draft_edits(session: Session, edits: Sequence[ContextEdit]) -> EditDraft:
    """Works out edits for the context at the leaf. Nothing is written.

    A text that is already short enough stays as it is. Raises Refused for an entry that is not in that context or whose content
    cannot be edited, where nothing would become shorter, and where a call and its result would be separated: a provider accepts
    neither without the other.
    """
    if not edits:
        raise Refused("nothing to edit")
    here = session.leaf
    context = context_at(session, here)
    by_entry = {message.entry: message for message in context.messages}
    chosen: dict[EntryIndex, ContextEdit] = {}
    for edit in edits:
        kind = Kind(session.columns.kind[edit.target])
        if kind not in EDITABLE:
            raise Refused(
                f"entry {session.columns.id(edit.target)} has no content that an edit could replace"
            )
        if edit.target not in by_entry:
            name = session.columns.id(edit.target)
            raise Refused(f"entry {name} is not in the context: {absence(session, context, edit.target)}")
        chosen[edit.target] = edit
    _refuse_torn(session, chosen, by_entry.keys())
    contents, freed = [], []
    for target, edit in chosen.items():
        message = message_body(session, by_entry[target])
        content = _content(message, edit)
        replaced = None if content is None else edit_message(message, {"content": content})
        after = 0 if replaced is None else message_tokens(replaced)
        if edit.keep is not None and after >= by_entry[target].tokens:
            continue
        freed.append(Savings(target, by_entry[target].tokens, after))
        contents.append((session.columns.id(target), content))
    if not contents:
        raise Refused("nothing would get shorter")
    place = place_at(session, here)
    estimated = sum(context.messages.tokens)
    basis = Basis.of(session)
    after = max(0, context.total - basis.freed(here, ((one.target, one.before - one.after) for one in freed)))
    # Sized as the context is: the freed tokens of the entries add up to the loss of the context.
    sized = []
    for one in freed:
        before = basis.freed(here, [(one.target, one.before)])
        less = basis.freed(here, [(one.target, one.before - one.after)])
        sized.append(Savings(one.target, before, before - less))
    cut = sum(one.before - one.after for one in freed)
    return EditDraft(here, place, tuple(contents), tuple(sized), estimated, context.total, after, cut)


def absence(session: Session, context: Context, target: EntryIndex) -> str:
    """Why an editable entry is not in a context, in words."""
    omitted = next((one for one in context.messages.edits if one.entry == target and one.removed), None)
    if omitted is not None:
        return f"a context edit leaves it out; undo that first ({session.columns.id(omitted.edit)})"
    if not session.tree.is_ancestor(target, context.at):
        return "it is on another branch"
    return "a compaction replaced it" if context.compaction >= 0 else "no model receives it"


def last_editable(session: Session) -> EntryIndex:
    """The last entry on the path to the leaf whose content can be edited, for a user who names the leaf; -1 for none."""
    columns, index = session.columns, session.leaf
    while index >= 0 and columns.kind[index] not in EDITABLE:
        index = EntryIndex(columns.parent[index])
    return index


def editable_in(session: Session, entries: Iterable[EntryIndex]) -> list[EntryIndex]:
    """The entries among `entries` that are in the context at the leaf and can be edited."""
    held, kinds = set(context_at(session).messages.entry), session.columns.kind
    return [one for one in entries if one in held and kinds[one] in EDITABLE]


def _content(message: Body, edit: ContextEdit) -> list[Body] | None:
    if edit.omits:
        return None
    blocks = blocks_of(message.get("content"))
    # Calls stay, because their results answer them.
    calls = [block for block in blocks if block.get("type") == "toolCall"]
    if edit.text is not None:
        return [{"type": "text", "text": edit.text}, *calls]
    found: list[Body] = []
    texts = [block for block in blocks if block.get("type") == "text"]
    room = (edit.keep or 0) // max(1, len(texts))
    for block in blocks:
        if block.get("type") == "text":
            found.append({"type": "text", "text": shortened(str(block.get("text", "")), room).text})
        elif block.get("type") == "toolCall":
            found.append(block)
    return found or [{"type": "text", "text": ""}]


def _refuse_torn(
    session: Session, chosen: dict[EntryIndex, ContextEdit], held: Collection[EntryIndex]
) -> None:
    """Raises Refused where a reply is left out and a result of it stays, or the other way round."""
    omitted = {target for target, edit in chosen.items() if edit.omits}
    if not omitted:
        return
    kinds = session.columns.kind
    calls: dict[str, EntryIndex] = {}
    for entry in sorted(held):
        body = session.body(entry) or {}
        message = body.get("message")
        if not isinstance(message, dict):
            continue
        if kinds[entry] == Kind.ASSISTANT:
            for call in tool_calls(message):
                calls[call.id] = entry
        elif kinds[entry] == Kind.TOOL_RESULT:
            reply = calls.get(str(message.get("toolCallId")))
            if reply is None or (reply in omitted) == (entry in omitted):
                continue
            lone, other = (entry, reply) if entry in omitted else (reply, entry)
            ids = session.columns.id(lone), session.columns.id(EntryIndex(other))
            raise Refused(
                f"{ids[0]} and {ids[1]} are a call and its result: leave out both, or shorten instead"
            )


def apply_edits(session: Session, draft: EditDraft, writing: Writing = _DEFAULT) -> Write:
    """Appends the edits in one write; an undo moves the leaf back before them.

    Raises Refused where the conversation went on since the draft was made, or the file cannot be written.
    """
    refuse_changed(session)
    ready = replace(draft, place=place_at(session, draft.at, draft.place))
    return write(session, OperationKind.EDIT, ready.lines(session, writing), ready.place.parent, writing)
