"""Operations in words: the action, its values before and after, and the effect of an undo.

Nothing here draws; bodies are read for headlines only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from leafward.base.figures import counted, first_few
from leafward.base.safe_text import excerpt_line, safe_line
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.headlines.entry_headline import headline, turn_entry
from leafward.session.journal.operation_log import (
    ARCHIVED,
    SESSION_TARGETS,
    OperationKind,
    Subject,
    edits_in,
    latest_about,
)
from leafward_tui.ui.words.write_words import entry_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.restoration.record import Record
    from leafward.session.journal.operation_log import Operation
    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs

_LABEL_LIMIT = 60
_ID_LIMIT = 40
_FILES_NAMED = 4
"""Number of restored files that the details name."""

_NOUN = {
    Subject.MOVE: "move",
    Subject.LABEL: "label",
    Subject.NAME: "name",
    Subject.ARCHIVE: "archiving",
    Subject.FILES: "restore",
}
_NAMED = {
    OperationKind.COMPACT: "compaction",
    OperationKind.EDIT: "context edit",
    OperationKind.GRAFT: "graft",
    OperationKind.MERGE: "summary merge",
    OperationKind.SUMMARY_MOVE: "move with a summary",
}
_WRITTEN = {
    OperationKind.COMPACT: ("compacted", "Compacted the context"),
    OperationKind.EDIT: ("edited", "Edited the context"),
    OperationKind.GRAFT: ("grafted", "Grafted turns"),
    OperationKind.MERGE: ("merged", "Merged summaries"),
    OperationKind.SUMMARY_MOVE: ("moved", "Moved the leaf with a summary"),
}
"""Words for operations that write more than a place for the leaf: the verb in a row, and the head of the details."""


@dataclass(frozen=True, slots=True)
class OperationWords:
    """One operation in words. The texts are safe to show and not yet fitted."""

    verb: str
    """At most ten letters: `moved`, `labelled`, `unarchived`."""
    lead: str
    """The text before the arrow, or the whole text."""
    follow: str
    """The text after the arrow; empty where there is none."""
    state: str
    """`undone` or `redone`; empty for an operation that holds."""


class OperationText:
    """The operations of a session, oldest first, and texts about each."""

    def __init__(
        self, session: Session, log: Sequence[Operation], glyphs: Glyphs, restores: Sequence[Record] = ()
    ) -> None:
        """`restores` are the restores among the operations, and those that belong to moves."""
        self.session = session
        self.glyphs = glyphs
        self.log = list(log)
        self._by_id = {one.op: one for one in reversed(self.log)}
        self._restores = {f"restore {one.number}": one for one in restores}
        self._with_move = {one.move: one for one in restores if one.move}
        self._headlines: dict[int, str] = {}
        self.some_undone = any(operation.undone for operation in self.log)
        """Whether any of them is undone."""

    def __len__(self) -> int:
        return len(self.log)

    # --- entries ------------------------------------------------------------------------------------------------------

    def headline(self, index: int) -> str:
        """The headline of an entry; read once."""
        if index < 0:
            return "the beginning"
        found = self._headlines.get(index)
        if found is None:
            found = self._headlines[index] = headline(self.session, index).text
        return found

    def turn_headline(self, index: int) -> str:
        """The headline of an entry, or of the turn it belongs to where the entry does not stand for itself."""
        return self.headline(turn_entry(self.session, index))

    def restore(self, operation: Operation) -> Record | None:
        """The restore that an operation is, or that belongs to it; None for neither."""
        return self._restores.get(operation.op) or self._with_move.get(operation.root)

    def place(self, entry_id: str | None) -> int:
        """The nearest entry of the conversation at or above the entry with this id; -1 where there is none."""
        return self.session.tree.content_at(self.index(entry_id))

    def index(self, entry_id: str | None) -> EntryIndex:
        """The entry with this id; -1 where there is none."""
        return self.session.columns.index(entry_id) if entry_id else NO_ENTRY

    def _quoted(self, text: str | None) -> str:
        return f"{self.glyphs.quote_open}{excerpt_line(text or '', _LABEL_LIMIT)}{self.glyphs.quote_close}"

    def named(self, index: int) -> str:
        """An entry as the explorer names it."""
        return f"#{index:,}" if index >= 0 else ""

    def shows(self, operation: Operation) -> int:
        """The entry to go to for an operation; -1 where it is not in the file."""
        if operation.subject is Subject.MOVE:
            return self.place(operation.after)
        if operation.subject is Subject.NAME:
            return operation.entry
        return self.index(operation.target)

    # --- words --------------------------------------------------------------------------------------------------------

    def doing(self, operation: Operation) -> OperationWords:
        """An operation in one row."""
        lead, follow = self._change(operation)
        kind = operation.kind
        if kind in (OperationKind.UNDO, OperationKind.REDO):
            verb = "undid" if kind is OperationKind.UNDO else "redid"
            lead = f"{self._noun(operation)}  {lead}"
        else:
            verb = self._verb(operation)
        return OperationWords(verb, lead, follow, operation.state)

    def _noun(self, operation: Operation) -> str:
        kind = self.root(operation).kind
        # The row of a move with a summary shows the destination, and has no room for more.
        named = _NAMED.get(kind) if kind is not OperationKind.SUMMARY_MOVE else None
        if operation.subject is Subject.ARCHIVE and self.root(operation).after != ARCHIVED:
            return "unarchiving"
        return named or _NOUN[operation.subject]

    def short(self, operation: Operation) -> str:
        """An operation as a noun with its value: `label [done]`, `move to #12`."""
        kind, value = operation.kind, operation.after or operation.before
        if kind is OperationKind.RESTORE:
            return f"restore of {self._files(operation)}"
        if kind in _NAMED:
            return _NAMED[kind]
        if operation.subject is Subject.LABEL:
            return f"label {label_words(value)}"
        if operation.subject is Subject.NAME:
            return f"name {self._quoted(value)}"
        if operation.subject is Subject.ARCHIVE:
            return "archive" if operation.after == ARCHIVED else "unarchive"
        return f"move to {self.named(self.place(operation.after)) or 'the beginning'}"

    def _files(self, operation: Operation) -> str:
        restore = self.restore(operation)
        return counted(len(restore.changes), "file") if restore is not None else "no file"

    def _verb(self, operation: Operation) -> str:
        if operation.kind is OperationKind.RESTORE:
            return "restored"
        if operation.kind in _WRITTEN:
            return _WRITTEN[operation.kind][0]
        if operation.subject is Subject.MOVE:
            return "moved"
        if operation.subject is Subject.ARCHIVE:
            return "archived" if operation.after == ARCHIVED else "unarchived"
        if operation.subject is Subject.LABEL:
            return "labelled" if operation.after else "unlabelled"
        return "named" if operation.after else "unnamed"

    def _change(self, operation: Operation) -> tuple[str, str]:
        if operation.kind is OperationKind.RESTORE:
            at = self.index(operation.target)
            return f"{self._files(operation)} as at {self.named(at)}  {self.turn_headline(at)}", ""
        if operation.kind is OperationKind.COMPACT:
            return self.turn_headline(self.place(operation.target)), ""
        if operation.kind is OperationKind.EDIT:
            edits = edits_in(self.session, operation)
            several = f"{edits:,} edits, the last " if edits > 1 else ""
            return f"{several}{self.headline(self.place(operation.after))}", ""
        if operation.subject is Subject.MOVE:
            # A summary that is carried along stands right below the destination of the move, which says more.
            carries = operation.kind is OperationKind.SUMMARY_MOVE
            left = self.place(operation.before)
            reached = self.place(operation.target if carries else operation.after)
            if self.turn_headline(left) != self.turn_headline(reached):
                return self.turn_headline(left), self.turn_headline(reached)
            return self.headline(left), self.headline(reached)
        if operation.subject is Subject.NAME:
            before, after = operation.before, operation.after
            if before is None or after is None:
                return self._quoted(after if before is None else before), ""
            return self._quoted(before), self._quoted(after)
        about = self.turn_headline(self.index(operation.target))
        if operation.subject is Subject.ARCHIVE:
            return "this session" if operation.target in SESSION_TARGETS else about, ""
        before, after = operation.before, operation.after
        if before is None or after is None:
            label = after if before is None else before
            # pi writes that a label is removed also where there was none.
            return f"{label_words(label)}  {about}" if label else about, ""
        return label_words(before), f"{label_words(after)}  {about}"

    def title(self, operation: Operation) -> str:
        """The action in the past tense, as the head of the details."""
        noun = self._noun(operation)
        if operation.kind is OperationKind.UNDO:
            return f"Undid the {noun}"
        if operation.kind is OperationKind.REDO:
            return f"Redid the {noun}"
        if operation.kind is OperationKind.RESTORE:
            return "Restored files"
        if operation.kind in _WRITTEN:
            return _WRITTEN[operation.kind][1]
        if operation.subject is Subject.MOVE:
            return "Moved the leaf"
        if operation.subject is Subject.ARCHIVE:
            what = "this session" if operation.target in SESSION_TARGETS else "a branch"
            return f"Archived {what}" if operation.after == ARCHIVED else f"Restored {what}"
        if operation.subject is Subject.LABEL:
            if operation.after is None:
                return "Removed a label"
            return "Changed a label" if operation.before else "Labelled an entry"
        if operation.after is None:
            return "Removed the name"
        return "Renamed the session" if operation.before else "Named the session"

    def facts(self, operation: Operation) -> list[tuple[str, str, str]]:
        """The details of an operation: a label, the words, and at the right the entry that they are about."""
        if operation.kind is OperationKind.RESTORE:
            return [self._entry_fact("as at", operation.target), *self._restore_facts(operation)]
        if operation.kind in (OperationKind.COMPACT, OperationKind.SUMMARY_MOVE):
            found = [
                self._entry_fact("from", operation.before),
                self._entry_fact(
                    "below" if operation.kind is OperationKind.COMPACT else "to", operation.target
                ),
                self._entry_fact("summary", operation.after),
            ]
        elif operation.subject is Subject.MOVE:
            found = [self._entry_fact("from", operation.before), self._entry_fact("to", operation.after)]
        elif operation.subject is Subject.NAME:
            found = [
                ("before", self._quoted(operation.before) if operation.before else "no name", ""),
                ("after", self._quoted(operation.after) if operation.after else "no name", ""),
            ]
        elif operation.subject is Subject.LABEL:
            before, after = (
                label_words(value) if value else "no label" for value in (operation.before, operation.after)
            )
            found = [
                self._entry_fact("on", operation.target),
                ("label", f"{before} {self.glyphs.arrow} {after}", ""),
            ]
        else:
            found = [self._entry_fact("branch", operation.target)]
        if operation.subject is Subject.MOVE:
            found += self._restore_facts(operation)[:1]
        line = operation.entry
        found.append(("entry", entry_words(self.session, line), self._id(operation.op)))
        return found

    def _restore_facts(self, operation: Operation) -> list[tuple[str, str, str]]:
        restore = self.restore(operation)
        if restore is None:
            return []
        files = first_few([safe_line(one.path, _LABEL_LIMIT) for one in restore.changes], _FILES_NAMED)
        return [
            ("files", files, f"restore {restore.number}"),
            ("in", safe_line(restore.folder, 200), ""),
            ("copies", safe_line(str(restore.place), 200), ""),
        ]

    def _entry_fact(self, name: str, entry_id: str | None) -> tuple[str, str, str]:
        if entry_id is None:
            return name, "the beginning", ""
        index = self.index(entry_id)
        if index < 0:
            return name, "an entry that is not in the file", self._id(entry_id)
        # A redo goes back to one of Leafward's own lines, which says nothing: its nearest entry of the conversation
        # counts.
        place = self.session.tree.content_at(index)
        if place < 0:
            return name, "the beginning", ""
        return name, self.headline(place), f"{self.named(place)}  {self._id(self.session.columns.id(place))}"

    def _id(self, entry_id: str) -> str:
        return safe_line(entry_id, _ID_LIMIT)

    def matching(self, words: str) -> list[int]:
        """The operations whose row or details hold these words, case ignored."""
        folded = words.casefold()
        return [at for at, text in enumerate(self._texts) if folded in text] if folded else []

    @cached_property
    def _texts(self) -> list[str]:
        """The row and the details of each operation, as they are searched: made once, while the user types."""
        return [self._text(operation).casefold() for operation in self.log]

    def _text(self, operation: Operation) -> str:
        doing = self.doing(operation)
        texts = [self.title(operation), doing.verb, doing.lead, doing.follow, doing.state]
        return "\n".join([*texts, *(part for fact in self.facts(operation) for part in fact)])

    # --- taking back --------------------------------------------------------------------------------------------------

    def root(self, operation: Operation) -> Operation:
        """The operation that an undo or redo is about in the end; every other operation itself."""
        return self._by_id.get(operation.root, operation)

    def outcome(self, operation: Operation) -> str:
        """The effect of taking an operation back, as a clause: `the leaf goes back to …`."""
        restore = self.restore(operation)
        if operation.kind is OperationKind.RESTORE:
            return f"{self._files(operation)} as before the restore"
        if restore is not None and restore.standing:
            return f"{self._set_back(operation)}; {self._files(operation)} as before it"
        return self._set_back(operation)

    def _set_back(self, operation: Operation) -> str:
        latest = latest_about(self.log, operation)
        before = latest.before
        if latest.subject is Subject.MOVE:
            place = self.place(before)
            back = f"{self.named(place)} {self.turn_headline(place)}".strip()
            return f"the leaf goes back to {back}"
        if latest.subject is Subject.LABEL:
            return (
                f"the label is {label_words(before)} again"
                if before
                else f"label {label_words(latest.after)} is removed"
            )
        if latest.subject is Subject.NAME:
            return f"the name is {self._quoted(before)} again" if before else "the session has no name"
        what = "session" if latest.target in SESSION_TARGETS else "branch"
        return f"the {what} is archived again" if before == ARCHIVED else f"the {what} is unarchived"

    def taken_back(self, operation: Operation) -> str:
        """A note on how an operation was taken back, such as `by entry #7`; empty where the operation holds."""
        if not operation.undone:
            return ""
        if operation.kind is OperationKind.UNDO:
            again = next(
                one
                for one in self.log[self.log.index(operation) + 1 :]
                if one.root == operation.root and one.kind is OperationKind.REDO
            )
            return f"by entry #{again.entry:,}"
        if operation.kind is OperationKind.RESTORE:
            return "the files are as before"
        latest = latest_about(self.log, operation)
        return f"by entry #{latest.entry:,}"


def label_words(text: str | None) -> str:
    """A label as it is shown: `[done]`."""
    return f"[{excerpt_line(text or '', _LABEL_LIMIT)}]"
