"""Builds the columns of a context's messages, from whole bodies or from messages in their declared shapes."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Protocol

from leafward.context.basis import spoken_sizes
from leafward.context.message_columns import ROLE_OF_KIND, EditInForce, Messages
from leafward.context.projection import replaced_kinds
from leafward.context.sizes import broken_off_in
from leafward.session.entries import Body, EntryIndex, Kind
from leafward.session.lines.line_decoding import CURRENT_VERSION
from leafward.session.messages import NEVER_SENT, edit_message, messages_of
from leafward.session.native_file import NativeFile
from leafward.session.tokens import message_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.context.declared_messages import Declared
    from leafward.session.session import Session

_MANY = 2000
"""Entries whose decoding takes as long as loading the decoder of declared shapes."""
_USUAL = {int(kind): ROLE_OF_KIND[kind] for kind in (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT)}
"""Kinds for which the entry's own message is enough, and their role."""


class Listener(Protocol):
    """Receives every message of a context in order, as the model does, with the entry that it comes from."""

    @property
    def as_objects(self) -> bool:
        """Whether the listener needs every message as an object."""
        ...

    def hear(self, entry: int, message: Body, /) -> object:
        """Takes one message."""
        ...

    def hear_declared(self, entries: Sequence[int], messages: Sequence[Declared], /) -> object:
        """Takes messages that fit their declared shapes."""
        ...


class MessageBuilder:
    """Takes the entries of a context in order and builds its columns."""

    def __init__(
        self,
        session: Session,
        edits: Mapping[EntryIndex, tuple[EntryIndex, object]],
        compaction: EntryIndex,
        ahead: int,
        listener: Listener | None,
    ) -> None:
        """`edits` are by target; `ahead` is the number of entries kept ahead of the compaction's summary."""
        self.messages = Messages(session.columns.kind)
        self.system: list[Body] = []
        """Messages of the system prompt, as far as the file holds them."""
        self.broken: list[int] = []
        """Entries whose lines are no objects."""
        self._session = session
        self._edits = edits
        self._compaction = compaction
        self._ahead = ahead
        self._replaced = replaced_kinds(session)
        self._listener = listener
        self._known = spoken_sizes(session)
        self._broken_off = broken_off_in(session)
        # If entries are kept ahead of the summary, the system prompt comes before them too.
        brought = session.body(compaction) if ahead else None
        for prompt in messages_of(brought, Kind.COMPACTION)[:-1] if brought else ():
            self.messages.note(compaction, prompt)
            self.system.append(prompt)
            self._add(compaction, prompt, message_tokens(prompt))

    def take(self, entries: array[int], *, kept: bool) -> None:
        """Takes entries that the latest compaction kept (`kept`), or that came after it."""
        file = self._session.source
        if (
            len(entries) < _MANY
            or (self._listener is not None and self._listener.as_objects)
            or not isinstance(file, NativeFile)
            or file.scan.version < CURRENT_VERSION
            or file.scan.long_lines
        ):
            for index, body in self._session.bodies(entries):
                self._take_body(index, body, kept)
            return
        from leafward.context.declared_messages import declared

        for run, found in declared(file, entries, self._edits.keys()):
            if isinstance(found, list):
                self._take_declared(run, found)
            else:
                self._take_body(EntryIndex(run[0]), found, kept)

    def _take_declared(self, run: Sequence[int], found: list[Declared]) -> None:
        """Takes the messages of a run of neighbouring entries."""
        tokens = [message.tokens() for message in found]
        self._known[run[0] : run[-1] + 1] = array("i", [count + 1 for count in tokens])
        self.messages.entry.extend(run)
        self.messages.tokens.extend(tokens)
        if self._listener is not None:
            self._listener.hear_declared(run, found)

    def _take_body(self, index: EntryIndex, body: Body | None, kept: bool) -> None:
        if body is None:
            self.broken.append(index)
            return
        kind = self._session.columns.kind[index]
        role = _USUAL.get(kind)
        if role is not None and index not in self._edits:
            message = body.get("message")
            if (
                type(message) is dict
                and message.get("role") == role
                and NEVER_SENT not in message
                and message.get("stopReason") not in self._broken_off
            ):
                known = self._known
                tokens = known[index] - 1
                if tokens < 0:
                    tokens = message_tokens(message)
                    known[index] = tokens + 1
                self._add(index, message, tokens)
                return
        if kept and index != self._compaction and kind in self._replaced:
            return
        own_messages = messages_of(body, Kind(kind))
        own_messages = own_messages[-1:] if self._ahead and index == self._compaction else own_messages
        edit = self._edits.get(index)
        left = _edited(own_messages, edit)
        messages = self.messages
        if edit is not None:
            freed = sum(map(message_tokens, own_messages)) - sum(map(message_tokens, left))
            messages.edits.append(EditInForce(index, edit[0], not left, freed))
        for message in left:
            messages.note(index, message, edit, self._broken_off)
            if message.get("role") == "system":
                self.system.append(message)
            self._add(index, message, message_tokens(message))

    def _add(self, index: EntryIndex, message: Body, tokens: int) -> None:
        self.messages.entry.append(index)
        self.messages.tokens.append(tokens)
        if self._listener is not None:
            self._listener.hear(index, message)


def _edited(messages: list[Body], edit: tuple[EntryIndex, object] | None) -> list[Body]:
    if edit is None:
        return messages
    return [changed for message in messages if (changed := edit_message(message, edit[1])) is not None]
